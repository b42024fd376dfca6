//! Misbehaviour on purpose, drawn from a seed and the number of the call.

use crate::counts::Ending;
use crate::message::HttpResponse;
use faultlens_core::{Seed, Stream, did_you_mean};
use std::str::FromStr;
use std::time::Duration;

/// Kinds of misbehaviour by their names on the command line.
const KINDS: [(&str, Ending); 6] = [
    ("throttle", Ending::Throttled),
    ("error", Ending::Failed),
    ("drop", Ending::Dropped),
    ("truncate", Ending::Truncated),
    ("nonsense", Ending::Nonsense),
    ("stall", Ending::Stalled),
];

/// Longer than any client waits.
const MAX_LATENCY: Duration = Duration::from_secs(3600);

/// JSON that is no response in any of the formats, not even an empty one.
const NONSENSE: &[&str] = &[
    "null",
    "\"ok\"",
    "[null]",
    "{\"weather\":\"fine\"}",
    "{\"Labels\":7,\"responses\":\"many\",\"tagsResult\":[],\"predictions\":{},\"outputs\":-1}",
];

/// How a server misbehaves: fractions of calls, a latency, a drift; by default not at all.
///
/// ```
/// # use faultlens_serve::Misbehaviour;
/// let often: Misbehaviour = "throttle=0.1,error=0.05,latency=20ms..80ms,drift=200".parse()?;
/// assert!("throttle=0.9,drop=0.2".parse::<Misbehaviour>().is_err());
/// # Ok::<(), faultlens_serve::MisbehaviourError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Misbehaviour {
    /// In the order of `KINDS`.
    shares: [f64; KINDS.len()],
    latency: Option<(Duration, Duration)>,
    drift: Option<u64>,
}

/// Why a misbehaviour cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MisbehaviourError {
    /// A part without a value.
    #[error("`{0}` needs a value, such as throttle=0.1")]
    NoValue(String),
    /// An unknown name.
    #[error("no misbehaviour is called `{name}`; {hint}")]
    Unknown {
        /// The name as typed.
        name: String,
        /// What to say instead.
        hint: String,
    },
    /// A value that cannot be read.
    #[error("{name} takes {wanted}, not `{value}`")]
    Value {
        /// Which part.
        name: &'static str,
        /// What it takes.
        wanted: &'static str,
        /// The value as typed.
        value: String,
    },
    /// More than all calls.
    #[error("the shares of calls add up to more than 1; lower some of them")]
    TooOften,
}

impl FromStr for Misbehaviour {
    type Err = MisbehaviourError;

    fn from_str(text: &str) -> Result<Self, MisbehaviourError> {
        let mut all = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (name, value) =
                part.split_once('=').ok_or_else(|| MisbehaviourError::NoValue(part.to_owned()))?;
            all.set(name.trim(), value.trim())?;
        }
        // Shares such as 0.7 and 0.3 do not add up to 1 exactly.
        if all.shares.iter().sum::<f64>() > 1.0 + 1e-9 {
            return Err(MisbehaviourError::TooOften);
        }
        Ok(all)
    }
}

impl Misbehaviour {
    fn set(&mut self, name: &str, value: &str) -> Result<(), MisbehaviourError> {
        let invalid =
            |name, wanted| MisbehaviourError::Value { name, wanted, value: value.to_owned() };
        if let Some(at) = KINDS.iter().position(|(known, _)| *known == name) {
            let share = value.parse().ok().filter(|share| (0.0..=1.0).contains(share));
            self.shares[at] = share.ok_or_else(|| invalid(KINDS[at].0, "a share from 0 to 1"))?;
            return Ok(());
        }
        match name {
            "latency" => {
                let range = latency(value);
                self.latency =
                    Some(range.ok_or_else(|| {
                        invalid("latency", "a time or a range, such as 20ms..80ms")
                    })?);
            }
            "drift" => {
                let calls = value.parse().ok();
                self.drift = Some(calls.ok_or_else(|| invalid("drift", "a number of calls"))?);
            }
            _ => {
                let names: Vec<&str> =
                    KINDS.iter().map(|(known, _)| *known).chain(["latency", "drift"]).collect();
                let hint = match did_you_mean(name, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("known are {}", names.join(", ")),
                };
                return Err(MisbehaviourError::Unknown { name: name.to_owned(), hint });
            }
        }
        Ok(())
    }

    /// What happens to a call: one uniform number is compared with the running sum of the
    /// fractions.
    pub(crate) fn plan(&self, seed: Seed, number: u64) -> Plan {
        let mut stream = seed.child("misbehaviour").at(number).stream();
        let mut left = stream.uniform();
        let mut ending = Ending::Answered;
        for (share, (_, kind)) in self.shares.iter().zip(KINDS) {
            if left < *share {
                ending = kind;
                break;
            }
            left -= share;
        }
        let wait = stream.uniform();
        let latency = self
            .latency
            .map_or(Duration::ZERO, |(min, max)| min + max.saturating_sub(min).mul_f64(wait));
        Plan { ending, latency, drifted: self.drift.is_some_and(|after| number >= after), stream }
    }
}

