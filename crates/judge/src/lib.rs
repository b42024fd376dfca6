//! Judges the answers of machine-vision systems: against ground truth ([`metric`]), and under a fault
//! against the undisturbed answer ([`Judge`]).
//!
//! 1. Choose an oracle of [`ORACLES`] and guards of [`GUARDS`], or implement
//!    [`Oracle`](faultlens_core::Oracle) and [`Guard`](faultlens_core::Guard) yourself.
//! 2. [`Judge::skips_case`] says, before any trial, whether a case can be judged at all.
//! 3. [`Judge::judge`] gives the outcome of a trial; [`Judge::measure`] says how far the answer moved.
//!
//! ```
//! use faultlens_core::{Case, Comparison, Image, Names, Outcome, Response, Scores, Truth};
//! use faultlens_judge::{Judge, ORACLES};
//!
//! let same_top = ORACLES.iter().find(|oracle| oracle.name == "same_top").unwrap();
//! let oracle = (same_top.build)(&same_top.default_settings())?;
//! let judge = Judge::new(oracle, vec![]);
//!
//! let scores = |scores| Response::Scores(Scores { scores, names: Names::Letters });
//! let comparison = Comparison {
//!     case: &Case::new("a", Image::from_rgb(1, 1, vec![0; 3]).unwrap()),
//!     truth: Truth::default(),
//!     golden: &scores(vec![0.1, 0.7, 0.2]),
//!     observed: &scores(vec![0.1, 0.4, 0.5]),
//!     fault: None,
//! };
//! assert_eq!(judge.judge(&comparison), Outcome::Changed); // another class is on top
//! # Ok::<(), faultlens_core::SettingError>(())
//! ```
//!
//! Every number follows a published program, and tests compare with it: boxes and average precision
//! with pycocotools, error types with tidecv, HOG with scikit-image, visual change with the authors'
//! own code. Answers of a disturbed target can hold NaN and infinities; such boxes overlap with
//! nothing and rank last, so that a broken answer never counts as a right one.

mod judge;
pub mod metric;
pub mod oracle;
pub mod tolerance;

pub use judge::Judge;
pub use metric::{
    BlockNorm, ClassScores, CocoEvidence, CocoSummary, Confusion, HogError, HogSettings,
    ObjectChange, ObjectPairs, Rect, Scene, ScoredBox, SegmentError, SizeScores, Tide, TideError,
    TideKind, TruthBox, VocPrecision, accuracy, average_hash, average_precision, changed_objects,
    changed_objects_from, coco_ious, coco_scores, confidence, edits, hamming, hog,
    hog_intersection, is_correct, mask_iou, mean_average_precision, mean_class_iou,
    non_maximum_suppression, object_changes, object_pairs, psnr, rank_of, same_letters,
    segment_iou, tide, top_class, visual, voc_ap, voc_average_precision,
};
pub use oracle::{GUARDS, ORACLES};
pub use tolerance::{Tolerance, ToleranceError};
