//! Statistics of an image with random faults, against those of the reference over many seeds.

use super::{changed, fixture, load};
use faultlens_core::Image;
use serde_json::Value;

/// What is compared: a name in the reference file and a number.
type Statistics = Vec<(String, f64)>;

fn moments(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    let variance = values.map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// Linear between the two nearest, as numpy does it.
fn percentile(sorted: &[u8], percent: f64) -> f64 {
    let at = percent / 100.0 * (sorted.len() - 1) as f64;
    let below = f64::from(sorted[at as usize]);
    let above = f64::from(sorted[at.ceil() as usize]);
    below + (above - below) * at.fract()
}

fn statistics(before: &Image, after: &Image) -> Statistics {
    let mut all = Statistics::new();
    for channel in 0..3 {
        let values = after.rgb().iter().skip(channel).step_by(3).map(|&value| f64::from(value));
        let (mean, deviation) = moments(values);
        all.push((format!("mean/{channel}"), mean));
        all.push((format!("std/{channel}"), deviation));
    }
    let pairs = before.rgb().iter().zip(after.rgb());
    let differences = pairs.map(|(&a, &b)| f64::from(a) - f64::from(b));
    all.push(("mse".to_owned(), moments(differences.clone().map(|d| d * d)).0));
    all.push(("mae".to_owned(), moments(differences.map(f64::abs)).0));
    let mut sorted = after.rgb().to_vec();
    sorted.sort_unstable();
    for percent in [5, 50, 95] {
        all.push((format!("p{percent:02}"), percentile(&sorted, f64::from(percent))));
    }
    all
}

/// A number of the reference: `mean/2` is the third of `mean`.
fn looked_up(reference: &Value, name: &str, suffix: &str) -> f64 {
    match name.split_once('/') {
        Some((name, channel)) => reference[format!("{name}{suffix}")]
            [channel.parse::<usize>().unwrap()]
        .as_f64()
        .unwrap(),
        None => reference[format!("{name}{suffix}")].as_f64().unwrap(),
    }
}

/// Holds the mean over some seeds against that of the reference: within three deviations of a
/// single image and so many levels, and half a level more for percentiles, which are whole numbers
/// and often do not vary at all.
pub(super) fn check(name: &str, seeds: u64, slack: f64) {
    let text = std::fs::read_to_string(fixture("random_faults.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let photo = load("input.png");
    for severity in 1..=5 {
        let reference = &all[format!("{name}_{severity}")];
        let runs: Vec<Statistics> =
            (0..seeds).map(|seed| statistics(&photo, &changed(name, severity, seed))).collect();
        for (at, (statistic, _)) in runs[0].iter().enumerate() {
            let got = runs.iter().map(|run| run[at].1).sum::<f64>() / seeds as f64;
            let wanted = looked_up(reference, statistic, "");
            let half = if statistic.starts_with('p') { 0.5 } else { 0.0 };
            let allowed = 3.0 * looked_up(reference, statistic, "_sd") + half + slack;
            assert!(
                (got - wanted).abs() <= allowed,
                "{name} {severity}, {statistic}: {got}, not {wanted} ± {allowed}"
            );
        }
    }
}
