//! A question until it has an answer: paced, signed, accounted for, repeated where that helps.

use super::backoff::{before_repeat, retry_after};
use super::client::{Client, Failed};
use super::connector::Connector;
use super::endpoint::Endpoint;
use super::error::ServiceError;
use super::hash::RequestHash;
use super::ledger::{Came, Ledger};
use super::pace::{Gate, Pace};
use super::redact::tame;
use super::spec::Manners;
use super::wire::{Answer, Problem, Request, Said};
use faultlens_core::{Image, TargetError};
use std::path::Path;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// A clock that is further off makes signatures invalid with most providers.
const MOST_SKEW: Duration = Duration::from_secs(240);

/// What a service has to say about an image.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Heard {
    /// It answers.
    Said(Said),
    /// It does not take the image, and says why.
    Refused(String),
}

/// Why an attempt has brought nothing, in words.
enum Nothing {
    /// To be repeated, after the time that the service asks for.
    Again(String, Option<Duration>),
    /// It may have been paid for.
    Lost(TargetError),
    /// To be given up, now and for all other questions.
    Closed(String),
    /// Nobody was there to ask; worth another try.
    Unreached(String),
}

/// Asks one service, from any number of threads.
pub(super) struct Caller {
    connector: Connector,
    client: Client,
    ledger: Ledger,
    pace: Pace,
    gate: Gate,
    retries: u32,
    lost_retries: u32,
    /// Why the service must not be asked any more.
    closed: OnceLock<String>,
}

/// One question.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub(super) request: &'a Request,
    pub(super) hash: &'a RequestHash,
    pub(super) image: &'a Image,
    /// Files what was heard before it is accounted for, or says why it cannot.
    pub(super) keep: &'a dyn Fn(&Answer, &Heard) -> Result<(), String>,
}

