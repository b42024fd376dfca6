//! Targets side by side under image faults.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use crate::svg::step;
use faultlens_analysis::format;
use faultlens_analysis::{Rate, SideBySide};

const ABOUT: &str = "The share of judged trials that changed the prediction, over all settings of \
                     an image fault; darker is higher. Rejected images count as changed, failed \
                     calls do not count. Means give every fault, or target, the same weight and \
                     leave out controls. Hover over a number for its interval.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let table = input.summary.images.side_by_side.as_ref()?;
    // A single target stands beside nothing; its rates are with the failure rates.
    (table.targets.len() > 1)
        .then(|| Block::all(vec![Block::note(ABOUT), Block::Table(rates(table))]))
}

fn rates(table: &SideBySide) -> Table {
    let several = table.targets.len() > 1;
    let mut columns = vec![Column::name("fault")];
    columns.extend(table.targets.iter().map(Column::number));
    if several {
        columns.push(Column::number("mean"));
    }
    let mut rows: Vec<Row> = Vec::new();
    for row in &table.rows {
        let name = Cell::text(&row.fault);
        let mut cells = vec![if row.control { name.with_note("control") } else { name }];
        cells.extend(row.cells.iter().map(|rate| shaded_rate(rate.as_ref())));
        cells.push(shaded(row.mean));
        rows.push(cells.into());
    }
    let mean = |title: &str, means: &[Option<f64>]| -> Row {
        let mut cells = vec![Cell::text(title)];
        cells.extend(means.iter().map(|mean| shaded(*mean)));
        cells.push(Cell::default());
        cells.into()
    };
    Table {
        caption: "Changed predictions by fault and target".into(),
        columns,
        rows,
        totals: vec![
            mean("mean", &table.means),
            mean("mean at the lowest severity", &table.initial_means),
        ],
        sortable: true,
        class: Some("shaded"),
        ..Table::default()
    }
}

fn shaded_rate(rate: Option<&Rate>) -> Cell {
    let Some(rate) = rate else { return shaded(None) };
    Cell {
        hint: Some(format!("{}, n = {}", format::rate(rate), format::count(rate.n))),
        ..shaded(rate.value)
    }
}

fn shaded(share: Option<f64>) -> Cell {
    Cell { shade: Some(step(share.unwrap_or(0.0), 1.0)), ..Cell::percent(share) }
}
