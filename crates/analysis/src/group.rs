//! Trials by what they have in common.

use super::attribute::Context;
use super::permutation::{self, PERMUTATIONS};
use super::sample::{Sample, Stake};
use super::tally::{Counts, Of, Precision};
use super::{GroupRow, Grouping, Tally, format};
use faultlens_core::{OutcomeKind, Seed};
use faultlens_record::Record;
use faultlens_stats::{StatsError, fisher_exact, holm};
use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

/// Groups that are compared with the rest, at most: beyond this a table of p-values says nothing.
const MOST_COMPARED: usize = 200;

/// Counts trials by one attribute.
pub(super) struct Groups {
    pub(super) attribute: String,
    /// Whether cases are what is grouped, so that their trials come to a group together.
    of_cases: bool,
    /// How weights correct the groups' rates.
    of: Of,
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
    fn add(&mut self, of_cases: bool, record: &Record, stake: Stake) -> Result<(), StatsError> {
        self.counts.add(&record.outcome, stake)?;
        let kind = record.outcome.kind();
        if !of_cases || kind == OutcomeKind::Skipped {
            return Ok(());
        }
        let place = (record.target, record.case);
        // Trials of a case mostly follow each other; those that do not are put together later.
        if self.cases.last().is_none_or(|(last, _)| *last != place) {
            self.cases.push((place, Share::default()));
        }
        if let Some((_, share)) = self.cases.last_mut() {
            share.judged += 1;
            share.changed += u64::from(kind == OutcomeKind::Changed);
        }
        Ok(())
    }

    /// The rate of each case; where targets tell cases apart, of each case and target.
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
    pub(super) fn new(context: &Context, attribute: &str) -> Self {
        let of_cases = context.is_of_cases(attribute);
        let (attribute, of) = (attribute.to_owned(), context.part(attribute));
        Self { attribute, of_cases, of, groups: HashMap::new() }
    }

    pub(super) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        stake: Stake,
    ) -> Result<(), StatsError> {
        let Some(key) = context.attribute(record, &self.attribute) else { return Ok(()) };
        let group = match self.groups.get_mut(key.as_ref()) {
            Some(group) => group,
            None => self.groups.entry(key.into_owned()).or_default(),
        };
        group.add(self.of_cases, record, stake)
    }

    pub(super) fn len(&self) -> usize {
        self.groups.len()
    }

    /// Numbers in their order, other groups by falling rate. The seed is what chance is drawn from
    /// where a test needs it.
    pub(super) fn grouping(
        self,
        precision: &Precision,
        seed: Seed,
    ) -> Result<Grouping, StatsError> {
        let ordered = self.groups.keys().all(|key| key.parse::<f64>().is_ok());
        let samples = || self.groups.values().map(|group| group.counts.judged());
        let uneven = samples().any(Sample::is_uneven);
        let shared = samples().any(|sample| !sample.is_plain());
        let mut tallies = BTreeMap::new();
        for (key, group) in &self.groups {
            tallies.insert(key.clone(), group.counts.tally(precision, self.of)?);
        }
        let groups = sorted(self.groups, &tallies, ordered);
        let compared = !ordered && (2..=MOST_COMPARED).contains(&groups.len());
        let tested = match () {
            // Tests count trials, and these count for more or less than one.
            () if !compared || uneven => None,
            () if self.of_cases => {
                let by_target = self.attribute == "golden";
                Some(test_cases(&groups, by_target, seed.child(&self.attribute))?)
            }
            () if shared => test_faults(&groups, seed.child(&self.attribute))?,
            // How many trials a group has followed from their outcomes: no test of trials holds.
            () if precision.sequential => None,
            () => Some(test_trials(&groups)?),
        };
        let p_value = |at: usize| tested.as_ref().map(|tested| tested.p_values[at]);
        let row = |(at, (key, _)): (usize, &(String, Group))| {
            let (key, tally) = tallies.remove_entry(key)?;
            Some(GroupRow { key, tally, p_value: p_value(at), ..GroupRow::default() })
        };
        Ok(Grouping {
            title: title(&self.attribute),
            attribute: self.attribute,
            ordered,
            rows: groups.iter().enumerate().filter_map(row).collect(),
            correction: tested.map(|tested| tested.correction),
        })
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
        let by_number = || a.parse::<f64>().ok().zip(b.parse().ok()).map(|(a, b)| a.total_cmp(&b));
        let first = if ordered { by_number() } else { Some(rate(b).total_cmp(&rate(a))) };
        first.unwrap_or(Ordering::Equal).then_with(|| a.cmp(b))
    });
    groups
}

/// For each group the corrected p-value of "deviates as often as all others", and how it was had.
struct Tested {
    p_values: Vec<f64>,
    correction: String,
}

fn test_trials(groups: &[(String, Group)]) -> Result<Tested, StatsError> {
    let sum = |of: fn(&Counts) -> u64| groups.iter().map(|(_, group)| of(&group.counts)).sum();
    let (events, n): (u64, u64) = (sum(Counts::changed), sum(|counts| counts.judged().n()));
    let p_values = groups.iter().map(|(_, group)| {
        let (own, judged) = (group.counts.changed(), group.counts.judged().n());
        fisher_exact(own, judged, events - own, n - judged)
    });
    let correction = format!(
        "Fisher's exact test of each of {} groups against all others, Holm's correction",
        groups.len()
    );
    Ok(Tested { p_values: holm(&p_values.collect::<Result<Vec<_>, _>>()?)?, correction })
}

fn test_cases(
    groups: &[(String, Group)],
    by_target: bool,
    seed: Seed,
) -> Result<Tested, StatsError> {
    let rates: Vec<Vec<f64>> = groups.iter().map(|(_, group)| group.rates(by_target)).collect();
    permuted(&rates, if by_target { "undisturbed answer" } else { "case" }, seed)
}

/// `None` where only some trials have a fault in common, and nothing is dealt alike.
fn test_faults(groups: &[(String, Group)], seed: Seed) -> Result<Option<Tested>, StatsError> {
    let rates = groups.iter().map(|(_, group)| group.counts.judged().fault_rates());
    let rates: Option<Vec<Vec<f64>>> = rates.collect();
    rates.map(|rates| permuted(&rates, "permanent fault", seed)).transpose()
}

/// Groups of what has one rate each.
fn permuted(rates: &[Vec<f64>], what: &str, seed: Seed) -> Result<Tested, StatsError> {
    let all = rates.iter().map(Vec::len).sum::<usize>() as u64;
    let correction = format!(
        "Permutation test over {} ({} permutations) of each of {} groups' mean rate against that \
         of all others, since trials of one {what} are not independent; Holm's correction",
        format::counted(all, what),
        format::count(PERMUTATIONS.into()),
        rates.len()
    );
    Ok(Tested { p_values: holm(&permutation::against_the_rest(rates, seed))?, correction })
}

fn title(attribute: &str) -> String {
    let title = match attribute {
        "answer" => "By prediction under the fault",
        "golden" => "By clean prediction",
        "kind" => "By operator type",
        "label" => "By true class",
        "duration" => "By fault duration",
        "in" => "By fault location",
        "layer" => "By layer, in execution order",
        "mode" => "By fault mode",
        "pattern" => "By fault pattern",
        "position" => "By operator, in execution order",
        "point" => "By fault and settings",
        other => return format!("By {}", other.replace('_', " ")),
    };
    title.to_owned()
}
