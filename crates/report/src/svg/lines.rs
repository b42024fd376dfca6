//! Rates along a dose: a line per series, its intervals as a band.

use super::{Caption, level_line, open, share, tick_label};
use crate::escape::xml;
use faultlens_analysis::Rate;
use faultlens_analysis::format;
use std::fmt::Write as _;

const PLOT: usize = 190;
/// Room left and right of the outermost points, in shares of the width.
const SIDE: f64 = 0.04;
/// Tick labels along the dose; more would overlap on a phone.
const MOST_LABELS: usize = 8;
/// Line styles that the style sheet knows.
pub(crate) const STYLES: usize = 6;

/// One line.
pub(crate) struct Series {
    /// What it is the line of.
    pub(crate) name: String,
    /// Place along the dose, what stands there in words, and the rate.
    pub(crate) points: Vec<(f64, String, Rate)>,
    /// Which line style: the same for the same target in every chart.
    pub(crate) style: usize,
}

/// A chart of lines.
pub(crate) struct Lines<'a> {
    /// Its lines.
    pub(crate) series: &'a [Series],
    /// The ticks of the rates, from 0; shared by charts that are compared.
    pub(crate) ticks: &'a [f64],
    /// What the dose is.
    pub(crate) axis: &'a str,
}

/// The chart.
pub(crate) fn lines(caption: &Caption<'_>, chart: &Lines<'_>) -> String {
    let mut out = String::new();
    open(&mut out, caption, "lines", PLOT + 46);
    let end = chart.ticks.last().copied().unwrap_or(1.0);
    for &tick in chart.ticks {
        level_line(&mut out, down(tick, end), &tick_label(tick));
    }
    let place = Place::of(chart.series);
    dose_axis(&mut out, chart, &place);
    for series in chart.series {
        draw(&mut out, series, &place, end);
    }
    out.push_str("</svg>");
    out
}

/// Where doses stand along the width.
struct Place {
    low: f64,
    high: f64,
}

impl Place {
    fn of(series: &[Series]) -> Self {
        let doses = || series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
        Self {
            low: doses().fold(f64::INFINITY, f64::min),
            high: doses().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// The place from 0 to 1.
    fn at(&self, dose: f64) -> f64 {
        let width = self.high - self.low;
        let inner = if width > 0.0 { (dose - self.low) / width } else { 0.5 };
        SIDE + inner * (1.0 - 2.0 * SIDE)
    }
}

fn down(rate: f64, end: f64) -> f64 {
    PLOT as f64 * (1.0 - (rate / end).clamp(0.0, 1.0))
}

/// Labels at doses that were measured, as many as there is room for.
fn dose_axis(out: &mut String, chart: &Lines<'_>, place: &Place) {
    let mut doses: Vec<(f64, &str)> = Vec::new();
    for point in chart.series.iter().flat_map(|series| &series.points) {
        doses.push((point.0, &point.1));
    }
    doses.sort_by(|a, b| a.0.total_cmp(&b.0));
    doses.dedup_by(|a, b| a.0 == b.0);
    let every = doses.len().div_ceil(MOST_LABELS).max(1);
    for (dose, label) in doses.into_iter().step_by(every) {
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            share(place.at(dose), 1.0),
            PLOT + 18,
            xml(&crate::escape::shorten(label, 7))
        );
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"50%\" y=\"{}\" text-anchor=\"middle\">{}</text>",
        PLOT + 38,
        xml(&crate::escape::shorten(chart.axis, 40))
    );
}

fn draw(out: &mut String, series: &Series, place: &Place, end: f64) {
    let style = series.style % STYLES;
    // Paths know no shares of the width, so they stand in a box of their own that is stretched.
    let _ = write!(
        out,
        "<svg width=\"100%\" height=\"{PLOT}\" viewBox=\"0 0 100 {PLOT}\" \
         preserveAspectRatio=\"none\">"
    );
    for part in series.points.split(|point| point.2.value.is_none()) {
        stretch(out, part, style, &|dose, rate| {
            format!("{:.2},{:.2}", place.at(dose) * 100.0, down(rate, end))
        });
    }
    out.push_str("</svg>");
    for (dose, text, rate) in &series.points {
        let Some(value) = rate.value else { continue };
        let _ = write!(
            out,
            "<svg class=\"point\" x=\"{}\" y=\"{:.1}\" overflow=\"visible\">\
             <title>{}, {}: {}</title>{}</svg>",
            share(place.at(*dose), 1.0),
            down(value, end),
            xml(&series.name),
            xml(text),
            format::rate(rate),
            mark(style)
        );
    }
}

/// A stretch of points that are all known: band and line, or an upright line for a single point.
fn stretch(
    out: &mut String,
    part: &[(f64, String, Rate)],
    style: usize,
    at: &dyn Fn(f64, f64) -> String,
) {
    let along = |pick: &dyn Fn(&Rate) -> f64| -> Vec<String> {
        part.iter().map(|point| at(point.0, pick(&point.2))).collect()
    };
    let upper = along(&|rate| format::ends(rate).1);
    let mut lower = along(&|rate| format::ends(rate).0);
    lower.reverse();
    let line = match part.len() {
        0 => return,
        1 => [upper[0].as_str(), &lower[0]].join(" L"),
        _ => along(&|rate| rate.value.unwrap_or_default()).join(" L"),
    };
    if part.len() > 1 {
        let _ = write!(
            out,
            "<path class=\"band s{style}\" d=\"M{} L{} Z\"/>",
            upper.join(" L"),
            lower.join(" L")
        );
    }
    let _ = write!(
        out,
        "<path class=\"line s{style}\" vector-effect=\"non-scaling-stroke\" d=\"M{line}\"/>"
    );
}

/// The mark of a line style, around the origin: shapes differ as well as colours.
fn mark(style: usize) -> String {
    let shape = match style % STYLES {
        0 => "M-4 0 A4 4 0 1 0 4 0 A4 4 0 1 0 -4 0 Z",
        1 => "M-3.5 -3.5 H3.5 V3.5 H-3.5 Z",
        2 => "M0 -5 L4.6 3.6 H-4.6 Z",
        3 => "M0 -5 L5 0 L0 5 L-5 0 Z",
        4 => "M0 5 L4.6 -3.6 H-4.6 Z",
        _ => "M-4 -4 L4 4 M-4 4 L4 -4",
    };
    format!("<path class=\"mark s{}\" d=\"{shape}\"/>", style % STYLES)
}

/// The highest end of an interval in all lines.
pub(crate) fn highest_rate<'a>(series: impl IntoIterator<Item = &'a Series>) -> f64 {
    let rates = series.into_iter().flat_map(|series| series.points.iter().map(|point| &point.2));
    rates.filter(|rate| rate.n > 0).map(|rate| format::ends(rate).1).fold(0.0, f64::max)
}

