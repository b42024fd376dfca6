//! From counted trials to what protections are worth.

use super::ledger::{Count, Kind, Ledger};
use super::work::Work;
use super::{Cost, Evaluated, FalseAlarms, Gain, Move, Options, PROTECTIONS, Protection, Ranked};
use crate::analysis::Rate;
use crate::config::Intervals;
use faultlens_core::OutcomeKind;
use faultlens_faults::Anatomy;
use faultlens_stats::{PairedCounts, StatsError, holm, mcnemar_exact, newcombe_paired};
use std::collections::{BTreeMap, BTreeSet};

/// What protections of one target are judged by.
pub(super) struct Evidence<'a> {
    /// By part of the cases.
    pub(super) folds: &'a [Ledger],
    pub(super) work: &'a Work,
    pub(super) anatomy: &'a Anatomy,
    pub(super) intervals: &'a Intervals,
    /// Whether a stop rule decided the number of trials.
    pub(super) sequential: bool,
    /// What clipping does to undisturbed cases.
    pub(super) alarms: Option<FalseAlarms>,
}

/// How many trials went from which outcome to which.
#[derive(Default)]
struct Moves(BTreeMap<(OutcomeKind, OutcomeKind), Count>);

impl Moves {
    /// The trials whose outcomes before and after a question is answered with yes for.
    fn sum(&self, is: impl Fn(OutcomeKind, OutcomeKind) -> bool) -> Count {
        let mut sum = Count::default();
        let taken = self.0.iter().filter(|((before, after), _)| is(*before, *after));
        taken.for_each(|(_, count)| sum.add(*count));
        sum
    }

    fn trials(&self, from: OutcomeKind, to: OutcomeKind) -> u64 {
        self.0.get(&(from, to)).map_or(0, |count| count.trials)
    }

    /// By whether answers were broken, and whether they are.
    fn cell(&self, broken: bool, stays: bool) -> Count {
        let is = |kind| kind == OutcomeKind::Deviated;
        self.sum(|before, after| is(before) == broken && is(after) == stays)
    }
}

/// A rate of things that count the same.
pub(super) fn plain(events: usize, n: usize, intervals: &Intervals) -> Result<Rate, StatsError> {
    let (events, n) = (events as u64, n as u64);
    let estimate = intervals.estimate(events, n)?;
    Ok(Rate { events, n, value: estimate.value, low: estimate.low, high: estimate.high })
}

