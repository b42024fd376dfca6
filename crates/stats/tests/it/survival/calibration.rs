//! Calibration beside hazard regression (hare of R's polspline) and the truth; `fixtures/hare` says how
//! the data were made.

use faultlens_stats::Level;
use faultlens_stats::survival::{Lifetimes, Smoothing, calibration, calibration_interval};

const REFERENCE: &str = include_str!("../../fixtures/hare/reference.txt");

/// A model's predictions for simulated rows, and how far off they are.
struct Shape {
    name: &'static str,
    data: Lifetimes,
    chances: Vec<f64>,
    time: f64,
    /// The true ICI, then hare's ICI, E50, E90 and Emax.
    truth: f64,
    hare: [f64; 4],
}

fn shapes() -> Vec<Shape> {
    let mut out = Vec::new();
    for line in REFERENCE.lines() {
        let (name, numbers) = line.split_once(' ').unwrap();
        let numbers: Vec<f64> = numbers.split(' ').map(|n| n.parse().unwrap()).collect();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hare");
        let text = std::fs::read_to_string(format!("{folder}/{name}.csv")).unwrap();
        let mut times = Vec::new();
        let mut observed = Vec::new();
        let mut chances = Vec::new();
        for row in text.lines().skip(1) {
            let row: Vec<f64> = row.split(',').map(|v| v.parse().unwrap()).collect();
            times.push(row[0]);
            observed.push(row[1] == 1.0);
            chances.push(row[2]);
        }
        let data = Lifetimes::new(times, observed).unwrap();
        let hare = [numbers[2], numbers[3], numbers[4], numbers[5]];
        out.push(Shape { name, data, chances, time: numbers[0], truth: numbers[1], hare });
    }
    out
}

#[test]
fn any_shape_of_misfit_is_measured_as_by_hare() {
    for shape in shapes() {
        let Shape { name, data, chances, time, truth, hare } = shape;
        let got = calibration(&data, &chances, time, Smoothing::Flexible).unwrap();
        assert!((got.ici - hare[0]).abs() < 0.01, "{name}: {} {}", got.ici, hare[0]);
        // Which rows were drawn moves either by some 0.007.
        assert!((got.ici - truth).abs() < 0.015, "{name}: {} {truth}", got.ici);
        assert!((got.e50 - hare[1]).abs() < 0.02, "{name}: {} {}", got.e50, hare[1]);
        // lifelines' definition sees nothing of it.
        if name != "linear" {
            let blind = calibration(&data, &chances, time, Smoothing::Spline).unwrap();
            assert!(blind.ici < 0.2 * truth, "{name}: {}", blind.ici);
        }
    }
}

