//! How far what a survival model expects lies from what was observed.

use faultlens_stats::survival::Fit;
use faultlens_stats::{StatsError, clopper_pearson};
use serde::Serialize;

use super::covariates::Design;
use super::level;
use super::observed::Observed;

/// A model is calibrated where the middle one of its ratios lies within this factor of 1,
const NEAR: f64 = 1.25;
/// and where at most this share of observed intervals is shown to miss it, twice what chance gives.
const MISSED: f64 = 0.1;
/// A model whose middle ratio lies beyond this factor is not chosen, whatever its criterion.
pub(super) const FAR: f64 = 1.5;

/// The expected seconds of a model over those observed, of every configuration that it knows. Where
/// every answer changed these are the means, otherwise those up to the configuration's latest time.
/// Of a model of hazards: the expected number of changed answers over the observed one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// How many configurations were compared.
    pub configurations: u64,
    /// The ratio in the middle.
    pub median: f64,
    /// How many configurations have an observed interval that misses the model.
    pub missed: u64,
    /// The configuration that is furthest off, from 0.
    pub worst: u64,
    /// Its ratio.
    pub worst_ratio: f64,
    /// Whether the model may decide where a configuration's own samples do not.
    pub calibrated: bool,
}

/// One configuration: how far off the model is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Off {
    /// The model's expected seconds over the observed ones.
    pub ratio: f64,
    /// Whether the observed interval holds the model's.
    pub within: bool,
}

/// Of each configuration that has both.
pub(super) fn offs(
    fit: &Fit,
    design: &Design,
    known: &[bool],
    observed: &[Option<Observed>],
) -> Vec<Option<Off>> {
    let mut out = vec![None; observed.len()];
    for (i, observed) in observed.iter().enumerate() {
        let Some(observed) = observed.as_ref().filter(|_| known[i]) else { continue };
        let Ok(predicted) = fit.predict(&design.row(i), level()) else { continue };
        let expected = if observed.complete {
            predicted.mean().value
        } else {
            predicted.restricted_mean(observed.latest).ok().and_then(|mean| mean.value)
        };
        let mean = observed.found.mean;
        if let (Some(expected), Some(value)) = (expected, mean.value) {
            let within = mean.low <= expected && expected <= mean.high;
            out[i] = Some(Off { ratio: expected / value, within });
        }
    }
    out
}

/// Half of the width of an interval of 95%, in standard errors.
const REACH: f64 = 1.96;

/// Changed answers that were expected and observed; `None` where no more than a few are expected.
pub(super) fn off_in_events(expected: f64, observed: f64) -> Option<Off> {
    const FEW: f64 = 5.0;
    let within = (observed - expected).abs() <= REACH * expected.sqrt();
    (expected >= FEW && observed > 0.0).then_some(Off { ratio: expected / observed, within })
}

impl Agreement {
    /// All configurations together; `None` where none has both.
    pub(super) fn of(offs: &[Option<Off>]) -> Result<Option<Self>, StatsError> {
        let mut known = Vec::new();
        for (i, off) in offs.iter().enumerate() {
            known.extend(off.map(|off| (i as u64, off)));
        }
        let distance = |off: &Off| off.ratio.ln().abs();
        let worst = known.iter().max_by(|a, b| distance(&a.1).total_cmp(&distance(&b.1)));
        let Some(&(worst, of_worst)) = worst else { return Ok(None) };
        let mut ratios: Vec<f64> = known.iter().map(|(_, off)| off.ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        let configurations = known.len() as u64;
        let missed = known.iter().filter(|(_, off)| !off.within).count() as u64;
        let shown = clopper_pearson(missed, configurations, level())?.low;
        let near = (1.0 / NEAR..=NEAR).contains(&median);
        Ok(Some(Self {
            configurations,
            median,
            missed,
            worst,
            worst_ratio: of_worst.ratio,
            calibrated: near && shown <= MISSED,
        }))
    }

    /// Whether the model is too far off to be chosen.
    pub(super) fn is_far(&self) -> bool {
        !(1.0 / FAR..=FAR).contains(&self.median)
    }
}
