//! What to know first of each family of faults: how often predictions change, and the worst faults
//! with a picture pair each.

use super::Input;
use crate::document::{Block, Chart, Picture, Pictures, Plot, Stamp};
use crate::prose::family_name;
use crate::svg::{self, Caption, dots};
use faultlens_analysis::format;
use faultlens_analysis::{Example, FamilyResult, GroupRow, Grouping, Summary};
use std::cmp::Ordering;

/// Faults of a family that have pictures.
const WORST: usize = 3;

/// Faults of a family in its chart.
const DOTS: usize = 8;

/// Trials that a fault needs before it is called one of the worst.
const ENOUGH: u64 = 10;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    let mut blocks = Vec::new();
    for (at, one) in summary.families.iter().enumerate() {
        if let Some(grouping) = faults_of(summary, one) {
            blocks.extend(family(at, one, grouping, summary));
        }
    }
    (!blocks.is_empty()).then_some(Block::all(blocks))
}

/// The rates of the family's faults over all targets.
fn faults_of<'a>(summary: &'a Summary, one: &FamilyResult) -> Option<&'a Grouping> {
    let mut all = summary.groupings.iter();
    all.find(|own| {
        let whole = own.family.is_none() && summary.families.len() == 1;
        own.attribute == "point"
            && own.target.is_none()
            && (whole || own.family == Some(one.family))
    })
}

fn family(at: usize, one: &FamilyResult, grouping: &Grouping, summary: &Summary) -> Option<Block> {
    let mut worst: Vec<&GroupRow> =
        grouping.rows.iter().filter(|row| row.tally.rate.n >= ENOUGH).collect();
    worst.sort_by(|a, b| {
        b.tally.rate.value.partial_cmp(&a.tally.rate.value).unwrap_or(Ordering::Equal)
    });
    worst.truncate(DOTS);
    let first = worst.first()?;
    let title = format!(
        "{}: {} of {} changed the prediction",
        family_name(one.family),
        format::rate(&one.tally.rate),
        format::counted(one.tally.rate.n, "trial")
    );
    let about = format!("The worst is {} with {}.", first.name(), format::rate(&first.tally.rate));
    let chart_title = format!("The worst faults: {}", family_name(one.family).to_lowercase());
    let caption = Caption { id: &format!("glance-{at}"), title: &chart_title, about: &about };
    let rows: Vec<svg::Row<'_>> =
        worst.iter().map(|row| svg::Row { label: row.name(), rate: &row.tally.rate }).collect();
    let more = grouping.rows.len().saturating_sub(worst.len());
    let note = match more {
        0 => "How often the prediction changed.".to_owned(),
        more => format!("How often the prediction changed; {more} more under failure rates."),
    };
    let chart = Block::Chart(Chart {
        svg: dots(&caption, &rows, None),
        plot: Plot::Dots,
        caption: Some(note),
        ..Chart::default()
    });
    let stamps: Vec<Stamp> = worst
        .iter()
        .filter_map(|row| Some(stamp(row, telling(&summary.examples, row.name())?)))
        .take(WORST)
        .collect();
    if stamps.is_empty() {
        return Some(Block::titled(title, vec![chart]));
    }
    let pictures = Block::Pictures(Pictures::Stamps(stamps));
    Some(Block::titled(title, vec![Block::Beside(vec![chart, pictures])]))
}

/// The example of a fault that shows most: right before the fault, and changed the least.
fn telling<'a>(examples: &'a [Example], fault: &str) -> Option<&'a Example> {
    let of = examples.iter().filter(|one| one.fault == fault && one.outcome == "changed");
    of.min_by(|a, b| by_telling(a, b))
}

/// What shows most first: predictions that were right before the fault, then the least visible
/// change.
pub(super) fn by_telling(a: &Example, b: &Example) -> Ordering {
    let seen = |one: &Example| one.visual_change.unwrap_or(f64::INFINITY);
    let right_first = was_right(b).cmp(&was_right(a));
    right_first.then(seen(a).total_cmp(&seen(b))).then(a.number.cmp(&b.number))
}

/// Whether the clean prediction is right, as far as is known.
fn was_right(example: &Example) -> bool {
    let first = example.golden.first().map(|(label, _)| label);
    example.truth.as_ref().is_none_or(|truth| Some(truth) == first)
}

fn stamp(row: &GroupRow, example: &Example) -> Stamp {
    let mut pictures = Vec::new();
    for (caption, path) in [("clean", &example.before), ("with the fault", &example.after)] {
        if let Some(path) = path {
            pictures.push(Picture {
                source: Ok(path.clone()),
                alt: format!("The image {caption}"),
                caption: Some(caption),
            });
        }
    }
    Stamp {
        pictures,
        name: row.name().to_owned(),
        notes: vec![format::rate(&row.tally.rate), change(example)],
    }
}

/// "stop → yield", or the first object that changed.
fn change(example: &Example) -> String {
    if let Some(changes) = &example.changes {
        return changes.split("; ").next().unwrap_or_default().to_owned();
    }
    let before = example.golden.first().map_or("no prediction", |(label, _)| label);
    let after = example.observed.first().map_or("no prediction", |(label, _)| label);
    format!("{before} → {after}")
}
