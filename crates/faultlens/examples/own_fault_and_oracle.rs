//! A fault and an oracle of the program's own, on the embedded network that steers:
//!
//!     cargo run --release -p faultlens --example own_fault_and_oracle

#![expect(clippy::print_stdout, reason = "the output is what the example shows")]

use anyhow::Result;
use faultlens::analysis::{format, summarise};
use faultlens::data::DataSet;
use faultlens::targets::{OnnxTarget, PartialDescription};
use faultlens::world::{TEST, scenes};
use faultlens::{
    Campaign, Case, Comparison, Dose, Image, ImageFault, Measurement, Oracle, Outcome, Reason,
    Response, Seed, Stream,
};
use std::path::Path;

/// The low sun in the picture: a bright disc above the horizon, and glare around it.
struct LowSun {
    /// The radius of the glare, as a share of the image's width.
    glare: f64,
}

impl ImageFault for LowSun {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        // All random numbers come from the stream: they depend on the trial alone, so that it can
        // be run again, whatever ran before it and on whichever thread.
        let width = image.width() as f64;
        let sun_x = stream.between(0.1, 0.9) * width;
        let sun_y = stream.between(0.2, 0.4) * image.height() as f64;
        let radius = self.glare * width;
        let mut changed = image.clone();
        for (at, pixel) in changed.rgb_mut().chunks_exact_mut(3).enumerate() {
            let dx = (at % image.width()) as f64 - sun_x;
            let dy = (at / image.width()) as f64 - sun_y;
            // Light falls off with the square of the distance, and saturates in the disc itself.
            let light = 255.0 / (1.0 + 12.0 * (dx * dx + dy * dy) / (radius * radius));
            for channel in pixel {
                *channel = (f64::from(*channel) + light).min(255.0) as u8;
            }
        }
        changed
    }

    /// Strengths on a named axis; a report draws failure rates along it.
    fn dose(&self) -> Dose {
        Dose { axis: "glare", amount: self.glare }
    }
}

/// The steering may be off by a tolerance, and by half of it where that steers to the other side.
struct SteersAlike {
    tolerance: f32,
}

impl SteersAlike {
    /// Both angles; `None` where an answer is no number.
    fn angles(comparison: &Comparison<'_>) -> Option<[f32; 2]> {
        match (comparison.golden, comparison.observed) {
            (Response::Values(golden), Response::Values(observed)) => {
                Some([*golden.first()?, *observed.first()?])
            }
            _ => None,
        }
    }
}

impl Oracle for SteersAlike {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        // An oracle never guesses: what it cannot judge is skipped, and in no rate.
        let Some([golden, observed]) = Self::angles(comparison) else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        let other_side = golden * observed < 0.0;
        let tolerance = if other_side { self.tolerance / 2.0 } else { self.tolerance };
        if (golden - observed).abs() > tolerance { Outcome::Changed } else { Outcome::Unchanged }
    }

    /// Kept with each record, so that other tolerances can be tried without running again.
    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let [golden, observed] = Self::angles(comparison)?;
        Some(Measurement { name: "deviation", value: f64::from((golden - observed).abs()) })
    }
}

fn main() -> Result<()> {
    let model = Path::new("world:steering");
    let scenes = scenes(Seed::new(1).child(TEST), 50);
    let cases: Vec<Case> = scenes.into_iter().map(|scene| scene.case).collect();
    let folder = tempfile::tempdir()?;
    let run = folder.path().join("run");

    let mut campaign = Campaign::builder("low sun")
        .target("steering", OnnxTarget::open(model, PartialDescription::default())?)
        .cases(DataSet::new(Vec::new(), cases))
        .own_oracle("steers alike", SteersAlike { tolerance: 0.2 })
        // The sun stands elsewhere in every trial of a case.
        .trials(5);
    for glare in [0.1, 0.2, 0.4, 0.8] {
        campaign = campaign.fault_with_dose("low_sun", LowSun { glare });
    }
    campaign.run(&run)?;

    let summary = summarise(&run, &["point".to_owned()])?;
    println!("a steering angle goes from -1 (left) to 1 (right)");
    for row in &summary.groupings[0].rows {
        let rate = format::rate(&row.tally.rate);
        println!("{:<17} {rate} of {} trials steer elsewhere", row.name(), row.tally.rate.n);
    }
    Ok(())
}
