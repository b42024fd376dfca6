//! Accuracies, shares of changed answers and failure rates.

use std::collections::BTreeMap;

use crate::Rate;
use faultlens_stats::survival::failure_rate;
use faultlens_stats::{Clustered, Estimate, Formula, StatsError, wilson};
use serde::Serialize;

use super::measured::Measured;
use super::observed::Images;
use super::rows::{Configuration, Row, Rows};
use super::{AnalysisError, level, numbered};

/// What was counted of one or several configurations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Counts {
    /// Attacked samples.
    pub rows: u64,
    /// Right answers to undisturbed samples; of several configurations each model counts once for
    /// each of its defences.
    pub benign: Rate,
    /// Right answers to attacked samples, of those that were answered and whose label is known.
    pub adversarial: Rate,
    /// Answers that the attack changed.
    pub changed: Rate,
    /// Attacked samples that the defended model refused to answer.
    pub rejected: Rate,
    /// False classifications of undisturbed samples in each second of prediction.
    pub benign_failures: Option<Measured>,
    /// False classifications of attacked samples in each second of attack.
    pub adversarial_failures: Option<Measured>,
}

/// Configurations pooled along an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grouping {
    /// The axis: `attack`, `defence`, `architecture` or `data`.
    pub axis: &'static str,
    /// Its levels, by name.
    pub groups: Vec<Group>,
}

/// All configurations with one level of an axis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The level.
    pub level: String,
    /// How many configurations.
    pub configurations: u64,
    /// What was counted of them.
    pub counts: Counts,
}

#[derive(Default)]
struct Tally<'a> {
    configurations: u64,
    changed: Clustered,
    rejected: Clustered,
    /// Right answers among those that were given and whose label is known.
    right: Clustered,
    wrong: u64,
    /// The time of attacks on samples whose label is known.
    seconds: f64,
    /// One configuration of each defended model.
    models: BTreeMap<(usize, &'a str), &'a Configuration>,
    /// How many undisturbed samples the models of a split were asked, which are the same for all.
    asked: BTreeMap<(&'a str, u32), u64>,
}

impl<'a> Tally<'a> {
    fn join(&mut self, model: usize, of: &'a Configuration) {
        self.configurations += 1;
        self.models.entry((model, &of.defence.label)).or_insert(of);
        let asked = self.asked.entry((&of.data, of.permutation)).or_default();
        *asked = of.benign_samples.max(*asked);
    }

    fn add(&mut self, row: &Row, image: u64) -> Result<(), StatsError> {
        self.changed.add(image, 1.0, row.changed)?;
        self.rejected.add(image, 1.0, row.rejected)?;
        // Time without a known answer would dilute the failures.
        let Some(wrong) = row.wrong else { return Ok(()) };
        self.seconds += row.seconds;
        if !row.rejected {
            self.right.add(image, 1.0, !wrong)?;
            self.wrong += u64::from(wrong);
        }
        Ok(())
    }

    fn counts(&self) -> Result<Counts, StatsError> {
        let mut asked = 0;
        let mut missed = 0;
        let mut seconds = 0.0;
        for of in self.models.values() {
            asked += of.benign_samples;
            let wrong = (1.0 - of.benign_accuracy) * of.benign_samples as f64;
            missed += (wrong.round() as u64).min(of.benign_samples);
            seconds += of.prediction_seconds * of.benign_samples as f64;
        }
        let answered = self.right.n();
        Ok(Counts {
            rows: self.changed.n(),
            benign: pooled(asked - missed, asked, self.asked.values().sum())?,
            adversarial: by_image(&self.right, answered - self.wrong)?,
            changed: by_image(&self.changed, events(&self.changed))?,
            rejected: by_image(&self.rejected, events(&self.rejected))?,
            benign_failures: (asked > 0).then(|| failures(missed, seconds)).flatten(),
            adversarial_failures: (answered > 0)
                .then(|| failures(self.wrong, self.seconds))
                .flatten(),
        })
    }
}

fn events(of: &Clustered) -> u64 {
    of.rate().map_or(0, |rate| (rate * of.n() as f64).round() as u64)
}

/// A share with the interval for new images (Korn and Graubard): an image counts once, however often
/// it was attacked.
fn by_image(of: &Clustered, events: u64) -> Result<Rate, StatsError> {
    let found = of.estimate(Formula::ClopperPearson, level())?;
    let Estimate { value, low, high, n } = found;
    Ok(Rate { events, n, value, low, high, images: of.len(), ..Rate::default() })
}

/// A share of answers that several models gave to the same samples, which are no more because more
/// models were asked: Wilson's interval of so many samples.
fn pooled(right: u64, asked: u64, samples: u64) -> Result<Rate, StatsError> {
    let all = rate(right, asked)?;
    let Some(value) = all.value.filter(|_| samples < asked) else { return Ok(all) };
    let alike = wilson(((value * samples as f64).round() as u64).min(samples), samples, level())?;
    Ok(Rate { low: alike.low.min(value), high: alike.high.max(value), ..all })
}

/// A share with Wilson's interval.
pub(super) fn rate(events: u64, n: u64) -> Result<Rate, StatsError> {
    let found = wilson(events, n, level())?;
    Ok(Rate { events, n, value: found.value, low: found.low, high: found.high, ..Rate::default() })
}

/// False classifications over time; `None` where no time was measured.
fn failures(events: u64, seconds: f64) -> Option<Measured> {
    failure_rate(events, seconds, level()).ok().map(|rate| Measured::of(&rate))
}

/// Of each configuration.
pub(super) fn of_each(rows: &Rows, images: &Images<'_>) -> Result<Vec<Counts>, AnalysisError> {
    let mut tallies: Vec<Tally<'_>> =
        rows.configurations.iter().map(|_| Tally::default()).collect();
    for (tally, of) in tallies.iter_mut().zip(&rows.configurations) {
        tally.join(0, of);
    }
    for row in &rows.rows {
        tallies[row.configuration as usize].add(row, images.of(row) as u64)?;
    }
    Ok(tallies.iter().map(Tally::counts).collect::<Result<_, _>>()?)
}

/// Which level of an axis a configuration has.
type Level = fn(&Configuration) -> &str;

/// The axes along which configurations are pooled.
const AXES: [(&str, Level); 4] = [
    ("attack", |c| &c.attack.name),
    ("defence", |c| &c.defence.name),
    ("architecture", |c| &c.architecture),
    ("data", |c| &c.data),
];

/// Pooled along each axis.
pub(super) fn groups(rows: &Rows, images: &Images<'_>) -> Result<Vec<Grouping>, AnalysisError> {
    let (models, _) = numbered(&rows.configurations);
    AXES.iter()
        .map(|&(axis, of): &(&'static str, Level)| {
            let mut tallies: BTreeMap<&str, Tally<'_>> = BTreeMap::new();
            for (configuration, &model) in rows.configurations.iter().zip(&models) {
                tallies.entry(of(configuration)).or_default().join(model, configuration);
            }
            for row in &rows.rows {
                let level = of(&rows.configurations[row.configuration as usize]);
                tallies.entry(level).or_default().add(row, images.of(row) as u64)?;
            }
            let groups = tallies
                .into_iter()
                .map(|(level, tally): (&str, Tally<'_>)| {
                    Ok(Group {
                        level: level.to_owned(),
                        configurations: tally.configurations,
                        counts: tally.counts()?,
                    })
                })
                .collect::<Result<_, StatsError>>()?;
            Ok(Grouping { axis, groups })
        })
        .collect()
}
