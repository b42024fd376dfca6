//! One target's trials under every protection.

use super::evaluate::{Evidence, of_images};
use super::ranges::{self, Range};
use super::shield::{Guarded, Shield, reread};
use super::tallies::TrialTallies;
use super::trials::{Alarm, CaseResult, Trials};
use super::work::Work;
use super::{FalseAlarms, Limit, Options, ProtectError, RANGES, TargetAdvice};
use faultlens_campaign::OpenCampaign;
use faultlens_campaign::OpenTarget;
use faultlens_campaign::WhiteBox;
use faultlens_core::DType;
use faultlens_engine::ValueId;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What an undisturbed case shows.
struct Profile {
    /// By value that may be clipped, its type and its range.
    ranges: Vec<Option<Range>>,
    dtypes: Vec<Option<DType>>,
}

/// One target with what it is evaluated from.
struct Bench<'a> {
    open: &'a OpenCampaign,
    trials: &'a Trials,
    target: u32,
    inside: &'a WhiteBox,
    options: &'a Options,
    /// Values that may be clipped.
    values: Vec<ValueId>,
    /// By case; `None` where there is no undisturbed run.
    profiles: Vec<Option<Profile>>,
}

/// Evaluates every protection that is asked for.
pub(super) fn advise(
    open: &OpenCampaign,
    trials: &Trials,
    target: u32,
    options: &Options,
) -> Result<Option<TargetAdvice>, ProtectError> {
    let Some(inside) = open.targets[target as usize].white_box() else { return Ok(None) };
    let bench = Bench::open(open, trials, target, inside, options)?;
    let guarded = bench.guarded(|_| true);
    let clips: Vec<ValueId> = guarded.iter().map(|(id, ..)| *id).collect();
    let work = bench.work(&clips)?;
    let results = bench.results(&guarded)?;
    let alarms = bench.alarms(&results)?;
    let folds: Vec<TrialTallies> = results.into_iter().map(joined).collect();
    let spec = &open.campaign.targets[target as usize];
    let evidence = Evidence {
        folds: &folds,
        work: &work,
        anatomy: &inside.anatomy,
        intervals: &open.campaign.intervals,
        sequential: open.campaign.stop.is_some(),
        permanent: open.campaign.faults.iter().any(|fault| fault.disturbance.is_permanent()),
        alarms,
    };
    let graph = inside.target.model().graph();
    Ok(Some(TargetAdvice {
        name: spec.name.clone(),
        macs: work.macs(),
        weight_bytes: work.weight_bytes(),
        broken: evidence.broken()?,
        protections: evidence.protections(options)?,
        ranking: evidence.ranking()?,
        limits: guarded
            .iter()
            .map(|&(id, _, (low, high)): &Guarded| Limit {
                value: graph.value_name(id).to_owned(),
                low: low.into(),
                high: high.into(),
            })
            .collect(),
    }))
}

fn joined(results: Vec<CaseResult>) -> TrialTallies {
    let mut tallies = TrialTallies::default();
    results.iter().for_each(|case| tallies.join(&case.tallies));
    tallies
}

impl<'a> Bench<'a> {
    fn open(
        open: &'a OpenCampaign,
        trials: &'a Trials,
        target: u32,
        inside: &'a WhiteBox,
        options: &'a Options,
    ) -> Result<Self, ProtectError> {
        let values = Vec::new();
        let profiles = Vec::new();
        let mut bench = Self { open, trials, target, inside, options, values, profiles };
        if options.most(RANGES).is_some() {
            bench.values = ranges::clipped(bench.inside.target.model().graph());
            let cases: Vec<u32> = (0..open.plan.cases()).collect();
            let profiles = shared(&cases, options.threads(), |case| bench.profile(case));
            bench.profiles = profiles.into_iter().collect::<Result<_, _>>()?;
        }
        Ok(bench)
    }

