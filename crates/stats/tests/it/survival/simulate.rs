//! Data drawn from known models: the truth comes back, and intervals cover it as often as they say.

use faultlens_stats::Level;
use faultlens_stats::survival::{Lifetimes, Options, Ties, cox, family, fit};

/// Splitmix64, so that every run draws the same.
pub(crate) struct Rng(pub(crate) u64);

impl Rng {
    /// A uniform number strictly between 0 and 1.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / 9_007_199_254_740_992.0 + 5e-17
    }

    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// ln T of a model at its parameters.
    fn ln_time(&mut self, model: &str, theta: &[f64]) -> f64 {
        let rest = match model {
            "exponential" => self.exponential().ln(),
            "weibull" => self.exponential().ln() / theta[1].exp(),
            "lognormal" => self.normal() * theta[1].exp(),
            "loglogistic" => {
                let u = self.uniform();
                (u / (1.0 - u)).ln() / theta[1].exp()
            }
            // λ = ½ is a gamma variable of shape 4: the sum of four exponentials.
            _ => {
                let gamma: f64 = (0..4).map(|_| self.exponential()).sum();
                theta[1].exp() * (gamma / 4.0).ln() / 0.5
            }
        };
        theta[0] + rest
    }
}

/// The truth: intercept and slopes of the location, intercept (and slope) of the scale, λ.
const LOCATION: [f64; 3] = [1.0, 0.5, -0.4];
const SCALE: [f64; 2] = [0.3, 0.25];

/// Rows with one continuous and one binary covariate, about a third of them censored.
pub(crate) fn draw(model: &str, rows: usize, ancillary: bool, rng: &mut Rng) -> Lifetimes {
    let mut times = Vec::new();
    let mut observed = Vec::new();
    let mut a = Vec::new();
    let mut b = Vec::new();
    for _ in 0..rows {
        let x = [rng.normal(), f64::from(rng.uniform() < 0.5)];
        let location = LOCATION[0] + LOCATION[1] * x[0] + LOCATION[2] * x[1];
        let scale = SCALE[0] + if ancillary { SCALE[1] * x[1] } else { 0.0 };
        let time = rng.ln_time(model, &[location, scale]).exp();
        let end = 12.0 * rng.uniform();
        times.push(time.min(end));
        observed.push(time <= end);
        a.push(x[0]);
        b.push(x[1]);
    }
    let data = Lifetimes::new(times, observed).unwrap();
    data.covariate("a", a).unwrap().covariate("b", b).unwrap()
}

/// The share of intervals that cover each coefficient, and its mean estimate.
fn coverage(model: &str, ancillary: bool, runs: usize, rows: usize) -> Vec<(f64, f64, f64)> {
    let mut truth = LOCATION.to_vec();
    let mut options = Options::default();
    if model != "exponential" {
        truth.push(SCALE[0]);
        if ancillary {
            truth.push(SCALE[1]);
            let name = family(model).unwrap().parameters()[1];
            options = options.with_ancillary(name, &["b"]);
        }
    }
    if model == "gengamma" {
        truth.push(0.5);
    }
    let mut found = vec![(0.0, 0.0, 0.0); truth.len()];
    let mut rng = Rng(20_240_611);
    for _ in 0..runs {
        let data = draw(model, rows, ancillary, &mut rng);
        let table = fit(family(model).unwrap(), &data, &options).unwrap();
        let table = table.coefficients(Level::default());
        assert_eq!(table.len(), truth.len());
        for ((sum, line), want) in found.iter_mut().zip(&table).zip(&truth) {
            sum.0 += f64::from(line.low <= *want && *want <= line.high) / runs as f64;
            sum.1 += (line.estimate - want) / runs as f64;
            sum.2 = *want;
        }
    }
    found
}

#[expect(clippy::print_stdout, reason = "the thousand runs are read by people")]
fn report(line: &str) {
    println!("{line}");
}

