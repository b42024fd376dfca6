//! How far predictions move under image faults: top-k, and what is measured of them.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Key, Mark, Plot, Table};
use crate::prose::measures;
use crate::svg::{Caption, Lines, Series, highest_rate, lines, rate_ticks};
use faultlens_analysis::format;
use faultlens_analysis::{KCurve, MeasureChange};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    let mut blocks = Vec::new();
    let charts: Vec<Chart> = [
        ("golden", "The clean top-1 prediction is not in the top k"),
        ("truth", "The true label is not in the top k"),
    ]
    .into_iter()
    .filter_map(|(against, title)| k_chart(&summary.images.k_curves, against, title))
    .collect();
    if !charts.is_empty() {
        blocks.push(Block::titled("Top-k failure rates", vec![Block::Charts(charts)]));
    }
    let confidence = format::limit(summary.intervals.level.confidence());
    blocks.extend(summary.images.measures.iter().map(|one| measure_change(one, &confidence)));
    (!blocks.is_empty()).then_some(Block::all(blocks))
}

/// Failure rates for every k; `None` where there are none against this.
fn k_chart(curves: &[KCurve], against: &str, title: &str) -> Option<Chart> {
    let own = curves.iter().filter(|curve| curve.against == against).enumerate();
    let series: Vec<Series> = own.map(|(style, curve)| k_series(curve, style)).collect();
    if series.is_empty() {
        return None;
    }
    let mut about = Vec::new();
    for line in &series {
        if let (Some(first), Some(last)) = (line.points.first(), line.points.last()) {
            about.push(format!(
                "{}: {} for k = 1, {} for the largest k.",
                line.name,
                format::rate(&first.2),
                format::rate(&last.2)
            ));
        }
    }
    let about = about.join(" ");
    let caption = Caption { id: &format!("k-{against}"), title, about: &about };
    let ticks = rate_ticks(highest_rate(&series), 4);
    let keys = series.iter();
    Some(Chart {
        svg: lines(&caption, &Lines { series: &series, ticks: &ticks, axis: "k" }),
        plot: Plot::Lines,
        title: Some(title.to_owned()),
        legend: keys
            .map(|line| Key { mark: Mark::Line(line.style), text: line.name.clone() })
            .collect(),
        ..Chart::default()
    })
}

fn k_series(curve: &KCurve, style: usize) -> Series {
    let points = curve.rates.iter().enumerate();
    let points = points.map(|(at, rate)| ((at + 1) as f64, (at + 1).to_string(), *rate)).collect();
    Series { name: curve.target.clone(), points, style }
}

/// How much a measure of the predictions changed.
fn measure_change(one: &MeasureChange, confidence: &str) -> Block {
    let measure = measures::name(one.measure);
    let rows = one.rows.iter().map(|row| {
        vec![Cell::text(&row.fault), Cell::number(format::mean(&row.mean), row.mean.value)].into()
    });
    let table = Table {
        caption: format!("{measure} by fault, {}", one.target),
        columns: vec![
            Column::name("fault"),
            Column::number(format!("mean and {confidence} interval")),
        ],
        rows: rows.collect(),
        sortable: true,
        ..Table::default()
    };
    let title = format!("{}: {measure}, {}", one.target, format::mean(&one.all));
    Block::folded(title, vec![Block::Table(table)])
}
