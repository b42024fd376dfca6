//! One HTTP exchange. No redirect is followed and nothing is retried here.

use super::super::credential::Signed;
use super::super::endpoint::Endpoint;
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::redact::{Secrets, sanitize};
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Duration;
use ureq::http;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error, Proxy, Timeout};

/// The largest response that is read.
const MAX_BYTES: u64 = 16 << 20;

/// The largest certificate file that is read.
const MAX_CERTIFICATE_BYTES: u64 = 1 << 20;

/// How long connecting may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Headers of responses that may hold secrets.
const SECRET_HEADERS: [&str; 3] = ["set-cookie", "authorization", "proxy-authenticate"];

/// Why a call has no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CallError {
    /// The service never saw the call.
    Unreached(String),
    /// The service may have seen the call, and its response was lost.
    Lost(String),
    /// The response is longer than any answer.
    TooLong(String),
    /// The service may have seen the call, and did not respond in time.
    TimedOut(String),
    /// Every further call would fail the same way.
    Closed(String),
}

/// The connection to one service.
pub(super) struct Client {
    agent: Agent,
    endpoint: Endpoint,
    timeout_seconds: f64,
}

impl Client {
    /// A client that trusts the public authorities, or only those in a certificate file.
    pub(super) fn new(
        endpoint: Endpoint,
        timeout_seconds: f64,
        certificate: Option<&Path>,
    ) -> Result<Self, ServiceError> {
        let timeout = match Duration::try_from_secs_f64(timeout_seconds) {
            Ok(timeout) if !timeout.is_zero() => timeout,
            _ => {
                let why = "limits.timeout must be more than 0 seconds";
                return Err(ServiceError::Setting(why.to_owned()));
            }
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .timeout_global(Some(timeout))
            .timeout_connect(Some(timeout.min(CONNECT_TIMEOUT)))
            .user_agent(concat!("faultlens/", env!("CARGO_PKG_VERSION")))
            .proxy(if endpoint.is_loopback() { None } else { Proxy::try_from_env() });
        if let Some(path) = certificate {
            config = config.tls_config(TlsConfig::builder().root_certs(roots(path)?).build());
        }
        Ok(Self { agent: config.build().new_agent(), endpoint, timeout_seconds })
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Sends a request, whose path is complete, with what its credential adds. Secrets that the
    /// server echoes are redacted before anybody reads the response.
    pub(super) fn call(
        &self,
        request: &Request,
        signed: &Signed,
    ) -> Result<HttpResponse, CallError> {
        let secrets = Secrets::of(signed);
        let composed = self.compose(request, signed).map_err(|error| {
            let why = secrets.redact_text(&error.to_string());
            CallError::Closed(format!("the request cannot be sent ({why}); check the credentials"))
        })?;
        let response = self.agent.run(composed).map_err(|error| self.classify(error, &secrets))?;
        let (parts, mut body) = response.into_parts();
        let body = body.with_config().limit(MAX_BYTES).read_to_vec();
        let body = body.map_err(|error| self.classify(error, &secrets))?;
        let mut headers = BTreeMap::new();
        for (name, value) in &parts.headers {
            if !SECRET_HEADERS.contains(&name.as_str()) {
                let text = secrets.redact_text(&String::from_utf8_lossy(value.as_bytes()));
                headers.insert(name.as_str().to_owned(), text);
            }
        }
        let body = secrets.redact_bytes(body);
        Ok(HttpResponse { status: parts.status.as_u16(), headers, body })
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
        let mut composed = http::Request::builder().method(request.method).uri(uri);
        composed = composed.header(http::header::HOST, self.endpoint.host());
        for (name, value) in own.chain(added) {
            // A signature may name the host too; the header is sent once.
            if !name.eq_ignore_ascii_case("host") {
                composed = composed.header(name, value);
            }
        }
        composed.body(&request.body)
    }

    /// Whether the service may have seen a call that failed this way, and thus bill it.
    fn classify(&self, error: Error, secrets: &Secrets) -> CallError {
        let text = error.to_string();
        let why = secrets.redact_text(&text);
        let host = self.endpoint.host();
        if text.contains("certificate") {
            return CallError::Closed(format!(
                "the certificate of {host} is not trusted ({why}); set `certificate` to the file \
                 of the authority that signed it"
            ));
        }
        match error {
            Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                CallError::Unreached(format!("{host} does not accept connections in time"))
            }
            Error::Timeout(_) => CallError::TimedOut(format!(
                "{host} did not answer within {} s",
                self.timeout_seconds
            )),
            Error::HostNotFound => CallError::Unreached(format!("{host} has no address")),
            Error::ConnectionFailed | Error::ConnectProxyFailed(_) | Error::Tls(_) => {
                CallError::Unreached(format!("cannot connect to {host} ({why})"))
            }
            Error::Io(io) if never_connected(io.kind()) => {
                let why = sanitize(&io.to_string());
                CallError::Unreached(format!("cannot connect to {host} ({why})"))
            }
            Error::BodyExceedsLimit(_) => {
                CallError::TooLong(format!("{host} answers more than {} MiB", MAX_BYTES >> 20))
            }
            _ => CallError::Lost(format!("the answer of {host} was lost ({why})")),
        }
    }
}

/// Errors that only a connection that was never made has.
fn never_connected(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionRefused
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::AddrNotAvailable
    )
}

/// The certificates in a PEM file.
fn roots(path: &Path) -> Result<RootCerts, ServiceError> {
    let failed = || ServiceError::io("cannot read the certificate", path);
    let size = std::fs::metadata(path).map_err(failed())?.len();
    if size > MAX_CERTIFICATE_BYTES {
        return Err(not_pem(path));
    }
    let pem = std::fs::read(path).map_err(failed())?;
    let mut certificates = Vec::new();
    for item in parse_pem(&pem) {
        if let PemItem::Certificate(certificate) = item.map_err(|_| not_pem(path))? {
            certificates.push(certificate);
        }
    }
    if certificates.is_empty() {
        return Err(not_pem(path));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}

fn not_pem(path: &Path) -> ServiceError {
    let what = "certificate must be a PEM file with -----BEGIN CERTIFICATE-----";
    ServiceError::Setting(format!("{what}: {}", path.display()))
}
