//! Whether predictions stay as they should under changes that people tolerate.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Key, Mark, Plot, Reach, Row, Table};
use crate::prose::preserve as prose;
use crate::svg::{At, Axis, Caption, STYLES, Scale, Shape, Trace, Xy, xy};
use faultlens_analysis::format;
use faultlens_analysis::{BatchRule, ChangeBin, Preserved};
use std::collections::BTreeSet;

/// The line style of people; targets have those before it.
const PEOPLE: usize = STYLES - 2;

const INDICES: &str = " HMRI: the share of human performance over visual change that the target \
                       reaches, too; MRSI: the share of the target's performance beyond people.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let all = &input.summary.checks.preserved;
    let requirements: BTreeSet<(&str, &str)> =
        all.iter().map(|one| (one.requirement.as_str(), one.what.as_str())).collect();
    let mut groups = Vec::new();
    for (at, (requirement, what)) in requirements.into_iter().enumerate() {
        let own: Vec<&Preserved> =
            all.iter().filter(|one| one.requirement == requirement && one.what == what).collect();
        groups.extend(group(at, &own));
    }
    (!groups.is_empty()).then_some(Block::all(groups))
}

/// One requirement, over all faults and targets.
fn group(at: usize, own: &[&Preserved]) -> Option<Block> {
    let first = own.first()?;
    let correctness = first.what == "correctness";
    let faults: BTreeSet<&str> = own.iter().map(|one| one.fault.as_str()).collect();
    let mut charts = Vec::new();
    for (place, fault) in faults.into_iter().enumerate() {
        let of_fault: Vec<&Preserved> =
            own.iter().copied().filter(|one| one.fault == fault).collect();
        charts.push(chart(&format!("preserve-{at}-{place}"), fault, &of_fault));
    }
    let mut note = about(first);
    if correctness {
        note.push_str(INDICES);
    }
    Some(Block::titled(
        &first.requirement,
        vec![Block::note(note), Block::Table(table(own, correctness)), Block::Charts(charts)],
    ))
}

fn about(one: &Preserved) -> String {
    let compared = if one.what == "correctness" {
        "the score on changed images is compared with that on their originals"
    } else {
        "the share of unchanged predictions is compared with that on the least changed images (the \
         lowest 5% of visual change)"
    };
    let decides = if one.rule == "batches" {
        format!("The {} decides", prose::BATCH_RULE)
    } else {
        format!(
            "The requirement is met where the whole interval lies above −{margin} points, the \
             non-inferiority margin, and not met where it lies below; this speaks of new images, \
             and fewer than 10 images say nothing about them",
            margin = prose::margin(one)
        )
    };
    let batches = one.batch_rule.as_ref().map(batches).unwrap_or_default();
    let ends = match (one.ends.is_empty(), one.both_ends) {
        (true, _) => "no interval of it is known, and it is taken as exact",
        (false, true) => "a verdict that differs between the ends of its interval is inconclusive",
        (false, false) => "taken as published, with what the ends of its interval would change",
    };
    format!(
        "Within the visual change that people tolerate, {compared}. The difference is the reached \
         score minus the required one, in percentage points, a mean over images with its \
         interval among new images at {} confidence (Student's t by image, widened to Gaffke's \
         bound at the lower end, and with fewer than 50 images at both). {decides}.{batches} Human tolerance: {}; {ends}.",
        format::limit(1.0 - 2.0 * image_alpha(one)),
        one.source
    )
}

/// One end of the interval by image: the requirement's own error, or that of a 95% interval where
/// batches decide.
fn image_alpha(one: &Preserved) -> f64 {
    if one.rule == "batches" { 0.025 } else { one.alpha }
}

/// How the paper's rule was applied.
fn batches(rule: &BatchRule) -> String {
    format!(
        " The {}: {} batches of {} images, each with one changed version; the distance is the \
         required score minus the reached one with one-sided {} bounds over batches, and must be \
         at most {}.",
        prose::BATCH_RULE,
        format::count(rule.batches.number),
        rule.batches.size,
        format::limit(1.0 - rule.alpha),
        prose::in_points(rule.margin)
    )
}

