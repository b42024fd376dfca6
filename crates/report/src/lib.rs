//! From a run directory to what people read.
//!
//! Every report is made from a run's [`Summary`](faultlens_analysis::Summary); only the
//! page also reads the run directory, for the images of its examples. Nothing is run again.
//!
//! 1. Each section (`sections/`, one file and one line each) turns its part of the summary into a
//!    block: prose, table, chart, pictures, or a group of them. [`prose`] has the sentences that
//!    several formats share.
//! 2. Header and sections make a document.
//! 3. A renderer (`render/`, one for each format) writes its blocks, and escapes every text.
//!
//! | report | for |
//! |---|---|
//! | [`html`] | the engineer who signs off: one file, complete, nothing loaded from elsewhere |
//! | [`markdown`] | a comment on a pull request |
//! | [`terminal`] | the end of a command, in at most 40 lines |
//! | [`junit`] | continuous integration |
//! | [`json`] | other tools |
//!
//! The other commands' pages are documents too, written by the same renderers: [`sheet()`] for
//! `faultlens preview`, [`comparison()`] for `faultlens compare`, [`survival()`] for `faultlens survive`, [`tolerance()`] for `faultlens
//! tolerance`, [`retraining()`] for `faultlens retrain`, [`sweep()`] and [`sweep_markdown`] for
//! robustness sweeps.
//!
//! Names of labels, files and operators come from outside. Each report escapes them for its own
//! format.
//!
//! ```no_run
//! use std::path::Path;
//!
//! let run = Path::new("runs/signs");
//! let summary = faultlens_analysis::summarise(run, &[])?;
//! std::fs::write("report.html", faultlens_report::html(&summary, run))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod campaign;
mod checks;
mod comparison;
mod document;
mod escape;
mod image;
mod json;
mod junit;
pub mod prose;
mod render;
mod retraining;
mod sections;
mod sheet;
mod survival;
mod svg;
mod sweep;
mod tolerance;

pub use campaign::{html, markdown, terminal};
pub use comparison::{ComparedRun, ComparisonPage, comparison, comparison_markdown};
pub use escape::plain;
pub use json::{comparison_json, json};
pub use junit::junit;
pub use render::terminal::Terminal;
pub use retraining::{RetrainingPage, prose as retraining_prose, retraining};
pub use sheet::{Sheet, SheetCell, SheetRow, sheet};
pub use survival::{
    Effect, Effects, Survival, SurvivalPlot, SurvivalPoint, SurvivalRow, SurvivalSeries,
    SurvivalShape, SurvivalTable, survival,
};
pub use sweep::{SweepPage, sweep, sweep_markdown};
pub use tolerance::{
    ToleranceCurve, ToleranceOf, TolerancePage, format as tolerance_format, tolerance,
};