fn check(runs: usize, rows: usize, least: f64, most: f64) {
    for model in ["exponential", "weibull", "lognormal", "loglogistic", "gengamma"] {
        for ancillary in [false, true] {
            if ancillary && model == "exponential" {
                continue;
            }
            let found = coverage(model, ancillary, runs, rows);
            report(&format!("{model}, ancillary {ancillary}: {found:.3?}"));
            for (share, bias, truth) in found {
                assert!((least..=most).contains(&share), "{model} {ancillary} {truth}: {share}");
                assert!(bias.abs() < 0.05, "{model} {ancillary} {truth}: off by {bias}");
            }
        }
    }
}

#[test]
fn the_truth_is_recovered_and_covered() {
    check(100, 400, 0.87, 1.0);
}

/// Takes minutes, so run it by hand: `cargo test -p faultlens-stats --test survival -- --ignored`.
#[test]
#[ignore = "a thousand fits of every model"]
fn intervals_cover_as_often_as_they_say() {
    check(1000, 1000, 0.93, 0.97);
    let share = cox_coverage(1000, 500);
    report(&format!("cox: {share:.3?}"));
    assert!(share.iter().all(|s| (0.93..=0.97).contains(s)), "{share:?}");
}

/// Exponential durations have proportional hazards with the location's slopes turned round.
fn cox_coverage(runs: usize, rows: usize) -> [f64; 2] {
    let mut share = [0.0; 2];
    let mut rng = Rng(7);
    for _ in 0..runs {
        let data = draw("exponential", rows, false, &mut rng);
        let table = cox(&data, Ties::Efron, 0.0).unwrap().coefficients(Level::default());
        for (i, line) in table.iter().enumerate() {
            let truth = -LOCATION[i + 1];
            share[i] += f64::from(line.low <= truth && truth <= line.high) / runs as f64;
        }
    }
    share
}

#[test]
fn cox_recovers_the_hazard_ratios() {
    let share = cox_coverage(100, 300);
    assert!(share.iter().all(|s| (0.87..=1.0).contains(s)), "{share:?}");
}

#[test]
fn the_interval_of_a_cox_prediction_covers_the_truth() {
    let mut rng = Rng(17);
    let row = [0.5, 1.0];
    let location = LOCATION[0] + LOCATION[1] * row[0] + LOCATION[2] * row[1];
    let truth = (-2.0 / location.exp()).exp();
    let covers = |rng: &mut Rng| {
        let got = cox(&draw("exponential", 200, false, rng), Ties::Efron, 0.0).unwrap();
        got.survival(&row, 2.0, Level::default()).unwrap().contains(truth)
    };
    let covered = (0..200).filter(|_| covers(&mut rng)).count();
    assert!((180..=198).contains(&covered), "{covered}");
}

#[test]
fn the_interval_of_a_prediction_covers_the_truth() {
    let mut rng = Rng(99);
    let runs = 100;
    let mut covered = [0; 4];
    let row = [0.5, 1.0];
    let location = LOCATION[0] + LOCATION[1] * row[0] + LOCATION[2] * row[1];
    let shape = SCALE[0].exp();
    for _ in 0..runs {
        let data = draw("weibull", 300, false, &mut rng);
        let got = fit(family("weibull").unwrap(), &data, &Options::default()).unwrap();
        let at = got.predict(&row, Level::default()).unwrap();
        let survival = (-(2.0 / location.exp()).powf(shape)).exp();
        let median = location.exp() * std::f64::consts::LN_2.powf(1.0 / shape);
        let mean = location.exp() * gamma(1.0 + 1.0 / shape);
        let hazard = shape / location.exp() * (2.0 / location.exp()).powf(shape - 1.0);
        let both = [
            (at.survival(2.0).unwrap(), survival),
            (at.median(), median),
            (at.mean(), mean),
            (at.hazard(2.0).unwrap(), hazard),
        ];
        for (count, (estimate, truth)) in covered.iter_mut().zip(both) {
            *count += i32::from(estimate.contains(truth));
        }
    }
    assert!(covered.iter().all(|c| (87..=100).contains(c)), "{covered:?}");
}

/// Γ(x) by its product and Stirling's formula.
pub(crate) fn gamma(mut x: f64) -> f64 {
    let mut factor = 1.0;
    while x < 20.0 {
        factor /= x;
        x += 1.0;
    }
    let rest = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    factor * (std::f64::consts::TAU / x).sqrt() * (x * x.ln() - x + rest).exp()
}
