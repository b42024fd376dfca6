//! `faultlens score`: detections against the ground truth.

use std::collections::BTreeMap;

use crate::exit;
use anyhow::Context;
use faultlens::data::{CocoDetection, CocoObject, CocoTruth};
use faultlens::judge::{
    ClassScores, CocoSummary, Rect, Scene, ScoredBox, Tide, TideError, TideKind, TruthBox,
    coco_scores, tide, voc_average_precision,
};
use serde::Serialize;

use crate::args::ScoreArgs;
use crate::command::threads;
use crate::console::Console;
use crate::text::{Align, table};

/// The minimum overlap of boxes for VOC.
const VOC_IOU: f64 = 0.5;

/// Shows the quality of detections, and their kinds of errors.
pub(crate) fn run(args: &ScoreArgs, console: &mut Console) -> anyhow::Result<u8> {
    let truth = CocoTruth::read(&args.truth).context("the ground truth, the first file")?;
    let found = truth.detections(&args.detections).context("the detections, the second file")?;
    let scenes = scenes(&truth, &found);
    let scores = Scores::new(&truth.classes, &scenes, threads(args.threads));
    if truth.objects.iter().all(|object| object.crowd) {
        console.note("note: the ground truth has no objects, so nothing is scored")?;
    }
    if args.json {
        console.json(&scores)?;
    } else {
        scores.print(&truth.classes, console)?;
    }
    Ok(exit::OK)
}

fn scenes(truth: &CocoTruth, found: &[CocoDetection]) -> Vec<Scene> {
    let mut scenes = vec![Scene::default(); truth.images()];
    for &CocoObject { image, class, bbox, area, crowd, ignored } in &truth.objects {
        let known = TruthBox { class, rect: rect(bbox), area, crowd, difficult: ignored };
        scenes[image].objects.push(known);
    }
    for &CocoDetection { image, class, bbox, score } in found {
        scenes[image].detections.push(ScoredBox { class, rect: rect(bbox), score });
    }
    scenes
}

fn rect([left, top, width, height]: [f64; 4]) -> Rect {
    Rect { left, top, width, height }
}

/// Every number, as `--json` prints it.
#[derive(Serialize)]
struct Scores {
    ap: Option<f64>,
    ap50: Option<f64>,
    ap75: Option<f64>,
    ap_small: Option<f64>,
    ap_medium: Option<f64>,
    ap_large: Option<f64>,
    ar1: Option<f64>,
    ar10: Option<f64>,
    ar100: Option<f64>,
    ar_small: Option<f64>,
    ar_medium: Option<f64>,
    ar_large: Option<f64>,
    voc_ap50: Option<f64>,
    voc_ap50_11: Option<f64>,
    per_class: BTreeMap<String, ClassNumbers>,
    tide: BTreeMap<&'static str, ErrorNumbers>,
}

/// The scores of one class.
#[derive(Serialize)]
struct ClassNumbers {
    ap: Option<f64>,
    ap50: Option<f64>,
    ar100: Option<f64>,
    voc_ap50: Option<f64>,
    objects: usize,
    detections: usize,
}

/// One kind of error.
#[derive(Serialize)]
struct ErrorNumbers {
    count: usize,
    dap: f64,
}

impl Scores {
    fn new(names: &[String], scenes: &[Scene], threads: usize) -> Self {
        let classes = coco_scores(scenes, names.len(), threads);
        let summary = CocoSummary::of(&classes);
        let voc: Vec<_> =
            (0..names.len()).map(|class| voc_average_precision(scenes, class, VOC_IOU)).collect();
        let known = || voc.iter().flatten();
        let per_class = names.iter().zip(&classes).zip(&voc).map(|((name, class), voc)| {
            let voc = voc.map(|voc| voc.all_points);
            (name.clone(), ClassNumbers::new(class, voc))
        });
        Self {
            ap: summary.ap,
            ap50: summary.ap50,
            ap75: summary.ap75,
            ap_small: summary.ap_small,
            ap_medium: summary.ap_medium,
            ap_large: summary.ap_large,
            ar1: summary.ar1,
            ar10: summary.ar10,
            ar100: summary.ar100,
            ar_small: summary.ar_small,
            ar_medium: summary.ar_medium,
            ar_large: summary.ar_large,
            voc_ap50: mean(known().map(|voc| voc.all_points)),
            voc_ap50_11: mean(known().map(|voc| voc.eleven_points)),
            per_class: per_class.collect(),
            tide: errors(&tide(scenes)).into_iter().collect(),
        }
    }

