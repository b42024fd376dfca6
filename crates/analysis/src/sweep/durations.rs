//! Survival models of the durations: the table of all, and the one that is chosen.

use std::collections::{BTreeMap, BTreeSet};

use crate::format::counted;
use faultlens_core::Seed;
use faultlens_stats::survival::{
    Assessment, Compared, Fit, Horizon, Lifetimes, Model, Options as FitOptions, Smoothing,
    SurvivalError, Ties, Worth, compare, qq_points, thinned,
};
use serde::Serialize;

use super::agreement::{Agreement, Off, offs};
use super::choose::{Choice, Clusters, Evidence, choose, lifetimes, refit};
use super::clock::{Attacked, Clock, Unchanged};
use super::covariates::{Covariate, Design, LeftOut};
use super::effects::{Effect, Shape, effects, shapes};
use super::observed::Observed;
use super::rows::Row;
use super::{AnalysisError, Options};

/// Survival on one clock.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Durations {
    /// What durations are measured in.
    pub clock: Clock,
    /// The rows of the models.
    pub rows: u64,
    /// Those of them in which the answer changed.
    pub events: u64,
    /// Under what no answer changed; such rows are in no model.
    pub unchanged: Vec<Unchanged>,
    /// Why there are no models.
    pub missing: Option<String>,
    /// What may explain a duration.
    pub covariates: Vec<Covariate>,
    /// What could have, and why it does not.
    pub left_out: Vec<LeftOut>,
    /// What levels are compared with, by kind.
    pub bases: BTreeMap<&'static str, String>,
    /// Which rows test the models.
    pub split: Option<Split>,
    /// The time by which chances were compared with what was observed.
    pub time: Option<f64>,
    /// The models beside each other, fitted to the training rows.
    pub models: Vec<OfModel>,
    /// The one that answers the questions, fitted to all rows.
    pub chosen: Option<Chosen>,
}

impl Durations {
    /// What is known before anything is fitted.
    pub(super) fn new(
        clock: Clock,
        rows: &[&Row],
        unchanged: Vec<Unchanged>,
        design: &Design,
    ) -> Self {
        Self {
            clock,
            rows: rows.len() as u64,
            events: rows.iter().filter(|row| row.changed).count() as u64,
            unchanged,
            missing: None,
            covariates: design.covariates.clone(),
            left_out: design.left_out.clone(),
            bases: design.bases.clone(),
            split: None,
            time: None,
            models: Vec::new(),
            chosen: None,
        }
    }
}

/// Rows that were fitted, and rows that were held out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Split {
    /// Rows that were fitted.
    pub train_rows: u64,
    /// Those of them in which the answer changed.
    pub train_events: u64,
    /// Rows that were held out.
    pub test_rows: u64,
    /// Those of them in which the answer changed.
    pub test_events: u64,
}

/// One model: whether to believe it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfModel {
    /// Its name.
    pub model: String,
    /// Whether it is the one that is used.
    pub chosen: bool,
    /// Akaike's criterion; `None` of Cox's partial likelihood.
    pub aic: Option<f64>,
    /// The Bayesian criterion; `None` of Cox's partial likelihood.
    pub bic: Option<f64>,
    /// The share of pairs that it ranks rightly, on training rows.
    pub concordance: Option<f64>,
    /// The same on test rows.
    pub test_concordance: Option<f64>,
    /// The mean error of its chances, on training rows.
    pub ici: Option<f64>,
    /// The same on test rows.
    pub test_ici: Option<f64>,
    /// The median error of its chances, on training rows.
    pub e50: Option<f64>,
    /// The same on test rows.
    pub test_e50: Option<f64>,
    /// Why it has no fit.
    pub error: Option<String>,
    /// Why it is not used, whatever its criterion.
    pub refused: Option<String>,
    /// Why a measure is missing.
    pub notes: Vec<String>,
    /// Predicted chances and observed shares.
    pub calibration: Vec<Trace>,
    /// Expected and observed quantiles of residuals.
    pub qq: Vec<Trace>,
}

/// Points of a chart, of training or of test rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trace {
    /// Whose.
    pub part: Part,
    /// Both coordinates of each.
    pub points: Vec<[f64; 2]>,
}

/// A part of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// What the models were fitted to.
    Train,
    /// What they were tested on.
    Test,
}

/// What the coefficients of a model act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// The duration: a factor above 1 prolongs it.
    Duration,
    /// The chance of a change at each step: a factor above 1 shortens the duration.
    Hazard,
}

