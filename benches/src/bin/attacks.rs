//! Times attacks on the network for digits, single thread, and prints one JSON object: by work,
//! milliseconds of processor time for a sample (the best of several), the share of samples whose
//! answer changed, their mean distances, and the questions for a sample.

#[path = "../../../crates/faults/tests/it/attacks/digits.rs"]
mod digits;

use anyhow::{Context, Result};
use clap::Parser;
use cpu_time::ThreadTime;
use digits::Digits;
use faultlens_core::{ParameterKind, Seed, Setting, Settings, Unset, argmax};
use faultlens_faults::attack::{ATTACKS, Attack, AttackSession, Found, Goal, Norm, Sample};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Times attacks on the network for digits.
#[derive(Parser)]
struct Arguments {
    /// The folder `crates/faults/tests/fixtures/attacks`.
    data: PathBuf,
    /// The works to time, as `label:samples:attack:name=value,…`.
    works: Vec<String>,
    /// Attacks on each work.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
}

/// No attack here ends because of it.
const PLENTY: u64 = 10_000_000;

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let target = Digits::load(&arguments.data.join("digits_cnn.onnx"))?;
    let images = digits::rows_of(&arguments.data.join("images.npy"), 256)?;
    let logits = digits::rows_of(&arguments.data.join("logits.npy"), 10)?;
    let mut told = serde_json::Map::new();
    for work in &arguments.works {
        let mut parts = work.splitn(4, ':');
        let label = parts.next().context("a work without a label")?;
        let count: usize = parts.next().context("a work without samples")?.parse()?;
        let name = parts.next().context("a work without an attack")?;
        let attack = built(name, parts.next().unwrap_or_default())?;
        let mut least = f64::INFINITY;
        let mut found = Vec::new();
        for _ in 0..arguments.repeats {
            let samples = images.iter().zip(&logits).take(count).enumerate();
            let sample = |(at, (image, logits)): (usize, (&Vec<f32>, &Vec<f32>))| {
                let goal = Goal { from: argmax(logits.iter().copied()), towards: None };
                Sample::new(image.clone(), goal, Seed::new(5).at(at as u64).stream(), PLENTY)
            };
            let mut session =
                AttackSession::new(&target, attack.norm(), samples.map(sample).collect());
            let start = ThreadTime::now();
            attack.search(&mut session)?;
            least = least.min(start.elapsed().as_secs_f64() * 1e3 / count as f64);
            found = session.finish();
        }
        told.insert(label.to_owned(), summary(least, &found, &images));
    }
    writeln!(std::io::stdout(), "{}", Value::Object(told))?;
    Ok(())
}

/// An attack with its defaults and what `name=value,…` says.
fn built(name: &str, given: &str) -> Result<Box<dyn Attack>> {
    let plugin = ATTACKS.iter().find(|plugin| plugin.name == name);
    let plugin = plugin.with_context(|| format!("no attack is called {name}"))?;
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    for pair in given.split(',').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').context("settings are name=value")?;
        let parameter = plugin.parameters.iter().find(|parameter| parameter.name == key);
        let parameter = parameter.with_context(|| format!("{name} has no {key}"))?;
        let setting = match parameter.kind {
            ParameterKind::Choice(_) => Setting::Word(value.to_owned().into()),
            _ => Setting::Number(value.parse()?),
        };
        settings.set(parameter.name, setting);
    }
    Ok((plugin.build)(&settings)?)
}

fn summary(milliseconds: f64, found: &[Found], images: &[Vec<f32>]) -> Value {
    let pairs = found.iter().zip(images);
    let changed: Vec<_> = pairs.filter(|(found, _)| found.cost.first.is_some()).collect();
    let mean = |norm: Norm| {
        let distances = changed.iter().map(|(found, image)| norm.distance(&found.point, image));
        distances.sum::<f64>() / changed.len().max(1) as f64
    };
    let queries: u64 = found.iter().map(|found| found.cost.queries).sum();
    json!({
        "ms": milliseconds,
        "reached": changed.len() as f64 / found.len() as f64,
        "l0": mean(Norm::Zero),
        "l2": mean(Norm::Two),
        "linf": mean(Norm::Infinity),
        "queries": queries as f64 / found.len() as f64,
    })
}
