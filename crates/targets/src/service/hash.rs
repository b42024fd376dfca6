//! What a question is filed under.

use super::wire::Request;
use sha2::{Digest, Sha256};
use std::fmt;

/// The SHA-256 of all that is asked and of whom; credentials are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RequestHash([u8; 32]);

impl RequestHash {
    pub(super) fn of(endpoint: &str, request: &Request) -> Self {
        let mut hash = Sha256::new();
        // Every part says its length first, so that no two questions run together.
        let mut add = |part: &[u8]| {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        };
        add(endpoint.as_bytes());
        add(request.method.as_bytes());
        add(request.path.as_bytes());
        add(&(request.headers.len() as u64).to_le_bytes());
        for (name, value) in &request.headers {
            add(name.to_ascii_lowercase().as_bytes());
            add(value.as_bytes());
        }
        add(&request.body);
        Self(hash.finalize().into())
    }

    /// What a second answer to the same question is filed under.
    pub(super) fn again(self) -> Self {
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

    /// The first digits, enough to tell the questions of a campaign apart.
    pub(super) fn short(&self) -> String {
        hex(&self.0[..8])
    }
}

impl fmt::Display for RequestHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_question_tells_it_from_others() {
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let plain = Request {
            method: "POST",
            path: "/a".to_owned(),
            headers: vec![header("x", "yz")],
            body: b"body".to_vec(),
        };
        let with = |change: &dyn Fn(&mut Request)| {
            let mut request = plain.clone();
            change(&mut request);
            RequestHash::of("http://h", &request)
        };
        let all = [
            with(&|_| ()),
            with(&|request| request.method = "GET"),
            with(&|request| request.path.push('b')),
            with(&|request| request.headers[0] = header("xy", "z")),
            with(&|request| request.headers.clear()),
            with(&|request| request.body[0] ^= 1),
            RequestHash::of("http://g", &plain),
        ];
        for (at, one) in all.iter().enumerate() {
            assert!(all[..at].iter().all(|other| other != one), "{at}");
        }
        assert_eq!(all[0], with(&|request| request.headers[0].0 = "X".to_owned()));
        assert_eq!((all[0].to_string().len(), all[0].short().len()), (64, 16));
    }
}
