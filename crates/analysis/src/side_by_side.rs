//! Targets side by side under image faults: changed predictions by fault, for every k at once, and
//! how far predictions moved, as studies of vision services report them (Santos 2022).

use crate::context::Context;
use crate::estimate::{Mean, Precision, Rate, Scope, mean_of_known};
use crate::sample::{Sample, TrialDraw};
use crate::trial::{SEVERITY, is_changed, is_control};
use faultlens_record::Record;
use faultlens_record::store::{FaultOn, ManifestTarget};
use faultlens_spec::is_drawn;
use faultlens_stats::{self as stats, StatsError};
use serde::Serialize;
use std::collections::BTreeMap;

/// Targets side by side under image faults.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideBySide {
    /// The targets.
    pub targets: Vec<String>,
    /// By fault, over all its points.
    pub rows: Vec<SideRow>,
    /// By target, the plain mean over faults.
    pub means: Vec<Option<f64>>,
    /// By target, the plain mean over faults at the lowest dose of each.
    pub initial_means: Vec<Option<f64>>,
}

/// One fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SideRow {
    /// The fault's name.
    pub fault: String,
    /// Whether it is a control, which shows what happens without a fault; controls are in no mean.
    pub control: bool,
    /// By target, the share of changed predictions.
    pub cells: Vec<Option<Rate>>,
    /// The same at the lowest dose.
    pub initial: Vec<Option<Rate>>,
    /// The plain mean over targets.
    pub mean: Option<f64>,
}

/// The share of trials whose top k predictions do not include a wanted one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KCurve {
    /// The target.
    pub target: String,
    /// What is wanted: `golden`, the clean top-1 prediction, or `truth`, the true label.
    pub against: String,
    /// For k from 1 on.
    pub rates: Vec<Rate>,
}

/// How far a target's predictions moved, on one measure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureChange {
    /// The target.
    pub target: String,
    /// What is measured.
    #[serde(skip)]
    pub measure: Measure,
    /// By fault.
    pub rows: Vec<MeasureChangeRow>,
    /// All trials together.
    pub all: Mean,
}

/// How far predictions moved under one fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasureChangeRow {
    /// The fault's name.
    pub fault: String,
    /// The mean over its trials.
    pub mean: Mean,
}

/// How far a prediction is from the clean one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Measure {
    /// Average precision with the clean prediction for the truth.
    ApAgainstClean,
    /// The fall of the target's confidence in the clean prediction.
    ConfidenceLost,
    /// How many letters of a text changed (edit distance).
    LettersChanged,
    /// How many objects were lost or are new.
    ObjectsChanged,
}

impl Measure {
    /// Where values of the measure can lie; it decides how the interval of their mean is made.
    fn range(self) -> stats::Range {
        match self {
            Self::ConfidenceLost => stats::Range::Between(-1.0, 1.0),
            Self::ApAgainstClean => stats::Range::Between(0.0, 1.0),
            Self::LettersChanged | Self::ObjectsChanged => stats::Range::Positive,
        }
    }
}

/// Measures that oracles record, by the name that they have in records.
const ORACLE_MEASURES: [(&str, Measure); 2] =
    [("edits", Measure::LettersChanged), ("changed", Measure::ObjectsChanged)];

/// The largest k.
const MOST_K: usize = 10;

/// For each k, trials whose top k predictions miss a wanted one.
type MissedByK = [Sample; MOST_K];

/// What is counted under image faults.
#[derive(Default)]
pub(crate) struct Sides {
    /// By target and fault point, the judged trials.
    cells: BTreeMap<(u32, u32), Sample>,
    /// By target: how often the clean top-1 prediction is missed.
    golden: BTreeMap<u32, MissedByK>,
    /// By target: how often the true label is missed.
    truth: BTreeMap<u32, MissedByK>,
    /// By target, measure, fault point and image.
    moved: BTreeMap<(u32, Measure, u32), BTreeMap<u64, stats::Mean>>,
}

