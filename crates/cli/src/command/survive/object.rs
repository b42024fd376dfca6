//! The result as one JSON object.

use std::collections::BTreeMap;

use faultlens::stats::survival::{
    Assessment, Calibration, Clock, Coefficient, Compared, Curve, Fitted, Lifetimes, Model,
    TestResult,
};
use faultlens::stats::{Estimate, Level};
use serde::Serialize;

use super::analysis::{Findings, RunComparison};
use super::curves::Curves;
use super::rows::Rows;

/// What `--json` prints; docs/survival.md explains the fields.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    coefficients: Vec<Line>,
    log_likelihood: Option<f64>,
    aic: Option<f64>,
    bic: Option<f64>,
    concordance: Option<f64>,
    ici: Option<f64>,
    e50: Option<f64>,
    e90: Option<f64>,
    emax: Option<f64>,
    model: &'a str,
    time: Option<f64>,
    rows: usize,
    events: usize,
    left_out: usize,
    base_levels: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at_mean_covariates: Option<Lasting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Measures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proportionality: Option<Proportionality>,
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Compare<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Vec<Step>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<Group<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    log_rank: Option<Test>,
}

#[derive(Serialize)]
struct Line {
    parameter: String,
    covariate: String,
    estimate: f64,
    se: f64,
    z: f64,
    p: f64,
    low: f64,
    high: f64,
}

/// How long a row lasts; what is infinite is `null`.
#[derive(Serialize)]
struct Lasting {
    median: Interval,
    mean: Interval,
}

#[derive(Serialize)]
struct Interval {
    value: Option<f64>,
    low: f64,
    high: f64,
}

/// How well a fit does on some rows.
#[derive(Serialize)]
struct Measures {
    rows: usize,
    events: usize,
    concordance: Option<f64>,
    ici: Option<f64>,
    e50: Option<f64>,
    e90: Option<f64>,
    emax: Option<f64>,
}

#[derive(Serialize)]
struct Test {
    statistic: f64,
    freedom: usize,
    p: f64,
}

/// Whether hazards are proportional, for all covariates and for each.
#[derive(Serialize)]
struct Proportionality {
    all: Test,
    covariates: BTreeMap<String, Test>,
}

#[derive(Serialize)]
struct Compare<'a> {
    recommended: &'a str,
    reason: &'a str,
    cautions: &'a [String],
    models: Vec<OfModel<'a>>,
}

/// The partial likelihood of Cox's model is comparable with no other, so its criteria are `null`.
#[derive(Serialize)]
struct OfModel<'a> {
    model: &'a str,
    aic: Option<f64>,
    bic: Option<f64>,
    train: Option<Measures>,
    test: Option<Measures>,
    error: Option<String>,
}

#[derive(Serialize)]
struct Step {
    time: f64,
    at_risk: f64,
    events: f64,
    survival: Option<f64>,
    low: f64,
    high: f64,
}

#[derive(Serialize)]
struct Group<'a> {
    level: &'a str,
    rows: usize,
    events: usize,
    median: Option<f64>,
    curve: Vec<Step>,
}

impl<'a> Object<'a> {
    fn empty(model: &'a str, rows: &'a Rows) -> Self {
        Self {
            coefficients: Vec::new(),
            log_likelihood: None,
            aic: None,
            bic: None,
            concordance: None,
            ici: None,
            e50: None,
            e90: None,
            emax: None,
            model,
            time: None,
            rows: rows.data.rows(),
            events: rows.data.events(),
            left_out: rows.left_out,
            base_levels: &rows.bases,
            at_mean_covariates: None,
            test: None,
            proportionality: None,
            comparison: None,
            median: None,
            curve: None,
            groups: None,
            log_rank: None,
        }
    }

