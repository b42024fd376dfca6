//! The sections of charts: the same axes for every model, so that they can be compared.

use super::{SurvivalPlot, SurvivalPoint};
use crate::escape::plain;
use crate::svg::{Axis, Caption, Scale, Trace, Xy, xy};

/// What a section shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Curves,
    Calibration,
    Qq,
}

/// A section of charts.
pub(crate) struct PlotsView {
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    /// Name and line style of what is drawn.
    pub(crate) legend: Vec<(String, usize)>,
    pub(crate) charts: Vec<ChartView>,
}

/// One chart with its heading.
pub(crate) struct ChartView {
    pub(crate) name: String,
    pub(crate) svg: String,
    pub(crate) missing: Option<String>,
}

impl PlotsView {
    /// `None` where there is nothing to show.
    pub(crate) fn new(kind: Kind, plots: &[SurvivalPlot], duration: &str) -> Option<Self> {
        let (id, title, about) = kind.words();
        if plots.is_empty() {
            return None;
        }
        let mut names: Vec<&str> = Vec::new();
        for series in plots.iter().flat_map(|plot| &plot.series) {
            if !names.contains(&series.name.as_str()) {
                names.push(&series.name);
            }
        }
        let axes = kind.axes(duration, plots);
        let chart = |(i, plot): (usize, &SurvivalPlot)| ChartView {
            name: plain(&plot.name),
            svg: draw(axes, &format!("{id}-{i}"), plot, &names),
            missing: plot.missing.clone(),
        };
        Some(Self {
            id,
            title,
            about,
            charts: plots.iter().enumerate().map(chart).collect(),
            legend: names.iter().enumerate().map(|(i, name)| (plain(name), i)).collect(),
        })
    }
}

impl Kind {
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Curves => (
                "curves",
                "Survival over time",
                "The share of rows without event so far. Kaplan and Meier's curve assumes no \
                 model; its band is the 95% interval.",
            ),
            Self::Calibration => (
                "calibration",
                "Calibration",
                "The predicted chance of an event by the time looked at, against the share that \
                 was observed among rows with that prediction. On the diagonal a model can be \
                 taken at its word.",
            ),
            Self::Qq => (
                "qq",
                "Quantiles",
                "What the model left of each event's duration against what it expects. Points \
                 above the diagonal lasted longer than the model allows, points below it shorter.",
            ),
        }
    }

    /// The axes of all charts of the section.
    fn axes<'a>(self, duration: &'a str, plots: &[SurvivalPlot]) -> Axes<'a> {
        let points = || plots.iter().flat_map(|p| &p.series).flat_map(|s| &s.points);
        let most = |values: &dyn Fn(&SurvivalPoint) -> f64| {
            points().map(values).filter(|v| v.is_finite()).fold(0.0, f64::max)
        };
        let shares = |name| Axis { name, scale: Scale::Shares, most: 1.0 };
        let numbers = |name, most| Axis { name, scale: Scale::Numbers, most };
        let (x, y) = match self {
            Self::Curves => (numbers(duration, most(&|p| p.x)), shares("still without event")),
            Self::Calibration => (shares("predicted chance"), shares("observed share")),
            Self::Qq => {
                let both = most(&|p| p.x.max(p.y));
                (numbers("expected quantile", both), numbers("observed quantile", both))
            }
        };
        Axes { x, y, diagonal: !matches!(self, Self::Curves) }
    }
}

/// The axes of a section's charts.
#[derive(Clone, Copy)]
struct Axes<'a> {
    x: Axis<'a>,
    y: Axis<'a>,
    diagonal: bool,
}

fn draw(axes: Axes<'_>, id: &str, plot: &SurvivalPlot, names: &[&str]) -> String {
    let style = |name: &str| names.iter().position(|known| *known == name).unwrap_or(0);
    let traces: Vec<Trace<'_>> = plot
        .series
        .iter()
        .map(|series| Trace {
            name: &series.name,
            shape: series.shape,
            points: &series.points,
            style: style(&series.name),
        })
        .collect();
    let Axes { x, y, diagonal } = axes;
    let drawn: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    let about = format!("{} against {}: {}", y.name, x.name, drawn.join(", "));
    let caption = Caption { id, title: &plot.name, about: &about };
    xy(&caption, &Xy { traces: &traces, x, y, diagonal, limit: None })
}
