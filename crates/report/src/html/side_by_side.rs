//! Targets side by side under faults in images.

use super::rates::{Cell, number, sample};
use crate::escape::plain;
use crate::svg::{Caption, Lines, Series, lines, rate_ticks, step};
use faultlens_analysis::words as format;
use faultlens_analysis::{KCurve, Mean, Moved, Rate, SideBySide};

/// Faults by targets.
pub(super) struct SideView {
    pub(super) targets: Vec<String>,
    pub(super) rows: Vec<SideRowView>,
    pub(super) means: Vec<Shade>,
    pub(super) initial: Vec<Shade>,
}

/// One fault.
pub(super) struct SideRowView {
    pub(super) fault: String,
    pub(super) control: bool,
    pub(super) cells: Vec<Shade>,
    pub(super) mean: Shade,
}

/// A rate on a ground that is the darker the higher it is.
pub(super) struct Shade {
    pub(super) cell: Cell,
    /// The interval, for who points at it.
    pub(super) title: String,
    pub(super) step: usize,
}

/// The table; `None` without faults in images.
pub(super) fn side_by_side(table: Option<&SideBySide>) -> Option<SideView> {
    let table = table?;
    let row = |row: &faultlens_analysis::SideRow| SideRowView {
        fault: plain(&row.fault),
        control: row.control,
        cells: row.cells.iter().map(|rate| shade(rate.as_ref())).collect(),
        mean: plain_shade(row.mean),
    };
    Some(SideView {
        targets: table.targets.iter().map(|name| plain(name)).collect(),
        rows: table.rows.iter().map(row).collect(),
        means: table.means.iter().map(|mean| plain_shade(*mean)).collect(),
        initial: table.initial_means.iter().map(|mean| plain_shade(*mean)).collect(),
    })
}

fn shade(rate: Option<&Rate>) -> Shade {
    match rate {
        Some(rate) => Shade {
            cell: number(format::value(rate), rate.value),
            title: format!("{}, n = {}", format::rate(rate), format::count(rate.n)),
            step: step(rate.value.unwrap_or(0.0), 1.0),
        },
        None => plain_shade(None),
    }
}

fn plain_shade(share: Option<f64>) -> Shade {
    let text = share.map_or(format::NONE.into(), |share| format!("{}%", format::percent(share)));
    Shade { cell: number(text, share), title: String::new(), step: step(share.unwrap_or(0.0), 1.0) }
}

/// Misclassification for every k.
pub(super) struct KView {
    pub(super) title: &'static str,
    pub(super) chart: String,
    pub(super) legend: Vec<(String, String)>,
}

/// A chart against golden and one against the truth, as far as there are such.
pub(super) fn k_curves(curves: &[KCurve]) -> Vec<KView> {
    let titles = [
        ("golden", "Golden's best answer is not among the first k"),
        ("truth", "The right answer is not among the first k"),
    ];
    let view = |(against, title): (&str, &'static str)| {
        let own = curves.iter().filter(|curve| curve.against == against).enumerate();
        let series: Vec<Series> = own.map(|(style, curve)| series(curve, style)).collect();
        if series.is_empty() {
            return None;
        }
        let rates = series.iter().flat_map(|line| line.points.iter().map(|point| &point.2));
        let most = rates.map(|rate| format::ends(rate).1).fold(0.0, f64::max);
        let about = series.iter().filter_map(|line| {
            let (first, last) = (line.points.first()?, line.points.last()?);
            let (first, last) = (format::rate(&first.2), format::rate(&last.2));
            Some(format!("{}: {first} for k = 1, {last} at the end.", line.name))
        });
        let about = about.collect::<Vec<_>>().join(" ");
        let caption = Caption { id: &format!("k-{against}"), title, about: &about };
        let ticks = rate_ticks(most, 4);
        Some(KView {
            title,
            chart: lines(&caption, &Lines { series: &series, ticks: &ticks, axis: "k" }),
            legend: series.iter().map(|line| (sample(line.style), plain(&line.name))).collect(),
        })
    };
    titles.into_iter().filter_map(view).collect()
}

fn series(curve: &KCurve, style: usize) -> Series {
    let points = curve.rates.iter().enumerate();
    let points = points.map(|(at, rate)| ((at + 1) as f64, (at + 1).to_string(), *rate)).collect();
    Series { name: curve.target.clone(), points, style }
}

/// How far answers moved, on one measure.
pub(super) struct MovedView {
    pub(super) target: String,
    pub(super) what: String,
    pub(super) rows: Vec<(String, Cell)>,
    pub(super) all: Cell,
}

/// The view of one measure.
pub(super) fn moved(moved: &Moved) -> MovedView {
    MovedView {
        target: plain(&moved.target),
        what: plain(&moved.what),
        rows: moved.rows.iter().map(|row| (plain(&row.fault), mean(&row.mean))).collect(),
        all: mean(&moved.all),
    }
}

fn mean(mean: &Mean) -> Cell {
    number(format::mean(mean), mean.value)
}
