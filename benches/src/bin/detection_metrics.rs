//! Times COCO's metrics on files of detections, and HOG and hashes on a photo, and prints one JSON
//! object: milliseconds of processor time, the best of several calls, and the values.

use anyhow::Result;
use clap::Parser;
use cpu_time::ProcessTime;
use faultlens_data::{CocoTruth, read_image};
use faultlens_judge::{
    CocoSummary, HogSettings, Rect, Scene, ScoredBox, TruthBox, average_hash, coco_scores, hog,
    tide,
};
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Times COCO's metrics on files of detections.
#[derive(Parser)]
struct Arguments {
    /// The ground truth.
    truth: PathBuf,
    /// What was found.
    detections: PathBuf,
    /// A photo for HOG and hashes.
    #[arg(long)]
    photo: Option<PathBuf>,
    /// Threads of the evaluation.
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Calls of each.
    #[arg(long, default_value_t = 3)]
    repeats: usize,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let repeats = arguments.repeats;
    let scenes = scenes(&arguments.truth, &arguments.detections)?;
    let classes = CocoTruth::read(&arguments.truth)?.classes.len();
    let scored = || coco_scores(&scenes, classes, arguments.threads);
    let summary = CocoSummary::of(&scored());
    let read = || self::scenes(&arguments.truth, &arguments.detections);
    let told = json!({
        "ms": {
            "reading": best(repeats, read),
            "coco": best(repeats, scored),
            "tide": best(repeats, || tide(&scenes)),
        },
        "summary": [
            summary.ap, summary.ap50, summary.ap75, summary.ap_small, summary.ap_medium,
            summary.ap_large, summary.ar1, summary.ar10, summary.ar100, summary.ar_small,
            summary.ar_medium, summary.ar_large,
        ],
        "photo": arguments.photo.as_deref().map(|photo| of_photo(photo, repeats)).transpose()?,
    });
    writeln!(std::io::stdout(), "{told}")?;
    Ok(())
}

fn of_photo(photo: &Path, repeats: usize) -> Result<Value> {
    let image = read_image(photo)?;
    let grey = image.map_pixels(|[red, green, blue]| {
        let [red, green, blue] = [red, green, blue].map(u32::from);
        [((299 * red + 587 * green + 114 * blue) / 1000) as u8; 3]
    });
    let settings = HogSettings { block: (3, 3), ..HogSettings::default() };
    Ok(json!({
        "hog_grey": best(8 * repeats, || hog(&grey, &settings)),
        "hog_colour": best(8 * repeats, || hog(&image, &settings)),
        "average_hash": best(8 * repeats, || average_hash(&image)),
    }))
}

/// Milliseconds of all threads together, and of the clock.
fn best<T>(repeats: usize, call: impl Fn() -> T) -> [f64; 2] {
    let mut best = [f64::INFINITY; 2];
    for _ in 0..repeats {
        let (work, clock) = (ProcessTime::now(), Instant::now());
        black_box(call());
        let took = [work.elapsed(), clock.elapsed()].map(|took| took.as_secs_f64() * 1e3);
        best = std::array::from_fn(|at| best[at].min(took[at]));
    }
    best
}

fn scenes(truth: &Path, detections: &Path) -> Result<Vec<Scene>> {
    let truth = CocoTruth::read(truth)?;
    let found = truth.detections(detections)?;
    let mut scenes = vec![Scene::default(); truth.images()];
    let rect = |[left, top, width, height]: [f64; 4]| Rect { left, top, width, height };
    for known in &truth.objects {
        scenes[known.image].objects.push(TruthBox {
            class: known.class,
            rect: rect(known.bbox),
            area: known.area,
            crowd: known.crowd,
            difficult: known.ignored,
        });
    }
    for found in &found {
        let (class, score) = (found.class, found.score);
        scenes[found.image].detections.push(ScoredBox { class, rect: rect(found.bbox), score });
    }
    Ok(scenes)
}
