//! What a campaign says about rates: their intervals, when they are known well enough, and their
//! limits.

use faultlens_core::OutcomeKind;
use faultlens_stats::{Estimate, Formula, Level, StatsError, clopper_pearson, wilson};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Which images a rate speaks of.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Population {
    /// Images like those of the campaign, which are a sample of them: what a system will meet.
    #[default]
    NewImages,
    /// The images of the campaign and no others: only what faults draw is chance.
    TheseImages,
}

/// How intervals of rates are made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Intervals {
    /// By which formula.
    pub method: Method,
    /// How often they cover the truth.
    pub level: Level,
    /// Which images they speak of.
    pub population: Population,
}

impl Default for Intervals {
    fn default() -> Self {
        let method = Method::default();
        Self { method, level: Level::default(), population: Population::default() }
    }
}

impl Intervals {
    /// The method as the formula that it is.
    pub fn formula(&self) -> Formula {
        match self.method {
            Method::Wilson => Formula::Wilson,
            Method::ClopperPearson => Formula::ClopperPearson,
        }
    }

    /// The rate of `events` among `n` trials; an error only for counts that no sample has.
    pub fn estimate(&self, events: u64, n: u64) -> Result<Estimate, StatsError> {
        match self.method {
            Method::Wilson => wilson(events, n, self.level),
            Method::ClopperPearson => clopper_pearson(events, n, self.level),
        }
    }
}

/// "Wilson intervals, 95% confidence".
impl fmt::Display for Intervals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let method = match self.method {
            Method::Wilson => "Wilson",
            Method::ClopperPearson => "Clopper-Pearson",
        };
        write!(f, "{method} intervals, {} confidence", Percent(self.level.confidence()))
    }
}

/// The formulas for intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Close to its level on average.
    #[default]
    Wilson,
    /// Never covers less often than its level says, and is wider for that.
    ClopperPearson,
}

impl Method {
    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wilson => "wilson",
            Self::ClopperPearson => "clopper_pearson",
        }
    }
}

/// When a target and fault point has had enough trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stop {
    /// As soon as its rate is known to plus or minus this,
    pub half_width: f64,
    /// or when every case had so many trials.
    pub at_most: u32,
    /// Which images the rate speaks of. For new images, trials also end when more of them could
    /// not narrow the interval enough, since there are too few images.
    pub population: Population,
}

/// A rate that a requirement limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateKind {
    /// Of one outcome; never of skipped, which is in no denominator.
    Of(OutcomeKind),
    /// Of everything that is no use to whoever asked: changed, crashed and timed out.
    Failed,
}

impl RateKind {
    /// Every rate that can be limited.
    pub fn all() -> impl Iterator<Item = Self> {
        let judged = OutcomeKind::ALL.into_iter().filter(|kind| *kind != OutcomeKind::Skipped);
        judged.map(Self::Of).chain([Self::Failed])
    }

    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Of(kind) => kind.name(),
            Self::Failed => "failed",
        }
    }

    /// The rate of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|rate| rate.name() == name)
    }

    /// Whether an outcome is one of the events that the rate counts.
    pub fn counts(self, outcome: OutcomeKind) -> bool {
        match self {
            Self::Of(kind) => kind == outcome,
            Self::Failed => matches!(
                outcome,
                OutcomeKind::Changed | OutcomeKind::Crashed | OutcomeKind::TimedOut
            ),
        }
    }
}

/// What turns a rate into failures in time, FIT: how many failures a thousand million hours have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitLimit {
    /// How many faults the hardware has in that time.
    pub raw: f64,
    /// The share of them that the trials stand for.
    pub share: f64,
}

/// A measure of how good answers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QualityMetric {
    /// The share of right predictions under the faults.
    Accuracy,
    /// The accuracy without faults less that under them.
    AccuracyDrop,
    /// COCO's average precision: without faults, or under the fault point of the filter.
    Ap,
    /// The average precision without faults less its mean over faults and severities.
    ApDrop,
    /// The mean over faults and severities of accuracy, or of average precision (mPC).
    Mpc,
    /// That as a share of the one without faults (rPC).
    Rpc,
    /// The mean error relative to the reference's (mCE).
    Mce,
}

impl QualityMetric {
    /// Every metric with its name in campaign files.
    pub const ALL: [(Self, &str); 7] = [
        (Self::Accuracy, "accuracy"),
        (Self::AccuracyDrop, "accuracy_drop"),
        (Self::Ap, "ap"),
        (Self::ApDrop, "ap_drop"),
        (Self::Mpc, "mpc"),
        (Self::Rpc, "rpc"),
        (Self::Mce, "mce"),
    ];

    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(metric, _)| *metric == self).map_or("", |(_, name)| name)
    }

    /// The metric of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == name).map(|(metric, _)| *metric)
    }

    /// Whether more of it is better, so that a requirement says how much there must be at least.
    pub fn is_better_high(self) -> bool {
        matches!(self, Self::Accuracy | Self::Ap | Self::Mpc | Self::Rpc)
    }

    /// Whether it is counted trial by trial, so that any trials can be chosen for it.
    pub fn is_counted(self) -> bool {
        matches!(self, Self::Accuracy | Self::AccuracyDrop)
    }
}

/// What a requirement limits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quantity {
    /// How often trials end in some way.
    Rate(RateKind),
    /// The failures in time that follow from the rate of failed trials.
    Fit(FitLimit),
    /// How good answers are.
    Metric(QualityMetric),
}

