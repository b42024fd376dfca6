//! Work that is shared out between threads.

use rayon::prelude::*;
use std::ops::Range;

/// Cuts `0..total` into stretches of `each`, whatever the threads, and runs `work` on all.
pub(crate) fn shared_out(
    threads: usize,
    total: usize,
    each: usize,
    work: impl Fn(Range<usize>) + Sync,
) {
    // Cuts must not follow the number of threads: sums over a stretch would round otherwise.
    let parts = total.div_ceil(each);
    let one = |part: usize| work(part * each..(part * each + each).min(total));
    if threads > 1 && parts > 1 {
        (0..parts).into_par_iter().for_each(one);
    } else {
        (0..parts).for_each(one);
    }
}

/// How many threads the caller may use: those of the pool it runs on, else its own.
pub(crate) fn threads_here() -> usize {
    rayon::current_thread_index().map_or(1, |_| rayon::current_num_threads())
}

/// Rows that several threads write to, each its own.
#[derive(Clone, Copy)]
pub(crate) struct SharedRows(pub(crate) *mut f32);

// SAFETY: a pointer alone does nothing; whoever writes through it sees to it that parts do not overlap.
unsafe impl Send for SharedRows {}
// SAFETY: as above.
unsafe impl Sync for SharedRows {}

impl SharedRows {
    pub(crate) fn add(self, offset: usize) -> *mut f32 {
        self.0.wrapping_add(offset)
    }
}
