//! Requirements and pinned trials as one list of checks.

use crate::document::Check;
use crate::prose::{checks, preserve};
use faultlens_analysis::format;
use faultlens_analysis::{Checked, Summary};

/// Every check of a run: requirements, requirements within human tolerance, pinned trials.
pub(crate) fn checks(summary: &Summary) -> Vec<Check> {
    let mut checks = Vec::new();
    for checked in &summary.checks.requirements {
        checks.push(Check {
            class: "requirement",
            name: checked.requirement.clone(),
            verdict: checked.verdict,
            why: checks::requirement_reason(checked),
            measured: format!(
                "measured {}, {} of {}; limit {}",
                checks::measured(checked),
                checked.rate.events,
                checked.rate.n,
                checks::allowed(checked)
            ),
            brief: brief(checked),
        });
    }
    for one in &summary.checks.preserved {
        checks.push(Check {
            class: "preserved",
            name: format!("{} ({})", preserve::preserved_name(one), one.tolerance),
            verdict: one.verdict,
            why: preserve::preserved_reason(one),
            measured: preserve::preserved_measured(one),
            brief: preserve::brief(one),
        });
    }
    for pin in &summary.checks.pinned {
        let outcome = format::outcome(&pin.outcome);
        checks.push(Check {
            class: "pinned",
            name: pin.name.clone(),
            verdict: pin.verdict,
            why: checks::pin_reason(pin),
            measured: format!("{}: {outcome}", pin.what),
            brief: outcome,
        });
    }
    checks
}

/// Failures in time stand beside their limit, since no percent sign marks them.
fn brief(checked: &Checked) -> String {
    match checked.fit {
        Some(_) => format!("{}, limit {}", checks::measured(checked), checks::allowed(checked)),
        None => format::rate(&checked.rate),
    }
}
