//! A campaign on a system of the program's own, here a classifier of a few lines:
//!
//!     cargo run --release -p faultlens --example own_target
//!
//! Whatever answers an image can be tested so: a camera pipeline, a model behind a C interface, a
//! program on another machine. Only [`Target::ask`] has to be written.

#![expect(clippy::print_stdout, reason = "the output is what the example shows")]

use anyhow::Result;
use faultlens::analysis::{format, summarise};
use faultlens::data::DataSet;
use faultlens::faults::image::{Brightness, Fault, Fog, GaussianNoise};
use faultlens::world::{SIGN_CLASSES, TEST, TRAIN, signs};
use faultlens::{
    Campaign, Case, Image, Names, Response, Scores, Seed, Target, TargetError, argmax,
};
use std::sync::Arc;

/// Pixels along each side of the grid that signs are compared on.
const SIDE: usize = 8;

/// Finds the class whose mean picture is closest: a nearest-centroid classifier on thumbnails.
struct NearestMean {
    names: Arc<[String]>,
    means: Vec<[f32; SIDE * SIDE * 3]>,
}

impl NearestMean {
    fn train(cases: &[Case]) -> Self {
        let mut means = vec![[0.0; SIDE * SIDE * 3]; SIGN_CLASSES.len()];
        let mut counts = vec![0.0; SIGN_CLASSES.len()];
        for case in cases {
            let Some(class) = case.label else { continue };
            // The running mean, so that no sum has to be kept.
            counts[class] += 1.0;
            for (mean, value) in means[class].iter_mut().zip(thumbnail(&case.image)) {
                *mean += (value - *mean) / counts[class];
            }
        }
        Self { names: SIGN_CLASSES.map(str::to_owned).into(), means }
    }
}

impl Target for NearestMean {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        let seen = thumbnail(image);
        let mut scores = Vec::with_capacity(self.means.len());
        for mean in &self.means {
            let distance: f32 = mean.iter().zip(seen).map(|(a, b)| (a - b) * (a - b)).sum();
            scores.push(-distance);
        }
        Ok(Response::Scores(Scores { scores, names: Names::Listed(self.names.clone()) }))
    }
}

/// One pixel of each cell of a coarse grid. Mean and deviation are taken out, so that a sign at
/// night looks like the same sign by day.
fn thumbnail(image: &Image) -> [f32; SIDE * SIDE * 3] {
    let mut values = [0.0; SIDE * SIDE * 3];
    for (at, value) in values.iter_mut().enumerate() {
        let row = (at / 3 / SIDE * 2 + 1) * image.height() / (2 * SIDE);
        let column = (at / 3 % SIDE * 2 + 1) * image.width() / (2 * SIDE);
        *value = f32::from(image.rgb()[(row * image.width() + column) * 3 + at % 3]);
    }
    let count = values.len() as f32;
    let mean = values.iter().sum::<f32>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f32>() / count;
    values.map(|value| (value - mean) / variance.sqrt().max(1.0))
}

fn main() -> Result<()> {
    // The two children of the seed share no picture.
    let seed = Seed::new(1);
    let target = NearestMean::train(&signs(seed.child(TRAIN), 1400));
    let cases = signs(seed.child(TEST), 300);
    let mut correct = 0;
    for case in &cases {
        if let Response::Scores(answer) = target.ask(&case.image)? {
            correct += usize::from(argmax(answer.scores) == case.label);
        }
    }
    println!("undisturbed, {correct} of {} signs are recognised", cases.len());

    // Every case is shown with every fault in it, and the answer compared with the undisturbed one
    // (the oracle `same_top`, unless another one is set). Records go to the run directory; an
    // interrupted run goes on where it was when it is run again.
    let folder = tempfile::tempdir()?;
    let run = folder.path().join("run");
    let mut campaign = Campaign::builder("nearest mean")
        .target("nearest mean", target)
        .cases(DataSet::new(SIGN_CLASSES.map(str::to_owned).into(), cases))
        .trials(3);
    for severity in [1, 3, 5] {
        campaign = campaign
            .fault_with_dose("brightness", Brightness::severity(severity)?)
            .fault_with_dose("fog", Fog::severity(severity)?)
            .fault_with_dose("gaussian_noise", GaussianNoise::severity(severity)?);
    }
    campaign.run(&run)?;

    // Rates come with intervals, which say how far 300 signs can be trusted.
    let summary = summarise(&run, &["point".to_owned()])?;
    println!("\nhow often the answer changes, with 95% intervals");
    for row in &summary.groupings[0].rows {
        let rate = format::rate(&row.tally.rate);
        println!("{:<25} {rate} of {} trials", row.name(), row.tally.rate.n);
    }
    println!("\nall together: {}", format::rate(&summary.overall.rate));
    Ok(())
}
