//! Models from files and from the embedded world.

use super::OpenError;
use bytes::Bytes;
use faultlens_core::did_you_mean;
use faultlens_engine::{EngineError, Model, onnx};
use faultlens_world::{MODELS, PREFIX, Shipped};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

/// Loads a model, also one of the embedded world by `world:NAME`.
pub fn load_model(path: &Path) -> Result<Model, OpenError> {
    match embedded(path)? {
        Some(shipped) => {
            let proto =
                onnx::decode(Bytes::from_static(shipped.onnx)).map_err(EngineError::from)?;
            Ok(Model::from_proto(&proto)?)
        }
        None => Model::load(path).map_err(|error| loading(path, error)),
    }
}

/// The SHA-256 of a model's file, in hexadecimal; where its weights lie in other files, of the
/// hashes of all of them.
pub(super) fn fingerprint(path: &Path) -> Result<String, OpenError> {
    if let Some(shipped) = embedded(path)? {
        return Ok(hex(Sha256::digest(shipped.onnx)));
    }
    let bytes = read(path)?;
    let own = hex(Sha256::digest(&bytes));
    let proto = onnx::decode(bytes).map_err(|error| loading(path, error.into()))?;
    let graph = proto.graph.iter();
    let tensors = graph.flat_map(|graph| &graph.initializer);
    let entries = tensors.flat_map(|tensor| &tensor.external_data);
    let others: BTreeSet<&str> =
        entries.filter(|entry| entry.key == "location").map(|entry| entry.value.as_str()).collect();
    if others.is_empty() {
        return Ok(own);
    }
    let mut all = Sha256::new_with_prefix(own);
    for other in others {
        all.update(Sha256::digest(read(&path.with_file_name(other))?));
    }
    Ok(hex(all.finalize()))
}

fn read(path: &Path) -> Result<Bytes, OpenError> {
    let wrong = |error| OpenError::File {
        what: format!("cannot read the model: {error}"),
        path: path.to_path_buf(),
    };
    std::fs::read(path).map(Bytes::from).map_err(wrong)
}

fn hex(hash: impl AsRef<[u8]>) -> String {
    hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn loading(path: &Path, error: EngineError) -> OpenError {
    OpenError::Load { path: path.to_path_buf(), source: error.into() }
}

fn embedded(path: &Path) -> Result<Option<&'static Shipped>, OpenError> {
    path.to_str().and_then(|path| path.strip_prefix(PREFIX)).map(shipped).transpose()
}

/// One of the embedded world's models.
pub fn shipped(name: &str) -> Result<&'static Shipped, OpenError> {
    MODELS.iter().find(|model| model.name == name).ok_or_else(|| {
        let near = did_you_mean(name, MODELS.iter().map(|model| model.name));
        let names: Vec<&str> = MODELS.iter().map(|model| model.name).collect();
        let hint = match near {
            Some(near) => format!("did you mean {near}?"),
            None => format!("it has {}", names.join(", ")),
        };
        OpenError::NotShipped { name: name.to_owned(), hint }
    })
}
