//! The analysis of a sweep's rows.
//!
//! 1. Counts: accuracies, shares of changed answers and failure rates, of each configuration and
//!    pooled,
//! 2. observed: the seconds until an answer changed, from each configuration's own samples, with
//!    intervals for new images,
//! 3. survival models of those seconds, beside each other and beside what was observed, and what
//!    covariates do in the one chosen; a discrete hazard of queries,
//! 4. costs: the seconds of training over those of an attack, and the verdict on each configuration,
//! 5. questions: whether depth, defences and more training help, and whether gradients mislead,
//! 6. conclusions in words, with their intervals, whatever they are.
//!
//! What cannot be computed is left out with its reason; the rest stays.

mod agreement;
mod choose;
mod clean;
mod clock;
mod conclusions;
mod cost;
mod counts;
mod covariates;
mod durations;
mod effects;
mod error;
mod findings;
mod masking;
mod measured;
mod observed;
mod queries;
mod questions;
mod rows;
mod trash;

use std::collections::{BTreeMap, BTreeSet};

use faultlens_stats::Level;

use clock::Attacked;
use cost::Costs;
use observed::Images;

pub use agreement::{Agreement, Off};
pub use clean::Clean;
pub use clock::{Clock, Unchanged};
pub use cost::{Basis, Cost, CostVerdict, Costs as ConfigurationCosts, Standing};
pub use counts::{Counts, Group, Grouping};
pub use covariates::{Covariate, Kind, LeftOut};
pub use durations::{Chosen, Durations, OfModel, Part, Scale, Split, Trace};
pub use effects::{Effect, Shape};
pub use error::AnalysisError;
pub use findings::{About, Conclusion, Findings, OfConfiguration, Standings};
pub use masking::Masked;
pub use measured::Measured;
pub use questions::{Depth, NextUnit, Questions};
pub use rows::{AND, Choice, Configuration, Row, Rows};
pub use trash::Trash;

/// What to assume beyond the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Where the draw of test rows starts.
    pub seed: u64,
    /// The share of each configuration's samples that is held out to test the models.
    pub test: f64,
    /// Whether times of several machines may stand in one fit, with a covariate for each machine.
    pub mixed_machines: bool,
    /// The survival model to use, whatever its criterion; by default the one with the lowest AIC.
    pub model: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { seed: 0, test: 0.2, mixed_machines: false, model: None }
    }
}

/// The level of every interval.
pub(crate) fn level() -> Level {
    Level::default()
}

/// Below this a p-value, adjusted for all looks, counts.
pub(crate) const ALPHA: f64 = 0.05;

/// Analyses the rows of a sweep.
///
/// # Errors
/// Rows that contradict themselves, that hold no duration at all, or whose times were taken on
/// several machines; an unknown model. Where a single fit is impossible its reason is among the
/// findings instead.
pub fn analyse(rows: &Rows, options: &Options) -> Result<Findings, AnalysisError> {
    error::check(rows, options)?;
    let images = Images::new(rows);
    let attacked = Attacked::new(rows, &images, options)?;
    let observed = observed::observed(rows, &images, options.seed)?;
    let seconds = durations::analyse(&attacked, Clock::Seconds, &observed, options)?;
    let costs = cost::costs(rows, &observed, seconds.fitted.as_ref())?;
    let masking = masking::masked(rows)?;
    let configurations = configurations(rows, &images, costs)?;
    let standings = Standings::of(&configurations);
    let mut findings = Findings {
        about: about(rows),
        standings,
        clean: Clean::of(clean_accuracies(&configurations)),
        trash: trash::trash(rows, &observed, options.seed),
        conclusions: Vec::new(),
        cautions: Vec::new(),
        groups: counts::groups(rows, &images)?,
        questions: questions::questions(&attacked, &seconds)?,
        seconds: seconds.durations,
        queries: queries::analyse(&attacked),
        masking: masking.masked,
        masking_looks: masking.looks,
        configurations,
    };
    findings.conclusions = conclusions::conclusions(&findings);
    findings.cautions = conclusions::cautions(&findings, &attacked, options);
    Ok(findings)
}

fn about(rows: &Rows) -> About {
    let distinct = |of: fn(&Configuration) -> &str| {
        rows.configurations.iter().map(of).collect::<BTreeSet<&str>>().len() as u64
    };
    let samples: BTreeSet<&str> = rows.rows.iter().map(|row| row.sample.as_str()).collect();
    let machines: BTreeSet<String> =
        rows.configurations.iter().flat_map(Configuration::machines).map(str::to_owned).collect();
    About {
        configurations: rows.configurations.len() as u64,
        rows: rows.rows.len() as u64,
        models: numbered(&rows.configurations).1 as u64,
        samples: samples.len() as u64,
        attacks: distinct(|c| &c.attack.name),
        defences: distinct(|c| &c.defence.name),
        architectures: distinct(|c| &c.architecture),
        data: distinct(|c| &c.data),
        machines: machines.into_iter().collect(),
        lost: rows.lost,
    }
}

fn configurations(
    rows: &Rows,
    images: &Images<'_>,
    costs: Vec<Option<Costs>>,
) -> Result<Vec<OfConfiguration>, AnalysisError> {
    let counts = counts::of_each(rows, images)?;
    let each = rows.configurations.iter().zip(counts).zip(costs).enumerate();
    Ok(each.map(|(i, ((c, counts), costs))| OfConfiguration::new(i, c, counts, costs)).collect())
}

/// For each configuration the number of its trained model, and how many there are. Two are of one
/// model where everything that made it agrees, also the time that its training took.
pub(crate) fn numbered(configurations: &[Configuration]) -> (Vec<usize>, usize) {
    let mut known = BTreeMap::new();
    let numbers = configurations
        .iter()
        .map(|c: &Configuration| {
            let key = (
                (c.data.clone(), c.permutation, c.architecture.clone(), c.layers, c.epochs),
                (c.learning_rate.to_bits(), c.training_seconds.to_bits()),
            );
            let next = known.len();
            *known.entry(key).or_insert(next)
        })
        .collect();
    (numbers, known.len())
}

/// The clean accuracies, where they are known, of configurations with a verdict.
fn clean_accuracies(configurations: &[OfConfiguration]) -> Vec<f64> {
    let judged = configurations
        .iter()
        .filter(|one| one.costs.as_ref().is_some_and(|costs| costs.verdict.is_some()));
    judged.filter_map(|one| one.counts.benign.value).collect()
}
