//! How a campaign is run.

use crate::open::OpenCampaign;
use crate::plan::Shard;
use faultlens_targets::ServiceTarget;
use std::path::PathBuf;
use std::thread;

/// How a campaign is run; nothing here changes what is recorded.
#[derive(Debug, Clone, Default)]
pub struct RunOptions {
    /// The run directory, instead of the campaign's.
    pub output: Option<PathBuf>,
    /// Only this part of the plan.
    pub shard: Option<Shard>,
    /// How many threads work, instead of the campaign's number.
    pub threads: Option<usize>,
}

/// The number of threads: one per core, or as many as the services answer at a time, since a thread
/// that waits for a service needs no core.
pub(super) fn threads(open: &OpenCampaign, options: &RunOptions) -> usize {
    if let Some(threads) = options.threads.or(open.campaign.threads) {
        return threads;
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let services = open.targets.iter().filter_map(|target| target.service());
    cores.max(services.map(ServiceTarget::concurrency).sum())
}
