//! Wrong predictions under image faults, by severity.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use faultlens_analysis::format;
use faultlens_analysis::{FaultErrors, Robustness};
use std::collections::BTreeSet;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    if summary.images.robustness.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::note(format!(
        "The share of predictions that are not the true class, by severity of the image fault; in \
         brackets: {} over all severities. Faults without severities are left out, and so are \
         cases that a guard skips.",
        input.interval
    ))];
    blocks.extend(summary.images.robustness.iter().map(group));
    Some(Block::all(blocks))
}

fn group(one: &Robustness) -> Block {
    let known = one.faults.iter().flat_map(|fault| &fault.errors);
    // Severities are positive, so that their bits have their order.
    let severities: BTreeSet<u64> = known.map(|(severity, _)| severity.to_bits()).collect();
    let severities: Vec<f64> = severities.into_iter().map(f64::from_bits).collect();
    let compared = one.reference.is_some();
    let mut columns = vec![Column::name("fault")];
    columns.extend(severities.iter().map(|one| Column::number(format::number(*one, 3))));
    columns.push(Column::number("all"));
    if compared {
        columns.push(Column::number("relative to the reference (CE)"));
    }
    let table = Table {
        caption: format!("Wrong predictions of {} by fault and severity", one.target),
        columns,
        rows: one.faults.iter().map(|fault| row(fault, &severities)).collect(),
        ..Table::default()
    };
    Block::titled(&one.target, vec![Block::List(lines(one)), Block::Table(table)])
}

fn lines(one: &Robustness) -> Vec<String> {
    let mut lines = vec![format!(
        "Without faults, {} of the predictions on {} are wrong.",
        format::rate(&one.clean),
        format::counted(one.clean.n, "labelled case")
    )];
    if let Some(mean) = &one.mean_accuracy {
        let kept = one.kept.as_ref().map(|kept| {
            format!(", which is {} of the accuracy without faults (rPC)", format::mean_share(kept))
        });
        lines.push(format!(
            "Mean accuracy under faults (mPC): {}{}.",
            format::mean_share(mean),
            kept.unwrap_or_default()
        ));
    }
    if one.unlike_severities {
        lines.push(
            "Not every fault was run at the same severities, so these means mix weak and strong \
             faults. Compare them only with runs that used the same severities."
                .to_owned(),
        );
    }
    if let (Some(relative), Some(reference)) = (&one.mean_relative, &one.reference) {
        let known = one.faults.iter().filter(|fault| fault.relative.is_some()).count() as u64;
        lines.push(format!(
            "Mean error relative to {reference} (mCE): {}, over {} under which {reference} errs.",
            format::mean_share(relative),
            format::counted(known, "fault")
        ));
    }
    lines
}

fn row(fault: &FaultErrors, severities: &[f64]) -> Row {
    let mut cells = vec![Cell::text(&fault.fault)];
    for severity in severities {
        let found = fault.errors.iter().find(|(own, _)| own == severity);
        cells.push(match found {
            Some((_, rate)) => Cell::percent(rate.value),
            None => Cell::number("", None),
        });
    }
    cells.push(Cell::rate(&fault.all));
    cells.push(Cell::percent(fault.relative));
    cells.into()
}
