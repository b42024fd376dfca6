//! Charts of the page.

use std::collections::BTreeMap;

use faultlens_analysis::format::{counted, number};
use faultlens_sweep::analysis::{
    Counts, Durations, Effect, Findings, Kind, OfConfiguration, OfModel, Part, Trace,
};

use super::words::{rate, ratio};
use crate::survival::plots::{Kind as PlotKind, PlotsView};
use crate::survival::{SurvivalPlot, SurvivalPoint, SurvivalSeries, SurvivalShape};
use crate::svg::{Along, Caption, Factor, Violin, factors, violins};
use faultlens_analysis::Rate;

/// A chart with its heading.
pub(super) struct ChartView {
    pub(super) heading: String,
    pub(super) svg: String,
}

/// Which level of an axis a configuration has.
type LevelOf = fn(&OfConfiguration) -> &str;

fn level_of(axis: &str) -> LevelOf {
    match axis {
        "attack" => |c| &c.attack,
        "defence" => |c| &c.defence,
        "architecture" => |c| &c.architecture,
        _ => |c| &c.data,
    }
}

/// Accuracies of every configuration, by defence and by attack.
pub(super) fn accuracies(of: &Findings) -> Vec<ChartView> {
    type Pick = fn(&Counts) -> &Rate;
    let charts: [(&str, &str, Pick); 3] = [
        ("Benign accuracy by defence", "defence", |counts| &counts.benign),
        ("Adversarial accuracy by defence", "defence", |counts| &counts.adversarial),
        ("Adversarial accuracy by attack", "attack", |counts| &counts.adversarial),
    ];
    let chart = |(i, (heading, axis, pick)): (usize, (&str, &str, Pick))| {
        let grouping = of.groups.iter().find(|grouping| grouping.axis == axis)?;
        let level = level_of(axis);
        let mut parts = Vec::new();
        for group in &grouping.groups {
            let pooled = pick(&group.counts);
            let Some(value) = pooled.value else { continue };
            let members = of.configurations.iter().filter(|c| level(c) == group.level);
            let values: Vec<f64> = members.filter_map(|c| pick(&c.counts).value).collect();
            let centre = [value, pooled.low, pooled.high];
            parts.push((group.level.as_str(), values, centre, rate(pooled)));
        }
        drawn(&format!("accuracy-{i}"), heading, &parts, Along::Shares)
    };
    charts.into_iter().enumerate().filter_map(chart).collect()
}

/// Training over attack seconds of every configuration, along each axis.
pub(super) fn costs(of: &Findings) -> Vec<ChartView> {
    type Pick = fn(&OfConfiguration) -> Option<f64>;
    let benign: Pick = |c| c.costs.as_ref()?.benign.as_ref()?.value;
    let charts: [(&str, &str, Pick); 4] = [
        ("By defence", "defence", ratio),
        ("By attack", "attack", ratio),
        ("By architecture", "architecture", ratio),
        ("Without an attacker, by architecture", "architecture", benign),
    ];
    let chart = |(i, (heading, axis, pick)): (usize, (&str, &str, Pick))| {
        let level = level_of(axis);
        let mut levels: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for one in &of.configurations {
            if let Some(value) = pick(one) {
                levels.entry(level(one)).or_default().push(value);
            }
        }
        let part = |(level, mut values): (_, Vec<f64>)| {
            values.sort_by(f64::total_cmp);
            let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
            let centre = [at(0.5), at(0.25), at(0.75)];
            let [middle, low, high] = centre.map(|value| number(value, 3));
            let told = format!(
                "{middle} in the middle of {}, half of them from {low} to {high}",
                counted(values.len() as u64, "configuration")
            );
            (level, values, centre, told)
        };
        let parts: Vec<Row<'_>> = levels.into_iter().map(part).collect();
        drawn(&format!("cost-{i}"), heading, &parts, Along::Ratios)
    };
    charts.into_iter().enumerate().filter_map(chart).collect()
}

/// Label, values, centre with its interval, and the words for it.
type Row<'a> = (&'a str, Vec<f64>, [f64; 3], String);

fn drawn(id: &str, heading: &str, parts: &[Row<'_>], along: Along) -> Option<ChartView> {
    if parts.is_empty() {
        return None;
    }
    let rows: Vec<Violin<'_>> = parts
        .iter()
        .map(|(label, values, centre, told)| Violin { label, values, centre: *centre, told })
        .collect();
    let told: Vec<String> =
        parts.iter().map(|(label, _, _, told)| format!("{label}: {told}")).collect();
    let caption = Caption { id, title: heading, about: &told.join("; ") };
    Some(ChartView { heading: heading.to_owned(), svg: violins(&caption, &rows, along) })
}

/// What levels do, and what numbers do.
pub(super) fn effects(of: &Durations) -> Vec<ChartView> {
    let all = of.chosen.iter().flat_map(|chosen| &chosen.effects);
    let (numbers, levels): (Vec<&Effect>, Vec<&Effect>) =
        all.partition(|effect| effect.covariate.kind == Kind::Number);
    let chart = |(id, heading, effects): (&str, &str, Vec<&Effect>)| {
        let factor = |effect: &&'_ Effect| {
            let [value, low, high] = effect.ratio;
            (effect.covariate.name.clone(), value, low, high)
        };
        let rows: Vec<(String, f64, f64, f64)> = effects.iter().map(factor).collect();
        let rows: Vec<Factor<'_>> = rows
            .iter()
            .map(|(label, value, low, high)| Factor {
                label,
                value: *value,
                low: *low,
                high: *high,
            })
            .collect();
        let about = "A dot for each factor on the seconds until a change, with its interval";
        let svg = factors(&Caption { id, title: heading, about }, &rows);
        (!rows.is_empty()).then(|| ChartView { heading: heading.to_owned(), svg })
    };
    let both = [("levels", "Attacks, defences and data", levels), ("numbers", "Numbers", numbers)];
    both.into_iter().filter_map(chart).collect()
}

/// Calibration and quantiles of each model.
pub(super) fn plots(of: &Durations) -> Vec<PlotsView> {
    let plot = |pick: fn(&OfModel) -> &[Trace], shape: SurvivalShape| {
        let models = of.models.iter().filter(|model| model.error.is_none());
        let one = |model: &OfModel| SurvivalPlot {
            name: model.model.clone(),
            series: pick(model).iter().map(|trace| series(trace, shape)).collect(),
            missing: (!model.notes.is_empty()).then(|| model.notes.join("; ")),
        };
        models.map(one).collect::<Vec<SurvivalPlot>>()
    };
    let sections = [
        (PlotKind::Calibration, plot(|model| &model.calibration, SurvivalShape::Line)),
        (PlotKind::Qq, plot(|model| &model.qq, SurvivalShape::Points)),
    ];
    let unit = of.clock.unit();
    sections.iter().filter_map(|(kind, plots)| PlotsView::new(*kind, plots, unit)).collect()
}

fn series(of: &Trace, shape: SurvivalShape) -> SurvivalSeries {
    let name = match of.part {
        Part::Train => "training rows",
        Part::Test => "test rows",
    };
    let point = |&[x, y]: &[f64; 2]| SurvivalPoint { x, y, interval: None };
    let points = of.points.iter().map(point).collect();
    SurvivalSeries { name: name.to_owned(), shape, points }
}
