//! What the page says of layers, bits, classes and traits: drawings beside tables.

use super::examples::ImageView;
use super::rates::{Cell, number, whole};
use crate::escape::plain;
use crate::image::{Album, Room};
use crate::svg::{
    Caption, ENOUGH, Lines, STEPS, Series, heat, highest, lines, rate_ticks, score, step,
};
use faultlens_analysis::words as format;
use faultlens_analysis::{
    Class, Classes, CriticalBits, CriticalLayer, HeatMap, Ranking, Rate, Summary, Trait,
};

/// Rows of a ranking; the rest accounts for little.
const MOST_RANKED: usize = 20;

/// A heat map with its numbers.
pub(super) struct HeatView {
    pub(super) target: String,
    pub(super) chart: String,
    /// What the steps of darkness mean: class and text.
    pub(super) steps: Vec<(String, String)>,
    pub(super) bits: Vec<u32>,
    pub(super) rows: Vec<(String, Vec<Cell>)>,
    pub(super) few: u64,
}

/// The views of all heat maps.
pub(super) fn heat_maps(maps: &[HeatMap]) -> Vec<HeatView> {
    maps.iter().enumerate().map(heat_map).collect()
}

fn heat_map((at, map): (usize, &HeatMap)) -> HeatView {
    let about = about(map);
    let title = format!("Rate of changed trials by layer and bit, {}", map.target);
    let caption = Caption { id: &format!("heat-{at}"), title: &title, about: &about };
    let cell = |rate: &Rate| {
        let text = match rate.value {
            None => format::NONE.into(),
            Some(_) => format!("{} of {}", format::value(rate), format::count(rate.n)),
        };
        number(text, rate.value)
    };
    HeatView {
        target: plain(&map.target),
        chart: heat(&caption, map),
        steps: steps(highest(map)),
        bits: map.bits.clone(),
        rows: map
            .rows
            .iter()
            .map(|row| {
                let name = plain(&format::layer(row.layer, &row.name));
                (name, row.cells.iter().map(cell).collect())
            })
            .collect(),
        few: ENOUGH,
    }
}

/// What can be seen in a map, for those who do not see it.
fn about(map: &HeatMap) -> String {
    let cells = map.rows.iter().flat_map(|row| {
        let cells = row.cells.iter().zip(&map.bits).filter(|(cell, _)| cell.n >= ENOUGH);
        cells.filter_map(move |(cell, bit)| Some((cell.value?, row, bit, cell)))
    });
    match cells.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((_, row, bit, cell)) => format!(
            "Highest: bit {bit} in layer {} with {}. The table has all numbers.",
            format::layer(row.layer, &row.name),
            format::rate(cell)
        ),
        None => "No cell has enough trials to say much. The table has all numbers.".into(),
    }
}

/// The steps of darkness in words.
fn steps(most: f64) -> Vec<(String, String)> {
    let edge = |step: usize| format::percent(most * step as f64 / (STEPS - 1) as f64);
    let text = |at: usize| match at {
        0 => "0%".to_owned(),
        at => format!("up to {}%", edge(at)),
    };
    let all = (0..STEPS).map(|at| (format!("c{}", step(at as f64, (STEPS - 1) as f64)), text(at)));
    all.filter(|_| most > 0.0).collect()
}

/// What to protect first.
pub(super) struct RankingView {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) attribute: String,
    pub(super) rows: Vec<RankedView>,
    pub(super) more: Option<String>,
}

/// A part of a model that could be protected.
pub(super) struct RankedView {
    pub(super) name: String,
    pub(super) events: Cell,
    pub(super) share: Cell,
    pub(super) interval: Cell,
    pub(super) together: Cell,
    pub(super) together_interval: Cell,
    pub(super) bar: String,
}

/// The views of all rankings; targets are named where there are several.
pub(super) fn rankings(summary: &Summary) -> Vec<RankingView> {
    let several = summary.targets.len() > 1;
    summary.rankings.iter().enumerate().map(|(at, one)| ranking(at, one, several)).collect()
}

