//! Times a training step, or a forward pass with the gradient of its input, and prints one JSON
//! object with the time and the most memory that the process held.

use anyhow::{Context, Result, bail};
use clap::Parser;
use faultlens_benches::clock::Timings;
use faultlens_core::{Seed, Tensor};
use faultlens_engine::{EngineError, Learner, Loss, Model};
use faultlens_train::architecture::{Spec, build};
use faultlens_train::{Descent, optimiser};
use std::io::Write;

/// Times a training step, or a forward pass with the gradient of its input.
#[derive(Parser)]
struct Arguments {
    /// `training` or `input`.
    work: String,
    /// An architecture that `faultlens train` knows.
    #[arg(long, default_value = "resnet18")]
    architecture: String,
    /// Pixels along each side.
    #[arg(long, default_value_t = 32)]
    side: usize,
    /// Images per step.
    #[arg(long, default_value_t = 16)]
    batch: usize,
    /// Threads.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Steps to time.
    #[arg(long, default_value_t = 10)]
    repeats: usize,
}

const CLASSES: usize = 10;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let side = arguments.side;
    let proto = build(&arguments.architecture, &Spec::new([3, side, side], CLASSES), Seed::new(1))?;
    let shape = vec![arguments.batch, 3, side, side];
    let mut stream = Seed::new(2).stream();
    let pixels: Vec<f32> = (0..shape.iter().product()).map(|_| stream.gaussian() as f32).collect();
    let images = Tensor::new(shape, pixels)?;
    let timings = match arguments.work.as_str() {
        "training" => training(&arguments, &proto, &images)?,
        "input" => input(&arguments, &proto, &images)?,
        other => bail!("no work is called {other}; training and input are"),
    };
    let result = serde_json::json!({
        "best_ms": timings.best(),
        "median_ms": timings.median(),
        "peak_mb": peak_megabytes()?,
    });
    writeln!(std::io::stdout(), "{result}")?;
    Ok(())
}

/// Softmax minus the class, for the class 0 of every image.
fn cross_entropy(logits: &Tensor) -> Result<Loss, EngineError> {
    let scores = logits.as_f32().unwrap_or_default();
    let mut value = 0.0;
    let mut gradient = Vec::with_capacity(scores.len());
    let images = (scores.len() / CLASSES) as f32;
    for row in scores.chunks_exact(CLASSES) {
        let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = row.iter().map(|x| (x - highest).exp()).sum();
        value += f64::from(sum.ln() + highest - row[0]);
        let own = |(class, x): (usize, &f32)| {
            ((x - highest).exp() / sum - if class == 0 { 1.0 } else { 0.0 }) / images
        };
        gradient.extend(row.iter().enumerate().map(own));
    }
    let gradients = Tensor::new(logits.shape().to_vec(), gradient).into_iter();
    Ok(Loss { value, gradients: gradients.map(|g| ("logits".to_owned(), g)).collect() })
}

fn training(
    arguments: &Arguments,
    proto: &faultlens_engine::onnx::ModelProto,
    images: &Tensor,
) -> Result<Timings> {
    let mut learner = Learner::new(proto, arguments.threads)?;
    let sgd = optimiser("sgd")?;
    let mut sgd = Descent::new(sgd, sgd.usual(), None);
    let feeds = [("image", images.clone())];
    let mut timings = Timings::default();
    let mut step = |timings: &mut Timings| {
        timings.time(|| -> Result<f64, EngineError> {
            let loss =
                learner.step(&feeds, 0, |answers| cross_entropy(&answers.value("logits")?))?;
            sgd.step(&mut learner, 1e-3);
            Ok(loss)
        })
    };
    for _ in 0..3 {
        step(&mut Timings::default())?;
    }
    for _ in 0..arguments.repeats {
        step(&mut timings)?;
    }
    Ok(timings)
}

fn input(
    arguments: &Arguments,
    proto: &faultlens_engine::onnx::ModelProto,
    images: &Tensor,
) -> Result<Timings> {
    let model = Model::from_proto(proto)?.with_threads(arguments.threads)?;
    let (image, logits) = (model.graph().inputs()[0], model.graph().outputs()[0]);
    let feeds = [("image", images.clone())];
    let mut timings = Timings::default();
    let pass = || -> Result<Vec<Tensor>, EngineError> {
        let golden = model.golden(&feeds)?;
        let loss = cross_entropy(&golden.outputs()[0])?;
        let seeds: Vec<_> = loss.gradients.into_iter().map(|(_, g)| (logits, g)).collect();
        golden.gradients(&seeds, &[image])
    };
    for _ in 0..3 {
        pass()?;
    }
    for _ in 0..arguments.repeats {
        timings.time(pass)?;
    }
    Ok(timings)
}

/// The most memory that this process has held, as Linux counts it.
fn peak_megabytes() -> Result<f64> {
    let status = std::fs::read_to_string("/proc/self/status").context("no /proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|l| l.trim().split(' ').next()?.parse::<f64>().ok());
    Ok(kilobytes.context("no VmHWM in /proc/self/status")? / 1024.0)
}
