//! Whether requirements on what people cope with can be checked: looked at before hours of work
//! and not after.

use crate::subject::OpenTarget;
use faultlens_core::did_you_mean;
use faultlens_judge::{Tolerance, same_letters};
use faultlens_spec::ToleranceFileError;
use faultlens_spec::{Campaign, Disturbance, FaultPoint, Preservation, Preserves};
use std::collections::{BTreeMap, BTreeSet};

/// Why a requirement cannot be checked.
#[derive(Debug, thiserror::Error)]
pub enum PreserveError {
    /// A tolerance cannot be had.
    #[error("tolerance {name}: {source}")]
    Tolerance {
        /// What the campaign calls it.
        name: String,
        /// Why not.
        source: ToleranceFileError,
    },
    /// A tolerance speaks of nothing that the campaign does.
    #[error("{name} speaks of the {what} of {known}, and the campaign has no such fault; add one")]
    Untolerated {
        /// What the campaign calls it.
        name: String,
        /// What must stay.
        what: &'static str,
        /// What it speaks of.
        known: String,
    },
    /// A tolerance says nothing of a fault that the requirement names.
    #[error("{name} says nothing of the {what} of {fault}; leave it out of faults")]
    Unknown {
        /// What the campaign calls it.
        name: String,
        /// What must stay.
        what: &'static str,
        /// The fault.
        fault: String,
    },
    /// A class that neither the data nor a target has.
    #[error("neither the data nor a target has a class {class:?}; {hint}")]
    Class {
        /// What was asked for.
        class: String,
        /// What there is.
        hint: String,
    },
    /// A guard leaves out what the requirement is about.
    #[error(
        "the guard golden_correct leaves out what is wrong already, and correctness is held \
         against all originals; leave out the guard"
    )]
    Guarded,
}

/// What is written in the files with tolerances, by the campaign's names for them; refuses those
/// that speak of nothing that is done.
pub(crate) fn tolerances(campaign: &Campaign) -> Result<BTreeMap<String, String>, PreserveError> {
    let mut written = BTreeMap::new();
    for one in &campaign.preserve {
        let name = || one.tolerance.clone();
        let wrong = |source| PreserveError::Tolerance { name: name(), source };
        let text = one.written(&campaign.base).map_err(wrong)?;
        let tolerance = match &text {
            Some(text) => Tolerance::from_json(text).ok(),
            None => Tolerance::named(&one.tolerance),
        };
        let known = tolerance.map(|tolerance| tolerance.thresholds).unwrap_or_default();
        let known = known.iter().filter(|threshold| one.what.of(threshold).is_some());
        let known: BTreeSet<&str> = known.map(|threshold| threshold.fault.as_ref()).collect();
        let what = one.what.name();
        if let Some(fault) = one.faults.iter().find(|fault| !known.contains(fault.as_str())) {
            return Err(PreserveError::Unknown { name: name(), what, fault: fault.clone() });
        }
        let of_image = |point: &&FaultPoint| {
            matches!(point.disturbance, Disturbance::Image(_) | Disturbance::Varied(_))
        };
        let mut done = campaign.faults.iter().filter(of_image);
        if !done.any(|point| known.contains(point.name) && one.concerns(point.name)) {
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(PreserveError::Untolerated { name: name(), what, known });
        }
        written.extend(text.map(|text| (name(), text)));
    }
    let guarded = campaign.judge.guards.iter().any(|(name, _)| *name == "golden_correct");
    let correctness = |one: &Preservation| one.what == Preserves::Correctness;
    match guarded && campaign.preserve.iter().any(correctness) {
        true => Err(PreserveError::Guarded),
        false => Ok(written),
    }
}

/// Refuses classes that nobody has: every answer would be none of them, which looks like success.
pub(crate) fn check_classes(
    campaign: &Campaign,
    data: &[String],
    targets: &[OpenTarget],
) -> Result<(), PreserveError> {
    let mut known: BTreeSet<String> = data.iter().cloned().collect();
    for described in targets.iter().filter_map(OpenTarget::inside) {
        let labels = &described.target.description().labels;
        known.extend((0..labels.len()).map(|class| labels.name(class)));
    }
    let wanted = campaign.preserve.iter().flat_map(|one| &one.classes);
    let unknown = |class: &&String| !known.iter().any(|own| same_letters(own, class));
    match wanted.into_iter().find(unknown) {
        None => Ok(()),
        Some(class) => Err(PreserveError::Class {
            class: class.clone(),
            hint: match did_you_mean(class, known.iter().map(String::as_str)) {
                Some(near) => format!("did you mean {near:?}?"),
                None if known.len() > MOST_HINTS => format!("there are {}", known.len()),
                None => {
                    let known: Vec<&str> = known.iter().map(String::as_str).collect();
                    format!("there are {}", known.join(", "))
                }
            },
        }),
    }
}

/// A longer list helps nobody.
const MOST_HINTS: usize = 30;
