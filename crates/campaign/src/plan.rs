//! Which trials a campaign consists of, and in which units they are worked on.
//!
//! Every trial has a number that follows from the campaign alone: targets first, then cases, then
//! faults, then repeats. All trials of one target and case stand together, since they share the
//! golden run.

use std::ops::Range;

/// The trials of one target and case that are worked on together, at most.
const UNIT: u64 = 4096;

/// All trials of a campaign, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    cases: u32,
    /// By target and fault, where its trials start within those of the target and one case; the
    /// last entry is where they all end.
    starts: Vec<Vec<u64>>,
}

/// What a trial is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrialKey {
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the sample.
    pub case: u32,
    /// The fault, by its place among the fault points.
    pub fault: u32,
    /// Which of the trials of this target, case and fault.
    pub repeat: u32,
}

/// Trials of one target and case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkUnit {
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the sample.
    pub case: u32,
    /// The numbers, rising.
    pub numbers: Vec<Range<u64>>,
}

/// One of several parts that together are the whole campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 1.
    pub part: u32,
    /// Of how many.
    pub of: u32,
}

impl Plan {
    /// A plan; `trials` are, by target, those of each fault for one case.
    pub fn new(cases: usize, trials: &[Vec<u32>]) -> Self {
        let mut starts = Vec::with_capacity(trials.len());
        for of_target in trials {
            let mut end = 0;
            let mut ends = vec![0];
            for &trials in of_target {
                end += u64::from(trials);
                ends.push(end);
            }
            starts.push(ends);
        }
        Self { cases: cases as u32, starts }
    }

    /// How many trials there are.
    pub fn total(&self) -> u64 {
        self.first(self.targets(), 0)
    }

    /// How many cases there are.
    pub fn cases(&self) -> u32 {
        self.cases
    }

    fn targets(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Trials of one target and fault, for one case.
    pub fn trials(&self, target: usize, fault: usize) -> u64 {
        let starts = self.starts.get(target).map_or(&[][..], Vec::as_slice);
        match (starts.get(fault), starts.get(fault + 1)) {
            (Some(start), Some(end)) => end - start,
            _ => 0,
        }
    }

    /// Trials of one target and case.
    fn together(&self, target: u32) -> u64 {
        self.starts.get(target as usize).and_then(|starts| starts.last()).copied().unwrap_or(0)
    }

    fn first(&self, target: u32, case: u32) -> u64 {
        let before: u64 = (0..target).map(|target| self.together(target)).sum();
        before * u64::from(self.cases) + u64::from(case) * self.together(target)
    }

    /// The trial of that number.
    pub fn key(&self, number: u64) -> Option<TrialKey> {
        let target = (0..self.targets()).find(|target| number < self.first(target + 1, 0))?;
        let together = self.together(target);
        let of_target = number - self.first(target, 0);
        let case = of_target / together;
        let within = of_target % together;
        let starts = &self.starts[target as usize];
        let fault = starts.partition_point(|&start| start <= within) - 1;
        let repeat = (within - starts[fault]) as u32;
        Some(TrialKey { target, case: case as u32, fault: fault as u32, repeat })
    }

    /// Targets and cases, in the plan's order.
    fn pairs(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        (0..self.targets()).flat_map(|target| (0..self.cases).map(move |case| (target, case)))
    }

    /// All trials in units, or those of one shard; every unit belongs to exactly one shard.
    pub fn units(&self, shard: Option<Shard>) -> impl Iterator<Item = WorkUnit> + '_ {
        let units = self.pairs().flat_map(move |(target, case)| {
            let first = self.first(target, case);
            let end = first + self.together(target);
            let starts = (first..end).step_by(UNIT as usize);
            starts.map(move |start| WorkUnit {
                target,
                case,
                numbers: std::iter::once(start..end.min(start + UNIT)).collect(),
            })
        });
        // Units are dealt out in turn, so that shards take about as long as each other.
        let in_shard = units.enumerate().filter(move |(at, _)| {
            shard.is_none_or(|shard| *at as u64 % u64::from(shard.of) == u64::from(shard.part - 1))
        });
        in_shard.map(|(_, unit)| unit)
    }

