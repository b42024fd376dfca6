//! What an attack costs beside training: TRASH of each configuration.

use faultlens_stats::survival::{Lifetimes, cost_ratio, kaplan_meier};
use faultlens_stats::{Estimate, wilson};
use serde::Serialize;

use super::durations::Fitted;
use super::measured::Measured;
use super::rows::{Configuration, Row, Rows};
use super::{AnalysisError, level};

/// Where a ratio of costs stands beside 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The whole interval lies above 1: it costs less to attack than to train.
    Broken,
    /// The whole interval lies below 1.
    NotBroken,
    /// The interval holds 1.
    Inconclusive,
}

impl Standing {
    fn of(ratio: &Measured) -> Self {
        if ratio.low > 1.0 {
            Self::Broken
        } else if ratio.high.is_some_and(|high| high < 1.0) {
            Self::NotBroken
        } else {
            Self::Inconclusive
        }
    }
}

/// The seconds that an attack takes, and those of training over them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cost {
    /// The expected seconds until an answer changes.
    pub seconds: Measured,
    /// The training seconds of a sample over them.
    pub ratio: Measured,
    /// What that means.
    pub standing: Standing,
    /// Whether more time is expected than was ever waited for: the model, or nobody, says what
    /// happens then.
    pub beyond: bool,
}

/// What a configuration costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Costs {
    /// By the chosen survival model, at the configuration's covariates.
    pub model: Option<Cost>,
    /// By the configuration's own samples alone, without a distribution.
    pub own: Option<Cost>,
    /// The training seconds of a sample over the seconds of prediction until a false
    /// classification of undisturbed samples.
    pub benign: Option<Measured>,
}

impl Costs {
    /// The standing by the model, or by the own samples where the model has none.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        self.model.as_ref().or(self.own.as_ref()).map(|cost| cost.standing)
    }
}

/// Of each configuration; `None` where the training time is not known.
pub(super) fn costs(
    rows: &Rows,
    fitted: Option<&Fitted<'_>>,
) -> Result<Vec<Option<Costs>>, AnalysisError> {
    let mut own: Vec<Vec<&Row>> = vec![Vec::new(); rows.configurations.len()];
    for row in &rows.rows {
        own[row.configuration as usize].push(row);
    }
    let fitted_rows = fitted.map(|fitted| {
        let mut known = vec![false; rows.configurations.len()];
        fitted.rows.iter().for_each(|row| known[row.configuration as usize] = true);
        (fitted, known)
    });
    rows.configurations
        .iter()
        .enumerate()
        .map(|(i, configuration): (usize, &Configuration)| {
            if configuration.training_seconds <= 0.0 {
                return Ok(None);
            }
            let model = match &fitted_rows {
                Some((fitted, known)) if known[i] => {
                    Some(by_model(fitted, i, configuration, latest(&own[i]))?)
                }
                _ => None,
            };
            let own = if configuration.one_shot { None } else { by_own(configuration, &own[i])? };
            Ok(Some(Costs { model, own, benign: benign(configuration)? }))
        })
        .collect()
}

fn latest(rows: &[&Row]) -> f64 {
    rows.iter().map(|row| row.seconds).fold(0.0, f64::max)
}

/// E\[T\] by the model; up to the latest time of all where the distribution has no mean.
fn by_model(
    fitted: &Fitted<'_>,
    index: usize,
    of: &Configuration,
    latest: f64,
) -> Result<Cost, AnalysisError> {
    let predicted = fitted.fit.predict(&fitted.design.row(index), level())?;
    let mean = predicted.mean();
    let mean = match mean.value {
        Some(value) if value.is_finite() => mean,
        _ => predicted.restricted_mean(fitted.latest)?,
    };
    let ratio = cost_ratio(of.training_seconds, &mean)?;
    Ok(cost(&mean, &ratio, mean.value.is_some_and(|value| value > latest)))
}

/// The mean up to the latest time of the own samples. Where some of them resisted, the ratio's
/// lower end is that of an attacker who then takes another sample: what he spends on all, over the
/// share that he changes.
fn by_own(of: &Configuration, rows: &[&Row]) -> Result<Option<Cost>, AnalysisError> {
    let latest = latest(rows);
    if latest <= 0.0 {
        return Ok(None);
    }
    let durations = rows.iter().map(|row| row.seconds).collect();
    let data = Lifetimes::new(durations, rows.iter().map(|row| row.changed).collect())?;
    let resisted = data.events() < data.rows();
    let curve = kaplan_meier(&data, level());
    let mean = curve.restricted_mean(latest, level())?;
    if mean.low <= 0.0 {
        return Ok(None);
    }
    let mut ratio = cost_ratio(of.training_seconds, &mean)?;
    if resisted {
        ratio.low *= 1.0 - curve.at(latest).high.min(1.0);
    }
    Ok(Some(cost(&mean, &ratio, resisted)))
}

fn cost(seconds: &Estimate, ratio: &Estimate, beyond: bool) -> Cost {
    let seconds = Measured::of(seconds);
    let ratio = Measured::of(ratio);
    Cost { seconds, ratio, standing: Standing::of(&ratio), beyond }
}

/// The same without an attacker: predictions until one is wrong.
fn benign(of: &Configuration) -> Result<Option<Measured>, AnalysisError> {
    if of.prediction_seconds <= 0.0 || of.benign_samples == 0 {
        return Ok(None);
    }
    let n = of.benign_samples;
    let wrong = (((1.0 - of.benign_accuracy) * n as f64).round() as u64).min(n);
    let share = wilson(wrong, n, level())?;
    let each = of.training_seconds / of.prediction_seconds;
    Ok(Some(Measured {
        value: share.value.map(|share| share * each),
        low: share.low * each,
        high: Some(share.high * each),
        n,
    }))
}
