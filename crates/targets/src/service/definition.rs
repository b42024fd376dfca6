//! A provider's entry in the registry.

use super::connector::Connector;
use super::credential::Environment;
use super::endpoint::Endpoint;
use super::error::ServiceError;
use super::spec::ServiceSpec;
use super::task::Task;
use std::path::Path;

/// When the list prices were looked up. Prices change and depend on region, tier and contract:
/// they are there to estimate a bill, to be checked against [`Prices::source`].
pub const PRICES_AS_OF: &str = "2026-11";

/// A service as it is listed: what it can be asked for, and what its provider allows.
pub struct Service {
    /// The name in campaign files.
    pub name: &'static str,
    /// What it is, in a sentence without a full stop.
    pub about: &'static str,
    /// What it can be asked for; the first is the default.
    pub tasks: &'static [Task],
    /// Its default address; `{region}` stands for the region.
    pub endpoint: Option<&'static str>,
    /// Calls per second that the provider allows without a raised quota.
    pub rate: Option<f64>,
    /// List prices; `None` where nobody can know them.
    pub prices: Option<Prices>,
    /// The shortest side of an image that it accepts, in pixels.
    pub min_side: usize,
    /// The largest file that it accepts, in bytes.
    pub max_bytes: usize,
    /// Builds the connector of a spec.
    pub(super) open: fn(&ServiceSpec, &OpenContext<'_>) -> Result<Connector, ServiceError>,
}

/// List prices in US dollars per call, in the first tier that is paid for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    /// The provider's price list; empty for what runs on one's own machines.
    pub source: &'static str,
    /// The price of tasks that are not in `by_task`.
    pub usual: f64,
    /// Tasks with a price of their own.
    pub by_task: &'static [(Task, f64)],
}

impl Prices {
    /// What runs on one's own machines and costs nothing per call.
    pub(super) const FREE: Self = Self { source: "", usual: 0.0, by_task: &[] };

    /// The price of a call for a task.
    pub fn of(&self, task: Task) -> f64 {
        let own = self.by_task.iter().find(|(other, _)| *other == task);
        own.map_or(self.usual, |(_, price)| *price)
    }
}

/// What a provider's `open` function gets beside the spec.
pub(super) struct OpenContext<'a> {
    /// What the service is asked for.
    pub(super) task: Task,
    /// The folder that relative paths start from.
    pub(super) base: &'a Path,
    /// Where credentials come from.
    pub(super) environment: &'a Environment,
}

impl Service {
    /// The endpoint: the spec's, or `usual` (from the environment), or the provider's default.
    pub(super) fn endpoint_of(
        &self,
        spec: &ServiceSpec,
        usual: Option<String>,
    ) -> Result<Endpoint, ServiceError> {
        let given = spec.endpoint.clone().or(usual).or(self.endpoint.map(str::to_owned));
        let Some(given) = given else {
            let why = format!("{} has no default address: set endpoint", self.name);
            return Err(ServiceError::Setting(why));
        };
        Endpoint::parse(&given)
    }
}
