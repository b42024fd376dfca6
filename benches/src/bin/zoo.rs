//! Writes the zoo's models as ONNX files, for the peers to run.

use anyhow::{Context, Result};
use faultlens_benches::zoo::ZOO;
use faultlens_engine::onnx;
use std::path::PathBuf;

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("usage: zoo FOLDER")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (name, build) in ZOO {
        onnx::write(&build(1), &folder.join(format!("{name}.onnx")))?;
    }
    Ok(())
}
