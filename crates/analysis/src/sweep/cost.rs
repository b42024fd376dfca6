//! What an attack costs beside training: TRASH of each configuration, and the verdict.

use faultlens_stats::survival::{cost_ratio, student_level};
use faultlens_stats::{Estimate, wilson};
use serde::Serialize;

use super::agreement::{Agreement, Off};
use super::durations::Fitted;
use super::measured::Measured;
use super::observed::{IMAGES, Observed};
use super::rows::{Configuration, Rows};
use super::{AnalysisError, level};

/// Where a ratio of costs stands beside 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The whole interval lies above 1: it costs less to attack than to train.
    Broken,
    /// The whole interval lies below 1.
    NotBroken,
    /// The interval holds 1, or too few images stand behind it.
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

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The configuration's own samples.
    OwnSamples,
    /// The survival model of all configurations, which agrees with what was observed.
    Pooled,
    /// Nothing: fewer than ten images, which say nothing about new ones.
    FewImages,
}

/// Whether a configuration is broken, for new images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CostVerdict {
    /// Where it stands.
    pub standing: Standing,
    /// What that rests on.
    pub basis: Basis,
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
    /// By the configuration's own samples, without a distribution: the mean where every answer
    /// changed, otherwise that up to the latest time. The interval is that for new images.
    pub own: Option<Cost>,
    /// How many different images stand behind it.
    pub images: u64,
    /// By the chosen survival model, at the configuration's covariates.
    pub model: Option<Cost>,
    /// How far off the model is here.
    pub off: Option<Off>,
    /// Whether it is broken.
    pub verdict: Option<CostVerdict>,
    /// The training seconds of a sample over the seconds of prediction until a false
    /// classification of undisturbed samples.
    pub benign: Option<Measured>,
}

impl Costs {
    /// Where it stands.
    #[must_use]
    pub fn standing(&self) -> Option<Standing> {
        self.verdict.map(|verdict| verdict.standing)
    }
}

/// Of each configuration; `None` where the training time is not known.
pub(super) fn costs(
    rows: &Rows,
    observed: &[Option<Observed>],
    fitted: Option<&Fitted<'_>>,
) -> Result<Vec<Option<Costs>>, AnalysisError> {
    let mut out = Vec::with_capacity(rows.configurations.len());
    for (i, (of, observed)) in rows.configurations.iter().zip(observed).enumerate() {
        if of.training_seconds <= 0.0 {
            out.push(None);
            continue;
        }
        let own = observed.as_ref().map(|observed| by_own(of, observed)).transpose()?.flatten();
        let images = observed.as_ref().map_or(0, |observed| observed.found.samples);
        let mut model = None;
        let mut off = None;
        let mut agreement = None;
        if let Some(fitted) = fitted.filter(|fitted| fitted.known[i]) {
            let latest = observed.as_ref().map_or(0.0, |observed| observed.latest);
            model = Some(by_model(fitted, i, of, latest)?);
            off = fitted.offs[i];
            agreement = fitted.agreement.as_ref();
        }
        let verdict = own.as_ref().map(|own| verdict(own, images, model.as_ref(), off, agreement));
        out.push(Some(Costs { own, images, model, off, verdict, benign: benign(of)? }));
    }
    Ok(out)
}

/// The own samples lead. Where they leave it open the model of all configurations may decide, if it
/// agrees with what was observed, here and elsewhere, and expects no more time than was waited for.
fn verdict(
    own: &Cost,
    images: u64,
    model: Option<&Cost>,
    off: Option<Off>,
    agreement: Option<&Agreement>,
) -> CostVerdict {
    if images < IMAGES {
        return CostVerdict { standing: Standing::Inconclusive, basis: Basis::FewImages };
    }
    let agrees = agreement.is_some_and(|all| all.calibrated) && off.is_some_and(|off| off.within);
    match model {
        Some(model)
            if own.standing == Standing::Inconclusive
                && agrees
                && !model.beyond
                && model.standing != Standing::Inconclusive =>
        {
            CostVerdict { standing: model.standing, basis: Basis::Pooled }
        }
        _ => CostVerdict { standing: own.standing, basis: Basis::OwnSamples },
    }
}

/// E\[T\] by the model; up to the latest time of all where the distribution has no mean.
fn by_model(
    fitted: &Fitted<'_>,
    index: usize,
    of: &Configuration,
    latest: f64,
) -> Result<Cost, AnalysisError> {
    let level = student_level(fitted.clusters.freedom(), level());
    let predicted = fitted.fit.predict(&fitted.design.row(index), level)?;
    let mean = predicted.mean();
    let mean = match mean.value {
        Some(value) if value.is_finite() => mean,
        _ => predicted.restricted_mean(fitted.latest)?,
    };
    let ratio = cost_ratio(of.training_seconds, &mean)?;
    Ok(cost(&mean, &ratio, mean.value.is_some_and(|value| value > latest)))
}

/// The mean up to the latest time of the own samples, which is the observed one where every answer
/// changed. Where some resisted, the ratio's lower end is that of an attacker who then takes another
/// sample: what he spends on all, over the share that he changes.
fn by_own(of: &Configuration, observed: &Observed) -> Result<Option<Cost>, AnalysisError> {
    let mean = observed.found.mean;
    if mean.value.is_none_or(|value| value <= 0.0) {
        return Ok(None);
    }
    let mut ratio = cost_ratio(of.training_seconds, &mean)?;
    if !observed.complete {
        ratio.low = match observed.found.price {
            Some(price) => (of.training_seconds / price.high).min(ratio.low),
            None => 0.0,
        };
    }
    Ok(Some(cost(&mean, &ratio, !observed.complete)))
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
