//! Questions about a single record that several analyses ask.

use faultlens_core::Outcome;
use faultlens_core::Reason;
use faultlens_faults::CONTROLS;
use faultlens_judge::same_letters;
use faultlens_record::Record;
use faultlens_record::store::ManifestFault;

/// The setting that faults of unlike strengths have in common.
pub(crate) const SEVERITY: &str = "severity";

/// The severity of a fault point, and the label that its points of other severities share; `None`
/// where the fault has no severity.
pub(crate) fn severity_of(fault: &ManifestFault) -> Option<(f64, String)> {
    let severity = fault.settings.get(SEVERITY)?.as_f64()?;
    Some((severity, fault.label.replace(&format!(" {SEVERITY}={severity}"), "")))
}

/// Whether a trial shows what the target makes of the input: it answered, or refused to. A trial
/// that a guard skips was never queried, and a response that was lost on the way shows nothing.
pub(crate) fn was_answered(record: &Record) -> bool {
    record.cost.queries > 0
        && !matches!(record.outcome, Outcome::TimedOut | Outcome::Skipped(Reason::NoResponse))
}

/// Whether an image fault changed the clean prediction; `None` where that is not known.
pub(crate) fn is_changed(record: &Record) -> Option<bool> {
    match record.outcome {
        Outcome::Unchanged => Some(false),
        Outcome::Changed | Outcome::Detected | Outcome::Crashed => Some(true),
        Outcome::TimedOut | Outcome::Skipped(_) => None,
    }
}

/// Whether a fault is a control, which shows what happens without a fault.
pub(crate) fn is_control(fault: &str) -> bool {
    CONTROLS.contains(&fault)
}

/// Whether a trial's prediction is this label, in upper or lower case.
pub(crate) fn predicts(record: &Record, label: &str) -> bool {
    record.answer.as_ref().is_some_and(|own| same_letters(own, label))
}
