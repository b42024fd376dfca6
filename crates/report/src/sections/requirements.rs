//! Requirements with their verdicts, the measured rates and the limits.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use crate::prose::checks;
use crate::svg::{Caption, against_limit};
use faultlens_analysis::Checked;
use faultlens_analysis::format;
use faultlens_spec::Population;

const CAUTIOUS: &str = "Verdicts use a more cautious interval than the rest of this report, since a \
                        rare kind of image that always fails may not be among those tested.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let requirements = &input.summary.checks.requirements;
    if requirements.is_empty() {
        return None;
    }
    let table = Block::Table(Table {
        caption: "Requirements with their verdicts, the measured rates and the limits".into(),
        columns: vec![
            Column::text("Verdict"),
            Column::name("Requirement"),
            Column::number("Measured [interval]"),
            Column::number("Limit"),
            Column::drawing("Interval against limit"),
        ],
        rows: requirements.iter().enumerate().map(|(at, checked)| row(at, checked)).collect(),
        class: Some("requirements"),
        ..Table::default()
    });
    let about_new = |one: &Checked| one.population == Population::NewImages;
    if !requirements.iter().any(about_new) {
        return Some(table);
    }
    Some(Block::all(vec![table, Block::note(CAUTIOUS)]))
}

fn row(at: usize, checked: &Checked) -> Row {
    let rate = checks::measured(checked);
    let limit = checks::allowed(checked);
    let about = format!("Measured {rate}, limit {limit}: {}.", checked.verdict.text());
    let title = format!("Interval against limit: {}", checked.requirement);
    let caption = Caption { id: &format!("limit-{at}"), title: &title, about: &about };
    let chart = against_limit(&caption, &checked.rate, checked.limit, &limit);
    let of = format!("{} of {}", format::count(checked.rate.events), format::count(checked.rate.n));
    vec![
        Cell::verdict(checked.verdict),
        Cell::text(&checked.requirement).with_note(checks::requirement_reason(checked)),
        Cell::text(rate).with_note(of),
        Cell::text(limit),
        Cell { verdict: Some(checked.verdict), ..Cell::svg(chart) },
    ]
    .into()
}
