//! How often intervals cover, verdicts are wrong and tests reject, in simulated runs with known truth:
//! the table of docs/populations.md.
#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

mod images;
mod special;

use clap::Parser;
use faultlens_core::{Seed, Stream};
use faultlens_stats::{Clustered, Formula, Level, StatsError, wilson};
use images::Images;

/// Trials of each image.
const TRIALS: u64 = 20;

#[derive(Parser)]
struct Args {
    /// Simulated runs of each cell of the grid
    #[arg(long, default_value_t = 1000)]
    runs: u32,
}

fn run(images: u64, of: Images, stream: &mut Stream) -> Clustered {
    let mut all = Clustered::default();
    for image in 0..images {
        let rate = of.draw(stream);
        for _ in 0..TRIALS {
            all.count(image, stream.chance(rate));
        }
    }
    all
}

/// What is counted of one cell, in shares of the runs.
#[derive(Default)]
struct Cell {
    covered: f64,
    width: f64,
    by_trial: f64,
    wrong: f64,
}

fn cell(images: u64, of: Images, runs: u32, seed: Seed) -> Result<Cell, StatsError> {
    let level = Level::default();
    let mean = of.mean();
    let within = (mean * (1.0 - mean) - of.variance()) / TRIALS as f64;
    let ideal = 1.96 * ((of.variance() + within) / images as f64).sqrt();
    let mut cell = Cell::default();
    let mut stream = seed.stream();
    let each = 1.0 / f64::from(runs);
    for _ in 0..runs {
        let all = run(images, of, &mut stream);
        let estimate = all.estimate(Formula::Wilson, level)?;
        let events = (all.rate().unwrap_or(0.0) * all.n() as f64).round() as u64;
        cell.covered += each * f64::from(u8::from(estimate.contains(mean)));
        cell.width += each * estimate.half_width() / ideal;
        let plain = wilson(events, all.n(), level)?;
        cell.by_trial += each * f64::from(u8::from(plain.contains(mean)));
        cell.wrong += each * f64::from(u8::from(all.upper_bound(level)? < mean));
    }
    Ok(cell)
}

fn main() -> anyhow::Result<()> {
    let runs = Args::parse().runs;
    let seed = Seed::new(1).child("coverage");
    println!(
        "| images | rates of images | covered | width / ideal | covered, trials as the sample | wrongly met |"
    );
    println!("|---:|---|---:|---:|---:|---:|");
    let mut kinds = Vec::new();
    for mean in [0.01, 0.1, 0.5, 0.9, 0.99] {
        for correlation in [0.0, 0.3, 0.9] {
            kinds.push(Images::Beta(mean, correlation));
        }
    }
    kinds.push(Images::Rare(0.05));
    for images in [10, 30, 100, 1000] {
        for &of in &kinds {
            let seed = seed.child(&format!("{images} {}", of.label()));
            let found = cell(images, of, runs, seed)?;
            println!(
                "| {images} | {} | {:.1}% | {:.2} | {:.1}% | {:.1}% |",
                of.label(),
                100.0 * found.covered,
                found.width,
                100.0 * found.by_trial,
                100.0 * found.wrong
            );
        }
    }
    special::permanent_faults(runs, seed)?;
    special::weights(runs, seed)?;
    special::stop_rule(runs, seed)?;
    special::equal_targets(runs, seed)?;
    special::protections(runs, seed)?;
    Ok(())
}
