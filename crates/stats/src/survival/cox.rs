use std::collections::BTreeMap;

use super::coefficient::Coefficient;
use super::curve::kaplan_meier;
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::log_rank::TestResult;
use super::matrix::{Square, dot};
use super::newton::{Lost, maximise};
use super::partial::{Moment, Partial, Ties};
use super::standard::{STRIDE, Standard, places_a_start, runaway};
use crate::estimate::Level;

/// The proportional hazards model of Cox (1972): h(t|x) = h₀(t)·exp(β(x − x̄)) with any h₀. Says
/// how covariates act on the risk without assuming a distribution.
#[derive(Debug, Clone)]
pub struct Cox {
    pub(crate) covariates: Vec<String>,
    pub(crate) means: Vec<f64>,
    pub(crate) deviations: Vec<f64>,
    /// In standardised units.
    pub(crate) slopes: Vec<f64>,
    /// In standardised units.
    pub(crate) covariance: Square,
    pub(crate) moments: Vec<Moment>,
    pub(crate) partial: Partial,
    /// Every time of events, of any stratum, with the share of rows without event just before, by
    /// Kaplan and Meier; each row counts once, whatever its weight, as in R.
    pub(crate) lasting: Vec<(f64, f64)>,
    /// The strata that were fitted, ascending.
    pub(crate) strata: Vec<usize>,
    pub(crate) rows: usize,
    /// How many events there were, by weight.
    events: f64,
    log_likelihood: f64,
    null_log_likelihood: f64,
}

const NOT_CONVERGED: SurvivalError = SurvivalError::NotConverged { model: "cox" };

/// Fits Cox's model by partial likelihood, with a penalty as in [`Options`](super::Options); 0 is
/// none.
///
/// # Errors
/// Data on which no fit has a meaning, also data without covariates; the message says what to do.
pub fn cox(data: &Lifetimes, ties: Ties, penalty: f64) -> Result<Cox, SurvivalError> {
    let standard = Standard::new(data, penalty)?;
    if standard.names.is_empty() {
        let what = "the number of covariates of a Cox model";
        return Err(SurvivalError::Question { what, value: 0.0 });
    }
    let partial = Partial::new(data, &standard, ties, penalty);
    let null_log_likelihood = partial.evaluate(&vec![0.0; standard.names.len()], false).value;
    let start = start(data, &standard, ties, penalty);
    let peak = maximise(start, |at, derivatives| partial.evaluate(at, derivatives));
    let peak = peak.map_err(|why| match why {
        Lost::Endless(i) => SurvivalError::Separation(standard.names[i].clone()),
        Lost::Stuck => NOT_CONVERGED,
    })?;
    let covariance = peak.information.cholesky().ok_or(NOT_CONVERGED)?.inverse();
    if let Some(i) = runaway(&peak.at, |i| covariance.get(i, i)) {
        return Err(SurvivalError::Separation(standard.names[i].clone()));
    }
    Ok(Cox {
        log_likelihood: peak.value + partial.penalty_at(&peak.at),
        null_log_likelihood,
        moments: partial.moments(&peak.at),
        partial,
        lasting: lasting(data)?,
        covariates: standard.names,
        means: standard.means,
        deviations: standard.deviations,
        slopes: peak.at,
        covariance,
        strata: data.strata_levels(),
        rows: data.rows(),
        events: data.event_weight(),
    })
}

/// The maximum on a sample of the rows, or 0 where a sample is too small or has none.
fn start(data: &Lifetimes, standard: &Standard, ties: Ties, penalty: f64) -> Vec<f64> {
    let zero = vec![0.0; standard.names.len()];
    let rows: Vec<usize> = (0..data.rows()).step_by(STRIDE).collect();
    let Ok(sample) = data.select(&rows) else { return zero };
    if !places_a_start(sample.observed(), zero.len()) {
        return zero;
    }
    let thin = standard.thinned(STRIDE);
    let partial = Partial::new(&sample, &thin, ties, penalty);
    let start = start(&sample, &thin, ties, penalty);
    maximise(start, |at, derivatives| partial.evaluate(at, derivatives)).map_or(zero, |p| p.at)
}

