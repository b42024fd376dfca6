//! Which faults lose trials, and why: a reason that hits one fault alone biases its rate.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use faultlens_analysis::{GroupRow, Grouping, Summary, format};
use std::collections::BTreeSet;

const ABOUT: &str = "Trials that could not be judged, by fault and reason. They are left out of all rates: a \
                     fault with a large share of skipped trials is measured on fewer cases than \
                     the others.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let grouping = by_fault(input.summary)?;
    let reasons: BTreeSet<&str> = grouping
        .rows
        .iter()
        .flat_map(|row| &row.tally.skipped)
        .filter(|(_, count)| **count > 0)
        .map(|(reason, _)| reason.as_str())
        .collect();
    if reasons.is_empty() {
        return None;
    }
    let mut columns = vec![Column::name(&grouping.attribute), Column::number("share skipped")];
    columns.extend(reasons.iter().map(|reason| Column::number(format::reason(reason))));
    let rows = grouping.rows.iter().filter(|row| row.tally.skipped_trials() > 0);
    let table = Table {
        caption: "Skipped trials by fault and reason".into(),
        columns,
        rows: rows.map(|group| row(group, &reasons)).collect(),
        sortable: true,
        keep_highest: Some(1),
        ..Table::default()
    };
    Some(Block::all(vec![Block::note(ABOUT), Block::Table(table)]))
}

/// The rates by fault; by fault and settings where the run has no others.
fn by_fault(summary: &Summary) -> Option<&Grouping> {
    let attributes = ["fault", "point"];
    attributes
        .iter()
        .find_map(|name| summary.groupings.iter().find(|grouping| grouping.attribute == *name))
}

fn row(group: &GroupRow, reasons: &BTreeSet<&str>) -> Row {
    let skipped = group.tally.skipped_trials();
    let share = skipped as f64 / group.tally.trials() as f64;
    let mut cells = vec![Cell::text(group.name()), Cell::percent(Some(share))];
    for reason in reasons {
        cells.push(Cell::count(group.tally.skipped.get(*reason).copied().unwrap_or(0)));
    }
    cells.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_analysis::Tally;

    #[test]
    fn rows_have_the_share_and_every_reason() {
        let tally = Tally {
            unchanged: 6,
            skipped: [("wrong".to_owned(), 1), ("unreadable".to_owned(), 1)].into(),
            ..Tally::default()
        };
        let group = GroupRow { key: "fog".into(), tally, ..GroupRow::default() };
        let cells = row(&group, &BTreeSet::from(["other", "unreadable", "wrong"])).cells;
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["fog", "25.0%", "0", "1", "1"]);
    }
}
