//! Curves of the page: every seed thin, their mean bold.

use crate::svg::{At, Axis, Caption, Scale, Shape, Trace, Xy, xy};
use faultlens_retrain::{Configuration, Course, Metric, OfSeed, Retraining};
use std::collections::BTreeMap;

/// A chart with its heading.
pub(super) struct ChartView {
    pub(super) heading: &'static str,
    pub(super) svg: String,
}

/// What a curve shows of a seed: steps and height.
type Curve = fn(&OfSeed, &Course) -> Vec<(usize, f64)>;

/// Which line style a configuration has.
pub(super) fn style(of: Configuration) -> usize {
    match of {
        Configuration::Failing => 0,
        Configuration::Originals => 1,
        Configuration::Unchecked => 2,
    }
}

/// Precision and loss along the steps.
pub(super) fn charts(of: &Retraining) -> Vec<ChartView> {
    let precision: [(&str, &str, &str, Scale, Curve); 3] = [
        ("ap", "COCO AP on held-out scenes", "COCO AP", Scale::Shares, |seed, course| {
            points(seed, course, Metric::Ap)
        }),
        ("ap50", "COCO AP50 on held-out scenes", "COCO AP50", Scale::Shares, |seed, course| {
            points(seed, course, Metric::Ap50)
        }),
        ("loss", "Loss on what is learned from", "loss", Scale::Numbers, |_, course| {
            course.losses.clone()
        }),
    ];
    precision.into_iter().filter_map(|chart| drawn(of, chart)).collect()
}

/// All measurements, the first model's before them.
fn points(seed: &OfSeed, course: &Course, metric: Metric) -> Vec<(usize, f64)> {
    let start = (0, metric.of(&seed.first));
    let others = course.points.iter().map(|point| (point.steps, metric.of(&point.precision)));
    [start].into_iter().chain(others).collect()
}

fn drawn(
    of: &Retraining,
    (id, heading, name, scale, curve): (&str, &'static str, &str, Scale, Curve),
) -> Option<ChartView> {
    let mut curves: Vec<(Configuration, Shape, Vec<At>)> = Vec::new();
    for configuration in Configuration::ALL {
        let mut together: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for seed in &of.seeds {
            let mine = seed.courses.iter().filter(|course| course.configuration == configuration);
            for course in mine {
                let points = curve(seed, course);
                points.iter().for_each(|&(at, y)| together.entry(at).or_default().push(y));
                curves.push((configuration, Shape::Thin, points.into_iter().map(at).collect()));
            }
        }
        let mean = |(steps, ys): (usize, Vec<f64>)| {
            at((steps, ys.iter().sum::<f64>() / ys.len().max(1) as f64))
        };
        curves.push((configuration, Shape::Line, together.into_iter().map(mean).collect()));
    }
    // Means come last, so that no seed's line hides them.
    curves.sort_by_key(|(_, shape, _)| *shape == Shape::Line);
    let all = || curves.iter().flat_map(|(_, _, points)| points);
    let most = |of: fn(&At) -> f64| all().map(of).filter(|y| y.is_finite()).fold(0.0, f64::max);
    all().next()?;
    let trace = |(configuration, shape, points): &'_ (Configuration, Shape, Vec<At>)| {
        (configuration.about(), *shape, points.clone(), style(*configuration))
    };
    let owned: Vec<_> = curves.iter().map(trace).collect();
    let traces: Vec<Trace<'_>> = owned
        .iter()
        .map(|(name, shape, points, style)| Trace { name, shape: *shape, points, style: *style })
        .collect();
    let x = Axis { name: "steps of retraining", scale: Scale::Numbers, most: most(|at| at.x) };
    let y = Axis { name, scale, most: most(|at| at.y) };
    let about = format!("{name} along the steps, a thin line for each seed and a bold mean");
    let caption = Caption { id, title: heading, about: &about };
    let svg = xy(&caption, &Xy { traces: &traces, x, y, diagonal: false, limit: None });
    Some(ChartView { heading, svg })
}

fn at((steps, y): (usize, f64)) -> At {
    At { x: steps as f64, y, interval: None }
}
