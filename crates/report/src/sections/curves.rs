//! Failure rates by severity, for faults that were swept: small charts on the same scale, and one
//! table.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Key, Mark, Plot, Row, Table};
use crate::svg::{Caption, Lines, STYLES, Series, highest_rate, lines, rate_ticks};
use faultlens_analysis::Curve;
use faultlens_analysis::format;
use faultlens_faults::IMAGE_FAULTS;

/// The lines of one chart.
struct FaultLines<'a> {
    fault: &'a str,
    axis: &'a str,
    series: Vec<Series>,
}

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let curves = &input.summary.curves;
    let mut targets: Vec<&str> = Vec::new();
    for curve in curves {
        if !targets.contains(&curve.target.as_str()) {
            targets.push(&curve.target);
        }
    }
    let by_fault = if let [_] = targets.as_slice() {
        by_settings(curves)
    } else {
        by_target(curves, &targets)
    };
    if by_fault.is_empty() {
        return None;
    }
    let all = by_fault.iter().flat_map(|one| &one.series);
    let ticks = rate_ticks(highest_rate(all), 4);
    let charts = by_fault
        .iter()
        .enumerate()
        .map(|(at, one)| chart(at, one, &ticks, targets.len() == 1))
        .collect();
    let mut blocks = Vec::new();
    if targets.len() > 1 {
        let keys = targets.iter().enumerate();
        let keys = keys.map(|(at, name)| Key { mark: Mark::Line(at), text: (*name).to_owned() });
        blocks.push(Block::Legend(keys.collect()));
    }
    blocks.push(Block::note(format!(
        "Line: share of trials that changed the prediction; band: {}. All charts have the same \
         scale.",
        input.interval
    )));
    blocks.push(Block::Charts(charts));
    blocks.push(Block::Table(table(curves)));
    Some(Block::all(blocks))
}

/// With several targets a chart has a line for each of them.
fn by_target<'a>(curves: &'a [Curve], targets: &[&str]) -> Vec<FaultLines<'a>> {
    let mut all: Vec<FaultLines<'a>> = Vec::new();
    for curve in curves.iter().filter(|curve| !curve.points.is_empty()) {
        let style = targets.iter().position(|target| *target == curve.target).unwrap_or_default();
        let line = series(curve, &curve.target, style);
        match all.iter_mut().find(|one| one.fault == curve.fault && one.axis == curve.axis) {
            Some(one) => one.series.push(line),
            None => {
                let fault = curve.fault.as_str();
                let axis = curve.axis.as_str();
                all.push(FaultLines { fault, axis, series: vec![line] });
            }
        }
    }
    all
}

/// With one target a chart has a line for each choice of the fault's other settings.
fn by_settings(curves: &[Curve]) -> Vec<FaultLines<'_>> {
    let mut all: Vec<FaultLines<'_>> = Vec::new();
    for curve in curves.iter().filter(|curve| !curve.points.is_empty()) {
        let fault = curve.fault.split(' ').next().unwrap_or_default();
        // More lines than styles could not be told apart.
        let known = all
            .iter_mut()
            .find(|one| one.fault == fault && one.axis == curve.axis && one.series.len() < STYLES);
        match known {
            Some(one) => {
                let style = one.series.len();
                one.series.push(series(curve, &curve.fault, style));
            }
            None => {
                let line = series(curve, &curve.fault, 0);
                all.push(FaultLines { fault, axis: &curve.axis, series: vec![line] });
            }
        }
    }
    all
}

fn series(curve: &Curve, name: &str, style: usize) -> Series {
    let points = curve.points.iter().filter(|(dose, _)| dose.is_finite());
    let points = points.map(|(dose, rate)| (*dose, format::number(*dose, 4), *rate)).collect();
    Series { name: name.to_owned(), points, style }
}

fn chart(at: usize, one: &FaultLines<'_>, ticks: &[f64], alone: bool) -> Chart {
    let fault = match one.series.as_slice() {
        [only] if alone => only.name.as_str(),
        _ => one.fault,
    };
    let axis = axis_title(one.axis, fault);
    let mut about = String::new();
    for line in &one.series {
        if let (Some(first), Some(last)) = (line.points.first(), line.points.last()) {
            about += &format!(
                "{}: {} at {}, {} at {}. ",
                line.name,
                format::rate(&first.2),
                first.1,
                format::rate(&last.2),
                last.1
            );
        }
    }
    about += "The table has all numbers.";
    let title = format!("{fault}: failure rate by {axis}");
    let caption = Caption { id: &format!("curve-{at}"), title: &title, about: &about };
    let mut legend = Vec::new();
    if alone && one.series.len() > 1 {
        let keys = one.series.iter();
        legend
            .extend(keys.map(|line| Key { mark: Mark::Line(line.style), text: line.name.clone() }));
    }
    Chart {
        svg: lines(&caption, &Lines { series: &one.series, ticks, axis: &axis }),
        plot: Plot::Lines,
        title: Some(fault.to_owned()),
        legend,
        ..Chart::default()
    }
}

/// The title of the axis of a fault's doses.
fn axis_title(axis: &str, fault: &str) -> String {
    let name = fault.split(' ').next().unwrap_or_default();
    // Settings of image faults can have the same names and other meanings.
    let on_image = IMAGE_FAULTS.iter().any(|plugin| plugin.name == name);
    let title = match axis {
        _ if on_image => return axis.replace('_', " "),
        "amount" => "elements hit",
        "bit" => "bit",
        "bit_count" => "bits flipped together",
        "rate" => "fault probability per operator",
        "share" if name == "zero" => "share of elements set to zero, %",
        "share" => "share of elements hit, %",
        other => return other.replace('_', " "),
    };
    title.to_owned()
}

fn table(curves: &[Curve]) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for curve in curves {
        for (dose, rate) in &curve.points {
            rows.push(
                vec![
                    Cell::text(&curve.fault),
                    Cell::text(&curve.target),
                    Cell::text(axis_title(&curve.axis, &curve.fault)),
                    Cell::number(format::number(*dose, 4), Some(*dose)),
                    Cell::count(rate.n),
                    Cell::count(rate.events),
                    Cell::rate(rate),
                ]
                .into(),
            );
        }
    }
    Table {
        caption: "Failure rate by severity".into(),
        columns: vec![
            Column::name("fault"),
            Column::text("target"),
            Column::text("setting"),
            Column::number("value"),
            Column::number("n"),
            Column::number("changed"),
            Column::number("rate"),
        ],
        rows,
        sortable: true,
        ..Table::default()
    }
}
