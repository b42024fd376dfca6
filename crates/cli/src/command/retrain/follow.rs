//! How far an experiment is: a line that changes, and one that stays for every step.

use std::time::{Duration, Instant};

use faultlens::analysis::format::counted;
use faultlens::report::plain;
use faultlens::retrain::{Configuration, Course, Event, EventKind, Precision, ScenesUsed};

use crate::console::Console;
use crate::text::{grouped, time};

/// The line changes at most this often.
const PAUSE: Duration = Duration::from_millis(100);

/// Shows the events.
pub(super) struct Follower<'c> {
    console: &'c mut Console,
    begun: Instant,
    shown: Option<Instant>,
}

impl<'c> Follower<'c> {
    pub(super) fn new(console: &'c mut Console) -> Self {
        Self { console, begun: Instant::now(), shown: None }
    }

    pub(super) fn take(&mut self, news: &Event<'_>) {
        let Event { seed, number, of, what } = *news;
        let place = format!("seed {seed} ({number}/{of})");
        match what {
            EventKind::Learns { name, progress } => {
                let name = named(name);
                let epoch = progress.epoch;
                let epochs = progress.epochs;
                let loss = progress.loss;
                self.flow(format_args!("{place}  {name}  epoch {epoch}/{epochs}  loss {loss:.4}"));
            }
            EventKind::Tries { done, planned } => {
                let [done, planned] = [done, planned].map(grouped);
                self.flow(format_args!("{place}  looking for failing scenes  {done}/{planned}"));
            }
            EventKind::Warning(text) => {
                self.console.aside(format_args!("warning: {}", plain(text)))
            }
            EventKind::Kept(step) => self.stay(&place, format_args!("{step}: kept from before")),
            EventKind::First(precision) => {
                self.stay(&place, format_args!("the first model: {}", measured(precision)));
            }
            EventKind::Drawn { used, wanted } => {
                self.stay(&place, format_args!("{}", drawn(used, wanted)))
            }
            EventKind::Went(course) => self.stay(&place, format_args!("{}", went(course))),
        }
    }

    /// A line that the next one replaces.
    fn flow(&mut self, text: std::fmt::Arguments<'_>) {
        if self.shown.is_none_or(|shown| shown.elapsed() >= PAUSE) {
            self.shown = Some(Instant::now());
            self.console.progress(text);
        }
    }

    /// A line that stays, with what the step took.
    fn stay(&mut self, place: &str, text: std::fmt::Arguments<'_>) {
        let took = time(self.begun.elapsed().as_secs_f64());
        self.begun = Instant::now();
        self.console.settle(format_args!("{place}  {text}  {took}"));
    }
}

/// A model's name, in words.
fn named(name: &str) -> &str {
    let mut all = Configuration::ALL.into_iter();
    all.find(|one| one.name() == name).map_or("the first model", Configuration::about)
}

fn measured(of: &Precision) -> String {
    let [ap, ap50] = [of.ap, of.ap50].map(|share| 100.0 * share);
    format!("COCO AP {ap:.1}%, AP50 {ap50:.1}%")
}

fn drawn(of: &ScenesUsed, wanted: usize) -> String {
    let mut again = String::new();
    if of.failing_used < wanted {
        again = format!(", fewer than {wanted}: some are used again");
    }
    format!(
        "{} of {} fail; {} of them drawn{again}",
        grouped(of.failing),
        counted(of.judged, "changed scene"),
        grouped(of.failing_used as u64)
    )
}

fn went(of: &Course) -> String {
    let last = of.points.last().map(|point| measured(&point.precision)).unwrap_or_default();
    format!("{}: {last}", of.configuration.about())
}
