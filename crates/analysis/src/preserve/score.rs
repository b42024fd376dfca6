//! The score of a prediction, from 0 to 1.

use crate::context::Context;
use crate::trial::was_answered;
use faultlens_judge::same_letters;
use faultlens_record::store::ManifestTarget;
use faultlens_record::{GoldenRecord, Record};
use faultlens_spec::{Metric, Preservation, Preserves};

/// A changed version of an image, with the scores of both predictions.
pub(crate) struct Scored {
    pub(crate) visual_change: f64,
    /// On the original.
    pub(crate) before: f64,
    /// On the version.
    pub(crate) after: f64,
    /// The case's class.
    pub(crate) label: Option<String>,
}

/// The metric that fits the predictions of a target.
pub(crate) fn fitting(target: &ManifestTarget) -> Metric {
    let kind = target.output.get("kind").and_then(|kind| kind.as_str());
    match (kind, target.service.as_deref()) {
        (Some("detections"), _) | (_, Some("objects" | "faces")) => Metric::Ap,
        (Some("segments"), _) => Metric::Iou,
        _ => Metric::Accuracy,
    }
}

/// The scores of a trial; `None` where nothing is known of them.
pub(crate) fn scored(
    context: &Context,
    one: &Preservation,
    record: &Record,
    visual_change: f64,
) -> Option<Scored> {
    // A prediction has its score whether or not the oracle could judge it.
    if !was_answered(record) {
        return None;
    }
    let golden = context.golden(record.target, record.case)?;
    let target = context.manifest.targets.get(record.target as usize)?;
    let label = context.case(record.case).and_then(|case| case.label.clone());
    let (before, after) = match fitting(target) {
        Metric::Accuracy => of_classes(one, golden, record)?,
        Metric::Ap | Metric::Iou => of_locations(one.what, record)?,
    };
    Some(Scored { visual_change, before, after, label })
}

fn of_classes(one: &Preservation, golden: &GoldenRecord, record: &Record) -> Option<(f64, f64)> {
    let wanted = match one.what {
        Preserves::Correctness => golden.truth.as_deref()?,
        Preserves::Prediction => golden.answer.as_deref()?,
    };
    let before = class_score(&one.classes, golden.answer.as_deref(), wanted);
    let after = class_score(&one.classes, record.answer.as_deref(), wanted);
    Some((before, after))
}

/// 1 where the prediction is the wanted one; where the requirement names classes, where both are
/// among them or neither is. No prediction scores 0.
fn class_score(classes: &[String], prediction: Option<&str>, wanted: &str) -> f64 {
    let right = match prediction {
        Some(prediction) if classes.is_empty() => same_letters(prediction, wanted),
        Some(prediction) => among(classes, prediction) == among(classes, wanted),
        None => false,
    };
    f64::from(u8::from(right))
}

fn among(classes: &[String], answer: &str) -> bool {
    classes.iter().any(|class| same_letters(class, answer))
}

fn of_locations(what: Preserves, record: &Record) -> Option<(f64, f64)> {
    let measures = &record.measures;
    let (before, after) = match what {
        Preserves::Correctness => (measures.truth_score_before?, measures.truth_score),
        Preserves::Prediction => (1.0, measures.similarity),
    };
    // A target that refuses to answer finds nothing.
    let after = if record.answer.is_none() { 0.0 } else { after? };
    Some((before, after))
}