/// The model that answers the questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chosen {
    /// Its name.
    pub model: String,
    /// What factors are of.
    pub scale: Scale,
    /// Why this one, in a sentence without a full stop.
    pub reason: String,
    /// What standard errors take to be independent: `model and image`, or either alone where there
    /// is but one of the other, or `row`.
    pub clustered_by: &'static str,
    /// How many trained models there are.
    pub trained: u64,
    /// How many images there are.
    pub images: u64,
    /// The latest time of any row.
    pub latest: f64,
    /// How far off its expected seconds are; of hazards, its expected number of changed answers.
    pub agreement: Option<Agreement>,
    /// What covariates do.
    pub effects: Vec<Effect>,
    /// The other coefficients.
    pub shapes: Vec<Shape>,
}

/// The findings on a clock, and the fit that others ask.
pub(super) struct Analysed<'a> {
    pub(super) durations: Durations,
    pub(super) fitted: Option<Fitted<'a>>,
}

/// The chosen model with the rows it was fitted to.
pub(super) struct Fitted<'a> {
    pub(super) rows: Vec<&'a Row>,
    pub(super) clock: Clock,
    pub(super) clusters: Clusters,
    pub(super) design: Design,
    pub(super) fit: Fit,
    pub(super) latest: f64,
    /// Which configurations have rows in the fit.
    pub(super) known: Vec<bool>,
    /// How far off the fit is, of each configuration.
    pub(super) offs: Vec<Option<Off>>,
    /// The same of all.
    pub(super) agreement: Option<Agreement>,
}

/// Points of a chart; more cannot be told apart.
const POINTS: usize = 200;

/// Fits every model to the durations on a clock.
pub(super) fn analyse<'a>(
    of: &Attacked<'a>,
    clock: Clock,
    observed: &[Option<Observed>],
    options: &Options,
) -> Result<Analysed<'a>, AnalysisError> {
    let (rows, unchanged) = of.with_events();
    let design = Design::new(of.configurations, &rows, &[]);
    let mut durations = Durations::new(clock, &rows, unchanged, &design);
    if let Some(why) = obstacle(&rows, clock, &design) {
        durations.missing = Some(why);
        return Ok(Analysed { durations, fitted: None });
    }
    let fitted = match fit_all(of, rows, design, observed, &mut durations, options) {
        Ok(fitted) => Some(fitted),
        Err(why) => {
            durations.missing = Some(why);
            None
        }
    };
    Ok(Analysed { durations, fitted })
}

/// Why no model can be fitted to these rows, and what to do.
fn obstacle(rows: &[&Row], clock: Clock, design: &Design) -> Option<String> {
    let zero = rows.iter().filter(|row| clock.of(row) == 0.0).count() as u64;
    if zero > 0 && rows.iter().any(|row| row.changed) {
        return Some(format!(
            "{} 0 {}, and a model of durations needs more; measure with a finer clock",
            if zero == 1 { "1 row lasts".to_owned() } else { format!("{zero} rows last") },
            clock.unit()
        ));
    }
    too_few(rows, design)
}

/// Why no model at all can be fitted, whatever the clock.
pub(super) fn too_few(rows: &[&Row], design: &Design) -> Option<String> {
    let events = rows.iter().filter(|row| row.changed).count();
    let covariates = design.covariates.len();
    if events == 0 {
        return Some("no attack changed an answer; attack for longer or with more strength".into());
    }
    (events <= covariates).then(|| {
        format!(
            "{} cannot tell {} apart; attack more samples, or vary less at once",
            counted(events as u64, "changed answer"),
            counted(covariates as u64, "covariate")
        )
    })
}

fn fit_all<'a>(
    of: &Attacked<'a>,
    rows: Vec<&'a Row>,
    design: Design,
    observed: &[Option<Observed>],
    durations: &mut Durations,
    options: &Options,
) -> Result<Fitted<'a>, String> {
    let text = |why: SurvivalError| why.to_string();
    let clock = durations.clock;
    let data = lifetimes(&rows, clock, &design).map_err(text)?;
    let (train, test) = split(&rows, &data, options).map_err(text)?;
    let time = data.median_event_time().map_err(text)?;
    let horizon = Horizon { time, smoothing: Smoothing::Flexible };
    let asked = asked(&design);
    let compared = compare(&asked, &train, test.as_ref(), &FitOptions::default(), horizon);
    durations.time = Some(time);
    durations.split = test.as_ref().map(|test| Split {
        train_rows: train.rows() as u64,
        train_events: train.events() as u64,
        test_rows: test.rows() as u64,
        test_events: test.events() as u64,
    });
    durations.models = compared.iter().map(|one| of_model(one, &train, test.as_ref())).collect();
    let mut known = vec![false; of.configurations.len()];
    for row in &rows {
        known[row.configuration as usize] = true;
    }
    let evidence = Evidence { design: &design, known: &known, observed };
    let Choice { index, reason, refused } = choose(&compared, options.model.as_deref(), &evidence)?;
    for (model, refused) in durations.models.iter_mut().zip(refused) {
        model.refused = refused;
    }
    durations.models[index].chosen = true;
    let Model::Parametric(family) = compared[index].model else {
        return Err("only a parametric model answers the questions".to_owned());
    };
    let clusters = Clusters::new(of, &rows);
    let refit = refit(family, &data, &clusters)
        .map_err(|why| format!("{} has no fit on all rows: {why}", family.name()))?;
    let latest = data.durations().iter().copied().fold(0.0, f64::max);
    let offs = offs(&refit.fit, &design, &known, observed);
    let agreement = Agreement::of(&offs).map_err(|why| why.to_string())?;
    durations.chosen = Some(Chosen {
        model: family.name().to_owned(),
        scale: Scale::Duration,
        reason,
        clustered_by: clusters.by(),
        trained: clusters.count[0] as u64,
        images: clusters.count[1] as u64,
        latest,
        agreement: agreement.clone(),
        effects: effects(&refit, &design, &clusters, &rows),
        shapes: shapes(&refit.fit),
    });
    Ok(Fitted { rows, clock, clusters, design, fit: refit.fit, latest, known, offs, agreement })
}

