//! Whether requirements on what people tolerate can be checked, found out before hours of work and
//! not after.

use faultlens_core::did_you_mean;
use faultlens_judge::{Tolerance, same_letters};
use faultlens_spec::ToleranceFileError;
use faultlens_spec::{Campaign, Preserves};
use std::collections::{BTreeMap, BTreeSet};

/// The most names that a message lists: a longer list helps nobody.
const MAX_HINTS: usize = 30;

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
        /// The names that exist, as a hint.
        hint: String,
    },
    /// A guard leaves out what the requirement is about.
    #[error(
        "the guard golden_correct leaves out what is wrong already, and correctness is held \
         against all originals; leave out the guard"
    )]
    Guarded,
}

/// The text of the files with tolerances, by the campaign's names for them; refuses those that are
/// about none of `image_faults`, the names of the campaign's faults in images.
pub(crate) fn tolerances(
    campaign: &Campaign,
    image_faults: &[&str],
) -> Result<BTreeMap<String, String>, PreserveError> {
    let mut written = BTreeMap::new();
    for one in &campaign.preserve {
        let name = one.tolerance.clone();
        let text = match one.written(&campaign.base) {
            Ok(text) => text,
            Err(source) => return Err(PreserveError::Tolerance { name, source }),
        };
        let tolerance = match &text {
            Some(text) => Tolerance::from_json(text).ok(),
            None => Tolerance::named(&one.tolerance),
        };
        let known = tolerance.map(|tolerance| tolerance.thresholds).unwrap_or_default();
        let known = known.iter().filter(|threshold| one.what.of(threshold).is_some());
        let known: BTreeSet<&str> = known.map(|threshold| threshold.fault.as_ref()).collect();
        let what = one.what.name();
        if let Some(fault) = one.faults.iter().find(|fault| !known.contains(fault.as_str())) {
            return Err(PreserveError::Unknown { name, what, fault: fault.clone() });
        }
        if !image_faults.iter().any(|fault| known.contains(fault) && one.concerns(fault)) {
            let known = known.into_iter().collect::<Vec<_>>().join(", ");
            return Err(PreserveError::Untolerated { name, what, known });
        }
        written.extend(text.map(|text| (name, text)));
    }
    let guarded = campaign.judge.guards.iter().any(|(name, _)| *name == "golden_correct");
    if guarded && campaign.preserve.iter().any(|one| one.what == Preserves::Correctness) {
        return Err(PreserveError::Guarded);
    }
    Ok(written)
}

/// Refuses classes that neither the data set nor a target has: no answer would ever be one of them,
/// which looks like success.
pub(crate) fn check_classes(
    campaign: &Campaign,
    known: &BTreeSet<String>,
) -> Result<(), PreserveError> {
    for class in campaign.preserve.iter().flat_map(|one| &one.classes) {
        if known.iter().any(|own| same_letters(own, class)) {
            continue;
        }
        let hint = match did_you_mean(class, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near:?}?"),
            None if known.len() > MAX_HINTS => format!("there are {}", known.len()),
            None => {
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                format!("there are {}", known.join(", "))
            }
        };
        return Err(PreserveError::Class { class: class.clone(), hint });
    }
    Ok(())
}
