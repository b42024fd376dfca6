//! AWS Signature Version 4, the verifying side.
//!
//! The server computes the canonical request, the string to sign and the signature as the client
//! did, and compares. Written from the documentation alone, so that it is a test of the signing
//! side in `faultlens-targets` and not a copy of it.

use crate::message::HttpRequest;
use crate::query::decoded;
use axum::http::HeaderValue;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest, Sha256};

/// How far a client's clock may be off, in seconds.
const SKEW: i64 = 300;

/// Why a signature is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SignatureError {
    /// There is no signature.
    Missing,
    /// It cannot be read.
    Malformed(String),
    /// The access key is unknown.
    UnknownKey,
    /// It does not match the request, or its time has passed.
    Wrong(String),
}

/// The parts of the `Authorization` header.
struct Authorization<'a> {
    id: &'a str,
    /// Date, region, service and `aws4_request`.
    scope: &'a str,
    headers: &'a str,
    signature: &'a str,
}

/// Checks the signature for a service at a time; keys are `ID:SECRET`.
pub(crate) fn check(
    http: &HttpRequest,
    service: &str,
    keys: &[String],
    now: i64,
) -> Result<(), SignatureError> {
    let header = http.header("authorization");
    if header.is_empty() {
        return Err(SignatureError::Missing);
    }
    let claim = claim(header).ok_or_else(malformed)?;
    let pairs = keys.iter().filter_map(|key| key.split_once(':'));
    let secret = pairs.filter(|(id, _)| *id == claim.id).map(|(_, secret)| secret).next();
    let secret = secret.ok_or(SignatureError::UnknownKey)?;
    let date = http.header("x-amz-date");
    let signed_at = seconds(date).ok_or_else(|| {
        let why = "Date must be in ISO-8601 'basic format' in 'X-Amz-Date'.";
        SignatureError::Malformed(why.to_owned())
    })?;
    let steps = scope(claim.scope, service, date)?;
    in_time(date, signed_at, now)?;
    let request = hash(canonical_request(http, claim.headers)?);
    let text = format!("AWS4-HMAC-SHA256\n{date}\n{}\n{request}", claim.scope);
    // The signing key: HMACs of day, region, service and `aws4_request`, each keyed by the last.
    let mut key = format!("AWS4{secret}").into_bytes();
    for step in steps {
        key = mac(&key, step).finalize().into_bytes().to_vec();
    }
    let signature = unhex(claim.signature).ok_or_else(malformed)?;
    mac(&key, &text).verify_slice(&signature).map_err(|_| {
        mismatch(
            "The request signature we calculated does not match the signature you provided. \
             Check your AWS Secret Access Key and signing method. Consult the service \
             documentation for details.",
        )
    })
}

fn malformed() -> SignatureError {
    let why = "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature'.";
    SignatureError::Malformed(why.to_owned())
}

fn mismatch(why: impl Into<String>) -> SignatureError {
    SignatureError::Wrong(why.into())
}

/// The parts of the credential scope, if they name the service and the day.
fn scope<'a>(scope: &'a str, service: &str, date: &str) -> Result<[&'a str; 4], SignatureError> {
    let parts: Vec<&str> = scope.split('/').collect();
    let [day, region, named, "aws4_request"] = parts[..] else { return Err(malformed()) };
    if named != service {
        return Err(mismatch(format!(
            "Credential should be scoped to correct service: '{service}'."
        )));
    }
    if Some(day) != date.get(..8) {
        let why = "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date \
                   from HTTP";
        return Err(mismatch(why));
    }
    Ok([day, region, named, "aws4_request"])
}

fn claim(header: &str) -> Option<Authorization<'_>> {
    let rest = header.strip_prefix("AWS4-HMAC-SHA256")?;
    let part = |name: &str| {
        rest.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='))
    };
    let (id, scope) = part("Credential")?.split_once('/')?;
    Some(Authorization {
        id,
        scope,
        headers: part("SignedHeaders")?,
        signature: part("Signature")?,
    })
}

fn in_time(date: &str, signed_at: i64, now: i64) -> Result<(), SignatureError> {
    let late = now - signed_at;
    if late > SKEW {
        return Err(mismatch(format!(
            "Signature expired: {date} is now earlier than {} ({} - 5 min.)",
            basic_time(now - SKEW),
            basic_time(now)
        )));
    }
    if late < -SKEW {
        return Err(mismatch(format!(
            "Signature not yet current: {date} is still later than {} ({} + 5 min.)",
            basic_time(now + SKEW),
            basic_time(now)
        )));
    }
    Ok(())
}

