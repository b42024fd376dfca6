//! Which survival model is used, and its fit with errors clustered by trained model and by image.

use std::collections::{BTreeMap, BTreeSet};

use faultlens_stats::survival::{
    Compared, CrossedErrors, Family, Fit, Fitted, INTERCEPT, Lifetimes, Options, SurvivalError,
    fit, recommend_parametric,
};

use crate::format::number;

use super::agreement::{Agreement, FAR, offs};
use super::clock::{Attacked, Clock};
use super::covariates::Design;
use super::level;
use super::observed::Observed;
use super::rows::Row;

/// Which rows share what no covariate knows: those of a trained model, and those of an image.
pub(super) struct Clusters {
    models: Vec<usize>,
    images: Vec<usize>,
    /// How many trained models and images there are.
    pub(super) count: [usize; 2],
}

impl Clusters {
    pub(super) fn new(of: &Attacked<'_>, rows: &[&Row]) -> Self {
        let models: Vec<usize> =
            rows.iter().map(|row| of.models[row.configuration as usize]).collect();
        let images: Vec<usize> = rows.iter().map(|row| of.images.of(row)).collect();
        let count = [&models, &images].map(|ids| ids.iter().collect::<BTreeSet<_>>().len());
        Self { models, images, count }
    }

    /// What rows are clustered by. A single model, or a single image, says nothing about others.
    pub(super) fn by(&self) -> &'static str {
        match self.count.map(|count| count > 1) {
            [true, true] => "model and image",
            [true, false] => "model",
            [false, true] => "image",
            [false, false] => "row",
        }
    }

    /// The two columns of clusters.
    pub(super) fn columns(&self) -> [&[usize]; 2] {
        match self.count.map(|count| count > 1) {
            [true, false] => [&self.models, &self.models],
            [false, true] => [&self.images, &self.images],
            _ => [&self.models, &self.images],
        }
    }

    /// The degrees of freedom of what varies within models and images.
    pub(super) fn freedom(&self) -> f64 {
        let fewest = self.count.into_iter().filter(|count| *count > 1).min();
        fewest.map_or(1.0, |count| count as f64 - 1.0)
    }

    /// Those of what only tells trained models apart, of which there are so many covariates.
    pub(super) fn freedom_between_models(&self, covariates: usize) -> f64 {
        (self.count[0] as f64 - 1.0 - covariates as f64).max(0.0)
    }

    /// Whether a column is the same in all rows of every model.
    pub(super) fn between_models(&self, column: &[f64]) -> bool {
        let mut first = BTreeMap::new();
        column.iter().zip(&self.models).all(|(v, model)| first.entry(model).or_insert(v) == &v)
    }
}

/// Rows as survival models take them.
pub(super) fn lifetimes(
    rows: &[&Row],
    clock: Clock,
    design: &Design,
) -> Result<Lifetimes, SurvivalError> {
    let durations = rows.iter().map(|row| clock.of(row)).collect();
    let mut data = Lifetimes::new(durations, rows.iter().map(|row| row.changed).collect())?;
    for (covariate, values) in design.covariates.iter().zip(&design.values) {
        let column = rows.iter().map(|row| values[row.configuration as usize]).collect();
        data = data.covariate(&covariate.name, column)?;
    }
    Ok(data)
}

/// A fit whose errors know that rows of a model, and rows of an image, resemble each other.
pub(super) struct Refit {
    pub(super) fit: Fit,
    /// The covariates that a single trained model decides.
    pub(super) alone: BTreeSet<String>,
}

/// Fits a family with errors that hold for other models and other images.
pub(super) fn refit(
    family: &'static dyn Family,
    data: &Lifetimes,
    clusters: &Clusters,
) -> Result<Refit, SurvivalError> {
    let plain = fit(family, data, &Options::default())?;
    if clusters.by() == "row" {
        return Ok(Refit { fit: plain, alone: BTreeSet::new() });
    }
    let (fit, CrossedErrors { single, .. }) = plain.crossed(data, clusters.columns())?;
    let mut alone = BTreeSet::new();
    if clusters.count[0] > 1 {
        for (line, single) in fit.coefficients(level()).into_iter().zip(single) {
            if single && line.covariate != INTERCEPT {
                alone.insert(line.covariate);
            }
        }
    }
    Ok(Refit { fit, alone })
}

/// Beyond this the generalised gamma is hardly one: its gamma has a shape 1/λ² below 1/9, nearly all
/// of the distribution lies at one edge, and only the tail on the other side moves with the data. The
/// Weibull (1), log-normal (0), half-normal (√2) and inverse Weibull (−1) distributions are far from it.
const STEEPEST: f64 = 3.0;