impl Sides {
    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        draw: TrialDraw,
    ) -> Result<(), StatsError> {
        let Some(fault) = context.manifest.faults.get(record.fault as usize) else {
            return Ok(());
        };
        if fault.on != FaultOn::Image || record.cost.queries == 0 {
            return Ok(());
        }
        let Some(changed) = is_changed(record) else { return Ok(()) };
        self.cells.entry((record.target, record.fault)).or_default().add(draw, changed)?;
        if is_control(&fault.name) {
            return Ok(());
        }
        let target = context.manifest.targets.get(record.target as usize);
        let golden = context.golden(record.target, record.case);
        if target.is_some_and(ranks_predictions) {
            count_rank(&mut self.golden, record, record.measures.rank, draw)?;
            if golden.is_some_and(|golden| golden.truth.is_some()) {
                count_rank(&mut self.truth, record, record.measures.truth_rank, draw)?;
            }
            let before = golden.and_then(|golden| golden.score).filter(|score| score.is_finite());
            if let (Some(before), Some(now)) = (before, confidence(record)) {
                self.measure(record, draw, Measure::ConfidenceLost, f64::from(before) - now)?;
            }
        }
        for (name, measure) in ORACLE_MEASURES {
            if let Some(value) = record.measures.oracle_value(name) {
                self.measure(record, draw, measure, value)?;
            }
        }
        if let Some(ap) = record.measures.ap {
            self.measure(record, draw, Measure::ApAgainstClean, ap)?;
        }
        Ok(())
    }

    fn measure(
        &mut self,
        record: &Record,
        draw: TrialDraw,
        measure: Measure,
        value: f64,
    ) -> Result<(), StatsError> {
        if !value.is_finite() {
            return Ok(());
        }
        let cell = self.moved.entry((record.target, measure, record.fault)).or_default();
        cell.entry(draw.image).or_default().add(value)
    }

    /// Faults by targets; `None` without image faults.
    pub(crate) fn table(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Option<SideBySide>, StatsError> {
        if self.cells.is_empty() {
            return Ok(None);
        }
        let targets = context.manifest.targets.len() as u32;
        let mut rows: Vec<SideRow> = Vec::new();
        for name in context.fault_names() {
            let points = image_fault_points(context, name);
            if points.is_empty() {
                continue;
            }
            let lowest = lowest_points(context, &points);
            let mut cells = Vec::new();
            let mut initial = Vec::new();
            for target in 0..targets {
                cells.push(self.pooled(target, &points, precision)?);
                initial.push(self.pooled(target, &lowest, precision)?);
            }
            rows.push(SideRow {
                fault: name.to_owned(),
                control: is_control(name),
                mean: mean_of_known(cells.iter().map(value)),
                cells,
                initial,
            });
        }
        let mut means = Vec::new();
        let mut initial_means = Vec::new();
        for target in 0..targets as usize {
            let faults = || rows.iter().filter(|row| !row.control);
            means.push(mean_of_known(faults().map(|row| value(&row.cells[target]))));
            initial_means.push(mean_of_known(faults().map(|row| value(&row.initial[target]))));
        }
        let targets = context.manifest.targets.iter().map(|target| target.name.clone()).collect();
        Ok(Some(SideBySide { targets, rows, means, initial_means }))
    }

    fn pooled(
        &self,
        target: u32,
        points: &[u32],
        precision: &Precision,
    ) -> Result<Option<Rate>, StatsError> {
        let mut all = Sample::default();
        for point in points {
            if let Some(sample) = self.cells.get(&(target, *point)) {
                all.merge(sample);
            }
        }
        if all.n() == 0 {
            return Ok(None);
        }
        all.rate(precision, Scope::Whole).map(Some)
    }

    /// By target, for each k the rate of trials whose top k predictions miss the clean top-1
    /// prediction, or the true label.
    pub(crate) fn k_curves(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<KCurve>, StatsError> {
        let mut all = Vec::new();
        for (against, by_target) in [("golden", &self.golden), ("truth", &self.truth)] {
            for (target, missed) in by_target {
                let mut rates = Vec::new();
                for sample in missed {
                    rates.push(sample.rate(precision, Scope::Whole)?);
                }
                all.push(KCurve {
                    target: context.target_name(*target).to_owned(),
                    against: against.to_owned(),
                    rates,
                });
            }
        }
        Ok(all)
    }

    /// By target and measure, how far predictions moved under each fault.
    pub(crate) fn moved(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<MeasureChange>, StatsError> {
        let level = precision.intervals.level;
        let mut all: BTreeMap<(u32, Measure), BTreeMap<&str, ByImage>> = BTreeMap::new();
        for ((target, measure, fault), images) in &self.moved {
            let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
            let faults = all.entry((*target, *measure)).or_default();
            merge_images(faults.entry(fault.name.as_str()).or_default(), images);
        }
        let mut changes = Vec::new();
        for ((target, measure), mut faults) in all {
            // One observation has no interval.
            faults.retain(|_, images| images.len() > 1);
            if faults.is_empty() {
                continue;
            }
            let mut whole = ByImage::new();
            let mut rows = Vec::new();
            for (fault, images) in faults {
                merge_images(&mut whole, &images);
                rows.push(MeasureChangeRow {
                    fault: fault.to_owned(),
                    mean: mean_of_images(&images, measure, level)?,
                });
            }
            changes.push(MeasureChange {
                target: context.target_name(target).to_owned(),
                measure,
                rows,
                all: mean_of_images(&whole, measure, level)?,
            });
        }
        Ok(changes)
    }
}

/// The values of every image.
type ByImage = BTreeMap<u64, stats::Mean>;

fn merge_images(all: &mut ByImage, others: &ByImage) {
    for (image, mean) in others {
        all.entry(*image).or_default().merge(mean);
    }
}

/// The mean over images, each of which counts once however many trials it has: so the interval
/// speaks of new images.
fn mean_of_images(
    images: &ByImage,
    measure: Measure,
    level: stats::Level,
) -> Result<Mean, StatsError> {
    let mut mean = stats::Mean::default();
    let mut n = 0;
    for own in images.values() {
        n += own.n();
        if let Some(value) = own.estimate(level).value {
            mean.add(value)?;
        }
    }
    Ok(Mean { n, ..mean.estimate_in(measure.range(), level).into() })
}

/// Whether a target's predictions have an order.
fn ranks_predictions(target: &ManifestTarget) -> bool {
    let output = target.output.get("kind").and_then(|kind| kind.as_str());
    matches!(output, Some("logits" | "probabilities" | "text"))
        || matches!(
            target.service.as_deref(),
            Some("labels" | "text" | "moderation" | "celebrities")
        )
}

/// Counts for which k a prediction is missed. Its rank is the first where the record has none, and
/// beyond every k where the response does not name it, which records write as 0.
fn count_rank(
    by_target: &mut BTreeMap<u32, MissedByK>,
    record: &Record,
    rank: Option<u64>,
    draw: TrialDraw,
) -> Result<(), StatsError> {
    let rank = match rank {
        _ if record.answer.is_none() => usize::MAX,
        None => 1,
        Some(0) => usize::MAX,
        Some(rank) => usize::try_from(rank).unwrap_or(usize::MAX),
    };
    let missed = by_target.entry(record.target).or_default();
    for (k, sample) in (1..).zip(missed) {
        sample.add(draw, rank > k)?;
    }
    Ok(())
}

/// The confidence that the target still has in the clean prediction: none where it does not name
/// it.
fn confidence(record: &Record) -> Option<f64> {
    match (record.measures.rank, record.measures.confidence) {
        (None, _) => record.score.map(f64::from),
        (Some(_), Some(confidence)) => Some(f64::from(confidence)),
        (Some(_), None) => Some(0.0),
    }
}

/// The points of the image fault of that name.
fn image_fault_points(context: &Context, name: &str) -> Vec<u32> {
    let mut points = Vec::new();
    let mut on_images = false;
    for (point, fault) in (0..).zip(&context.manifest.faults) {
        if fault.name == name {
            points.push(point);
            on_images |= fault.on == FaultOn::Image;
        }
    }
    if on_images { points } else { Vec::new() }
}

/// The points of the lowest severity; of faults without severities, whose numbers may mean more or
/// less, the point that is written first.
fn lowest_points(context: &Context, points: &[u32]) -> Vec<u32> {
    let mut lowest: Option<f64> = None;
    let mut at_lowest = Vec::new();
    let mut first_fixed = None;
    for &point in points {
        let Some(fault) = context.manifest.faults.get(point as usize) else { continue };
        // A fault without settings has no doses.
        if fault.settings.is_empty() {
            continue;
        }
        // Of strengths that are drawn none is the lowest.
        if first_fixed.is_none() && !is_drawn(&fault.settings) {
            first_fixed = Some(point);
        }
        let Some(severity) = fault.settings.get(SEVERITY).and_then(|number| number.as_f64()) else {
            continue;
        };
        if lowest.is_none_or(|lowest| severity < lowest) {
            lowest = Some(severity);
            at_lowest.clear();
        }
        if lowest == Some(severity) {
            at_lowest.push(point);
        }
    }
    if at_lowest.is_empty() { first_fixed.into_iter().collect() } else { at_lowest }
}

fn value(rate: &Option<Rate>) -> Option<f64> {
    rate.as_ref().and_then(|rate| rate.value)
}
