//! What protections of models prevent and cost, where `faultlens protect` was run.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use faultlens_analysis::format;
use faultlens_analysis::protection::{Evaluated, RANGES, TargetAdvice};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let advice = input.protections.as_ref()?;
    let mut lines = advice.findings.clone();
    lines.extend(advice.warnings.iter().cloned());
    let mut blocks = vec![Block::List(lines)];
    blocks.extend(advice.targets.iter().map(|one| target(one, &input.interval)));
    Some(Block::all(blocks))
}

fn target(target: &TargetAdvice, interval: &str) -> Block {
    let note = Block::note(format!(
        "Without protection, {} of the trials changed the prediction. In brackets: {interval}.",
        format::rate(&target.broken)
    ));
    let table = Table {
        caption: format!("Protections of {}: what they prevent and what they cost", target.name),
        columns: vec![
            Column::name("Protection"),
            Column::number("Changed with it"),
            Column::number("Changes prevented"),
            Column::number("Made worse"),
            Column::number("Extra compute"),
            Column::number("Clean predictions changed"),
        ],
        rows: target.protections.iter().map(row).collect(),
        ..Table::default()
    };
    Block::titled(&target.name, vec![note, Block::Table(table)])
}

fn row(one: &Evaluated) -> Row {
    let alarms = match &one.false_alarms {
        Some(alarms) => format::rate(&alarms.changed),
        None if one.protection == RANGES => "not known".to_owned(),
        None => "none".to_owned(),
    };
    vec![
        Cell::text(&one.label),
        Cell::rate(&one.after),
        Cell::rate(&one.stopped),
        Cell::count(one.worse),
        Cell::percent(Some(one.cost.share)),
        Cell::text(alarms),
    ]
    .into()
}
