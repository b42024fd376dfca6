//! Times survival fits on a table of numbers, single thread, and prints one JSON object:
//! milliseconds by model, the best of several fits.

use anyhow::{Context, Result};
use clap::Parser;
use cpu_time::ThreadTime;
use faultlens_stats::survival::{
    Lifetimes, Model, Options, Smoothing, Ties, calibration, concordance,
};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Times survival fits on one table.
#[derive(Parser)]
struct Arguments {
    /// A CSV file of numbers: columns T, E, then covariates.
    table: PathBuf,
    /// Fits of each model.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let data = read(&std::fs::read_to_string(&arguments.table)?)?;
    let mut best = BTreeMap::new();
    for model in Model::all(Ties::Efron) {
        let (took, fit) =
            fastest(arguments.repeats, || Ok(model.fit(&data, &Options::default())?))?;
        best.insert(model.name(), took);
        if model.name() == "weibull" {
            let scores = fit.scores(&data)?;
            let (took, _) = fastest(arguments.repeats, || Ok(concordance(&data, &scores)?))?;
            best.insert("concordance", took);
            let time = data.median_event_time()?;
            let chances = fit.event_chances(&data, time)?;
            let smoothed = || Ok(calibration(&data, &chances, time, Smoothing::Spline)?);
            best.insert("calibration", fastest(arguments.repeats, smoothed)?.0);
        }
    }
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&best)?)?;
    Ok(())
}

fn fastest<T>(repeats: usize, call: impl Fn() -> Result<T>) -> Result<(f64, T)> {
    let mut least = f64::INFINITY;
    let mut last = None;
    for _ in 0..repeats {
        let start = ThreadTime::now();
        last = Some(call()?);
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok((least, last.context("no repeats")?))
}

fn read(text: &str) -> Result<Lifetimes> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().context("no header")?.split(',').collect();
    let mut columns = vec![Vec::new(); names.len()];
    for line in lines {
        for (column, value) in columns.iter_mut().zip(line.split(',')) {
            column.push(value.parse::<f64>()?);
        }
    }
    let mut columns = columns.into_iter();
    let (times, events) = columns.next().zip(columns.next()).context("columns T and E")?;
    let mut data = Lifetimes::new(times, events.iter().map(|e| *e == 1.0).collect())?;
    for (name, values) in names[2..].iter().zip(columns) {
        data = data.covariate(name, values)?;
    }
    Ok(data)
}
