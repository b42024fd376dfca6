//! A query until it has a reply: rate-limited, signed, logged, and retried where that helps.

use super::super::connector::Connector;
use super::super::endpoint::Endpoint;
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::super::spec::Limits;
use super::super::wire_format::{Prediction, WireError};
use super::backoff::{retry_after, wait_before};
use super::breaker::Breaker;
use super::client::{CallError, Client};
use super::counts::CallEvent;
use super::hash::RequestHash;
use super::log::CallLog;
use super::rate::{ConcurrencyLimit, RateLimit};
use super::redact::sanitize;
use faultlens_core::{Image, TargetError};
use std::path::Path;
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// A clock that is further off makes signatures invalid with most providers.
const MAX_CLOCK_SKEW: Duration = Duration::from_secs(240);

/// What a service replies about an image; either is worth caching.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Reply {
    /// A prediction.
    Prediction(Prediction),
    /// The service does not accept the image, and why.
    Rejected(String),
}

/// Why an attempt brought no reply.
enum AttemptError {
    /// Worth a retry, after the time that the service asks for.
    Retry(String, Option<Duration>),
    /// The response was lost; the call may be billed.
    Lost(TargetError),
    /// No connection was made; worth a retry.
    Unreached(String),
    /// The service is not asked any more, since it does not answer.
    Down(String),
    /// This and every other query is to be given up.
    Closed(String),
}

/// Asks one service, from any number of threads.
pub(in super::super) struct Caller {
    connector: Connector,
    client: Client,
    log: CallLog,
    rate: RateLimit,
    concurrency: ConcurrencyLimit,
    retries: u32,
    lost_retries: u32,
    /// Why the service must not be asked any more.
    closed: OnceLock<String>,
    breaker: Breaker,
}

/// One query.
#[derive(Clone, Copy)]
pub(in super::super) struct Query<'a> {
    pub(in super::super) request: &'a Request,
    pub(in super::super) hash: &'a RequestHash,
    pub(in super::super) image: &'a Image,
    /// Stores the response before the call is logged as ended, or returns why it cannot.
    pub(in super::super) store: &'a dyn Fn(&HttpResponse, &Reply) -> Result<(), String>,
}

impl Caller {
    pub(in super::super) fn new(
        connector: Connector,
        endpoint: Endpoint,
        limits: &Limits,
        certificate: Option<&Path>,
        log: CallLog,
    ) -> Result<Self, ServiceError> {
        let rate = limits.rate.or(connector.rate);
        if rate.is_some_and(|rate| !(rate.is_finite() && rate > 0.0)) {
            return Err(ServiceError::Setting("limits.rate must be above 0".to_owned()));
        }
        let client = Client::new(endpoint, limits.timeout, certificate)?;
        Ok(Self {
            connector,
            client,
            log,
            rate: RateLimit::new(rate),
            concurrency: ConcurrencyLimit::new(limits.concurrency),
            retries: limits.retries,
            lost_retries: limits.lost_retries,
            closed: OnceLock::new(),
            breaker: Breaker::new(limits.give_up_after),
        })
    }

    pub(in super::super) fn connector(&self) -> &Connector {
        &self.connector
    }

    pub(in super::super) fn endpoint(&self) -> &Endpoint {
        self.client.endpoint()
    }

    pub(in super::super) fn log(&self) -> &CallLog {
        &self.log
    }

    /// Whether the service is not asked any more, since it does not answer.
    pub(in super::super) fn is_down(&self) -> bool {
        self.breaker.outage().is_some()
    }

    /// Asks until there is a reply, or until retrying is of no use; not at all once so many queries
    /// in a row had no reply that the service counts as down.
    pub(in super::super) fn ask(&self, query: &Query<'_>) -> Result<Reply, TargetError> {
        let reply = self.ask_with_retries(query);
        match &reply {
            Err(TargetError::Unavailable(why)) => self.breaker.failed(why),
            Err(TargetError::Closed(_)) => {}
            // An image that is refused and an answer that cannot be read show a service at work.
            _ => self.breaker.answered(),
        }
        reply
    }

