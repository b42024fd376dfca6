//! Charts of the sweep's page.

use super::ratio;
use crate::document::{Chart, Plot};
use crate::survival::{SurvivalPlot, SurvivalPoint, SurvivalSeries, SurvivalShape};
use crate::svg::{Along, Caption, Factor, Violin, factors, violins};
use faultlens_analysis::Rate;
use faultlens_analysis::format::{self, counted, number};
use faultlens_analysis::sweep::{
    Counts, Durations, Effect, Findings, Kind, OfConfiguration, OfModel, Part, Trace,
};
use std::collections::BTreeMap;

/// The level of a configuration along an axis of the sweep.
fn level<'a>(of: &'a OfConfiguration, axis: &str) -> &'a str {
    match axis {
        "attack" => &of.attack,
        "defence" => &of.defence,
        "architecture" => &of.architecture,
        _ => &of.data,
    }
}

/// One row of a chart of spreads.
struct Spread<'a> {
    label: &'a str,
    values: Vec<f64>,
    /// Where the values lie on the whole, with an interval.
    centre: [f64; 3],
    /// The centre in words.
    text: String,
}

/// Accuracies of every configuration, by defence and by attack.
pub(super) fn accuracies(of: &Findings) -> Vec<Chart> {
    let benign: fn(&Counts) -> &Rate = |counts| &counts.benign;
    let adversarial: fn(&Counts) -> &Rate = |counts| &counts.adversarial;
    let wanted = [
        ("Benign accuracy by defence", "defence", benign),
        ("Adversarial accuracy by defence", "defence", adversarial),
        ("Adversarial accuracy by attack", "attack", adversarial),
    ];
    let mut charts = Vec::new();
    for (at, (title, axis, accuracy)) in wanted.into_iter().enumerate() {
        let mut rows = Vec::new();
        for group in of.groups.iter().filter(|one| one.axis == axis).flat_map(|one| &one.groups) {
            let pooled = accuracy(&group.counts);
            let Some(value) = pooled.value else { continue };
            let members = of.configurations.iter().filter(|one| level(one, axis) == group.level);
            rows.push(Spread {
                label: &group.level,
                values: members.filter_map(|one| accuracy(&one.counts).value).collect(),
                centre: [value, pooled.low, pooled.high],
                text: format::rate(pooled),
            });
        }
        charts.extend(spreads(&format!("accuracy-{at}"), title, &rows, Along::Shares));
    }
    charts
}

/// Training over attack seconds of every configuration, along each axis.
pub(super) fn costs(of: &Findings) -> Vec<Chart> {
    let benign: fn(&OfConfiguration) -> Option<f64> =
        |one| one.costs.as_ref()?.benign.as_ref()?.value;
    let wanted = [
        ("By defence", "defence", ratio as fn(&OfConfiguration) -> Option<f64>),
        ("By attack", "attack", ratio),
        ("By architecture", "architecture", ratio),
        ("Without an attacker, by architecture", "architecture", benign),
    ];
    let mut charts = Vec::new();
    for (at, (title, axis, value)) in wanted.into_iter().enumerate() {
        let mut levels: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for one in &of.configurations {
            if let Some(value) = value(one) {
                levels.entry(level(one, axis)).or_default().push(value);
            }
        }
        let rows: Vec<Spread<'_>> =
            levels.into_iter().map(|(label, values)| around_median(label, values)).collect();
        charts.extend(spreads(&format!("cost-{at}"), title, &rows, Along::Ratios));
    }
    charts
}

/// The median with the quartiles around it.
fn around_median(label: &str, mut values: Vec<f64>) -> Spread<'_> {
    values.sort_by(f64::total_cmp);
    let last = (values.len() - 1) as f64;
    let centre = [0.5, 0.25, 0.75].map(|share| values[(last * share).round() as usize]);
    let [median, low, high] = centre.map(|value| number(value, 3));
    let configurations = counted(values.len() as u64, "configuration");
    let text = format!("median {median} of {configurations}, half of them from {low} to {high}");
    Spread { label, values, centre, text }
}

fn spreads(id: &str, title: &str, rows: &[Spread<'_>], along: Along) -> Option<Chart> {
    if rows.is_empty() {
        return None;
    }
    let mut drawn = Vec::new();
    let mut about = Vec::new();
    for Spread { label, values, centre, text } in rows {
        drawn.push(Violin { label, values, centre: *centre, text });
        about.push(format!("{label}: {text}"));
    }
    let caption = Caption { id, title, about: &about.join("; ") };
    Some(dots(title, violins(&caption, &drawn, along)))
}

/// What levels do, and what numbers do.
pub(super) fn effects(of: &Durations) -> Vec<Chart> {
    let all = of.chosen.iter().flat_map(|chosen| &chosen.effects);
    let all = all.filter(|effect| effect.withheld.is_none());
    let (numbers, levels): (Vec<&Effect>, Vec<&Effect>) =
        all.partition(|effect| effect.covariate.kind == Kind::Number);
    let mut charts = Vec::new();
    for (id, title, effects) in
        [("levels", "Attacks, defences and data", levels), ("numbers", "Numbers", numbers)]
    {
        if effects.is_empty() {
            continue;
        }
        let mut rows = Vec::new();
        for effect in effects {
            let [value, low, high] = effect.ratio;
            rows.push(Factor { label: &effect.covariate.name, value, low, high });
        }
        let about = "A dot for each factor on the seconds until a change, with its interval";
        charts.push(dots(title, factors(&Caption { id, title, about }, &rows)));
    }
    charts
}

/// A chart with names left of its rows.
fn dots(title: &str, svg: String) -> Chart {
    Chart { svg, plot: Plot::Dots, title: Some(title.to_owned()), ..Chart::default() }
}

/// Calibration of each model.
pub(super) fn calibration(of: &Durations) -> Vec<SurvivalPlot> {
    plots(of, |model| &model.calibration, SurvivalShape::Line)
}

/// Quantiles of each model.
pub(super) fn quantiles(of: &Durations) -> Vec<SurvivalPlot> {
    plots(of, |model| &model.qq, SurvivalShape::Points)
}

fn plots(
    of: &Durations,
    traces: fn(&OfModel) -> &[Trace],
    shape: SurvivalShape,
) -> Vec<SurvivalPlot> {
    let mut plots = Vec::new();
    for model in of.models.iter().filter(|model| model.error.is_none()) {
        let missing = (!model.notes.is_empty()).then(|| model.notes.join("; "));
        let series = traces(model).iter().map(|trace| series(trace, shape)).collect();
        plots.push(SurvivalPlot { name: model.model.clone(), series, missing });
    }
    plots
}

fn series(of: &Trace, shape: SurvivalShape) -> SurvivalSeries {
    let name = match of.part {
        Part::Train => "training rows",
        Part::Test => "test rows",
    };
    let mut points = Vec::new();
    for &[x, y] in &of.points {
        points.push(SurvivalPoint { x, y, interval: None });
    }
    SurvivalSeries { name: name.to_owned(), shape, points }
}
