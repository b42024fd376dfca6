//! Pinned trials, replayed.

use super::Input;
use crate::document::{Block, Cell, Column, Table};
use crate::prose::checks;
use faultlens_analysis::format;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let pins = &input.summary.checks.pinned;
    if pins.is_empty() {
        return None;
    }
    Some(Block::Table(Table {
        caption: "Pinned trials, replayed".into(),
        columns: vec![
            Column::text("Verdict"),
            Column::name("Pin"),
            Column::text("Outcome"),
            Column::text("Trial"),
        ],
        rows: pins
            .iter()
            .map(|pin| {
                vec![
                    Cell::verdict(pin.verdict),
                    Cell::text(&pin.name),
                    Cell::text(format::outcome(&pin.outcome)),
                    Cell::text(&pin.what).with_note(checks::pin_reason(pin)),
                ]
                .into()
            })
            .collect(),
        ..Table::default()
    }))
}