    fn print(&self, names: &[String], console: &mut Console) -> anyhow::Result<()> {
        let mut sizes = vec![["", "all", "small", "medium", "large"].map(str::to_owned)];
        for (name, numbers) in [
            ("AP", [self.ap, self.ap_small, self.ap_medium, self.ap_large]),
            ("AP50", [self.ap50, None, None, None]),
            ("AP75", [self.ap75, None, None, None]),
            ("AR 1", [self.ar1, None, None, None]),
            ("AR 10", [self.ar10, None, None, None]),
            ("AR 100", [self.ar100, self.ar_small, self.ar_medium, self.ar_large]),
            ("VOC AP50", [self.voc_ap50, None, None, None]),
            ("VOC AP50, 11 points", [self.voc_ap50_11, None, None, None]),
        ] {
            let [all, small, medium, large] = numbers.map(share);
            sizes.push([name.to_owned(), all, small, medium, large]);
        }
        let header = ["class", "AP", "AP50", "AR 100", "VOC AP50", "objects", "detections"];
        let mut classes = vec![header.map(str::to_owned)];
        let each = names.iter().filter_map(|name| Some((name, self.per_class.get(name)?)));
        classes.extend(each.map(|(name, class)| class.row(name)));
        let mut errors = vec![["error", "count", "AP50 lost"].map(str::to_owned)];
        let kinds = KINDS.iter().filter_map(|kind| Some((kind, self.tide.get(kind)?)));
        errors.extend(kinds.map(|(kind, error)| {
            [(*kind).to_owned(), error.count.to_string(), format!("{:.4}", error.dap)]
        }));
        lines(&sizes, console)?;
        console.line("")?;
        lines(&classes, console)?;
        console.line("")?;
        lines(&errors, console)
    }
}

impl ClassNumbers {
    fn new(class: &ClassScores, voc_ap50: Option<f64>) -> Self {
        Self {
            ap: class.ap(0),
            ap50: class.ap_at(0),
            ar100: class.ar(0),
            voc_ap50,
            objects: class.objects,
            detections: class.detections,
        }
    }

    fn row(&self, name: &str) -> [String; 7] {
        let [ap, ap50, ar100, voc] = [self.ap, self.ap50, self.ar100, self.voc_ap50].map(share);
        let objects = self.objects.to_string();
        let detections = self.detections.to_string();
        [name.to_owned(), ap, ap50, ar100, voc, objects, detections]
    }
}

/// Kinds of errors in TIDE's order, by the names that it gives them.
const KINDS: [&str; 8] = ["Cls", "Loc", "Both", "Dupe", "Bkg", "Miss", "FalsePos", "FalseNeg"];

fn errors(tide: &Tide) -> Vec<(&'static str, ErrorNumbers)> {
    let names = TideKind::ALL.map(TideKind::name).into_iter();
    let mut errors: Vec<(&str, TideError)> = names.zip(tide.errors).collect();
    errors.extend([("FalsePos", tide.false_positives), ("FalseNeg", tide.false_negatives)]);
    errors
        .into_iter()
        .map(|(name, error)| (name, ErrorNumbers { count: error.count, dap: error.dap }))
        .collect()
}

fn share(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.4}"))
}

fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let numbers: Vec<f64> = numbers.collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum::<f64>() / numbers.len() as f64)
}

/// A table whose first column has names and whose others have numbers.
fn lines<const N: usize>(rows: &[[String; N]], console: &mut Console) -> anyhow::Result<()> {
    let align = std::array::from_fn(|at| if at == 0 { Align::Left } else { Align::Right });
    for line in table(align, rows) {
        console.line(line)?;
    }
    Ok(())
}
