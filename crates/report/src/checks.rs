//! Requirements and pinned trials as one list of checks.

use crate::document::Check;
use faultlens_analysis::format;
use faultlens_analysis::words;
use faultlens_analysis::{Checked, Summary};

/// Every check of a run: requirements, requirements within human tolerance, pinned trials.
pub(crate) fn checks(summary: &Summary) -> Vec<Check> {
    let mut checks = Vec::new();
    for checked in &summary.requirements {
        checks.push(Check {
            class: "requirement",
            name: checked.requirement.clone(),
            verdict: checked.verdict,
            why: checked.why.clone(),
            measured: format!(
                "measured {}, {} of {}; limit {}",
                words::measured(checked),
                checked.rate.events,
                checked.rate.n,
                words::allowed(checked)
            ),
            brief: brief(checked),
        });
    }
    for one in &summary.preserved {
        checks.push(Check {
            class: "preserved",
            name: format!("{} ({})", words::preserved(one), one.tolerance),
            verdict: one.verdict,
            why: one.why.clone(),
            measured: words::kept(one),
            brief: one.distance.as_ref().map_or(format::NONE.into(), format::distance),
        });
    }
    for pin in &summary.pinned {
        let outcome = format::outcome(&pin.outcome);
        checks.push(Check {
            class: "pinned",
            name: pin.name.clone(),
            verdict: pin.verdict,
            why: pin.why.clone(),
            measured: format!("{}: {outcome}", pin.what),
            brief: outcome,
        });
    }
    checks
}

/// Failures in time stand beside their limit, since no percent sign marks them.
fn brief(checked: &Checked) -> String {
    match checked.fit {
        Some(_) => format!("{}, limit {}", words::measured(checked), words::allowed(checked)),
        None => format::rate(&checked.rate),
    }
}
