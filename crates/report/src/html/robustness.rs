//! Wrong answers under faults in images, by severity.

use super::rates::{Cell, number};
use crate::escape::plain;
use faultlens_analysis::words as format;
use faultlens_analysis::{FaultErrors, Rate, Robustness};
use std::collections::BTreeSet;

/// One target.
pub(super) struct RobustnessView {
    pub(super) target: String,
    /// What is true of all faults together, a sentence each.
    pub(super) summary: Vec<String>,
    /// The severities that any fault has.
    pub(super) severities: Vec<String>,
    pub(super) rows: Vec<FaultRow>,
    /// Whether errors stand beside those of a reference.
    pub(super) compared: bool,
}

/// One fault.
pub(super) struct FaultRow {
    pub(super) fault: String,
    /// By severity; empty where the fault has no trial of it.
    pub(super) errors: Vec<Cell>,
    pub(super) mean: Cell,
    pub(super) relative: Cell,
}

/// The view of one target.
pub(super) fn robustness(one: &Robustness) -> RobustnessView {
    let known = one.faults.iter().flat_map(|fault| &fault.errors);
    let severities: BTreeSet<u64> = known.map(|(severity, _)| severity.to_bits()).collect();
    let severities: Vec<f64> = severities.into_iter().map(f64::from_bits).collect();
    RobustnessView {
        target: plain(&one.target),
        summary: summary(one),
        severities: severities.iter().map(|severity| format::number(*severity, 3)).collect(),
        rows: one.faults.iter().map(|fault| row(fault, &severities)).collect(),
        compared: one.reference.is_some(),
    }
}

fn summary(one: &Robustness) -> Vec<String> {
    let percent = |share: f64| format!("{}%", format::percent(share));
    let mut lines = vec![format!(
        "{} of the undisturbed answers to {} are wrong",
        format::rate(&one.clean),
        format::counted(one.clean.n, "labelled case")
    )];
    if let Some(mean) = one.mean_accuracy {
        let kept = one.kept.map_or(String::new(), |kept| {
            format!(", which is {} of what it is undisturbed (rPC)", percent(kept))
        });
        lines.push(format!("Accuracy under faults (mPC): {}{kept}", percent(mean)));
    }
    if let (Some(relative), Some(reference)) = (one.mean_relative, &one.reference) {
        let beside = plain(reference);
        let known = one.faults.iter().filter(|fault| fault.relative.is_some()).count() as u64;
        lines.push(format!(
            "Errors beside those of {beside} (mCE): {}, over {} under which it errs",
            percent(relative),
            format::counted(known, "fault")
        ));
    }
    lines
}

fn row(fault: &FaultErrors, severities: &[f64]) -> FaultRow {
    let cell = |rate: &Rate| number(format::value(rate), rate.value);
    let of = |severity: &f64| {
        let found = fault.errors.iter().find(|(own, _)| own == severity);
        found.map_or_else(|| number(String::new(), None), |(_, rate)| cell(rate))
    };
    let relative = fault.relative.map(|share| format!("{}%", format::percent(share)));
    let relative = relative.unwrap_or(format::NONE.into());
    FaultRow {
        fault: plain(&fault.fault),
        errors: severities.iter().map(of).collect(),
        mean: number(format::rate(&fault.all), fault.all.value),
        relative: number(relative, fault.relative),
    }
}
