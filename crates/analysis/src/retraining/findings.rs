//! What an experiment found: means over seeds, and differences paired by seed, with intervals.

use super::{Configuration, Course, Metric, OfSeed, Retraining};
use faultlens_stats::{Level, Mean};
use serde::Serialize;

/// What an experiment found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The first models before anything was added, by metric.
    pub first: Vec<(Metric, Known)>,
    /// Each configuration by each metric.
    pub rows: Vec<Row>,
    /// Failing scenes against the two others, by each metric.
    pub differences: Vec<Difference>,
}

/// A mean over seeds, in shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Known {
    /// The mean; nothing where no seed is done.
    pub mean: Option<f64>,
    /// Student's interval at a level of 95%; nothing for fewer than two seeds.
    pub interval: Option<[f64; 2]>,
    /// How many seeds there are.
    pub n: u64,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Which one.
    pub configuration: Configuration,
    /// By which metric.
    pub metric: Metric,
    /// The mean over all measurements of the retraining, as the paper has it.
    pub throughout: Known,
    /// The last measurement.
    pub last: Known,
}

/// Two configurations beside each other, seed by seed, over the whole retraining.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The one that something is subtracted from.
    pub of: Configuration,
    /// The one that is subtracted.
    pub less: Configuration,
    /// By which metric.
    pub metric: Metric,
    /// The difference.
    pub known: Known,
    /// Whether the interval makes it better or worse.
    pub standing: Standing,
}

/// Whether an interval makes a difference better or worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// All of it lies above zero.
    Better,
    /// All of it lies below zero.
    Worse,
    /// Zero lies inside, or there is none.
    Undecided,
}

/// Means and differences over the seeds that are done.
pub fn findings(of: &Retraining) -> Findings {
    let mut found = Findings { first: Vec::new(), rows: Vec::new(), differences: Vec::new() };
    let seeds = of.seeds.iter();
    for metric in Metric::ALL {
        let first = seeds.clone().map(|seed| Some(metric.of(&seed.first)));
        found.first.push((metric, known(first)));
        for configuration in Configuration::ALL {
            let all = seeds.clone().map(|seed| throughout(seed, configuration, metric));
            let last = seeds.clone().map(|seed| {
                Some(metric.of(&course(seed, configuration)?.points.last()?.precision))
            });
            found.rows.push(Row {
                configuration,
                metric,
                throughout: known(all),
                last: known(last),
            });
        }
        for less in [Configuration::Originals, Configuration::Unchecked] {
            // Differences are taken within a seed, so that its own luck cancels out.
            let known = known(seeds.clone().map(|seed| {
                let failing = throughout(seed, Configuration::Failing, metric)?;
                Some(failing - throughout(seed, less, metric)?)
            }));
            found.differences.push(Difference {
                of: Configuration::Failing,
                less,
                metric,
                known,
                standing: standing(&known),
            });
        }
    }
    found
}

fn course(seed: &OfSeed, configuration: Configuration) -> Option<&Course> {
    seed.courses.iter().find(|course| course.configuration == configuration)
}

/// The mean over all measurements after the start.
fn throughout(seed: &OfSeed, configuration: Configuration, metric: Metric) -> Option<f64> {
    let points = &course(seed, configuration)?.points;
    let sum: f64 = points.iter().map(|point| metric.of(&point.precision)).sum();
    (!points.is_empty()).then(|| sum / points.len() as f64)
}

fn known(values: impl Iterator<Item = Option<f64>>) -> Known {
    let mut mean = Mean::default();
    for value in values.flatten() {
        // What is no number was not measured.
        let _ = mean.add(value);
    }
    let estimate = mean.estimate(Level::default());
    let ends = [estimate.low, estimate.high];
    let interval = (mean.n() > 1 && ends.iter().all(|end| end.is_finite())).then_some(ends);
    Known { mean: estimate.value, interval, n: estimate.n }
}

fn standing(known: &Known) -> Standing {
    match known.interval {
        Some([low, _]) if low > 0.0 => Standing::Better,
        Some([_, high]) if high < 0.0 => Standing::Worse,
        _ => Standing::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retraining::{Origin, Plan, Point, Precision, ScenesUsed};

    fn seed(number: u64, values: [[f64; 2]; 3]) -> OfSeed {
        let precision = |ap| Precision { ap, ap50: ap, voc: ap };
        OfSeed {
            seed: number,
            scenes: 4,
            first: precision(0.25),
            used: ScenesUsed {
                judged: 9,
                failing: 4,
                different: 4,
                failing_used: 4,
                unchecked_used: 4,
                unchecked_failing: 2,
                shown: Vec::new(),
            },
            courses: Configuration::ALL
                .into_iter()
                .zip(values)
                .map(|(configuration, aps): (_, [f64; 2])| Course {
                    configuration,
                    losses: Vec::new(),
                    points: aps
                        .into_iter()
                        .enumerate()
                        .map(|(at, ap)| Point { steps: at, precision: precision(ap) })
                        .collect(),
                })
                .collect(),
        }
    }

    fn of(seeds: Vec<OfSeed>) -> Findings {
        let all = Retraining::new(Plan::new(Origin::world()), "scenes".into());
        findings(&Retraining { seeds, ..all })
    }

    #[test]
    fn differences_are_paired_and_called_by_their_intervals() {
        // Seeds differ by far more than configurations do; pairs tell them apart nevertheless.
        let found = of(vec![
            seed(1, [[0.1, 0.3], [0.2, 0.3], [0.3, 0.3]]),
            seed(2, [[0.5, 0.7], [0.62, 0.7], [0.5, 0.7]]),
            seed(3, [[0.8, 0.8], [0.88, 0.8], [0.8, 0.82]]),
        ]);
        let difference = |less| {
            let mut all = found.differences.iter();
            all.find(|d| d.less == less && d.metric == Metric::Ap).unwrap()
        };
        let originals = difference(Configuration::Originals);
        assert!((originals.known.mean.unwrap() - 0.05).abs() < 1e-12);
        // Differences 0.05, 0.06 and 0.04: Student's 4.3027 times 0.01 over the root of three.
        let [low, high] = originals.known.interval.unwrap();
        let half = 4.302_653 * 0.01 / 3f64.sqrt();
        assert!((high - low - 2.0 * half).abs() < 1e-6, "{low} {high}");
        assert_eq!(originals.standing, Standing::Better);
        assert_eq!(difference(Configuration::Unchecked).standing, Standing::Undecided);
        let row = &found.rows[1];
        assert_eq!((row.configuration, row.metric), (Configuration::Failing, Metric::Ap));
        assert!((row.last.mean.unwrap() - 0.6).abs() < 1e-12);
        assert_eq!(found.first[0].1.mean, Some(0.25));
    }

    #[test]
    fn one_seed_has_no_interval_and_decides_nothing() {
        let one = of(vec![seed(1, [[0.1, 0.1], [0.9, 0.9], [0.1, 0.1]])]);
        assert!(one.differences.iter().all(|d| d.standing == Standing::Undecided));
        assert_eq!((one.rows[0].throughout.interval, one.rows[0].throughout.n), (None, 1));
        let none = of(Vec::new());
        assert_eq!((none.rows[0].throughout.mean, none.rows.len()), (None, 9));
        assert!(serde_json::to_string(&none).is_ok());
    }
}
