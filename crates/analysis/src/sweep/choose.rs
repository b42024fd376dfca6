//! Which survival model is used, and its fit with errors clustered by trained model.

use std::collections::BTreeSet;

use faultlens_stats::survival::{
    Compared, Family, Fit, Lifetimes, Options, SurvivalError, fit, recommend_parametric,
};

use super::clock::{Attacked, Clock};
use super::covariates::Design;
use super::level;
use super::rows::Row;

/// Fewer trained models than this are too few to estimate how models differ.
const FEW: usize = 10;

/// Which rows share what no covariate knows.
pub(super) struct Clusters {
    /// Of each row.
    pub(super) of_rows: Vec<usize>,
    pub(super) count: usize,
    /// What a cluster is.
    pub(super) by: &'static str,
}

impl Clusters {
    /// By trained model where there are enough, else by configuration, else every row alone.
    pub(super) fn new(of: &Attacked<'_>, rows: &[&Row]) -> Self {
        let distinct = |ids: &[usize]| ids.iter().collect::<BTreeSet<_>>().len();
        let configuration = |row: &&Row| row.configuration as usize;
        let by_model: Vec<usize> = rows.iter().map(|row| of.models[configuration(row)]).collect();
        let by_configuration: Vec<usize> = rows.iter().map(configuration).collect();
        let models = distinct(&by_model);
        let configurations = distinct(&by_configuration);
        if models >= FEW {
            Self { of_rows: by_model, count: models, by: "model" }
        } else if configurations >= FEW {
            Self { of_rows: by_configuration, count: configurations, by: "configuration" }
        } else {
            Self { of_rows: (0..rows.len()).collect(), count: rows.len(), by: "row" }
        }
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

/// A fit whose errors know that rows of a cluster resemble each other.
pub(super) fn refit(
    family: &'static dyn Family,
    data: &Lifetimes,
    clusters: &Clusters,
) -> Result<Fit, SurvivalError> {
    let plain = fit(family, data, &Options::default())?;
    plain.clustered(data, &clusters.of_rows)?.with_errors_at_least_of(&plain)
}

/// The model that is asked for, or the one that its AIC recommends among parametric ones with a
/// finite mean: its place, and why it. Otherwise why there is none.
pub(super) fn choose(
    compared: &[Compared],
    forced: Option<&str>,
) -> Result<(usize, String), String> {
    if let Some(name) = forced {
        let index = compared.iter().position(|one| one.model.name() == name);
        let index = index.ok_or_else(|| format!("{name} was not compared"))?;
        return match &compared[index].outcome {
            Ok(_) => Ok((index, "as asked for".to_owned())),
            Err(why) => Err(format!("{name} has no fit: {why}")),
        };
    }
    let found = recommend_parametric(compared, has_mean).ok_or_else(|| without_fit(compared))?;
    Ok((found.index, found.reason))
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
