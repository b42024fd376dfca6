//! The address of a service.

use super::error::ServiceError;
use std::net::IpAddr;
use ureq::http::Uri;

/// An address, parsed and checked once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    /// Scheme, host and port.
    origin: String,
    /// The prefix of every path.
    prefix: String,
    /// The host as the `Host` header has it: a port that follows from the scheme is left out.
    host: String,
    encrypted: bool,
    loopback: bool,
}

impl Endpoint {
    pub(super) fn parse(text: &str) -> Result<Self, ServiceError> {
        let uri: Uri = text
            .parse()
            .map_err(|_| invalid(text, "is not an address such as https://host:8080"))?;
        let authority = uri.authority().filter(|authority| !authority.host().is_empty());
        let authority =
            authority.ok_or_else(|| invalid(text, "has no host, as in https://host:8080"))?;
        if authority.as_str().contains('@') {
            // The text holds a secret, so it is not repeated.
            let why = "an endpoint must not contain a user or password, since it is recorded";
            return Err(ServiceError::Setting(why.to_owned()));
        }
        let default_port = match uri.scheme_str() {
            Some("https") => 443,
            Some("http") => 80,
            _ => return Err(invalid(text, "must start with https:// or http://")),
        };
        if uri.query().is_some() || text.contains('#') {
            return Err(invalid(text, "must end with its path, without ? and #"));
        }
        let host = match authority.port_u16() {
            Some(port) if port != default_port => authority.as_str().to_owned(),
            _ => authority.host().to_owned(),
        };
        Ok(Self {
            origin: format!("{}://{authority}", uri.scheme_str().unwrap_or_default()),
            prefix: uri.path().trim_end_matches('/').to_owned(),
            host,
            encrypted: default_port == 443,
            loopback: is_loopback(authority.host()),
        })
    }

    /// The whole address.
    pub(super) fn address(&self) -> String {
        format!("{}{}", self.origin, self.prefix)
    }

    /// Scheme, host and port, to which whole paths are appended.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// A complete path, with the prefix.
    pub(super) fn path(&self, path: &str) -> String {
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("{}{slash}{path}", self.prefix)
    }

    /// The host, as signatures and the `Host` header have it.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Whether nobody on the way can read what is sent: encrypted, or on this machine.
    pub(super) fn is_private(&self) -> bool {
        self.encrypted || self.loopback
    }
}

fn invalid(text: &str, why: &str) -> ServiceError {
    ServiceError::Setting(format!("endpoint {text:?} {why}"))
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let named = bare.eq_ignore_ascii_case("localhost");
    named || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_apart() {
        for (text, host, path, private) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", "/v2", true),
            ("http://[::1]:80/", "[::1]", "/v2", true),
            ("http://LOCALHOST/base/", "LOCALHOST", "/base/v2", true),
            ("https://example.org:443/a/b", "example.org", "/a/b/v2", true),
            ("http://example.org:443", "example.org:443", "/v2", false),
            ("http://127.0.0.1.example.org", "127.0.0.1.example.org", "/v2", false),
        ] {
            let endpoint = Endpoint::parse(text).unwrap();
            assert_eq!((endpoint.host(), endpoint.is_private()), (host, private), "{text}");
            assert_eq!([endpoint.path("/v2"), endpoint.path("v2")], [path, path], "{text}");
            let again = Endpoint::parse(&endpoint.address()).unwrap();
            assert_eq!(again, endpoint);
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for text in ["", "host", "/path", "ftp://host", "https://", "https://a b", "http://h/?q=1"]
        {
            assert!(Endpoint::parse(text).is_err(), "{text}");
        }
        let error = Endpoint::parse("https://user:hunter2@host").unwrap_err().to_string();
        assert!(error.contains("password") && !error.contains("hunter2"), "{error}");
    }
}
