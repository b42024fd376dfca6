//! How well objects are found undisturbed and under faults in images, over all cases together: what
//! benchmarks of detectors report (Michaelis et al. 2020).

use super::attribute::Context;
use super::robustness::{SEVERITY, was_answered};
use super::summary::{DetectionPoint, DetectionQuality, Mean};
use super::tally::Precision;
use faultlens_core::Seed;
use faultlens_judge::{CocoEvidence, Scene, ScoredBox, TideKind, TruthBox, coco_ious, tide};
use faultlens_record::Record;
use faultlens_record::inventory;
use faultlens_record::store::FaultOn;
use faultlens_stats::{Bootstrap, StatsError};
use std::collections::{BTreeMap, BTreeSet};

/// Scenes are drawn again so often at least, and at most.
const REDRAWS: (usize, usize) = (200, 2000);

/// How many scenes all redraws of a target may take together, before they get fewer.
const SCENES: usize = 4_000_000;

/// A case, and what was found in it.
type Answered = (u32, Vec<ScoredBox>);

/// A case, and what was found and is known of it.
type Judged = (u32, Scene);

/// Detections under faults in images.
#[derive(Default)]
pub(super) struct Detected {
    /// By target and fault.
    trials: BTreeMap<(u32, u32), Vec<Answered>>,
}

impl Detected {
    pub(super) fn add(&mut self, context: &Context, record: &Record) {
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

    /// By target; empty where no case has objects that are known.
    pub(super) fn told(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<DetectionQuality>, StatsError> {
        let mut all = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            let field = self.field(context, at);
            // Crowds alone are no objects to find.
            let cases: Vec<usize> = (0..field.cases.len()).collect();
            if field.points[0].ap(&cases).is_some() {
                all.push(field.quality(&target.name, context, precision)?);
            }
        }
        Ok(all)
    }

    /// Everything that is known of a target.
    fn field(&self, context: &Context, target: u32) -> Field {
        let goldens = context.goldens().filter(|golden| golden.target == target);
        let mut golden: BTreeMap<u32, Scene> = goldens
            .filter_map(|one| Some((one.case, inventory::read(one.scene.as_deref()?)?)))
            .collect();
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
        points.extend(
            trials
                .into_iter()
                .filter(|(_, trials)| !trials.is_empty())
                .map(|(fault, trials)| Point::new(Some(fault), trials, &cases, classes)),
        );
        Field { cases, points }
    }
}

/// Gives classes numbers from 0, in their order; tells how many there are. Names that services say
/// have numbers of any size.
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

/// A target: its cases, and the undisturbed answers before those under each fault.
struct Field {
    cases: Vec<u32>,
    points: Vec<Point>,
}

/// What was found under one fault, or under none.
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

    fn told(&self, context: &Context, ap: Mean) -> DetectionPoint {
        let fault = self.fault.and_then(|fault| context.manifest.faults.get(fault as usize));
        let tide = tide(&self.scenes);
        let counts = TideKind::ALL.iter().zip(tide.errors);
        DetectionPoint {
            fault: fault.map(|fault| fault.label.clone()),
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
            points.push(point.told(context, redraws.mean(&|row| row[at])?));
        }
        let graded = self.graded(context);
        let under = |row: &Row| {
            let of_fault = |own: &Vec<usize>| average(own.iter().map(|&at| row[at]));
            average(graded.iter().map(of_fault))
        };
        let (mut mean_ap, mut kept) = (None, None);
        if !graded.is_empty() {
            mean_ap = Some(redraws.mean(&under)?);
        }
        // Of nothing, no share is left.
        if !graded.is_empty() && points[0].ap.value > Some(0.0) {
            let share = |row: &Row| Some(under(row)? / row[0].filter(|&clean| clean > 0.0)?);
            kept = Some(redraws.mean(&share)?);
        }
        let clean = points.remove(0);
        let cases = self.cases.len() as u64;
        Ok(DetectionQuality { target: target.to_owned(), cases, clean, mean_ap, kept, points })
    }

    /// For each fault with severities, its points.
    fn graded(&self, context: &Context) -> Vec<Vec<usize>> {
        let mut faults: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, point) in self.points.iter().enumerate() {
            let fault = point.fault.and_then(|fault| context.manifest.faults.get(fault as usize));
            let Some(fault) = fault else { continue };
            if let Some(severity) = fault.settings.get(SEVERITY).and_then(|number| number.as_f64())
            {
                let rest = fault.label.replace(&format!(" {SEVERITY}={severity}"), "");
                faults.entry(rest).or_default().push(at);
            }
        }
        faults.into_values().collect()
    }
}

/// The mean of what is known.
fn average(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = values.flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// Average precision at each point, of cases as they were drawn.
type Row = Vec<Option<f64>>;

/// What redraws of the cases gave, so that means of points see the same ones as the points.
struct Redraws<'f> {
    field: &'f Field,
    bootstrap: Bootstrap,
    seed: Seed,
    rows: Vec<Row>,
}

impl<'f> Redraws<'f> {
    fn new(field: &'f Field, context: &Context, precision: &Precision) -> Result<Self, StatsError> {
        let scenes: usize = field.points.iter().map(|point| point.scenes.len()).sum();
        let level = precision.intervals.level;
        // A few of them must lie beyond either end.
        let least = (10.0 / (1.0 - level.confidence())).ceil() as usize;
        let redraws = (SCENES / scenes.max(1)).clamp(REDRAWS.0, REDRAWS.1).max(least);
        let bootstrap = Bootstrap::new(redraws, level)?;
        let seed = Seed::new(context.manifest.seed).child("redrawn cases");
        Ok(Self { field, bootstrap, seed, rows: Vec::new() })
    }

    /// A number that follows from average precision at all points, with its interval.
    fn mean(&mut self, of: &dyn Fn(&Row) -> Option<f64>) -> Result<Mean, StatsError> {
        // The same cases each time, so that average precision is computed once.
        let (mut stream, mut at) = (self.seed.stream(), 0);
        let (bootstrap, cases) = (self.bootstrap, self.field.cases.len());
        let statistic = |cases: &[usize]| {
            at += 1;
            // Cases without a single object say nothing: as if it were nothing.
            of(self.row(at - 1, cases)).unwrap_or(0.0)
        };
        bootstrap.percentile(cases, || stream.next_u64(), statistic).map(Mean::of)
    }

    fn row(&mut self, at: usize, cases: &[usize]) -> &Row {
        if self.rows.len() <= at {
            self.rows.push(self.field.points.iter().map(|point| point.ap(cases)).collect());
        }
        &self.rows[at]
    }
}
