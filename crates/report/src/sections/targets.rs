//! The targets with their accuracy on clean inputs.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use crate::prose::{self, family_name};
use faultlens_analysis::format;
use faultlens_analysis::{Family, Summary, TargetSummary};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    if summary.targets.is_empty() {
        return None;
    }
    let mut columns = vec![
        Column::name("Target"),
        Column::text("Model"),
        Column::number("Accuracy without faults"),
        Column::number("Trials"),
    ];
    // What disturbs different things is in no rate together.
    let families: Vec<Family> = summary.families.iter().map(|one| one.family).collect();
    if families.len() < 2 {
        columns.push(Column::number("Changed predictions"));
    }
    for family in families.iter().filter(|_| families.len() > 1) {
        columns.push(Column::number(format!("Changed, {}", family_name(*family).to_lowercase())));
    }
    let rows = summary.targets.iter().map(|target| row(target, &families, summary));
    Some(Block::Table(Table {
        caption: "Targets with their accuracy without faults and their failure rate".into(),
        columns,
        rows: rows.collect(),
        ..Table::default()
    }))
}

fn row(target: &TargetSummary, families: &[Family], summary: &Summary) -> Row {
    let mut cells = vec![
        Cell::text(&target.name),
        Cell::text(&target.model),
        Cell::text(prose::detection::clean_quality(target, summary)),
        Cell::count(target.tally.trials()),
    ];
    if families.len() < 2 {
        cells.push(Cell::rate(&target.tally.rate));
    }
    for family in families.iter().filter(|_| families.len() > 1) {
        cells.push(match target.families.get(family) {
            Some(rate) => Cell::rate(rate),
            None => Cell::text(format::NONE),
        });
    }
    cells.into()
}
