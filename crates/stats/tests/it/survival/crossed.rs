//! Errors of rows that resemble each other by model and by sample: how often intervals hold the
//! truth that made the rows.

use faultlens_stats::Level;
use faultlens_stats::survival::{Lifetimes, Options, family, fit, student_level};

/// Marsaglia's xorshift with multiplication.
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Box and Muller's normal number.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

const MODELS: usize = 15;
const SAMPLES: usize = 30;

/// Weibull times of every model on every sample; a model's number is its covariate.
struct Table {
    data: Lifetimes,
    models: Vec<usize>,
    samples: Vec<usize>,
}

fn table(draw: &mut Draw, per_model: f64, per_sample: f64) -> Table {
    let of_models: Vec<f64> = (0..MODELS).map(|_| per_model * draw.normal()).collect();
    let of_samples: Vec<f64> = (0..SAMPLES).map(|_| per_sample * draw.normal()).collect();
    let mut times = Vec::new();
    let mut x = Vec::new();
    let mut y = Vec::new();
    let mut models = Vec::new();
    let mut samples = Vec::new();
    for (model, of_model) in of_models.iter().enumerate() {
        for (sample, of_sample) in of_samples.iter().enumerate() {
            let by_model = model as f64 - 7.0;
            let by_sample = f64::from(sample % 2 == 0);
            let place = 0.1 * by_model + 0.3 * by_sample + of_model + of_sample;
            times.push(place.exp() * (-(1.0 - draw.uniform()).ln()).powf(1.0 / 1.5));
            x.push(by_model);
            y.push(by_sample);
            models.push(model);
            samples.push(sample);
        }
    }
    let observed = vec![true; times.len()];
    let data = Lifetimes::new(times, observed).unwrap();
    let data = data.covariate("model", x).unwrap().covariate("sample", y).unwrap();
    Table { data, models, samples }
}

#[test]
fn intervals_by_model_and_sample_hold_the_truth() {
    for (per_model, per_sample) in [(0.0, 0.0), (0.4, 0.0), (0.0, 0.4), (0.4, 0.4)] {
        let mut draw = Draw(7);
        let mut crossed = [0; 2];
        let mut plain = [0; 2];
        let runs = 200;
        for _ in 0..runs {
            let Table { data, models, samples } = table(&mut draw, per_model, per_sample);
            let found = fit(family("weibull").unwrap(), &data, &Options::default()).unwrap();
            let (wide, errors) = found.crossed(&data, [&models, &samples]).unwrap();
            assert_eq!(errors.clusters, [MODELS, SAMPLES]);
            let level = student_level(MODELS as f64 - 2.0, Level::default());
            let lines = wide.coefficients(level);
            let narrow = found.coefficients(Level::default());
            for (at, truth) in [0.1, 0.3].into_iter().enumerate() {
                let holds = |low: f64, high: f64| u32::from(low <= truth && truth <= high);
                crossed[at] += holds(lines[at + 1].low, lines[at + 1].high);
                plain[at] += holds(narrow[at + 1].low, narrow[at + 1].high);
            }
        }
        for held in crossed {
            let share = f64::from(held) / f64::from(runs);
            assert!(share >= 0.91, "{per_model} {per_sample}: {share}");
        }
        // Errors of independent rows know nothing of either.
        let [by_model, by_sample] = plain.map(|held| f64::from(held) / f64::from(runs));
        assert_eq!(by_model < 0.75, per_model > 0.0, "{by_model}");
        assert_eq!(by_sample < 0.75, per_sample > 0.0, "{by_sample}");
    }
}

/// A level that a single model has cannot be told from that model.
#[test]
fn what_rests_on_one_model_is_named() {
    let Table { data, models, samples } = table(&mut Draw(3), 0.2, 0.2);
    let first = models.iter().map(|&model| f64::from(model == 0)).collect();
    let data = data.covariate("alone", first).unwrap();
    let found = fit(family("weibull").unwrap(), &data, &Options::default()).unwrap();
    let (_, errors) = found.crossed(&data, [&models, &samples]).unwrap();
    // Intercept, model, sample, alone, and the shape.
    assert_eq!(errors.single, [false, false, false, true, false]);
}