    fn open_target(&self) -> &'a OpenTarget {
        &self.open.targets[self.target as usize]
    }

    fn profile(&self, number: u32) -> Result<Option<Profile>, ProtectError> {
        let Some(case) = self.trials.case(self.open, number)? else { return Ok(None) };
        let shown = self.open_target().shown(&case.image);
        let Ok(golden) = self.inside.target.golden(&shown) else { return Ok(None) };
        Ok(Some(Profile {
            ranges: ranges::seen(&golden, &self.values),
            dtypes: self.values.iter().map(|&id| golden.dtype(id)).collect(),
        }))
    }

    /// What is clipped, by the profiles of some cases.
    fn guarded(&self, takes: impl Fn(u32) -> bool) -> Vec<Guarded> {
        let profiles = || {
            let taken = (0..).zip(&self.profiles).filter(|(case, _)| takes(*case));
            taken.filter_map(|(_, profile)| profile.as_ref())
        };
        let ranges = ranges::together(profiles().map(|all| &all.ranges), self.options.margin);
        let Some(first) = profiles().next() else { return Vec::new() };
        let all = self.values.iter().zip(&first.dtypes).zip(ranges);
        all.filter_map(|((&id, dtype), range)| Some((id, (*dtype)?, range?))).collect()
    }

    /// What one inference takes, by the first case that the target answers.
    fn work(&self, clips: &[ValueId]) -> Result<Work, ProtectError> {
        for number in 0..self.open.plan.cases() {
            if let Some(case) = self.trials.case(self.open, number)?
                && let Ok(golden) =
                    self.inside.target.golden(&self.open_target().shown(&case.image))
            {
                return Ok(Work::of(&golden, &self.inside.anatomy, clips));
            }
        }
        Ok(Work::default())
    }

    /// The results of all trials, by fold and then by case. What is clipped in a fold's cases was profiled
    /// on those of the others, where there are any.
    fn results(&self, guarded: &[Guarded]) -> Result<Vec<Vec<CaseResult>>, ProtectError> {
        let folds = self.trials.folds();
        let all = self.open.plan.cases();
        let spec = &self.open.campaign.targets[self.target as usize];
        let proto = if guarded.is_empty() { None } else { Some(reread(spec)?) };
        let mut results = Vec::new();
        for fold in 0..folds {
            let others = self.guarded(|case| folds == 1 || case % folds != fold);
            let shield = proto.as_ref().map(|proto| Shield::new(proto, spec, self.inside, &others));
            let shield = shield.transpose()?;
            let cases: Vec<u32> = (0..all).filter(|case| case % folds == fold).collect();
            let of_fold = shared(&cases, self.options.threads(), |case| {
                self.trials.rerun(self.open, self.target, case, shield.as_ref())
            });
            results.push(of_fold.into_iter().collect::<Result<_, _>>()?);
        }
        Ok(results)
    }

    /// What clipping does to undisturbed cases that its ranges do not come from.
    fn alarms(&self, results: &[Vec<CaseResult>]) -> Result<Option<FalseAlarms>, ProtectError> {
        let alarms: Vec<Alarm> = results.iter().flatten().filter_map(|case| case.alarm).collect();
        if alarms.is_empty() || results.len() < 2 {
            return Ok(None);
        }
        let intervals = &self.open.campaign.intervals;
        let touched: Vec<(u64, bool)> =
            alarms.iter().map(|alarm| (alarm.image, alarm.touched)).collect();
        let changed: Vec<(u64, bool)> =
            alarms.iter().filter_map(|alarm| Some((alarm.image, alarm.changed?))).collect();
        Ok(Some(FalseAlarms {
            touched: of_images(&touched, intervals)?,
            changed: of_images(&changed, intervals)?,
        }))
    }
}

/// Works on all of the numbers, on several threads; what comes back is in their order.
fn shared<T: Send>(numbers: &[u32], threads: usize, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    // Threads draw the next number when they are free, so that long work delays no other.
    let work_until_done = || {
        let mut done = Vec::new();
        while let at = next.fetch_add(1, Ordering::Relaxed)
            && let Some(&number) = numbers.get(at)
        {
            done.push((at, work(number)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work_until_done)).collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.flatten().collect::<Vec<_>>()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_comes_back_in_order() {
        let numbers: Vec<u32> = (0..50).rev().collect();
        for threads in [0, 1, 3, 80] {
            let squares = shared(&numbers, threads, |n| n * n);
            assert!(squares.iter().zip(&numbers).all(|(square, n)| *square == n * n));
            assert_eq!(squares.len(), numbers.len());
        }
    }
}
