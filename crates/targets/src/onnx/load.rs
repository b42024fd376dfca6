//! Models from files and from the embedded world.

use super::error::OpenError;
use crate::hex::hex;
use bytes::Bytes;
use faultlens_core::did_you_mean;
use faultlens_engine::{EngineError, Model, onnx};
use faultlens_world::{EmbeddedModel, MODELS, PREFIX};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// Loads a model: a file, or one of the embedded world by `world:NAME`.
pub fn load_model(path: &Path) -> Result<Model, OpenError> {
    match embedded(path)? {
        Some(model) => {
            let bytes = Bytes::from_static(model.onnx);
            let proto = onnx::decode(bytes).map_err(EngineError::from)?;
            Ok(Model::from_proto(&proto)?)
        }
        None => Model::load(path).map_err(|error| load_error(path, error)),
    }
}

/// The SHA-256 of a model's file, in hexadecimal. Where weights are in external files, their hashes
/// are hashed along, in the order of their names.
pub(super) fn fingerprint(path: &Path) -> Result<String, OpenError> {
    if let Some(model) = embedded(path)? {
        return Ok(hex(&Sha256::digest(model.onnx)));
    }
    let bytes = read(path)?;
    let own = hex(&Sha256::digest(&bytes));
    let proto = onnx::decode(bytes).map_err(|error| load_error(path, error.into()))?;
    let mut external: BTreeSet<&str> = BTreeSet::new();
    for tensor in proto.graph.iter().flat_map(|graph| &graph.initializer) {
        for entry in &tensor.external_data {
            if entry.key == "location" {
                external.insert(entry.value.as_str());
            }
        }
    }
    if external.is_empty() {
        return Ok(own);
    }
    let mut all = Sha256::new_with_prefix(own);
    for file in external {
        all.update(Sha256::digest(read(&path.with_file_name(file))?));
    }
    Ok(hex(&all.finalize()))
}

fn read(path: &Path) -> Result<Bytes, OpenError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(Bytes::from(bytes)),
        Err(error) => Err(OpenError::File {
            what: format!("cannot read the model: {error}"),
            path: path.to_path_buf(),
        }),
    }
}

fn load_error(path: &Path, error: EngineError) -> OpenError {
    OpenError::Load { path: path.to_path_buf(), source: error.into() }
}

fn embedded(path: &Path) -> Result<Option<&'static EmbeddedModel>, OpenError> {
    path.to_str().and_then(|path| path.strip_prefix(PREFIX)).map(embedded_model).transpose()
}

/// The model of the embedded world with this name.
pub fn embedded_model(name: &str) -> Result<&'static EmbeddedModel, OpenError> {
    if let Some(model) = MODELS.iter().find(|model| model.name == name) {
        return Ok(model);
    }
    let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
    let hint = match did_you_mean(name, names.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("it has {}", names.join(", ")),
    };
    Err(OpenError::NotEmbedded { name: name.to_owned(), hint })
}
