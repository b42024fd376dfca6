use std::collections::BTreeMap;

use super::coefficient::{Coefficient, INTERCEPT};
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::family::{Family, MAX_PARAMETERS, Nested};
use super::likelihood::{Block, Likelihood, Times};
use super::matrix::{Square, dot};
use super::newton::{Lost, Peak, maximise};
use super::standard::{STRIDE, Standard, places_a_start, runaway};
use crate::estimate::Level;

/// What to fit beyond the default: all covariates on the location, none on the other parameters,
/// no penalty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Options {
    /// ½·penalty·Σβ² on coefficients per standard deviation, taken from the mean log-likelihood;
    /// intercepts stay free. 0 is none.
    pub penalty: f64,
    /// Covariates of the other parameters, by the parameter's name.
    pub ancillary: BTreeMap<String, Vec<String>>,
}

impl Options {
    /// Lets a parameter other than the location depend on covariates too.
    #[must_use]
    pub fn with_ancillary(mut self, parameter: &str, covariates: &[&str]) -> Self {
        let names = covariates.iter().map(|&c| c.to_owned()).collect();
        self.ancillary.insert(parameter.to_owned(), names);
        self
    }

    /// Pulls coefficients towards 0, which also makes separated data fit.
    #[must_use]
    pub fn with_penalty(mut self, penalty: f64) -> Self {
        self.penalty = penalty;
        self
    }

    fn covariates(
        &self,
        family: &dyn Family,
        names: &[String],
    ) -> Result<Vec<Vec<usize>>, SurvivalError> {
        let parameters = family.parameters();
        let mut out = vec![Vec::new(); parameters.len()];
        out[0] = (0..names.len()).collect();
        for (parameter, covariates) in &self.ancillary {
            let others = parameters[1..].iter().map(|&n| n.to_owned()).collect::<Vec<_>>();
            if others.is_empty() {
                let model = family.name();
                let name = parameter.clone();
                return Err(SurvivalError::NoParameter { model, name });
            }
            let at = 1 + position(&others, parameter)?;
            for covariate in covariates {
                out[at].push(position(names, covariate)?);
            }
        }
        Ok(out)
    }
}

fn position(known: &[String], name: &str) -> Result<usize, SurvivalError> {
    known
        .iter()
        .position(|k| k == name)
        .ok_or_else(|| SurvivalError::Unknown { name: name.to_owned(), known: known.to_vec() })
}

/// A fitted parametric model: its table, how well it fits, and what it predicts.
#[derive(Clone)]
pub struct Fit {
    pub(crate) family: &'static dyn Family,
    pub(crate) covariates: Vec<String>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) estimates: Vec<f64>,
    pub(crate) covariance: Square,
    rows: usize,
    /// How many rows there are by weight.
    weight: f64,
    log_likelihood: f64,
}

/// Fits a parametric model by maximum likelihood, or by penalised likelihood with a penalty.
///
/// # Errors
/// Data on which no fit has a meaning; the message says what to do.
pub fn fit(
    family: &'static dyn Family,
    data: &Lifetimes,
    options: &Options,
) -> Result<Fit, SurvivalError> {
    let count = family.parameters().len();
    if !(1..=MAX_PARAMETERS).contains(&count) {
        let what = "the number of parameters of a model";
        return Err(SurvivalError::Question { what, value: count as f64 });
    }
    let standard = Standard::new(data, options.penalty)?;
    let times = Times::new(data)?;
    let covariates = options.covariates(family, &standard.names)?;
    let task = FitTask { times: &times, standard: &standard, penalty: options.penalty };
    let blocks = Block::sequence(covariates.clone());
    let climbed = task.climb(family, covariates);
    let FoundPeak { likelihood, peak } =
        climbed.map_err(|why| reason(why, family, &blocks, &standard))?;
    let factor = peak
        .information
        .cholesky()
        .ok_or_else(|| SurvivalError::NotConverged { model: family.name() })?;
    let covariance = factor.inverse();
    refuse_runaway(&likelihood.blocks, &peak, &covariance, &standard).map_or(Ok(()), Err)?;
    let back = back(&likelihood.blocks, &standard);
    let mut estimates: Vec<f64> =
        (0..back.n).map(|i| dot(&back.at[i * back.n..(i + 1) * back.n], &peak.at)).collect();
    estimates[0] += times.shift;
    Ok(Fit {
        family,
        log_likelihood: peak.value + likelihood.penalty_at(&peak.at) - times.unit(),
        covariates: standard.names.clone(),
        covariance: covariance.mixed_by(&back),
        blocks: likelihood.blocks,
        estimates,
        rows: data.rows(),
        weight: data.total_weight(),
    })
}

