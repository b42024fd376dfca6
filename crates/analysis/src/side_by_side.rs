//! Targets side by side under faults in images: misclassification by fault, for every k at once,
//! and how far answers moved, as studies of vision services report them (Santos 2022).

use super::attribute::Context;
use super::robustness::{SEVERITY, changed, is_control};
use super::summary::{KCurve, Moved, MovedRow, SideBySide, SideRow};
use super::tally::Precision;
use super::{Mean, Rate};
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, ManifestTarget};
use faultlens_spec::is_drawn;
use faultlens_stats::{self as stats, StatsError};
use std::collections::BTreeMap;

/// The largest k.
const MOST_K: usize = 10;

/// What oracles measure, and what reports call it.
const ORACLE_MEASURES: [(&str, &str); 2] =
    [("edits", "letters changed"), ("changed", "objects lost or new")];

/// What reports call average precision with golden for the truth.
const PRECISION: &str = "AP against golden";

/// What reports call the fall of a target's belief in golden's best answer.
const CONFIDENCE: &str = "confidence lost";

/// Where a measure can lie.
fn range(title: &str) -> stats::Range {
    match title {
        CONFIDENCE => stats::Range::Between(-1.0, 1.0),
        PRECISION => stats::Range::Between(0.0, 1.0),
        _ => stats::Range::Positive,
    }
}

/// What is counted of faults in images.
#[derive(Default)]
pub(super) struct Sides {
    /// By target and fault point: changed, and judged.
    cells: BTreeMap<(u32, u32), (u64, u64)>,
    /// By target: how often golden's best answer has each place, from 1; the last counts all
    /// further ones.
    golden: BTreeMap<u32, Places>,
    /// The same of the right answer.
    truth: BTreeMap<u32, Places>,
    /// By target, measure and fault point.
    moved: BTreeMap<(u32, &'static str, u32), stats::Mean>,
}

type Places = [u64; MOST_K + 1];

impl Sides {
    pub(super) fn add(&mut self, context: &Context, record: &Record) -> Result<(), StatsError> {
        let fault = context.manifest.faults.get(record.fault as usize);
        if fault.is_none_or(|fault| fault.on != FaultOn::Image) || record.cost.queries == 0 {
            return Ok(());
        }
        let Some(changed) = changed(record) else { return Ok(()) };
        let cell = self.cells.entry((record.target, record.fault)).or_default();
        cell.0 += u64::from(changed);
        cell.1 += 1;
        if fault.is_some_and(|fault| is_control(&fault.name)) {
            return Ok(());
        }
        let target = context.manifest.targets.get(record.target as usize);
        let golden = context.golden(record.target, record.case);
        if target.is_some_and(ranks) {
            place(&mut self.golden, record, record.measures.rank);
            if golden.is_some_and(|golden| golden.truth.is_some()) {
                place(&mut self.truth, record, record.measures.truth_rank);
            }
            let then = golden.and_then(|golden| golden.score).filter(|score| score.is_finite());
            if let (Some(then), Some(now)) = (then, confidence(record)) {
                self.measure(record, CONFIDENCE, f64::from(then) - now)?;
            }
        }
        for (name, title) in ORACLE_MEASURES {
            if let Some(value) = record.measures.oracle_value(name) {
                self.measure(record, title, value)?;
            }
        }
        if let Some(ap) = record.measures.ap {
            self.measure(record, PRECISION, ap)?;
        }
        Ok(())
    }

    fn measure(
        &mut self,
        record: &Record,
        title: &'static str,
        value: f64,
    ) -> Result<(), StatsError> {
        if !value.is_finite() {
            return Ok(());
        }
        self.moved.entry((record.target, title, record.fault)).or_default().add(value)
    }

