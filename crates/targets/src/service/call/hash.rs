//! The key under which the answer to a request is cached.

use super::super::message::Request;
use crate::hex::hex;
use sha2::{Digest, Sha256};
use std::fmt;

/// The SHA-256 of a request and its endpoint; credentials are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in super::super) struct RequestHash([u8; 32]);

impl RequestHash {
    pub(in super::super) fn of(endpoint: &str, request: &Request) -> Self {
        let mut hash = Sha256::new();
        add(&mut hash, endpoint.as_bytes());
        add(&mut hash, request.method.as_bytes());
        add(&mut hash, request.path.as_bytes());
        add(&mut hash, &(request.headers.len() as u64).to_le_bytes());
        for (name, value) in &request.headers {
            add(&mut hash, name.to_ascii_lowercase().as_bytes());
            add(&mut hash, value.as_bytes());
        }
        add(&mut hash, &request.body);
        Self(hash.finalize().into())
    }

    /// The key of a second answer to the same request.
    pub(in super::super) fn again(self) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.0);
        hash.update(b"again");
        Self(hash.finalize().into())
    }

    /// A number for random streams.
    pub(super) fn number(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }

    /// The first digits, enough to tell the requests of a campaign apart.
    pub(super) fn short(&self) -> String {
        hex(&self.0[..8])
    }
}

/// Hashes a part behind its length, so that two requests whose parts join to the same bytes differ.
fn add(hash: &mut Sha256, part: &[u8]) {
    hash.update((part.len() as u64).to_le_bytes());
    hash.update(part);
}

impl fmt::Display for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

#[cfg(test)]
impl RequestHash {
    /// The hash of a request that only has a path.
    pub(super) fn of_path(path: &str) -> Self {
        let request = Request {
            method: "POST",
            path: path.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        Self::of("", &request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    fn plain() -> Request {
        Request {
            method: "POST",
            path: "/a".to_owned(),
            headers: vec![header("x", "yz")],
            body: b"body".to_vec(),
        }
    }

    fn changed(change: impl Fn(&mut Request)) -> RequestHash {
        let mut request = plain();
        change(&mut request);
        RequestHash::of("http://h", &request)
    }

    #[test]
    fn every_part_of_a_request_changes_its_hash() {
        let all = [
            changed(|_| ()),
            changed(|request| request.method = "GET"),
            changed(|request| request.path.push('b')),
            changed(|request| request.headers[0] = header("xy", "z")),
            changed(|request| request.headers.clear()),
            changed(|request| request.body[0] ^= 1),
            RequestHash::of("http://g", &plain()),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other != one), "{at}");
        }
        assert_eq!(all[0], changed(|request| request.headers[0].0 = "X".to_owned()));
        assert_eq!((all[0].to_string().len(), all[0].short().len()), (64, 16));
    }
}
