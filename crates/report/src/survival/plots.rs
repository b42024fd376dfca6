//! The sections of charts: the same axes for every model, so that they can be compared.

use super::{SurvivalPlot, SurvivalPoint};
use crate::document::{Block, Chart, Key, Mark, Part, Plot};
use crate::svg::{Axis, Caption, Scale, Trace, Xy, xy};

/// What a section shows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Curves,
    Calibration,
    Qq,
}

/// The section with a chart for each model; `None` where there is nothing to show.
pub(crate) fn part(kind: Kind, plots: &[SurvivalPlot], duration: &str) -> Option<Part> {
    if plots.is_empty() {
        return None;
    }
    // The same name has the same line style in all charts of the section.
    let mut names: Vec<&str> = Vec::new();
    for series in plots.iter().flat_map(|plot| &plot.series) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let axes = kind.axes(duration, plots);
    let mut charts = Vec::new();
    for (at, plot) in plots.iter().enumerate() {
        charts.push(Chart {
            svg: draw(axes, &format!("{}-{at}", kind.id()), plot, &names),
            plot: Plot::Xy,
            title: Some(plot.name.clone()),
            caption: plot.missing.clone(),
            ..Chart::default()
        });
    }
    let mut legend = Vec::new();
    for (at, name) in names.iter().enumerate() {
        legend.push(Key { mark: Mark::Line(at), text: (*name).to_owned() });
    }
    let blocks = vec![Block::note(kind.about()), Block::Legend(legend), Block::Charts(charts)];
    Some(Part::new(kind.id(), kind.title(), Block::all(blocks)))
}

impl Kind {
    fn id(self) -> &'static str {
        match self {
            Self::Curves => "curves",
            Self::Calibration => "calibration",
            Self::Qq => "qq",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Curves => "Survival over time",
            Self::Calibration => "Calibration",
            Self::Qq => "Quantiles",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Curves => {
                "The share of rows without an event so far. The Kaplan-Meier curve assumes no \
                 model; its band is the 95% interval."
            }
            Self::Calibration => {
                "The predicted probability of an event by the chosen time, against the share \
                 observed among rows with that prediction. A well calibrated model follows the \
                 diagonal."
            }
            Self::Qq => {
                "Observed residuals of the events against the quantiles that the model expects. \
                 Points above the diagonal lasted longer than the model allows, points below it \
                 shorter."
            }
        }
    }

    /// The axes of all charts of the section.
    fn axes<'a>(self, duration: &'a str, plots: &[SurvivalPlot]) -> Axes<'a> {
        match self {
            Self::Curves => Axes {
                x: Axis { name: duration, scale: Scale::Numbers, most: highest(plots, |p| p.x) },
                y: shares("still without event"),
                diagonal: false,
            },
            Self::Calibration => Axes {
                x: shares("predicted probability"),
                y: shares("observed share"),
                diagonal: true,
            },
            Self::Qq => {
                // One scale for both axes, so that the diagonal is where they agree.
                let most = highest(plots, |p| p.x.max(p.y));
                Axes {
                    x: Axis { name: "expected quantile", scale: Scale::Numbers, most },
                    y: Axis { name: "observed quantile", scale: Scale::Numbers, most },
                    diagonal: true,
                }
            }
        }
    }
}

/// The axes of a section's charts.
#[derive(Clone, Copy)]
struct Axes<'a> {
    x: Axis<'a>,
    y: Axis<'a>,
    diagonal: bool,
}

fn shares(name: &str) -> Axis<'_> {
    Axis { name, scale: Scale::Shares, most: 1.0 }
}

/// The highest finite value among all points.
fn highest(plots: &[SurvivalPlot], value: fn(&SurvivalPoint) -> f64) -> f64 {
    let mut highest = 0.0_f64;
    for series in plots.iter().flat_map(|plot| &plot.series) {
        for value in series.points.iter().map(value).filter(|value| value.is_finite()) {
            highest = highest.max(value);
        }
    }
    highest
}

fn draw(axes: Axes<'_>, id: &str, plot: &SurvivalPlot, names: &[&str]) -> String {
    let mut traces = Vec::new();
    for series in &plot.series {
        traces.push(Trace {
            name: &series.name,
            shape: series.shape,
            points: &series.points,
            style: names.iter().position(|name| *name == series.name).unwrap_or(0),
        });
    }
    let Axes { x, y, diagonal } = axes;
    let drawn: Vec<&str> = plot.series.iter().map(|series| series.name.as_str()).collect();
    let about = format!("{} against {}: {}", y.name, x.name, drawn.join(", "));
    let caption = Caption { id, title: &plot.name, about: &about };
    xy(&caption, &Xy { traces: &traces, x, y, diagonal, limit: None })
}
