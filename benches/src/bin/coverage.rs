//! How often intervals cover, verdicts are wrong and tests reject, in simulated runs with known truth:
//! the table of docs/populations.md.
#![expect(clippy::print_stdout, reason = "the table is what the benchmark is for")]

use clap::Parser;
use faultlens_core::{Seed, Stream};
use faultlens_stats::{
    Clustered, Crossed, Formula, Level, StatsError, clustered_difference, clustered_test, wilson,
};

/// Trials of each image.
const TRIALS: u64 = 20;

#[derive(Parser)]
struct Args {
    /// Simulated runs of each cell of the grid
    #[arg(long, default_value_t = 1000)]
    runs: u32,
}

/// How the rates of images are distributed.
#[derive(Clone, Copy)]
enum Images {
    /// A beta distribution with this mean and this correlation of trials of one image.
    Beta(f64, f64),
    /// This share of images fails always, the others once in a hundred trials.
    Rare(f64),
}

impl Images {
    fn mean(self) -> f64 {
        match self {
            Self::Beta(mean, _) => mean,
            Self::Rare(share) => share + (1.0 - share) * 0.01,
        }
    }

    fn variance(self) -> f64 {
        let mean = self.mean();
        match self {
            Self::Beta(_, correlation) => mean * (1.0 - mean) * correlation,
            Self::Rare(share) => share * (1.0 - share) * 0.99 * 0.99,
        }
    }

    fn draw(self, stream: &mut Stream) -> f64 {
        match self {
            Self::Beta(mean, 0.0) => mean,
            Self::Beta(mean, correlation) => {
                let size = 1.0 / correlation - 1.0;
                let a = gamma(mean * size, stream);
                let b = gamma((1.0 - mean) * size, stream);
                if a + b > 0.0 { a / (a + b) } else { f64::from(u8::from(stream.chance(mean))) }
            }
            Self::Rare(share) => {
                if stream.chance(share) {
                    1.0
                } else {
                    0.01
                }
            }
        }
    }

    fn label(self) -> String {
        match self {
            Self::Beta(mean, correlation) => format!("rate {mean}, correlation {correlation}"),
            Self::Rare(share) => format!("{}% of images always fail", 100.0 * share),
        }
    }
}

/// A gamma variable (Marsaglia and Tsang 2000).
fn gamma(shape: f64, stream: &mut Stream) -> f64 {
    if shape < 1.0 {
        let boost = stream.uniform().max(1e-300).powf(1.0 / shape);
        return boost * gamma(shape + 1.0, stream);
    }
    let d = shape - 1.0 / 3.0;
    loop {
        let x = stream.gaussian();
        let v = (1.0 + x / (9.0 * d).sqrt()).powi(3);
        if v > 0.0 && stream.uniform().ln() < x * x / 2.0 + d - d * v + d * v.ln() {
            return d * v;
        }
    }
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

/// How often permanent faults, of which 2% break nine answers in ten, are covered.
fn permanent(faults: u64, runs: u32, seed: Seed) -> Result<(f64, f64), StatsError> {
    let truth = 0.02 * 0.9 + 0.98 * 0.01;
    let mut stream = seed.stream();
    let mut covered = 0.0;
    let mut wrong = 0.0;
    for _ in 0..runs {
        let mut all = Crossed::default();
        for fault in 0..faults {
            let rate = if stream.chance(0.02) { 0.9 } else { 0.01 };
            for image in 0..60 {
                all.add(image, Some(fault), 1.0, stream.chance(rate))?;
            }
        }
        let estimate = all.estimate(Formula::Wilson, Level::default())?;
        covered += f64::from(u8::from(estimate.contains(truth)));
        wrong += f64::from(u8::from(all.upper_bound(Level::default())? < truth));
    }
    Ok((covered / f64::from(runs), wrong / f64::from(runs)))
}

/// How often two equal targets on the same images differ at 5%, and their difference is covered.
fn pairs(images: u64, runs: u32, seed: Seed) -> Result<(f64, f64), StatsError> {
    let mut stream = seed.stream();
    let mut rejected = 0.0;
    let mut covered = 0.0;
    for _ in 0..runs {
        let of = Images::Beta(0.3, 0.3);
        let a = run(images, of, &mut stream);
        let b = run(images, of, &mut stream);
        covered +=
            f64::from(u8::from(clustered_difference(&a, &b, Level::default())?.contains(0.0)));
        let p = clustered_test(&a, &b, || stream.next_u64());
        rejected += f64::from(u8::from(p < 0.05));
    }
    Ok((rejected / f64::from(runs), covered / f64::from(runs)))
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
    println!("\n| permanent faults (60 images) | covered | wrongly met |\n|---:|---:|---:|");
    for faults in [5, 20, 100, 300] {
        let (covered, wrong) = permanent(faults, runs, seed.child("permanent").at(faults))?;
        println!("| {faults} | {:.1}% | {:.1}% |", 100.0 * covered, 100.0 * wrong);
    }
    println!(
        "\n| images (two equal targets) | differ at 5% | difference covered |\n|---:|---:|---:|"
    );
    for images in [10, 30, 100, 1000] {
        let (rejected, covered) = pairs(images, runs, seed.child("pairs").at(images))?;
        println!("| {images} | {:.1}% | {:.1}% |", 100.0 * rejected, 100.0 * covered);
    }
    Ok(())
}
