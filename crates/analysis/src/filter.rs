//! Which trials a requirement speaks of.

use crate::context::{Context, setting_text};
use crate::error::AnalysisError;
use faultlens_core::Reason;
use faultlens_record::Record;
use faultlens_record::store::FaultOn;
use faultlens_spec::Requirement;
use std::collections::{BTreeMap, BTreeSet};

/// The attributes that a requirement's trials have.
pub(crate) type Filter = BTreeMap<String, String>;

/// Whether a trial has all of them.
pub(crate) fn matches(filter: &Filter, context: &Context, record: &Record) -> bool {
    filter.iter().all(|(name, wanted)| {
        let is = |name: &str| {
            context.attribute(record, name).is_some_and(|value| is_same(name, &value, wanted))
        };
        // A fault is meant by its name or by its name with settings.
        is(name) || (name == "fault" && is("point"))
    })
}

/// Whether a trial inside a model that failed before its location was drawn may be one of those
/// that a requirement speaks of.
pub(crate) fn may_match(requirement: &Requirement, context: &Context, record: &Record) -> bool {
    let fault = context.manifest.faults.get(record.fault as usize);
    let failed = record.outcome.skip_reason().is_some_and(Reason::is_loss);
    if !failed || record.site.is_some() || fault.is_none_or(|fault| fault.on != FaultOn::Model) {
        return false;
    }
    let known: Filter = requirement
        .filter
        .iter()
        .filter(|(name, _)| context.attribute(record, name).is_some())
        .map(|(name, wanted)| (name.clone(), wanted.clone()))
        .collect();
    matches(&known, context, record)
        && admits(&requirement.filter, context, record.target, record.fault)
}

/// Whether trials of a target with a fault can have all of them.
pub(crate) fn admits(filter: &Filter, context: &Context, target: u32, fault: u32) -> bool {
    let target = context.manifest.targets.get(target as usize);
    let fault = context.manifest.faults.get(fault as usize);
    let (Some(target), Some(fault)) = (target, fault) else { return true };
    filter.iter().all(|(name, wanted)| {
        let is = |value: &str| is_same(name, value, wanted);
        match name.as_str() {
            "target" => is(&target.name),
            "fault" => is(&fault.name) || is(&fault.label),
            "point" => is(&fault.label),
            axis if fault.axis.as_deref() == Some(axis) => {
                fault.amount.is_some_and(|amount| is(&amount.to_string()))
            }
            name if context.traits().contains(name) => {
                target.traits.get(name).is_some_and(|value| is(value))
            }
            name if context.strata().contains(name) => true,
            name if context.settings().contains(name) => {
                fault.settings.get(name).and_then(setting_text).is_some_and(|value| is(&value))
            }
            _ => true,
        }
    })
}

/// An error where no trial of the run can have one of them: such a requirement would never be
/// checked, and nobody would see that. `whole` says that every case and trial is on record.
pub(crate) fn check(
    filter: &Filter,
    context: &Context,
    extra: &BTreeSet<String>,
    whole: bool,
) -> Result<(), AnalysisError> {
    for (name, wanted) in filter {
        if !context.can_have(name, extra, whole) {
            let mut known: BTreeSet<&str> = context.names();
            known.extend(extra.iter().map(String::as_str));
            known.retain(|name| context.can_have(name, extra, whole));
            return Err(AnalysisError::attribute(name, &known));
        }
        let Some(values) = context.values(name, whole) else { continue };
        let others = extra.contains(name);
        if !others && !values.iter().any(|value| is_same(name, value, wanted)) {
            let values = values.iter().map(|value| &**value).collect();
            return Err(AnalysisError::value(name, wanted, &values));
        }
    }
    Ok(())
}

/// The same text or the same number; names of cases are no numbers, even if they look like some.
fn is_same(attribute: &str, value: &str, wanted: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
    value == wanted
        || (attribute != "case"
            && number(wanted).is_some_and(|wanted| number(value) == Some(wanted)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_same_however_they_are_written() {
        for (value, wanted) in [("1", "1.0"), ("0.5", ".5"), ("stop", "stop"), ("nan", "nan")] {
            assert!(is_same("severity", value, wanted), "{value} {wanted}");
        }
        for (value, wanted) in [("1", "1.5"), ("inf", "infinity"), ("stop", "Stop"), ("", "0")] {
            assert!(!is_same("severity", value, wanted), "{value} {wanted}");
        }
        assert!(!is_same("case", "007", "7"));
    }
}
