//! How well objects are detected.

use faultlens_analysis::DetectionPoint;
use faultlens_analysis::format::{mean, number};

/// "AP 0.44 [0.38, 0.5], AP50 0.61"; `None` where the average precision is not known.
pub(crate) fn average_precision(point: &DetectionPoint) -> Option<String> {
    point.ap.value?;
    let fifty = point.ap50.map(|value| format!(", AP50 {}", number(value, 3))).unwrap_or_default();
    Some(format!("AP {}{fifty}", mean(&point.ap)))
}
