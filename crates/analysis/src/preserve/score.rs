//! What an answer scores, from 0 to 1.

use super::super::attribute::Context;
use super::super::robustness::was_answered;
use faultlens_judge::same_letters;
use faultlens_record::store::ManifestTarget;
use faultlens_record::{GoldenRecord, Record};
use faultlens_spec::{Metric, Preservation, Preserves};

/// A changed version of an image, and what the answers score.
pub(super) struct Scored {
    pub(super) visual_change: f64,
    /// On the original.
    pub(super) before: f64,
    /// On the version.
    pub(super) after: f64,
    /// The case's class.
    pub(super) label: Option<String>,
}

/// How answers of a target are scored.
pub(super) fn fitting(target: &ManifestTarget) -> Metric {
    let kind = target.output.get("kind").and_then(|kind| kind.as_str());
    match (kind, target.service.as_deref()) {
        (Some("detections"), _) | (_, Some("objects" | "faces")) => Metric::Ap,
        (Some("segments"), _) => Metric::Iou,
        _ => Metric::Accuracy,
    }
}

/// What a trial scores; `None` where it says nothing in this respect.
pub(super) fn scored(
    context: &Context,
    one: &Preservation,
    record: &Record,
    visual_change: f64,
) -> Option<Scored> {
    // Whoever judges, an answer has its score.
    if !was_answered(record) {
        return None;
    }
    let golden = context.golden(record.target, record.case)?;
    let target = context.manifest.targets.get(record.target as usize)?;
    let label = context.case(record.case).and_then(|case| case.label.clone());
    let (before, after) = match fitting(target) {
        Metric::Accuracy => of_classes(one, golden, record)?,
        Metric::Ap | Metric::Iou => of_places(one.what, record)?,
    };
    Some(Scored { visual_change, before, after, label })
}

fn of_classes(one: &Preservation, golden: &GoldenRecord, record: &Record) -> Option<(f64, f64)> {
    let wanted = match one.what {
        Preserves::Correctness => golden.truth.as_deref()?,
        Preserves::Prediction => golden.answer.as_deref()?,
    };
    let is = |answer: Option<&str>| match answer {
        Some(answer) if one.classes.is_empty() => same_letters(answer, wanted),
        Some(answer) => among(&one.classes, answer) == among(&one.classes, wanted),
        // Who says nothing at all names none of the classes, but has not recognised that.
        None => false,
    };
    let score = |answer: Option<&str>| f64::from(u8::from(is(answer)));
    Some((score(golden.answer.as_deref()), score(record.answer.as_deref())))
}

fn among(classes: &[String], answer: &str) -> bool {
    classes.iter().any(|class| same_letters(class, answer))
}

fn of_places(what: Preserves, record: &Record) -> Option<(f64, f64)> {
    let measures = &record.measures;
    let (before, after) = match what {
        Preserves::Correctness => (measures.truth_score_before?, measures.truth_score),
        Preserves::Prediction => (1.0, measures.similarity),
    };
    // A target that gives no answer finds nothing.
    let after = if record.answer.is_none() { 0.0 } else { after? };
    Some((before, after))
}
