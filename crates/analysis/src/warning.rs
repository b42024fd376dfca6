//! What a reader must know before trusting the numbers, as facts: how they read is the report's.

use crate::attacks::Masking;
use crate::context::Context;
use crate::fairness::Fairness;
use crate::scenes::SceneTotal;
use faultlens_record::Spending;
use faultlens_record::store::{MANIFEST_VERSION, Recorded};
use faultlens_spec::Campaign;

/// How many errors of unreadable cases a warning quotes.
const MOST_QUOTED: usize = 3;

/// What a reader must know before trusting the numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// Trials of the campaign are still to run.
    Incomplete,
    /// An older version wrote the run, without checksums.
    WithoutChecksums,
    /// The run is one of several shards.
    Shard {
        /// Which one, from 1.
        part: u64,
        /// Of how many.
        of: u64,
    },
    /// Some cases cannot be read.
    UnreadableCases {
        /// How many.
        unreadable: u64,
        /// Of how many.
        of: u64,
        /// The first errors.
        errors: Vec<String>,
    },
    /// A target fails on some cases without a fault.
    FailsWithoutFault {
        /// The target.
        target: String,
        /// On how many cases.
        failed: u64,
        /// Of how many.
        of: u64,
        /// The first error.
        error: String,
    },
    /// A service returned other predictions when it was queried again with the same images.
    ServiceChanged {
        /// The target.
        target: String,
        /// For how many cases.
        changed: u64,
        /// Of how many that were queried again.
        queried: u64,
    },
    /// Fairness is asked for, but no case has a label and no positive class is named.
    FairnessWithoutLabels,
    /// Fairness names a privileged group that no case belongs to.
    UnknownPrivilegedGroup(String),
    /// Fairness names a positive class that no clean prediction is.
    NoPositivePrediction(String),
    /// A target masks its gradients.
    MaskedGradients(Masking),
    /// A target returns different detections when queried twice with the same clean image.
    UnstableTarget {
        /// The target.
        target: String,
        /// For how many cases.
        cases: u64,
    },
}

/// Warnings about the run itself.
pub(crate) fn of_run(context: &Context, progress: &Recorded) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if !progress.complete {
        warnings.push(Warning::Incomplete);
    }
    if context.manifest.version < MANIFEST_VERSION {
        warnings.push(Warning::WithoutChecksums);
    }
    if let Some((part, of)) = context.manifest.shard {
        warnings.push(Warning::Shard { part: part.into(), of: of.into() });
    }
    let errors: Vec<&String> = context.cases().filter_map(|case| case.error.as_ref()).collect();
    if !errors.is_empty() {
        warnings.push(Warning::UnreadableCases {
            unreadable: errors.len() as u64,
            of: context.manifest.cases,
            errors: errors.into_iter().take(MOST_QUOTED).cloned().collect(),
        });
    }
    for (at, target) in (0..).zip(&context.manifest.targets) {
        let mut failed = 0;
        let mut first = None;
        for golden in context.goldens().filter(|golden| golden.target == at) {
            let readable = context.case(golden.case).is_some_and(|case| case.error.is_none());
            if let Some(error) = golden.error.as_ref().filter(|_| readable) {
                failed += 1;
                first = first.or(Some(error));
            }
        }
        if let Some(error) = first {
            warnings.push(Warning::FailsWithoutFault {
                target: target.name.clone(),
                failed,
                of: context.manifest.cases,
                error: error.clone(),
            });
        }
    }
    warnings
}

/// Services that changed during the run.
pub(crate) fn of_services(spending: Option<&Spending>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for service in spending.iter().flat_map(|spent| &spent.services) {
        if service.drifted > 0 {
            warnings.push(Warning::ServiceChanged {
                target: service.target.clone(),
                changed: service.drifted,
                queried: service.control,
            });
        }
    }
    warnings
}

/// Settings of fairness that fit nothing in the run.
pub(crate) fn of_fairness(campaign: &Campaign, measured: &[Fairness]) -> Vec<Warning> {
    let Some(settings) = &campaign.fairness else { return Vec::new() };
    if measured.is_empty() {
        return vec![Warning::FairnessWithoutLabels];
    }
    let mut warnings = Vec::new();
    let groups = || measured.iter().flat_map(|one| &one.clean.groups);
    for name in &settings.privileged {
        if !groups().any(|group| group.name.eq_ignore_ascii_case(name)) {
            warnings.push(Warning::UnknownPrivilegedGroup(name.clone()));
        }
    }
    let never = groups().all(|group| group.found.is_none_or(|found| found.events == 0));
    if let Some(positive) = settings.positive.as_ref().filter(|_| never) {
        warnings.push(Warning::NoPositivePrediction(positive.clone()));
    }
    warnings
}

/// Targets that are not deterministic.
pub(crate) fn of_scenes(totals: &[SceneTotal]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for total in totals {
        if let Some(target) = total.target.as_ref().filter(|_| total.unsteady > 0) {
            let target = target.clone();
            warnings.push(Warning::UnstableTarget { target, cases: total.unsteady });
        }
    }
    warnings
}
