//! `faultlens fault`: a fault in an image, or in all images of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::exit;
use anyhow::{Context, anyhow, bail, ensure};
use faultlens::data::{images_below, read_image, write_image};
use faultlens::faults::IMAGE_FAULTS;
use faultlens::report::plain;
use faultlens::spec::{Disturbance, FaultPoint};
use faultlens::{ImageFault, Seed};
use serde_json::{Value, json};

use crate::args::{FaultArgs, Written};
use crate::command::threads;
use crate::console::Console;
use crate::text::{bar, grouped, time};

/// Cells of the progress bar.
const WIDTH: usize = 24;
/// Images that could not be done and are named; the others are counted.
const NAMED: usize = 10;

/// Builds the fault and applies it.
pub(crate) fn run(args: &FaultArgs, console: &mut Console) -> anyhow::Result<u8> {
    let (fault, label) = built(&args.fault, &settings(args))?;
    let work = Work { fault: &*fault, seed: Seed::new(args.seed), quality: args.quality };
    if args.image.is_dir() {
        return folder(args, &work, &label, console);
    }
    let name = args.image.file_name().context("this is not an image file")?;
    ensure!(
        !same_place(&args.image, &args.output),
        "the output would replace the image; choose another with -o"
    );
    work.one(&args.image, &args.output, Path::new(name))?;
    if args.json {
        console.json(&json!({
            "image": args.image, "output": args.output, "fault": label, "seed": args.seed,
        }))?;
    } else {
        console.line(format_args!("{label}: {}", args.output.display()))?;
    }
    Ok(exit::OK)
}

/// A fault on images by name, with its label.
pub(super) fn built(
    name: &str,
    settings: &BTreeMap<String, Value>,
) -> anyhow::Result<(Box<dyn ImageFault>, String)> {
    // An error about the name is complete as it is.
    let named = IMAGE_FAULTS.iter().any(|plugin| plugin.name == name);
    let point = FaultPoint::new(name, settings).map_err(|what: String| {
        if named && !what.starts_with(name) { anyhow!("{name}: {what}") } else { anyhow!(what) }
    })?;
    match point.disturbance {
        Disturbance::Image(fault) => Ok((fault, point.label)),
        Disturbance::Varied(_) => {
            bail!("{name}: within and tolerance are for campaigns; set severity or a strength")
        }
        Disturbance::Model(_) => {
            bail!("{name} is a fault inside models; it does not change images")
        }
        Disturbance::Attack(_) => {
            bail!("{name} is an attack, which needs a target; use it in a campaign")
        }
        Disturbance::Scene(_) => {
            bail!("{name} needs a target that finds objects; use it in a campaign")
        }
    }
}

fn settings(args: &FaultArgs) -> BTreeMap<String, Value> {
    let severity = args.severity.map(|severity| ("severity".to_owned(), json!(severity)));
    let set = args.set.iter().map(|(name, text)| {
        (
            name.clone(),
            match text.parse::<f64>() {
                Ok(number) => json!(number),
                Err(_) => json!(text),
            },
        )
    });
    severity.into_iter().chain(set).collect()
}

fn same_place(a: &Path, b: &Path) -> bool {
    matches!((fs::canonicalize(a), fs::canonicalize(b)), (Ok(a), Ok(b)) if a == b)
}

/// Whether a place, which need not be there yet, is a folder or below it.
fn lies_in(place: &Path, folder: &Path) -> bool {
    let known = place.ancestors().find_map(|part| fs::canonicalize(part).ok());
    // A bare name has an empty last ancestor, which is here.
    let known = known.or_else(|| fs::canonicalize(".").ok());
    matches!((known, fs::canonicalize(folder)), (Some(place), Ok(folder)) if place.starts_with(&folder))
}

/// What is done to each image.
struct Work<'a> {
    fault: &'a dyn ImageFault,
    seed: Seed,
    quality: u8,
}

/// How long the parts took.
#[derive(Default, Clone, Copy)]
struct Times {
    reading: Duration,
    fault: Duration,
    writing: Duration,
}

impl Work<'_> {
    /// Reads, disturbs and writes one image. Its random numbers follow from its name, so that they
    /// do not depend on which others there are.
    fn one(&self, from: &Path, to: &Path, name: &Path) -> anyhow::Result<Times> {
        let start = Instant::now();
        let image = read_image(from)?;
        let reading = start.elapsed();
        let mut stream = self.seed.child(&name.to_string_lossy()).stream();
        let changed = self.fault.change(&image, &mut stream);
        let fault = start.elapsed() - reading;
        write_image(&changed, to, self.quality)?;
        Ok(Times { reading, fault, writing: start.elapsed() - reading - fault })
    }
}

