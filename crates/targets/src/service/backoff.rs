//! How long to wait before a call is repeated.

use super::hash::RequestHash;
use faultlens_core::Seed;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The most that the first repeat waits, in seconds; every next one up to twice as long.
const FIRST: f64 = 0.25;

/// The most that any repeat waits of its own accord, in seconds.
const LONGEST: f64 = 20.0;

/// The most that a service can make us wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long to wait before a repeat: at random up to a limit that doubles, so that those who were
/// throttled together do not come back together; and what the service asks for before that.
pub(super) fn before_repeat(hash: &RequestHash, repeat: u32, asked: Option<Duration>) -> Duration {
    let number = Seed::new(hash.number()).child("repeat").at(repeat.into()).stream().next_u32();
    let share = f64::from(number) / f64::from(u32::MAX);
    let asked = asked.map(|asked| asked.min(PATIENCE));
    let limit = match asked {
        Some(_) => FIRST,
        None => (FIRST * f64::from(repeat.min(16)).exp2()).min(LONGEST),
    };
    asked.unwrap_or_default() + Duration::from_secs_f64(limit * share)
}

/// What a `Retry-After` says: seconds, or a date.
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
    use crate::service::wire::Request;

    fn hash(path: u32) -> RequestHash {
        let (headers, body) = (vec![], vec![]);
        RequestHash::of("", &Request { method: "POST", path: path.to_string(), headers, body })
    }

    #[test]
    fn waits_fill_a_limit_that_doubles_up_to_a_cap() {
        for (repeat, limit) in [(0, 0.25), (1, 0.5), (4, 4.0), (7, 20.0), (u32::MAX, 20.0)] {
            let waits = (0..400).map(|path| before_repeat(&hash(path), repeat, None).as_secs_f64());
            let waits: Vec<f64> = waits.collect();
            let mean = waits.iter().sum::<f64>() / 400.0;
            assert!(waits.iter().all(|wait| (0.0..=limit).contains(wait)), "{repeat}");
            assert!((mean / limit - 0.5).abs() < 0.06, "{repeat}: {mean}");
        }
        assert_eq!(before_repeat(&hash(1), 3, None), before_repeat(&hash(1), 3, None));
    }

    #[test]
    fn a_service_says_how_long_in_seconds_or_by_the_clock() {
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
        let wait = |seconds| before_repeat(&hash(1), 9, Some(Duration::from_secs(seconds)));
        assert!((3.0..=3.25).contains(&wait(3).as_secs_f64()));
        assert!((120.0..=120.25).contains(&wait(u64::MAX).as_secs_f64()));
    }
}