fn ranking(at: usize, ranking: &Ranking, several: bool) -> RankingView {
    let on = if several { format!(" of {}", plain(&ranking.target)) } else { String::new() };
    let rows = ranking.rows.iter().take(MOST_RANKED).map(|row| RankedView {
        name: plain(&row.name),
        events: whole(row.share.events),
        share: number(format::value(&row.share), row.share.value),
        interval: number(format::interval(&row.share), Some(row.share.low)),
        together: number(format::value(&row.together), row.together.value),
        together_interval: number(format::interval(&row.together), Some(row.together.low)),
        bar: score(row.together.value.unwrap_or(0.0)),
    });
    let left = ranking.rows.len().saturating_sub(MOST_RANKED) as u64;
    let untouched = ranking.of - ranking.rows.len() as u64;
    let more = [(left, "more with less"), (untouched, "without a changed answer")];
    let more = more.iter().filter(|(count, _)| *count > 0);
    let more: Vec<String> =
        more.map(|(count, what)| format!("{} {what}", format::count(*count))).collect();
    RankingView {
        id: format!("protect-{at}"),
        title: format!("{}s{on}", if ranking.attribute == "layer" { "Layer" } else { "Operator" }),
        attribute: plain(&ranking.attribute),
        rows: rows.collect(),
        more: (!more.is_empty()).then(|| more.join(", ")),
    }
}

/// What searches for critical bits found in a target.
pub(super) struct CriticalView {
    pub(super) target: String,
    pub(super) rows: Vec<CriticalRow>,
    pub(super) asked: String,
    pub(super) held: String,
}

/// Critical bits of a layer.
pub(super) struct CriticalRow {
    pub(super) name: String,
    pub(super) elements: Cell,
    pub(super) mean: Cell,
    pub(super) mean_interval: Cell,
    pub(super) share: Cell,
    pub(super) share_interval: Cell,
    pub(super) bar: String,
}

/// The views of all that searches found.
pub(super) fn critical(found: &[CriticalBits]) -> Vec<CriticalView> {
    found.iter().map(critical_bits).collect()
}

fn critical_bits(found: &CriticalBits) -> CriticalView {
    let layers = found.layers.iter().chain([&found.all]);
    let most = layers.clone().filter_map(|layer| layer.mean.value).fold(0.0, f64::max);
    let unexpected = &found.unexpected;
    CriticalView {
        target: plain(&format!("{}, {}", found.target, found.point)),
        rows: layers.map(|layer| critical_row(layer, most)).collect(),
        asked: format!(
            "{} questions, where asking about every bit takes {}: {} times fewer",
            format::count(found.queries),
            format::count(found.exhaustive),
            format::number(found.exhaustive as f64 / found.queries.max(1) as f64, 2)
        ),
        held: format!(
            "{} of {} checked bits were not as their neighbours let expect: {}. Where that is \
             much, the numbers above are rough",
            format::count(unexpected.events),
            format::count(unexpected.n),
            format::rate(unexpected)
        ),
    }
}

fn critical_row(layer: &CriticalLayer, most: f64) -> CriticalRow {
    let CriticalLayer { mean, share, .. } = layer;
    let value = mean.value.map_or(format::NONE.into(), |value| format::number(value, 3));
    let ends = format!("[{}, {}]", format::number(mean.low, 3), format::number(mean.high, 3));
    CriticalRow {
        name: match layer.layer {
            Some(number) => plain(&format::layer(number, &layer.name)),
            None => "all layers".into(),
        },
        elements: whole(mean.n),
        mean: number(value, mean.value),
        mean_interval: number(ends, Some(mean.low)),
        share: number(format::value(share), share.value),
        share_interval: number(format::interval(share), Some(share.low)),
        bar: score(if most > 0.0 { mean.value.unwrap_or(0.0) / most } else { 0.0 }),
    }
}

