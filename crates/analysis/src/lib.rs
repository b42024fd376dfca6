//! From records to what a run says. Reads the run directory alone.

mod advice;
mod attacks;
mod attribute;
mod benefit;
mod check;
mod classes;
mod compare;
mod critical;
mod curve;
mod detection;
mod error;
mod fairness;
mod filter;
mod findings;
pub mod format;
mod gallery;
mod group;
mod lost;
mod masking;
mod permutation;
mod places;
mod placing;
mod preserve;
mod repeats;
mod robustness;
mod sample;
mod scenes;
mod side;
mod side_by_side;
mod summarise;
mod summary;
mod tally;
mod text;
mod thresholds;
mod traits;
pub mod words;

pub use compare::{Compared, RunComparison, compare};
pub use error::AnalysisError;
pub use faultlens_spec::ATTRIBUTES;
pub use gallery::{Gallery, GalleryRow, GalleryTrial};
pub use lost::LostObjects;
pub use masking::{Attempt, BothKinds, Limit};
pub use placing::Placed;
pub use preserve::{
    BatchMean, BatchNumbers, ChangeBin, Diagnosis, Distance, Preserved, Ranks, WorstClass,
};
pub use scenes::{ChangedScenes, MovedOn, SceneTotal};
pub use summarise::summarise;
pub use summary::{
    Attacked, Benefit, BenefitRow, Beyond, Checked, Class, Classes, CriticalBits, CriticalLayer,
    Curve, DetectionPoint, DetectionQuality, Example, FairGroup, FairPoint, Fairness, FaultErrors,
    Fit, Gap, GroupRow, Grouping, HeatMap, HeatRow, KCurve, Masking, Mean, Moved, MovedRow, Pinned,
    Progress, Ranked, Ranking, Rate, Robustness, SUMMARY_VERSION, SideBySide, SideRow, Standing,
    Summary, Tally, TargetSummary, Trait, TraitLine, TraitRow, Verdict,
};
