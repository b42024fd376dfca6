//! The same question is not asked twice at once.

use super::hash::RequestHash;
use super::pace::lock;
use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, PoisonError};

/// Questions that somebody is asking.
#[derive(Default)]
pub(super) struct UnderWay {
    questions: Mutex<BTreeSet<RequestHash>>,
    done: Condvar,
}

impl UnderWay {
    /// Waits until nobody else is asking this, and holds others up meanwhile.
    pub(super) fn enter(&self, question: RequestHash) -> Asking<'_> {
        let questions = lock(&self.questions);
        let free = self.done.wait_while(questions, |questions| questions.contains(&question));
        free.unwrap_or_else(PoisonError::into_inner).insert(question);
        Asking { under_way: self, question }
    }
}

/// A question that is this thread's alone.
pub(super) struct Asking<'a> {
    under_way: &'a UnderWay,
    question: RequestHash,
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        lock(&self.under_way.questions).remove(&self.question);
        self.under_way.done.notify_all();
    }
}