impl Caller {
    pub(super) fn new(
        connector: Connector,
        endpoint: Endpoint,
        manners: &Manners,
        certificate: Option<&Path>,
        ledger: Ledger,
    ) -> Result<Self, ServiceError> {
        let rate = manners.rate.or(connector.rate);
        if rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
            return Err(ServiceError::Setting("manners.rate must be above 0".to_owned()));
        }
        let client = Client::new(endpoint, manners.timeout, certificate)?;
        Ok(Self {
            connector,
            client,
            ledger,
            pace: Pace::new(rate),
            gate: Gate::new(manners.concurrency),
            retries: manners.retries,
            lost_retries: manners.lost_retries,
            closed: OnceLock::new(),
        })
    }

    pub(super) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    pub(super) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Asks until something is heard, or until repeating is of no use.
    pub(super) fn ask(&self, question: &Question<'_>) -> Result<Heard, TargetError> {
        let (mut repeats, mut losses) = (0, 0);
        let mut wait = Duration::ZERO;
        loop {
            let attempt = repeats + losses;
            match self.attempt(question, attempt, wait) {
                Ok(heard) => return Ok(heard),
                Err(Nothing::Closed(why)) => return Err(TargetError::Closed(why)),
                Err(Nothing::Lost(error)) if losses == self.lost_retries => return Err(error),
                Err(Nothing::Unreached(why)) if repeats == self.retries => {
                    // Nobody has been asked, so that nothing is known of this image either.
                    let why = format!("{why}; see that the service runs, and run again to go on");
                    return Err(TargetError::Closed(why));
                }
                Err(Nothing::Again(why, _)) if repeats == self.retries => {
                    return Err(TargetError::Lost(format!(
                        "given up after {repeats} repeats: {why}"
                    )));
                }
                Err(Nothing::Lost(_)) => {
                    wait = before_repeat(question.hash, losses, None);
                    losses += 1;
                }
                Err(Nothing::Again(_, asked)) => {
                    wait = before_repeat(question.hash, repeats, asked);
                    repeats += 1;
                }
                Err(Nothing::Unreached(_)) => {
                    wait = before_repeat(question.hash, repeats, None);
                    repeats += 1;
                }
            }
        }
    }

    /// One call, from waiting for its turn to the line that says what came of it.
    fn attempt(
        &self,
        question: &Question<'_>,
        attempt: u32,
        wait: Duration,
    ) -> Result<Heard, Nothing> {
        self.check_open()?;
        let waiting = Instant::now();
        sleep(wait);
        let _place = self.gate.enter();
        sleep(self.pace.slot(Instant::now()));
        self.check_open()?;
        let host = self.endpoint().host();
        let signed = self.connector.credential.sign(question.request, host, SystemTime::now());
        let signed = signed.map_err(|why| self.close(tame(&why)))?;
        let shows = !signed.headers.is_empty() || signed.query.is_some();
        if shows && !self.endpoint().is_private() {
            let why = "would be sent in the open; set `endpoint` to an https address";
            return Err(self.close(format!("credentials for {host} {why}")));
        }
        let entry = self.ledger.begin(question.hash, attempt, waiting.elapsed());
        let entry = entry.map_err(|why| self.close(why))?;
        let sent = Instant::now();
        let answer = self.client.call(question.request, &signed);
        let took = sent.elapsed();
        let status = answer.as_ref().ok().map(|answer| answer.status);
        let (came, heard) = match answer {
            Ok(answer) => self.understand(question, &answer),
            Err(failed) => self.failed(failed),
        };
        match came {
            Came::Throttled => self.pace.throttled(sent, Instant::now()),
            Came::Answered => self.pace.answered(),
            _ => (),
        }
        entry.end(came, status, took).map_err(|why| self.close(why))?;
        heard
    }

    /// Whatever is known to end in vain is not begun.
    fn check_open(&self) -> Result<(), Nothing> {
        self.closed.get().map_or(Ok(()), |why| Err(Nothing::Closed(why.clone())))
    }

    fn close(&self, why: String) -> Nothing {
        Nothing::Closed(self.closed.get_or_init(|| why).clone())
    }

    fn failed(&self, failed: Failed) -> (Came, Result<Heard, Nothing>) {
        let (came, nothing) = match failed {
            Failed::Unreached(why) => (Came::Unreached, Nothing::Unreached(why)),
            Failed::Lost(why) => (Came::Lost, Nothing::Lost(TargetError::Lost(why))),
            Failed::TimedOut(why) => (Came::TimedOut, Nothing::Lost(TargetError::TimedOut(why))),
            Failed::Closed(why) => (Came::Unreached, self.close(why)),
        };
        (came, Err(nothing))
    }

    /// What came back, as the wire reads it; an answer is filed at once.
    fn understand(
        &self,
        question: &Question<'_>,
        answer: &Answer,
    ) -> (Came, Result<Heard, Nothing>) {
        if (300..400).contains(&answer.status) {
            return (Came::Denied, Err(self.close(self.redirected(answer))));
        }
        let heard = match self.read(answer, question.image) {
            Ok(heard) => heard,
            Err(problem) => {
                let (came, nothing) = self.trouble(problem, answer);
                return (came, Err(nothing));
            }
        };
        let came = match heard {
            Heard::Said(_) => Came::Answered,
            Heard::Refused(_) => Came::Refused,
        };
        match (question.keep)(answer, &heard) {
            Ok(()) => (came, Ok(heard)),
            Err(why) => (came, Err(self.close(why))),
        }
    }

    /// What an answer means, fresh or filed.
    pub(super) fn read(&self, answer: &Answer, image: &Image) -> Result<Heard, Problem> {
        match self.connector.wire.read(answer, image) {
            Ok(said) => Ok(Heard::Said(said)),
            Err(Problem::Refused(why)) => Ok(Heard::Refused(tame(&why))),
            Err(problem) => Err(problem),
        }
    }

    fn trouble(&self, problem: Problem, answer: &Answer) -> (Came, Nothing) {
        let host = self.endpoint().host();
        let now = SystemTime::now();
        let asked = retry_after(&answer.headers, now);
        match problem {
            Problem::Throttled(seconds) => {
                let asked = seconds.map(Duration::from_secs).or(asked);
                (Came::Throttled, Nothing::Again(format!("{host} says: too many calls"), asked))
            }
            Problem::Unavailable(why) => {
                let why = format!("{host} has a problem of its own ({})", tame(&why));
                (Came::ServerError, Nothing::Again(why, asked))
            }
            Problem::Denied(why) => {
                let why = format!("{host} is not open to these credentials ({})", tame(&why));
                let clock = skew(answer, now).unwrap_or_default();
                (Came::Denied, self.close(format!("{why}{clock}")))
            }
            Problem::Broken(why) | Problem::Refused(why) => {
                let why = format!("what {host} answers cannot be understood ({})", tame(&why));
                (Came::Lost, Nothing::Lost(TargetError::Lost(why)))
            }
        }
    }

    fn redirected(&self, answer: &Answer) -> String {
        let to = answer.headers.get("location").map_or("nowhere", String::as_str);
        let to = to.split_once("://").map_or(to, |(_, rest)| rest);
        let to = tame(to.split(['/', '?', '#']).next().unwrap_or_default());
        let to = if to.is_empty() { "another path" } else { &to };
        let host = self.endpoint().host();
        format!(
            "{host} redirects to {to}; credentials do not follow: set `endpoint` to where it is"
        )
    }
}

/// What to say where the service's clock and ours disagree: signatures are then refused.
fn skew(answer: &Answer, now: SystemTime) -> Option<String> {
    let theirs = httpdate::parse_http_date(answer.headers.get("date")?).ok()?;
    let (by, word) = match now.duration_since(theirs) {
        Ok(ahead) => (ahead, "ahead of"),
        Err(behind) => (behind.duration(), "behind"),
    };
    let seconds = by.as_secs();
    (by > MOST_SKEW).then(|| {
        format!("; this machine's clock is {seconds} s {word} the service's: set it right")
    })
}
