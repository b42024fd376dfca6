//! What searches for the bits that change a prediction found.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use crate::svg::score;
use faultlens_analysis::format;
use faultlens_analysis::{CriticalBits, CriticalLayer};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    if summary.model.critical.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::note(format!(
        "Each search takes one element and finds, by bisection, all of its bits whose flip changes \
         the prediction or makes it non-finite: it assumes that every bit above a critical bit is \
         critical, too. Searches are in no other rate. In brackets: {} intervals over elements.",
        format::limit(summary.intervals.level.confidence())
    ))];
    blocks.extend(summary.model.critical.iter().map(group));
    Some(Block::all(blocks))
}

fn group(found: &CriticalBits) -> Block {
    let layers = found.layers.iter().chain([&found.all]);
    let most = layers.clone().filter_map(|layer| layer.mean.value).fold(0.0, f64::max);
    let title = format!("{}, {}", found.target, found.point);
    let table = Table {
        caption: format!("Critical bits by layer, {title}"),
        columns: vec![
            Column::name("layer"),
            Column::number("elements"),
            Column::number("critical bits per element"),
            Column::number("share of all flips"),
            Column::drawing("Critical bits, drawn"),
        ],
        rows: layers.map(|layer| row(layer, most)).collect(),
        ..Table::default()
    };
    let unexpected = &found.unexpected;
    let lines = vec![
        format!(
            "{} queries instead of {} for every bit: {} times fewer.",
            format::count(found.queries),
            format::count(found.exhaustive),
            format::number(found.exhaustive as f64 / found.queries.max(1) as f64, 2)
        ),
        format!(
            "{} of {} bits that were checked contradict the assumption of the search: {}. If this \
             share is high, the numbers above are rough.",
            format::count(unexpected.events),
            format::count(unexpected.n),
            format::rate(unexpected)
        ),
    ];
    Block::titled(title, vec![Block::Table(table), Block::List(lines)])
}

fn row(layer: &CriticalLayer, most: f64) -> Row {
    let name = match layer.layer {
        Some(number) => format::layer(number, &layer.name),
        None => "all layers".into(),
    };
    let share = if most > 0.0 { layer.mean.value.unwrap_or(0.0) / most } else { 0.0 };
    vec![
        Cell::text(name),
        Cell::count(layer.mean.n),
        Cell::number(format::mean(&layer.mean), layer.mean.value),
        Cell::rate(&layer.share),
        Cell::svg(score(share)),
    ]
    .into()
}
