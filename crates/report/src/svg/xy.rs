//! Numbers against numbers: lines, steps and points, on axes that start at 0.

use super::{Caption, level_line, open, share, tick_label, ticks, upright_line};
use crate::escape::{shorten, xml};
use faultlens_analysis::format;
use std::fmt::Write as _;

const PLOT: usize = 220;
/// Tick steps along each axis; more would overlap on a phone.
const STEPS: usize = 4;
/// Line styles that the style sheet knows.
const STYLES: usize = super::STYLES;

/// How the points of a trace are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Straight from one to the next.
    Line,
    /// The same, but thin: one of several whose mean is drawn too.
    Thin,
    /// Level until the next.
    Steps,
    /// Not at all.
    Points,
}

/// One point.
#[derive(Debug, Clone, Copy)]
pub struct At {
    /// Its place along the axis.
    pub x: f64,
    /// Its height.
    pub y: f64,
    /// The interval of its height, where one is known.
    pub interval: Option<(f64, f64)>,
}

/// One trace.
pub(crate) struct Trace<'a> {
    pub(crate) name: &'a str,
    pub(crate) shape: Shape,
    pub(crate) points: &'a [At],
    /// Which line style.
    pub(crate) style: usize,
}

/// How the numbers along an axis are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// As they are.
    Numbers,
    /// In percent.
    Shares,
    /// They are powers of ten.
    Powers,
}

/// What stands along an axis.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axis<'a> {
    pub(crate) name: &'a str,
    /// How numbers are shown.
    pub(crate) scale: Scale,
    /// What the axis reaches at least; shared by charts that are compared.
    pub(crate) most: f64,
}

/// A chart.
pub(crate) struct Xy<'a> {
    pub(crate) traces: &'a [Trace<'a>],
    pub(crate) x: Axis<'a>,
    pub(crate) y: Axis<'a>,
    /// Whether the line is drawn on which both numbers are equal.
    pub(crate) diagonal: bool,
    /// Where along the first axis an upright line is drawn.
    pub(crate) limit: Option<f64>,
}

/// The ends of both axes.
struct Frame {
    x: f64,
    y: f64,
}

impl Frame {
    fn place(&self, x: f64, y: f64) -> String {
        format!("{:.2},{:.2}", (x / self.x).clamp(0.0, 1.0) * 100.0, self.down(y))
    }

    fn down(&self, y: f64) -> f64 {
        PLOT as f64 * (1.0 - (y / self.y).clamp(0.0, 1.0))
    }
}

/// The chart.
pub(crate) fn xy(caption: &Caption<'_>, chart: &Xy<'_>) -> String {
    let [x_ticks, y_ticks] = [chart.x, chart.y].map(|axis| match axis.scale {
        Scale::Powers => (0..=axis.most.ceil().max(1.0) as u32).map(f64::from).collect(),
        Scale::Numbers | Scale::Shares => ticks(axis.most, STEPS),
    });
    let end = |ticks: &[f64]| ticks.last().copied().unwrap_or(1.0);
    let frame = Frame { x: end(&x_ticks), y: end(&y_ticks) };
    let mut out = String::new();
    open(&mut out, caption, "xy", PLOT + 46);
    grid(&mut out, chart, &frame, &x_ticks, &y_ticks);
    let _ = write!(
        out,
        "<svg width=\"100%\" height=\"{PLOT}\" viewBox=\"0 0 100 {PLOT}\" \
         preserveAspectRatio=\"none\">"
    );
    let end = frame.x.min(frame.y);
    let diagonal = chart.diagonal.then_some(((0.0, 0.0), (end, end)));
    let limit = chart.limit.map(|limit| ((limit, 0.0), (limit, frame.y)));
    for (from, to) in [diagonal, limit].into_iter().flatten() {
        let [from, to] = [from, to].map(|(x, y)| frame.place(x, y));
        let _ = write!(
            out,
            "<path class=\"reference\" vector-effect=\"non-scaling-stroke\" d=\"M{from} L{to}\"/>"
        );
    }
    chart.traces.iter().for_each(|trace| line(&mut out, trace, &frame));
    out.push_str("</svg>");
    chart.traces.iter().for_each(|trace| marks(&mut out, trace, &frame));
    out.push_str("</svg>");
    out
}

fn grid(out: &mut String, chart: &Xy<'_>, frame: &Frame, x_ticks: &[f64], y_ticks: &[f64]) {
    let label = |axis: Axis<'_>, tick: f64| match axis.scale {
        Scale::Shares => tick_label(tick),
        Scale::Numbers => format::number(tick, 4),
        Scale::Powers => format::count(10f64.powf(tick).round() as u64),
    };
    for &tick in y_ticks {
        level_line(out, frame.down(tick), &label(chart.y, tick));
    }
    for &tick in x_ticks {
        upright_line(out, "grid", &share(tick, frame.x), PLOT, &label(chart.x, tick));
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"50%\" y=\"{}\" text-anchor=\"middle\">{}</text>\
         <text class=\"axis\" x=\"-46\" y=\"-10\">{}</text>",
        PLOT + 38,
        xml(&shorten(chart.x.name, 40)),
        xml(&shorten(chart.y.name, 40))
    );
}