    /// Lost responses are counted apart from other retries, since each of them may be billed.
    fn ask_with_retries(&self, query: &Query<'_>) -> Result<Reply, TargetError> {
        let mut retries = 0;
        let mut losses = 0;
        let mut wait = Duration::ZERO;
        loop {
            let error = match self.attempt(query, retries + losses, wait) {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match error {
                AttemptError::Closed(why) => return Err(TargetError::Closed(why)),
                AttemptError::Down(why) => return Err(TargetError::Unavailable(why)),
                AttemptError::Lost(error) => {
                    if losses == self.lost_retries {
                        return Err(error);
                    }
                    wait = wait_before(query.hash, losses, None);
                    losses += 1;
                }
                AttemptError::Retry(why, asked) => {
                    if retries == self.retries {
                        let why = format!("gave up after {retries} retries: {why}");
                        return Err(TargetError::Unavailable(why));
                    }
                    wait = wait_before(query.hash, retries, asked);
                    retries += 1;
                }
                AttemptError::Unreached(why) => {
                    if retries == self.retries {
                        return Err(TargetError::Unavailable(why));
                    }
                    wait = wait_before(query.hash, retries, None);
                    retries += 1;
                }
            }
        }
    }

    /// One call: wait for the backoff, a connection and the rate limit; sign; log; send; log.
    fn attempt(
        &self,
        query: &Query<'_>,
        attempt: u32,
        wait: Duration,
    ) -> Result<Reply, AttemptError> {
        self.check_open()?;
        let waiting = Instant::now();
        sleep(wait);
        let _permit = self.concurrency.acquire();
        sleep(self.rate.reserve(Instant::now()));
        self.check_open()?;
        let host = self.endpoint().host();
        // Signed last, since signatures and tokens expire.
        let signed = self.connector.credential.sign(query.request, host, SystemTime::now());
        let signed = signed.map_err(|why| self.close(sanitize(&why)))?;
        let has_secret = !signed.headers.is_empty() || signed.query.is_some();
        if has_secret && !self.endpoint().is_private() {
            return Err(self.close(format!(
                "credentials for {host} would be sent unencrypted; set `endpoint` to an https \
                 address"
            )));
        }
        let logged = self.log.begin(query.hash, attempt, waiting.elapsed());
        let logged = logged.map_err(|why| self.close(why))?;
        let sent = Instant::now();
        let response = self.client.call(query.request, &signed);
        let took = sent.elapsed();
        let status = response.as_ref().ok().map(|response| response.status);
        let (event, reply) = match response {
            Ok(response) => self.interpret(query, &response),
            Err(error) => {
                let (event, error) = self.call_failed(error);
                (event, Err(error))
            }
        };
        match event {
            CallEvent::Throttled => self.rate.throttled(sent, Instant::now()),
            CallEvent::Answered => self.rate.answered(),
            _ => (),
        }
        logged.end(event, status, took).map_err(|why| self.close(why))?;
        reply
    }

    /// A call that is known to fail is not begun.
    fn check_open(&self) -> Result<(), AttemptError> {
        if let Some(why) = self.closed.get() {
            return Err(AttemptError::Closed(why.clone()));
        }
        match self.breaker.outage() {
            Some(why) => Err(AttemptError::Down(why)),
            None => Ok(()),
        }
    }

    /// Ends all calls; the first reason is the one that is reported.
    fn close(&self, why: String) -> AttemptError {
        AttemptError::Closed(self.closed.get_or_init(|| why).clone())
    }

    fn call_failed(&self, error: CallError) -> (CallEvent, AttemptError) {
        match error {
            CallError::Unreached(why) => (CallEvent::Unreached, AttemptError::Unreached(why)),
            CallError::Lost(why) => {
                (CallEvent::Lost, AttemptError::Lost(TargetError::Unavailable(why)))
            }
            CallError::TooLong(why) => {
                (CallEvent::Lost, AttemptError::Lost(TargetError::Lost(why)))
            }
            CallError::TimedOut(why) => {
                (CallEvent::TimedOut, AttemptError::Lost(TargetError::Unavailable(why)))
            }
            CallError::Closed(why) => (CallEvent::Unreached, self.close(why)),
        }
    }

    /// The reply in a response, which is stored at once.
    fn interpret(
        &self,
        query: &Query<'_>,
        response: &HttpResponse,
    ) -> (CallEvent, Result<Reply, AttemptError>) {
        if (300..400).contains(&response.status) {
            return (CallEvent::Denied, Err(self.close(self.redirected(response))));
        }
        let reply = match self.read(response, query.image) {
            Ok(reply) => reply,
            Err(error) => {
                let (event, error) = self.no_reply(error, response);
                return (event, Err(error));
            }
        };
        let event = match reply {
            Reply::Prediction(_) => CallEvent::Answered,
            Reply::Rejected(_) => CallEvent::Refused,
        };
        match (query.store)(response, &reply) {
            Ok(()) => (event, Ok(reply)),
            Err(why) => (event, Err(self.close(why))),
        }
    }

    /// What a response means, fresh or cached.
    pub(in super::super) fn read(
        &self,
        response: &HttpResponse,
        image: &Image,
    ) -> Result<Reply, WireError> {
        match self.connector.wire.read(response, image) {
            Ok(prediction) => Ok(Reply::Prediction(prediction)),
            Err(WireError::Rejected(why)) => Ok(Reply::Rejected(sanitize(&why))),
            Err(error) => Err(error),
        }
    }

    fn no_reply(&self, error: WireError, response: &HttpResponse) -> (CallEvent, AttemptError) {
        let host = self.endpoint().host();
        let now = SystemTime::now();
        let asked = retry_after(&response.headers, now);
        match error {
            WireError::Throttled(seconds) => {
                let asked = seconds.map(Duration::from_secs).or(asked);
                let why = format!("{host} throttles calls");
                (CallEvent::Throttled, AttemptError::Retry(why, asked))
            }
            WireError::Unavailable(why) => {
                let why = format!("{host} reports an internal error ({})", sanitize(&why));
                (CallEvent::ServerError, AttemptError::Retry(why, asked))
            }
            WireError::Denied(why) => {
                let why = format!("{host} does not accept these credentials ({})", sanitize(&why));
                let skew = clock_skew(response, now).unwrap_or_default();
                (CallEvent::Denied, self.close(format!("{why}{skew}")))
            }
            WireError::Malformed(why) | WireError::Rejected(why) => {
                let why = format!("the answer of {host} cannot be read ({})", sanitize(&why));
                (CallEvent::Lost, AttemptError::Lost(TargetError::Lost(why)))
            }
        }
    }

    fn redirected(&self, response: &HttpResponse) -> String {
        let location = response.headers.get("location").map_or("nowhere", String::as_str);
        let location = location.split_once("://").map_or(location, |(_, rest)| rest);
        // Only the host: a query may hold anything.
        let to = sanitize(location.split(['/', '?', '#']).next().unwrap_or_default());
        let to = if to.is_empty() { "another path" } else { &to };
        let host = self.endpoint().host();
        format!(
            "{host} redirects to {to}, where credentials are not sent: set `endpoint` to the final \
             address"
        )
    }
}

/// An explanation where the service's clock and ours disagree: signatures are then refused.
fn clock_skew(response: &HttpResponse, now: SystemTime) -> Option<String> {
    let theirs = httpdate::parse_http_date(response.headers.get("date")?).ok()?;
    let (difference, direction) = match now.duration_since(theirs) {
        Ok(ahead) => (ahead, "ahead of"),
        Err(behind) => (behind.duration(), "behind"),
    };
    if difference <= MAX_CLOCK_SKEW {
        return None;
    }
    let seconds = difference.as_secs();
    Some(format!("; this machine's clock is {seconds} s {direction} the service's: correct it"))
}
