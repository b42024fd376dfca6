//! Parts of a model by the share of all changed predictions that each accounts for.

use super::Input;
use crate::document::{Block, Cell, Column, Reach, Table};
use crate::svg::score;
use faultlens_analysis::Ranking;
use faultlens_analysis::format;

/// Rows of a ranking; the rest accounts for little.
const MOST_RANKED: usize = 20;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    if summary.model.rankings.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::note(format!(
        "The share of all changed predictions that each part accounts for in the sampled trials, \
         and the share that protecting it and all parts above it would prevent. In brackets: {}.",
        input.interval
    ))];
    let several = summary.targets.len() > 1;
    blocks.extend(summary.model.rankings.iter().map(|ranking| group(ranking, several)));
    Some(Block::all(blocks))
}

fn group(ranking: &Ranking, several: bool) -> Block {
    let parts = if ranking.attribute == "layer" { "Layers" } else { "Operators" };
    let title = if several { format!("{parts} of {}", ranking.target) } else { parts.to_owned() };
    let rows = ranking.rows.iter().take(MOST_RANKED).map(|row| {
        vec![
            Cell::text(&row.name),
            Cell::count(row.share.events),
            Cell::rate(&row.share),
            Cell::rate(&row.together),
            Cell::svg(score(row.together.value.unwrap_or(0.0))),
        ]
        .into()
    });
    let table = Table {
        caption: format!("{title} by their share of the changed predictions"),
        columns: vec![
            Column::name(&ranking.attribute),
            Column::number("changed predictions").reaching(Reach::Page),
            Column::number("share"),
            Column::number("cumulative share"),
            Column::drawing("Cumulative share, drawn"),
        ],
        rows: rows.collect(),
        ..Table::default()
    };
    let mut blocks = vec![Block::Table(table)];
    let left = ranking.rows.len().saturating_sub(MOST_RANKED) as u64;
    let untouched = ranking.of - ranking.rows.len() as u64;
    let mut more = Vec::new();
    if left > 0 {
        more.push(format!("{} more with a smaller share", format::count(left)));
    }
    if untouched > 0 {
        more.push(format!("{} without a changed prediction", format::count(untouched)));
    }
    if !more.is_empty() {
        blocks.push(Block::note(format!("{}.", more.join(", "))));
    }
    Block::titled(title, blocks)
}
