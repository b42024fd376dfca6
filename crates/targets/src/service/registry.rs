//! From a spec to the connector of its provider.

use super::connector::Connector;
use super::credential::{Environment, is_rehearsal};
use super::definition::{OpenContext, Service};
use super::endpoint::Endpoint;
use super::error::ServiceError;
use super::provider::SERVICES;
use super::spec::ServiceSpec;
use faultlens_core::did_you_mean;
use std::path::Path;

/// The connector of the provider that a spec names; relative paths start from `base`, credentials
/// come from this process's environment.
pub fn open(spec: &ServiceSpec, base: &Path) -> Result<Connector, ServiceError> {
    open_in(spec, base, &Environment::here())
}

/// The same with credentials from a given environment.
pub fn open_in(
    spec: &ServiceSpec,
    base: &Path,
    environment: &Environment,
) -> Result<Connector, ServiceError> {
    spec.check()?;
    let service = find(&spec.provider)?;
    let from_template = spec.template.as_ref().map(|template| template.task());
    let task = spec.task.or(from_template).unwrap_or(service.tasks[0]);
    if !service.tasks.contains(&task) {
        let tasks: Vec<&str> = service.tasks.iter().map(|task| task.name()).collect();
        return Err(ServiceError::Setting(format!(
            "{} cannot be asked for {}, only for {}",
            service.name,
            task.name(),
            tasks.join(", ")
        )));
    }
    let mut connector = (service.open)(spec, &OpenContext { task, base, environment })?;
    let endpoint = Endpoint::parse(&connector.endpoint)?;
    // A rehearsal on this machine has no provider, hence no quota.
    if !is_rehearsal(&endpoint) {
        connector.rate = connector.rate.or(service.rate);
    }
    if !endpoint.is_loopback() {
        connector.price = connector.price.or(service.prices.map(|prices| prices.of(task)));
    }
    Ok(connector)
}

fn find(name: &str) -> Result<&'static Service, ServiceError> {
    if let Some(service) = SERVICES.iter().find(|service| service.name == name) {
        return Ok(service);
    }
    let names: Vec<&str> = SERVICES.iter().map(|service| service.name).collect();
    let hint = match did_you_mean(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near:?}?"),
        None => format!("known: {}", names.join(", ")),
    };
    Err(ServiceError::Unknown { name: name.to_owned(), hint })
}
