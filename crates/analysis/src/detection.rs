//! How well objects are detected with and without image faults, over all cases together: what
//! benchmarks of robust detection report (Michaelis et al. 2020), with COCO's average precision and
//! TIDE's kinds of errors.

use crate::context::Context;
use crate::estimate::{Mean, Precision, mean_of_known};
use crate::trial::{severity_of, was_answered};
use faultlens_core::Seed;
use faultlens_judge::{CocoEvidence, Scene, ScoredBox, TideKind, TruthBox, coco_ious, tide};
use faultlens_record::Record;
use faultlens_record::store::FaultOn;
use faultlens_stats::{Bootstrap, Level, StatsError, clopper_pearson};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How well a target detects objects under image faults, over all cases with ground truth.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DetectionQuality {
    /// The target.
    pub target: String,
    /// How many cases.
    pub cases: u64,
    /// Without faults.
    pub clean: DetectionPoint,
    /// Average precision over severities, then over faults that have them (mPC).
    pub mean_ap: Option<Mean>,
    /// The share of the clean average precision that remains (rPC).
    pub kept: Option<Mean>,
    /// The clean average precision less the mean one.
    pub drop: Option<Mean>,
    /// Under each fault.
    pub points: Vec<DetectionPoint>,
}

/// How well objects are detected under one fault.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DetectionPoint {
    /// The fault with its settings; `None` without a fault.
    pub fault: Option<String>,
    /// The severity, and the fault with its other settings; `None` where it has none.
    pub graded: Option<GradedFault>,
    /// COCO's average precision, over overlaps from 0.5 to 0.95, with a bootstrap interval over
    /// cases.
    pub ap: Mean,
    /// Average precision at overlap 0.5.
    pub ap50: Option<f64>,
    /// The number of errors of each of TIDE's kinds.
    pub errors: BTreeMap<String, u64>,
}

/// A fault that has severities, and one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GradedFault {
    /// The fault with its settings but for the severity.
    pub fault: String,
    /// The severity.
    pub severity: f64,
}

/// The least and the largest number of bootstrap samples.
const REDRAWS: std::ops::RangeInclusive<usize> = 200..=2000;

/// How many scenes all bootstrap samples of a target may have together, before there are fewer of
/// them.
const SCENES: usize = 4_000_000;

/// A case, and the detections in it.
type Answered = (u32, Vec<ScoredBox>);

/// A case, its detections and its ground truth.
type Judged = (u32, Scene);

/// Detections under image faults.
#[derive(Default)]
pub(crate) struct Detected {
    /// By target and fault.
    trials: BTreeMap<(u32, u32), Vec<Answered>>,
}

impl Detected {
    pub(crate) fn add(&mut self, context: &Context, record: &Record) {
        let fault = context.manifest.faults.get(record.fault as usize);
        if fault.is_none_or(|fault| fault.on != FaultOn::Image) || !was_answered(record) {
            return;
        }
        if let Some(found) = &record.measures.found {
            let found: Vec<ScoredBox> =
                found.iter().map(|object| ScoredBox::from(*object)).collect();
            let cell = self.trials.entry((record.target, record.fault)).or_default();
            cell.push((record.case, found));
        }
    }

    /// By target; empty where no case has ground truth.
    pub(crate) fn quality(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<DetectionQuality>, StatsError> {
        let mut all = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            let field = self.field(context, at);
            // Regions that are marked as crowds are no objects to detect.
            let cases: Vec<usize> = (0..field.cases.len()).collect();
            if field.points[0].ap(&cases).is_some() {
                all.push(field.quality(&target.name, context, precision)?);
            }
        }
        Ok(all)
    }

