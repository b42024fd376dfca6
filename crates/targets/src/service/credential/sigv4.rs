//! AWS Signature Version 4, the signing side.
//!
//! The four steps of "Create a signed AWS API request" in the IAM user guide: a canonical request,
//! the string to sign, the signing key derived from the secret, and the signature.

use super::super::message::Request;
use super::secret::{Credential, Secret, Signed};
use crate::hex::hex;
use sha2::{Digest, Sha256};
use std::time::{SystemTime, UNIX_EPOCH};

/// The block size of SHA-256: longer HMAC keys are hashed first.
const BLOCK: usize = 64;

/// Access keys of an account.
#[derive(Debug, Clone)]
pub struct Keys {
    /// The access key ID, which is sent.
    pub id: Secret,
    /// The secret access key, which is not.
    pub secret: Secret,
    /// The session token of temporary keys.
    pub token: Option<Secret>,
}

/// Signs every request; the secret key never leaves the machine.
#[derive(Debug, Clone)]
pub struct SigV4 {
    keys: Keys,
    region: String,
    service: &'static str,
}

impl SigV4 {
    /// Signs for a service in a region.
    pub fn new(keys: Keys, region: &str, service: &'static str) -> Self {
        Self { keys, region: region.to_owned(), service }
    }

    /// Step 3: the signing key, which is valid for one day, region and service.
    fn signing_key(&self, day: &str) -> [u8; 32] {
        let secret = format!("AWS4{}", self.keys.secret.reveal());
        let mut key = hmac(secret.as_bytes(), day.as_bytes());
        for part in [&self.region, self.service, "aws4_request"] {
            key = hmac(&key, part.as_bytes());
        }
        key
    }
}

impl Credential for SigV4 {
    fn sign(&self, request: &Request, host: &str, now: SystemTime) -> Result<Signed, String> {
        let (day, time) = stamp(now)?;
        let mut added = vec![("x-amz-date".to_owned(), Secret::new(time.clone()))];
        added.extend(self.keys.token.clone().map(|t| ("x-amz-security-token".to_owned(), t)));
        let mut headers: Vec<(String, String)> = vec![("host".to_owned(), trimmed(host))];
        for (name, value) in &request.headers {
            headers.push((name.to_ascii_lowercase(), trimmed(value)));
        }
        for (name, value) in &added {
            headers.push((name.to_ascii_lowercase(), trimmed(value.reveal())));
        }
        headers.sort();
        let names: Vec<&str> = headers.iter().map(|(name, _)| name.as_str()).collect();
        let names = names.join(";");
        let scope = format!("{day}/{}/{}/aws4_request", self.region, self.service);
        let request = hex(&Sha256::digest(canonical_request(request, &headers, &names)));
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{request}");
        let signature = hex(&hmac(&self.signing_key(&day), text.as_bytes()));
        let authorization = format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
            self.keys.id.reveal()
        );
        added.push(("authorization".to_owned(), Secret::new(authorization)));
        Ok(Signed { headers: added, query: None })
    }
}

/// Step 1: the canonical request, which both sides compute.
fn canonical_request(request: &Request, headers: &[(String, String)], names: &str) -> String {
    let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
    let mut pairs: Vec<(String, String)> = query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| {
            (uri_encode(&uri_decode(name), ""), uri_encode(&uri_decode(value), ""))
        })
        .collect();
    pairs.sort();
    let pairs: Vec<String> =
        pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let lines: String = headers.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();
    // The path is encoded already, and once more here: every service but S3 signs it encoded twice.
    let path = uri_encode(path.as_bytes(), "/");
    let body = hex(&Sha256::digest(&request.body));
    format!("{}\n{path}\n{}\n{lines}\n{names}\n{body}", request.method, pairs.join("&"))
}

/// A header's value with runs of spaces made one ("Trimall" in the documentation).
fn trimmed(value: &str) -> String {
    value.split(' ').filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Percent-encodes all but the unreserved characters of RFC 3986 (section 2.3) and `kept`.
fn uri_encode(bytes: &[u8], kept: &str) -> String {
    let mut encoded = String::new();
    for &byte in bytes {
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_unreserved || kept.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// The bytes that percent-encoded text stands for; a stray percent sign stays.
fn uri_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, hex_digit(bytes.get(at + 1)), hex_digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                decoded.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                decoded.push(byte);
                at += 1;
            }
        }
    }
    decoded
}

fn hex_digit(byte: Option<&u8>) -> Option<u32> {
    char::from(*byte?).to_digit(16)
}

/// The day and the time in the basic format of ISO 8601.
fn stamp(now: SystemTime) -> Result<(String, String), String> {
    let seconds = now
        .duration_since(UNIX_EPOCH)
        .map_err(|_| "this machine's clock is set before 1970: correct it".to_owned())?
        .as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let rest = seconds % 86_400;
    let day = format!("{year:04}{month:02}{day:02}");
    let time = format!("{day}T{:02}{:02}{:02}Z", rest / 3600, rest / 60 % 60, rest % 60);
    Ok((day, time))
}

