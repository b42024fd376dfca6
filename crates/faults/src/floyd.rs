//! Sampling without replacement by Floyd's algorithm (Bentley and Floyd 1987): one random number for
//! each element that is drawn, and no list of all.

use faultlens_core::Stream;

/// Draws so many of the numbers below `n`, all where there are fewer, by Floyd's method: every set
/// of that size is as likely as every other. `insert` tells whether a number is new.
pub(crate) fn floyd(
    n: usize,
    count: usize,
    stream: &mut Stream,
    mut insert: impl FnMut(usize) -> bool,
) {
    for newest in n.saturating_sub(count)..n {
        if !insert(stream.below(newest + 1)) {
            insert(newest);
        }
    }
}
