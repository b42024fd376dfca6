//! Judges a target's answers: against what is known (overlaps, average precision), and under a
//! fault against golden ([`Judge`]).
//!
//! Every number follows a published program, and tests compare with it: boxes and average
//! precision with pycocotools, suppression with torchvision's rule. Answers of a disturbed target
//! can hold NaN and infinities; they overlap with nothing and rank last, so that a broken answer
//! never counts as a right one.

pub mod metric;
pub mod oracle;
pub mod tolerance;

pub use metric::{
    BlockNorm, ClassScores, CocoEvidence, CocoSummary, Confusion, Found, HogError, HogSettings,
    Known, ObjectChange, ObjectPairs, Reached, Rect, Scene, SegmentError, Tide, TideError,
    TideKind, VocPrecision, accuracy, average_hash, average_precision, changed_objects, coco_ious,
    coco_scores, confidence, edits, hamming, hog, hog_intersection, is_correct, mask_iou,
    mean_average_precision, mean_class_iou, non_maximum_suppression, object_changes, object_pairs,
    psnr, rank_of, same_letters, segment_iou, tide, top_class, visual, voc_ap,
    voc_average_precision,
};
pub use oracle::{GUARDS, Judge, ORACLES};
pub use tolerance::{Tolerance, ToleranceError};
