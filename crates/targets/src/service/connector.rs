//! What a provider's file builds from a spec: all that is particular to one service.

use super::credential::Credential;
use super::task::Task;
use super::wire_format::Wire;

/// The parts of a service that differ between providers; everything else is shared.
pub struct Connector {
    /// What it is sent, and what its responses mean.
    pub wire: Box<dyn Wire>,
    /// How requests are authenticated.
    pub credential: Box<dyn Credential>,
    /// Its address: `scheme://host[:port]`, with a path prefix where it has one.
    pub endpoint: String,
    /// What it is asked for.
    pub task: Task,
    /// The provider's own limit of calls per second.
    pub rate: Option<f64>,
    /// The price of a call, where it is known.
    pub price: Option<f64>,
}
