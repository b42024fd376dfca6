//! Survival models side by side.

use super::SurvivalRow;
use crate::document::{Cell, Column, Reach, Row, Table};
use faultlens_analysis::format;

/// The models with their criteria and measures; `chosen` marks the one that is used.
pub(crate) fn table(rows: &[SurvivalRow], chosen: &'static str) -> Table {
    let on_page = |title: &str| Column::number(title).reaching(Reach::Page);
    Table {
        caption: "Criteria and measures of each model on training and test rows".into(),
        columns: vec![
            Column::name("Model"),
            Column::number("AIC"),
            on_page("BIC"),
            on_page("Concordance"),
            Column::number("Concordance, test"),
            on_page("ICI"),
            Column::number("ICI, test"),
            on_page("E50"),
            Column::number("E50, test"),
        ],
        rows: rows.iter().map(|row| model(row, chosen)).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn model(row: &SurvivalRow, chosen: &'static str) -> Row {
    let mut cells = vec![Cell { note: row.error.clone(), ..Cell::text(&row.model) }];
    for (at, value) in row.values.into_iter().enumerate() {
        // The first two are information criteria in units, the others measures from 0 to 1.
        let digits = if at < 2 { 1 } else { 3 };
        let text = value.map_or(format::NONE.to_owned(), |value| format!("{value:.digits$}"));
        cells.push(Cell::number(text, value));
    }
    Row { cells, chosen: row.chosen.then_some(chosen), ..Row::default() }
}
