//! Rates by group and along a dose, as charts beside tables.

use crate::escape::plain;
use crate::svg::{Caption, Lines, Row, STYLES, Series, dots, lines, mark, rate_ticks};
use faultlens_analysis::words as format;
use faultlens_analysis::{Curve, GroupRow, Grouping, Rate, Summary, Tally};

/// Groups that a chart of dots shows; the table has all.
const MOST_DOTS: usize = 20;

/// A grouping: its chart and its table.
pub(super) struct GroupingView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) attribute: String,
    pub(super) chart: String,
    /// The style sheet's class for the chart's margins.
    pub(super) plot: &'static str,
    pub(super) note: String,
    pub(super) rows: Vec<RowView>,
    pub(super) groups: usize,
    /// Groups with parts stay together.
    pub(super) sortable: bool,
    pub(super) correction: Option<String>,
    /// Whether any group has such outcomes; a column of zeros would only take the room.
    pub(super) detected: bool,
    pub(super) crashed: bool,
    pub(super) timed_out: bool,
    pub(super) skipped: bool,
}

/// A number to show, and as a script sorts it.
pub(super) struct Cell {
    pub(super) text: String,
    pub(super) sort: String,
}

/// A group's row in the table.
pub(super) struct RowView {
    pub(super) key: String,
    /// What the group is made of.
    pub(super) about: Option<String>,
    /// The style sheet's class: a part of the group above is set in.
    pub(super) class: &'static str,
    pub(super) n: Cell,
    pub(super) changed: Cell,
    pub(super) rate: Cell,
    pub(super) interval: Cell,
    pub(super) detected: Cell,
    pub(super) crashed: Cell,
    pub(super) timed_out: Cell,
    pub(super) skipped: Cell,
    pub(super) p_value: Cell,
}

pub(super) fn whole(count: u64) -> Cell {
    Cell { text: format::count(count), sort: count.to_string() }
}

/// Unknown numbers sort below all others.
pub(super) fn number(text: String, value: Option<f64>) -> Cell {
    Cell { text, sort: value.map_or("-1".into(), |value| value.to_string()) }
}

fn row(row: &GroupRow) -> RowView {
    let Tally { changed, detected, crashed, timed_out, rate, .. } = &row.tally;
    let p_value = row.p_value.map_or(format::NONE.into(), format::p_value);
    RowView {
        key: plain(row.name()),
        about: row.about.as_deref().map(plain),
        class: "",
        n: whole(rate.n),
        changed: whole(*changed),
        rate: number(format::value(rate), rate.value),
        interval: number(format::interval(rate), rate.value.map(|_| rate.low)),
        detected: whole(*detected),
        crashed: whole(*crashed),
        timed_out: whole(*timed_out),
        skipped: whole(format::skipped(&row.tally)),
        p_value: number(p_value, row.p_value),
    }
}

/// A group and the groups within it.
fn with_parts(group: &GroupRow) -> Vec<RowView> {
    let parts = group.parts.iter().map(|part| RowView { class: "part", ..row(part) });
    std::iter::once(row(group)).chain(parts).collect()
}

/// The view of one grouping; the rate of all trials goes with it, to compare with.
pub(super) fn grouping(at: usize, grouping: &Grouping, summary: &Summary) -> GroupingView {
    let all = summary.overall.rate.value;
    let id = format!("by-{at}");
    let chart_id = format!("{id}-chart");
    let title = format!("Rate of changed trials by {}", grouping.attribute);
    let about = about(grouping);
    let caption = Caption { id: &chart_id, title: &title, about: &about };
    let profile = grouping.ordered && grouping.rows.len() > MOST_DOTS;
    let (chart, plot) = if profile {
        (line_of_groups(&caption, grouping), "plot-lines")
    } else {
        let shown = grouping.rows.iter().take(MOST_DOTS);
        let rows: Vec<_> =
            shown.map(|row| Row { label: row.name(), rate: &row.tally.rate }).collect();
        (dots(&caption, &rows, all), "plot-dots")
    };
    let any = |count: fn(&Tally) -> u64| grouping.rows.iter().any(|row| count(&row.tally) > 0);
    GroupingView {
        id,
        title: plain(&grouping.title),
        attribute: plain(&grouping.attribute),
        chart,
        plot,
        note: note(grouping, profile, summary),
        rows: grouping.rows.iter().flat_map(with_parts).collect(),
        groups: grouping.rows.len(),
        sortable: grouping.rows.iter().all(|row| row.parts.is_empty()),
        correction: grouping.correction.as_deref().map(plain),
        detected: any(|tally| tally.detected),
        crashed: any(|tally| tally.crashed),
        timed_out: any(|tally| tally.timed_out),
        skipped: any(format::skipped),
    }
}

