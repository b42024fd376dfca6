//! Stopping a run by a signal.

use crate::{exit, signals};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set once the user wants to stop, or once the terminal is closed. The first signal lets work in
/// hand be recorded; the second does not wait for that.
pub(crate) fn interruptible() -> anyhow::Result<&'static AtomicBool> {
    static INTERRUPTED: AtomicBool = AtomicBool::new(false);
    static LISTENS: AtomicBool = AtomicBool::new(false);
    // A process has one listener, and a sweep runs several campaigns.
    if !LISTENS.swap(true, Ordering::Relaxed) {
        signals::listen(exit::INTERRUPTED, || INTERRUPTED.store(true, Ordering::Relaxed))?;
    }
    Ok(&INTERRUPTED)
}