/// Why a fit is not used, whatever its criterion.
struct Refusal {
    why: String,
    /// How far off its expected seconds are, where that alone is wrong.
    far: Option<f64>,
}

/// What was observed, for the fits that are asked whether they agree.
pub(super) struct Evidence<'a> {
    pub(super) design: &'a Design,
    pub(super) known: &'a [bool],
    pub(super) observed: &'a [Option<Observed>],
}

impl Evidence<'_> {
    fn refusal(&self, fit: &Fit) -> Option<Refusal> {
        if !has_mean(fit) {
            return Some(Refusal { why: "its mean is infinite".to_owned(), far: None });
        }
        if let Some(shape) = steep(fit) {
            let why = format!(
                "its shape λ = {} lies beyond ±{STEEPEST}, where the tail alone decides the mean",
                number(shape, 2)
            );
            return Some(Refusal { why, far: None });
        }
        let offs = offs(fit, self.design, self.known, self.observed);
        let agreement = Agreement::of(&offs).ok().flatten()?;
        agreement.is_far().then(|| Refusal {
            why: format!(
                "it expects {} times the seconds observed (the middle one of {} configurations; at \
                 most {FAR} times, or no less than their inverse, is accepted)",
                number(agreement.median, 3),
                agreement.configurations
            ),
            far: Some(agreement.median.ln().abs()),
        })
    }
}

/// The λ of a generalised gamma that is none.
fn steep(fit: &Fit) -> Option<f64> {
    let lines = fit.coefficients(level());
    let shape = lines.iter().find(|line| line.parameter == "lambda" && line.covariate == INTERCEPT);
    let of_gamma = fit.family().name() == "gengamma";
    shape.filter(|_| of_gamma).map(|line| line.estimate).filter(|shape| shape.abs() > STEEPEST)
}

/// The model that was chosen.
pub(super) struct Choice {
    pub(super) index: usize,
    /// Why it.
    pub(super) reason: String,
    /// Of each model why it was refused.
    pub(super) refused: Vec<Option<String>>,
}

/// The model that is asked for, or the one that its AIC recommends among parametric ones with a
/// finite mean and a sound shape that expect about the seconds observed. Where none does, the one
/// that comes nearest. Otherwise why there is none.
pub(super) fn choose(
    compared: &[Compared],
    forced: Option<&str>,
    evidence: &Evidence<'_>,
) -> Result<Choice, String> {
    let mut refusals = Vec::with_capacity(compared.len());
    for one in compared {
        refusals.push(match one.outcome.as_ref().map(|worth| &worth.fit) {
            Ok(Fitted::Parametric(fit)) => evidence.refusal(fit),
            _ => None,
        });
    }
    let refused: Vec<Option<String>> =
        refusals.iter().map(|refusal| refusal.as_ref().map(|one| one.why.clone())).collect();
    if let Some(name) = forced {
        let index = compared.iter().position(|one| one.model.name() == name);
        let index = index.ok_or_else(|| format!("{name} was not compared"))?;
        return match &compared[index].outcome {
            Ok(_) => Ok(Choice { index, reason: "as asked for".to_owned(), refused }),
            Err(why) => Err(format!("{name} has no fit: {why}")),
        };
    }
    let sound: BTreeSet<&str> = compared
        .iter()
        .zip(&refused)
        .filter(|(_, refused)| refused.is_none())
        .map(|(one, _)| one.model.name())
        .collect();
    let will_do = |fit: &Fit| sound.contains(fit.family().name());
    if let Some(found) = recommend_parametric(compared, will_do) {
        return Ok(Choice { index: found.index, reason: found.reason, refused });
    }
    let far = refusals.iter().enumerate().filter_map(|(i, one)| Some((i, one.as_ref()?.far?)));
    let (index, _) = far.min_by(|a, b| a.1.total_cmp(&b.1)).ok_or_else(|| without_fit(compared))?;
    let reason = "no model expects about the seconds observed, and it comes nearest".to_owned();
    Ok(Choice { index, reason, refused })
}

/// Whether the distribution has a finite mean. All covariates act on the location, so that it has
/// one for every row if it has one for any.
fn has_mean(fit: &Fit) -> bool {
    let row = vec![0.0; fit.covariates().len()];
    let mean = fit.predict(&row, level()).ok().and_then(|predicted| predicted.mean().value);
    mean.is_some_and(f64::is_finite)
}

fn without_fit(compared: &[Compared]) -> String {
    let why = compared.iter().find_map(|one| {
        one.outcome.as_ref().err().map(|why| format!("{}: {why}", one.model.name()))
    });
    match why {
        Some(why) => format!("no parametric model has a fit with a finite mean; {why}"),
        None => "no parametric model has a finite mean; force one to see it".to_owned(),
    }
}