/// What is the same for a family and for its special cases.
struct FitTask<'a> {
    times: &'a Times,
    standard: &'a Standard,
    penalty: f64,
}

/// A family's likelihood and its maximum.
struct FoundPeak<'a> {
    likelihood: Likelihood<'a>,
    peak: Peak,
}

impl<'a> FitTask<'a> {
    /// Climbs from the best of the special cases and of a fit to a sample of the rows, or else
    /// from the maximum without covariates.
    fn climb(
        &self,
        family: &'a dyn Family,
        covariates: Vec<Vec<usize>>,
    ) -> Result<FoundPeak<'a>, Lost> {
        let full = self.likelihood(family, covariates.clone(), self.penalty);
        let mut starts = Vec::new();
        for nested in family.nested() {
            let inner = covariates[..nested.family.parameters().len()].to_vec();
            if let Ok(special) = self.climb(nested.family, inner) {
                let blocks = &special.likelihood.blocks;
                starts.push(placed(nested, blocks, &special.peak.at, &full.blocks));
            }
        }
        starts.extend(self.of_sample(family, &covariates));
        if starts.is_empty() {
            let empty = self.likelihood(family, vec![Vec::new(); covariates.len()], 0.0);
            let zero = vec![0.0; covariates.len()];
            let null = maximise(zero, |at, derivatives| empty.evaluate(at, derivatives));
            let null = null.map_err(|why| match why {
                Lost::Endless(k) => Lost::Endless(full.blocks[k].start),
                Lost::Stuck => why,
            })?;
            starts.push(spread(&null.at, &full.blocks));
        }
        let start = best(&full, starts).ok_or(Lost::Stuck)?;
        let peak = maximise(start, |at, derivatives| full.evaluate(at, derivatives))?;
        Ok(FoundPeak { likelihood: full, peak })
    }

    /// The maximum on a sample, if there are enough rows and, in the sample, enough events.
    fn of_sample(&self, family: &dyn Family, covariates: &[Vec<usize>]) -> Option<Vec<f64>> {
        let times = self.times.thinned(STRIDE);
        let width: usize = covariates.iter().map(|c| c.len() + 1).sum();
        if !places_a_start(&times.observed, width) {
            return None;
        }
        let standard = self.standard.thinned(STRIDE);
        let sample = FitTask { times: &times, standard: &standard, penalty: self.penalty };
        Some(sample.climb(family, covariates.to_vec()).ok()?.peak.at)
    }

    fn likelihood(
        &self,
        family: &'a dyn Family,
        covariates: Vec<Vec<usize>>,
        penalty: f64,
    ) -> Likelihood<'a> {
        Likelihood::new(family, self.times, self.standard, covariates, penalty)
    }
}

/// The start from which the likelihood is highest.
fn best(likelihood: &Likelihood<'_>, mut starts: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    if starts.len() < 2 {
        return starts.pop();
    }
    let all = starts.into_iter().map(|start| (likelihood.evaluate(&start, false).value, start));
    all.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, start)| start)
}

/// Intercepts in their places, all slopes 0.
fn spread(intercepts: &[f64], blocks: &[Block]) -> Vec<f64> {
    let mut start = vec![0.0; blocks.iter().map(Block::len).sum()];
    for (block, value) in blocks.iter().zip(intercepts) {
        start[block.start] = *value;
    }
    start
}

