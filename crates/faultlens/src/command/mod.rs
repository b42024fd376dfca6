//! One file per command.

pub(crate) mod ask;
pub(crate) mod demo;
pub(crate) mod inspect;
mod score;
pub(crate) mod train;
pub(crate) mod world;

use std::path::Path;

use anyhow::{Context, anyhow};
use bytes::Bytes;
use faultlens::did_you_mean;
use faultlens::engine::{Model, onnx};
use faultlens::world::{MODELS, Shipped};

/// Loads a model, also one of the embedded world by `world:NAME`; every message about it ends with
/// the path.
fn load(path: &Path) -> anyhow::Result<Model> {
    if let Some(name) = path.to_str().and_then(|p| p.strip_prefix("world:")) {
        return Ok(Model::from_proto(&onnx::decode(Bytes::from_static(shipped(name)?.onnx))?)?);
    }
    Model::load(path).with_context(|| format!("cannot load the model {}", path.display()))
}

/// One of the embedded world's models.
fn shipped(name: &str) -> anyhow::Result<&'static Shipped> {
    MODELS.iter().find(|model| model.name == name).ok_or_else(|| {
        let near = did_you_mean(name, MODELS.iter().map(|model| model.name));
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        let hint = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("it has {}", names.join(", ")),
        };
        anyhow!("the embedded world has no model {name}; {hint}")
    })
}

/// All cores, unless the user says otherwise.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Names as data sets hold them.
fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}