fn table(own: &[&Preserved], correctness: bool) -> Table {
    let targets: BTreeSet<&str> = own.iter().map(|one| one.target.as_str()).collect();
    let ranked = targets.len() > 1;
    let mut columns = vec![
        Column::text("verdict"),
        Column::name("fault"),
        Column::text("target"),
        Column::number("tolerated"),
        Column::number("images"),
        Column::number("versions").reaching(Reach::Page),
        Column::number("required"),
        Column::number("reached"),
        Column::number("difference, new images"),
        Column::text(prose::BATCH_RULE).reaching(Reach::Page),
    ];
    if ranked {
        columns.push(Column::number("rank").reaching(Reach::Page));
    }
    if ranked && correctness {
        columns.push(Column::number("rank by accuracy").reaching(Reach::Page));
    }
    if correctness {
        columns.push(Column::number("HMRI").reaching(Reach::Page));
        columns.push(Column::number("MRSI").reaching(Reach::Page));
    }
    Table {
        caption: own.first().map(|one| one.requirement.clone()).unwrap_or_default(),
        columns,
        rows: own.iter().map(|one| row(one, ranked, correctness)).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn row(one: &Preserved, ranked: bool, correctness: bool) -> Row {
    let interval = one.tolerated_interval.map(|(low, high)| format!(" [{low:.2}, {high:.2}]"));
    let tolerated = format!("≤ {:.2}{}", one.tolerated, interval.unwrap_or_default());
    let batches = one.batch_rule.as_ref().map_or(format::NONE.into(), prose::batch_verdict);
    let mut cells = vec![
        Cell::verdict(one.verdict),
        Cell::text(&one.fault),
        Cell::text(&one.target),
        Cell::number(tolerated, Some(one.tolerated)),
        Cell::count(one.images),
        Cell::count(one.versions),
        Cell::percent(one.required),
        Cell::percent(one.reached),
        Cell::number(prose::difference(one), one.difference.map(|difference| difference.value)),
        Cell::text(batches),
    ];
    let ranks = one.ranks.as_ref();
    if ranked {
        cells.push(rank(ranks.map(|ranks| ranks.difference)));
    }
    if ranked && correctness {
        cells.push(rank(ranks.and_then(|ranks| ranks.accuracy)));
    }
    if correctness {
        cells.push(Cell::percent(one.diagnosis.hmri));
        cells.push(Cell::percent(one.diagnosis.mrsi));
    }
    cells.into()
}

fn rank(rank: Option<u64>) -> Cell {
    Cell::text(rank.map_or(format::NONE.to_owned(), |rank| rank.to_string()))
}

/// One fault: scores by visual change, and how many versions there are of each.
fn chart(id: &str, fault: &str, own: &[&Preserved]) -> Chart {
    let scores: Vec<Vec<At>> =
        own.iter().map(|one| one.diagnosis.curve.iter().filter_map(score_at).collect()).collect();
    let bins = own.first().map(|one| one.diagnosis.curve.as_slice()).unwrap_or_default();
    let people: Vec<At> = bins
        .iter()
        .filter_map(|bin| Some(At { x: middle(bin), y: bin.people?, interval: None }))
        .collect();
    let mut traces: Vec<Trace<'_>> = Vec::new();
    for (at, (one, points)) in own.iter().zip(&scores).enumerate() {
        let style = at % PEOPLE;
        traces.push(Trace { name: &one.target, shape: Shape::Line, points, style });
    }
    if !people.is_empty() {
        let shape = Shape::Line;
        traces.push(Trace { name: "people", shape, points: &people, style: PEOPLE });
    }
    let legend = traces
        .iter()
        .map(|trace| Key { mark: Mark::Line(trace.style), text: trace.name.to_owned() })
        .collect();
    let tolerated = own.first().map(|one| one.tolerated);
    let y = Axis { name: "score", scale: Scale::Shares, most: 1.0 };
    let title = format!("Score by visual change: {fault}");
    let curve = along_change(&format!("{id}-s"), &title, &traces, y, tolerated);
    let steps = histogram(bins);
    let most = bins.iter().map(|bin| bin.n).max().unwrap_or(1) as f64;
    let y = Axis { name: "versions", scale: Scale::Numbers, most };
    let versions = [Trace { name: "versions", shape: Shape::Steps, points: &steps, style: 0 }];
    let title = format!("Versions by visual change: {fault}");
    let counts = along_change(&format!("{id}-h"), &title, &versions, y, tolerated);
    Chart {
        svg: curve + &counts,
        plot: Plot::Xy,
        title: Some(fault.to_owned()),
        legend,
        notes: own.iter().flat_map(|one| diagnosis(one, own.len() > 1)).collect(),
        ..Chart::default()
    }
}

fn middle(bin: &ChangeBin) -> f64 {
    0.5 * (bin.from + bin.to)
}

fn score_at(bin: &ChangeBin) -> Option<At> {
    let interval = Some((bin.score.low, bin.score.high));
    Some(At { x: middle(bin), y: bin.score.value?, interval })
}

fn along_change(
    id: &str,
    title: &str,
    traces: &[Trace<'_>],
    y: Axis<'_>,
    tolerated: Option<f64>,
) -> String {
    let x = Axis { name: "visual change", scale: Scale::Numbers, most: 1.0 };
    let about = "People tolerate what lies left of the dashed line.";
    let caption = Caption { id, title, about };
    xy(&caption, &Xy { traces, x, y, diagonal: false, limit: tolerated })
}

/// Steps as high as there are versions.
fn histogram(bins: &[ChangeBin]) -> Vec<At> {
    let mut steps: Vec<At> =
        bins.iter().map(|bin| At { x: bin.from, y: bin.n as f64, interval: None }).collect();
    steps.extend(bins.last().map(|bin| At { x: bin.to, y: 0.0, interval: None }));
    steps
}

/// What stands out, in sentences.
fn diagnosis(one: &Preserved, several: bool) -> Vec<String> {
    let who = if several { format!("{}: ", one.target) } else { String::new() };
    let mut lines = vec![format!("{who}{}, {}.", one.verdict.text(), prose::preserved_reason(one))];
    lines.extend(prose::tolerance_ends(one).map(|ends| format!("{who}{ends}.")));
    lines.extend(prose::batch_rule(one).map(|rule| format!("{who}{rule}.")));
    if let Some(from) = one.diagnosis.below_people_from {
        lines.push(format!("{who}below people from a visual change of {from:.2} on."));
    }
    let mut classes = Vec::new();
    for worst in &one.diagnosis.worst {
        let before = worst.before.map(|before| format!("{}% → ", format::percent(before)));
        let before = before.unwrap_or_default();
        classes.push(format!("{} ({before}{}%)", worst.class, format::percent(worst.after)));
    }
    if !classes.is_empty() {
        lines.push(format!("{who}the classes that lose the most: {}.", classes.join(", ")));
    }
    if one.images_outside > 0 {
        lines.push(format!(
            "{who}{} left out, because people tolerate none of their versions.",
            format::counted(one.images_outside, "image")
        ));
    }
    if one.out_of_reach > 0 {
        lines.push(format!(
            "{who}no severity with the wanted visual change was found for {}.",
            format::counted(one.out_of_reach, "trial")
        ));
    }
    lines
}
