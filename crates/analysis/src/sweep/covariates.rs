//! What may explain a duration: one column per covariate, one number per configuration.

use std::collections::BTreeMap;

use crate::format::number;
use serde::Serialize;

use super::rows::{Configuration, Row};

/// What a covariate stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An attack against the base attack.
    Attack,
    /// A defence against the control.
    Defence,
    /// A data set against the base.
    Data,
    /// A machine against the base.
    Machine,
    /// A number.
    Number,
}

/// One covariate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Covariate {
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub kind: Kind,
    /// What one step of it is.
    pub unit: String,
    /// How much one step is in the number's own unit: a standard deviation, or 1.
    pub step: f64,
    /// How many different values it has.
    pub values: u64,
    /// The variance inflation factor: by how much its variance grows because other covariates
    /// explain it; 1 where none does.
    pub inflation: f64,
}

/// A covariate that is in no model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: String,
}

/// The names of numbers that other parts ask for.
pub(super) const LAYERS: &str = "layers";
pub(super) const EPOCHS: &str = "epochs";
pub(super) const PREDICTION: &str = "prediction seconds";
pub(super) const ACCURACY: &str = "benign accuracy";
pub(super) const TRAINING: &str = "training seconds";
/// Numbers that follow from what a builder chooses.
pub(super) const FOLLOWING: [&str; 4] = ["defence strength", ACCURACY, PREDICTION, TRAINING];
/// The defence that is none.
pub(super) const CONTROL: &str = "control";

/// At least this share of a column's variance must be its own: with less, standard errors grow more
/// than tenfold, and it cannot be distinguished from the columns before it.
const OWN: f64 = 0.01;

/// The columns of a model.
pub(super) struct Design {
    pub(super) covariates: Vec<Covariate>,
    pub(super) left_out: Vec<LeftOut>,
    /// What levels are compared with, by kind.
    pub(super) bases: BTreeMap<&'static str, String>,
    /// Of each covariate a number for each configuration.
    pub(super) values: Vec<Vec<f64>>,
}

impl Design {
    /// The covariates of these rows, without those of some names.
    pub(super) fn new(configurations: &[Configuration], rows: &[&Row], without: &[&str]) -> Self {
        let mut builder = Builder::new(configurations, rows);
        builder.levels("attack", Kind::Attack, None, |c| &c.attack.name);
        builder.levels("defence", Kind::Defence, Some(CONTROL), |c| &c.defence.name);
        builder.levels("data", Kind::Data, None, |c| &c.data);
        builder.levels("machine", Kind::Machine, None, |c| &c.machine);
        for (name, unit, of) in NUMBERS {
            if !without.contains(&name) {
                builder.number(name, unit, of);
            }
        }
        builder.inflate();
        builder.design
    }

    /// The covariates of a configuration, in order.
    pub(super) fn row(&self, configuration: usize) -> Vec<f64> {
        self.values.iter().map(|column| column[configuration]).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<&Covariate> {
        self.covariates.iter().find(|one| one.name == name)
    }
}

/// How a number is shown, and where it comes from.
type Number = (&'static str, Option<&'static str>, fn(&Configuration) -> f64);

/// The numbers, those first that stay where two cannot be distinguished. A fixed unit stays as it is,
/// the others are in standard deviations of what they name.
const NUMBERS: [Number; 8] = [
    ("attack strength", Some("from the least to the most of the attack"), |c| c.attack.scaled),
    ("defence strength", Some("from the least to the most of the defence"), |c| c.defence.scaled),
    (EPOCHS, None, |c| f64::from(c.epochs)),
    (LAYERS, None, |c| f64::from(c.layers)),
    ("log10 learning rate", None, |c| c.learning_rate.log10()),
    (ACCURACY, None, |c| c.benign_accuracy),
    (PREDICTION, None, |c| c.prediction_seconds),
    (TRAINING, None, |c| c.training_seconds),
];

struct Builder<'a> {
    configurations: &'a [Configuration],
    /// How many rows each configuration has.
    weights: Vec<f64>,
    /// What is known of earlier columns: orthogonal, of length 1.
    known: Vec<Vec<f64>>,
    /// The centred columns that were kept, to name what another follows from.
    centred: Vec<Vec<f64>>,
    design: Design,
}

impl<'a> Builder<'a> {
    fn new(configurations: &'a [Configuration], rows: &[&Row]) -> Self {
        let mut weights = vec![0.0; configurations.len()];
        for row in rows {
            weights[row.configuration as usize] += 1.0;
        }
        let design = Design {
            covariates: Vec::new(),
            left_out: Vec::new(),
            bases: BTreeMap::new(),
            values: Vec::new(),
        };
        Self { configurations, weights, known: Vec::new(), centred: Vec::new(), design }
    }

    /// A column of 0 and 1 for each level but the base: the one named, or the most frequent.
    fn levels(
        &mut self,
        what: &'static str,
        kind: Kind,
        base: Option<&str>,
        of: fn(&Configuration) -> &str,
    ) {
        let mut rows: BTreeMap<&str, f64> = BTreeMap::new();
        for (c, weight) in self.configurations.iter().zip(&self.weights) {
            if *weight > 0.0 {
                *rows.entry(of(c)).or_default() += weight;
            }
        }
        if rows.len() < 2 {
            return;
        }
        let named = base.filter(|base| rows.contains_key(base));
        let most = rows.iter().rev().max_by(|a, b| a.1.total_cmp(b.1)).map(|(level, _)| *level);
        let Some(base) = named.or(most).map(str::to_owned) else { return };
        for level in rows.keys().filter(|level| **level != base) {
            let values = self.configurations.iter().map(|c| f64::from(of(c) == *level)).collect();
            let unit = format!("against {base}");
            let name = format!("{what}: {level}");
            self.push(Covariate { name, kind, unit, step: 1.0, values: 0, inflation: 1.0 }, values);
        }
        self.design.bases.insert(what, base);
    }