fn lasting(data: &Lifetimes) -> Result<Vec<(f64, f64)>, SurvivalError> {
    let unweighted = data.clone().weights(vec![1.0; data.rows()])?;
    let curve = kaplan_meier(&unweighted, Level::default());
    let mut before = 1.0;
    let mut out = Vec::with_capacity(curve.steps.len());
    for step in &curve.steps {
        out.push((step.time, before));
        before = step.estimate.value.unwrap_or(0.0);
    }
    Ok(out)
}

impl Cox {
    /// The table; its parameter is called `beta`, and e to the estimate is the hazard ratio.
    #[must_use]
    pub fn coefficients(&self, level: Level) -> Vec<Coefficient> {
        (0..self.slopes.len())
            .map(|i| {
                let unit = self.deviations[i];
                let variance = self.covariance.get(i, i) / (unit * unit);
                let name = &self.covariates[i];
                Coefficient::new("beta", name, self.slopes[i] / unit, variance, level)
            })
            .collect()
    }

    /// The names of the covariates, in the order in which predictions take them.
    #[must_use]
    pub fn covariates(&self) -> &[String] {
        &self.covariates
    }

    /// The partial log-likelihood, without the penalty. Not comparable with a parametric one.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// The partial log-likelihood without covariates.
    #[must_use]
    pub fn null_log_likelihood(&self) -> f64 {
        self.null_log_likelihood
    }

    /// Akaike's criterion of the partial likelihood, to compare Cox models with each other.
    #[must_use]
    pub fn aic(&self) -> f64 {
        2.0 * self.slopes.len() as f64 - 2.0 * self.log_likelihood
    }

    /// The Bayesian criterion k·ln d − 2·ln L of the partial likelihood, with d the number of events
    /// by weight: censored rows add no information to it (Volinsky and Raftery 2000), as in R.
    #[must_use]
    pub fn bic(&self) -> f64 {
        self.slopes.len() as f64 * self.events.ln() - 2.0 * self.log_likelihood
    }

    /// The likelihood ratio test against a model without covariates.
    #[must_use]
    pub fn ratio_test(&self) -> TestResult {
        let gain = 2.0 * (self.log_likelihood - self.null_log_likelihood);
        TestResult::new(gain.max(0.0), self.slopes.len())
    }

    /// The strata that were fitted, ascending.
    #[must_use]
    pub fn strata(&self) -> &[usize] {
        &self.strata
    }

    /// The same fit as it holds for one stratum, which alone can predict when there are several.
    ///
    /// # Errors
    /// A stratum that was not in the fit.
    pub fn within(&self, stratum: usize) -> Result<Self, SurvivalError> {
        if !self.strata.contains(&stratum) {
            return Err(SurvivalError::Stratum(stratum));
        }
        let mut out = self.clone();
        out.moments.retain(|moment| moment.stratum == stratum);
        out.strata = vec![stratum];
        Ok(out)
    }

    /// The cumulative hazard by Breslow at mean covariates: each event time, and H₀ from there on.
    /// Of several strata, that of the first.
    #[must_use]
    pub fn baseline(&self) -> Vec<(f64, f64)> {
        self.baseline_of(self.strata.first().copied().unwrap_or_default())
    }

    /// The same of one stratum.
    #[must_use]
    pub fn baseline_of(&self, stratum: usize) -> Vec<(f64, f64)> {
        let mut sum = 0.0;
        let mut out = Vec::new();
        for moment in self.moments.iter().filter(|moment| moment.stratum == stratum) {
            sum += moment.hazard;
            out.push((moment.time, sum));
        }
        out
    }

