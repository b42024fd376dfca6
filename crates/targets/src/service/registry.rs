//! Every service that can be asked.

use super::credential::{Environment, is_rehearsal};
use super::endpoint::Endpoint;
use super::wire::{Task, azure, google, http, ibm, kserve, rekognition};
use super::{Connector, ServiceError, ServiceSpec};
use faultlens_core::did_you_mean;
use std::path::Path;

/// A service as it is listed: what it can be asked for, and what its provider allows.
pub struct Service {
    /// The name in campaign files.
    pub name: &'static str,
    /// What it is, in a sentence without a full stop.
    pub about: &'static str,
    /// What it can be asked for; the first is the default.
    pub tasks: &'static [Task],
    /// Where it is by default; `{region}` stands for the region.
    pub endpoint: Option<&'static str>,
    /// Calls per second that the provider allows without being asked for more.
    pub rate: Option<f64>,
    /// The least side of an image that it takes, in pixels.
    pub least_side: usize,
    /// The largest file that it takes, in bytes.
    pub most_bytes: usize,
    /// Makes it ready to be asked.
    pub(super) open: fn(&ServiceSpec, &Opening<'_>) -> Result<Connector, ServiceError>,
}

/// What is around a spec when its service is opened.
pub(super) struct Opening<'a> {
    /// What it is asked for.
    pub(super) task: Task,
    /// The folder that paths start from.
    pub(super) base: &'a Path,
    /// Where credentials come from.
    pub(super) environment: &'a Environment,
}

/// Every service. Add yours here.
pub const SERVICES: &[Service] =
    &[rekognition::REKOGNITION, google::GOOGLE, azure::AZURE, ibm::IBM, kserve::KSERVE, http::HTTP];

/// The service that a spec names, ready to be asked; paths start from `base`.
pub fn open(spec: &ServiceSpec, base: &Path) -> Result<Connector, ServiceError> {
    open_in(spec, base, &Environment::here())
}

/// The same with credentials from an environment of one's own.
pub fn open_in(
    spec: &ServiceSpec,
    base: &Path,
    environment: &Environment,
) -> Result<Connector, ServiceError> {
    spec.check()?;
    let service = called(&spec.of)?;
    let task = spec.task.or(spec.template.as_ref().map(http::task_of)).unwrap_or(service.tasks[0]);
    if !service.tasks.contains(&task) {
        let tasks: Vec<&str> = service.tasks.iter().map(|task| task.name()).collect();
        let (name, task, tasks) = (service.name, task.name(), tasks.join(", "));
        let why = format!("{name} cannot be asked for {task}, only for {tasks}");
        return Err(ServiceError::Setting(why));
    }
    let mut connector = (service.open)(spec, &Opening { task, base, environment })?;
    // A rehearsal has no provider.
    if !is_rehearsal(&Endpoint::parse(&connector.endpoint)?) {
        connector.rate = connector.rate.or(service.rate);
    }
    Ok(connector)
}

fn called(name: &str) -> Result<&'static Service, ServiceError> {
    let names = || SERVICES.iter().map(|service| service.name);
    SERVICES.iter().find(|service| service.name == name).ok_or_else(|| {
        let hint = match did_you_mean(name, names()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("known: {}", names().collect::<Vec<_>>().join(", ")),
        };
        ServiceError::Unknown { name: name.to_owned(), hint }
    })
}

impl Service {
    /// The endpoint that a spec has or that is usual, checked.
    pub(super) fn endpoint_of(
        &self,
        spec: &ServiceSpec,
        usual: Option<String>,
    ) -> Result<Endpoint, ServiceError> {
        let given = spec.endpoint.clone().or(usual).or(self.endpoint.map(str::to_owned));
        let missing = || format!("{} has no address of its own: set endpoint", self.name);
        Endpoint::parse(&given.ok_or_else(|| ServiceError::Setting(missing()))?)
    }
}
