//! The run as one JSON object, for tools: the summary's numbers, and the sentences of the report.

use crate::prose::{
    comparison_test, comparison_warnings, findings, groups, measures, method, pin_reason,
    preserved_reason, recommendations, requirement_reason, warnings,
};
use faultlens_analysis::{RunComparison, Summary};
use serde_json::{Value, json};

/// The run as one JSON object.
///
/// # Errors
/// Only where the summary cannot be serialised, which no summary of a run causes.
pub fn json(summary: &Summary) -> Result<Value, serde_json::Error> {
    let mut object = serde_json::to_value(summary)?;
    object["confidence"] = summary.intervals.level.confidence().into();
    object["interval"] = method::intervals(summary).into();
    object["population"] = method::about_population(summary).into();
    object["findings"] = findings(summary).into();
    object["advice"] = recommendations(summary).into();
    object["warnings"] = warnings(summary).into();
    object["method"] = method::method(summary).into();
    object["provenance"] = json!(method::provenance(&summary.provenance));
    for (at, grouping) in summary.groupings.iter().enumerate() {
        let own = &mut object["groupings"][at];
        own["title"] = groups::title(grouping).into();
        own["correction"] = groups::test(grouping).into();
    }
    for (at, one) in summary.images.measures.iter().enumerate() {
        object["moved"][at]["what"] = measures::name(one.measure).into();
    }
    for (at, checked) in summary.checks.requirements.iter().enumerate() {
        object["requirements"][at]["why"] = requirement_reason(checked).into();
    }
    for (at, one) in summary.checks.preserved.iter().enumerate() {
        object["preserved"][at]["why"] = preserved_reason(one).into();
    }
    for (at, pin) in summary.checks.pinned.iter().enumerate() {
        object["pinned"][at]["why"] = pin_reason(pin).into();
    }
    Ok(object)
}

/// Two runs side by side as one JSON object.
///
/// # Errors
/// Only where the comparison cannot be serialised, which no comparison of runs causes.
pub fn comparison_json(comparison: &RunComparison) -> Result<Value, serde_json::Error> {
    let mut object = serde_json::to_value(comparison)?;
    object["correction"] = comparison_test(comparison.test).into();
    object["warnings"] = comparison_warnings(comparison).into();
    Ok(object)
}
