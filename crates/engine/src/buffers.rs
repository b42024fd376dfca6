//! Memory that one run leaves to the next.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Values that are kept at most, about a quarter of a gigabyte.
const MAX_ELEMENTS: usize = 1 << 26;

/// Buffers of earlier runs, by length: the same model on the same size of image asks for the same
/// lengths again.
#[derive(Debug, Default)]
pub(crate) struct Buffers(Mutex<Pool>);

#[derive(Debug, Default)]
struct Pool {
    by_length: HashMap<usize, Vec<Vec<f32>>>,
    values: usize,
}

impl Buffers {
    /// A buffer of that length, with whatever it last held; empty if none is left.
    pub(crate) fn take(&self, length: usize) -> Vec<f32> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = kept.by_length.get_mut(&length).and_then(Vec::pop).unwrap_or_default();
        kept.values -= buffer.len();
        buffer
    }

    /// A buffer of that length, with whatever it last held.
    pub(crate) fn of(&self, length: usize) -> Vec<f32> {
        let buffer = self.take(length);
        if buffer.len() == length { buffer } else { vec![0.0; length] }
    }

    /// Keeps a buffer for the next run, unless enough are kept already.
    pub(crate) fn give(&self, buffer: Vec<f32>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Rather start afresh than keep lengths that no model asks for any more.
        if kept.values + buffer.len() > MAX_ELEMENTS {
            *kept = Pool::default();
        }
        if buffer.len() <= MAX_ELEMENTS {
            kept.values += buffer.len();
            kept.by_length.entry(buffer.len()).or_default().push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_has_a_limit() {
        let buffers = Buffers::default();
        for _ in 0..5 {
            buffers.give(vec![0.0; MAX_ELEMENTS / 4]);
        }
        let kept =
            std::iter::from_fn(|| Some(buffers.take(MAX_ELEMENTS / 4)).filter(|b| !b.is_empty()));
        assert!(kept.count() <= 4);
    }
}
