//! Whether predictions are as good for all groups of cases.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Group, Plot, Row, Table};
use crate::svg::{self, Caption, dots};
use faultlens_analysis::format;
use faultlens_analysis::{FairPoint, Fairness};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let groups: Vec<Block> = input
        .summary
        .images
        .fairness
        .iter()
        .enumerate()
        .map(|(at, one)| group(at, one, &input.interval))
        .collect();
    (!groups.is_empty()).then_some(Block::all(groups))
}

fn group(at: usize, one: &Fairness, interval: &str) -> Block {
    let mut shown: Vec<&FairPoint> = vec![&one.clean];
    shown.extend(one.largest.iter().filter_map(|&at| one.points.get(at)));
    let rest = one.points.iter().enumerate().filter(|(at, _)| !one.largest.contains(at));
    let rest: Vec<&FairPoint> = rest.map(|(_, point)| point).collect();
    let charts = shown
        .iter()
        .enumerate()
        .map(|(place, point)| chart(&format!("fair-{at}-{place}"), one, point));
    let mut blocks = vec![
        Block::note(about(one, interval)),
        Block::Charts(charts.collect()),
        Block::Table(gaps(one, &shown)),
    ];
    if !rest.is_empty() {
        let table = Block::Table(gaps(one, &rest));
        blocks.push(Block::folded("All other configurations", vec![table]));
    }
    Block::Group(Group {
        id: Some(format!("fair-{at}")),
        title: Some(format!("{} by {}", one.target, one.by)),
        folded: false,
        blocks,
    })
}

fn about(one: &Fairness, interval: &str) -> String {
    let positive = match &one.positive {
        Some(name) => format!("predictions of {name}"),
        None => "correct predictions".to_owned(),
    };
    format!(
        "Positive: {positive}. Differences are the rate of {} minus that of the other group; \
         p-values of equal true positive rates are from Fisher's exact test with Holm's correction \
         over {}. Clean inputs come first, then the configurations with the largest differences. \
         In brackets: {interval} of rates, and Newcombe's intervals of differences in percentage \
         points.",
        one.privileged,
        format::counted(one.tests, "test")
    )
}

/// True positive rates by group under one fault.
fn chart(id: &str, one: &Fairness, point: &FairPoint) -> Chart {
    let fault = point.fault.as_deref().unwrap_or("clean");
    let groups = point.groups.iter();
    let rows: Vec<svg::Row<'_>> = groups
        .filter_map(|group| Some(svg::Row { label: &group.name, rate: group.found.as_ref()? }))
        .collect();
    let title = format!("True positive rate by {}, {}: {fault}", one.by, one.target);
    let about = "The table has all numbers.";
    Chart {
        svg: dots(&Caption { id, title: &title, about }, &rows, None),
        plot: Plot::Dots,
        title: Some(fault.to_owned()),
        ..Chart::default()
    }
}

fn gaps(one: &Fairness, points: &[&FairPoint]) -> Table {
    Table {
        caption: format!("Differences between groups of {}", one.by),
        columns: vec![
            Column::name("fault"),
            Column::text("group"),
            Column::number(format!("true positive rate, {}", one.privileged)),
            Column::number("true positive rate, group"),
            Column::number("equal opportunity"),
            Column::number("demographic parity"),
            Column::number("equalised odds"),
            Column::number("p"),
        ],
        rows: points.iter().flat_map(|point| rows(point, &one.privileged)).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn rows(point: &FairPoint, privileged: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    for gap in &point.gaps {
        let odds = gap.odds.map_or(format::NONE.into(), |odds| format::number(100.0 * odds, 3));
        rows.push(
            vec![
                Cell::text(point.fault.as_deref().unwrap_or("clean")),
                Cell::text(&gap.group),
                found(point, privileged),
                found(point, &gap.group),
                Cell::points(&gap.opportunity),
                Cell::points(&gap.parity),
                Cell::number(odds, gap.odds),
                Cell::number(format::p_value(gap.p_value), Some(gap.p_value)),
            ]
            .into(),
        );
    }
    rows
}

/// The true positive rate of a group.
fn found(point: &FairPoint, name: &str) -> Cell {
    let group = point.groups.iter().find(|group| group.name == name);
    match group.and_then(|group| group.found.as_ref()) {
        Some(rate) => Cell::rate(rate),
        None => Cell::number(format::NONE, None),
    }
}