/// Year, month and day, so many days after 1970-01-01: Howard Hinnant's `civil_from_days`. Years
/// are counted in eras of 400 years that begin in March, so that leap days come last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (year + era * 400 + next, month, day)
}

/// HMAC-SHA256 (RFC 2104).
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let mut block = [0; BLOCK];
    if key.len() > BLOCK {
        block[..32].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let inner_pad = block.map(|byte| byte ^ 0x36);
    let outer_pad = block.map(|byte| byte ^ 0x5c);
    let inner = Sha256::new_with_prefix(inner_pad).chain_update(text).finalize();
    Sha256::new_with_prefix(outer_pad).chain_update(inner).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn keys() -> Keys {
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
        Keys { id: Secret::new("AKIDEXAMPLE"), secret: Secret::new(secret), token: None }
    }

    fn request(method: &'static str, path: &str, headers: &[(&str, &str)]) -> Request {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Request { method, path: path.to_owned(), headers: headers.collect(), body: Vec::new() }
    }

    fn signature(signer: &SigV4, request: &Request, host: &str) -> String {
        // 2015-08-30 12:36:00
        let now = UNIX_EPOCH + Duration::from_secs(1_440_938_160);
        let signed = signer.sign(request, host, now).unwrap();
        let find = |wanted: &str| signed.headers.iter().find(|(name, _)| name == wanted);
        assert_eq!(find("x-amz-date").unwrap().1.reveal(), "20150830T123600Z");
        find("authorization").unwrap().1.reveal().rsplit_once('=').unwrap().1.to_owned()
    }

    /// `get-vanilla`, `post-vanilla` and `get-vanilla-query-order-key-case` of the test suite that
    /// AWS publishes for Signature Version 4.
    #[test]
    fn signs_as_the_published_suite() {
        let signer = SigV4::new(keys(), "us-east-1", "service");
        for (method, path, wanted) in [
            ("GET", "/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "/", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "GET",
                "/?Param2=value2&Param1=value1",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
        ] {
            let request = request(method, path, &[]);
            let found = signature(&signer, &request, "example.amazonaws.com");
            assert_eq!(found, wanted, "{method} {path}");
        }
    }

    /// The example of "Signature Version 4 signing process" in the AWS General Reference: IAM's
    /// ListUsers.
    #[test]
    fn signs_as_the_documented_example() {
        let signer = SigV4::new(keys(), "us-east-1", "iam");
        let form = "application/x-www-form-urlencoded; charset=utf-8";
        let request =
            request("GET", "/?Action=ListUsers&Version=2010-05-08", &[("Content-Type", form)]);
        let wanted = "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7";
        assert_eq!(signature(&signer, &request, "iam.amazonaws.com"), wanted);
    }

    #[derive(serde::Deserialize)]
    struct Fixtures {
        requests: Vec<Fixture>,
    }

    #[derive(serde::Deserialize)]
    struct Fixture {
        id: String,
        secret: String,
        token: Option<String>,
        region: String,
        host: String,
        path: String,
        headers: Vec<(String, String)>,
        body: String,
        authorization: String,
    }

    /// Random requests that botocore has signed; `sigv4.py` beside them made them.
    #[test]
    fn signs_as_botocore_does() {
        let text = include_str!("../../../tests/fixtures/sigv4.json");
        let fixtures: Fixtures = serde_json::from_str(text).unwrap();
        assert_eq!(fixtures.requests.len(), 40);
        // 2024-02-29 23:59:58
        let now = UNIX_EPOCH + Duration::from_secs(1_709_251_198);
        for one in fixtures.requests {
            let keys = Keys {
                id: Secret::new(one.id),
                secret: Secret::new(one.secret),
                token: one.token.map(Secret::new),
            };
            let Fixture { path, headers, body, .. } = one;
            let request = Request { method: "POST", path, headers, body: body.into_bytes() };
            let signer = SigV4::new(keys, &one.region, "rekognition");
            let signed = signer.sign(&request, &one.host, now).unwrap();
            let (_, authorization) = signed.headers.last().unwrap();
            assert_eq!(authorization.reveal(), one.authorization, "{request:?}");
        }
    }

    /// RFC 4231, cases 1, 2 and 6 (a key longer than a block).
    #[test]
    fn hmac_is_that_of_the_rfc() {
        for (key, text, wanted) in [
            (&[0x0b; 20][..], "Hi There", "b0344c61d8db38535ca8afceaf0bf12b"),
            (b"Jefe", "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c7"),
            (
                &[0xaa; 131],
                "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f",
            ),
        ] {
            assert!(hex(&hmac(key, text.as_bytes())).starts_with(wanted), "{text}");
        }
    }

    #[test]
    fn days_become_dates() {
        for (days, wanted) in [
            (0, (1970, 1, 1)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (19_782, (2024, 2, 29)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(date(days), wanted);
        }
    }
}
