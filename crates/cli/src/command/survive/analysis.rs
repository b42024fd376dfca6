//! From rows to fits.

use anyhow::{Context, anyhow, bail, ensure};
use faultlens::Seed;
use faultlens::analysis::format::counted;
use faultlens::report::plain;
use faultlens::stats::survival::{
    Compared, Covariate, Fitted, Horizon, Lifetimes, Model, Options, Recommendation, Smoothing,
    SurvivalError, Ties, Worth, compare, recommend,
};
use faultlens::stats::{Estimate, Level};

use super::rows::Rows;
use crate::args::{SmoothingName, SurviveArgs, TiesName};

/// The share that is held out to compare models, unless the user says otherwise.
const HELD_OUT: f64 = 0.2;

/// What is asked for by `--model`.
#[derive(Clone, Copy)]
pub(super) enum Question {
    /// The curve alone.
    Curve,
    /// A fit.
    Fit(Asked),
}

/// Which models are fitted.
#[derive(Clone, Copy)]
pub(super) enum Asked {
    /// This one.
    One(Model),
    /// All of them, with Cox's treatment of ties.
    All(Ties),
}

const CURVE: &str = "km";
const ALL: &str = "all";

impl Question {
    /// The question of these arguments, with what contradicts it refused.
    pub(super) fn new(args: &SurviveArgs) -> anyhow::Result<Self> {
        let ties = match args.ties {
            TiesName::Efron => Ties::Efron,
            TiesName::Breslow => Ties::Breslow,
        };
        let question = match args.model.as_str() {
            CURVE => Self::Curve,
            ALL => Self::Fit(Asked::All(ties)),
            name => {
                let model = Model::named(name, ties).map_err(|_| unknown(name))?;
                Self::Fit(Asked::One(model))
            }
        };
        let model = &args.model;
        let fits = !matches!(question, Self::Curve);
        ensure!(!fits || args.strata.is_none(), "--strata needs --model {CURVE}");
        let of_fits = args.penalty != 0.0 || args.test.is_some() || args.time.is_some();
        ensure!(fits || !of_fits, "--penalty, --test and --time need a model other than {CURVE}");
        let one = matches!(question, Self::Fit(Asked::One(Model::Parametric(_))));
        ensure!(
            one || args.ancillary.is_empty(),
            "--ancillary needs one parametric model, not {model}"
        );
        Ok(question)
    }
}

fn unknown(name: &str) -> anyhow::Error {
    let models = Model::all(Ties::Efron);
    let names: Vec<&str> = models.iter().map(Model::name).chain([CURVE, ALL]).collect();
    match faultlens::did_you_mean(name, names.iter().copied()) {
        Some(close) => anyhow!("no model is called {}; did you mean {close}?", plain(name)),
        None => anyhow!("no model is called {}; there are {}", plain(name), names.join(", ")),
    }
}

/// Rows to fit, and rows to test the fit on.
pub(super) struct Split {
    pub(super) train: Lifetimes,
    pub(super) test: Option<Lifetimes>,
}

/// All models beside each other.
pub(super) struct RunComparison {
    pub(super) split: Split,
    pub(super) models: Vec<Compared>,
    pub(super) recommended: Recommendation,
}

/// How long a row with mean covariates lasts.
pub(super) struct Expected {
    pub(super) median: Estimate,
    pub(super) mean: Estimate,
}

impl Expected {
    /// Of a parametric fit; Cox's has no distribution.
    fn new(fit: &Fitted, data: &Lifetimes) -> Result<Option<Self>, SurvivalError> {
        let Fitted::Parametric(fit) = fit else { return Ok(None) };
        let n = data.rows() as f64;
        let row: Vec<f64> = data
            .covariates()
            .iter()
            .map(|column: &Covariate| column.values.iter().map(|v| v / n).sum())
            .collect();
        let predicted = fit.predict(&row, Level::default())?;
        Ok(Some(Self { median: predicted.median(), mean: predicted.mean() }))
    }
}

/// A fit with its rows and, where models were compared, the comparison that chose it.
pub(super) struct Findings {
    pub(super) split: Split,
    pub(super) worth: Worth,
    /// The time by which chances were compared with the data.
    pub(super) time: f64,
    pub(super) expected: Option<Expected>,
    pub(super) comparison: Option<RunComparison>,
}

