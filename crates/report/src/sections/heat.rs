//! Failure rates by layer and bit.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Key, Mark, Plot, Table};
use crate::svg::{Caption, ENOUGH, STEPS, heat, highest, step};
use faultlens_analysis::format;
use faultlens_analysis::{HeatMap, Rate};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let maps = input.summary.model.heat_maps.iter().filter(|map| says_something(map));
    let groups: Vec<Block> = maps.enumerate().map(|(at, map)| group(at, map)).collect();
    (!groups.is_empty()).then_some(Block::all(groups))
}

/// Whether most cells have enough trials; a map of hatched cells says nothing.
fn says_something(map: &HeatMap) -> bool {
    let cells = map.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.n > 0);
    let (enough, few): (Vec<&Rate>, Vec<&Rate>) = cells.partition(|cell| cell.n >= ENOUGH);
    enough.len() >= few.len()
}

fn group(at: usize, map: &HeatMap) -> Block {
    let title = format!("Failure rate by layer and bit, {}", map.target);
    let about = about(map);
    let caption = Caption { id: &format!("heat-{at}"), title: &title, about: &about };
    let chart = Chart {
        svg: heat(&caption, map),
        plot: Plot::Dots,
        caption: Some(format!(
            "Share of trials that changed the prediction when that bit was flipped in that layer. \
             Hatched: fewer than {ENOUGH} trials; empty: none."
        )),
        legend: steps(highest(map)),
        ..Chart::default()
    };
    let numbers = Block::folded("All numbers", vec![Block::Table(table(map))]);
    Block::titled(&map.target, vec![Block::Chart(chart), numbers])
}

fn table(map: &HeatMap) -> Table {
    let mut columns = vec![Column::name("layer")];
    columns.extend(map.bits.iter().map(|bit| Column::number(bit.to_string())));
    let mut rows = Vec::new();
    for row in &map.rows {
        let mut cells = vec![Cell::text(format::layer(row.layer, &row.name))];
        cells.extend(row.cells.iter().map(cell));
        rows.push(cells.into());
    }
    let caption = format!("Failure rates by layer and bit, {}", map.target);
    Table { caption, columns, rows, ..Table::default() }
}

fn cell(rate: &Rate) -> Cell {
    let text = match rate.value {
        None => format::NONE.into(),
        Some(_) => format!("{} of {}", format::value(rate), format::count(rate.n)),
    };
    Cell::number(text, rate.value)
}

/// What can be seen in a map, for those who do not see it.
fn about(map: &HeatMap) -> String {
    let mut highest: Option<(f64, String)> = None;
    for row in &map.rows {
        for (rate, bit) in row.cells.iter().zip(&map.bits).filter(|(rate, _)| rate.n >= ENOUGH) {
            let Some(value) = rate.value else { continue };
            if highest.as_ref().is_none_or(|(most, _)| value >= *most) {
                let layer = format::layer(row.layer, &row.name);
                let text = format!("bit {bit} in layer {layer} with {}", format::rate(rate));
                highest = Some((value, text));
            }
        }
    }
    match highest {
        Some((_, text)) => format!("Highest: {text}. The table has all numbers."),
        None => "No cell has enough trials. The table has all numbers.".into(),
    }
}

/// What the steps of darkness mean.
fn steps(most: f64) -> Vec<Key> {
    if most <= 0.0 {
        return Vec::new();
    }
    let last = (STEPS - 1) as f64;
    (0..STEPS)
        .map(|at| Key {
            mark: Mark::Swatch(format!("c{}", step(at as f64, last))),
            text: match at {
                0 => "0%".to_owned(),
                at => format!("up to {}%", format::percent(most * at as f64 / last)),
            },
        })
        .collect()
}
