//! How many trials changed a numeric output by more than each threshold.

use super::Input;
use crate::document::{Block, Cell, Column, Reach, Table};
use faultlens_analysis::format;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    let first = summary.thresholds.first()?;
    let mut columns = vec![
        Column::name("fault"),
        Column::text("target"),
        Column::number("n").reaching(Reach::Page),
    ];
    for (threshold, _) in &first.rates {
        columns.push(Column::number(format!("beyond {}", format::number(*threshold, 6))));
    }
    let rows = summary.thresholds.iter().map(|row| {
        let mut cells = vec![
            Cell::text(&row.point),
            Cell::text(&row.target),
            Cell::count(row.rates.first().map_or(0, |(_, rate)| rate.n)),
        ];
        cells.extend(row.rates.iter().map(|(_, rate)| Cell::rate(rate)));
        cells.into()
    });
    let table = Table {
        caption: "Share of trials beyond each threshold".into(),
        columns,
        rows: rows.collect(),
        sortable: true,
        ..Table::default()
    };
    let note = format!(
        "Share of the judged trials whose output changed by more than each threshold. In brackets: \
         {}.",
        input.interval
    );
    Some(Block::all(vec![Block::note(note), Block::Table(table)]))
}