impl Evidence<'_> {
    fn whole(&self) -> Ledger {
        let mut whole = Ledger::default();
        self.folds.iter().for_each(|fold| whole.join(fold.clone()));
        whole
    }

    /// How often the answer deviated without protection.
    pub(super) fn broken(&self) -> Result<Rate, StatsError> {
        let whole = self.whole();
        whole.sum(Kind::is_broken).rate(whole.sum(|_| true), self.intervals)
    }

    /// The layers, by falling share of the broken answers.
    pub(super) fn ranking(&self) -> Result<Vec<Ranked>, StatsError> {
        let whole = self.whole();
        let all = whole.sum(Kind::is_broken);
        let ranked = |layer: u32| {
            let broken = whole.sum(|kind| kind.is_broken() && kind.hits(layer));
            let from = |of: fn(&Kind) -> &Vec<u32>| {
                whole.sum(|kind| kind.is_broken() && of(kind).contains(&layer)).trials
            };
            let work = self.work.layer(layer);
            Ok(Ranked {
                layer,
                name: self.anatomy.name(layer).to_owned(),
                rate: broken.rate(whole.sum(|kind| kind.hits(layer)), self.intervals)?,
                share: broken.rate(all, self.intervals)?,
                computed: from(|kind| &kind.computed),
                stored: from(|kind| &kind.stored),
                macs: work.macs,
                weight_bytes: work.weight_bytes,
            })
        };
        let mut ranking =
            self.work.numbers().map(ranked).collect::<Result<Vec<_>, StatsError>>()?;
        let share = |ranked: &Ranked| ranked.share.value.unwrap_or(0.0);
        ranking.sort_by(|a, b| share(b).total_cmp(&share(a)));
        Ok(ranking)
    }

    /// Every protection that is asked for, in every extent.
    pub(super) fn protections(&self, options: &Options) -> Result<Vec<Evaluated>, StatsError> {
        let (mut evaluated, mut p_values) = (Vec::new(), Vec::new());
        for &protection in PROTECTIONS {
            let Some(most) = options.most(protection.name()) else { continue };
            for extent in self.extents(protection, most) {
                let moves = self.moves(protection, &extent);
                let (one, p_value) = self.evaluated(protection, &extent, &moves)?;
                evaluated.push(one);
                p_values.push(p_value);
            }
        }
        if !self.sequential {
            for (one, p_value) in evaluated.iter_mut().zip(holm(&p_values)?) {
                one.gain.p_value = Some(p_value);
            }
        }
        Ok(evaluated)
    }

    /// The extents in which a protection is evaluated; none where the run has no fault that it
    /// could stop.
    fn extents(&self, protection: &dyn Protection, most: usize) -> Vec<Extent> {
        if !protection.is_selective() {
            let fits = self.work.numbers().any(|layer| protection.fits(self.work, layer));
            return if fits { vec![Extent::whole(self.folds.len())] } else { Vec::new() };
        }
        let whole = self.whole();
        if whole.0.keys().all(|kind| protection.reach(kind).is_empty()) {
            return Vec::new();
        }
        let order = self.order(protection, &whole);
        let apart = (0..self.folds.len()).map(|fold| self.order(protection, &self.others(fold)));
        let apart: Vec<Vec<u32>> = apart.collect();
        let first = |order: &Vec<u32>, n: usize| order.iter().take(n).copied().collect();
        let extent = |n: usize| Extent {
            layers: order.iter().take(n).copied().collect(),
            apart: apart.iter().map(|order| first(order, n)).collect(),
        };
        (1..=order.len().min(most)).map(extent).collect()
    }

    /// All trials but those of one part of the cases; those too where there is no other.
    fn others(&self, fold: usize) -> Ledger {
        let mut others = Ledger::default();
        let taken = |at: usize| at != fold || self.folds.len() == 1;
        let folds = self.folds.iter().enumerate().filter(|(at, _)| taken(*at));
        folds.for_each(|(_, ledger)| others.join(ledger.clone()));
        others
    }

    /// The layers that the protection fits, by how many broken answers it would stop there.
    fn order(&self, protection: &dyn Protection, ledger: &Ledger) -> Vec<u32> {
        let stops = |layer: u32| {
            let reached = |kind: &Kind| protection.reach(kind).contains(&layer);
            ledger.sum(|kind| kind.is_broken() && reached(kind)).weight
        };
        let fitting = self.work.numbers().filter(|&layer| protection.fits(self.work, layer));
        let mut order: Vec<(u32, f64)> = fitting.map(|layer| (layer, stops(layer))).collect();
        order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        order.into_iter().map(|(layer, _)| layer).collect()
    }

    fn moves(&self, protection: &dyn Protection, extent: &Extent) -> Moves {
        let mut moves = Moves::default();
        for (ledger, layers) in self.folds.iter().zip(&extent.apart) {
            for (kind, count) in &ledger.0 {
                let after = protection.after(kind, layers);
                moves.0.entry((kind.before, after)).or_default().add(*count);
            }
        }
        moves
    }

    /// What a protection is worth, and how likely its gain is chance.
    fn evaluated(
        &self,
        protection: &dyn Protection,
        extent: &Extent,
        moves: &Moves,
    ) -> Result<(Evaluated, f64), StatsError> {
        use OutcomeKind::{Detected, Deviated, Masked};
        let all = moves.sum(|_, _| true);
        let cell = |broken, stays| moves.cell(broken, stays);
        let (both, stopped, worse) = (cell(true, true), cell(true, false), cell(false, true));
        let counts = PairedCounts {
            both: both.effective(all),
            first_only: stopped.effective(all),
            second_only: worse.effective(all),
            neither: cell(false, false).effective(all),
        };
        let gain = newcombe_paired(counts, self.intervals.level)?;
        let p_value = mcnemar_exact(counts.first_only, counts.second_only);
        let name = |&layer: &u32| self.anatomy.name(layer).to_owned();
        let evaluated = Evaluated {
            protection: protection.name().to_owned(),
            label: protection.label(extent.layers.len()),
            layers: extent.layers.iter().map(name).collect(),
            after: moves.sum(|_, after| after == Deviated).rate(all, self.intervals)?,
            gain: Gain { value: gain.value, low: gain.low, high: gain.high, p_value: None },
            stopped: stopped.rate(moves.sum(|before, _| before == Deviated), self.intervals)?,
            repaired: moves.trials(Deviated, Masked),
            caught: moves.trials(Deviated, Detected),
            worse: worse.trials,
            hidden: moves.trials(Detected, Deviated),
            needless: moves.trials(Masked, Detected),
            cost: self.cost(protection, extent),
            false_alarms: self.alarms.filter(|_| !protection.is_selective()),
            moves: moves.0.iter().map(moved).collect(),
        };
        Ok((evaluated, p_value))
    }

    /// What it costs, on average over the parts of the cases: each has its own order of layers.
    fn cost(&self, protection: &dyn Protection, extent: &Extent) -> Cost {
        let costs = extent.apart.iter().map(|layers| protection.cost(self.work, layers));
        let sum = costs.fold(Cost { operations: 0.0, share: 0.0, bytes: 0.0 }, |a, b| Cost {
            operations: a.operations + b.operations,
            share: a.share + b.share,
            bytes: a.bytes + b.bytes,
        });
        let n = extent.apart.len().max(1) as f64;
        Cost { operations: sum.operations / n, share: sum.share / n, bytes: sum.bytes / n }
    }
}

/// What a protection is put around.
struct Extent {
    /// By all trials.
    layers: Vec<u32>,
    /// By part of the cases, what the trials of the others say.
    apart: Vec<BTreeSet<u32>>,
}

impl Extent {
    /// The whole model.
    fn whole(folds: usize) -> Self {
        Self { layers: Vec::new(), apart: vec![BTreeSet::new(); folds] }
    }
}

fn moved((&(before, after), count): (&(OutcomeKind, OutcomeKind), &Count)) -> Move {
    let [before, after] = [before, after].map(|kind| kind.name().to_owned());
    Move { before, after, trials: count.trials }
}
