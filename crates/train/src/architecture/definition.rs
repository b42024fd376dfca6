//! An architecture's entry in the registry.

use super::error::ArchitectureError;
use super::request::{Request, Takes};
use super::weights::Blueprint;
use crate::task::Task;

/// A kind of network that can be built.
#[derive(Debug)]
pub struct Architecture {
    /// Its name in orders.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// The options behind its name.
    pub takes: Takes,
    /// The task that it is made for; `None` where there is no training for it.
    pub task: Option<Task>,
    /// Plans the network of a request.
    pub(super) plan: fn(&Request) -> Result<Blueprint, ArchitectureError>,
}

impl Architecture {
    /// An order for it with all its options at their defaults.
    pub fn example(&self) -> String {
        self.takes.example(self.name)
    }
}
