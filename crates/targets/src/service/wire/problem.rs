//! From a status and a body to what is wrong, where the service's own words do not say more.

use super::{Answer, Problem};

/// As much of a service's own words as a record has room for.
const MOST_WORDS: usize = 200;

/// What a status without success means; `words` are the service's own.
pub(super) fn of_status(answer: &Answer, words: &str) -> Problem {
    let status = answer.status;
    let told = told(status, words);
    match status {
        429 => Problem::Throttled(retry_after(answer)),
        503 if retry_after(answer).is_some() => Problem::Throttled(retry_after(answer)),
        408 | 500.. => Problem::Unavailable(told),
        401 | 403 | 407 => Problem::Denied(told),
        404 | 405 | 410 => Problem::Denied(format!(
            "nothing answers there: check endpoint, version and model ({told})"
        )),
        400 | 411 | 413..=415 | 422 => Problem::Refused(told),
        300..400 => {
            let place = answer.headers.get("location").map_or("elsewhere", String::as_str);
            let place = first_line(place);
            Problem::Denied(format!("the service sends on to {place}: set endpoint to it"))
        }
        _ => Problem::Broken(told),
    }
}

/// A status with the service's own words.
pub(super) fn told(status: u16, words: &str) -> String {
    let words = first_line(words);
    if words.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {words}") }
}

/// The seconds to wait that the service names; a date is left to the usual patience.
pub(super) fn retry_after(answer: &Answer) -> Option<u64> {
    answer.headers.get("retry-after")?.trim().parse().ok()
}

/// The first line of foreign words, cut: further ones may repeat what was sent, secrets included.
pub(super) fn first_line(words: &str) -> String {
    let line = words.trim().lines().next().unwrap_or_default();
    let mut letters = line.chars().filter(|c| !c.is_control());
    let cut: String = letters.by_ref().take(MOST_WORDS).collect();
    let end = if letters.next().is_some() { "…" } else { "" };
    format!("{}{end}", cut.trim())
}

/// What a body is that nobody can read.
pub(super) fn of_body(body: &[u8]) -> String {
    let start = String::from_utf8_lossy(&body[..body.len().min(MOST_WORDS)]);
    let start = start.trim_start();
    let is_page = ["<!doctype", "<html"]
        .iter()
        .any(|tag| start.get(..tag.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(tag)));
    match (is_page, start.is_empty()) {
        (true, _) => "a web page instead of an answer".to_owned(),
        (_, true) => "an empty body".to_owned(),
        _ => first_line(start),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, headers: &[(&str, &str)]) -> Answer {
        let owned = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
        Answer { status, headers: headers.iter().map(owned).collect(), body: Vec::new() }
    }

    #[test]
    fn a_status_tells_what_to_do() {
        let of = |status, headers: &[(&str, &str)]| of_status(&answer(status, headers), "words");
        assert_eq!(of(429, &[("retry-after", "7")]), Problem::Throttled(Some(7)));
        assert_eq!(
            of(429, &[("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT")]),
            Problem::Throttled(None)
        );
        assert_eq!(of(503, &[("retry-after", "2")]), Problem::Throttled(Some(2)));
        assert_eq!(of(502, &[]), Problem::Unavailable("HTTP 502: words".to_owned()));
        assert!(matches!(of(403, &[]), Problem::Denied(_)));
        assert!(matches!(of(404, &[]), Problem::Denied(why) if why.contains("check endpoint")));
        assert!(matches!(of(413, &[]), Problem::Refused(_)));
        assert!(matches!(of(418, &[]), Problem::Broken(_)));
        let on = of(307, &[("location", "https://evil.example/")]);
        assert!(matches!(on, Problem::Denied(why) if why.contains("evil.example")));
    }

    #[test]
    fn foreign_words_are_cut() {
        assert_eq!(first_line(" a\u{7}b \nx-amz-security-token:T"), "ab");
        assert!(first_line(&"é".repeat(5000)).len() < 500);
        assert_eq!(of_body(b"<!DOCTYPE html><p>"), "a web page instead of an answer");
        assert_eq!(of_body(b"  "), "an empty body");
        assert_eq!(of_body(&[0xff, 0xfe]), "\u{fffd}\u{fffd}");
    }
}