/// The canonical request, which both sides hash.
fn canonical_request(http: &HttpRequest, signed: &str) -> Result<String, SignatureError> {
    if !signed.split(';').any(|name| name == "host") {
        return Err(mismatch("'Host' must be a 'SignedHeader' in the AWS Authorization."));
    }
    let mut headers = String::new();
    for name in signed.split(';') {
        let values: Vec<String> = http.headers.get_all(name).iter().map(trimmed).collect();
        headers.push_str(&format!("{name}:{}\n", values.join(",")));
    }
    let path = encoded(&decoded_path(&http.path), true);
    let body = hash(&http.body);
    let claimed = http.header("x-amz-content-sha256");
    if !(claimed.is_empty() || claimed == body) {
        return Err(mismatch(
            "The provided 'x-amz-content-sha256' header does not match what was computed.",
        ));
    }
    Ok(format!("{}\n{path}\n{}\n{headers}\n{signed}\n{body}", http.method, sorted(&http.query)))
}

/// A header's value with runs of spaces made one ("Trimall" in the documentation).
fn trimmed(value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// In paths, unlike in queries, a plus sign is no space.
fn decoded_path(path: &str) -> String {
    decoded(&path.replace('+', "%2B"))
}

/// Parameters in the order of their encoded names and values.
fn sorted(query: &str) -> String {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let mut pairs: Vec<String> = pairs
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(name, value)| {
            format!("{}={}", encoded(&decoded(name), false), encoded(&decoded(value), false))
        })
        .collect();
    pairs.sort();
    pairs.join("&")
}

/// Percent-encodes all but the unreserved characters of RFC 3986, and slashes where wished.
fn encoded(text: &str, slashes: bool) -> String {
    let mut all = String::new();
    for byte in text.bytes() {
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_unreserved || (slashes && byte == b'/') {
            all.push(char::from(byte));
        } else {
            all.push_str(&format!("%{byte:02X}"));
        }
    }
    all
}

fn mac(key: &[u8], text: &str) -> Hmac<Sha256> {
    // HMAC takes keys of every length, so that the error cannot occur.
    let mut mac =
        Hmac::<Sha256>::new_from_slice(key).unwrap_or_else(|_| Hmac::new(&Default::default()));
    mac.update(text.as_bytes());
    mac
}

