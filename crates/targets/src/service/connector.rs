//! What a registry's entry opens: all that is particular to one service.

use super::credential::Credential;
use super::wire::{Task, Wire};

/// A service's own parts; everything else is the same for all of them.
pub struct Connector {
    /// What it is sent, and what its answers mean.
    pub wire: Box<dyn Wire>,
    /// Who asks.
    pub credential: Box<dyn Credential>,
    /// Where it is: `scheme://host[:port]`, with a path in front of all others where it has one.
    pub endpoint: String,
    /// What it is asked for.
    pub task: Task,
    /// The provider's own limit of calls per second.
    pub rate: Option<f64>,
    /// What a call costs, where the connector knows better than the table of prices.
    pub price: Option<f64>,
}
