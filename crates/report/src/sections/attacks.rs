//! How attacks fared, and how many predictions survive them.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Key, Mark, Plot, Row, Table};
use crate::svg::{At, Axis, Caption, STYLES, Scale, Shape, Trace, Xy, xy};
use faultlens_analysis::AttackResult;
use faultlens_analysis::format;

/// Lines whose intervals are drawn as bands; more of them would hide each other.
const MOST_BANDS: usize = 2;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let attacks = &input.summary.attacks.results;
    if attacks.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::note(
            "Changed: cases whose prediction the attack changed within its budget. Queries and CPU \
             time until then, and the distance of the closest adversarial image (by the attack's \
             own norm, pixels from 0 to 1), are medians over those cases. Rejected: the target \
             refused the last image.",
        ),
        Block::Table(table(attacks)),
    ];
    let by_target = attacks.chunk_by(|a, b| a.target == b.target);
    blocks.extend(by_target.enumerate().filter_map(|(at, own)| survival(at, own)));
    Some(Block::all(blocks))
}

fn table(attacks: &[AttackResult]) -> Table {
    Table {
        caption: "Attacks by target".into(),
        columns: vec![
            Column::name("target"),
            Column::text("attack"),
            Column::text("uses"),
            Column::number("changed"),
            Column::number("success rate"),
            Column::number("rejected"),
            Column::number("queries"),
            Column::number("distance"),
            Column::number("time"),
        ],
        rows: attacks.iter().map(row).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn row(one: &AttackResult) -> Row {
    let rate = &one.changed;
    let changed = format!("{} of {}", format::count(rate.events), format::count(rate.n));
    let time = one.cpu_seconds.map(|seconds| format!("{} ms", format::number(1e3 * seconds, 3)));
    vec![
        Cell::text(&one.target),
        Cell::text(&one.attack),
        Cell::text(&one.needs),
        Cell::number(changed, rate.value),
        Cell::rate(rate),
        Cell::count(one.rejected),
        median(one.queries),
        median(one.distance),
        Cell::number(time.unwrap_or_else(|| format::NONE.into()), one.cpu_seconds),
    ]
    .into()
}

fn median(value: Option<f64>) -> Cell {
    let text = value.map_or_else(|| format::NONE.into(), |value| format::number(value, 3));
    Cell::number(text, value)
}

/// Of each attack the settings that changed the most predictions, as many as line styles can
/// distinguish.
fn strongest(attacks: &[AttackResult]) -> Vec<&AttackResult> {
    let mut drawn: Vec<&AttackResult> = Vec::new();
    for one in attacks.iter().filter(|one| !one.survival.is_empty()) {
        let name = one.attack.split(' ').next();
        match drawn.iter_mut().find(|other| other.attack.split(' ').next() == name) {
            Some(other) if other.changed.events >= one.changed.events => {}
            Some(other) => *other = one,
            None => drawn.push(one),
        }
    }
    drawn.truncate(STYLES);
    drawn
}

/// Kaplan and Meier's estimate of the share of predictions that survive so many queries. `None`
/// where all attacks are single shots.
fn survival(at: usize, attacks: &[AttackResult]) -> Option<Block> {
    let drawn = strongest(attacks);
    let target = &drawn.first()?.target;
    let banded = drawn.len() <= MOST_BANDS;
    let mut points: Vec<Vec<At>> = Vec::new();
    for own in &drawn {
        let mut line = vec![At { x: 0.0, y: 1.0, interval: None }];
        line.extend(own.survival.iter().map(|one| At {
            x: one.queries.max(1.0).log10(),
            y: one.share,
            interval: banded.then_some((one.low, one.high)),
        }));
        points.push(line);
    }
    let mut traces = Vec::new();
    let mut legend = Vec::new();
    for (style, (own, points)) in drawn.iter().zip(&points).enumerate() {
        traces.push(Trace { name: &own.attack, shape: Shape::Steps, points, style });
        legend.push(Key { mark: Mark::Line(style), text: own.attack.clone() });
    }
    let most = points.iter().flatten().map(|at| at.x).fold(1.0, f64::max);
    let title = format!("{target}: predictions that survive N queries");
    let caption = Caption { id: &format!("standing-{at}"), title: &title, about: &title };
    let x = Axis { name: "queries", scale: Scale::Powers, most };
    let y = Axis { name: "surviving predictions", scale: Scale::Shares, most: 1.0 };
    let svg = xy(&caption, &Xy { traces: &traces, x, y, diagonal: false, limit: None });
    let note =
        "Kaplan-Meier estimate; of each attack the settings that changed the most predictions.";
    let chart = Chart { svg, plot: Plot::Xy, ..Chart::default() };
    Some(Block::titled(title, vec![Block::note(note), Block::Legend(legend), Block::Chart(chart)]))
}
