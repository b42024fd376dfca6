//! What protections are worth, where `faultlens protect` was run.

use crate::escape::plain;
use faultlens_analysis::words as format;
use faultlens_protect::{Advice, Evaluated, RANGES, TargetAdvice};

/// What the advice says.
pub(super) struct ProtectionView {
    pub(super) findings: Vec<String>,
    pub(super) warnings: Vec<String>,
    pub(super) targets: Vec<TargetView>,
    /// What the intervals are, in words.
    pub(super) interval: String,
}

/// One target's protections.
pub(super) struct TargetView {
    pub(super) name: String,
    pub(super) broken: String,
    pub(super) rows: Vec<Row>,
}

/// One protection in one extent.
pub(super) struct Row {
    pub(super) label: String,
    pub(super) after: String,
    pub(super) stopped: String,
    pub(super) worse: String,
    pub(super) cost: String,
    pub(super) alarms: String,
}

/// The advice, ready for the page.
pub(super) fn protection(advice: &Advice) -> ProtectionView {
    let plains = |texts: &[String]| texts.iter().map(|text| plain(text)).collect();
    ProtectionView {
        findings: plains(&advice.findings),
        warnings: plains(&advice.warnings),
        targets: advice.targets.iter().map(target).collect(),
        interval: plain(&advice.interval),
    }
}

fn target(target: &TargetAdvice) -> TargetView {
    TargetView {
        name: plain(&target.name),
        broken: format::rate(&target.broken),
        rows: target.protections.iter().map(row).collect(),
    }
}

fn row(one: &Evaluated) -> Row {
    Row {
        label: plain(&one.label),
        after: format::rate(&one.after),
        stopped: format::rate(&one.stopped),
        worse: format::count(one.worse),
        cost: format!("{}%", format::percent(one.cost.share)),
        alarms: match &one.false_alarms {
            Some(alarms) => format::rate(&alarms.changed),
            None if one.protection == RANGES => "not known".to_owned(),
            None => "none".to_owned(),
        },
    }
}
