//! One call over HTTP: no redirect is followed, nothing is repeated.

use super::credential::Signed;
use super::endpoint::Endpoint;
use super::error::ServiceError;
use super::redact::{Secrets, tame};
use super::wire::{Answer, Request};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use ureq::http;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Error, Proxy, Timeout};

/// The largest answer that is read.
const MOST_BYTES: u64 = 16 << 20;

/// The most that a file of certificates may hold.
const MOST_CERTIFICATES: u64 = 1 << 20;

/// A connection that takes longer is not made.
const CONNECT: Duration = Duration::from_secs(10);

/// Headers of answers that may hold secrets.
const SECRET_HEADERS: [&str; 3] = ["set-cookie", "authorization", "proxy-authenticate"];

/// Why a call has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failed {
    /// The service never saw it.
    Unreached(String),
    /// The service may have seen it, and its answer got lost.
    Lost(String),
    /// The service may have seen it, and did not answer in time.
    TimedOut(String),
    /// Asking again would end the same way.
    Closed(String),
}

/// A way to one service.
pub(super) struct Client {
    agent: Agent,
    endpoint: Endpoint,
    seconds: f64,
}

impl Client {
    /// Trusts the usual authorities, or those of a file alone.
    pub(super) fn new(
        endpoint: Endpoint,
        seconds: f64,
        certificate: Option<&Path>,
    ) -> Result<Self, ServiceError> {
        let timeout = Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        let wrong = || ServiceError::Setting("manners.timeout must be seconds above 0".to_owned());
        let timeout = timeout.ok_or_else(wrong)?;
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .timeout_connect(Some(timeout.min(CONNECT)))
            .user_agent(concat!("faultlens/", env!("CARGO_PKG_VERSION")))
            .proxy(if endpoint.is_loopback() { None } else { Proxy::try_from_env() });
        if let Some(path) = certificate {
            config = config.tls_config(TlsConfig::builder().root_certs(roots(path)?).build());
        }
        Ok(Self { agent: config.build().new_agent(), endpoint, seconds })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a request, whose path is whole, with what its credential adds.
    pub(super) fn call(&self, request: &Request, signed: &Signed) -> Result<Answer, Failed> {
        let secrets = Secrets::of(signed);
        let sent = self.compose(request, signed).map_err(|error| {
            let why = secrets.text(&error.to_string());
            Failed::Closed(format!("the request cannot be sent ({why}); check the credentials"))
        })?;
        let failed = |error| self.failed(error, &secrets);
        let (parts, mut body) = self.agent.run(sent).map_err(failed)?.into_parts();
        let bytes = read(&mut body).map_err(failed)?;
        let text =
            |value: &http::HeaderValue| secrets.text(&String::from_utf8_lossy(value.as_bytes()));
        let named = parts.headers.iter().map(|(name, value)| (name.as_str(), text(value)));
        let harmless = named.filter(|(name, _)| !SECRET_HEADERS.contains(name));
        let headers: BTreeMap<String, String> =
            harmless.map(|(name, value)| (name.to_owned(), value)).collect();
        Ok(Answer { status: parts.status.as_u16(), headers, body: secrets.bytes(bytes) })
    }

    fn compose<'a>(
        &self,
        request: &'a Request,
        signed: &Signed,
    ) -> Result<http::Request<&'a [u8]>, http::Error> {
        let mut uri = format!("{}{}", self.endpoint.origin(), request.path);
        if let Some(query) = &signed.query {
            uri.push(if request.path.contains('?') { '&' } else { '?' });
            uri.push_str(query.reveal());
        }
        let own = request.headers.iter().map(|(name, value)| (name, value.as_str()));
        let added = signed.headers.iter().map(|(name, value)| (name, value.reveal()));
        let mut sent = http::Request::builder().method(request.method).uri(uri);
        sent = sent.header(http::header::HOST, self.endpoint.host());
        for (name, value) in own.chain(added) {
            // The signature may name the host too; it is said once.
            if !name.eq_ignore_ascii_case("host") {
                sent = sent.header(name, value);
            }
        }
        sent.body(&request.body)
    }

    fn failed(&self, error: Error, secrets: &Secrets) -> Failed {
        let text = error.to_string();
        let why = secrets.text(&text);
        let host = self.endpoint.host();
        if text.contains("certificate") {
            return Failed::Closed(format!(
                "{host} is not who it says it is ({why}); set `certificate` to the file of the \
                 certificate that its own one is signed with"
            ));
        }
        match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                Failed::Unreached(format!("{host} does not accept connections in time"))
            }
            Error::Timeout(_) => {
                Failed::TimedOut(format!("{host} did not answer within {} s", self.seconds))
            }
            Error::HostNotFound => Failed::Unreached(format!("{host} has no address")),
            Error::ConnectionFailed | Error::ConnectProxyFailed(_) | Error::Tls(_) => {
                Failed::Unreached(format!("cannot connect to {host} ({why})"))
            }
            Error::Io(io) if never_sent(io.kind()) => {
                Failed::Unreached(format!("cannot connect to {host} ({})", tame(&io.to_string())))
            }
            Error::BodyExceedsLimit(_) => {
                Failed::Lost(format!("{host} answers more than {} MiB", MOST_BYTES >> 20))
            }
            _ => Failed::Lost(format!("the answer of {host} got lost ({why})")),
        }
    }
}

/// Errors that only a connection that was never made has.
fn never_sent(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable
    )
}

fn read(body: &mut Body) -> Result<Vec<u8>, Error> {
    body.with_config().limit(MOST_BYTES).read_to_vec()
}

fn roots(path: &Path) -> Result<RootCerts, ServiceError> {
    let failed = || ServiceError::io("cannot read the certificate", path);
    let size = std::fs::metadata(path).map_err(failed())?.len();
    let wrong = || {
        let what = "certificate must be a PEM file with -----BEGIN CERTIFICATE-----";
        ServiceError::Setting(format!("{what}: {}", path.display()))
    };
    if size > MOST_CERTIFICATES {
        return Err(wrong());
    }
    let pem = std::fs::read(path).map_err(failed())?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|_| wrong())? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(wrong());
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
