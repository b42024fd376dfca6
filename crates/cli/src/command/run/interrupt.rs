//! Stopping a run by a signal.

use crate::exit;
use anyhow::Context;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once the user wants to stop. The first signal lets work in hand be recorded; the second
/// does not wait for that.
pub(crate) fn interruptible() -> anyhow::Result<&'static AtomicBool> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static LISTENS: AtomicBool = AtomicBool::new(false);
    // A process has one listener, and a sweep runs several campaigns.
    if !LISTENS.swap(true, Ordering::Relaxed) {
        ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(exit::INTERRUPTED));
            }
        })
        .context("cannot listen to signals")?;
    }
    Ok(&INTERRUPTED)
}
