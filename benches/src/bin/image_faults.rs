//! Times image faults on one photo, single thread, and prints one JSON object: milliseconds by
//! fault, the best of several calls.

use anyhow::{Context, Result, bail};
use clap::Parser;
use cpu_time::ThreadTime;
use faultlens_core::Seed;
use faultlens_data::read_image;
use faultlens_faults::IMAGE_FAULTS;
use faultlens_spec::{Disturbance, FaultPoint};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

/// Times image faults on one photo.
#[derive(Parser)]
struct Arguments {
    /// The photo.
    photo: PathBuf,
    /// Only these faults; all without.
    #[arg(long)]
    fault: Vec<String>,
    /// The severity of faults that have one.
    #[arg(long, default_value_t = 3)]
    severity: u8,
    /// Calls of each.
    #[arg(long, default_value_t = 15)]
    repeats: u64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let photo = read_image(&arguments.photo)?;
    let mut best = BTreeMap::new();
    let wanted =
        |name: &str| arguments.fault.is_empty() || arguments.fault.iter().any(|n| n == name);
    for plugin in IMAGE_FAULTS.iter().filter(|plugin| wanted(plugin.name)) {
        let graded = plugin.parameters.iter().any(|parameter| parameter.name == "severity");
        let severity = graded.then(|| ("severity".to_owned(), arguments.severity.into()));
        let point = FaultPoint::new(plugin.name, &severity.into_iter().collect());
        let point = point.map_err(anyhow::Error::msg).context(plugin.name)?;
        let Disturbance::Image(fault) = point.disturbance else { bail!("no image fault") };
        let mut fastest = f64::INFINITY;
        for seed in 0..arguments.repeats {
            let start = ThreadTime::now();
            std::hint::black_box(fault.change(&photo, &mut Seed::new(seed).stream()));
            fastest = fastest.min(start.elapsed().as_secs_f64() * 1e3);
        }
        best.insert(plugin.name, fastest);
    }
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&best)?)?;
    Ok(())
}