    /// The cumulative hazards of every stratum.
    ///
    /// # Errors
    /// Rows of a stratum that was not in the fit.
    pub(crate) fn baselines(
        &self,
        data: &Lifetimes,
    ) -> Result<BTreeMap<usize, Vec<(f64, f64)>>, SurvivalError> {
        let mut out = BTreeMap::new();
        for stratum in data.strata_levels() {
            if !self.strata.contains(&stratum) {
                return Err(SurvivalError::Stratum(stratum));
            }
            out.insert(stratum, self.baseline_of(stratum));
        }
        Ok(out)
    }

    /// A row in standardised units.
    pub(crate) fn standardised(&self, row: &[f64]) -> Vec<f64> {
        row.iter()
            .enumerate()
            .map(|(i, value)| (value - self.means[i]) / self.deviations[i])
            .collect()
    }

    /// Minus the linear predictor of every row: the score by which concordance ranks them.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have.
    pub fn scores(&self, data: &Lifetimes) -> Result<Vec<f64>, SurvivalError> {
        let columns = data.columns(&self.covariates)?;
        let mut scores = Vec::with_capacity(data.rows());
        for i in 0..data.rows() {
            let row: Vec<f64> = columns.iter().map(|column| column[i]).collect();
            scores.push(-dot(&self.slopes, &self.standardised(&row)));
        }
        Ok(scores)
    }

    /// The chance that each row has its event by `time`: what a calibration looks at.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have, or a stratum that was not in the fit.
    pub fn event_chances(&self, data: &Lifetimes, time: f64) -> Result<Vec<f64>, SurvivalError> {
        let mut by = BTreeMap::new();
        for (stratum, baseline) in self.baselines(data)? {
            by.insert(stratum, hazard_by(&baseline, time));
        }
        let mut chances = self.scores(data)?;
        for (chance, stratum) in chances.iter_mut().zip(data.strata()) {
            *chance = -(-by[stratum] * (-*chance).exp()).exp_m1();
        }
        Ok(chances)
    }
}

/// The cumulative hazard of a baseline by a time.
pub(crate) fn hazard_by(baseline: &[(f64, f64)], time: f64) -> f64 {
    match baseline.partition_point(|(when, _)| *when <= time) {
        0 => 0.0,
        after => baseline[after - 1].1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Freireich (1963): what R's coxph prints for placebo against 6-MP under both ties.
    #[test]
    fn both_ties_of_a_textbook() {
        let treated =
            [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35];
        let placebo = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23];
        let censored = [3, 5, 7, 8, 11, 12, 13, 16, 17, 18, 19, 20];
        let times = treated.iter().chain(&placebo).map(|&t| f64::from(t)).collect();
        let observed = (0..42).map(|i| i > 20 || !censored.contains(&i)).collect();
        let arm = (0..42).map(|i| f64::from(i > 20)).collect();
        let data = Lifetimes::new(times, observed).unwrap().covariate("placebo", arm).unwrap();
        for (ties, estimate, se) in [(Ties::Efron, 1.5721, 0.4124), (Ties::Breslow, 1.5092, 0.4096)]
        {
            let got = cox(&data, ties, 0.0).unwrap();
            let line = &got.coefficients(Level::default())[0];
            assert!((line.estimate - estimate).abs() < 1e-4, "{line:?}");
            assert!((line.se - se).abs() < 1e-4, "{line:?}");
        }
        let got = cox(&data, Ties::Efron, 0.0).unwrap();
        assert_eq!(got.median(&[1.0]).unwrap(), Some(8.0));
        let both = [0.0, 1.0].map(|x| got.restricted_mean(&[x], 20.0, Level::default()).unwrap());
        assert!(both[0].low > both[1].high, "{both:?}");
        assert!(both.iter().all(|m| m.contains(m.value.unwrap_or(-1.0)) && m.high < 20.0));
        assert!(got.survival(&[1.0, 2.0], 5.0, Level::default()).is_err());
        let start = got.survival(&[1.0], 0.5, Level::default()).unwrap();
        assert_eq!((start.value, start.low), (Some(1.0), 1.0));
    }
}