    /// Everything recorded of a target.
    fn field(&self, context: &Context, target: u32) -> Field {
        let goldens = context.goldens().filter(|golden| golden.target == target);
        let mut golden: BTreeMap<u32, Scene> =
            goldens.filter_map(|one| Some((one.case, one.scene.as_ref()?.to_metric()))).collect();
        let own = self.trials.range((target, 0)..=(target, u32::MAX));
        let mut trials: Vec<(u32, Vec<Judged>)> = own
            .map(|(&(_, fault), trials)| {
                let scene = |(case, found): &Answered| {
                    let objects = golden.get(case)?.objects.clone();
                    Some((*case, Scene { objects, detections: found.clone() }))
                };
                (fault, trials.iter().filter_map(scene).collect())
            })
            .collect();
        let scenes =
            trials.iter_mut().flat_map(|(_, trials)| trials.iter_mut().map(|one| &mut one.1));
        let classes = number_classes(golden.values_mut().chain(scenes).collect());
        let cases: Vec<u32> = golden.keys().copied().collect();
        let mut points = vec![Point::new(None, golden.into_iter().collect(), &cases, classes)];
        for (fault, trials) in trials.into_iter().filter(|(_, trials)| !trials.is_empty()) {
            points.push(Point::new(Some(fault), trials, &cases, classes));
        }
        Field { cases, points }
    }
}

/// Renumbers classes from 0, in their order, and returns how many there are: the class of a name
/// that a service returns is a hash of any size.
fn number_classes(mut scenes: Vec<&mut Scene>) -> usize {
    let mut classes = BTreeSet::new();
    for scene in &scenes {
        classes.extend(scene.objects.iter().map(|known| known.class));
        classes.extend(scene.detections.iter().map(|found| found.class));
    }
    let numbers: BTreeMap<usize, usize> = classes.into_iter().zip(0..).collect();
    for scene in &mut scenes {
        let known = scene.objects.iter_mut().map(|TruthBox { class, .. }| class);
        let found = scene.detections.iter_mut().map(|ScoredBox { class, .. }| class);
        known.chain(found).for_each(|class| *class = numbers[class]);
    }
    numbers.len()
}

/// A target: its cases, and the clean detections before those under each fault.
struct Field {
    cases: Vec<u32>,
    points: Vec<Point>,
}

/// Detections under one fault, or without one.
struct Point {
    fault: Option<u32>,
    /// For each case, its scenes; several where trials were repeated.
    by_case: Vec<Vec<usize>>,
    scenes: Vec<Scene>,
    evidence: CocoEvidence,
    ap50: Option<f64>,
}

impl Point {
    fn new(fault: Option<u32>, trials: Vec<Judged>, cases: &[u32], classes: usize) -> Self {
        let mut by_case = vec![Vec::new(); cases.len()];
        for (at, (case, _)) in trials.iter().enumerate() {
            if let Ok(case) = cases.binary_search(case) {
                by_case[case].push(at);
            }
        }
        let scenes: Vec<Scene> = trials.into_iter().map(|(_, scene)| scene).collect();
        let evidence = CocoEvidence::new(&scenes, classes, &coco_ious());
        let ap50 = CocoEvidence::new(&scenes, classes, &[0.5]).average_precision(0..scenes.len());
        Self { fault, by_case, scenes, evidence, ap50 }
    }

    /// Average precision of these cases; `None` where they have no object.
    fn ap(&self, cases: &[usize]) -> Option<f64> {
        let drawn = cases.iter().flat_map(|&case| self.by_case[case].iter().copied());
        self.evidence.average_precision(drawn)
    }

    fn summary(&self, context: &Context, ap: Mean) -> DetectionPoint {
        let fault = self.fault.and_then(|fault| context.manifest.faults.get(fault as usize));
        let tide = tide(&self.scenes);
        let counts = TideKind::ALL.iter().zip(tide.errors);
        DetectionPoint {
            fault: fault.map(|fault| fault.label.clone()),
            graded: fault
                .and_then(severity_of)
                .map(|(severity, fault)| GradedFault { fault, severity }),
            ap,
            ap50: self.ap50,
            errors: counts
                .map(|(kind, error)| (kind.name().to_owned(), error.count as u64))
                .collect(),
        }
    }
}

