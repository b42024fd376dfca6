//! From the records of a run to what they mean. Reads the run directory alone.
//!
//! 1. [`summarise`] passes over the records once. Each concern (rates by attribute, attacks,
//!    fairness, …) is a file that counts records and yields typed results.
//! 2. [`Summary`] composes the results. [`Summary::findings`] and [`Summary::recommendations`] decide
//!    which conclusions hold.
//! 3. [`compare`] sets two runs side by side.
//!
//! Everything here is facts: enums and numbers. The crate `report` turns them into sentences,
//! tables and charts; [`format`](mod@format) has how single numbers read, for every command and
//! report.
//!
//! ```no_run
//! use faultlens_analysis::{format, summarise};
//! use std::path::Path;
//!
//! let summary = summarise(Path::new("runs/signs"), &["fault".to_owned()])?;
//! for row in &summary.groupings[0].rows {
//!     println!("{}: {}", row.name(), format::rate(&row.tally.rate));
//! }
//! # Ok::<(), faultlens_analysis::AnalysisError>(())
//! ```

mod attacks;
mod benefit;
mod check;
mod classes;
mod compare;
mod context;
mod critical;
mod curve;
mod detection;
mod error;
mod estimate;
mod example;
mod fairness;
mod family;
mod family_result;
mod filter;
mod findings;
pub mod format;
mod gallery;
mod group;
mod image_results;
mod locations;
mod masking;
mod method;
mod missing;
mod permutation;
mod preserve;
pub mod protection;
mod recommendation;
mod repeats;
pub mod retraining;
mod robustness;
mod sample;
mod scenes;
mod side_by_side;
mod summarise;
mod summary;
pub mod sweep;
mod tally;
mod target;
mod thresholds;
mod traits;
mod trial;
mod verdict;
mod warning;

pub use attacks::{AttackResult, Masking, SurvivingShare};
pub use benefit::{Benefit, BenefitRow};
pub use check::{Checked, Fit, Pinned};
pub use classes::{Class, Classes};
pub use compare::{Compared, ComparisonTest, Direction, RunComparison, compare};
pub use critical::{CriticalBits, CriticalLayer};
pub use curve::Curve;
pub use detection::{DetectionPoint, DetectionQuality, GradedFault};
pub use error::AnalysisError;
pub use estimate::{Mean, Rate};
pub use example::Example;
pub use fairness::{FairGroup, FairPoint, Fairness, Gap};
pub use family::Family;
pub use family_result::{FamilyResult, WorstPoint};
pub use faultlens_spec::ATTRIBUTES;
pub use findings::{Finding, OverallFinding, WeakestGroup};
pub use gallery::{Gallery, GalleryRow, GalleryTrial};
pub use group::{GroupRow, GroupTest, Grouping, PermutedUnit};
pub use image_results::ImageFaultResults;
pub use locations::{HeatMap, HeatRow, Ranked, Ranking};
pub use masking::{Attempt, BothKinds, Limit};
pub use method::{DetectionRule, MadeBy, Method, Provenance, TargetFile};
pub use missing::Missing;
pub use preserve::{
    AtEnd, BatchMean, BatchNumbers, BatchRule, ChangeBin, Diagnosis, Distance, NothingToDraw,
    Preserved, PreservedReason, Ranks, ScoreDifference, WorstClass,
};
pub use recommendation::{DefenceEffect, Recommendation};
pub use robustness::{FaultErrors, Robustness};
pub use scenes::{ChangedScenes, LostObjects, PlacementEffect, Relocations, SceneTotal};
pub use side_by_side::{KCurve, Measure, MeasureChange, MeasureChangeRow, SideBySide, SideRow};
pub use summarise::summarise;
pub use summary::{
    AttackResults, Checks, ModelFaultResults, Progress, SUMMARY_VERSION, SceneResults, Summary,
};
pub use tally::Tally;
pub use target::TargetSummary;
pub use thresholds::ThresholdRates;
pub use traits::{Trait, TraitLine, TraitRow};
pub use verdict::Verdict;
pub use warning::Warning;
