//! `faultlens objects`: objects cut out of images, as a pool.

mod gather;
mod picture;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use crate::exit;
use anyhow::ensure;
use faultlens::analysis::format::counted;
use faultlens::campaign::cases::world_cases;
use faultlens::data::{
    DataError, DataSet, Format, Options, Pool, PoolObject, largest_objects, write_png, write_pool,
};
use faultlens::judge::average_hash;
use faultlens::targets::onnx::OutlineModel;
use faultlens::world::{self, SCENE_CLASSES};
use faultlens::{Cutout, Image};
use serde_json::json;

use crate::args::ObjectsArgs;
use crate::command::threads;
use crate::console::Console;
use crate::describe::written;
use crate::text::{self, Align};
use gather::{Gathered, Outline};

/// Objects with fewer pixels get a note: enlarged, they cannot be recognised.
const FEW_PIXELS: usize = 400;

/// Scenes of the embedded world, where the user gives no number; signs have no outlines.
const UNSAID: [usize; 2] = [100, 100];

pub(crate) fn run(args: &ObjectsArgs, console: &mut Console) -> anyhow::Result<u8> {
    let start = Instant::now();
    let out = &args.out;
    // Checked first, so that a long search is not wasted.
    let empty = !out.exists() || out.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    ensure!(empty, "the folder is not empty; choose a new one: {}", out.display());
    let set = data(args)?;
    let gathered = match &args.model {
        Some(path) => {
            let written = written(args.input.as_deref(), args.labels.as_deref())?;
            let model = OutlineModel::open(path, written)?.with_threads(threads(args.threads))?;
            for reason in model.reasons() {
                console.note(format_args!("# {reason}"))?;
            }
            gather::found(&set, &model, args.score as f32, console)?
        }
        None => gather::known(&set, console)?,
    };
    ensure!(!gathered.outlines.is_empty(), "{}", gathered.nothing(args.model.is_some()));
    let found = per_label(gathered.outlines.iter().map(|outline| outline.label.as_str()));
    let kept = kept(args, &gathered)?;
    let pool = write_pool(out, &source(args), cut(&set, &kept))?;
    if let Some(path) = &args.picture {
        write_png(&picture::sheet(&pool)?, path)?;
    }
    show(args, &gathered, &found, &pool, start, console)?;
    Ok(exit::OK)
}

/// The outlines that are worth cutting out.
fn kept(args: &ObjectsArgs, gathered: &Gathered) -> anyhow::Result<Vec<Outline>> {
    let outlines = gathered.outlines.iter().cloned();
    if args.keep_all {
        return Ok(outlines.collect());
    }
    let mut kept = largest_objects(outlines.collect(), args.prune, args.min_objects, |outline| {
        (outline.label.as_str(), outline.stamp.pixels())
    });
    kept.retain(|outline| outline.stamp.pixels() >= args.min_pixels);
    ensure!(!kept.is_empty(), "no object has {} pixels; lower --min-pixels", args.min_pixels);
    Ok(kept)
}

fn data(args: &ObjectsArgs) -> anyhow::Result<DataSet> {
    if let Some(asked) = args.data.strip_prefix(world::PREFIX) {
        return Ok(world_cases(asked, world::TEST, UNSAID, &SCENE_CLASSES)?);
    }
    let format = args.format.as_deref().map(Format::named).transpose()?;
    Ok(DataSet::open_with(Path::new(&args.data), &Options { format, ..Options::default() })?)
}

/// Where the objects come from, in words for the index. Pools are passed on, so the
/// index must not contain paths of this machine.
fn source(args: &ObjectsArgs) -> String {
    let name = |path: &Path| {
        path.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned())
    };
    let by = match &args.model {
        Some(model) => format!("outlined by {} from a score of {}", name(model), args.score),
        None => "outlined by the data set".to_owned(),
    };
    let kept = if args.keep_all {
        "all of them".to_owned()
    } else {
        let pixels = match args.min_pixels {
            0 => String::new(),
            min => format!(", and what has fewer than {min} pixels"),
        };
        let prune = args.prune;
        let min = args.min_objects;
        format!("without the smallest {prune} of every label of {min} or more{pixels}")
    };
    let data = if args.data.starts_with(world::PREFIX) {
        args.data.clone()
    } else {
        name(Path::new(&args.data))
    };
    format!("{data}, {by}, {kept}")
}