/// Fits one model, or all of them.
pub(super) fn findings(args: &SurviveArgs, asked: Asked, rows: &Rows) -> anyhow::Result<Findings> {
    let options = options(args, rows)?;
    let time = match args.time {
        Some(time) => time,
        None => rows.data.median_event_time()?,
    };
    ensure!(time.is_finite() && time >= 0.0, "--time must be a number above 0, not {time}");
    let smoothing = match args.smoothing {
        SmoothingName::Spline => Smoothing::Spline,
        SmoothingName::Straight => Smoothing::Straight,
    };
    let horizon = Horizon { time, smoothing };
    let (model, comparison) = match asked {
        Asked::One(model) => (model, None),
        Asked::All(ties) => {
            let all = all(args, ties, rows, &options, horizon)?;
            (all.models[all.recommended.index].model, Some(all))
        }
    };
    // The recommended model is fitted again to all rows; test rows were needed for the choice only.
    let share = if comparison.is_some() { 0.0 } else { args.test.unwrap_or(0.0) };
    let split = split(&rows.data, share, args.seed)?;
    if matches!(model, Model::Parametric(_)) {
        refuse_zero(rows, args)?;
    }
    let fitted = compare(&[model], &split.train, split.test.as_ref(), &options, horizon);
    let one = fitted.into_iter().next().context("no model")?;
    let worth = one.outcome.with_context(|| format!("{} has no fit", model.name()))?;
    let expected = Expected::new(&worth.fit, &split.train)?;
    Ok(Findings { split, worth, time, expected, comparison })
}

fn all(
    args: &SurviveArgs,
    ties: Ties,
    rows: &Rows,
    options: &Options,
    horizon: Horizon,
) -> anyhow::Result<RunComparison> {
    refuse_zero(rows, args)?;
    let split = split(&rows.data, args.test.unwrap_or(HELD_OUT), args.seed)?;
    let mut asked = Model::all(ties);
    if rows.data.covariates().is_empty() {
        // It would have nothing to say.
        asked.retain(|model| matches!(model, Model::Parametric(_)));
    }
    let models = compare(&asked, &split.train, split.test.as_ref(), options, horizon);
    let Some(recommended) = recommend(&models) else {
        let why = models.into_iter().find_map(|one| one.outcome.err());
        let why = why.unwrap_or(SurvivalError::Empty);
        return Err(why).with_context(|| match &split.test {
            Some(_) => format!(
                "no model has a fit on {} of seed {} (--test 0 uses all)",
                counted(split.train.rows() as u64, "training row"),
                args.seed
            ),
            None => "no model has a fit".to_owned(),
        });
    };
    Ok(RunComparison { split, models, recommended })
}

/// Says on which line of the file a duration is 0; a fit would count rows of its own.
fn refuse_zero(rows: &Rows, args: &SurviveArgs) -> anyhow::Result<()> {
    let Some(i) = rows.data.durations().iter().position(|&d| d == 0.0) else { return Ok(()) };
    let line = rows.lines[i];
    let name = plain(&args.duration);
    bail!(
        "line {line}: {name} is 0, but parametric models need durations above 0; leave it empty to \
         leave the row out, give it half the clock's resolution, or use --model cox or km"
    );
}

fn options(args: &SurviveArgs, rows: &Rows) -> anyhow::Result<Options> {
    let mut options = Options::default().with_penalty(args.penalty);
    for (parameter, columns) in &args.ancillary {
        for column in columns {
            let terms = rows.terms.get(column).with_context(|| {
                let known =
                    rows.terms.keys().map(|name| plain(name)).collect::<Vec<_>>().join(", ");
                format!("no covariate is called {}; there are {known}", plain(column))
            })?;
            options.ancillary.entry(parameter.clone()).or_default().extend(terms.iter().cloned());
        }
    }
    Ok(options)
}

/// Draws the rows of the test; the order of the others stays.
fn split(data: &Lifetimes, share: f64, seed: u64) -> anyhow::Result<Split> {
    if share == 0.0 {
        return Ok(Split { train: data.clone(), test: None });
    }
    let mut rows: Vec<usize> = (0..data.rows()).collect();
    Seed::new(seed).child("split").stream().shuffle(&mut rows);
    let held = ((data.rows() as f64 * share).round() as usize).max(1);
    ensure!(held < data.rows(), "too few rows to hold {held} out; use --test 0");
    let (test, train) = rows.split_at_mut(held);
    test.sort_unstable();
    train.sort_unstable();
    Ok(Split { train: data.select(train)?, test: Some(data.select(test)?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_on_one_side() {
        let times: Vec<f64> = (1..=50).map(f64::from).collect();
        let data = Lifetimes::new(times.clone(), vec![true; 50]).unwrap();
        let parts = |seed| split(&data, 0.2, seed).unwrap();
        let one = parts(1);
        let same = parts(1);
        let other = parts(2);
        let test = one.test.unwrap();
        assert_eq!((test.rows(), one.train.rows()), (10, 40));
        let mut both = [test.durations(), one.train.durations()].concat();
        both.sort_by(f64::total_cmp);
        assert_eq!(both, times);
        assert_eq!(one.train, same.train);
        assert_ne!(one.train, other.train);
        assert!(split(&data.select(&[0]).unwrap(), 0.2, 1).is_err());
        assert_eq!(split(&data, 0.0, 1).unwrap().train, data);
    }
}
