//! From counted trials to what protections are worth.

use super::tallies::{Draw, Tallies, TrialKind, TrialTallies};
use super::work::Work;
use super::{Cost, Evaluated, FalseAlarms, Gain, Move, Options, PROTECTIONS, Protection, Ranked};
use faultlens_analysis::Rate;
use faultlens_core::{OutcomeKind, Seed};
use faultlens_faults::Anatomy;
use faultlens_spec::Intervals;
use faultlens_stats::{StatsError, clustered_test, crossed_difference, holm};
use std::collections::BTreeSet;

/// What protections of one target are judged by.
pub(super) struct Evidence<'a> {
    /// By part of the cases.
    pub(super) folds: &'a [TrialTallies],
    pub(super) work: &'a Work,
    pub(super) anatomy: &'a Anatomy,
    pub(super) intervals: &'a Intervals,
    /// Whether a stop rule decided the number of trials.
    pub(super) sequential: bool,
    /// Whether one fault is behind several trials.
    pub(super) permanent: bool,
    /// What clipping does to undisturbed cases.
    pub(super) alarms: Option<FalseAlarms>,
}

/// How many trials went from which outcome to which.
type Moves = Tallies<(OutcomeKind, OutcomeKind)>;

/// A rate of images, each of which counts once.
pub(super) fn of_images(of: &[(u64, bool)], intervals: &Intervals) -> Result<Rate, StatsError> {
    let mut images = Tallies::default();
    for &(image, is) in of {
        images.add(is, Draw { image, fault: None, weight: 1.0 })?;
    }
    images.rate(|is| *is, |_| true, intervals)
}

impl Evidence<'_> {
    fn whole(&self) -> TrialTallies {
        let mut whole = TrialTallies::default();
        self.folds.iter().for_each(|fold| whole.join(fold));
        whole
    }

    /// How often the answer changed without protection.
    pub(super) fn broken(&self) -> Result<Rate, StatsError> {
        self.whole().rate(TrialKind::is_broken, |_| true, self.intervals)
    }

    /// The layers, by falling share of the broken answers.
    pub(super) fn ranking(&self) -> Result<Vec<Ranked>, StatsError> {
        let whole = self.whole();
        let ranked = |layer: u32| {
            let hits = |kind: &TrialKind| kind.hits(layer);
            let from = |of: fn(&TrialKind) -> &Vec<u32>| {
                whole.trials(|kind| kind.is_broken() && of(kind).contains(&layer))
            };
            let work = self.work.layer(layer);
            Ok(Ranked {
                layer,
                name: self.anatomy.name(layer).to_owned(),
                rate: whole.rate(TrialKind::is_broken, hits, self.intervals)?,
                share: whole.rate(hits, TrialKind::is_broken, self.intervals)?,
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
        let mut evaluated = Vec::new();
        let mut p_values = Vec::new();
        let tested = !self.sequential && !self.permanent;
        for &protection in PROTECTIONS {
            let Some(most) = options.most(protection.name()) else { continue };
            for extent in self.extents(protection, most) {
                let moves = self.moves(protection, &extent);
                let (one, p_value) = self.evaluated(protection, &extent, &moves)?;
                evaluated.push(one);
                p_values.push(p_value);
            }
        }
        if tested {
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
        if whole.keys().all(|kind| protection.reach(kind).is_empty()) {
            return Vec::new();
        }
        let order = self.order(protection, &whole);
        let apart = (0..self.folds.len()).map(|fold| self.order(protection, &self.others(fold)));
        let apart: Vec<Vec<u32>> = apart.collect();
        (1..=order.len().min(most))
            .map(|n: usize| Extent {
                layers: order.iter().take(n).copied().collect(),
                apart: apart.iter().map(|order| order.iter().take(n).copied().collect()).collect(),
            })
            .collect()
    }

    /// All trials but those of one part of the cases; those too where there is no other.
    fn others(&self, fold: usize) -> TrialTallies {
        let mut others = TrialTallies::default();
        for (at, tallies) in self.folds.iter().enumerate() {
            if at != fold || self.folds.len() == 1 {
                others.join(tallies);
            }
        }
        others
    }

    /// The layers that the protection fits, by how many broken answers it would stop there.
    fn order(&self, protection: &dyn Protection, tallies: &TrialTallies) -> Vec<u32> {
        let mut order: Vec<(u32, f64)> = Vec::new();
        for layer in self.work.numbers().filter(|&layer| protection.fits(self.work, layer)) {
            let stopped =
                tallies.weight(|kind| kind.is_broken() && protection.reach(kind).contains(&layer));
            order.push((layer, stopped));
        }
        order.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        order.into_iter().map(|(layer, _)| layer).collect()
    }

    fn moves(&self, protection: &dyn Protection, extent: &Extent) -> Moves {
        let mut moves = Moves::default();
        for (tallies, layers) in self.folds.iter().zip(&extent.apart) {
            moves.join_by(tallies, |kind| (kind.before, protection.after(kind, layers)));
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
        use OutcomeKind::{Changed, Detected, Unchanged};
        let is = |broken: bool, stays: bool| {
            move |(before, after): &(_, _)| {
                (*before == Changed, *after == Changed) == (broken, stays)
            }
        };
        let before = moves.events(|(before, _)| *before == Changed, |_| true);
        let after = moves.events(|(_, after)| *after == Changed, |_| true);
        let gain = crossed_difference(&after, &before, self.intervals.level)?;
        let mut signs = Seed::new(0).child("protection").child(protection.name()).stream();
        let p_value = clustered_test(after.first(), before.first(), || signs.next_u64());
        let trials = |from, to| moves.trials(|&(before, after)| (before, after) == (from, to));
        let evaluated = Evaluated {
            protection: protection.name().to_owned(),
            label: protection.label(extent.layers.len()),
            layers: extent
                .layers
                .iter()
                .map(|&layer: &u32| self.anatomy.name(layer).to_owned())
                .collect(),
            after: moves.rate(|(_, after)| *after == Changed, |_| true, self.intervals)?,
            gain: Gain { value: gain.value, low: gain.low, high: gain.high, p_value: None },
            stopped: moves.rate(
                is(true, false),
                |(before, _)| *before == Changed,
                self.intervals,
            )?,
            repaired: trials(Changed, Unchanged),
            caught: trials(Changed, Detected),
            worse: moves.trials(is(false, true)),
            hidden: trials(Detected, Changed),
            needless: trials(Unchanged, Detected),
            cost: self.cost(protection, extent),
            false_alarms: self.alarms.filter(|_| !protection.is_selective()),
            moves: moves.keys().map(|&(from, to)| moved(from, to, trials(from, to))).collect(),
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
    /// By part of the cases, the trials of the others.
    apart: Vec<BTreeSet<u32>>,
}

impl Extent {
    /// The whole model.
    fn whole(folds: usize) -> Self {
        Self { layers: Vec::new(), apart: vec![BTreeSet::new(); folds] }
    }
}

fn moved(before: OutcomeKind, after: OutcomeKind, trials: u64) -> Move {
    let [before, after] = [before, after].map(|kind| kind.name().to_owned());
    Move { before, after, trials }
}