impl Field {
    fn quality(
        &self,
        target: &str,
        context: &Context,
        precision: &Precision,
    ) -> Result<DetectionQuality, StatsError> {
        let mut redraws = Redraws::new(self, context, precision)?;
        let mut points = Vec::new();
        for (at, point) in self.points.iter().enumerate() {
            points.push(point.summary(context, redraws.mean(&|row| row[at])?));
        }
        let graded = self.graded(context);
        let under = |row: &Row| {
            let by_fault = graded.iter().map(|own| mean_of_known(own.iter().map(|&at| row[at])));
            mean_of_known(by_fault)
        };
        let mut mean_ap = None;
        let mut kept = None;
        let mut drop = None;
        if !graded.is_empty() {
            mean_ap = Some(redraws.mean(&under)?);
            drop = Some(redraws.mean(&|row| Some(row[0]? - under(row)?))?);
        }
        // No share remains of an average precision of 0.
        if !graded.is_empty() && points[0].ap.value > Some(0.0) {
            let share = |row: &Row| Some(under(row)? / row[0].filter(|&clean| clean > 0.0)?);
            kept = Some(redraws.mean(&share)?);
        }
        let clean = points.remove(0);
        let cases = self.cases.len() as u64;
        Ok(DetectionQuality {
            target: target.to_owned(),
            cases,
            clean,
            mean_ap,
            kept,
            drop,
            points,
        })
    }

    /// For each fault with severities, its points.
    fn graded(&self, context: &Context) -> Vec<Vec<usize>> {
        let mut faults: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, point) in self.points.iter().enumerate() {
            let fault = point.fault.and_then(|fault| context.manifest.faults.get(fault as usize));
            let Some(fault) = fault else { continue };
            if let Some((_, label)) = severity_of(fault) {
                faults.entry(label).or_default().push(at);
            }
        }
        faults.into_values().collect()
    }
}

/// Average precision at each point, of cases as they were drawn.
type Row = Vec<Option<f64>>;

/// Average precision in each bootstrap sample, kept so that means over points see the same samples
/// as the points.
struct Redraws<'f> {
    field: &'f Field,
    bootstrap: Bootstrap,
    level: Level,
    seed: Seed,
    rows: Vec<Row>,
}

impl<'f> Redraws<'f> {
    fn new(field: &'f Field, context: &Context, precision: &Precision) -> Result<Self, StatsError> {
        let scenes: usize = field.points.iter().map(|point| point.scenes.len()).sum();
        let level = precision.intervals.level;
        // Percentiles need some samples beyond either end.
        let least = (10.0 / (1.0 - level.confidence())).ceil() as usize;
        let redraws = (SCENES / scenes.max(1)).clamp(*REDRAWS.start(), *REDRAWS.end()).max(least);
        let bootstrap = Bootstrap::new(redraws, level)?;
        let seed = Seed::new(context.manifest.seed).child("redrawn cases");
        Ok(Self { field, bootstrap, level, seed, rows: Vec::new() })
    }

    /// A number that follows from average precision at all points, with its interval.
    fn mean(&mut self, of: &dyn Fn(&Row) -> Option<f64>) -> Result<Mean, StatsError> {
        // The stream starts anew each time, so that every number is resampled over the same cases
        // and their average precision is computed once.
        let mut stream = self.seed.stream();
        let mut at = 0;
        let bootstrap = self.bootstrap;
        let cases = self.field.cases.len();
        let statistic = |cases: &[usize]| {
            at += 1;
            // Resampled cases without a single object have no average precision; they count as 0.
            of(self.row(at - 1, cases)).unwrap_or(0.0)
        };
        let mut mean = Mean::from(bootstrap.percentile(cases, || stream.next_u64(), statistic)?);
        // Where every case is as bad or as good as can be, no resample differs; then the number of
        // cases says how far others may lie off.
        if mean.low == mean.high && [0.0, 1.0].contains(&mean.low) {
            let events = if mean.low == 0.0 { 0 } else { cases as u64 };
            let exact = clopper_pearson(events, cases as u64, self.level)?;
            mean = Mean { low: exact.low, high: exact.high, ..mean };
        }
        Ok(mean)
    }

    fn row(&mut self, at: usize, cases: &[usize]) -> &Row {
        if self.rows.len() <= at {
            self.rows.push(self.field.points.iter().map(|point| point.ap(cases)).collect());
        }
        &self.rows[at]
    }
}
