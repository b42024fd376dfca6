//! Charts of the page, with as many points as can be seen.

use faultlens::report::{SurvivalPlot, SurvivalPoint, SurvivalSeries, SurvivalShape};
use faultlens::stats::Level;
use faultlens::stats::survival::{
    Assessment, Calibration, Curve, Lifetimes, Step, SurvivalError, Worth, kaplan_meier, qq_points,
    thinned,
};

use super::analysis::Split;

/// Points of a line or cloud.
const POINTS: usize = 200;
/// Rows whose curves are averaged; more would not change what is seen.
const ROWS: usize = 2000;
/// Names of what is drawn, the same in every chart.
const MODEL: &str = "model";
const DATA: &str = "Kaplan-Meier";
const TRAIN: &str = "training rows";
const TEST: &str = "test rows";

fn at(x: f64, y: f64) -> SurvivalPoint {
    SurvivalPoint { x, y, interval: None }
}

fn series(name: &str, shape: SurvivalShape, points: Vec<SurvivalPoint>) -> SurvivalSeries {
    SurvivalSeries { name: name.to_owned(), shape, points }
}

/// A model's mean survival beside the data's.
pub(super) fn curve(worth: &Worth, split: &Split) -> anyhow::Result<SurvivalPlot> {
    let data = &split.train;
    let end = data.durations().iter().copied().fold(0.0, f64::max);
    let times: Vec<f64> = (1..=POINTS).map(|i| end * i as f64 / POINTS as f64).collect();
    let rows = thinned(&(0..data.rows()).collect::<Vec<_>>(), ROWS);
    let mean = worth.fit.mean_survival(&data.select(&rows)?, &times)?;
    let points = times.iter().zip(mean).map(|(t, s)| at(*t, s));
    let model = std::iter::once(at(0.0, 1.0)).chain(points).collect();
    Ok(SurvivalPlot {
        name: worth.fit.name().to_owned(),
        series: vec![
            steps(DATA, &kaplan_meier(data, Level::default()), Some(end)),
            series(MODEL, SurvivalShape::Line, model),
        ],
        missing: None,
    })
}

/// The curve of each stratum.
pub(super) fn strata(name: &str, curves: &[(&str, &Curve)]) -> SurvivalPlot {
    let series = curves.iter().map(|(level, curve)| steps(level, curve, None)).collect();
    SurvivalPlot { name: name.to_owned(), series, missing: None }
}

fn steps(name: &str, curve: &Curve, end: Option<f64>) -> SurvivalSeries {
    let mut points = vec![at(0.0, 1.0)];
    points.extend(thinned(&curve.steps, POINTS).into_iter().map(|step: Step| {
        let survival = step.estimate;
        let interval = Some((survival.low, survival.high));
        SurvivalPoint { x: step.time, y: survival.value.unwrap_or(0.0), interval }
    }));
    // Nothing happens from the last event to the end of the observation.
    if let (Some(end), Some(last)) = (end, points.last().copied()) {
        points.push(SurvivalPoint { x: end, ..last });
    }
    series(name, SurvivalShape::Steps, points)
}

/// Predicted against observed chances.
pub(super) fn calibration(worth: &Worth) -> SurvivalPlot {
    let of = |name: &'static str, part: Option<&Assessment>| {
        part.map(|part| match &part.calibration {
            Ok(Calibration { curve, .. }) => {
                let points = curve.iter().map(|(predicted, observed)| at(*predicted, *observed));
                Ok(series(name, SurvivalShape::Line, points.collect()))
            }
            Err(why) => Err((name, why.clone())),
        })
    };
    plot(worth, [of(TRAIN, Some(&worth.train)), of(TEST, worth.test.as_ref())])
}

/// Residuals against what is expected.
pub(super) fn qq(worth: &Worth, split: &Split) -> SurvivalPlot {
    let of = |name: &'static str, data: Option<&Lifetimes>| {
        data.map(|data| match worth.fit.residuals(data) {
            Ok(residuals) => {
                let points = thinned(&qq_points(&residuals), POINTS);
                let points = points.into_iter().map(|(expected, left)| at(expected, left));
                Ok(series(name, SurvivalShape::Points, points.collect()))
            }
            Err(why) => Err((name, why)),
        })
    };
    plot(worth, [of(TRAIN, Some(&split.train)), of(TEST, split.test.as_ref())])
}

/// A part of a chart, or what is missing and why.
type Drawn = Option<Result<SurvivalSeries, (&'static str, SurvivalError)>>;

fn plot(worth: &Worth, parts: [Drawn; 2]) -> SurvivalPlot {
    let mut series = Vec::new();
    let mut missing = Vec::new();
    for part in parts.into_iter().flatten() {
        match part {
            Ok(drawn) => series.push(drawn),
            Err((name, why)) => missing.push(format!("{name}: {why}")),
        }
    }
    let missing = (!missing.is_empty()).then(|| missing.join("; "));
    SurvivalPlot { name: worth.fit.name().to_owned(), series, missing }
}
