//! Times the visual change between two images, single thread, and prints one JSON object:
//! milliseconds by what is computed, the best of several calls, and the values.

use anyhow::Result;
use clap::Parser;
use cpu_time::ThreadTime;
use faultlens_data::read_image;
use faultlens_judge::visual::{Reference, vif_p, vsnr};
use serde_json::json;
use std::hint::black_box;
use std::io::Write;
use std::path::PathBuf;

/// Times the visual change between two images.
#[derive(Parser)]
struct Arguments {
    /// The original.
    original: PathBuf,
    /// What became of it.
    changed: PathBuf,
    /// Calls of each.
    #[arg(long, default_value_t = 20)]
    repeats: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let original = read_image(&arguments.original)?;
    let changed = read_image(&arguments.changed)?;
    let reference = Reference::new(&original)?;
    let best = |call: &dyn Fn()| {
        let time = |_| {
            let start = ThreadTime::now();
            call();
            start.elapsed().as_secs_f64() * 1e3
        };
        (0..arguments.repeats).map(time).fold(f64::INFINITY, f64::min)
    };
    let told = json!({
        "ms": {
            "original prepared": best(&|| drop(black_box(Reference::new(&original)))),
            "visual change": best(&|| drop(black_box(reference.visual_change(&changed)))),
            "vif_p": best(&|| drop(black_box(vif_p(&original, &changed)))),
            "vsnr": best(&|| drop(black_box(vsnr(&original, &changed)))),
        },
        "vif": reference.visual_change(&changed)?.vif,
        "vif_p": vif_p(&original, &changed)?,
    });
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}
