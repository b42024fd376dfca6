//! The result for people, as a table.

use std::path::PathBuf;

use faultlens::analysis::format::{count, counted, number, percent};
use faultlens::report::plain;
use faultlens::report::tolerance_format::{edge, interval, threshold};
use faultlens::stats::tolerance::{Ending, Rule};

use super::analysis::{Findings, Measured};
use crate::args::ToleranceArgs;
use crate::console::Console;
use crate::text::{Align, table};

const NONE: &str = "–";
/// More files are counted where they are named.
const MAX_FILES: usize = 3;

/// What the tolerance is called.
pub(super) fn title(args: &ToleranceArgs) -> String {
    if let Some(name) = &args.name {
        return name.clone();
    }
    let stem = args.files.first().and_then(|path| path.file_stem());
    let stem = stem.map_or_else(|| "tolerance".to_owned(), |stem| stem.to_string_lossy().into());
    match args.files.len() {
        0 | 1 => stem,
        n => format!("{stem} and {} more", n - 1),
    }
}

/// What it was made from, for a report that relies on it: names of files, without the folders of
/// whoever ran it, how many answers they hold, and how.
pub(super) fn source(args: &ToleranceArgs, found: &Findings) -> String {
    let files: Vec<String> = args
        .files
        .iter()
        .take(MAX_FILES)
        .map(|path: &PathBuf| {
            let name = path.file_name().unwrap_or_else(|| path.as_os_str());
            plain(&name.to_string_lossy())
        })
        .collect();
    let more = match args.files.len().saturating_sub(MAX_FILES) {
        0 => String::new(),
        more => format!(" and {}", counted(more as u64, "more file")),
    };
    let how = match found.rule.stated_drop() {
        Some(drop) => format!("--drop {}", in_points(drop)),
        None => format!("--rule {}", found.rule.name()),
    };
    format!(
        "{}{more}: {} on changed images of {}; faultlens {} tolerance {how}",
        files.join(", "),
        counted(found.answers(), "answer"),
        counted(found.faults.len() as u64, "fault"),
        env!("CARGO_PKG_VERSION")
    )
}

/// What thresholds mean under a rule, in a sentence.
pub(super) fn meaning(rule: Rule) -> String {
    match rule.stated_drop() {
        Some(drop) => format!(
            "At t_c people are right {0} points less often than on the original, at t_p they answer \
             as on the original {0} points less often than where images are changed least; a stated \
             drop, which does not depend on the number of answers.",
            in_points(drop)
        ),
        None => format!(
            "Up to t_c people are correct as often as on the original, up to t_p they answer as on the \
             original; rule {}, by significance, which moves with the number of answers (--drop \
             does not).",
            rule.name()
        ),
    }
}

/// A share in points: "10", or "2.5".
pub(super) fn in_points(share: f64) -> String {
    number(100.0 * share, 3)
}

/// Shows all thresholds.
pub(super) fn show(found: &Findings, console: &mut Console) -> anyhow::Result<()> {
    if let Some(originals) = found.originals {
        let rate = percent(originals.rate);
        let answers =
            originals.n.map_or("as given".to_owned(), |n| format!("{} answers", count(n)));
        console.line(format_args!("right on the originals: {rate}% ({answers})"))?;
    }
    let header = [
        "fault",
        "t_c",
        "95% interval",
        "no drop",
        "cautious",
        "t_p",
        "95% interval",
        "no drop",
        "cautious",
        "answers",
    ];
    let mut lines = vec![header.map(str::to_owned)];
    for one in &found.faults {
        let [a, b, c, d] = cells(&one.correctness);
        let [e, f, g, h] = cells(&one.prediction);
        lines.push([one.fault.clone(), a, b, c, d, e, f, g, h, count(one.answers())]);
    }
    let left = Align::Left;
    let right = Align::Right;
    for line in table([left, right, left, right, right, right, left, right, right, right], &lines) {
        console.line(line)?;
    }
    console.line(format_args!("\n{}", meaning(found.rule)))?;
    for line in explained(found) {
        console.line(line)?;
    }
    Ok(())
}

/// What marks and gaps in the table mean.
fn explained(found: &Findings) -> Vec<String> {
    let ends = |ending: Ending| {
        found
            .faults
            .iter()
            .flat_map(|of| [&of.correctness, &of.prediction])
            .flatten()
            .any(|of| of.found.ending == ending)
    };
    let mut lines = Vec::new();
    if ends(Ending::NoDrop) {
        lines.push(
            "1: no drop found up to the cautious value, beyond which there are no answers.".into(),
        );
    }
    if ends(Ending::EndOfData) {
        lines.push("*: the end of the data rather than a drop, as this rule reports it.".into());
    }
    for one in &found.faults {
        for (key, part) in [("t_c", &one.correctness), ("t_p", &one.prediction)] {
            if let Err(why) = part {
                lines.push(format!("No {key} of {}: {why}.", plain(&one.fault)));
            }
        }
    }
    lines
}

fn cells(of: &Result<Measured, String>) -> [String; 4] {
    let Ok(of) = of else { return [NONE; 4].map(str::to_owned) };
    [
        threshold(&of.found),
        interval(&of.interval),
        format!("{}%", percent(of.interval.without_drop)),
        edge(of.found.cautious),
    ]
}
