//! Feeds hostile input to everything that Faultlens reads, on a stable compiler: each target in
//! processes of its own, with a limit on time and memory for each input.

mod limit;
mod minimise;
mod report;
mod supervise;
mod worker;

use anyhow::{Context as _, Result, bail};
use clap::{Parser, Subcommand};
use faultlens_fuzz::{FuzzTarget, TARGETS, find};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Feeds hostile input to everything that Faultlens reads.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes inputs until the time is over; exit code 1 if any of them did harm.
    Run {
        /// Targets; all of them unless given.
        targets: Vec<String>,
        /// Seconds in all, shared out between the targets.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Inputs of each target at most.
        #[arg(long, default_value_t = u64::MAX)]
        inputs: u64,
        /// Which inputs are made.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The number of the first input.
        #[arg(long, default_value_t = 0)]
        from: u64,
        /// Processes at a time.
        #[arg(long, default_value_t = 2)]
        jobs: u64,
        /// Seconds that one input may take.
        #[arg(long, default_value_t = 10)]
        timeout: u64,
        /// Where inputs that did harm are kept.
        #[arg(long, default_value = "fuzz/failures")]
        failures: PathBuf,
    },
    /// Runs one input again.
    Replay {
        /// The target.
        target: String,
        /// The input.
        file: PathBuf,
    },
    /// Makes an input on which a target panics as small as it goes, in place.
    Minimise {
        /// The target.
        target: String,
        /// The input.
        file: PathBuf,
    },
    /// Works for `run`, and tells it what happens.
    #[command(hide = true)]
    Worker { target: String, seed: u64, from: u64, step: u64, until: u64 },
}

fn main() -> Result<ExitCode> {
    match Arguments::parse().command {
        Command::Run { targets, seconds, inputs, seed, from, jobs, timeout, failures } => {
            let targets = match targets.as_slice() {
                [] => TARGETS.iter().collect(),
                names => names.iter().map(|name| named(name)).collect::<Result<Vec<_>>>()?,
            };
            let plan = supervise::Plan {
                seed,
                from,
                inputs,
                jobs: jobs.max(1),
                time: Duration::from_secs(seconds) / targets.len() as u32,
                timeout: Duration::from_secs(timeout),
                failures,
            };
            let clean = report::run(&targets, &plan)?;
            Ok(if clean { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Command::Replay { target, file } => {
            let bytes = std::fs::read(&file).with_context(|| format!("{}", file.display()))?;
            (named(&target)?.run)(&bytes);
            Ok(ExitCode::SUCCESS)
        }
        Command::Minimise { target, file } => {
            minimise::minimise(named(&target)?, &file)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Worker { target, seed, from, step, until } => {
            worker::work(named(&target)?, seed, from, step, until)?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn named(name: &str) -> Result<&'static FuzzTarget> {
    let Some(target) = find(name) else {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        bail!("no target is called {name}; there are {}", names.join(", "));
    };
    Ok(target)
}