/// The classes at both ends.
pub(super) struct ClassesView {
    pub(super) of: String,
    pub(super) ends: Vec<(&'static str, Vec<ClassView>)>,
}

/// How a class holds out.
pub(super) struct ClassView {
    pub(super) label: String,
    pub(super) rate: String,
    pub(super) of: String,
    pub(super) picture: ImageView,
}

/// The view of the classes, with images as long as the album has room.
pub(super) fn classes(classes: &Classes, album: &mut Album) -> ClassesView {
    let mut view = |class: &Class| ClassView {
        label: plain(&class.label),
        rate: format::rate(&class.rate),
        of: format!("{} of {}", format::count(class.rate.events), format::count(class.rate.n)),
        picture: ImageView {
            caption: "undisturbed",
            image: match class.image.as_deref() {
                Some(path) => album.show(path, Room::Stamp, "The image undisturbed"),
                None => Err("no image of this class was kept"),
            },
        },
    };
    let worst = classes.worst.iter().map(&mut view).collect();
    let best = classes.best.iter().map(&mut view).collect();
    let ends = vec![("Least resilient", worst), ("Most resilient", best)];
    ClassesView { of: format::count(classes.of), ends }
}

/// Rates and accuracy by a trait.
pub(super) struct TraitView {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) chart: Option<String>,
    pub(super) legend: Vec<(String, String)>,
    pub(super) rows: Vec<TraitRowView>,
}

/// Targets that have a trait in common.
pub(super) struct TraitRowView {
    pub(super) value: String,
    pub(super) targets: Cell,
    pub(super) n: Cell,
    pub(super) rate: Cell,
    pub(super) interval: Cell,
    pub(super) accuracy: Cell,
}

/// The views of all traits.
pub(super) fn traits(traits: &[Trait]) -> Vec<TraitView> {
    traits.iter().enumerate().map(|(at, one)| of_trait(at, one)).collect()
}

fn of_trait(at: usize, one: &Trait) -> TraitView {
    let series: Vec<Series> = one
        .lines
        .iter()
        .enumerate()
        .map(|(style, line)| Series {
            name: if line.name.is_empty() { "all targets".into() } else { line.name.clone() },
            points: line
                .points
                .iter()
                .map(|(place, rate)| (*place, format::number(*place, 4), *rate))
                .collect(),
            style,
        })
        .collect();
    let ends = series.iter().flat_map(|series| series.points.iter().map(|point| point.2.high));
    let ticks = rate_ticks(ends.fold(0.0, f64::max), 4);
    let title = format!("Rate of changed trials along {}", one.name);
    let about = "The table has all numbers.";
    let caption = Caption { id: &format!("trait-{at}-chart"), title: &title, about };
    let row = |row: &faultlens_analysis::TraitRow| TraitRowView {
        value: plain(&row.value),
        targets: whole(row.targets),
        n: whole(row.rate.n),
        rate: number(format::value(&row.rate), row.rate.value),
        interval: number(format::interval(&row.rate), row.rate.value.map(|_| row.rate.low)),
        accuracy: match &row.accuracy {
            Some(rate) => number(format::rate(rate), rate.value),
            None => number("not known".into(), None),
        },
    };
    TraitView {
        id: format!("trait-{at}"),
        name: plain(&one.name),
        legend: series
            .iter()
            .map(|series| (super::rates::sample(series.style), plain(&series.name)))
            .collect(),
        chart: (!series.is_empty())
            .then(|| lines(&caption, &Lines { series: &series, ticks: &ticks, axis: &one.name })),
        rows: one.rows.iter().map(row).collect(),
    }
}

/// How many trials lie beyond thresholds.
pub(super) struct BeyondView {
    pub(super) thresholds: Vec<String>,
    pub(super) rows: Vec<BeyondRow>,
}

/// A target and fault.
pub(super) struct BeyondRow {
    pub(super) target: String,
    pub(super) point: String,
    pub(super) n: Cell,
    pub(super) rates: Vec<Cell>,
}

/// The view of the thresholds; `None` where there are none.
pub(super) fn beyond(summary: &Summary) -> Option<BeyondView> {
    let first = summary.thresholds.first()?;
    let row = |row: &faultlens_analysis::Beyond| BeyondRow {
        target: plain(&row.target),
        point: plain(&row.point),
        n: whole(row.rates.first().map_or(0, |(_, rate)| rate.n)),
        rates: row.rates.iter().map(|(_, rate)| number(format::rate(rate), rate.value)).collect(),
    };
    Some(BeyondView {
        thresholds: first.rates.iter().map(|(at, _)| format::number(*at, 6)).collect(),
        rows: summary.thresholds.iter().map(row).collect(),
    })
}
