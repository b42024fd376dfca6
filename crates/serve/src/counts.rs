//! Counts of calls by how they ended.

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

            /// Its name in the counts and in the log.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }
    };
}

endings! {
    /// The client went away first.
    Abandoned, "abandoned";
    /// With the answer that was asked for.
    Answered, "answered";
    /// More calls at once than the queue holds.
    Busy, "busy";
    /// Connection closed in the middle of the response, on purpose.
    Dropped, "dropped";
    /// A server error, on purpose or because the model failed.
    Failed, "failed";
    /// Nonsense instead of the answer, on purpose.
    Nonsense, "nonsense";
    /// The client's own mistake.
    Refused, "refused";
    /// Never answered, on purpose.
    Stalled, "stalled";
    /// Throttled, on purpose.
    Throttled, "throttled";
    /// The response cut short, on purpose.
    Truncated, "truncated";
}

/// Counts of all calls, to compare with what a client believes to have done.
#[derive(Debug, Default)]
pub struct CallCounts {
    calls: AtomicU64,
    drifted: AtomicU64,
    ended: [AtomicU64; Ending::ALL.len()],
}

/// The counts at one moment, as `GET /faultlens/account` reports them.
#[derive(Debug, Serialize)]
pub(crate) struct CountsSnapshot {
    calls: u64,
    in_flight: u64,
    /// Calls that the drifted model answered.
    drifted: u64,
    ended: BTreeMap<&'static str, u64>,
}

impl CallCounts {
    /// How many calls there were.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// How many calls ended this way.
    pub fn ended(&self, ending: Ending) -> u64 {
        self.ended[ending as usize].load(Ordering::Relaxed)
    }

    pub(crate) fn snapshot(&self) -> CountsSnapshot {
        let mut ended = BTreeMap::new();
        for &ending in Ending::ALL {
            ended.insert(ending.name(), self.ended(ending));
        }
        let calls = self.calls();
        let in_flight = calls.saturating_sub(ended.values().sum::<u64>());
        CountsSnapshot { calls, in_flight, drifted: self.drifted.load(Ordering::Relaxed), ended }
    }

    pub(crate) fn note_drift(&self) {
        self.drifted.fetch_add(1, Ordering::Relaxed);
    }
}

/// A call in flight. It counts as abandoned unless its ending is set: when a client disconnects,
/// the future that handles the call is dropped at any point.
pub(crate) struct Call {
    counts: Arc<CallCounts>,
    pub(crate) number: u64,
    pub(crate) ending: Ending,
}

impl Call {
    /// The next call, numbered from 0.
    pub(crate) fn begin(counts: &Arc<CallCounts>) -> Self {
        let number = counts.calls.fetch_add(1, Ordering::Relaxed);
        Self { counts: Arc::clone(counts), number, ending: Ending::Abandoned }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.counts.ended[self.ending as usize].fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_ends_once() {
        let counts = Arc::new(CallCounts::default());
        for &ending in Ending::ALL {
            Call::begin(&counts).ending = ending;
        }
        let in_flight = Call::begin(&counts);
        let snapshot = counts.snapshot();
        assert_eq!((snapshot.calls, snapshot.in_flight), (11, 1));
        assert!(snapshot.ended.values().all(|&count| count == 1), "{snapshot:?}");
        drop(in_flight);
        assert_eq!(counts.ended(Ending::Abandoned), 2);
    }
}
