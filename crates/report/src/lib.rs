//! From a run directory to what people read.
//!
//! Every report is made from a run's [`Summary`](faultlens_analysis::Summary); only the
//! page also reads the run directory, for the images of its examples. Nothing is run again.
//!
//! 1. Each section (`sections/`, one file each, listed in `SECTIONS`) turns its part of the summary
//!    into a block: prose, table, chart, pictures, or a group of them.
//! 2. Header and sections make a document.
//! 3. A renderer (`render/`, one for each format) writes its blocks, and escapes every text.
//!
//! | report | for |
//! |---|---|
//! | [`html`] | the engineer who signs off: one file, complete, nothing loaded from elsewhere |
//! | [`markdown`] | a comment on a pull request |
//! | [`terminal`] | the end of a command, in at most 40 lines |
//! | [`junit`] | continuous integration |
//!
//! Besides, [`sheet`] makes the page of `faultlens preview`, which shows faults and no run,
//! [`survival()`] that of `faultlens survive`, [`tolerance()`] that of `faultlens tolerance`, and
//! [`retraining()`] that of `faultlens retrain`, and [`grid()`] and [`grid_markdown`] show what a
//! robustness study has found.
//!
//! Names of labels, files and operators come from outside. Each report escapes them for its own
//! format.

mod campaign;
mod checks;
mod document;
mod escape;
mod frame;
mod grid;
mod image;
mod junit;
mod render;
mod retraining;
mod sections;
mod sheet;
mod survival;
mod svg;
mod tolerance;

pub use campaign::{html, markdown, terminal};
pub use escape::plain;
pub use grid::{GridPage, grid, grid_markdown};
pub use junit::junit;
pub use render::terminal::Terminal;
pub use retraining::{RetrainingPage, retraining};
pub use sheet::{Sheet, SheetCell, SheetRow, sheet};
pub use survival::{
    Effect, Effects, Survival, SurvivalPlot, SurvivalPoint, SurvivalRow, SurvivalSeries,
    SurvivalShape, SurvivalTable, survival,
};
pub use tolerance::{
    ToleranceCurve, ToleranceOf, TolerancePage, tolerance, words as tolerance_words,
};

/// Why a report cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The page's template cannot be filled in.
    #[error("cannot fill in the page: {0}")]
    Page(#[from] askama::Error),
}
