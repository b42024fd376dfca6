//! One file per command.

pub(crate) mod ask;
pub(crate) mod demo;
pub(crate) mod inspect;
mod score;

use std::path::Path;

use anyhow::Context;
use faultlens::engine::Model;

/// Loads a model; every message about it ends with the path.
fn load(path: &Path) -> anyhow::Result<Model> {
    Model::load(path).with_context(|| format!("cannot load the model {}", path.display()))
}
