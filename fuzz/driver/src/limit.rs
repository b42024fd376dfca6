//! A limit on memory: an allocation that would go over it ends the process.

#![expect(unsafe_code, reason = "an allocator is a contract with the compiler")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What one input may take, with all that the process has in memory already.
const MAX_BYTES: usize = 2 << 30;

/// What the process says before it ends.
pub(crate) const OVER: &str = "over 2 GiB of memory";

static LIVE: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Counts bytes that are asked for.
fn count(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed);
    if live.saturating_add(bytes) > MAX_BYTES {
        // Standard error is not buffered, and needs no memory.
        let _ = std::io::stderr().write_all(OVER.as_bytes());
        std::process::abort();
    }
}

// SAFETY: everything is handed over to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise.
        unsafe { System.realloc(place, layout, size) }
    }
}
