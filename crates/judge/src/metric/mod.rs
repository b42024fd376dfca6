//! Numbers that say how good answers are. One file per metric.

mod accuracy;
mod answer;
mod average_hash;
mod average_precision;
mod detection;
mod edits;
mod hog;
mod object_changes;
mod overlap;
mod psnr;
mod segments;
pub mod visual;

pub use accuracy::accuracy;
pub use answer::{confidence, is_correct, rank_of, same_letters, top_class};
pub use average_hash::{average_hash, hamming};
pub use average_precision::{average_precision, mean_average_precision};
pub use detection::{
    ClassScores, CocoEvidence, CocoSummary, Rect, Scene, ScoredBox, SizeScores, Tide, TideError,
    TideKind, TruthBox, VocPrecision, coco_ious, coco_scores, tide, voc_ap, voc_average_precision,
};
pub use edits::edits;
pub use faultlens_core::non_maximum_suppression;
pub use hog::{BlockNorm, HogError, HogSettings, hog, hog_intersection};
pub use object_changes::{
    ObjectChange, ObjectPairs, changed_objects, changed_objects_from, object_changes, object_pairs,
};
pub use overlap::mask_iou;
pub use psnr::{MAX_PSNR, psnr};
pub use segments::{Confusion, SegmentError, mean_class_iou, segment_iou};
