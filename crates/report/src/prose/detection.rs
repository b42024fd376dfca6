//! How well objects are detected.

use faultlens_analysis::format::{self, mean, number};
use faultlens_analysis::{DetectionPoint, Summary, TargetSummary};

/// "AP 0.44 [0.38, 0.5], AP50 0.61"; `None` where the average precision is not known.
pub(crate) fn average_precision(point: &DetectionPoint) -> Option<String> {
    point.ap.value?;
    let fifty = point.ap50.map(|value| format!(", AP50 {}", number(value, 3))).unwrap_or_default();
    Some(format!("AP {}{fifty}", mean(&point.ap)))
}

/// How good a target is without faults: classifiers have an accuracy, detectors an average
/// precision.
pub(crate) fn clean_quality(target: &TargetSummary, summary: &Summary) -> String {
    if let Some(accuracy) = &target.accuracy {
        return format::rate(accuracy);
    }
    let detection = summary.images.detection.iter().find(|one| one.target == target.name);
    let precision = detection.and_then(|one| average_precision(&one.clean));
    precision.unwrap_or_else(|| "not known".into())
}
