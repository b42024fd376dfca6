//! What became of the trials.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Drawn, Reach, Table};
use crate::svg::{Caption, Segment, stack};
use faultlens_analysis::Tally;
use faultlens_analysis::format;

const WIDENED: &str = "Very small shares are drawn wider than they are.";
const UNWEIGHTED: &str = "Counts and shares are of trials as they ran; all rates are corrected for \
                          fault locations that were sampled more often than others.";

/// An outcome, in the order of reports.
struct Outcome {
    /// Its class in the style sheet.
    class: &'static str,
    name: &'static str,
    meaning: &'static str,
    count: u64,
}

fn outcomes(tally: &Tally) -> [Outcome; 6] {
    [
        Outcome {
            class: "o-unchanged",
            name: "unchanged",
            meaning: "the same prediction as without the fault (masked)",
            count: tally.unchanged,
        },
        Outcome {
            class: "o-changed",
            name: "changed",
            meaning: "another prediction without any sign of an error: silent data corruption, SDC",
            count: tally.changed,
        },
        Outcome {
            class: "o-detected",
            name: "detected",
            meaning: "not finite, or rejected: a detected unrecoverable error, DUE",
            count: tally.detected,
        },
        Outcome {
            class: "o-crashed",
            name: "crashed",
            meaning: "no prediction",
            count: tally.crashed,
        },
        Outcome {
            class: "o-timed-out",
            name: "timed out",
            meaning: "no prediction in time",
            count: tally.timed_out,
        },
        Outcome {
            class: "o-skipped",
            name: "skipped",
            meaning: "not judged, and left out of all rates",
            count: tally.skipped_trials(),
        },
    ]
}

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let tally = &input.summary.overall;
    let trials = tally.trials();
    if trials == 0 {
        return None;
    }
    let outcomes = outcomes(tally);
    let mut blocks = vec![Block::Chart(chart(&outcomes, input.summary.weighted))];
    let mut beside = vec![Block::Table(table(&outcomes, trials))];
    let reasons = tally.skipped.iter().filter(|(_, count)| **count > 0);
    let reasons: Vec<(String, String)> =
        reasons.map(|(reason, count)| (format::reason(reason), format::count(*count))).collect();
    if !reasons.is_empty() {
        beside.push(Block::titled("Why trials were skipped", vec![Block::Facts(reasons)]));
    }
    blocks.push(if beside.len() > 1 { Block::Beside(beside) } else { Block::all(beside) });
    Some(Block::all(blocks))
}

fn chart(outcomes: &[Outcome], weighted: bool) -> Chart {
    let segments: Vec<Segment<'_>> = outcomes
        .iter()
        .map(|one| Segment { label: one.name, class: one.class, count: one.count })
        .collect();
    let about: Vec<String> = outcomes
        .iter()
        .filter(|one| one.count > 0)
        .map(|one| format!("{} {}", format::count(one.count), one.name))
        .collect();
    let about = about.join(", ") + ".";
    let caption = Caption { id: "outcomes-chart", title: "Outcomes of all trials", about: &about };
    let (svg, widened) = stack(&caption, &segments);
    let mut notes = Vec::new();
    if widened {
        notes.push(WIDENED);
    }
    if weighted {
        notes.push(UNWEIGHTED);
    }
    let caption = (!notes.is_empty()).then(|| notes.join(" "));
    Chart { svg, caption, ..Chart::default() }
}

fn table(outcomes: &[Outcome], trials: u64) -> Table {
    Table {
        caption: "Outcomes of all trials".into(),
        columns: vec![
            Column::name("Outcome"),
            Column::text("Meaning").reaching(Reach::Page),
            Column::number("Trials").reaching(Reach::Terminal),
            Column::number("Share").reaching(Reach::Terminal),
        ],
        rows: outcomes
            .iter()
            .map(|one| {
                let share = one.count as f64 / trials as f64;
                vec![
                    Cell { swatch: Some(one.class), ..Cell::text(one.name) },
                    Cell::text(one.meaning),
                    Cell::count(one.count),
                    Cell {
                        drawn: (one.count > 0).then_some(Drawn::Share(share)),
                        ..Cell::percent(Some(share))
                    },
                ]
                .into()
            })
            .collect(),
        ..Table::default()
    }
}
