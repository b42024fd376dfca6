//! Why rows have no analysis.

use faultlens_stats::StatsError;
use faultlens_stats::survival::{FAMILIES, SurvivalError};

use super::Options;
use super::rows::{Configuration, Row, Rows};

/// Why the rows of a sweep cannot be analysed. Configurations and rows are counted from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// Nothing was attacked.
    #[error("no rows; attack at least one sample")]
    Empty,
    /// A configuration with a number that cannot be.
    #[error("configuration {configuration}: {what} is {value}; {rule}")]
    Configuration {
        /// Which, from 1.
        configuration: usize,
        /// Which of its numbers.
        what: &'static str,
        /// What it is.
        value: f64,
        /// What it has to be.
        rule: &'static str,
    },
    /// A row of a configuration that is not there.
    #[error("row {row} is of configuration {found} (from 0), of {known}; the rows are damaged")]
    NoConfiguration {
        /// Which, from 1.
        row: usize,
        /// What it names.
        found: u32,
        /// How many there are.
        known: usize,
    },
    /// A row with a time that cannot be.
    #[error("row {row} lasts {seconds} seconds; a time is a finite number and not negative")]
    Time {
        /// Which, from 1.
        row: usize,
        /// What it says.
        seconds: f64,
    },
    /// Single shots say whether an answer changed, not when.
    #[error(
        "no attack has durations: a single shot at fixed strength says whether an answer changed \
         but not when, and hop_skip_jump begins with a change at any distance; let an attack \
         search for longer, or give hop_skip_jump the setting within"
    )]
    OneShot,
    /// Times of several machines.
    #[error(
        "times of several machines are mixed ({}), and a slower machine looks like a more robust \
         model; measure on one, or use faultlens report DIR --mixed-machines, which gives each a \
         covariate of its own",
        machines.join(", ")
    )]
    Machines {
        /// Their names.
        machines: Vec<String>,
    },
    /// A model that is not there or has no distribution.
    #[error("no parametric survival model is called {name}; there are {known}", known = known())]
    UnknownModel {
        /// What was asked for.
        name: String,
    },
    /// A share of test rows that leaves nothing to fit.
    #[error("the share of test samples is {0}; it lies from 0 to below 1, such as 0.2")]
    Test(f64),
    /// A number that the statistics refuse.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// A fit that the statistics refuse where it cannot be left out.
    #[error(transparent)]
    Survival(#[from] SurvivalError),
}

fn known() -> String {
    FAMILIES.iter().map(|family| family.name()).collect::<Vec<_>>().join(", ")
}

/// Refuses rows that contradict themselves, once, so that nothing checks again.
pub(super) fn check(rows: &Rows, options: &Options) -> Result<(), AnalysisError> {
    if !(0.0..1.0).contains(&options.test) {
        return Err(AnalysisError::Test(options.test));
    }
    if let Some(name) = &options.model
        && FAMILIES.iter().all(|family| family.name() != name)
    {
        return Err(AnalysisError::UnknownModel { name: name.clone() });
    }
    if rows.rows.is_empty() {
        return Err(AnalysisError::Empty);
    }
    rows.configurations.iter().enumerate().try_for_each(|(i, c)| check_configuration(i, c))?;
    let known = rows.configurations.len();
    rows.rows.iter().enumerate().try_for_each(|(i, row)| check_row(i, row, known))
}

fn check_configuration(index: usize, of: &Configuration) -> Result<(), AnalysisError> {
    const TIME: &str = "a time is a finite number and not negative";
    const FINITE: &str = "it is a finite number";
    let time = |value: f64| value.is_finite() && value >= 0.0;
    let checks = [
        ("the training time", of.training_seconds, time(of.training_seconds), TIME),
        ("the prediction time", of.prediction_seconds, time(of.prediction_seconds), TIME),
        (
            "the benign accuracy",
            of.benign_accuracy,
            (0.0..=1.0).contains(&of.benign_accuracy),
            "a share lies between 0 and 1",
        ),
        ("the scaled attack strength", of.attack.scaled, of.attack.scaled.is_finite(), FINITE),
        ("the scaled defence strength", of.defence.scaled, of.defence.scaled.is_finite(), FINITE),
    ];
    match checks.into_iter().find(|(_, _, good, _)| !good) {
        None => Ok(()),
        Some((what, value, _, rule)) => {
            Err(AnalysisError::Configuration { configuration: index + 1, what, value, rule })
        }
    }
}

fn check_row(index: usize, row: &Row, known: usize) -> Result<(), AnalysisError> {
    if row.configuration as usize >= known {
        let found = row.configuration;
        return Err(AnalysisError::NoConfiguration { row: index + 1, found, known });
    }
    if !(row.seconds.is_finite() && row.seconds >= 0.0) {
        return Err(AnalysisError::Time { row: index + 1, seconds: row.seconds });
    }
    Ok(())
}
