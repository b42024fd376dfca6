//! What defences are worth.

use super::Input;
use crate::document::{Block, Cell, Column, Table};
use faultlens_analysis::Benefit;

const ABOUT: &str = "Rates without the defence minus rates with it, on the same faulty images, in \
                     percentage points with Newcombe's paired intervals: above 0, the defence \
                     helps. Changed: not the target's own clean prediction. Wrong: not the label.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let benefits = &input.summary.images.benefits;
    if benefits.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::note(ABOUT)];
    blocks.extend(benefits.iter().map(group));
    Some(Block::all(blocks))
}

fn group(one: &Benefit) -> Block {
    let clean = match one.clean.value {
        Some(_) => format!(
            "; on clean images, {} percentage points fewer wrong predictions",
            Cell::points(&one.clean).text
        ),
        None => String::new(),
    };
    let note = format!("{} compared with {}{clean}.", one.defences, one.plain);
    let rows = one.all.iter().chain(&one.rows).map(|row| {
        vec![Cell::text(&row.fault), Cell::points(&row.changed), Cell::points(&row.wrong)].into()
    });
    let table = Table {
        caption: format!("Benefit of the defences of {} by fault", one.defended),
        columns: vec![
            Column::name("fault"),
            Column::number("fewer changed"),
            Column::number("fewer wrong"),
        ],
        rows: rows.collect(),
        sortable: true,
        ..Table::default()
    };
    Block::titled(&one.defended, vec![Block::note(note), Block::Table(table)])
}
