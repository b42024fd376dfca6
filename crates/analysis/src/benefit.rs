//! What defences achieve: the same trials with and without them, compared in pairs.

use crate::context::Context;
use crate::estimate::{Mean, Precision};
use crate::trial::{is_changed, is_control, predicts, was_answered};
use faultlens_record::Record;
use faultlens_record::store::FaultOn;
use faultlens_stats::{Clustered, Level, StatsError, clustered_difference};
use serde::Serialize;
use std::collections::BTreeMap;

/// What a target's defences achieve.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Benefit {
    /// The defended target.
    pub defended: String,
    /// The same without a defence.
    pub plain: String,
    /// The defences.
    pub defences: String,
    /// The rate of wrong clean predictions without them minus that with them: below 0, they cost
    /// accuracy.
    pub clean: Mean,
    /// All faults together; `None` without pairs of trials, or where image faults and attacks would be mixed.
    pub all: Option<BenefitRow>,
    /// By fault.
    pub rows: Vec<BenefitRow>,
}

/// Rates without defences minus those with them, over the same trials: above 0, they help.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BenefitRow {
    /// The fault's name.
    pub fault: String,
    /// Predictions that differ from the target's own clean ones.
    pub changed: Mean,
    /// Wrong predictions, where the truth is known.
    pub wrong: Mean,
}

/// What is known of a prediction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Prediction {
    /// Whether it changed; `None` where that was not judged.
    changed: Option<bool>,
    /// Whether it is wrong; `None` where the truth is not known.
    wrong: Option<bool>,
}

/// Case, fault point and repeat: what a trial has in common with its partner.
type PairKey = (u32, u32, u32);

/// A defended target, and the same target without a defence.
#[derive(Debug, Clone, Copy)]
struct TargetPair {
    plain: u32,
    defended: u32,
}

/// Whether defences of a target, which change what it is shown, can help against such faults.
fn is_defended_against(on: FaultOn) -> bool {
    matches!(on, FaultOn::Image | FaultOn::Attack)
}

/// Trials of defended targets and of the same ones without a defence.
pub(crate) struct Benefits {
    pairs: Vec<TargetPair>,
    /// By target.
    predictions: BTreeMap<u32, BTreeMap<PairKey, Prediction>>,
}

impl Benefits {
    pub(crate) fn of(context: &Context) -> Self {
        let targets = &context.manifest.targets;
        let mut pairs = Vec::new();
        for (defended, target) in (0..).zip(targets) {
            let plain = (0..)
                .zip(targets)
                .find(|(_, plain)| plain.defences.is_empty() && plain.origin == target.origin);
            if let Some((plain, _)) = plain.filter(|_| !target.defences.is_empty()) {
                pairs.push(TargetPair { plain, defended });
            }
        }
        Self { pairs, predictions: BTreeMap::new() }
    }

    pub(crate) fn add(&mut self, context: &Context, record: &Record) {
        let target = record.target;
        if !self.pairs.iter().any(|pair| pair.plain == target || pair.defended == target) {
            return;
        }
        let Some(fault) = context.manifest.faults.get(record.fault as usize) else { return };
        if !is_defended_against(fault.on) || is_control(&fault.name) {
            return;
        }
        let golden = context.golden(target, record.case);
        let truth = golden.and_then(|golden| golden.truth.as_ref());
        let prediction = Prediction {
            changed: is_changed(record),
            wrong: truth.filter(|_| was_answered(record)).map(|truth| !predicts(record, truth)),
        };
        let key = (record.case, record.fault, record.repeat);
        self.predictions.entry(target).or_default().insert(key, prediction);
    }

    /// By defended target.
    pub(crate) fn benefits(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Benefit>, StatsError> {
        let faults = &context.manifest.faults;
        let kinds = [FaultOn::Image, FaultOn::Attack];
        let several = kinds.iter().all(|on| faults.iter().any(|fault| fault.on == *on));
        let mut all = Vec::new();
        for &pair in &self.pairs {
            let mut rows = Vec::new();
            for fault in context.fault_names() {
                let of_fault = |key: &PairKey| faults[key.1 as usize].name == fault;
                rows.extend(self.row(context, fault, pair, of_fault, precision)?);
            }
            all.push(Benefit {
                defended: context.target_name(pair.defended).to_owned(),
                plain: context.target_name(pair.plain).to_owned(),
                defences: context.manifest.targets[pair.defended as usize].defences.join(", "),
                clean: clean(context, pair, precision)?,
                // Attacks and image faults have no rate in common.
                all: if several {
                    None
                } else {
                    self.row(context, "all faults", pair, |_| true, precision)?
                },
                rows,
            });
        }
        Ok(all)
    }

    /// Rates without the defence minus those with it; `None` without a pair of trials.
    fn row(
        &self,
        context: &Context,
        name: &str,
        pair: TargetPair,
        counts: impl Fn(&PairKey) -> bool,
        precision: &Precision,
    ) -> Result<Option<BenefitRow>, StatsError> {
        let plain = self.predictions.get(&pair.plain);
        let Some((plain, defended)) = plain.zip(self.predictions.get(&pair.defended)) else {
            return Ok(None);
        };
        let mut changed = Pairs::default();
        let mut wrong = Pairs::default();
        let mut found = false;
        for (key, without) in plain.iter().filter(|(key, _)| counts(key)) {
            let Some(with) = defended.get(key) else { continue };
            found = true;
            let image = context.image(key.0);
            changed.add(image, without.changed.zip(with.changed));
            wrong.add(image, without.wrong.zip(with.wrong));
        }
        if !found {
            return Ok(None);
        }
        let level = precision.intervals.level;
        Ok(Some(BenefitRow {
            fault: name.to_owned(),
            changed: changed.benefit(level)?,
            wrong: wrong.benefit(level)?,
        }))
    }
}

/// The same trials without and with a defence, by image.
#[derive(Default)]
struct Pairs {
    without: Clustered,
    with: Clustered,
}

impl Pairs {
    fn add(&mut self, image: u64, pair: Option<(bool, bool)>) {
        if let Some((without, with)) = pair {
            self.without.count(image, without);
            self.with.count(image, with);
        }
    }

    /// The rate without the defence minus that with it; the number is that of pairs.
    fn benefit(&self, level: Level) -> Result<Mean, StatsError> {
        let estimate = clustered_difference(&self.with, &self.without, level)?;
        Ok(Mean { n: self.without.n(), ..estimate.into() })
    }
}

/// Wrong clean predictions without the defence minus those with it: what it costs.
fn clean(context: &Context, pair: TargetPair, precision: &Precision) -> Result<Mean, StatsError> {
    let mut pairs = Pairs::default();
    for case in context.cases() {
        let plain = context.golden(pair.plain, case.case).and_then(|golden| golden.correct);
        let defended = context.golden(pair.defended, case.case).and_then(|golden| golden.correct);
        let wrong = plain.zip(defended).map(|(plain, defended)| (!plain, !defended));
        pairs.add(context.image(case.case), wrong);
    }
    pairs.benefit(precision.intervals.level)
}
