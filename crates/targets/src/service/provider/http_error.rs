//! What an HTTP status means, where the service's own error code does not say more.

use super::super::message::HttpResponse;
use super::super::wire_format::WireError;

/// As much of a service's own message as a record has room for.
const MAX_MESSAGE: usize = 200;

/// The error that a status other than success means; `message` is the service's own.
pub(super) fn from_status(response: &HttpResponse, message: &str) -> WireError {
    let status = response.status;
    let described = with_status(status, message);
    match status {
        429 => WireError::Throttled(retry_after(response)),
        503 if retry_after(response).is_some() => WireError::Throttled(retry_after(response)),
        408 | 500.. => WireError::Unavailable(described),
        401 | 403 | 407 => WireError::Denied(described),
        404 | 405 | 410 => WireError::Denied(format!(
            "no such address: check endpoint, version and model ({described})"
        )),
        400 | 411 | 413..=415 | 422 => WireError::Rejected(described),
        300..400 => {
            let location = response.headers.get("location").map_or("elsewhere", String::as_str);
            let location = first_line(location);
            WireError::Denied(format!("the service redirects to {location}: set endpoint to it"))
        }
        _ => WireError::Malformed(described),
    }
}

/// A status with the service's own message.
pub(super) fn with_status(status: u16, message: &str) -> String {
    let message = first_line(message);
    if message.is_empty() {
        return format!("HTTP {status}");
    }
    format!("HTTP {status}: {message}")
}

/// The seconds in `Retry-After`; a date is left to the usual backoff.
pub(super) fn retry_after(response: &HttpResponse) -> Option<u64> {
    response.headers.get("retry-after")?.trim().parse().ok()
}

/// The first line of a service's message, cut: further lines may echo what was sent, secrets
/// included.
pub(super) fn first_line(message: &str) -> String {
    let line = message.trim().lines().next().unwrap_or_default();
    let mut letters = line.chars().filter(|c| !c.is_control());
    let cut: String = letters.by_ref().take(MAX_MESSAGE).collect();
    let end = if letters.next().is_some() { "…" } else { "" };
    format!("{}{end}", cut.trim())
}

/// A short description of a body that cannot be parsed.
pub(super) fn describe_body(body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(MAX_MESSAGE)]);
    let start = start.trim_start();
    if start.is_empty() {
        return "an empty body".to_owned();
    }
    for tag in ["<!doctype", "<html"] {
        if start.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag)) {
            return "a web page instead of an answer".to_owned();
        }
    }
    first_line(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(status: u16, headers: &[(&str, &str)]) -> WireError {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let response = HttpResponse { status, headers: headers.collect(), body: Vec::new() };
        from_status(&response, "words")
    }

    #[test]
    fn a_status_decides_what_happens() {
        assert_eq!(error(429, &[("retry-after", "7")]), WireError::Throttled(Some(7)));
        let date = ("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT");
        assert_eq!(error(429, &[date]), WireError::Throttled(None));
        assert_eq!(error(503, &[("retry-after", "2")]), WireError::Throttled(Some(2)));
        assert_eq!(error(502, &[]), WireError::Unavailable("HTTP 502: words".to_owned()));
        assert!(matches!(error(403, &[]), WireError::Denied(_)));
        let missing = error(404, &[]);
        assert!(matches!(missing, WireError::Denied(why) if why.contains("check endpoint")));
        assert!(matches!(error(413, &[]), WireError::Rejected(_)));
        assert!(matches!(error(418, &[]), WireError::Malformed(_)));
        let redirect = error(307, &[("location", "https://evil.example/")]);
        assert!(matches!(redirect, WireError::Denied(why) if why.contains("evil.example")));
    }

    #[test]
    fn messages_of_a_service_are_cut() {
        assert_eq!(first_line(" a\u{7}b \nx-amz-security-token:T"), "ab");
        assert!(first_line(&"é".repeat(5000)).len() < 500);
        assert_eq!(describe_body(b"<!DOCTYPE html><p>"), "a web page instead of an answer");
        assert_eq!(describe_body(b"  "), "an empty body");
        assert_eq!(describe_body(&[0xff, 0xfe]), "\u{fffd}\u{fffd}");
    }
}