/// Reads `50ms`, `1.5s` or `20ms..80ms`.
fn latency(text: &str) -> Option<(Duration, Duration)> {
    let (min, max) = text.split_once("..").unwrap_or((text, text));
    let min = time(min)?;
    let max = time(max)?;
    (min <= max && max <= MAX_LATENCY).then_some((min, max))
}

fn time(text: &str) -> Option<Duration> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s')?, 1.0),
    };
    Duration::try_from_secs_f64(number.trim().parse::<f64>().ok()? * unit).ok()
}

/// What happens to one call.
pub(crate) struct Plan {
    /// How it is to end.
    pub(crate) ending: Ending,
    /// How long it waits first.
    pub(crate) latency: Duration,
    /// Whether another model seems to answer.
    pub(crate) drifted: bool,
    stream: Stream,
}

impl Plan {
    /// The status of an error on purpose: 500 or 503, which clients should retry.
    pub(crate) fn status(&mut self) -> u16 {
        if self.stream.chance(0.5) { 500 } else { 503 }
    }

    /// A position inside the response, neither its start nor its end.
    pub(crate) fn cut(&mut self, length: usize) -> usize {
        1 + self.stream.below(length.saturating_sub(1))
    }

    /// The response spoilt, where that is planned; its status stays.
    pub(crate) fn spoil(&mut self, mut answer: HttpResponse) -> HttpResponse {
        match self.ending {
            Ending::Truncated => {
                let at = self.cut(answer.body.len());
                answer.body.truncate(at);
            }
            Ending::Nonsense => {
                let text = self.stream.pick(NONSENSE).copied().unwrap_or_default();
                answer.body = text.as_bytes().to_vec();
                answer.headers.clear();
                answer.content_type = "application/json";
            }
            _ => {}
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Misbehaviour, String> {
        text.parse().map_err(|error: MisbehaviourError| error.to_string())
    }

    #[test]
    fn shares_come_out_as_asked_and_repeat() {
        let often = read("throttle=0.1, error=0.05,drop=0.02,truncate=0.01").unwrap();
        let [first, again, other] = [7, 7, 8].map(|seed| -> Vec<Ending> {
            (0..20_000).map(|number| often.plan(Seed::new(seed), number).ending).collect()
        });
        assert_eq!(first, again);
        assert_ne!(first, other);
        for (ending, share) in [
            (Ending::Throttled, 0.1),
            (Ending::Failed, 0.05),
            (Ending::Dropped, 0.02),
            (Ending::Truncated, 0.01),
            (Ending::Stalled, 0.0),
            (Ending::Answered, 0.82),
        ] {
            let found = first.iter().filter(|&&drawn| drawn == ending).count() as f64 / 20_000.0;
            // Four standard errors.
            let slack = 4.0 * (share * (1.0 - share) / 20_000.0_f64).sqrt();
            assert!((found - share).abs() <= slack, "{ending:?} {found}");
        }
    }

    #[test]
    fn latency_lies_in_its_range_and_drift_starts_at_its_call() {
        let slow = read("latency=20ms..80ms,drift=3").unwrap();
        for number in 0..50 {
            let plan = slow.plan(Seed::new(1), number);
            assert!((20..=80).contains(&plan.latency.as_millis()), "{:?}", plan.latency);
            assert_eq!(plan.drifted, number >= 3);
        }
        let fixed = read("latency=1.5s").unwrap().plan(Seed::new(1), 0);
        assert_eq!(fixed.latency, Duration::from_millis(1500));
    }

    #[test]
    fn slips_are_explained() {
        for (text, wanted) in [
            ("throtle=0.1", "did you mean `throttle`?"),
            ("throttle", "needs a value"),
            ("error=1.5", "a share from 0 to 1, not `1.5`"),
            ("error=NaN", "a share"),
            ("latency=80ms..20ms", "such as 20ms..80ms"),
            ("latency=5", "such as 20ms..80ms"),
            ("latency=-5ms", "such as 20ms..80ms"),
            ("drift=soon", "a number of calls"),
            ("throttle=0.9,drop=0.2", "more than 1"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(wanted), "{text}: {error}");
        }
        assert_eq!(read("").unwrap(), Misbehaviour::default());
    }

    #[test]
    fn a_spoilt_answer_is_no_answer() {
        let whole = serde_json::json!({"responses": [{"labelAnnotations": []}]});
        for text in ["truncate=1", "nonsense=1"] {
            for number in 0..40 {
                let mut plan = read(text).unwrap().plan(Seed::new(3), number);
                let spoilt = plan.spoil(HttpResponse::json(200, &whole));
                assert_eq!(spoilt.status, 200);
                let read: Result<serde_json::Value, _> = serde_json::from_slice(&spoilt.body);
                assert_eq!(read.is_ok(), text == "nonsense=1");
                assert!(read.map_or(true, |value| value["responses"].as_array().is_none()));
            }
        }
    }
}
