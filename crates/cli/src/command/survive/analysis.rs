//! From rows to fits.

use std::collections::BTreeSet;

use anyhow::{Context, anyhow, bail, ensure};
use faultlens::Seed;
use faultlens::analysis::format::counted;
use faultlens::report::plain;
use faultlens::stats::survival::{
    Compared, Fitted, Horizon, Lifetimes, Model, Options, Recommendation, Smoothing, SurvivalError,
    Ties, Worth, compare, recommend,
};
use faultlens::stats::{Estimate, Level};

use super::closer::Closer;
use super::formula::Formula;
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
        let cox = matches!(question, Self::Fit(Asked::One(Model::Cox(_))));
        let formula = args.formula.as_deref().map(Formula::parse).transpose()?.unwrap_or_default();
        let stratified = args.strata.is_some() || formula.strata.is_some();
        ensure!(
            !fits || cox || !stratified,
            "--strata needs --model {CURVE} or cox; levels of other models are covariates, also of \
             --ancillary parameters"
        );
        let of_fits = args.penalty != 0.0 || args.test.is_some() || args.time.is_some();
        ensure!(fits || !of_fits, "--penalty, --test and --time need a model other than {CURVE}");
        let of_fits = args.formula.is_some() || args.cluster.is_some() || args.robust;
        ensure!(
            fits || !(of_fits || args.predict.is_some()),
            "--formula, --cluster, --robust and --predict need a model other than {CURVE}"
        );
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

/// Rows to fit, and rows to test the fit on, with which of them belong together.
pub(super) struct Split {
    pub(super) train: Lifetimes,
    pub(super) test: Option<Lifetimes>,
    train_units: Vec<usize>,
    test_units: Vec<usize>,
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
    /// Of a parametric fit; Cox's has no distribution.
    pub(super) mean: Option<Estimate>,
}

impl Expected {
    /// `None` where strata have medians of their own.
    fn new(fit: &Fitted, data: &Lifetimes) -> Result<Option<Self>, SurvivalError> {
        let total = data.total_weight();
        let mut row = Vec::new();
        for column in data.covariates() {
            let terms = column.values.iter().zip(data.row_weights()).map(|(v, w)| v * (w / total));
            row.push(terms.sum());
        }
        let level = Level::default();
        Ok(match fit {
            Fitted::Parametric(fit) => {
                let predicted = fit.predict(&row, level)?;
                Some(Self { median: predicted.median(), mean: Some(predicted.mean()) })
            }
            Fitted::Cox(cox) if cox.strata().len() > 1 => None,
            Fitted::Cox(cox) => {
                Some(Self { median: cox.median_interval(&row, level)?, mean: None })
            }
        })
    }
}

/// A fit with its rows and, where models were compared, the comparison that chose it.
pub(super) struct Findings {
    pub(super) split: Split,
    pub(super) worth: Worth,
    /// The time by which chances were compared with the data.
    pub(super) time: f64,
    pub(super) expected: Option<Expected>,
    /// A closer look at the training rows, and at the test rows.
    pub(super) closer: Closer,
    pub(super) closer_test: Option<Closer>,
    /// How many clusters there are, where errors are robust.
    pub(super) clusters: Option<usize>,
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
        SmoothingName::Flexible => Smoothing::Flexible,
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
    let split = split(rows, share, args.seed)?;
    if matches!(model, Model::Parametric(_)) {
        refuse_zero(rows, args)?;
    }
    let fitted = compare(&[model], &split.train, split.test.as_ref(), &options, horizon);
    let one = fitted.into_iter().next().context("no model")?;
    let mut worth = one.outcome.with_context(|| format!("{} has no fit", model.name()))?;
    let robust = args.robust || rows.clusters.is_some();
    if robust {
        worth.fit = worth.fit.robust(&split.train, &split.train_units)?;
    }
    let closer = Closer::new(args, &worth.fit, &split.train, &split.train_units, time);
    let closer_test = split
        .test
        .as_ref()
        .map(|test| Closer::new(args, &worth.fit, test, &split.test_units, time));
    let expected = Expected::new(&worth.fit, &split.train)?;
    let clusters = robust.then(|| different(&split.train_units));
    Ok(Findings { split, worth, time, expected, closer, closer_test, clusters, comparison })
}

/// How many different numbers there are.
fn different(numbers: &[usize]) -> usize {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    sorted.len()
}

fn all(
    args: &SurviveArgs,
    ties: Ties,
    rows: &Rows,
    options: &Options,
    horizon: Horizon,
) -> anyhow::Result<RunComparison> {
    refuse_zero(rows, args)?;
    let split = split(rows, args.test.unwrap_or(HELD_OUT), args.seed)?;
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

/// Draws the rows of the test; the order of the others stays. Rows of one cluster stay together, since
/// a model would know what it is tested on otherwise.
fn split(rows: &Rows, share: f64, seed: u64) -> anyhow::Result<Split> {
    let data = &rows.data;
    let all: Vec<usize> = (0..data.rows()).collect();
    let units = rows.clusters.clone().unwrap_or(all.clone());
    if share == 0.0 {
        let test_units = Vec::new();
        return Ok(Split { train: data.clone(), test: None, train_units: units, test_units });
    }
    let mut order: Vec<usize> = units.clone();
    order.sort_unstable();
    order.dedup();
    Seed::new(seed).child("split").stream().shuffle(&mut order);
    let held = ((order.len() as f64 * share).round() as usize).max(1);
    ensure!(held < order.len(), "too few rows to hold {held} out; use --test 0");
    let held: BTreeSet<usize> = order.into_iter().take(held).collect();
    let (test, train): (Vec<usize>, Vec<usize>) =
        all.into_iter().partition(|&i| held.contains(&units[i]));
    let unit = |rows: &[usize]| rows.iter().map(|&i| units[i]).collect();
    Ok(Split {
        train_units: unit(&train),
        test_units: unit(&test),
        train: data.select(&train)?,
        test: Some(data.select(&test)?),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Fifty rows, perhaps in clusters.
    fn rows(clusters: Option<Vec<usize>>) -> Rows {
        let times: Vec<f64> = (1..=50).map(f64::from).collect();
        let n = times.len();
        Rows {
            data: Lifetimes::new(times, vec![true; n]).unwrap(),
            lines: (0..n as u64).collect(),
            strata: None,
            strata_levels: Vec::new(),
            clusters,
            design: Vec::new(),
            left_out: 0,
            bases: BTreeMap::default(),
            terms: BTreeMap::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn every_row_is_on_one_side() {
        let data = rows(None);
        let parts = |seed| split(&data, 0.2, seed).unwrap();
        let one = parts(1);
        let same = parts(1);
        let other = parts(2);
        let test = one.test.unwrap();
        assert_eq!((test.rows(), one.train.rows()), (10, 40));
        let mut both = [test.durations(), one.train.durations()].concat();
        both.sort_by(f64::total_cmp);
        assert_eq!(both, data.data.durations());
        assert_eq!(one.train, same.train);
        assert_ne!(one.train, other.train);
        let mut few = rows(None);
        few.data = few.data.select(&[0]).unwrap();
        assert!(split(&few, 0.2, 1).is_err());
        assert_eq!(split(&data, 0.0, 1).unwrap().train, data.data);
    }

    #[test]
    fn rows_of_a_cluster_stay_together() {
        let data = rows(Some((0..50).map(|i| i / 5).collect()));
        let parts = split(&data, 0.2, 1).unwrap();
        assert_eq!((parts.train.rows(), parts.test.unwrap().rows()), (40, 10));
        assert!(parts.test_units.iter().all(|unit| !parts.train_units.contains(unit)));
    }
}
