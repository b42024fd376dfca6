//! What a run took: time by who spent it, and every call to a service.

use super::error::RunError;
use crate::setup::OpenCampaign;
use crate::store::replace;
use faultlens_targets::service::CallStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The file of a run directory that says what the run took.
const FILE: &str = "account.json";
/// An account is small; what is larger is something else.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What a run took, from its first start to its last end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of all threads together.
    pub threads: f64,
    /// Seconds in which images were disturbed, of all threads together.
    pub faults: f64,
    /// Seconds in which targets were asked, of all threads together.
    pub target: f64,
    /// The services, in the campaign's order.
    #[serde(default)]
    pub services: Vec<ServiceAccount>,
}

/// What became of the calls to one service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceAccount {
    /// The target's name in the campaign.
    pub target: String,
    /// Calls by what came of them.
    pub account: CallStats,
    /// The versions of the model that answered, as far as the service says them.
    pub versions: BTreeSet<String>,
    /// Cases that were asked again at the end.
    pub control: u64,
    /// Those of them that were answered otherwise: the service has changed meanwhile.
    pub drifted: u64,
}

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

impl Spending {
    /// What a run took so far; `None` where there is no account.
    pub fn read(dir: &Path) -> Option<Self> {
        let path = dir.join(FILE);
        let fits = fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_FILE_BYTES);
        let text = fits.then(|| fs::read_to_string(&path).ok()).flatten();
        // An account that nobody can read is none: it decides no record.
        text.and_then(|text| serde_json::from_str(&text).ok())
    }

    /// Adds what it took since it was started.
    pub(super) fn close(
        mut self,
        setup: &OpenCampaign,
        dir: &Path,
        wall: Duration,
        threads: usize,
        controls: Vec<(u64, u64)>,
    ) -> Result<Self, RunError> {
        self.wall += wall.as_secs_f64();
        self.threads += wall.as_secs_f64() * threads as f64;
        self.faults += Clock::seconds(&setup.clock.faults);
        self.target += Clock::seconds(&setup.clock.target);
        let before = std::mem::take(&mut self.services);
        let services = setup.campaign.targets.iter().zip(&setup.targets);
        let services = services.filter_map(|(spec, subject)| Some((spec, subject.service()?)));
        for ((spec, service), (asked, drifted)) in services.zip(controls) {
            let then = before.iter().find(|then| then.target == spec.name);
            let then = then.cloned().unwrap_or_default();
            let versions = then.versions.into_iter().chain(service.versions()).collect();
            self.services.push(ServiceAccount {
                target: spec.name.clone(),
                account: service.call_stats(),
                versions,
                control: then.control + asked,
                drifted: then.drifted + drifted,
            });
        }
        let text = serde_json::to_vec_pretty(&self).unwrap_or_default();
        replace(&dir.join(FILE), &text, "write the account")?;
        Ok(self)
    }
}
