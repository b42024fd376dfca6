//! What defences are worth: the same trials with and without them.

use super::Mean;
use super::attribute::Context;
use super::robustness::{changed, is_control, says, was_answered};
use super::summary::{Benefit, BenefitRow};
use super::tally::Precision;
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, ManifestTarget};
use faultlens_stats::{PairedCounts, StatsError, newcombe_paired};
use std::collections::BTreeMap;

/// What a trial says of a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ObjectStatus {
    /// Whether the answer changed; `None` where that was not judged.
    changed: Option<bool>,
    /// Whether the answer is wrong; `None` where nobody knows.
    wrong: Option<bool>,
}

/// Case, fault point and repeat.
type Place = (u32, u32, u32);

/// Trials of defended targets and of the same ones without a defence.
pub(super) struct Benefits {
    /// By defended target, the one that it is compared with.
    pairs: Vec<(u32, u32)>,
    fates: BTreeMap<u32, BTreeMap<Place, ObjectStatus>>,
}

impl Benefits {
    pub(super) fn of(context: &Context) -> Self {
        let targets = &context.manifest.targets;
        let pair = |(at, target): (u32, &ManifestTarget)| {
            let same = |(_, plain): &(u32, &ManifestTarget)| {
                plain.defences.is_empty() && plain.origin == target.origin
            };
            let plain = (0..).zip(targets).find(same)?.0;
            (!target.defences.is_empty()).then_some((at, plain))
        };
        Self { pairs: (0..).zip(targets).filter_map(pair).collect(), fates: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, context: &Context, record: &Record) {
        let paired = self.pairs.iter().any(|(a, b)| [*a, *b].contains(&record.target));
        let fault = context.manifest.faults.get(record.fault as usize);
        if !paired
            || fault.is_none_or(|fault| fault.on != FaultOn::Image || is_control(&fault.name))
        {
            return;
        }
        let golden = context.golden(record.target, record.case);
        let truth = golden.and_then(|golden| golden.truth.as_ref());
        let status = ObjectStatus {
            changed: changed(record),
            wrong: truth.filter(|_| was_answered(record)).map(|truth| !says(record, truth)),
        };
        let place = (record.case, record.fault, record.repeat);
        self.fates.entry(record.target).or_default().insert(place, status);
    }

    pub(super) fn told(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Benefit>, StatsError> {
        let told = |&(defended, plain): &(u32, u32)| {
            let name = |at: u32| context.manifest.targets[at as usize].name.clone();
            let mut rows = Vec::new();
            let faults = context.manifest.faults.iter().map(|fault| fault.name.as_str());
            let mut names: Vec<&str> = Vec::new();
            for fault in faults.filter(|_| self.fates.contains_key(&defended)) {
                if !names.contains(&fault) {
                    names.push(fault);
                }
            }
            for fault in names {
                let of = |place: &Place| context.manifest.faults[place.1 as usize].name == fault;
                rows.extend(self.row(fault, (plain, defended), of, precision)?);
            }
            let all = self.row("all faults", (plain, defended), |_| true, precision)?;
            Ok(Benefit {
                defended: name(defended),
                plain: name(plain),
                defences: context.manifest.targets[defended as usize].defences.join(", "),
                clean: clean(context, (plain, defended), precision)?,
                all,
                rows,
            })
        };
        self.pairs.iter().map(told).collect()
    }

    /// Rates without the defence less those with it; `None` without a pair.
    fn row(
        &self,
        name: &str,
        (plain, defended): (u32, u32),
        of: impl Fn(&Place) -> bool,
        precision: &Precision,
    ) -> Result<Option<BenefitRow>, StatsError> {
        let none = BTreeMap::new();
        let fates = |target| self.fates.get(&target).unwrap_or(&none);
        let pairs = fates(plain).iter().filter(|(place, _)| of(place));
        let pairs: Vec<(ObjectStatus, ObjectStatus)> = pairs
            .filter_map(|(place, before)| Some((*before, *fates(defended).get(place)?)))
            .collect();
        if pairs.is_empty() {
            return Ok(None);
        }
        let counted = |part: fn(&ObjectStatus) -> Option<bool>| {
            paired(pairs.iter().filter_map(|(before, after)| Some((part(before)?, part(after)?))))
        };
        let level = precision.intervals.level;
        Ok(Some(BenefitRow {
            fault: name.to_owned(),
            changed: Mean::of(newcombe_paired(counted(|status| status.changed), level)?),
            wrong: Mean::of(newcombe_paired(counted(|status| status.wrong), level)?),
        }))
    }
}

/// Wrong undisturbed answers without the defence less those with it: what it costs.
fn clean(
    context: &Context,
    (plain, defended): (u32, u32),
    precision: &Precision,
) -> Result<Mean, StatsError> {
    let right = |target, case| context.golden(target, case).and_then(|golden| golden.correct);
    let pairs = context
        .cases()
        .filter_map(|case| Some((!right(plain, case.case)?, !right(defended, case.case)?)));
    Ok(Mean::of(newcombe_paired(paired(pairs), precision.intervals.level)?))
}

fn paired(pairs: impl Iterator<Item = (bool, bool)>) -> PairedCounts {
    let mut counts = PairedCounts { both: 0, first_only: 0, second_only: 0, neither: 0 };
    for pair in pairs {
        let count = match pair {
            (true, true) => &mut counts.both,
            (true, false) => &mut counts.first_only,
            (false, true) => &mut counts.second_only,
            (false, false) => &mut counts.neither,
        };
        *count += 1;
    }
    counts
}
