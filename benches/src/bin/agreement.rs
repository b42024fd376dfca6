//! Compares our answers with those that `agreement.py` had ONNX Runtime write down, on identical
//! input tensors: share of equal top-1 answers and largest difference.

use anyhow::{Context, Result};
use faultlens_core::Tensor;
use faultlens_engine::Model;
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Reference {
    model: PathBuf,
    input: Stored,
    outputs: Vec<Stored>,
}

#[derive(Deserialize)]
struct Stored {
    name: String,
    file: PathBuf,
    shape: Vec<usize>,
}

fn main() -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "| model | images | same top-1 | largest difference |\n|---|---|---|---|")?;
    for path in std::env::args().skip(1).map(PathBuf::from) {
        writeln!(out, "{}", row(&path).with_context(|| format!("{}", path.display()))?)?;
    }
    Ok(())
}

fn floats(path: &Path) -> Result<Vec<f32>> {
    let bytes = std::fs::read(path).with_context(|| format!("{}", path.display()))?;
    Ok(bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

fn row(path: &Path) -> Result<String> {
    let reference: Reference = serde_json::from_slice(&std::fs::read(path)?)?;
    let folder = path.parent().context("a reference lies in a folder")?;
    let model = Model::load(&reference.model)?;
    let inputs = floats(&folder.join(&reference.input.file))?;
    let wanted: Vec<Vec<f32>> = reference
        .outputs
        .iter()
        .map(|output| floats(&folder.join(&output.file)))
        .collect::<Result<_>>()?;
    let images = reference.input.shape[0];
    let each: usize = reference.input.shape[1..].iter().product();
    let mut shape = reference.input.shape.clone();
    shape[0] = 1;
    let (mut same, mut largest) = (0, 0.0f32);
    for image in 0..images {
        let data = inputs[image * each..][..each].to_vec();
        let feed = Tensor::new(shape.clone(), data)?;
        let answers = model.run(&[(reference.input.name.as_str(), feed)])?;
        let mut agrees = true;
        for (output, wanted) in reference.outputs.iter().zip(&wanted) {
            let at = model.graph().outputs().iter();
            let at = at.map(|&id| model.graph().value_name(id)).position(|n| n == output.name);
            let got = &answers[at.context("an output is missing")?];
            let length = got.len();
            let (got, want) =
                (got.as_f32().context("floats are compared")?, &wanted[image * length..][..length]);
            let differences = got.iter().zip(want).map(|(a, b)| (a - b).abs());
            largest = differences.fold(largest, f32::max);
            agrees &= top(got) == top(want);
        }
        same += usize::from(agrees);
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    Ok(format!("| {name} | {images} | {same} | {largest:.2e} |"))
}

fn top(scores: &[f32]) -> Option<usize> {
    (0..scores.len()).max_by(|&a, &b| scores[a].total_cmp(&scores[b]).then(b.cmp(&a)))
}