/// A special case's coefficients in the larger family's places.
fn placed(nested: &Nested, inner: &[Block], at: &[f64], outer: &[Block]) -> Vec<f64> {
    let mut start = vec![0.0; outer.iter().map(Block::len).sum()];
    for (k, (block, (factor, offset))) in outer.iter().zip(nested.map).enumerate() {
        if let Some(special) = inner.get(k) {
            for (to, from) in block.range().zip(special.range()) {
                start[to] = factor * at[from];
            }
        }
        start[block.start] += offset;
    }
    start
}

/// What a lost climb says about the data.
fn reason(why: Lost, family: &dyn Family, blocks: &[Block], standard: &Standard) -> SurvivalError {
    let model = family.name();
    let Lost::Endless(i) = why else { return SurvivalError::NotConverged { model } };
    for (block, parameter) in blocks.iter().zip(family.parameters()) {
        if i == block.start {
            return SurvivalError::Endless { model, parameter };
        }
        if block.range().contains(&i) {
            let covariate = block.covariates[i - block.start - 1];
            return SurvivalError::Separation(standard.names[covariate].clone());
        }
    }
    SurvivalError::NotConverged { model }
}

fn refuse_runaway(
    blocks: &[Block],
    peak: &Peak,
    covariance: &Square,
    standard: &Standard,
) -> Option<SurvivalError> {
    for block in blocks {
        let slopes = &peak.at[block.range()][1..];
        if let Some(i) =
            runaway(slopes, |i: usize| covariance.get(block.start + 1 + i, block.start + 1 + i))
        {
            let name = standard.names[block.covariates[i]].clone();
            return Some(SurvivalError::Separation(name));
        }
    }
    None
}

/// The matrix that turns standardised coefficients into those of the data's units.
fn back(blocks: &[Block], standard: &Standard) -> Square {
    let mut out = Square::zero(blocks.iter().map(Block::len).sum());
    for block in blocks {
        out.add(block.start, block.start, 1.0);
        for (i, &c) in (block.start + 1..).zip(&block.covariates) {
            let inverse = 1.0 / standard.deviations[c];
            out.add(i, i, inverse);
            out.add(block.start, i, -standard.means[c] * inverse);
        }
    }
    out
}

impl Fit {
    /// Which model it is.
    #[must_use]
    pub fn family(&self) -> &'static dyn Family {
        self.family
    }

    /// The table: per parameter its intercept, then its covariates.
    #[must_use]
    pub fn coefficients(&self, level: Level) -> Vec<Coefficient> {
        let mut out = Vec::new();
        for (block, parameter) in self.blocks.iter().zip(self.family.parameters()) {
            let names = block.covariates.iter().map(|&c| self.covariates[c].as_str());
            for (i, name) in block.range().zip(std::iter::once(INTERCEPT).chain(names)) {
                let estimate = self.estimates[i];
                let variance = self.covariance.get(i, i);
                out.push(Coefficient::new(parameter, name, estimate, variance, level));
            }
        }
        out
    }

    /// The covariance of two lines of the table.
    #[must_use]
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        self.covariance.get(i, j)
    }

    /// How many rows it was fitted on.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The names of the covariates, in the order in which predictions take them.
    #[must_use]
    pub fn covariates(&self) -> &[String] {
        &self.covariates
    }

    /// The log-likelihood, without the penalty.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Akaike's criterion; the smallest of several models on the same rows is preferred.
    #[must_use]
    pub fn aic(&self) -> f64 {
        2.0 * self.estimates.len() as f64 - 2.0 * self.log_likelihood
    }

    /// The Bayesian criterion k·ln n − 2·ln L with k the number of coefficients and n the number of
    /// rows by weight.
    #[must_use]
    pub fn bic(&self) -> f64 {
        self.estimates.len() as f64 * self.weight.ln() - 2.0 * self.log_likelihood
    }

    /// The distribution's parameters for one row of covariates.
    pub(crate) fn theta(&self, covariates: &[f64]) -> Vec<f64> {
        self.blocks
            .iter()
            .map(|block| {
                let slopes = &self.estimates[block.range()][1..];
                let terms = slopes.iter().zip(&block.covariates).map(|(b, &c)| b * covariates[c]);
                self.estimates[block.start] + terms.sum::<f64>()
            })
            .collect()
    }
}
