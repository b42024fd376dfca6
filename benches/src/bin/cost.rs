//! What one injected inference costs, as a fraction of a plain one in the same run, one thread.
//!
//! Sites are uniform over operator outputs (or over weights), elements uniform inside the site,
//! one random bit of 32.

use anyhow::{Context, Result};
use clap::Parser;
use faultlens_benches::clock::Timings;
use faultlens_benches::subject;
use faultlens_core::{DType, Tensor};
use faultlens_engine::{Change, Golden, Model, ValueId};
use std::io::Write;
use std::path::PathBuf;

/// Measures the cost of injected inferences.
#[derive(Parser)]
struct Arguments {
    /// Models of the zoo, or ONNX files.
    #[arg(required = true)]
    models: Vec<String>,
    /// Raw little-endian f32 values whose first image is asked.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Trials of each kind.
    #[arg(long, default_value_t = 512)]
    trials: usize,
    /// Trials that run together.
    #[arg(long, default_value_t = 32)]
    stack: usize,
    /// Rounds; the best counts.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let mut out = std::io::stdout();
    writeln!(out, "| model | plain ms | operator outputs | masked | weights | masked |")?;
    writeln!(out, "|---|---|---|---|---|---|")?;
    for name in &arguments.models {
        writeln!(out, "{}", row(name, &arguments)?)?;
    }
    Ok(())
}

fn row(name: &str, arguments: &Arguments) -> Result<String> {
    let model = Model::from_proto(&subject::model(name)?)?;
    let (input, tensor) = subject::feed(&model, arguments.input.as_deref())?;
    let feeds = [(input.as_str(), tensor)];
    let golden = model.golden(&feeds)?;
    let outputs = operator_trials(&golden, arguments.trials)?;
    let weights = weight_trials(&golden, arguments.trials / 4)?;
    let mut plain = Timings::default();
    let (mut by_output, mut by_weight) = (Measure::default(), Measure::default());
    for _ in 0..arguments.rounds {
        for _ in 0..5 {
            plain.time(|| model.run(&feeds))?;
        }
        by_output.round(&golden, &outputs, arguments.stack)?;
        by_weight.round(&golden, &weights, arguments.stack)?;
    }
    let best = plain.best();
    let name = name.rsplit('/').next().unwrap_or(name);
    Ok(format!(
        "| {name} | {best:.2} | {:.3} | {:.0}% | {:.3} | {:.0}% |",
        by_output.timings.best() / outputs.len() as f64 / best,
        by_output.masked,
        by_weight.timings.best() / weights.len() as f64 / best,
        by_weight.masked,
    ))
}

#[derive(Default)]
struct Measure {
    timings: Timings,
    masked: f64,
}

impl Measure {
    fn round(&mut self, golden: &Golden<'_>, trials: &[Vec<Change>], stack: usize) -> Result<()> {
        let replays = self
            .timings
            .time(|| trials.chunks(stack).flat_map(|c| golden.replay_stack(c)).collect::<Vec<_>>());
        let replays = replays.into_iter().collect::<Result<Vec<_>, _>>()?;
        let masked = replays.iter().filter(|r| !r.reached_output()).count();
        self.masked = 100.0 * masked as f64 / trials.len() as f64;
        Ok(())
    }
}

/// SplitMix64, so that every run measures the same trials.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

fn operator_trials(golden: &Golden<'_>, trials: usize) -> Result<Vec<Vec<Change>>> {
    let graph = golden.model().graph();
    let is_float = |v: &ValueId| golden.dtype(*v) == Some(DType::F32);
    let depends = |v: &ValueId| !golden.is_constant(*v);
    let sites: Vec<ValueId> = graph
        .operators()
        .iter()
        .filter_map(|operator| operator.makes().next())
        .filter(|v| is_float(v) && depends(v))
        .collect();
    let mut rng = Rng(7);
    let trial = |_| {
        let site = sites[rng.below(sites.len())];
        let count: usize = golden.shape(site).context("no shape")?.iter().product();
        let change = Change::flip(golden, site, rng.below(count), rng.below(32) as u32)?;
        Ok(vec![change])
    };
    (0..trials).map(trial).collect()
}

fn weight_trials(golden: &Golden<'_>, trials: usize) -> Result<Vec<Vec<Change>>> {
    let graph = golden.model().graph();
    let weights: Vec<(ValueId, &Tensor)> =
        graph.initializers().filter(|(_, t)| t.dtype() == DType::F32 && t.len() > 1).collect();
    let mut rng = Rng(8);
    let trial = |_| {
        let (site, tensor) = weights[rng.below(weights.len())];
        let change = Change::flip(golden, site, rng.below(tensor.len()), rng.below(32) as u32)?;
        Ok(vec![change])
    };
    (0..trials).map(trial).collect()
}
