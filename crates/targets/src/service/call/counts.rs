//! Calls by their result, and what they took.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// What a line of the call log reports: that a call starts, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallEvent {
    /// The call is about to be sent.
    Asked,
    /// A prediction.
    Answered,
    /// The service does not accept the image.
    Refused,
    /// Too many calls.
    Throttled,
    /// An error inside the service.
    ServerError,
    /// No response, or none that can be understood.
    Lost,
    /// No response in time.
    TimedOut,
    /// The service does not accept these credentials.
    Denied,
    /// The service never saw the call, so that it is taken back.
    Unreached,
}

/// Calls by their result, and what they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CallCounts {
    /// Calls that reached the service, or may have.
    pub calls: u64,
    /// Those of them that retried an earlier one.
    pub repeats: u64,
    /// Calls that were answered with a prediction.
    pub answered: u64,
    /// Calls whose image the service does not accept.
    pub refused: u64,
    /// Calls that were throttled.
    pub throttled: u64,
    /// Calls that met an error inside the service.
    pub server_errors: u64,
    /// Calls whose response was lost or cannot be understood.
    pub lost: u64,
    /// Calls that were not answered in time.
    pub timed_out: u64,
    /// Calls whose credentials were not accepted.
    pub denied: u64,
    /// Calls whose end was not seen: in flight, or cut off by a kill.
    pub unfinished: u64,
    /// Attempts that never reached the service; they are no calls and cost nothing.
    pub unreached: u64,
    /// Seconds of waiting before calls: for the rate limit, for a free connection, for a retry.
    pub seconds_waited: f64,
    /// Seconds between calls and their responses.
    pub seconds_asking: f64,
    /// An upper bound of the cost: the price of each call that reached the service, since the
    /// provider alone knows whether a throttled or lost one is billed.
    pub money: f64,
}

impl CallCounts {
    /// Adds an event. A call is counted when it starts, before it is sent, so that a kill hides
    /// none; `time` is what it waited until then, or what it took when it ends.
    pub(super) fn add(&mut self, event: CallEvent, is_retry: bool, time: Duration, price: f64) {
        let seconds = time.as_secs_f64();
        if event != CallEvent::Asked {
            self.unfinished = self.unfinished.saturating_sub(1);
            self.seconds_asking += seconds;
        }
        match event {
            CallEvent::Asked => {
                self.calls += 1;
                self.repeats += u64::from(is_retry);
                self.unfinished += 1;
                self.seconds_waited += seconds;
                self.money += price;
            }
            CallEvent::Answered => self.answered += 1,
            CallEvent::Refused => self.refused += 1,
            CallEvent::Throttled => self.throttled += 1,
            CallEvent::ServerError => self.server_errors += 1,
            CallEvent::Lost => self.lost += 1,
            CallEvent::TimedOut => self.timed_out += 1,
            CallEvent::Denied => self.denied += 1,
            CallEvent::Unreached => {
                self.unreached += 1;
                self.calls = self.calls.saturating_sub(1);
                self.repeats = self.repeats.saturating_sub(u64::from(is_retry));
                self.money = (self.money - price).max(0.0);
            }
        }
    }
}
