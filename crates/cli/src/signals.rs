//! The signals that end a command: SIGINT, SIGTERM and SIGHUP.

use anyhow::Context;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// A terminal that closes may send several signals; within this time they are one.
const TOGETHER: Duration = Duration::from_millis(500);

/// Calls `stop` at the first signal. The second ends the process at once with `status`, so that
/// nobody waits for work that hangs. A SIGHUP that is ignored at the start, as under `nohup`, stays
/// ignored.
pub(crate) fn listen(status: u8, stop: impl Fn() + Send + 'static) -> anyhow::Result<()> {
    let outlives_terminal = hang_up::ignore();
    static FIRST: OnceLock<Instant> = OnceLock::new();
    ctrlc::set_handler(move || match FIRST.get() {
        None => {
            FIRST.get_or_init(Instant::now);
            stop();
        }
        Some(first) if first.elapsed() < TOGETHER => {}
        Some(_) => std::process::exit(i32::from(status)),
    })
    .context("cannot listen to signals")?;
    if outlives_terminal {
        hang_up::ignore();
    }
    Ok(())
}

#[cfg(unix)]
mod hang_up {
    use nix::sys::signal::{SigHandler, Signal, signal};

    /// Ignores SIGHUP from now on; whether it was ignored before.
    #[expect(unsafe_code, reason = "what a signal does can be asked and set in no other way")]
    pub(super) fn ignore() -> bool {
        // SAFETY: no handler is installed, so that no code runs inside a signal.
        let before = unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn) };
        matches!(before, Ok(SigHandler::SigIgn))
    }
}

#[cfg(not(unix))]
mod hang_up {
    /// There is no SIGHUP here.
    pub(super) fn ignore() -> bool {
        false
    }
}