/// The points at which a path turns; steps turn twice.
fn path(points: &[(f64, f64)], shape: Shape, frame: &Frame) -> Vec<String> {
    let mut out = Vec::with_capacity(points.len());
    let mut level = None;
    for &(x, y) in points {
        if let (Shape::Steps, Some(level)) = (shape, level) {
            out.push(frame.place(x, level));
        }
        out.push(frame.place(x, y));
        level = Some(y);
    }
    out
}

fn line(out: &mut String, trace: &Trace<'_>, frame: &Frame) {
    if trace.shape == Shape::Points || trace.points.is_empty() {
        return;
    }
    let style = trace.style % STYLES;
    let along = |pick: &dyn Fn(&At) -> f64| {
        let points: Vec<(f64, f64)> = trace.points.iter().map(|p| (p.x, pick(p))).collect();
        path(&points, trace.shape, frame)
    };
    if trace.points.iter().any(|p| p.interval.is_some()) {
        let upper = along(&|p| p.interval.map_or(p.y, |i| i.1));
        let mut lower = along(&|p| p.interval.map_or(p.y, |i| i.0));
        lower.reverse();
        let _ = write!(
            out,
            "<path class=\"band s{style}\" d=\"M{} L{} Z\"/>",
            upper.join(" L"),
            lower.join(" L")
        );
    }
    let thin = if trace.shape == Shape::Thin { " of-many" } else { "" };
    let _ = write!(
        out,
        "<path class=\"line s{style}{thin}\" vector-effect=\"non-scaling-stroke\" d=\"M{}\"/>",
        along(&|p| p.y).join(" L")
    );
}

fn marks(out: &mut String, trace: &Trace<'_>, frame: &Frame) {
    if trace.shape != Shape::Points {
        return;
    }
    let _ = write!(out, "<g><title>{}</title>", xml(trace.name));
    for point in trace.points {
        let _ = write!(
            out,
            "<circle class=\"small s{}\" cx=\"{}\" cy=\"{:.1}\" r=\"2.5\"/>",
            trace.style % STYLES,
            share(point.x, frame.x),
            frame.down(point.y)
        );
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    fn at(x: f64, y: f64) -> At {
        At { x, y, interval: None }
    }

    #[test]
    fn steps_stay_level_and_points_stand_alone() {
        let caption = Caption { id: "c", title: "<t>", about: "a" };
        let steps =
            [at(0.0, 1.0), At { x: 5.0, y: 0.5, interval: Some((0.25, 0.75)) }, at(10.0, 0.5)];
        let points = [at(2.5, 0.25)];
        let traces = [
            Trace { name: "curve", shape: Shape::Steps, points: &steps, style: 1 },
            Trace { name: "<p>", shape: Shape::Points, points: &points, style: 0 },
        ];
        let x = Axis { name: "time", scale: Scale::Numbers, most: 10.0 };
        let y = Axis { name: "survival", scale: Scale::Shares, most: 1.0 };
        let chart = Xy { traces: &traces, x, y, diagonal: false, limit: Some(5.0) };
        let svg = xy(&caption, &chart);
        assert_eq!(values(&svg, "line s1", "d"), {
            ["M0.00,0.00 L50.00,0.00 L50.00,110.00 L100.00,110.00 L100.00,110.00"]
        });
        assert_eq!(values(&svg, "small s0", "cx"), ["25.00%"]);
        assert_eq!(values(&svg, "small s0", "cy"), ["165.0"]);
        assert_eq!(values(&svg, "band s1", "d").len(), 1);
        assert_eq!(values(&svg, "reference", "d"), ["M50.00,220.00 L50.00,0.00"]);
        assert!(svg.contains("&lt;p&gt;") && svg.contains(">100%<"), "{svg}");
    }

    #[test]
    fn one_of_several_is_drawn_thin() {
        let points = [at(0.0, 1.0), at(1.0, 0.0)];
        let trace = |shape| Trace { name: "a", shape, points: &points, style: 2 };
        let traces = [trace(Shape::Thin), trace(Shape::Line)];
        let axis = Axis { name: "a", scale: Scale::Numbers, most: 1.0 };
        let chart = Xy { traces: &traces, x: axis, y: axis, diagonal: false, limit: None };
        let svg = xy(&Caption { id: "c", title: "t", about: "a" }, &chart);
        let lines = ["line s2 of-many", "line s2"].map(|class| values(&svg, class, "d"));
        assert_eq!(lines[0], ["M0.00,0.00 L100.00,220.00"]);
        assert_eq!(lines[0], lines[1]);
    }

    #[test]
    fn the_diagonal_ends_with_the_shorter_axis() {
        let points = [at(8.0, 4.0)];
        let traces = [Trace { name: "a", shape: Shape::Line, points: &points, style: 0 }];
        let axis = |most: f64| Axis { name: "a", scale: Scale::Numbers, most };
        let chart = Xy { traces: &traces, x: axis(8.0), y: axis(4.0), diagonal: true, limit: None };
        let svg = xy(&Caption { id: "c", title: "t", about: "a" }, &chart);
        assert_eq!(values(&svg, "reference", "d"), ["M0.00,220.00 L50.00,0.00"]);
    }
}
