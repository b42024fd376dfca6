//! How far a run is: one line that changes on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

use faultlens::OutcomeKind;
use faultlens::analysis::format::counted;
use faultlens::campaign::run::{Ending, Event, OpenCause, OpenTrials, Sink, SinkError};

use crate::console::Console;
use crate::text::{bar, grouped, time};
use faultlens::report::plain;

/// Cells of the bar.
const WIDTH: usize = 24;
/// The line changes at most this often.
const PAUSE: Duration = Duration::from_millis(100);
/// Where lines are kept, one is written at most this often.
const LONG_PAUSE: Duration = Duration::from_secs(10);

/// Shows how far a run is, its speed, when it ends, and what is known so far.
pub(super) struct Progress<'c> {
    console: &'c mut Console,
    started: Instant,
    shown: Instant,
    planned: u64,
    /// Trials on record, and those of them from before this start.
    recorded: u64,
    before: u64,
    changed: u64,
    judged: u64,
}

impl<'c> Progress<'c> {
    pub(super) fn new(console: &'c mut Console) -> Self {
        let now = Instant::now();
        Self {
            console,
            started: now,
            shown: now,
            planned: 0,
            recorded: 0,
            before: 0,
            changed: 0,
            judged: 0,
        }
    }

    fn show(&mut self) {
        let pause = if self.console.is_lively() { PAUSE } else { LONG_PAUSE };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let line = self.line();
        if self.console.is_lively() {
            self.console.progress(line);
        } else {
            self.console.aside(line);
        }
    }

    fn line(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        let speed = (self.recorded - self.before) as f64 / seconds;
        let left = self.planned.saturating_sub(self.recorded) as f64 / speed;
        let share = self.recorded as f64 / self.planned.max(1) as f64;
        let done = grouped(self.recorded);
        let of = grouped(self.planned);
        let speed_text = if speed < 10.0 { format!("{speed:.1}") } else { grouped(speed as u64) };
        let left = if left.is_finite() { format!("{} left", time(left)) } else { String::new() };
        let known = self.known().map(|known| format!("  {known}")).unwrap_or_default();
        format!("{} {done}/{of}  {speed_text}/s  {left}{known}", bar(share, WIDTH))
    }

    /// The rate so far. Without an interval: which images the first trials show is no sample.
    fn known(&self) -> Option<String> {
        let share = 100.0 * self.changed as f64 / self.judged as f64;
        (self.judged > 0).then(|| format!("changed {share:.1}% so far"))
    }
}

impl Sink for Progress<'_> {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        match event {
            Event::Started { run, planned, recorded } => {
                (self.planned, self.recorded, self.before) = (*planned, *recorded, *recorded);
                self.started = Instant::now();
                let dir = run.display();
                let planned = grouped(*planned);
                self.console.aside(match recorded {
                    0 => format!("{planned} trials, recorded in {dir}"),
                    n => format!("{planned} trials, {} already recorded in {dir}", grouped(*n)),
                });
            }
            Event::Pinned(pin) => {
                let reason = pin.reason.as_deref().map(|why| format!(" ({})", plain(why)));
                let name = plain(&pin.name);
                let reason = reason.unwrap_or_default();
                self.console.settle(format_args!("pinned: {name}: {}{reason}", pin.outcome));
            }
            Event::Recorded(records) => {
                for record in *records {
                    match record.outcome.kind() {
                        OutcomeKind::Skipped => {}
                        OutcomeKind::Changed => {
                            self.changed += 1;
                            self.judged += 1;
                        }
                        _ => self.judged += 1,
                    }
                }
                self.recorded += records.len() as u64;
                self.show();
            }
            Event::Round { repeats, open, need_images } => {
                let trials = counted(u64::from(*repeats), "trial");
                let known = precision(*open as u64, *need_images as u64);
                self.console.settle(format_args!("{trials} of each case: {known}"));
            }
            Event::Note(text) => self.console.settle(format_args!("note: {}", plain(text))),
            Event::Warning(text) => self.console.settle(format_args!("warning: {}", plain(text))),
            Event::LeftOpen(trials) => self.console.settle(left_open(trials)),
            Event::Finished(ending) => {
                let seconds = self.started.elapsed().as_secs_f64();
                let new = grouped(self.recorded - self.before);
                let time = time(seconds);
                let how = match ending {
                    Ending::Complete => "complete",
                    Ending::StoppedEarly => "stopped by the stop rule",
                    Ending::Incomplete => "incomplete, run the same command to resume",
                    Ending::Interrupted => "interrupted",
                };
                self.console.settle(format_args!("{how}: {new} trials in {time}"));
            }
        }
        Ok(())
    }
}
/// What a round of a stop rule has shown.
fn precision(open: u64, need_images: u64) -> String {
    let verb = if open == 1 { "is" } else { "are" };
    let mut parts = Vec::new();
    if open > 0 {
        parts.push(format!("{} {} not yet precise enough", counted(open, "rate"), verb));
    }
    if need_images > 0 {
        let rates = counted(need_images, "rate");
        parts.push(format!("{rates} would need more images to be precise enough"));
    }
    if parts.is_empty() { "every rate is precise enough".to_owned() } else { parts.join("; ") }
}

/// Trials that were left open: how many, why, and what to do.
fn left_open(OpenTrials { cause, trials, error }: &OpenTrials) -> String {
    let left = format!("{} left open", counted(*trials, "trial"));
    let error = plain(error);
    match cause {
        OpenCause::Images => {
            format!("{left}: images cannot be read now ({error}); make them readable again")
        }
        OpenCause::Target { name, stopped } => {
            let name = plain(name);
            let down = if *stopped {
                ", and was not asked any more after that (limits.give_up_after)"
            } else {
                ""
            };
            format!("{left}: target {name} gave no answer ({error}){down}")
        }
    }
}