impl Quantity {
    /// Whether more of it is better, so that the limit is a least.
    pub fn is_better_high(self) -> bool {
        matches!(self, Self::Metric(metric) if metric.is_better_high())
    }
}

/// A limit on a rate, on the failures in time that follow from it, or on how good answers are.
#[derive(Debug, Clone, PartialEq)]
pub struct Requirement {
    /// What the user calls it.
    pub name: Option<String>,
    /// What is limited.
    pub quantity: Quantity,
    /// The limit: the most of it, or the least where more is better.
    pub limit: f64,
    /// Only trials with these attributes count; all where it is empty.
    pub filter: BTreeMap<String, String>,
    /// The limit is to hold for every group of trials by this attribute.
    pub by: Option<String>,
    /// Which images the limit is to hold for.
    pub population: Population,
    /// The largest share of trials that may be missing before the verdict is inconclusive.
    pub max_skipped: f64,
}

/// The share of trials that a verdict may lack where a campaign does not say.
pub const DEFAULT_MAX_SKIPPED: f64 = 0.05;

/// "changed ≤ 5% where fault = bit_flip", "FIT ≤ 10 of 100 raw where layer = 1", "accuracy ≥ 90% in
/// every light".
impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        let sign = if self.quantity.is_better_high() { '≥' } else { '≤' };
        match self.quantity {
            Quantity::Rate(rate) => write!(f, "{} {sign} {}", rate.name(), Percent(self.limit))?,
            Quantity::Metric(metric) => {
                write!(f, "{} {sign} {}", metric.name(), Percent(self.limit))?;
            }
            Quantity::Fit(FitLimit { raw, share }) => {
                write!(f, "FIT {sign} {} of {raw} raw", self.limit)?;
                if share != 1.0 {
                    write!(f, ", {} of them", Percent(share))?;
                }
            }
        }
        for (at, (attribute, value)) in self.filter.iter().enumerate() {
            let link = if at == 0 { "where" } else { "and" };
            write!(f, " {link} {attribute} = {value}")?;
        }
        if let Some(by) = &self.by {
            write!(f, " for every {by}")?;
        }
        match self.population {
            Population::NewImages => Ok(()),
            Population::TheseImages => f.write_str(" on these images"),
        }
    }
}

/// A share in percent, with the digits that it has and without those that arithmetic adds.
pub struct Percent(pub f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:.10}", self.0 * 100.0);
        write!(f, "{}%", digits.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_read_as_sentences() {
        let mut requirement = Requirement {
            name: None,
            quantity: Quantity::Rate(RateKind::Of(OutcomeKind::Changed)),
            limit: 0.07,
            filter: BTreeMap::new(),
            by: None,
            population: Population::NewImages,
            max_skipped: DEFAULT_MAX_SKIPPED,
        };
        assert_eq!(requirement.to_string(), "changed ≤ 7%");
        requirement.filter.insert("target".to_owned(), "deep".to_owned());
        requirement.filter.insert("fault".to_owned(), "bit_flip".to_owned());
        requirement.name = Some("flips".to_owned());
        requirement.limit = 1e-6;
        let wanted = "flips: changed ≤ 0.0001% where fault = bit_flip and target = deep";
        assert_eq!(requirement.to_string(), wanted);
        requirement.name = None;
        requirement.filter.remove("fault");
        requirement.limit = 10.0;
        requirement.quantity = Quantity::Fit(FitLimit { raw: 100.0, share: 1.0 });
        assert_eq!(requirement.to_string(), "FIT ≤ 10 of 100 raw where target = deep");
        requirement.quantity = Quantity::Fit(FitLimit { raw: 2.5, share: 0.3 });
        assert_eq!(requirement.to_string(), "FIT ≤ 10 of 2.5 raw, 30% of them where target = deep");
        requirement.population = Population::TheseImages;
        requirement.by = Some("light".to_owned());
        requirement.quantity = Quantity::Metric(QualityMetric::Accuracy);
        requirement.limit = 0.9;
        let wanted = "accuracy ≥ 90% where target = deep for every light on these images";
        assert_eq!(requirement.to_string(), wanted);
        for (metric, name) in QualityMetric::ALL {
            assert_eq!((metric.name(), QualityMetric::named(name)), (name, Some(metric)));
        }
    }

    #[test]
    fn rates_are_found_by_name_and_count_their_outcomes() {
        for rate in RateKind::all() {
            assert_eq!(RateKind::named(rate.name()), Some(rate));
            assert!(!rate.counts(OutcomeKind::Skipped));
            let counted = OutcomeKind::ALL.into_iter().filter(|kind| rate.counts(*kind)).count();
            assert_eq!(counted, if rate == RateKind::Failed { 3 } else { 1 });
        }
        assert_eq!(RateKind::named("skipped"), None);
    }

    #[test]
    fn intervals_are_those_of_the_method() {
        let by = |method| Intervals { method, ..Intervals::default() };
        let wilson = by(Method::Wilson);
        let exact = by(Method::ClopperPearson);
        // From Python: the score formula, and bisection on sums of the binomial's terms.
        for (intervals, low, high) in
            [(wilson, 0.0623863995, 0.1604872417), (exact, 0.0578440101, 0.1616504903)]
        {
            let estimate = intervals.estimate(15, 148).unwrap();
            assert!((estimate.low - low).abs() < 1e-9, "{estimate:?}");
            assert!((estimate.high - high).abs() < 1e-9, "{estimate:?}");
        }
        assert_eq!(wilson.to_string(), "Wilson intervals, 95% confidence");
    }
}