/// Uniform 64-bit numbers (SplitMix64 of Steele et al. 2014).
fn random(mut state: u64) -> impl FnMut() -> u64 {
    move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[test]
fn the_interval_holds_the_truth_and_repeats() {
    for Shape { name, data, chances, time, truth, .. } in shapes() {
        let units: Vec<usize> = (0..data.rows()).collect();
        let level = Level::default();
        let interval =
            || calibration_interval(&data, &chances, time, &units, 100, level, random(7)).unwrap();
        let got = interval();
        assert!(got.ici.0 < got.ici.1 && got.ici.1 - got.ici.0 < 0.06, "{name} {got:?}");
        assert!(got.ici.0 < truth && truth < got.ici.1, "{name}: {truth} {got:?}");
        assert_eq!(got, interval());
    }
}

/// Rows of a Weibull distribution with proportional hazards, of which the predictions are those of the
/// mean risk: each off by what its own risk differs, in truth by the number that comes with them.
fn drawn(
    ln_risk: fn(f64) -> f64,
    predicted: fn(f64) -> f64,
    rows: usize,
    seed: u64,
) -> (Lifetimes, Vec<f64>, f64) {
    let mut random = random(seed);
    let mut uniform = move || (random() >> 11) as f64 / (1_u64 << 53) as f64;
    let mut times = Vec::new();
    let mut observed = Vec::new();
    let mut chances = Vec::new();
    let mut truth = 0.0;
    for _ in 0..rows {
        let x = 4.0 * uniform() - 2.0;
        // H(t) = t^1.5·e^f(x), asked about at t = 1.
        let end = (-(1.0 - uniform()).ln() * (-ln_risk(x)).exp()).powf(1.0 / 1.5);
        let censored = 5.0 * uniform();
        times.push(end.min(censored).max(1e-6));
        observed.push(end <= censored);
        let chance = |ln_hazard: f64| 1.0 - (-ln_hazard.exp()).exp();
        chances.push(chance(predicted(x)));
        truth += (chance(ln_risk(x)) - chance(predicted(x))).abs() / rows as f64;
    }
    (Lifetimes::new(times, observed).unwrap(), chances, truth)
}

type Curve = fn(f64) -> f64;
const SHAPES: [(&str, Curve, Curve); 4] = [
    ("u", |x| 0.5 * x * x - 0.9, |x| 0.02 * x - 0.2),
    ("saturating", |x| 3.0 * (1.0 - (-2.2 * (x + 2.0)).exp()) - 2.8, |x| 0.5 * x - 0.4),
    ("step", |x| if x > 0.7 { 0.8 } else { -0.8 }, |x| 0.5 * x - 0.3),
    ("right", |x| 0.6 * x - 0.3, |x| 0.6 * x - 0.3),
];

#[test]
fn the_mean_over_many_draws_is_the_truth() {
    for (name, ln_risk, predicted) in SHAPES {
        let mut excess = 0.0;
        let draws = 20;
        for seed in 0..draws {
            let (data, chances, truth) = drawn(ln_risk, predicted, 3000, seed);
            let got = calibration(&data, &chances, 1.0, Smoothing::Flexible).unwrap();
            excess += (got.ici - truth) / draws as f64;
        }
        // Where nothing is off, all that is seen is noise, which has no sign.
        assert!(excess.abs() < if name == "right" { 0.015 } else { 0.006 }, "{name}: {excess}");
    }
}

#[test]
#[ignore = "thousands of fits"]
fn the_interval_covers_as_often_as_it_says() {
    // Measured: u and saturating 96 of 100 each with a width of 0.05; ends that are reflected on both
    // sides would cover 90 and 89.
    for (name, ln_risk, predicted) in SHAPES {
        let mut covered = 0;
        let mut width = 0.0;
        for seed in 0..100 {
            let (data, chances, truth) = drawn(ln_risk, predicted, 1000, 1000 + seed);
            let units: Vec<usize> = (0..1000).collect();
            let level = Level::default();
            let got = calibration_interval(&data, &chances, 1.0, &units, 60, level, random(seed))
                .unwrap();
            covered += usize::from(got.ici.0 <= truth && truth <= got.ici.1);
            width += (got.ici.1 - got.ici.0) / 100.0;
        }
        assert!((92..=100).contains(&covered), "{name}: {covered} of 100, width {width:.4}");
    }
}

/// Rows ten times over say no more than once where they are drawn together.
#[test]
fn copies_are_one_unit() {
    let shape = shapes().remove(0);
    let some: Vec<usize> = (0..300).collect();
    let data = shape.data.select(&some).unwrap();
    let chances = &shape.chances[..300];
    let width = |data: &Lifetimes, chances: &[f64], units: &[usize]| {
        let level = Level::default();
        let got =
            calibration_interval(data, chances, shape.time, units, 100, level, random(3)).unwrap();
        got.ici.1 - got.ici.0
    };
    let once = width(&data, chances, &some);
    let often = data.select(&some.repeat(10)).unwrap();
    let together = width(&often, &chances.repeat(10), &some.repeat(10));
    let apart: Vec<usize> = (0..3000).collect();
    let apart = width(&often, &chances.repeat(10), &apart);
    assert!(together > 0.6 * once && apart < 0.6 * once, "{once} {together} {apart}");
}