/// The objects with their pixels, one after the other. Outlines are in the order of their cases,
/// so that every image is read once.
fn cut<'a>(
    set: &'a DataSet,
    outlines: &'a [Outline],
) -> impl Iterator<Item = Result<PoolObject, DataError>> + 'a {
    let mut at_hand: Option<(usize, String, Image)> = None;
    outlines.iter().map(move |outline| {
        if at_hand.as_ref().is_none_or(|(case, ..)| *case != outline.case) {
            let case = set.case(outline.case)?;
            at_hand = Some((outline.case, case.name, case.image));
        }
        let changed =
            || DataError::Undecodable { reason: "the data set was changed meanwhile".into() };
        let (_, name, image) = at_hand.as_ref().ok_or_else(changed)?;
        let (image, alpha) = outline.stamp.cut(image).ok_or_else(changed)?;
        let label = outline.label.clone();
        let id = outline.id.clone();
        let hash = average_hash(&image);
        let cutout = Cutout { label, source: name.clone(), id, hash, image, alpha };
        Ok(PoolObject { cutout, bounds: outline.stamp.bounds(), score: outline.score })
    })
}

fn per_label<'a>(labels: impl Iterator<Item = &'a str>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label.to_owned()).or_insert(0) += 1;
    }
    counts
}

fn show(
    args: &ObjectsArgs,
    gathered: &Gathered,
    found: &BTreeMap<String, usize>,
    pool: &Pool,
    start: Instant,
    console: &mut Console,
) -> anyhow::Result<()> {
    let kept = per_label(pool.objects.iter().map(|entry| entry.label.as_str()));
    let of = |label: &str| kept.get(label).copied().unwrap_or(0);
    let seconds = start.elapsed().as_secs_f64();
    let total: usize = found.values().sum();
    if args.json {
        return console.json(&json!({
            "pool": args.out,
            "digest": pool.digest(),
            "objects": pool.objects.len(),
            "found": total,
            "without_outline": gathered.without,
            "crowds": gathered.crowds,
            "labels": found.iter().map(|(label, found): (&String, &usize)| json!({"label": label, "found": found, "kept": of(label)})).collect::<Vec<_>>(),
            "seconds": seconds,
        }));
    }
    let head = ["label", "found", "kept"].map(str::to_owned);
    let rows: Vec<[String; 3]> = [head]
        .into_iter()
        .chain(found.iter().map(|(label, found): (&String, &usize)| {
            [label.clone(), found.to_string(), of(label).to_string()]
        }))
        .collect();
    for line in text::table([Align::Left, Align::Right, Align::Right], &rows) {
        console.line(line)?;
    }
    let objects = counted(pool.objects.len() as u64, "object");
    console.line(format_args!(
        "\n{objects} of {} labels, of {total} found: {}",
        kept.len(),
        args.out.display()
    ))?;
    if gathered.without + gathered.crowds > 0 {
        let without = gathered.without;
        let crowds = gathered.crowds;
        console.line(format_args!("left out: {without} without an outline, {crowds} crowds"))?;
    }
    let small = pool.objects.iter().filter(|entry| entry.pixels < FEW_PIXELS).count();
    if small > 0 && args.min_pixels < FEW_PIXELS {
        console.note(format_args!(
            "# {} of fewer than {FEW_PIXELS} pixels; --min-pixels {FEW_PIXELS} leaves them out",
            counted(small as u64, "object")
        ))?;
    }
    Ok(console.note(text::time(seconds))?)
}
