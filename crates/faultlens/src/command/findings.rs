//! `faultlens findings`: changed scenes as a data set, with what was found in them.

use std::collections::BTreeMap;

use anyhow::{Context, bail};
use faultlens::campaign::Record;
use faultlens::campaign::replay::Rerun;
use faultlens::campaign::scene::Finding;
use faultlens::data::{CocoWriter, write_png};
use faultlens::{Bounds, Case, Detection, Image, Object, Seed, exit};
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
    /// Who was asked, by its place in the campaign.
    target: u32,
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
        match args.all {
            true => bail!(
                "no scene of this run was judged; scenes come from campaigns with insert_object or \
                 remove_object"
            ),
            false => bail!(
                "in no scene of insert_object or remove_object did an answer change; where the \
                 campaign has such faults, --all writes scenes that changed nothing too"
            ),
        }
    }
    let mut set = Set {
        writer: CocoWriter::new(&args.out)?,
        classes: rerun.classes().to_vec(),
        listed: Vec::new(),
        files: BTreeMap::new(),
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
    /// Files by what they show: their background, object and place.
    files: BTreeMap<String, String>,
    args: &'a FindingsArgs,
}

impl Set<'_> {
    fn add(&mut self, record: &Record, finding: Finding) -> anyhow::Result<()> {
        let name = format!("{} {}", stem(&finding.case.name), record.number);
        let place = finding.touched.bounds;
        let image = self.file(&finding, &name, &place, &finding.image)?;
        // Targets may answer the same image in ways of their own.
        if let Some(drawn) = &finding.drawn {
            write_png(drawn, self.args.out.join(DRAWN).join(format!("{}.png", record.number)))?;
        }
        self.listed.push(listed(record, &finding, image, place, false));
        if let Some((there, image)) = &finding.furthest {
            let image = self.file(&finding, &format!("{name} moved"), there, image)?;
            self.listed.push(listed(record, &finding, image, *there, true));
        }
        Ok(())
    }

    /// The file of an image, which is written once.
    fn file(
        &mut self,
        finding: &Finding,
        name: &str,
        at: &Bounds,
        image: &Image,
    ) -> anyhow::Result<String> {
        let object = finding.touched.object.as_deref().unwrap_or(&finding.touched.label);
        let shows = format!("{} {object} {:?}", finding.case.name, sides(at));
        if let Some(file) = self.files.get(&shows) {
            return Ok(file.clone());
        }
        let file = self.write(finding, name, at, image)?;
        self.files.insert(shows, file.clone());
        Ok(file)
    }

    /// Writes an image with the labels of its background; gives the file's name.
    fn write(
        &mut self,
        finding: &Finding,
        name: &str,
        at: &Bounds,
        image: &Image,
    ) -> anyhow::Result<String> {
        let background = &finding.case;
        let mut objects = background.objects.clone();
        if objects.is_empty() {
            // What nobody has labelled, the target's own word stands for.
            let whole = |b: &Bounds| b.right > b.left && b.bottom > b.top && b.area().is_finite();
            for (label, found) in finding.golden.iter().filter(|(_, one)| whole(&one.bounds)) {
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
        target: record.target,
        outcome: record.outcome.kind().name(),
        background: finding.case.name.clone(),
        object: finding.touched.object.clone(),
        label: finding.touched.label.clone(),
        position: sides(&at),
        moved,
        // Nobody wrote down what changed and what was found on the way.
        changes: record.extra.get("changes").filter(|_| !moved).cloned(),
        golden: finding.golden.iter().map(found).collect(),
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
