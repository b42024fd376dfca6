//! Times plain forward passes of one model, ours and rten's in turn, and prints one JSON object.

use anyhow::Result;
use clap::Parser;
use faultlens_benches::clock::Timings;
use faultlens_benches::subject;
use faultlens_engine::{Model, onnx};
use rten::{ModelOptions, RunOptions, ThreadPool};
use std::io::Write;
use std::sync::Arc;

/// Times plain forward passes of one model.
#[derive(Parser)]
struct Arguments {
    /// A model of the zoo, or an ONNX file.
    model: String,
    /// Threads for both engines.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Passes of each engine.
    #[arg(long, default_value_t = 20)]
    repeats: usize,
    /// Leave rten out.
    #[arg(long)]
    alone: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let proto = subject::model(&arguments.model)?;
    let model = Model::from_proto(&proto)?.with_threads(arguments.threads)?;
    let (name, tensor) = subject::feed(&model, None)?;
    let feeds = [(name.as_str(), tensor)];
    let peer = if arguments.alone {
        None
    } else {
        ModelOptions::with_all_ops().prepack_weights(true).load(onnx::encode(&proto)).ok()
    };
    let pool = Arc::new(ThreadPool::with_num_threads(arguments.threads));
    let (mut ours, mut rtens) = (Timings::default(), Timings::default());
    model.run(&feeds)?;
    for _ in 0..arguments.repeats {
        ours.time(|| model.run(&feeds))?;
        if let Some(peer) = &peer {
            let input: rten::Value = rten::Value::from_shape(
                feeds[0].1.shape(),
                feeds[0].1.as_f32().unwrap_or_default().to_vec(),
            )?;
            let mut options = RunOptions::default();
            options.thread_pool = Some(pool.clone());
            rtens.time(|| peer.run_one(input.into(), Some(options)))?;
        }
    }
    let mut result = serde_json::json!({ "best_ms": ours.best(), "median_ms": ours.median() });
    if peer.is_some() {
        result["rten_best_ms"] = rtens.best().into();
    }
    writeln!(std::io::stdout(), "{result}")?;
    Ok(())
}
