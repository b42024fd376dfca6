//! What is checked before a campaign starts: a mistake should show before hours of work and not
//! after.

use crate::cases::Cases;
use crate::open_error::OpenCampaignError;
use crate::target::OpenTarget;
use crate::trial::{Probe, Unfit, disturb};
use faultlens_core::did_you_mean;
use faultlens_spec::{ATTRIBUTES, Campaign, FaultPoint, TargetSpec};
use std::collections::BTreeSet;

/// Attributes that follow from the outcome: what became of a trial must not decide whether it
/// counts.
const RESULTS: [&str; 2] = ["answer", "outcome"];

/// Refuses requirements and fairness on attributes that no trial will have.
pub(crate) fn attributes(campaign: &Campaign, cases: &Cases) -> Result<(), OpenCampaignError> {
    // The first case shows which groups cases belong to; where it cannot be read, the records will.
    let first = cases.sample.first().and_then(|&index| cases.set.case(index).ok());
    let Some(first) = first else { return Ok(()) };
    let mut known: BTreeSet<&str> = BTreeSet::new();
    known.extend(ATTRIBUTES.iter().map(|(name, _)| *name).filter(|name| !RESULTS.contains(name)));
    for fault in &campaign.faults {
        known.extend(fault.dose.map(|dose| dose.axis));
        known.extend(fault.settings.iter().map(|(name, _)| name));
    }
    known.extend(
        campaign.targets.iter().flat_map(|target| target.traits.keys()).map(String::as_str),
    );
    known.extend(first.strata.keys().map(String::as_str));
    let fairness = campaign.fairness.iter().flat_map(|fairness| &fairness.by);
    for name in fairness.chain(&campaign.cluster) {
        if !first.strata.contains_key(name) {
            let columns = first.strata.keys().map(String::as_str);
            let hint = match did_you_mean(name, columns.clone()) {
                Some(near) => format!("did you mean {near:?}?"),
                None if first.strata.is_empty() => "the data set has no further columns".to_owned(),
                None => format!("there are {}", columns.collect::<Vec<_>>().join(", ")),
            };
            return Err(OpenCampaignError::Column { name: name.clone(), hint });
        }
    }
    let filters = campaign.requirements.iter().flat_map(|requirement| requirement.filter.keys());
    let groups = campaign.requirements.iter().filter_map(|requirement| requirement.by.as_ref());
    for name in filters.chain(groups) {
        if !known.contains(name.as_str()) {
            let hint = match did_you_mean(name, known.iter().copied()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            };
            return Err(OpenCampaignError::Attribute { name: name.clone(), hint });
        }
    }
    Ok(())
}

/// Refuses a defence that can do nothing about a target's answers.
pub(crate) fn defences(spec: &TargetSpec, target: &OpenTarget) -> Result<(), OpenCampaignError> {
    let (kind, _) = target.answers_with();
    for defence in &spec.defences {
        if !defence.build().suits(kind) {
            let target = spec.name.clone();
            return Err(OpenCampaignError::Defence { target, defence: defence.name, kind });
        }
    }
    Ok(())
}

/// Refuses faults that cannot be tried on a target at all.
pub(crate) fn faults(
    faults: &[FaultPoint],
    name: &str,
    target: &OpenTarget,
) -> Result<(), OpenCampaignError> {
    for fault in faults {
        match disturb(fault).check(target) {
            Ok(()) => {}
            Err(Unfit::Target(why)) => return Err(refused(fault, name, why)),
            Err(Unfit::Selection { wanted, hint }) => {
                return Err(OpenCampaignError::Operator {
                    fault: fault.label.clone(),
                    target: name.to_owned(),
                    wanted,
                    hint,
                });
            }
        }
    }
    Ok(())
}

/// How many trials each fault has for one case of a target; each fault is tried out on the first
/// cases.
pub(crate) fn trials(
    campaign: &Campaign,
    cases: &Cases,
    name: &str,
    target: &OpenTarget,
) -> Result<Vec<u32>, OpenCampaignError> {
    let probe = Probe::new(target, cases, campaign.stop.is_some());
    let mut trials = Vec::with_capacity(campaign.faults.len());
    for fault in &campaign.faults {
        let planned = disturb(fault).trials(fault.trials, &probe);
        trials.push(planned.map_err(|why| refused(fault, name, why))?);
    }
    Ok(trials)
}

fn refused(fault: &FaultPoint, target: &str, why: String) -> OpenCampaignError {
    OpenCampaignError::Sites { fault: fault.label.clone(), target: target.to_owned(), why }
}
