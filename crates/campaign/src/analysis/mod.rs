//! From records to what a run says. Reads the run directory alone.

mod attribute;
mod check;
mod compare;
mod curve;
mod error;
mod filter;
mod findings;
mod group;
mod permutation;
mod repeats;
mod side;
mod summarise;
mod summary;
mod tally;
mod text;
pub mod words;

pub use attribute::ATTRIBUTES;
pub use compare::{Compared, Comparison, compare};
pub use error::AnalysisError;
pub use summarise::summarise;
pub use summary::{
    Checked, Curve, Example, GroupRow, Grouping, Pinned, Progress, Rate, SUMMARY_VERSION, Summary,
    Tally, TargetSummary, Verdict,
};
