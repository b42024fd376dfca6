//! `faultlens findings`: changed images that changed an answer, as a data set, with what was found
//! in them.

mod listed;
mod marks;
mod panel;
mod picture;
mod set;

use std::collections::{BTreeMap, BTreeSet};

use crate::exit;
use anyhow::{Context, bail};
use faultlens::Seed;
use faultlens::analysis::format::counted;
use faultlens::campaign::object_comparison::ObjectComparison;
use faultlens::campaign::replay::Rerun;
use faultlens::campaign::scene::{Replayable, ReplayedImage};
use faultlens::data::write_png;
use faultlens::record::Record;
use faultlens::report::plain;
use faultlens::spec::FaultPoint;

use crate::args::FindingsArgs;
use crate::command::write;
use crate::console::Console;
use listed::Listed;
use set::Set;

/// The folder of the pictures with boxes.
const DRAWN: &str = "drawn";

/// Writes changed images.
pub(crate) fn run(args: &FindingsArgs, console: &mut Console) -> anyhow::Result<u8> {
    let rerun = Rerun::open(&args.run)?;
    let Replayable { records, left_out } = rerun.replayable(args.all, &wanted(&rerun, args)?)?;
    let records = drawn(records, args);
    note_left_out(console, &left_out, "that changed the answer or got none")?;
    if records.is_empty() {
        bail!(nothing(args));
    }
    let mut out = Out { set: Set::new(&rerun, args)?, listed: Vec::new(), args };
    let folder = args.out.join(DRAWN);
    std::fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let unasked = rerun.replay_images::<anyhow::Error>(&records, &mut |record, replayed| {
        out.add(record, &replayed)
    })?;
    note_left_out(console, &unasked, "whose undisturbed answer cannot be reproduced")?;
    let Out { set, listed, .. } = out;
    let count = set.finish()?;
    write(&args.out.join("findings.json"), serde_json::to_string_pretty(&listed)? + "\n")?;
    let trials = records.len() as u64 - unasked.values().sum::<u64>();
    console.note(format_args!(
        "wrote {count} images of {trials} trials, each once, to {}",
        args.out.display()
    ))?;
    let unanswered = listed.iter().filter(|one| one.no_answer.is_some()).count();
    if unanswered > 0 {
        console.note(format_args!(
            "{unanswered} of them could not be queried again; no_answer says why"
        ))?;
    }
    Ok(exit::OK)
}

/// Says how many trials are left out, and why.
fn note_left_out(
    console: &mut Console,
    left_out: &BTreeMap<impl AsRef<str>, u64>,
    which: &str,
) -> anyhow::Result<()> {
    for (why, count) in left_out {
        let trials = counted(*count, "trial");
        console.note(format_args!("left out: {trials} {which} ({})", plain(why.as_ref())))?;
    }
    Ok(())
}

/// The message where there is nothing to write.
fn nothing(args: &FindingsArgs) -> &'static str {
    if args.all {
        "no trial of this run showed a detector a changed image and was judged; such trials \
             come from campaigns on detectors with insert_object, remove_object or faults in images"
    } else {
        "no changed image changed an answer with objects; --all also writes images that \
             changed nothing"
    }
}

/// Whether trials of a fault are wanted: any, unless some are named.
fn wanted(rerun: &Rerun, args: &FindingsArgs) -> anyhow::Result<impl Fn(&FaultPoint) -> bool> {
    let names: BTreeSet<&str> = rerun.faults().iter().map(|fault| fault.name).collect();
    if let Some(unknown) = args.fault.iter().find(|name| !names.contains(name.as_str())) {
        let names: Vec<&str> = names.into_iter().collect();
        bail!("the campaign has no fault {unknown:?}; it has {}", names.join(", "));
    }
    let asked = args.fault.clone();
    Ok(move |fault: &FaultPoint| asked.is_empty() || asked.iter().any(|name| name == fault.name))
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

/// What was written so far.
struct Out<'a> {
    set: Set<'a>,
    listed: Vec<Listed>,
    args: &'a FindingsArgs,
}

impl Out<'_> {
    fn add(&mut self, record: &Record, replayed: &ReplayedImage) -> anyhow::Result<()> {
        let further = replayed.furthest.as_ref().map(|further| (further, true));
        for (detection_diff, moved) in [(&replayed.comparison, false)].into_iter().chain(further) {
            let image = self.set.file(record, replayed, detection_diff, moved)?;
            let drawn = self.draw(record, replayed, detection_diff, moved)?;
            self.listed.push(Listed::new(record, replayed, detection_diff, moved, image, drawn));
        }
        Ok(())
    }

    /// Writes the picture of both answers, of every trial: targets may answer the same image in
    /// ways of their own. Gives its file, where there are two answers.
    fn draw(
        &self,
        record: &Record,
        replayed: &ReplayedImage,
        detection_diff: &ObjectComparison,
        moved: bool,
    ) -> anyhow::Result<Option<String>> {
        let Ok(answer) = &detection_diff.answer else { return Ok(None) };
        let moved_on = if moved { "-moved" } else { "" };
        let file = format!("{DRAWN}/{}{moved_on}.png", record.number);
        let drawn = picture::picture(record, replayed, detection_diff, answer, moved)?;
        write_png(&drawn, self.args.out.join(&file))?;
        Ok(Some(file))
    }
}
