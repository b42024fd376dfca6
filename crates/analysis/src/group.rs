//! Failure rates by an attribute of trials, with tests of each group against all others.

use crate::context::Context;
use crate::estimate::{Precision, Scope};
use crate::family::Family;
use crate::permutation::{self, PERMUTATIONS};
use crate::sample::{Sample, TrialDraw};
use crate::tally::{Counts, Tally};
use faultlens_core::{OutcomeKind, Seed};
use faultlens_record::Record;
use faultlens_stats::{Clustered, StatsError, clustered_test, holm};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// Rates by one attribute.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Grouping {
    /// The attribute, as `--by` takes it: `fault`, `operator`, `kind`, `bit`, `label`, or a
    /// stratum.
    pub attribute: String,
    /// The target whose trials they are, where groups of several targets have nothing in common.
    pub target: Option<String>,
    /// The family of the faults, where the run has several.
    pub family: Option<Family>,
    /// Whether the groups have an order of their own (bits, layers, severities); else they come
    /// by falling rate.
    pub ordered: bool,
    /// The groups.
    pub rows: Vec<GroupRow>,
    /// How each group was compared with all others together, where that was tested.
    #[serde(skip)]
    pub test: Option<GroupTest>,
}

/// One group.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GroupRow {
    /// The attribute's value. From outside; escape it.
    pub key: String,
    /// What reports show instead, such as number and name of a layer. From outside; escape it.
    pub label: Option<String>,
    /// What the group consists of, such as a layer's operator types. From outside; escape it.
    pub about: Option<String>,
    /// Groups within the group, such as a layer's operators.
    pub parts: Vec<GroupRow>,
    /// Its trials.
    pub tally: Tally,
    /// The corrected p-value of "changes as often as all others"; `None` where it was not tested.
    pub p_value: Option<f64>,
}

impl GroupRow {
    /// What reports show. From outside; escape it.
    pub fn name(&self) -> &str {
        self.label.as_deref().unwrap_or(&self.key)
    }
}

/// How groups were compared with all others together. P-values have Holm's correction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupTest {
    /// The sign-flip test of differences within images, which have trials in several groups.
    WithinImages {
        /// How many images there are in all groups.
        images: u64,
    },
    /// A permutation test over units whose trials are not independent of each other.
    Permutation {
        /// What is permuted.
        unit: PermutedUnit,
        /// How many there are in all groups.
        units: u64,
        /// How many permutations were drawn.
        permutations: u32,
    },
}

/// What a permutation test deals to the groups anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermutedUnit {
    /// Cases with all their trials.
    Case,
    /// Clean predictions: a case of one target.
    CleanPrediction,
    /// Permanent faults with all the cases that meet them.
    PermanentFault,
}

/// The most groups that are tested: with more, Holm's correction leaves no p-value small.
const MOST_COMPARED: usize = 200;

/// Which trials of a run are grouped: those of one target or family, where others are unlike them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Only {
    pub(crate) target: Option<u32>,
    pub(crate) family: Option<Family>,
}

impl Only {
    fn counts(self, context: &Context, record: &Record) -> bool {
        let family = || context.family(record.fault);
        self.target.is_none_or(|target| target == record.target)
            && (self.family.is_none() || self.family == family())
    }
}

/// Counts trials by one attribute.
pub(crate) struct Groups {
    pub(crate) attribute: String,
    /// Which trials count.
    only: Only,
    /// Whether all trials of a case belong to the same group.
    groups_cases: bool,
    /// How weights correct the groups' rates.
    scope: Scope,
    groups: HashMap<String, Group>,
}

/// The trials of one group.
#[derive(Default)]
struct Group {
    counts: Counts,
    /// Trials by target and case, where cases are grouped.
    cases: Vec<((u32, u32), Share)>,
}

/// Trials that changed among the judged ones.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    changed: u64,
    judged: u64,
}

impl Group {
    fn add(
        &mut self,
        groups_cases: bool,
        record: &Record,
        weight: TrialDraw,
    ) -> Result<(), StatsError> {
        self.counts.add(&record.outcome, weight)?;
        let kind = record.outcome.kind();
        if !groups_cases || kind == OutcomeKind::Skipped {
            return Ok(());
        }
        let key = (record.target, record.case);
        // Trials of a case mostly follow each other; `rates` merges those that do not.
        if self.cases.last().is_none_or(|(last, _)| *last != key) {
            self.cases.push((key, Share::default()));
        }
        if let Some((_, share)) = self.cases.last_mut() {
            share.judged += 1;
            share.changed += u64::from(kind == OutcomeKind::Changed);
        }
        Ok(())
    }

    /// The rate of each case; with `by_target`, of each case and target.
    fn rates(&self, by_target: bool) -> Vec<f64> {
        let mut cases: BTreeMap<(u32, u32), Share> = BTreeMap::new();
        for ((target, case), share) in &self.cases {
            let sum = cases.entry((if by_target { *target } else { 0 }, *case)).or_default();
            sum.judged += share.judged;
            sum.changed += share.changed;
        }
        cases.values().map(|share| share.changed as f64 / share.judged as f64).collect()
    }
}

