//! The result as one JSON object.

use std::collections::BTreeMap;

use faultlens::stats::survival::{
    Assessment, Calibration, CalibrationInterval, Clock, Coefficient, Compared, Cox, Curve, Fitted,
    Lifetimes, Model, TestResult, adjusted_p,
};
use faultlens::stats::{Estimate, Level, holm};
use serde::Serialize;

use super::analysis::{Findings, RunComparison};
use super::closer::Closer;
use super::curves::Curves;
use super::predict::{Predicted, Predictions};
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
    uno: Option<f64>,
    ici_interval: Option<[f64; 2]>,
    ici_lifelines: Option<f64>,
    e50_lifelines: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brier: Option<BrierScores>,
    model: &'a str,
    time: Option<f64>,
    rows: usize,
    events: usize,
    rows_by_weight: f64,
    events_by_weight: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    clusters: Option<usize>,
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
    predictions: Option<Vec<Prediction>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median_interval: Option<[Option<f64>; 2]>,
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
    /// By Holm over the table; none of an intercept.
    p_adjusted: Option<f64>,
    low: f64,
    high: f64,
}

/// How long a row lasts; what is infinite is `null`.
#[derive(Serialize)]
struct Lasting {
    median: Interval,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Interval>,
}

/// A row of the table that was to be predicted, by its line there.
#[derive(Serialize)]
struct Prediction {
    line: u64,
    survival: Interval,
    median: Interval,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<Interval>,
}

/// Mean squared differences, of the fit and of a curve without covariates.
#[derive(Serialize)]
struct BrierScores {
    at_time: f64,
    without_covariates: f64,
    integrated: f64,
    horizon: f64,
}

#[derive(Serialize)]
struct Interval {
    value: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
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
    uno: Option<f64>,
    ici_lifelines: Option<f64>,
    e50_lifelines: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ici_interval: Option<[f64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    brier: Option<BrierScores>,
}

#[derive(Serialize)]
struct Test {
    statistic: f64,
    freedom: usize,
    p: f64,
    /// By Holm, where there are several of a kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    p_adjusted: Option<f64>,
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
    median_interval: [Option<f64>; 2],
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
            uno: None,
            ici_interval: None,
            ici_lifelines: None,
            e50_lifelines: None,
            brier: None,
            model,
            time: None,
            rows: rows.data.rows(),
            events: rows.data.events(),
            rows_by_weight: rows.data.total_weight(),
            events_by_weight: rows.data.event_weight(),
            clusters: None,
            left_out: rows.left_out,
            base_levels: &rows.bases,
            at_mean_covariates: None,
            test: None,
            proportionality: None,
            comparison: None,
            predictions: None,
            median: None,
            median_interval: None,
            curve: None,
            groups: None,
            log_rank: None,
        }
    }

    /// Of a fit.
    pub(super) fn of_fit(
        found: &'a Findings,
        rows: &'a Rows,
        predictions: Option<&Predictions>,
    ) -> Self {
        let fit = &found.worth.fit;
        let train = &found.split.train;
        let own = Measures::new(&found.worth.train, train).closer(Some(&found.closer));
        let both = found.worth.test.as_ref().zip(found.split.test.as_ref());
        let proportionality = match fit {
            Fitted::Cox(cox) => Some(Proportionality::new(cox)),
            Fitted::Parametric(_) => None,
        };
        let coefficients = fit.coefficients(Level::default());
        let adjusted = adjusted_p(&coefficients);
        Self {
            coefficients: coefficients
                .into_iter()
                .zip(adjusted)
                .map(|(line, p_adjusted)| Line::new(line, p_adjusted))
                .collect(),
            log_likelihood: Some(fit.log_likelihood()),
            aic: Some(fit.aic()),
            bic: Some(fit.bic()),
            concordance: own.concordance,
            ici: own.ici,
            e50: own.e50,
            e90: own.e90,
            emax: own.emax,
            uno: own.uno,
            ici_interval: own.ici_interval,
            ici_lifelines: own.ici_lifelines,
            e50_lifelines: own.e50_lifelines,
            brier: own.brier,
            time: Some(found.time),
            rows: own.rows,
            events: own.events,
            rows_by_weight: train.total_weight(),
            events_by_weight: train.event_weight(),
            clusters: found.clusters,
            predictions: predictions.map(|all| all.rows.iter().map(Prediction::new).collect()),
            at_mean_covariates: found.expected.as_ref().map(|expected| Lasting {
                median: Interval::new(&expected.median),
                mean: expected.mean.as_ref().map(Interval::new),
            }),
            test: both
                .map(|(test, data)| Measures::new(test, data).closer(found.closer_test.as_ref())),
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
                    median_interval: ends(&curve.median_interval()),
                    curve: steps(curve),
                })
                .collect()
        });
        Self {
            median: Some(curves.all.median()),
            median_interval: Some(ends(&curves.all.median_interval())),
            curve: Some(steps(&curves.all)),
            groups,
            log_rank: curves.log_rank.map(Test::new),
            ..Self::empty("km", rows)
        }
    }
}

/// The ends of an interval; what is infinite is `null`.
fn ends(of: &Estimate) -> [Option<f64>; 2] {
    [of.low, of.high].map(|end| Some(end).filter(|end| end.is_finite()))
}

impl Prediction {
    fn new(of: &Predicted) -> Self {
        Self {
            line: of.line,
            survival: Interval::new(&of.survival),
            median: Interval::new(&of.median),
            mean: of.mean.as_ref().map(Interval::new),
        }
    }
}

impl Proportionality {
    fn new(cox: &Cox) -> Self {
        let tests = cox.proportionality(Clock::default());
        let raw: Vec<f64> = tests.iter().map(|(_, test)| test.p).collect();
        let mut adjusted = holm(&raw).unwrap_or_default().into_iter();
        let mut covariates = BTreeMap::new();
        for (name, test) in tests {
            let p_adjusted = adjusted.next();
            covariates.insert(name, Test { p_adjusted, ..Test::new(test) });
        }
        Self { all: Test::new(cox.global_proportionality(Clock::default())), covariates }
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
    fn new(of: Coefficient, p_adjusted: Option<f64>) -> Self {
        Self {
            parameter: of.parameter,
            covariate: of.covariate,
            estimate: of.estimate,
            se: of.se,
            z: of.z,
            p: of.p,
            p_adjusted,
            low: of.low,
            high: of.high,
        }
    }
}

impl Interval {
    fn new(of: &Estimate) -> Self {
        let [low, high] = ends(of);
        Self { value: of.value.filter(|value| value.is_finite()), low, high }
    }
}

impl Test {
    fn new(test: TestResult) -> Self {
        Self { statistic: test.statistic, freedom: test.freedom, p: test.p, p_adjusted: None }
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
            uno: of.uno.as_ref().ok().copied(),
            ici_lifelines: of.lifelines.as_ref().ok().map(|c| c.ici),
            e50_lifelines: of.lifelines.as_ref().ok().map(|c| c.e50),
            ici_interval: None,
            brier: None,
        }
    }

    /// With what is computed of the shown fit only.
    fn closer(mut self, closer: Option<&Closer>) -> Self {
        let Some(closer) = closer else { return self };
        if let Some(Ok(CalibrationInterval { ici: (low, high), .. })) = &closer.interval {
            self.ici_interval = Some([*low, *high]);
        }
        self.brier = closer.brier.as_ref().ok().map(|brier| BrierScores {
            at_time: brier.at_time,
            without_covariates: brier.null,
            integrated: brier.integrated,
            horizon: brier.horizon,
        });
        self
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
