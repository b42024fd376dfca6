//! Failure rate and accuracy by traits in which targets differ.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Group, Key, Mark, Plot, Reach, Row, Table};
use crate::svg::{Caption, Lines, Series, highest_rate, lines, rate_ticks};
use faultlens_analysis::format;
use faultlens_analysis::{Trait, TraitLine, TraitRow};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let traits = &input.summary.traits;
    let groups: Vec<Block> = traits.iter().enumerate().map(|(at, one)| group(at, one)).collect();
    (!groups.is_empty()).then_some(Block::all(groups))
}

fn group(at: usize, one: &Trait) -> Block {
    let mut blocks: Vec<Block> = chart(at, one).map(Block::Chart).into_iter().collect();
    blocks.push(Block::Table(Table {
        caption: format!("Failure rate and accuracy by {}", one.name),
        columns: vec![
            Column::name(&one.name),
            Column::number("targets"),
            Column::number("n").reaching(Reach::Page),
            Column::number("rate"),
            Column::number("accuracy without faults"),
        ],
        rows: one.rows.iter().map(row).collect(),
        sortable: true,
        ..Table::default()
    }));
    Block::Group(Group {
        id: Some(format!("trait-{at}")),
        title: Some(one.name.clone()),
        folded: false,
        blocks: vec![if blocks.len() > 1 { Block::Beside(blocks) } else { Block::all(blocks) }],
    })
}

fn row(row: &TraitRow) -> Row {
    vec![
        Cell::text(&row.value),
        Cell::count(row.targets),
        Cell::count(row.rate.n),
        Cell::rate(&row.rate),
        match &row.accuracy {
            Some(rate) => Cell::rate(rate),
            None => Cell::number("not known", None),
        },
    ]
    .into()
}

/// A line for each choice of the other traits; `None` where the trait is no number.
fn chart(at: usize, one: &Trait) -> Option<Chart> {
    let series: Vec<Series> =
        one.lines.iter().enumerate().map(|(style, line)| series(line, style)).collect();
    if series.is_empty() {
        return None;
    }
    let title = format!("Failure rate by {}", one.name);
    let about = "The table has all numbers.";
    let caption = Caption { id: &format!("trait-{at}-chart"), title: &title, about };
    let ticks = rate_ticks(highest_rate(&series), 4);
    let keys = series.iter();
    Some(Chart {
        svg: lines(&caption, &Lines { series: &series, ticks: &ticks, axis: &one.name }),
        plot: Plot::Lines,
        legend: keys
            .map(|line| Key { mark: Mark::Line(line.style), text: line.name.clone() })
            .collect(),
        ..Chart::default()
    })
}

fn series(line: &TraitLine, style: usize) -> Series {
    let name = if line.name.is_empty() { "all targets".into() } else { line.name.clone() };
    let points = line.points.iter().map(|(at, rate)| (*at, format::number(*at, 4), *rate));
    Series { name, points: points.collect(), style }
}
