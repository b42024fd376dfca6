//! `faultlens findings`: changed scenes as a data set, with what was found in them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, bail};
use faultlens::campaign::Record;
use faultlens::campaign::replay::Rerun;
use faultlens::campaign::scene::Finding;
use faultlens::data::{CocoWriter, write_png};
use faultlens::{Bounds, Case, Detection, Object, Seed, exit};
use serde::Serialize;

use crate::args::FindingsArgs;
use crate::console::Console;

/// The folder of the pictures with boxes.
const DRAWN: &str = "drawn";

/// One changed scene, as `findings.json` holds it.
#[derive(Serialize)]
struct Listed {
    /// The file in `images/`.
    image: String,
    /// The trial, as `replay` and `promote` take it.
    trial: String,
    /// What became of the trial.
    outcome: &'static str,
    /// The undisturbed case.
    background: String,
    /// Which object of the pool came.
    object: Option<String>,
    /// What came or went.
    label: String,
    /// Where it stands or stood: left, top, right and bottom.
    position: [f32; 4],
    /// Whether this is where the object moved to, as close to its destination as it disturbs.
    moved: bool,
    /// What differs, one by one.
    changes: Option<String>,
    /// What the target finds in the background.
    golden: Vec<Found>,
    /// What it finds in the changed scene, without the thing that came or went.
    observed: Vec<Found>,
}

#[derive(Serialize)]
struct Found {
    label: String,
    score: f32,
    bounds: [f32; 4],
}

/// Writes changed scenes.
pub(crate) fn run(args: &FindingsArgs, console: &mut Console) -> anyhow::Result<u8> {
    let rerun = Rerun::open(&args.run)?;
    let records = drawn(rerun.scenes(args.all)?, args);
    if records.is_empty() {
        bail!(
            "no answer of this run changed in a changed scene; findings come from campaigns with \
             insert_object or remove_object, and --all writes scenes that changed nothing too"
        );
    }
    let mut set = Set {
        writer: CocoWriter::new(&args.out)?,
        classes: rerun.classes().to_vec(),
        listed: Vec::new(),
        seen: BTreeSet::new(),
        args,
    };
    let folder = args.out.join(DRAWN);
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    rerun.findings::<anyhow::Error>(&records, &mut |record, finding| set.add(record, finding))?;
    let Set { writer, classes, listed, .. } = set;
    let count = writer.finish(&classes)?;
    let path = args.out.join("findings.json");
    super::write(&path, serde_json::to_string_pretty(&listed)? + "\n")?;
    let trials = records.len();
    console.note(format_args!(
        "wrote {count} images of {trials} trials, each once, to {}",
        args.out.display()
    ))?;
    Ok(exit::OK)
}

/// As many of the records as are wanted, drawn from the seed, in their order.
fn drawn(mut records: Vec<Record>, args: &FindingsArgs) -> Vec<Record> {
    if let Some(count) = args.count {
        Seed::new(args.seed).child("findings").stream().shuffle(&mut records);
        records.truncate(count);
        records.sort_by_key(|record| record.number);
    }
    records
}

struct Set<'a> {
    writer: CocoWriter,
    classes: Vec<String>,
    listed: Vec<Listed>,
    /// Images that are there: their background, object and place.
    seen: BTreeSet<String>,
    args: &'a FindingsArgs,
}

impl Set<'_> {
    fn add(&mut self, record: &Record, finding: Finding) -> anyhow::Result<()> {
        let name = format!("{} {}", stem(&finding.case.name), record.number);
        let place = finding.touched.bounds;
        let new = self.is_new(&finding, &place);
        let kept = new.then(|| self.write(&finding, &name, &place, &finding.image)).transpose()?;
        if let Some(image) = kept {
            if let Some(drawn) = &finding.drawn {
                write_png(drawn, self.args.out.join(DRAWN).join(Path::new(&image)))?;
            }
            let listed = listed(record, &finding, image, place, false);
            self.listed.push(listed);
        }
        if let Some((there, image)) = &finding.furthest
            && self.is_new(&finding, there)
        {
            let image = self.write(&finding, &format!("{name} moved"), there, image)?;
            self.listed.push(listed(record, &finding, image, *there, true));
        }
        Ok(())
    }

    fn is_new(&mut self, finding: &Finding, at: &Bounds) -> bool {
        let object = finding.touched.object.as_deref().unwrap_or(&finding.touched.label);
        self.seen.insert(format!("{} {object} {:?}", finding.case.name, sides(at)))
    }

    /// Writes an image with the labels of its background; gives the file's name.
    fn write(
        &mut self,
        finding: &Finding,
        name: &str,
        at: &Bounds,
        image: &faultlens::Image,
    ) -> anyhow::Result<String> {
        let background = &finding.case;
        let mut objects = background.objects.clone();
        if objects.is_empty() {
            // What nobody has labelled, the target's own word stands for.
            for (label, found) in &finding.golden {
                objects.push(self.object(label, found.bounds));
            }
        }
        match &finding.touched.object {
            Some(_) if self.args.label_inserted => {
                let object = self.object(&finding.touched.label, *at);
                objects.push(object);
            }
            Some(_) => {}
            // What went is not there to be found.
            None => objects.retain(|object| object.bounds.iou(at) < 0.5),
        }
        let case = Case { objects, ..Case::new(name, image.clone()) };
        Ok(self.writer.add(&case, &self.classes)?)
    }

    /// An object of this label, whose class is made where there is none.
    fn object(&mut self, label: &str, bounds: Bounds) -> Object {
        let known = self.classes.iter().position(|name| name.eq_ignore_ascii_case(label));
        let class = known.unwrap_or_else(|| {
            self.classes.push(label.to_owned());
            self.classes.len() - 1
        });
        Object { class, bounds, mask: None, crowd: false }
    }
}

fn listed(record: &Record, finding: &Finding, image: String, at: Bounds, moved: bool) -> Listed {
    let found = |(label, found): &(String, Detection)| Found {
        label: label.clone(),
        score: found.score,
        bounds: sides(&found.bounds),
    };
    Listed {
        image,
        trial: record.trial.to_string(),
        outcome: record.outcome.kind().name(),
        background: finding.case.name.clone(),
        object: finding.touched.object.clone(),
        label: finding.touched.label.clone(),
        position: sides(&at),
        moved,
        changes: record.extra.get("changes").cloned(),
        golden: finding.golden.iter().map(found).collect(),
        // Nobody wrote down what was found on the way.
        observed: if moved { Vec::new() } else { finding.observed.iter().map(found).collect() },
    }
}

fn sides(b: &Bounds) -> [f32; 4] {
    [b.left, b.top, b.right, b.bottom]
}

/// A case's name without the ending of its file.
fn stem(name: &str) -> &str {
    let ending = name.rsplit_once('.').filter(|(_, ending)| ending.len() <= 4);
    ending.map_or(name, |(stem, _)| stem)
}