    /// The repeats in this range of the faults that are wanted for their target.
    pub fn round(
        &self,
        repeats: Range<u32>,
        wanted: impl Fn(u32, u32) -> bool,
    ) -> impl Iterator<Item = WorkUnit> {
        self.pairs().filter_map(move |(target, case)| {
            let first = self.first(target, case);
            let faults = self.starts[target as usize].windows(2).enumerate();
            let numbers =
                faults.filter(|(fault, _)| wanted(target, *fault as u32)).map(|(_, ends)| {
                    let at = |repeat: u32| first + ends[1].min(ends[0] + u64::from(repeat));
                    at(repeats.start)..at(repeats.end)
                });
            let numbers: Vec<_> = numbers.filter(|range| !range.is_empty()).collect();
            (!numbers.is_empty()).then_some(WorkUnit { target, case, numbers })
        })
    }
}

impl WorkUnit {
    /// How many trials it has.
    pub fn len(&self) -> u64 {
        self.numbers.iter().map(|range| range.end - range.start).sum()
    }

    /// Whether it has no trial.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Shard {
    /// Reads `2/8`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').and_then(|(part, of)| {
            Some(Self { part: part.trim().parse().ok()?, of: of.trim().parse().ok()? })
        });
        match parts {
            Some(shard) if shard.part >= 1 && shard.part <= shard.of => Ok(shard),
            _ => Err(format!("a shard is one of several parts, such as 2/8, not {text:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn numbers(units: impl Iterator<Item = WorkUnit>) -> Vec<u64> {
        units.flat_map(|unit| unit.numbers.into_iter().flatten()).collect()
    }

    #[test]
    fn numbers_and_keys_belong_together() {
        let plan = Plan::new(3, &[vec![4, 1, 2], vec![4, 1, 2]]);
        assert_eq!(plan.total(), 42);
        let key = |target, case, fault, repeat| Some(TrialKey { target, case, fault, repeat });
        assert_eq!(plan.key(0), key(0, 0, 0, 0));
        assert_eq!(plan.key(4), key(0, 0, 1, 0));
        assert_eq!(plan.key(6), key(0, 0, 2, 1));
        assert_eq!(plan.key(7), key(0, 1, 0, 0));
        assert_eq!(plan.key(41), key(1, 2, 2, 1));
        assert_eq!(plan.key(42), None);
        let keys: BTreeSet<_> = (0..42)
            .filter_map(|n| plan.key(n))
            .map(|s| (s.target, s.case, s.fault, s.repeat))
            .collect();
        assert_eq!(keys.len(), 42);
    }

    #[test]
    fn shards_are_the_whole_without_overlap() {
        for plan in [
            Plan::new(5, &[vec![3, 3], vec![1, 0]]),
            Plan::new(2, &[vec![9000]]),
            Plan::new(0, &[vec![3]]),
        ] {
            let whole = numbers(plan.units(None));
            assert_eq!(whole, (0..plan.total()).collect::<Vec<_>>());
            let mut parts: Vec<u64> =
                (1..=8).flat_map(|part| numbers(plan.units(Some(Shard { part, of: 8 })))).collect();
            parts.sort_unstable();
            assert_eq!(parts, whole);
        }
    }

    #[test]
    fn rounds_are_the_whole_without_overlap() {
        let plan = Plan::new(3, &[vec![5, 1, 4], vec![2, 1, 3]]);
        let mut all: Vec<u64> = [0..1, 1..3, 3..5]
            .into_iter()
            .flat_map(|repeats| numbers(plan.round(repeats, |_, _| true)))
            .collect();
        all.sort_unstable();
        assert_eq!(all, (0..plan.total()).collect::<Vec<_>>());
        let some = numbers(plan.round(1..3, |target, fault| target == 1 && fault == 2));
        let wanted = |n: &u64| {
            plan.key(*n)
                .is_some_and(|s| s.target == 1 && s.fault == 2 && (1..3).contains(&s.repeat))
        };
        assert_eq!(some, (0..plan.total()).filter(wanted).collect::<Vec<_>>());
    }

    #[test]
    fn shards_are_read_from_text() {
        assert_eq!(Shard::parse("2/8"), Ok(Shard { part: 2, of: 8 }));
        for wrong in ["0/8", "9/8", "2", "a/b", "1/0", "-1/4"] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }
}
