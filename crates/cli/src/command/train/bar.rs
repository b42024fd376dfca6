//! How far a training is, in one line.

use std::time::{Duration, Instant};

use faultlens::train::Progress;

use crate::console::Console;
use crate::text::{bar, time};

/// Cells of the bar.
const WIDTH: usize = 24;
/// The line changes at most this often.
const PAUSE: Duration = Duration::from_millis(100);

/// A bar per epoch, which becomes a line with the epoch's loss.
pub(super) struct Bar {
    started: Instant,
    epoch: Instant,
    shown: Instant,
}

impl Bar {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self { started: now, epoch: now, shown: now }
    }

    pub(super) fn show(&mut self, console: &mut Console, progress: &Progress) {
        let Progress { epoch, epochs, step, steps, loss } = *progress;
        let place = format!("epoch {epoch:>3}/{epochs}");
        if step == steps {
            let seconds = self.epoch.elapsed().as_secs_f64();
            self.epoch = Instant::now();
            return console.settle(format_args!("{place}  loss {}  {seconds:.1} s", short(loss)));
        }
        if self.shown.elapsed() < PAUSE {
            return;
        }
        self.shown = Instant::now();
        let done = ((epoch - 1) * steps + step) as f64 / (epochs * steps) as f64;
        let left = self.started.elapsed().as_secs_f64() * (1.0 - done) / done;
        let bar = bar(step as f64 / steps as f64, WIDTH);
        let loss = short(loss);
        let left = time(left);
        console.progress(format_args!("{place}  {bar}  loss {loss}  {left} left"));
    }
}

/// A loss that has diverged is shown with an exponent.
fn short(loss: f64) -> String {
    if loss.abs() < 1e5 { format!("{loss:.4}") } else { format!("{loss:.2e}") }
}
