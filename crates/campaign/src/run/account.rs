//! Adds up what a run takes: time by who spends it, and every call to a service.

use super::error::RunError;
use crate::setup::OpenCampaign;
use faultlens_record::{ServiceAccount, Spending};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Adds up time while a campaign runs.
#[derive(Debug, Default)]
pub struct Clock {
    faults: AtomicU64,
    target: AtomicU64,
}

impl Clock {
    /// Counts the time in which an image was disturbed, and that in which a target was asked.
    pub(crate) fn add(&self, fault: Duration, target: Duration) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.faults.fetch_add(nanos(fault), Ordering::Relaxed);
        self.target.fetch_add(nanos(target), Ordering::Relaxed);
    }

    fn seconds(sum: &AtomicU64) -> f64 {
        sum.load(Ordering::Relaxed) as f64 / 1e9
    }
}

/// Adds what it took since it was started.
pub(super) fn close(
    mut spent: Spending,
    setup: &OpenCampaign,
    dir: &Path,
    wall: Duration,
    threads: usize,
    controls: Vec<(u64, u64)>,
) -> Result<Spending, RunError> {
    spent.wall += wall.as_secs_f64();
    spent.threads += wall.as_secs_f64() * threads as f64;
    spent.faults += Clock::seconds(&setup.clock.faults);
    spent.target += Clock::seconds(&setup.clock.target);
    let before = std::mem::take(&mut spent.services);
    let services = setup.campaign.targets.iter().zip(&setup.targets);
    let services = services.filter_map(|(spec, subject)| Some((spec, subject.service()?)));
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
