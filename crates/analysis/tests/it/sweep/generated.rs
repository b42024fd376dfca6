//! Rows with known effects: Weibull times whose scale depends on the configuration.

use faultlens_analysis::sweep::{Choice, Configuration, Row, Rows};
use faultlens_core::Seed;

/// What to generate; the effects are on the logarithm of the time.
#[derive(Debug, Clone)]
pub(crate) struct Sweep {
    pub(crate) seed: u64,
    /// Attacked samples of each configuration.
    pub(crate) samples: u64,
    /// The logarithm of the time's scale where every effect is 0.
    pub(crate) base: f64,
    /// One more layer, beyond the time of an answer.
    pub(crate) per_layer: f64,
    /// One more second of a plain answer.
    pub(crate) per_prediction_second: f64,
    /// One more epoch.
    pub(crate) per_epoch: f64,
    /// Noise in training against none.
    pub(crate) gauss_in: f64,
    /// Asking without gradients against following them.
    pub(crate) hop_skip_jump: f64,
    /// The strongest attack against the weakest.
    pub(crate) strength: f64,
    /// How much models of equal settings differ: a standard deviation.
    pub(crate) per_model: f64,
    /// How much images differ, whatever attacks them: a standard deviation.
    pub(crate) per_image: f64,
    /// The depths of the models.
    pub(crate) layers: &'static [u32],
    /// The epochs of their training.
    pub(crate) epochs: &'static [u32],
    /// The share of right answers to undisturbed samples.
    pub(crate) accuracy: f64,
    /// Seconds after which an attack gives up.
    pub(crate) budget: f64,
    /// Training seconds of a sample for each layer and epoch.
    pub(crate) training: f64,
}

/// The Weibull shape of every sweep.
pub(crate) const SHAPE: f64 = 1.5;

impl Default for Sweep {
    fn default() -> Self {
        Self {
            seed: 1,
            samples: 20,
            base: -2.0,
            per_layer: 0.0,
            per_prediction_second: 0.0,
            per_epoch: 0.01,
            gauss_in: 0.4,
            hop_skip_jump: 1.0,
            strength: -1.2,
            per_model: 0.0,
            per_image: 0.0,
            layers: &[18, 34, 50],
            epochs: &[10, 20, 40],
            accuracy: 0.9,
            budget: 0.5,
            training: 0.0005,
        }
    }
}

fn choice(name: &str, strength: f64, scaled: f64) -> Choice {
    let label = if strength == 0.0 { name.to_owned() } else { format!("{name} {strength}") };
    Choice { name: name.to_owned(), label, strength, scaled }
}

/// A trained model of the grid.
struct Trained {
    layers: u32,
    epochs: u32,
    permutation: u32,
    prediction: f64,
    training: f64,
    luck: f64,
}

impl Sweep {
    /// A sweep of five depths and five durations of training: enough to state trends.
    pub(crate) fn wide() -> Self {
        let layers = &[18, 26, 34, 42, 50];
        Self { samples: 10, layers, epochs: &[10, 16, 24, 32, 40], ..Self::default() }
    }

    /// The attacks: name, strength, scaled strength.
    fn attacks() -> [Choice; 5] {
        [
            choice("pgd", 0.01, 0.0),
            choice("pgd", 0.1, 0.5),
            choice("pgd", 1.0, 1.0),
            choice("hop_skip_jump", 10.0, 0.0),
            choice("hop_skip_jump", 100.0, 1.0),
        ]
    }

    fn models(&self) -> Vec<Trained> {
        let mut out = Vec::new();
        for &layers in self.layers {
            for &epochs in self.epochs {
                for permutation in 0..3 {
                    let seed = Seed::new(self.seed).child("model").at(out.len() as u64);
                    let mut draw = seed.stream();
                    out.push(Trained {
                        layers,
                        epochs,
                        permutation,
                        prediction: 0.001 * f64::from(layers) * draw.between(0.6, 1.4),
                        training: self.training
                            * f64::from(layers * epochs)
                            * draw.between(0.9, 1.1),
                        luck: self.per_model * draw.gaussian(),
                    });
                }
            }
        }
        out
    }

    /// The logarithm of the scale of a configuration's times.
    fn place(&self, of: &Configuration, luck: f64) -> f64 {
        let is = |name: &str, effect: f64| {
            if of.attack.name == name || of.defence.name == name { effect } else { 0.0 }
        };
        self.base
            + luck
            + self.per_layer * f64::from(of.layers)
            + self.per_prediction_second * of.prediction_seconds
            + self.per_epoch * f64::from(of.epochs)
            + self.strength * of.attack.scaled
            + is("gauss_in", self.gauss_in)
            + is("hop_skip_jump", self.hop_skip_jump)
    }

    /// The rows.
    pub(crate) fn rows(&self) -> Rows {
        let mut rows = Rows::default();
        for model in self.models() {
            for defence in [choice("control", 0.0, 0.0), choice("gauss_in", 0.1, 0.0)] {
                for attack in Self::attacks() {
                    let follows = attack.name == "pgd";
                    let of = Configuration {
                        data: "digits".to_owned(),
                        permutation: model.permutation,
                        architecture: format!("resnet{}", model.layers),
                        layers: model.layers,
                        epochs: model.epochs,
                        learning_rate: 0.01,
                        defence: defence.clone(),
                        needs: if follows { "gradients" } else { "answers" }.to_owned(),
                        norm: follows.then(|| "inf".to_owned()),
                        epsilon: follows.then_some(attack.strength),
                        attack,
                        one_shot: false,
                        training_seconds: model.training,
                        prediction_seconds: model.prediction,
                        benign_accuracy: self.accuracy,
                        benign_samples: 1000,
                        machine: "here".to_owned(),
                    };
                    self.attack(&mut rows, of, model.luck);
                }
            }
        }
        rows
    }

    /// Adds a configuration and its samples.
    pub(crate) fn attack(&self, rows: &mut Rows, of: Configuration, luck: f64) {
        let index = rows.configurations.len() as u32;
        let scale = self.place(&of, luck).exp();
        let question = of.prediction_seconds;
        let size = of.epsilon.unwrap_or(0.01);
        rows.configurations.push(of);
        let mut draw = Seed::new(self.seed).child("rows").at(u64::from(index)).stream();
        for sample in 0..self.samples {
            let image = Seed::new(self.seed).child("image").at(sample).stream().gaussian();
            let scale = scale * (self.per_image * image).exp();
            let time = scale * (-(1.0 - draw.uniform()).ln()).powf(1.0 / SHAPE);
            let changed = time <= self.budget;
            let seconds = time.min(self.budget);
            rows.rows.push(Row {
                configuration: index,
                sample: format!("{sample:04}"),
                changed,
                wrong: Some(changed || draw.chance(0.1)),
                rejected: false,
                seconds,
                wall_seconds: seconds,
                queries: 1 + (seconds / question) as u64,
                distance: size,
                distance_inf: Some(size),
                distance_2: Some(2.0 * size),
                visual_change: None,
            });
        }
    }
}