/// All images of a folder, in as many threads as there are cores.
fn folder(
    args: &FaultArgs,
    work: &Work<'_>,
    label: &str,
    console: &mut Console,
) -> anyhow::Result<u8> {
    let images = images_below(&args.image)?;
    ensure!(!images.is_empty(), "there are no images in the folder {}", args.image.display());
    ensure!(
        !lies_in(&args.output, &args.image),
        "the output would lie among the images, and be disturbed the next time; choose another \
         folder with -o"
    );
    let files = outputs(&images, args.format);
    for folder in files.iter().filter_map(|file| file.parent()).collect::<BTreeSet<_>>() {
        let folder = args.output.join(folder);
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    let start = Instant::now();
    let next = AtomicUsize::new(0);
    let mut times = Times::default();
    let mut wrong = Vec::new();
    let mut done = 0;
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..threads(args.threads) {
            let sender = sender.clone();
            let images = &images;
            let files = &files;
            let next = &next;
            scope.spawn(move || {
                while let at = next.fetch_add(1, Ordering::Relaxed)
                    && let Some(image) = images.get(at)
                {
                    let from = args.image.join(image);
                    let to = args.output.join(&files[at]);
                    // The receiver is gone only where the whole command ends.
                    let _ = sender.send((at, work.one(&from, &to, image)));
                }
            });
        }
        drop(sender);
        for (at, result) in results {
            done += 1;
            match result {
                Ok(took) => {
                    times.reading += took.reading;
                    times.fault += took.fault;
                    times.writing += took.writing;
                }
                Err(error) => wrong.push((at, error)),
            }
            let share = done as f64 / images.len() as f64;
            let left = start.elapsed().as_secs_f64() * (1.0 - share) / share;
            let bar = bar(share, WIDTH);
            let all = grouped(images.len() as u64);
            let left = time(left);
            console.progress(format_args!("{bar} {}/{all}  {left} left", grouped(done)));
        }
    });
    console.settle(format_args!("{} of {} images", grouped(done), grouped(images.len() as u64)));
    wrong.sort_by_key(|(at, _)| *at);
    tell(args, label, &Done { images: images.len(), wrong, times, took: start.elapsed() }, console)
}

/// What became of a folder.
struct Done {
    images: usize,
    wrong: Vec<(usize, anyhow::Error)>,
    times: Times,
    took: Duration,
}

fn tell(args: &FaultArgs, label: &str, done: &Done, console: &mut Console) -> anyhow::Result<u8> {
    let Done { images, wrong, times, took } = done;
    let written = images - wrong.len();
    let seconds = took.as_secs_f64();
    let all = (times.reading + times.fault + times.writing).as_secs_f64().max(f64::MIN_POSITIVE);
    let [reading, fault, writing] =
        [times.reading, times.fault, times.writing].map(|part| part.as_secs_f64() / all);
    let rate = written as f64 / seconds;
    let summary = format!(
        "{label}: {} images in {}, {rate:.1} a second; reading {:.0}%, fault {:.0}%, writing \
         {:.0}%: {}",
        grouped(written as u64),
        time(seconds),
        100.0 * reading,
        100.0 * fault,
        100.0 * writing,
        args.output.display()
    );
    for (_, error) in wrong.iter().take(NAMED) {
        console.note(format_args!("left out: {}", plain(&format!("{error:#}"))))?;
    }
    if wrong.len() > NAMED {
        console.note(format_args!("left out: {} more", grouped((wrong.len() - NAMED) as u64)))?;
    }
    if args.json {
        console.json(&json!({
            "output": args.output, "fault": label, "seed": args.seed, "written": written,
            "left_out": wrong.len(), "seconds": seconds, "per_second": rate,
            "reading": reading, "disturbing": fault, "writing": writing,
        }))?;
    } else {
        console.line(summary)?;
    }
    Ok(if wrong.is_empty() { exit::OK } else { exit::INPUT })
}

/// What the images become: their own names, so that whatever names them still does, or with the
/// format's ending.
fn outputs(images: &[PathBuf], format: Written) -> Vec<PathBuf> {
    match format {
        Written::Same => images.iter().map(|image| same(image)).collect(),
        Written::Png => with_ending(images, "png"),
        Written::Jpg => with_ending(images, "jpg"),
    }
}

/// The image's own name, and PNG's ending behind it where its format is not written.
fn same(image: &Path) -> PathBuf {
    let ending = image.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        Some("png" | "jpg" | "jpeg" | "webp" | "bmp") => image.to_path_buf(),
        _ => behind(image, "png"),
    }
}

/// The names with this ending, behind the old one where several would be the same, so that each says
/// which it was.
fn with_ending(images: &[PathBuf], ending: &str) -> Vec<PathBuf> {
    // File systems that ignore case must not mix two.
    let key = |image: &PathBuf| image.with_extension("").to_string_lossy().to_lowercase();
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    images.iter().for_each(|image| *alike.entry(key(image)).or_default() += 1);
    let mut named = Vec::new();
    for image in images {
        let alone = alike.get(&key(image)) == Some(&1);
        named.push(if alone { image.with_extension(ending) } else { behind(image, ending) });
    }
    named
}

/// The whole name with another ending behind it.
fn behind(image: &Path, ending: &str) -> PathBuf {
    let name = image.file_name().unwrap_or_default().to_string_lossy();
    image.with_file_name(format!("{name}.{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_replaces_another() {
        let images = ["a.jpg", "a.png", "b/a.png", "A.bmp"].map(PathBuf::from);
        let files = outputs(&images, Written::Png);
        assert_eq!(files, ["a.jpg.png", "a.png.png", "b/a.png", "A.bmp.png"].map(PathBuf::from));
        let same = outputs(&["a.jpg", "b.JPEG", "c.gif"].map(PathBuf::from), Written::Same);
        assert_eq!(same, ["a.jpg", "b.JPEG", "c.gif.png"].map(PathBuf::from));
        let jpegs = outputs(&images[2..], Written::Jpg);
        assert_eq!(jpegs, ["b/a.jpg", "A.jpg"].map(PathBuf::from));
    }
}