fn note(grouping: &Grouping, profile: bool, summary: &Summary) -> String {
    let (groups, interval) = (grouping.rows.len(), plain(&summary.interval));
    let shown = if profile {
        format!("Line: rate; band: {interval}.")
    } else if groups > MOST_DOTS {
        format!(
            "Dots: rates; lines: {interval}. The first {MOST_DOTS} of {groups}; the table has all."
        )
    } else {
        format!("Dots: rates; lines: {interval}.")
    };
    match summary.overall.rate.value {
        Some(all) if !profile => {
            format!("{shown} Dashed: all trials, {}%.", format::percent(all))
        }
        _ => shown,
    }
}

/// What can be seen in the chart, for those who do not see it.
fn about(grouping: &Grouping) -> String {
    let known = grouping.rows.iter().filter_map(|row| Some((row.tally.rate.value?, row)));
    let text = |row: &GroupRow| format!("{} with {}", row.name(), format::rate(&row.tally.rate));
    let most = known.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    let least = known.min_by(|a, b| a.0.total_cmp(&b.0));
    match (most, least) {
        (Some((_, most)), Some((_, least))) => format!(
            "{}. Highest: {}. Lowest: {}. The table has all numbers.",
            format::counted(grouping.rows.len() as u64, "group"),
            text(most),
            text(least)
        ),
        _ => "No group has a judged trial.".into(),
    }
}

/// Groups with an order of their own are a profile: many of them read best as a line.
fn line_of_groups(caption: &Caption<'_>, grouping: &Grouping) -> String {
    let rows = grouping.rows.iter().enumerate();
    let points = rows.map(|(at, row)| (at as f64, row.name().to_owned(), row.tally.rate)).collect();
    let series = [Series { name: grouping.attribute.clone(), points, style: 0 }];
    let ticks = rate_ticks(highest(series.iter()), 4);
    lines(caption, &Lines { series: &series, ticks: &ticks, axis: &grouping.attribute })
}

fn highest<'a>(series: impl Iterator<Item = &'a Series>) -> f64 {
    let rates = series.flat_map(|series| series.points.iter().map(|point| &point.2));
    rates.filter(|rate| rate.n > 0).map(|rate| format::ends(rate).1).fold(0.0, f64::max)
}

/// All curves: small charts on the same scale, in the order given, and one table.
pub(super) struct CurvesView {
    /// The lines that all charts have in common; empty where each has its own.
    pub(super) legend: Vec<(String, String)>,
    pub(super) charts: Vec<CurveChart>,
    pub(super) rows: Vec<CurveRow>,
}

/// The curves of one fault.
pub(super) struct CurveChart {
    pub(super) title: String,
    pub(super) chart: String,
    /// Its own lines, where they are not those of all charts.
    pub(super) legend: Vec<(String, String)>,
}

/// A point of a curve in the table.
pub(super) struct CurveRow {
    pub(super) fault: String,
    pub(super) target: String,
    pub(super) axis: String,
    pub(super) dose: Cell,
    pub(super) n: Cell,
    pub(super) changed: Cell,
    pub(super) rate: Cell,
    pub(super) interval: Cell,
}