    /// Faults by targets; `None` without faults in images.
    pub(super) fn table(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Option<SideBySide>, StatsError> {
        if self.cells.is_empty() {
            return Ok(None);
        }
        let targets = context.manifest.targets.len() as u32;
        let mut rows = Vec::new();
        for name in names(context) {
            let points = points(context, &name);
            let cells = (0..targets).map(|target| self.pooled(target, &points, precision));
            let cells: Vec<Option<Rate>> = cells.collect::<Result<_, _>>()?;
            let first = first_points(context, &points);
            let initial = (0..targets).map(|target| self.pooled(target, &first, precision));
            let initial = initial.collect::<Result<Vec<_>, _>>()?;
            let mean = mean(cells.iter().map(value));
            let control = is_control(&name);
            rows.push(SideRow { fault: name, control, cells, initial, mean });
        }
        let column = |of: &dyn Fn(&SideRow) -> &Vec<Option<Rate>>| {
            let faults = || rows.iter().filter(|row: &&SideRow| !row.control);
            let at = |target: usize| mean(faults().map(|row| value(&of(row)[target])));
            (0..targets as usize).map(at).collect::<Vec<_>>()
        };
        let (means, initial_means) = (column(&|row| &row.cells), column(&|row| &row.initial));
        let targets = context.manifest.targets.iter().map(|target| target.name.clone()).collect();
        Ok(Some(SideBySide { targets, rows, means, initial_means }))
    }

    fn pooled(
        &self,
        target: u32,
        points: &[u32],
        precision: &Precision,
    ) -> Result<Option<Rate>, StatsError> {
        let cells = points.iter().filter_map(|point| self.cells.get(&(target, *point)));
        let (events, n) = cells.fold((0, 0), |(e, n), (events, all)| (e + events, n + all));
        (n > 0).then(|| precision.rate(events, n)).transpose()
    }

    /// By target, the rate of answers that have golden's best one, or the right one, below the
    /// first k.
    pub(super) fn k_curves(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<KCurve>, StatsError> {
        let mut all = Vec::new();
        for (against, by_target) in [("golden", &self.golden), ("truth", &self.truth)] {
            for (target, places) in by_target {
                let Some(target) = context.manifest.targets.get(*target as usize) else { continue };
                let n: u64 = places.iter().sum();
                let rate = |k: usize| precision.rate(places[k..].iter().sum(), n);
                let rates = (1..=MOST_K).map(rate).collect::<Result<Vec<Rate>, _>>()?;
                all.push(KCurve {
                    target: target.name.clone(),
                    against: against.to_owned(),
                    rates,
                });
            }
        }
        Ok(all)
    }

    /// By target and measure, how far answers moved under each fault.
    pub(super) fn moved(&self, context: &Context, precision: &Precision) -> Vec<Moved> {
        let level = precision.intervals.level;
        let mut all: BTreeMap<(u32, &str), BTreeMap<&str, stats::Mean>> = BTreeMap::new();
        for ((target, title, fault), mean) in &self.moved {
            let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
            let faults = all.entry((*target, title)).or_default();
            faults.entry(fault.name.as_str()).or_default().merge(mean);
        }
        // One observation has no interval.
        all.values_mut().for_each(|faults| faults.retain(|_, mean| mean.n() > 1));
        all.retain(|_, faults| !faults.is_empty());
        let moved = |((target, title), faults): ((u32, &str), BTreeMap<&str, stats::Mean>)| {
            let target = context.manifest.targets.get(target as usize)?.name.clone();
            let mut whole = stats::Mean::default();
            faults.values().for_each(|mean| whole.merge(mean));
            let row = |(fault, mean): (&str, stats::Mean)| MovedRow {
                fault: fault.to_owned(),
                mean: Mean::of(mean.estimate_in(range(title), level)),
            };
            let rows = faults.into_iter().map(row).collect();
            Some(Moved {
                target,
                what: title.to_owned(),
                rows,
                all: Mean::of(whole.estimate_in(range(title), level)),
            })
        };
        all.into_iter().filter_map(moved).collect()
    }
}

/// Whether a target's answers have an order.
fn ranks(target: &ManifestTarget) -> bool {
    let kind = target.output.get("kind").and_then(|kind| kind.as_str());
    let ranked = ["logits", "probabilities", "text"];
    let asked = ["labels", "text", "moderation", "celebrities"];
    kind.is_some_and(|kind| ranked.contains(&kind))
        || target.service.as_deref().is_some_and(|task| asked.contains(&task))
}

/// Counts a place: the first where the record has none, and beyond all others where the answer does
/// not have it.
fn place(by_target: &mut BTreeMap<u32, Places>, record: &Record, rank: Option<u64>) {
    let place = match rank {
        _ if record.answer.is_none() => MOST_K + 1,
        None => 1,
        Some(0) => MOST_K + 1,
        Some(rank) => usize::try_from(rank).unwrap_or(usize::MAX),
    };
    by_target.entry(record.target).or_default()[place.min(MOST_K + 1) - 1] += 1;
}

/// The confidence that the target still has in golden's best answer: none where it does not name
/// it.
fn confidence(record: &Record) -> Option<f64> {
    match (record.measures.rank, record.measures.confidence) {
        (None, _) => record.score.map(f64::from),
        (Some(_), Some(confidence)) => Some(f64::from(confidence)),
        (Some(_), None) => Some(0.0),
    }
}

/// Faults in images by name, as the campaign has them.
fn names(context: &Context) -> Vec<String> {
    let faults = context.manifest.faults.iter().filter(|fault| fault.on == FaultOn::Image);
    let mut names: Vec<String> = Vec::new();
    for fault in faults {
        if !names.contains(&fault.name) {
            names.push(fault.name.clone());
        }
    }
    names
}

fn points(context: &Context, name: &str) -> Vec<u32> {
    let faults = (0..).zip(&context.manifest.faults);
    faults.filter(|(_, fault)| fault.name == name).map(|(at, _)| at).collect()
}

/// The points of the least severity; of faults without severities, whose numbers may mean more or
/// less, the point that is written first.
fn first_points(context: &Context, points: &[u32]) -> Vec<u32> {
    let severity = |point: &u32| {
        let fault = context.manifest.faults.get(*point as usize)?;
        fault.settings.get(SEVERITY).and_then(|number| number.as_f64())
    };
    let drawn = |point: &u32| {
        let fault = context.manifest.faults.get(*point as usize);
        fault.is_some_and(|fault| is_drawn(&fault.settings))
    };
    // What happens or does not has no least dose.
    let dosed = |point: &&u32| {
        let fault = context.manifest.faults.get(**point as usize);
        fault.is_some_and(|fault| !fault.settings.is_empty())
    };
    let points: Vec<u32> = points.iter().filter(dosed).copied().collect();
    let Some(least) = points.iter().filter_map(severity).min_by(f64::total_cmp) else {
        // Of strengths that are drawn none is the least.
        return points.iter().copied().filter(|point| !drawn(point)).take(1).collect();
    };
    points.iter().copied().filter(|point| severity(point) == Some(least)).collect()
}

fn value(rate: &Option<Rate>) -> Option<f64> {
    rate.as_ref().and_then(|rate| rate.value)
}

/// The plain mean of what is known.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}
