//! Numbers that say how good answers are. One file per metric.

mod accuracy;
mod average_precision;
mod overlap;
mod segments;
mod suppression;

pub use accuracy::accuracy;
pub use average_precision::{average_precision, mean_average_precision};
pub use overlap::mask_iou;
pub use segments::{Confusion, SegmentError, segment_iou};
pub use suppression::non_maximum_suppression;

use faultlens_core::Detection;
use std::cmp::Ordering;

/// Surest first, NaN last; a stable sort keeps the order of equal scores.
fn surest_first(a: &Detection, b: &Detection) -> Ordering {
    match (a.score.is_nan(), b.score.is_nan()) {
        (false, false) => b.score.partial_cmp(&a.score).unwrap_or(Ordering::Equal),
        (a_nan, b_nan) => a_nan.cmp(&b_nan),
    }
}
