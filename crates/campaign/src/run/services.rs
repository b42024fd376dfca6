//! Targets that are services: where their answers are filed, when they may not be asked any more,
//! and whether they are still what they were.

use super::error::RunError;
use crate::setup::{OpenCampaign, OpenCampaignError};
use crate::subject::OpenTarget;
use faultlens_targets::ServiceTarget;
use std::path::Path;
use std::sync::OnceLock;

/// The file of a run directory that lists every call.
const CALLS: &str = "calls";

/// The folder beside the run directory in which answers are filed.
const ANSWERS: &str = "answers";

/// By target, why it may not be asked any more.
pub(super) struct Closed(Vec<OnceLock<String>>);

impl Closed {
    pub(super) fn new(setup: &OpenCampaign) -> Self {
        Self(setup.targets.iter().map(|_| OnceLock::new()).collect())
    }

    pub(super) fn close(&self, target: u32, why: String) {
        // The first reason is the one that led to the others.
        let _ = self.0[target as usize].set(why);
    }

    pub(super) fn is_closed(&self, target: u32) -> bool {
        self.0[target as usize].get().is_some()
    }

    /// An error where a target was closed.
    pub(super) fn check(&self, setup: &OpenCampaign) -> Result<(), RunError> {
        let all = setup.campaign.targets.iter().zip(&self.0);
        let closed =
            all.filter_map(|(spec, why)| Some(format!("target {}: {}", spec.name, why.get()?)));
        match closed.collect::<Vec<_>>().join("; ") {
            why if why.is_empty() => Ok(()),
            why => Err(RunError::Closed(why)),
        }
    }
}

/// Files answers and lists calls from now on.
pub(crate) fn attach(setup: &OpenCampaign, dir: &Path) -> Result<(), RunError> {
    let answers = setup.campaign.answers.clone();
    let answers = answers.unwrap_or_else(|| dir.with_file_name(ANSWERS));
    for (at, (spec, subject)) in setup.campaign.targets.iter().zip(&setup.targets).enumerate() {
        let Some(service) = subject.service() else { continue };
        let ledger = dir.join(format!("{CALLS}-{at}.jsonl"));
        service
            .attach(&answers, &ledger)
            .map_err(|source| OpenCampaignError::Service { name: spec.name.clone(), source })?;
    }
    Ok(())
}

/// Asks services that were called again about the first cases; by service, how many and how many
/// answers have changed.
pub(super) fn control(setup: &OpenCampaign) -> Vec<(u64, u64)> {
    let subjects = setup.targets.iter();
    let services = subjects.filter_map(|subject| Some((subject, subject.service()?)));
    let told = services.map(|(subject, service)| {
        if service.call_stats().process.calls == 0 {
            return (0, 0);
        }
        let cases = setup.cases.sample.iter().take(service.spec().limits.control);
        let cases = cases.filter_map(|&index| setup.cases.set.case(index).ok());
        let same = cases.filter_map(|case| same(service, &subject.shown(&case.image)));
        same.fold((0, 0), |(asked, changed), same| (asked + 1, changed + u64::from(!same)))
    });
    told.collect()
}

fn same(service: &ServiceTarget, image: &faultlens_core::Image) -> Option<bool> {
    // Who gives no answer now has not changed for that.
    service.ask_again(image).ok().flatten()
}

/// Answers from the files alone from now on: pictures of trials are worth no call.
pub(super) fn end_calls(setup: &OpenCampaign) {
    setup.targets.iter().filter_map(OpenTarget::service).for_each(ServiceTarget::end_calls);
}
