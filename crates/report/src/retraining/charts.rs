//! Curves of the page: every seed thin, their mean bold.

use crate::document::{Chart, Plot};
use crate::svg::{At, Axis, Caption, Scale, Shape, Trace, Xy, xy};
use faultlens_analysis::retraining::{Configuration, Course, Metric, OfSeed, Retraining};
use std::collections::BTreeMap;

/// One chart: what is measured along the steps, and how it is read from a seed.
struct Curve {
    id: &'static str,
    title: &'static str,
    /// The name of the vertical axis.
    name: &'static str,
    scale: Scale,
    points: fn(&OfSeed, &Course) -> Vec<(usize, f64)>,
}

const CURVES: [Curve; 3] = [
    Curve {
        id: "ap",
        title: "COCO AP on held-out scenes",
        name: "COCO AP",
        scale: Scale::Shares,
        points: |seed, course| precision(seed, course, Metric::Ap),
    },
    Curve {
        id: "ap50",
        title: "COCO AP50 on held-out scenes",
        name: "COCO AP50",
        scale: Scale::Shares,
        points: |seed, course| precision(seed, course, Metric::Ap50),
    },
    Curve {
        id: "loss",
        title: "Training loss",
        name: "loss",
        scale: Scale::Numbers,
        points: |_, course| course.losses.clone(),
    },
];

/// Which line style a configuration has.
pub(super) fn style(of: Configuration) -> usize {
    match of {
        Configuration::Failing => 0,
        Configuration::Originals => 1,
        Configuration::Unchecked => 2,
    }
}

/// Precision and loss along the steps.
pub(super) fn charts(of: &Retraining) -> Vec<Chart> {
    CURVES.iter().filter_map(|curve| chart(of, curve)).collect()
}

/// All measurements, the first model's before them.
fn precision(seed: &OfSeed, course: &Course, metric: Metric) -> Vec<(usize, f64)> {
    let mut points = vec![(0, metric.of(&seed.first))];
    points.extend(course.points.iter().map(|point| (point.steps, metric.of(&point.precision))));
    points
}

/// A line of the chart.
struct Line {
    configuration: Configuration,
    shape: Shape,
    points: Vec<At>,
}

fn lines(of: &Retraining, curve: &Curve) -> Vec<Line> {
    let mut lines = Vec::new();
    // Means come last, so that no seed's line hides them.
    let mut means = Vec::new();
    for configuration in Configuration::ALL {
        let mut by_steps: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for seed in &of.seeds {
            for course in seed.courses.iter().filter(|one| one.configuration == configuration) {
                let mut points = Vec::new();
                for (steps, y) in (curve.points)(seed, course) {
                    by_steps.entry(steps).or_default().push(y);
                    points.push(at(steps, y));
                }
                lines.push(Line { configuration, shape: Shape::Thin, points });
            }
        }
        let mut points = Vec::new();
        for (steps, ys) in by_steps {
            points.push(at(steps, ys.iter().sum::<f64>() / ys.len() as f64));
        }
        means.push(Line { configuration, shape: Shape::Line, points });
    }
    lines.append(&mut means);
    lines
}

fn at(steps: usize, y: f64) -> At {
    At { x: steps as f64, y, interval: None }
}

fn chart(of: &Retraining, curve: &Curve) -> Option<Chart> {
    let lines = lines(of, curve);
    let mut most_x = 0.0_f64;
    let mut most_y = 0.0_f64;
    let mut traces = Vec::new();
    for Line { configuration, shape, points } in &lines {
        for point in points.iter().filter(|point| point.y.is_finite()) {
            most_x = most_x.max(point.x);
            most_y = most_y.max(point.y);
        }
        traces.push(Trace {
            name: configuration.about(),
            shape: *shape,
            points,
            style: style(*configuration),
        });
    }
    if traces.iter().all(|trace| trace.points.is_empty()) {
        return None;
    }
    let x = Axis { name: "steps of retraining", scale: Scale::Numbers, most: most_x };
    let y = Axis { name: curve.name, scale: curve.scale, most: most_y };
    let about =
        format!("{} along the steps, a thin line for each seed and a bold mean", curve.name);
    let caption = Caption { id: curve.id, title: curve.title, about: &about };
    Some(Chart {
        svg: xy(&caption, &Xy { traces: &traces, x, y, diagonal: false, limit: None }),
        plot: Plot::Xy,
        title: Some(curve.title.to_owned()),
        ..Chart::default()
    })
}