impl Groups {
    /// Groups by an attribute, of some trials.
    pub(crate) fn new(context: &Context, attribute: &str, only: Only) -> Self {
        Self {
            attribute: attribute.to_owned(),
            only,
            groups_cases: context.groups_cases(attribute),
            scope: context.scope(attribute),
            groups: HashMap::new(),
        }
    }

    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        weight: TrialDraw,
    ) -> Result<(), StatsError> {
        if !self.only.counts(context, record) {
            return Ok(());
        }
        let Some(key) = context.attribute(record, &self.attribute) else { return Ok(()) };
        let group = match self.groups.get_mut(key.as_ref()) {
            Some(group) => group,
            None => self.groups.entry(key.into_owned()).or_default(),
        };
        group.add(self.groups_cases, record, weight)
    }

    /// The only target whose trials count.
    pub(crate) fn target(&self) -> Option<u32> {
        self.only.target
    }

    /// Whether only the trials of one target or family count.
    pub(crate) fn is_of_part(&self) -> bool {
        self.only.target.is_some() || self.only.family.is_some()
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Numbers in their order, other groups by falling rate. Permutation tests draw from the seed.
    pub(crate) fn grouping(
        self,
        context: &Context,
        precision: &Precision,
        seed: Seed,
    ) -> Result<Grouping, StatsError> {
        let ordered = self.groups.keys().all(|key| key.parse::<f64>().is_ok());
        let samples: Vec<&Sample> =
            self.groups.values().map(|group| group.counts.judged()).collect();
        let uneven = samples.iter().any(|sample| sample.is_uneven());
        let shared = samples.iter().any(|sample| sample.is_shared());
        let mut tallies = BTreeMap::new();
        for (key, group) in &self.groups {
            tallies.insert(key.clone(), group.counts.tally(precision, self.scope)?);
        }
        let groups = sorted(self.groups, &tallies, ordered);
        let compared = !ordered && (2..=MOST_COMPARED).contains(&groups.len());
        let tested = if !compared || uneven && shared {
            None
        } else if self.groups_cases && uneven {
            // The rates of single images are too rough where few of their trials weigh most.
            None
        } else if self.groups_cases {
            let by_target = self.attribute == "golden";
            Some(test_cases(&groups, by_target, seed.child(&self.attribute))?)
        } else if shared {
            test_faults(&groups, seed.child(&self.attribute))?
        } else {
            Some(test_within_images(&groups, seed.child(&self.attribute))?)
        };
        let mut rows = Vec::new();
        for (at, (key, _)) in groups.iter().enumerate() {
            if let Some((key, tally)) = tallies.remove_entry(key) {
                let p_value = tested.as_ref().map(|tested| tested.p_values[at]);
                rows.push(GroupRow { key, tally, p_value, ..GroupRow::default() });
            }
        }
        let test = tested.map(|tested| tested.test);
        let target = self.only.target.map(|target| context.target_name(target).to_owned());
        let family = self.only.family;
        Ok(Grouping { attribute: self.attribute, target, family, ordered, rows, test })
    }
}

fn sorted(
    groups: HashMap<String, Group>,
    tallies: &BTreeMap<String, Tally>,
    ordered: bool,
) -> Vec<(String, Group)> {
    let mut groups: Vec<(String, Group)> = groups.into_iter().collect();
    let rate = |key: &String| tallies.get(key).and_then(|tally| tally.rate.value).unwrap_or(0.0);
    groups.sort_by(|(a, _), (b, _)| {
        let first = if ordered {
            match (a.parse::<f64>(), b.parse::<f64>()) {
                (Ok(a), Ok(b)) => a.total_cmp(&b),
                _ => Ordering::Equal,
            }
        } else {
            rate(b).total_cmp(&rate(a))
        };
        first.then_with(|| a.cmp(b))
    });
    groups
}

/// For each group the corrected p-value of "changes as often as all others", and how it was tested.
struct Tested {
    p_values: Vec<f64>,
    test: GroupTest,
}

/// Each image has trials in several groups, so that a group is set against all others image by
/// image.
fn test_within_images(groups: &[(String, Group)], seed: Seed) -> Result<Tested, StatsError> {
    let mut all = Clustered::default();
    for (_, group) in groups {
        all.merge(group.counts.judged().images());
    }
    let mut p_values = Vec::new();
    let mut stream = seed.stream();
    for (_, group) in groups {
        let own = group.counts.judged().images();
        p_values.push(clustered_test(&all.without(own), own, || stream.next_u64()));
    }
    let test = GroupTest::WithinImages { images: all.len() };
    Ok(Tested { p_values: holm(&p_values)?, test })
}

fn test_cases(
    groups: &[(String, Group)],
    by_target: bool,
    seed: Seed,
) -> Result<Tested, StatsError> {
    let rates: Vec<Vec<f64>> = groups.iter().map(|(_, group)| group.rates(by_target)).collect();
    let unit = if by_target { PermutedUnit::CleanPrediction } else { PermutedUnit::Case };
    permuted(&rates, unit, seed)
}

/// `None` where only some trials share a permanent fault, so that units are not exchangeable.
fn test_faults(groups: &[(String, Group)], seed: Seed) -> Result<Option<Tested>, StatsError> {
    let rates = groups.iter().map(|(_, group)| group.counts.judged().fault_rates());
    let rates: Option<Vec<Vec<f64>>> = rates.collect();
    rates.map(|rates| permuted(&rates, PermutedUnit::PermanentFault, seed)).transpose()
}

/// Tests groups of units that have one rate each.
fn permuted(rates: &[Vec<f64>], unit: PermutedUnit, seed: Seed) -> Result<Tested, StatsError> {
    let units = rates.iter().map(Vec::len).sum::<usize>() as u64;
    let test = GroupTest::Permutation { unit, units, permutations: PERMUTATIONS };
    Ok(Tested { p_values: holm(&permutation::against_the_rest(rates, seed))?, test })
}
