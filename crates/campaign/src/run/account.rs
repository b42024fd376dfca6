//! Adds up what a run has cost: time by who spends it, and every call to a service.

use crate::open::OpenCampaign;
use crate::run_error::RunError;
use faultlens_record::{ServiceAccount, Spending};
use std::path::Path;
use std::time::Duration;

/// Adds the costs since the run was started, and writes the sum into the run directory.
pub(super) fn close(
    mut spent: Spending,
    open: &OpenCampaign,
    dir: &Path,
    wall: Duration,
    threads: usize,
    controls: Vec<(u64, u64)>,
) -> Result<Spending, RunError> {
    spent.wall += wall.as_secs_f64();
    spent.threads += wall.as_secs_f64() * threads as f64;
    spent.faults += open.context.clock.fault_seconds();
    spent.target += open.context.clock.target_seconds();
    let before = std::mem::take(&mut spent.services);
    let services = open.campaign.targets.iter().zip(&open.targets);
    let services = services.filter_map(|(spec, target)| Some((spec, target.service()?)));
    for ((spec, service), (asked, drifted)) in services.zip(controls) {
        let then = before.iter().find(|then| then.target == spec.name);
        let then = then.cloned().unwrap_or_default();
        let versions = then.versions.into_iter().chain(service.versions()).collect();
        spent.services.push(ServiceAccount {
            target: spec.name.clone(),
            account: service.call_stats(),
            versions,
            control: then.control + asked,
            drifted: then.drifted + drifted,
        });
    }
    spent.write(dir)?;
    Ok(spent)
}