/// The view of all curves; `None` where there are none. A chart has a line for each target; where
/// there is one target alone, for each choice of the fault's other settings.
pub(super) fn curves(curves: &[Curve]) -> Option<CurvesView> {
    let mut targets: Vec<&str> = Vec::new();
    for curve in curves {
        if !targets.contains(&curve.target.as_str()) {
            targets.push(&curve.target);
        }
    }
    let alone = targets.len() == 1;
    let mut by_fault: Vec<((&str, &str), Vec<Series>)> = Vec::new();
    for curve in curves.iter().filter(|curve| !curve.points.is_empty()) {
        let own = targets.iter().position(|target| *target == curve.target).unwrap_or_default();
        let name = curve.fault.split(' ').next().unwrap_or_default();
        let key = (if alone { name } else { curve.fault.as_str() }, curve.axis.as_str());
        let known = by_fault.iter_mut().find(|(known, lines)| {
            // More lines than styles could not be told apart.
            *known == key && !(alone && lines.len() == STYLES)
        });
        let what = if alone { &curve.fault } else { &curve.target };
        match known {
            Some((_, lines)) => {
                let style = if alone { lines.len() } else { own };
                lines.push(series(curve, what, style));
            }
            None => by_fault.push((key, vec![series(curve, what, if alone { 0 } else { own })])),
        }
    }
    if by_fault.is_empty() {
        return None;
    }
    let ticks = rate_ticks(highest(by_fault.iter().flat_map(|(_, lines)| lines)), 4);
    let charts = by_fault.iter().enumerate().map(|(at, (key, lines))| {
        let own = alone && lines.len() > 1;
        let only = lines.first().map(|line| line.name.clone()).filter(|_| alone && !own);
        let title = only.as_deref().unwrap_or(key.0);
        chart(at, (title, key.1), lines, (&ticks, own))
    });
    let legend = targets.iter().enumerate().map(|(at, name)| (sample(at), plain(name)));
    Some(CurvesView {
        charts: charts.collect(),
        legend: if alone { Vec::new() } else { legend.collect() },
        rows: curves.iter().flat_map(curve_rows).collect(),
    })
}

fn series(curve: &Curve, name: &str, style: usize) -> Series {
    let point = |&(dose, rate): &(f64, Rate)| (dose, format::number(dose, 4), rate);
    let points = curve.points.iter().filter(|(dose, _)| dose.is_finite());
    Series { name: name.to_owned(), points: points.map(point).collect(), style }
}

fn chart(
    at: usize,
    (fault, axis): (&str, &str),
    series: &[Series],
    (ticks, legend): (&[f64], bool),
) -> CurveChart {
    let axis = format::axis(axis, fault);
    let title = format!("{fault}: rate of changed trials along {axis}");
    let ends = series.iter().filter_map(|series| {
        let ((_, first, low), (_, last, high)) = (series.points.first()?, series.points.last()?);
        let (low, high) = (format::rate(low), format::rate(high));
        Some(format!("{}: {low} at {first}, {high} at {last}.", series.name))
    });
    let about = ends.collect::<Vec<_>>().join(" ") + " The table has all numbers.";
    let caption = Caption { id: &format!("curve-{at}"), title: &title, about: &about };
    let lines_of = series.iter().filter(|_| legend);
    CurveChart {
        title: plain(fault),
        chart: lines(&caption, &Lines { series, ticks, axis: &axis }),
        legend: lines_of.map(|line| (sample(line.style), plain(&line.name))).collect(),
    }
}

/// A piece of a line with its mark, for the legend.
pub(super) fn sample(style: usize) -> String {
    let class = style % STYLES;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sample\" aria-hidden=\"true\" \
         width=\"34\" height=\"14\"><path class=\"line s{class}\" d=\"M1,7 L33,7\"/>\
         <svg x=\"17\" y=\"7\" overflow=\"visible\">{}</svg></svg>",
        mark(style)
    )
}

fn curve_rows(curve: &Curve) -> impl Iterator<Item = CurveRow> {
    curve.points.iter().map(|(dose, rate)| CurveRow {
        fault: plain(&curve.fault),
        target: plain(&curve.target),
        axis: plain(&format::axis(&curve.axis, &curve.fault)),
        dose: Cell { text: format::number(*dose, 4), sort: dose.to_string() },
        n: whole(rate.n),
        changed: whole(rate.events),
        rate: number(format::value(rate), rate.value),
        interval: number(format::interval(rate), rate.value.map(|_| rate.low)),
    })
}