    fn number(&mut self, name: &str, unit: Option<&str>, of: fn(&Configuration) -> f64) {
        let values: Vec<f64> = self.configurations.iter().map(of).collect();
        if values
            .iter()
            .zip(&self.weights)
            .filter(|(_, weight)| **weight > 0.0)
            .any(|(value, _)| !value.is_finite())
        {
            let why = "it is not known of every model".to_owned();
            self.design.left_out.push(LeftOut { name: name.to_owned(), why });
            return;
        }
        let (mean, step) = self.spread(&values);
        let (mean, step, unit) = match unit {
            Some(unit) => (0.0, 1.0, unit.to_owned()),
            None => (mean, step, format!("a standard deviation of {}", number(step, 3))),
        };
        let scaled = if step > 0.0 { step } else { 1.0 };
        let values = values.iter().map(|value| (value - mean) / scaled).collect();
        let name = name.to_owned();
        let kind = Kind::Number;
        self.push(Covariate { name, kind, unit, step: scaled, values: 0, inflation: 1.0 }, values);
    }

    /// The mean and standard deviation over rows.
    fn spread(&self, values: &[f64]) -> (f64, f64) {
        let pairs = || values.iter().zip(&self.weights).filter(|(_, weight)| **weight > 0.0);
        let total: f64 = self.weights.iter().sum();
        let mean = pairs().map(|(value, weight)| value * weight / total).sum::<f64>();
        let squares = pairs().map(|(v, weight)| (v - mean) * (v - mean) * weight).sum::<f64>();
        (mean, (squares / (total - 1.0).max(1.0)).sqrt())
    }

    /// Keeps a column that varies and does not follow from those before it.
    fn push(&mut self, covariate: Covariate, values: Vec<f64>) {
        let centred = self.centred(&values);
        let own = dot(&centred, &centred);
        let all: f64 = values
            .iter()
            .zip(&self.weights)
            .map(
                |(value, weight): (&f64, &f64)| {
                    if *weight > 0.0 { value * value * weight } else { 0.0 }
                },
            )
            .sum();
        if own <= 1e-20 * all {
            let why = "it is the same in every row".to_owned();
            self.design.left_out.push(LeftOut { name: covariate.name, why });
            return;
        }
        let rest = left_of(&centred, &self.known);
        let left = dot(&rest, &rest);
        if left < OWN * own {
            let why = format!("it follows from {}", self.nearest(&centred));
            self.design.left_out.push(LeftOut { name: covariate.name, why });
            return;
        }
        self.known.push(rest.iter().map(|r| r / left.sqrt()).collect());
        self.centred.push(centred);
        let values_known = self.distinct(&values);
        self.design.covariates.push(Covariate { values: values_known, ..covariate });
        self.design.values.push(values);
    }

    /// How many different values the rows have.
    fn distinct(&self, values: &[f64]) -> u64 {
        let mut known: Vec<f64> = values
            .iter()
            .zip(&self.weights)
            .filter(|(_, weight)| **weight > 0.0)
            .map(|(value, _)| *value)
            .collect();
        known.sort_by(f64::total_cmp);
        // Times of one setting differ in every model; settings differ by more than rounding.
        known.dedup_by(|a, b| (*a - *b).abs() <= 1e-9 * b.abs());
        known.len() as u64
    }

    /// Fills in the variance inflation of each kept column: its variance over what all others leave
    /// of it, by Gram and Schmidt.
    fn inflate(&mut self) {
        for (j, column) in self.centred.iter().enumerate() {
            let mut basis: Vec<Vec<f64>> = Vec::new();
            for (_, other) in self.centred.iter().enumerate().filter(|(k, _)| *k != j) {
                let rest = left_of(other, &basis);
                let length = dot(&rest, &rest).sqrt();
                if length > 1e-10 * dot(other, other).sqrt() {
                    basis.push(rest.iter().map(|value| value / length).collect());
                }
            }
            let rest = left_of(column, &basis);
            self.design.covariates[j].inflation = dot(column, column) / dot(&rest, &rest);
        }
    }

    /// A column less its mean, each configuration as long as its rows make it.
    fn centred(&self, values: &[f64]) -> Vec<f64> {
        let (mean, _) = self.spread(values);
        values
            .iter()
            .zip(&self.weights)
            .map(|(value, weight)| if *weight > 0.0 { (value - mean) * weight.sqrt() } else { 0.0 })
            .collect()
    }

    /// The kept column that resembles this one most, and whether it suffices.
    fn nearest(&self, centred: &[f64]) -> String {
        let all = self
            .centred
            .iter()
            .map(|one: &Vec<f64>| {
                let shared = dot(one, centred);
                shared * shared / (dot(one, one) * dot(centred, centred))
            })
            .zip(&self.design.covariates);
        match all.max_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((share, one)) if share > 1.0 - OWN => one.name.clone(),
            Some((_, one)) => format!("{} and others", one.name),
            None => "the others".to_owned(),
        }
    }
}

/// What an orthonormal basis leaves of a column.
fn left_of(column: &[f64], basis: &[Vec<f64>]) -> Vec<f64> {
    let mut rest = column.to_vec();
    for known in basis {
        let shared = dot(&rest, known);
        rest.iter_mut().zip(known).for_each(|(r, k)| *r -= shared * k);
    }
    rest
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}
