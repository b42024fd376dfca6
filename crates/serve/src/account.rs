//! How every call ended, counted.

use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! endings {
    ($($(#[$doc:meta])+ $variant:ident, $name:literal;)+) => {
        /// How a call ended.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Ending {
            $($(#[$doc])+ $variant,)+
        }

        impl Ending {
            /// Every ending, in the order of the counters.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name in the account and in the log.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

endings! {
    /// The client went away first.
    Abandoned, "abandoned";
    /// As asked.
    Answered, "answered";
    /// More calls at once than the queue holds.
    Busy, "busy";
    /// Hung up in the middle, on purpose.
    Dropped, "dropped";
    /// A server's error, on purpose or because the model failed.
    Failed, "failed";
    /// Nonsense instead of the answer, on purpose.
    Nonsense, "nonsense";
    /// The client's own mistake.
    Refused, "refused";
    /// Never answered, on purpose.
    Stalled, "stalled";
    /// Told to come back later, on purpose.
    Throttled, "throttled";
    /// The answer cut short, on purpose.
    Truncated, "truncated";
}

/// Counts of all calls: what a client believes to have done can be held against it.
#[derive(Debug, Default)]
pub struct Account {
    calls: AtomicU64,
    drifted: AtomicU64,
    ended: [AtomicU64; Ending::ALL.len()],
}

/// The account at one moment, as `GET /faultlens/account` tells it.
#[derive(Debug, Serialize)]
pub(crate) struct Statement {
    calls: u64,
    in_flight: u64,
    /// Calls that were met by the model as it is after the drift.
    drifted: u64,
    ended: BTreeMap<&'static str, u64>,
}

impl Account {
    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// How many calls ended this way.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.ended[ending as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn statement(&self) -> Statement {
        let counted = |&ending: &Ending| (ending.name(), self.ended(ending));
        let ended: BTreeMap<&'static str, u64> = Ending::ALL.iter().map(counted).collect();
        let calls = self.calls();
        let in_flight = calls.saturating_sub(ended.values().sum());
        Statement { calls, in_flight, drifted: self.drifted.load(Ordering::Relaxed), ended }
    }

    pub(crate) fn note_drift(&self) {
        self.drifted.fetch_add(1, Ordering::Relaxed);
    }
}

/// A call under way. It counts as abandoned unless it is told otherwise: a client that goes away
/// takes the call with it at any moment.
pub(crate) struct Call {
    account: Arc<Account>,
    pub(crate) number: u64,
    pub(crate) ending: Ending,
}

impl Call {
    /// The next call, numbered from 0.
    pub(crate) fn begin(account: &Arc<Account>) -> Self {
        let number = account.calls.fetch_add(1, Ordering::Relaxed);
        Self { account: Arc::clone(account), number, ending: Ending::Abandoned }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.account.ended[self.ending as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_ends_once() {
        let account = Arc::new(Account::default());
        for &ending in Ending::ALL {
            Call::begin(&account).ending = ending;
        }
        let under_way = Call::begin(&account);
        let statement = account.statement();
        assert_eq!((statement.calls, statement.in_flight), (11, 1));
        assert!(statement.ended.values().all(|&count| count == 1), "{statement:?}");
        drop(under_way);
        assert_eq!(account.ended(Ending::Abandoned), 2);
    }
}
