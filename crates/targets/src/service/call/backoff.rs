//! How long to wait before a call is retried.

use super::hash::RequestHash;
use faultlens_core::Seed;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The longest wait before the first retry, in seconds; it doubles with every further one.
const FIRST_LIMIT: f64 = 0.25;

/// The longest wait that is chosen here, in seconds.
const LONGEST_LIMIT: f64 = 20.0;

/// The longest wait that a service can impose.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(120);

/// Exponential backoff with full jitter: the wait is uniform between 0 and a limit that doubles
/// with every retry, so that clients which were throttled together do not come back together. What
/// the service asks for is waited first, and jittered by the first limit alone. The random number
/// hangs on the request and the retry, so that a run repeats.
pub(super) fn wait_before(
    request: &RequestHash,
    retry: u32,
    retry_after: Option<Duration>,
) -> Duration {
    let mut stream = Seed::new(request.number()).child("repeat").at(retry.into()).stream();
    let jitter = f64::from(stream.next_u32()) / f64::from(u32::MAX);
    match retry_after {
        Some(asked) => {
            asked.min(LONGEST_RETRY_AFTER) + Duration::from_secs_f64(FIRST_LIMIT * jitter)
        }
        None => {
            let limit = (FIRST_LIMIT * f64::from(retry.min(16)).exp2()).min(LONGEST_LIMIT);
            Duration::from_secs_f64(limit * jitter)
        }
    }
}

/// The wait that a `Retry-After` header asks for: seconds or a date (RFC 9110, section 10.2.3).
pub(super) fn retry_after(headers: &BTreeMap<String, String>, now: SystemTime) -> Option<Duration> {
    let text = headers.get("retry-after")?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(text).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u32) -> RequestHash {
        RequestHash::of_path(&number.to_string())
    }

    #[test]
    fn waits_fill_a_limit_that_doubles_up_to_a_cap() {
        for (retry, limit) in [(0, 0.25), (1, 0.5), (4, 4.0), (7, 20.0), (u32::MAX, 20.0)] {
            let mut sum = 0.0;
            for number in 0..400 {
                let wait = wait_before(&request(number), retry, None).as_secs_f64();
                assert!((0.0..=limit).contains(&wait), "{retry}: {wait}");
                sum += wait;
            }
            let mean = sum / 400.0;
            assert!((mean / limit - 0.5).abs() < 0.06, "{retry}: {mean}");
        }
        assert_eq!(wait_before(&request(1), 3, None), wait_before(&request(1), 3, None));
    }

    #[test]
    fn a_service_can_ask_for_seconds_or_a_date() {
        // RFC 9110's own examples: 120 seconds, and a date.
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(946_684_740);
        for (text, wanted) in [
            ("120", Some(120)),
            (" 0 ", Some(0)),
            ("Fri, 31 Dec 1999 23:59:59 GMT", Some(59)),
            ("Fri, 31 Dec 1999 22:59:59 GMT", Some(0)),
            ("-3", None),
            ("soon", None),
        ] {
            let headers = BTreeMap::from([("retry-after".to_owned(), text.to_owned())]);
            assert_eq!(retry_after(&headers, now), wanted.map(Duration::from_secs), "{text}");
        }
        assert_eq!(retry_after(&BTreeMap::new(), now), None);
    }

    #[test]
    fn what_a_service_asks_for_is_waited_up_to_a_limit() {
        for (asked, range) in [(0, 0.0..=0.25), (3, 3.0..=3.25), (u64::MAX, 120.0..=120.25)] {
            let wait = wait_before(&request(1), 9, Some(Duration::from_secs(asked)));
            assert!(range.contains(&wait.as_secs_f64()), "{asked}: {wait:?}");
        }
    }
}
