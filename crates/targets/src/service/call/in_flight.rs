//! The same request is not sent twice at once.

use super::super::sync::lock;
use super::hash::RequestHash;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Requests that some thread is waiting for.
#[derive(Default)]
pub(in super::super) struct InFlight {
    requests: Mutex<BTreeSet<RequestHash>>,
    done: Condvar,
}

impl InFlight {
    /// Waits until no other thread works on this request, and holds others up meanwhile: whoever
    /// comes second finds the answer in the cache.
    pub(in super::super) fn enter(&self, request: RequestHash) -> InFlightGuard<'_> {
        let requests = lock(&self.requests);
        let free = self.done.wait_while(requests, |requests| requests.contains(&request));
        free.unwrap_or_else(PoisonError::into_inner).insert(request);
        InFlightGuard { in_flight: self, request }
    }
}

/// A request that is this thread's alone.
pub(in super::super) struct InFlightGuard<'a> {
    in_flight: &'a InFlight,
    request: RequestHash,
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        lock(&self.in_flight.requests).remove(&self.request);
        self.in_flight.done.notify_all();
    }
}
