//! Targets that are services: where their answers are filed, and whether their answers have changed
//! meanwhile.

use crate::open::OpenCampaign;
use crate::open_error::OpenCampaignError;
use crate::run_error::RunError;
use crate::target::OpenTarget;
use faultlens_core::Image;
use faultlens_targets::ServiceTarget;
use std::path::Path;

/// The file of a run directory that lists every call.
const CALLS: &str = "calls";

/// The folder beside the run directory in which answers are filed.
const ANSWERS: &str = "answers";

/// Files answers and lists calls from now on.
pub(crate) fn attach(open: &OpenCampaign, dir: &Path) -> Result<(), RunError> {
    let answers = match &open.campaign.answers {
        Some(answers) => answers.clone(),
        None => dir.with_file_name(ANSWERS),
    };
    for (at, (spec, target)) in open.campaign.targets.iter().zip(&open.targets).enumerate() {
        let Some(service) = target.service() else { continue };
        let ledger = dir.join(format!("{CALLS}-{at}.jsonl"));
        service
            .attach(&answers, &ledger)
            .map_err(|source| OpenCampaignError::Service { name: spec.name.clone(), source })?;
    }
    Ok(())
}

/// Asks services that were called again about the first cases; by service, how many and how many
/// answers have changed.
pub(super) fn control(open: &OpenCampaign) -> Vec<(u64, u64)> {
    let mut counts = Vec::new();
    for target in &open.targets {
        let Some(service) = target.service() else { continue };
        let mut asked = 0;
        let mut changed = 0;
        if service.call_stats().process.calls > 0 {
            for &index in open.cases.sample.iter().take(service.spec().limits.control) {
                let Ok(case) = open.cases.set.case(index) else { continue };
                if let Some(same) = same(service, &target.shown(&case.image)) {
                    asked += 1;
                    changed += u64::from(!same);
                }
            }
        }
        counts.push((asked, changed));
    }
    counts
}

fn same(service: &ServiceTarget, image: &Image) -> Option<bool> {
    // A service that gives no answer now has not changed for that reason.
    service.ask_again(image).ok().flatten()
}

/// From now on services answer from the files alone: pictures of trials are not worth a call.
pub(super) fn end_calls(open: &OpenCampaign) {
    open.targets.iter().filter_map(OpenTarget::service).for_each(ServiceTarget::end_calls);
}