fn hash(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// Seconds since 1970 of `20150830T123600Z`.
fn seconds(date: &str) -> Option<i64> {
    let shape = date.len() == 16 && date.is_ascii();
    let shape = shape && &date[8..9] == "T" && date.ends_with('Z');
    let number = |from: usize, to: usize| date.get(from..to)?.parse::<i64>().ok();
    let [year, month, day] = [number(0, 4)?, number(4, 6)?, number(6, 8)?];
    let [hour, minute, second] = [number(9, 11)?, number(11, 13)?, number(13, 15)?];
    let valid = (1..=12).contains(&month) && (1..=31).contains(&day);
    let valid = valid && hour < 24 && minute < 60 && second < 61;
    (shape && valid).then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

/// Days since 1970: Howard Hinnant's `days_from_civil`, with years that begin in March so that the
/// leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let month = (month + 9) % 12;
    let of_era = year.rem_euclid(400);
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// A time in the basic format of ISO 8601, by Howard Hinnant's `civil_from_days`.
fn basic_time(seconds: i64) -> String {
    let day = seconds.div_euclid(86_400) + 719_468;
    let rest = seconds.rem_euclid(86_400);
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = (month + 2) % 12 + 1;
    let year = year + era * 400 + i64::from(month <= 2);
    let [hour, minute, second] = [rest / 3600, rest / 60 % 60, rest % 60];
    format!("{year:04}{month:02}{date:02}T{hour:02}{minute:02}{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderMap, HeaderName, Method};

    /// The request of AWS's published test suite for signers, version 4.
    fn request(
        method: Method,
        query: &str,
        more: &[(&str, &str)],
        body: &'static str,
    ) -> HttpRequest {
        let mut headers = HeaderMap::new();
        let usual = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
        for (name, value) in usual.iter().chain(more) {
            let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
            headers.append(name, HeaderValue::from_str(value).unwrap());
        }
        HttpRequest {
            method,
            path: "/".to_owned(),
            query: query.to_owned(),
            headers,
            body: body.into(),
        }
    }

    fn authorization(headers: &str, signature: &str) -> String {
        format!(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, \
                SignedHeaders={headers}, Signature={signature}"
        )
    }

    fn keys() -> Vec<String> {
        vec!["AKIDEXAMPLE:wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned()]
    }

    const THEN: i64 = 1_440_938_160;
    const VANILLA: &str = "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31";

    #[test]
    fn the_published_vectors_are_accepted() {
        let form = ("content-type", "application/x-www-form-urlencoded");
        let cases = [
            ("get-vanilla", Method::GET, "", None, "", VANILLA),
            (
                "get-vanilla-query-order-key-case",
                Method::GET,
                "Param2=value2&Param1=value1",
                None,
                "",
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
            (
                "post-vanilla",
                Method::POST,
                "",
                None,
                "",
                "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
            ),
            (
                "post-x-www-form-urlencoded",
                Method::POST,
                "",
                Some(form),
                "Param1=value1",
                "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
            ),
        ];
        for (name, method, query, more, body, signature) in cases {
            let headers =
                if more.is_some() { "content-type;host;x-amz-date" } else { "host;x-amz-date" };
            let authorization = authorization(headers, signature);
            let more: Vec<(&str, &str)> =
                more.into_iter().chain([("authorization", authorization.as_str())]).collect();
            let http = request(method, query, &more, body);
            assert_eq!(check(&http, "service", &keys(), THEN), Ok(()), "{name}");
        }
    }

    /// Why a signature is wrong.
    fn mismatch_of(http: &HttpRequest, now: i64) -> String {
        match check(http, "service", &keys(), now) {
            Err(SignatureError::Wrong(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_changed_or_late_is_refused() {
        let good = authorization("host;x-amz-date", VANILLA);
        let vanilla = |query, body| request(Method::GET, query, &[("authorization", &good)], body);
        assert!(mismatch_of(&vanilla("", "more"), THEN).contains("does not match"));
        assert!(mismatch_of(&vanilla("a=b", ""), THEN).contains("does not match"));
        assert_eq!(check(&vanilla("", ""), "service", &keys(), THEN + 300), Ok(()));
        let late = mismatch_of(&vanilla("", ""), THEN + 301);
        assert_eq!(
            late,
            "Signature expired: 20150830T123600Z is now earlier than 20150830T123601Z \
                (20150830T124101Z - 5 min.)"
        );
        assert!(mismatch_of(&vanilla("", ""), THEN - 301).contains("not yet current"));
        let named = check(&vanilla("", ""), "rekognition", &keys(), THEN);
        assert!(matches!(named, Err(SignatureError::Wrong(_))), "{named:?}");
        let stranger = check(&vanilla("", ""), "service", &["OTHER:x".to_owned()], THEN);
        assert_eq!(stranger, Err(SignatureError::UnknownKey));
        let secret = ["AKIDEXAMPLE:other".to_owned()];
        assert!(matches!(
            check(&vanilla("", ""), "service", &secret, THEN),
            Err(SignatureError::Wrong(_))
        ));
        let without = request(Method::GET, "", &[], "");
        assert_eq!(check(&without, "service", &keys(), THEN), Err(SignatureError::Missing));
        for header in ["Bearer x", "AWS4-HMAC-SHA256 Credential=a", "AWS4-HMAC-SHA256"] {
            let http = request(Method::GET, "", &[("authorization", header)], "");
            let refused = check(&http, "service", &keys(), THEN);
            assert!(matches!(refused, Err(SignatureError::Malformed(_))), "{header}: {refused:?}");
        }
    }

    #[test]
    fn times_are_read_and_written() {
        for (date, wanted) in [
            ("19700101T000000Z", Some(0)),
            ("20150830T123600Z", Some(THEN)),
            ("20240229T235959Z", Some(1_709_251_199)),
            ("20151330T123600Z", None),
            ("2015-08-30T12:36", None),
            ("", None),
        ] {
            assert_eq!(seconds(date), wanted, "{date}");
            if let Some(seconds) = wanted {
                assert_eq!(basic_time(seconds), date);
            }
        }
    }
}