/// Every model; without covariates there is nothing that Cox's could fit.
fn asked(design: &Design) -> Vec<Model> {
    let mut asked = Model::all(Ties::Efron);
    if design.covariates.is_empty() {
        asked.retain(|model| matches!(model, Model::Parametric(_)));
    }
    asked
}

/// Holds out a share of each configuration's samples, so that no pair of configuration and sample
/// is on both sides.
fn split(
    rows: &[&Row],
    data: &Lifetimes,
    options: &Options,
) -> Result<(Lifetimes, Option<Lifetimes>), SurvivalError> {
    let mut samples: BTreeMap<u32, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        samples.entry(row.configuration).or_default().insert(&row.sample);
    }
    let seed = Seed::new(options.seed).child("split");
    let mut held: BTreeSet<(u32, &str)> = BTreeSet::new();
    for (configuration, samples) in &samples {
        let mut samples: Vec<&str> = samples.iter().copied().collect();
        seed.at(u64::from(*configuration)).stream().shuffle(&mut samples);
        let share = (samples.len() as f64 * options.test).round() as usize;
        held.extend(samples[..share].iter().map(|sample| (*configuration, *sample)));
    }
    let (test, train): (Vec<usize>, Vec<usize>) = (0..rows.len())
        .partition(|&i: &usize| held.contains(&(rows[i].configuration, rows[i].sample.as_str())));
    let test = if test.is_empty() { None } else { Some(data.select(&test)?) };
    Ok((data.select(&train)?, test))
}

fn of_model(one: &Compared, train: &Lifetimes, test: Option<&Lifetimes>) -> OfModel {
    let measures = one.measures();
    let [aic, bic, concordance, test_concordance, ici, test_ici, e50, test_e50] = measures;
    let worth = one.outcome.as_ref().ok();
    let mut out = OfModel {
        model: one.model.name().to_owned(),
        chosen: false,
        aic,
        bic,
        concordance,
        test_concordance,
        ici,
        test_ici,
        e50,
        test_e50,
        error: one.outcome.as_ref().err().map(ToString::to_string),
        refused: None,
        notes: Vec::new(),
        calibration: Vec::new(),
        qq: Vec::new(),
    };
    let Some(worth) = worth else { return out };
    draw(&mut out, worth, Part::Train, Some(&worth.train), Some(train));
    draw(&mut out, worth, Part::Test, worth.test.as_ref(), test);
    out
}

/// Adds the charts of a part of the rows, or why one is missing.
fn draw(
    out: &mut OfModel,
    worth: &Worth,
    part: Part,
    assessed: Option<&Assessment>,
    data: Option<&Lifetimes>,
) {
    let (Some(assessed), Some(data)) = (assessed, data) else { return };
    let rows = match part {
        Part::Train => "training rows",
        Part::Test => "test rows",
    };
    let pairs = |points: &[(f64, f64)]| points.iter().map(|&(x, y)| [x, y]).collect();
    match &assessed.calibration {
        Ok(found) => out.calibration.push(Trace { part, points: pairs(&found.curve) }),
        Err(why) => out.notes.push(format!("{rows}: no calibration: {why}")),
    }
    if let Err(why) = &assessed.concordance {
        out.notes.push(format!("{rows}: no concordance: {why}"));
    }
    match worth.fit.residuals(data) {
        Ok(left) => {
            let points = pairs(&thinned(&qq_points(&left), POINTS));
            out.qq.push(Trace { part, points });
        }
        Err(why) => out.notes.push(format!("{rows}: no quantiles: {why}")),
    }
}
