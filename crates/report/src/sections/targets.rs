//! The targets with their accuracy on clean inputs.

use super::Input;
use crate::document::{Block, Cell, Column, Table};
use crate::prose;
use faultlens_analysis::format;
use faultlens_analysis::{Summary, TargetSummary};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    if summary.targets.is_empty() {
        return None;
    }
    Some(Block::Table(Table {
        caption: "Targets with their accuracy without faults and their failure rate".into(),
        columns: vec![
            Column::name("Target"),
            Column::text("Model"),
            Column::number("Accuracy without faults"),
            Column::number("Trials"),
            Column::number("Changed predictions"),
        ],
        rows: summary
            .targets
            .iter()
            .map(|target| {
                vec![
                    Cell::text(&target.name),
                    Cell::text(&target.model),
                    Cell::text(accuracy(target, summary)),
                    Cell::count(target.tally.trials()),
                    Cell::rate(&target.tally.rate),
                ]
                .into()
            })
            .collect(),
        ..Table::default()
    }))
}

/// Classifiers have an accuracy, detectors an average precision.
fn accuracy(target: &TargetSummary, summary: &Summary) -> String {
    if let Some(accuracy) = &target.accuracy {
        return format::rate(accuracy);
    }
    let detection = summary.images.detection.iter().find(|one| one.target == target.name);
    let precision = detection.and_then(|one| prose::detection::average_precision(&one.clean));
    precision.unwrap_or_else(|| "not known".into())
}