    /// Of a fit.
    pub(super) fn of_fit(found: &'a Findings, rows: &'a Rows) -> Self {
        let fit = &found.worth.fit;
        let own = Measures::new(&found.worth.train, &found.split.train);
        let both = found.worth.test.as_ref().zip(found.split.test.as_ref());
        let proportionality = match fit {
            Fitted::Cox(cox) => Some(Proportionality {
                all: Test::new(cox.global_proportionality(Clock::default())),
                covariates: cox
                    .proportionality(Clock::default())
                    .into_iter()
                    .map(|(name, test)| (name, Test::new(test)))
                    .collect(),
            }),
            Fitted::Parametric(_) => None,
        };
        Self {
            coefficients: fit.coefficients(Level::default()).into_iter().map(Line::new).collect(),
            log_likelihood: Some(fit.log_likelihood()),
            aic: Some(fit.aic()),
            bic: Some(fit.bic()),
            concordance: own.concordance,
            ici: own.ici,
            e50: own.e50,
            e90: own.e90,
            emax: own.emax,
            time: Some(found.time),
            rows: own.rows,
            events: own.events,
            at_mean_covariates: found.expected.as_ref().map(|expected| Lasting {
                median: Interval::new(&expected.median),
                mean: Interval::new(&expected.mean),
            }),
            test: both.map(|(test, data)| Measures::new(test, data)),
            proportionality,
            comparison: found.comparison.as_ref().map(Compare::new),
            ..Self::empty(fit.name(), rows)
        }
    }

    /// Of curves.
    pub(super) fn of_curves(curves: &'a Curves, rows: &'a Rows) -> Self {
        let groups = rows.strata.is_some().then(|| {
            curves
                .groups
                .iter()
                .map(|(level, data, curve): &'a (String, Lifetimes, Curve)| Group {
                    level,
                    rows: data.rows(),
                    events: data.events(),
                    median: curve.median(),
                    curve: steps(curve),
                })
                .collect()
        });
        Self {
            median: Some(curves.all.median()),
            curve: Some(steps(&curves.all)),
            groups,
            log_rank: curves.log_rank.map(Test::new),
            ..Self::empty("km", rows)
        }
    }
}

fn steps(curve: &Curve) -> Vec<Step> {
    curve
        .steps
        .iter()
        .map(|step: &faultlens::stats::survival::Step| Step {
            time: step.time,
            at_risk: step.at_risk,
            events: step.events,
            survival: step.estimate.value,
            low: step.estimate.low,
            high: step.estimate.high,
        })
        .collect()
}

impl Line {
    fn new(of: Coefficient) -> Self {
        Self {
            parameter: of.parameter,
            covariate: of.covariate,
            estimate: of.estimate,
            se: of.se,
            z: of.z,
            p: of.p,
            low: of.low,
            high: of.high,
        }
    }
}

impl Interval {
    fn new(of: &Estimate) -> Self {
        Self { value: of.value, low: of.low, high: of.high }
    }
}

impl Test {
    fn new(test: TestResult) -> Self {
        Self { statistic: test.statistic, freedom: test.freedom, p: test.p }
    }
}

impl Measures {
    fn new(of: &Assessment, data: &Lifetimes) -> Self {
        let error = |pick: fn(&Calibration) -> f64| of.calibration.as_ref().ok().map(pick);
        Self {
            rows: data.rows(),
            events: data.events(),
            concordance: of.concordance.as_ref().ok().copied(),
            ici: error(|c| c.ici),
            e50: error(|c| c.e50),
            e90: error(|c| c.e90),
            emax: error(|c| c.emax),
        }
    }
}

impl<'a> Compare<'a> {
    fn new(of: &'a RunComparison) -> Self {
        Self {
            recommended: of.models[of.recommended.index].model.name(),
            reason: &of.recommended.reason,
            cautions: &of.recommended.cautions,
            models: of
                .models
                .iter()
                .map(|one: &'a Compared| {
                    let worth = one.outcome.as_ref().ok();
                    let full = worth.filter(|_| matches!(one.model, Model::Parametric(_)));
                    let test = worth.and_then(|w| w.test.as_ref()).zip(of.split.test.as_ref());
                    OfModel {
                        model: one.model.name(),
                        aic: full.map(|w| w.fit.aic()),
                        bic: full.map(|w| w.fit.bic()),
                        train: worth.map(|w| Measures::new(&w.train, &of.split.train)),
                        test: test.map(|(assessed, data)| Measures::new(assessed, data)),
                        error: one.outcome.as_ref().err().map(ToString::to_string),
                    }
                })
                .collect(),
        }
    }
}
