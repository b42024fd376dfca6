//! Trials worth looking at, with their pictures and predictions.

use crate::context::Context;
use faultlens_record::store::{Store, StoreError};
use serde::Serialize;

/// A trial worth looking at.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Example {
    /// Its number in the plan, which `replay` takes.
    pub number: u64,
    /// The target.
    pub target: String,
    /// The case's name. From outside; escape it.
    pub case: String,
    /// The case's true class, where it is known. From outside; escape it.
    pub truth: Option<String>,
    /// The fault with its settings.
    pub fault: String,
    /// The location of a model fault, in words. Has names from the model; escape it.
    pub site: Option<String>,
    /// The outcome's name.
    pub outcome: String,
    /// How much people notice of the change of the image, where that was measured.
    pub visual_change: Option<f64>,
    /// Which objects are missed, spurious, relabelled or misplaced, where predictions are objects.
    /// Has names from the model; escape it.
    pub changes: Option<String>,
    /// The clean prediction, best first: label and score.
    pub golden: Vec<(String, f64)>,
    /// The prediction under the fault, best first; a score that is no number is `null`.
    pub observed: Vec<(String, Option<f64>)>,
    /// The clean image: a path below the run directory, to a PNG.
    pub before: Option<String>,
    /// The image with the fault; `None` where the fault is inside the model.
    pub after: Option<String>,
}

/// The trials whose pictures were kept.
pub(crate) fn examples(store: &Store, context: &Context) -> Result<Vec<Example>, StoreError> {
    let mut examples = Vec::new();
    for kept in store.examples()? {
        let Some(record) = store.record(kept.number)? else { continue };
        let text = |name: &str| {
            context.attribute(&record, name).map(|text| text.into_owned()).unwrap_or_default()
        };
        examples.push(Example {
            number: kept.number,
            target: text("target"),
            case: text("case"),
            truth: context.truth(&record),
            fault: text("point"),
            site: record.site.as_ref().map(ToString::to_string),
            outcome: record.outcome.kind().name().to_owned(),
            visual_change: record.measures.visual_change,
            changes: record.object_changes(),
            golden: kept.golden,
            observed: kept.observed,
            before: kept.before,
            after: kept.after,
        });
    }
    Ok(examples)
}
