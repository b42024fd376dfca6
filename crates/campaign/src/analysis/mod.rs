//! From records to what a run says. Reads the run directory alone.

mod attribute;
mod check;
mod classes;
mod compare;
mod critical;
mod curve;
mod error;
mod filter;
mod findings;
mod gallery;
mod group;
mod permutation;
mod places;
mod repeats;
mod robustness;
mod sample;
mod side;
mod summarise;
mod summary;
mod tally;
mod text;
mod thresholds;
mod traits;
pub mod words;

pub use attribute::ATTRIBUTES;
pub use compare::{Compared, Comparison, compare};
pub use error::AnalysisError;
pub use gallery::{Gallery, GalleryRow};
pub use summarise::summarise;
pub use summary::{
    Beyond, Checked, Class, Classes, CriticalBits, CriticalLayer, Curve, Example, FaultErrors, Fit,
    GroupRow, Grouping, HeatMap, HeatRow, Mean, Pinned, Progress, Ranked, Ranking, Rate,
    Robustness, SUMMARY_VERSION, Summary, Tally, TargetSummary, Trait, TraitLine, TraitRow,
    Verdict,
};