/// A piece of a line with its mark, for a legend.
pub(crate) fn line_sample(style: usize) -> String {
    let class = style % STYLES;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sample\" aria-hidden=\"true\" \
         width=\"34\" height=\"14\"><path class=\"line s{class}\" d=\"M1,7 L33,7\"/>\
         <svg x=\"17\" y=\"7\" overflow=\"visible\">{}</svg></svg>",
        mark(style)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    fn rate(value: Option<f64>) -> Rate {
        let v = value.unwrap_or_default();
        let n = if value.is_some() { 100 } else { 0 };
        Rate {
            events: (v * 100.0) as u64,
            n,
            value,
            low: v / 2.0,
            high: v * 1.5,
            ..Rate::default()
        }
    }

    #[test]
    fn a_line_stops_where_nothing_is_known() {
        let dose = |at: f64, value| (at, at.to_string(), rate(value));
        let points = vec![
            dose(1.0, Some(0.1)),
            dose(2.0, Some(0.2)),
            dose(3.0, None),
            dose(4.0, Some(0.4)),
            dose(5.0, Some(0.2)),
        ];
        let series = [Series { name: "<a>".into(), points, style: 1 }];
        let chart = Lines { series: &series, ticks: &[0.0, 0.5, 1.0], axis: "severity" };
        let svg = lines(&Caption { id: "c", title: "t", about: "a" }, &chart);
        let d = values(&svg, "line s1", "d");
        // 4% at the left, 23% for each step; 190 pixels for 100%.
        assert_eq!(d, ["M4.00,171.00 L27.00,152.00", "M73.00,114.00 L96.00,152.00"]);
        assert_eq!(values(&svg, "point", "x"), ["4.00%", "27.00%", "73.00%", "96.00%"]);
        assert_eq!(values(&svg, "band s1", "d")[0], {
            "M4.00,161.50 L27.00,133.00 L27.00,171.00 L4.00,180.50 Z"
        });
    }

    #[test]
    fn one_dose_stands_in_the_middle() {
        let points = vec![(3.0, "3".into(), rate(Some(0.2)))];
        let series = [Series { name: "a".into(), points, style: 0 }];
        let chart = Lines { series: &series, ticks: &[0.0, 1.0], axis: "bit" };
        let svg = lines(&Caption { id: "c", title: "t", about: "a" }, &chart);
        assert_eq!(values(&svg, "point", "x"), ["50.00%"]);
        assert_eq!(values(&svg, "line s0", "d"), ["M50.00,133.00 L50.00,171.00"]);
    }
}
