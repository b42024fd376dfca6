//! What became of other objects where one came into a scene or left it.

use super::rates::{Cell, number, whole};
use crate::escape::plain;
use crate::svg::{Caption, Column, columns};
use faultlens_analysis::words as format;
use faultlens_analysis::{ChangedScenes, Mean, MovedOn, Rate, SceneTotal, Summary};

/// The section.
pub(super) struct ScenesView {
    /// What was found, a sentence each.
    pub(super) said: Vec<String>,
    pub(super) rows: Vec<SceneRow>,
    /// Rows over several faults, and over all targets.
    pub(super) totals: Vec<SceneRow>,
    /// Whether any target costs money; a column of nothing would only take the room.
    pub(super) money: bool,
    pub(super) changes: Vec<ChangeRow>,
    /// Whether objects were moved on.
    pub(super) moved: bool,
    pub(super) plots: Vec<(String, String)>,
    pub(super) natural: Vec<NaturalRow>,
}

/// What was asked and found, of one target and fault.
pub(super) struct SceneRow {
    pub(super) target: String,
    pub(super) fault: String,
    pub(super) scenes: Cell,
    pub(super) objects: Cell,
    pub(super) changed: Cell,
    pub(super) share: Cell,
    pub(super) seconds: Cell,
    pub(super) queries: Cell,
    pub(super) money: Cell,
}

/// How answers changed, of one target and fault.
pub(super) struct ChangeRow {
    pub(super) target: String,
    pub(super) fault: String,
    /// Numbers in the order of the table's head.
    pub(super) counts: Vec<Cell>,
    /// By moving on, and those of them that are distinct.
    pub(super) moved: [Cell; 2],
}

/// How natural changed scenes look, of one target and fault.
pub(super) struct NaturalRow {
    pub(super) target: String,
    pub(super) fault: String,
    pub(super) changed: Cell,
    pub(super) moved: Cell,
}

/// The view; `None` where no scene was changed.
pub(super) fn scenes(summary: &Summary) -> Option<ScenesView> {
    let all = &summary.scenes;
    let highest = all.iter().filter_map(|one| one.moved.as_ref()).map(highest).fold(0.0, f64::max);
    let moved = |one: &&ChangedScenes| one.moved.as_ref().is_some_and(|moved| moved.arrived.n > 0);
    let plots = all.iter().filter(moved).enumerate();
    (!all.is_empty()).then(|| ScenesView {
        said: said(summary),
        rows: all.iter().map(row).collect(),
        totals: totals(summary),
        money: all.iter().any(|one| one.money.is_some()),
        changes: all.iter().map(change).collect(),
        moved: all.iter().any(|one| one.moved.is_some()),
        plots: plots.filter_map(|(at, one)| plot(at, one, highest)).collect(),
        natural: all.iter().filter(|one| one.naturalness.n > 0).map(natural).collect(),
    })
}

/// What was found in words: by target, over all, where objects were put, and what nobody can tell.
fn said(summary: &Summary) -> Vec<String> {
    let totals = summary.scene_totals.iter();
    let unsteady = totals.clone().filter_map(format::unsteady);
    let said = totals.filter_map(format::changed_scenes);
    let said = said.chain(summary.placed.iter().filter_map(format::placed)).chain(unsteady);
    said.map(|sentence| plain(&sentence)).collect()
}

fn row(one: &ChangedScenes) -> SceneRow {
    let moved = one.moved.as_ref().map_or(0, |moved| moved.distinct);
    SceneRow {
        target: plain(&one.target),
        fault: plain(&one.fault),
        scenes: with_moved(one.changed.n, moved),
        objects: whole(one.objects),
        changed: changed(&one.changed),
        share: number(format::rate(&one.changed), one.changed.value),
        seconds: number(format::duration(one.seconds), Some(one.seconds)),
        queries: whole(one.queries),
        money: money(one.money),
    }
}

/// Targets with several faults, and all targets.
fn totals(summary: &Summary) -> Vec<SceneRow> {
    let several = |total: &&SceneTotal| match &total.target {
        Some(target) => summary.scenes.iter().filter(|one| one.target == *target).count() > 1,
        None => true,
    };
    let row = |total: &SceneTotal| SceneRow {
        target: total.target.as_deref().map_or_else(|| "all targets".into(), plain),
        fault: "all".into(),
        scenes: with_moved(total.scenes, total.moved),
        objects: whole(total.objects),
        changed: changed(&total.changed),
        share: number(format::rate(&total.changed), total.changed.value),
        seconds: number(format::duration(total.seconds), Some(total.seconds)),
        queries: whole(total.queries),
        money: money(total.money),
    };
    summary.scene_totals.iter().filter(several).map(row).collect()
}

/// Scenes, and those more that came of moving objects on.
fn with_moved(scenes: u64, moved: u64) -> Cell {
    let text = match moved {
        0 => format::count(scenes),
        moved => format!("{} + {}", format::count(scenes), format::count(moved)),
    };
    number(text, Some((scenes + moved) as f64))
}

fn changed(rate: &Rate) -> Cell {
    let text = format!("{} of {}", format::count(rate.events), format::count(rate.n));
    number(text, Some(rate.events as f64))
}

fn money(money: Option<f64>) -> Cell {
    number(money.map_or_else(|| format::NONE.into(), |money| format::number(money, 4)), money)
}

fn change(one: &ChangedScenes) -> ChangeRow {
    let kinds = [one.missed, one.spurious, one.relabelled, one.misplaced];
    let counts = [one.changed.events, one.distinct].into_iter().chain(kinds).chain([one.imprecise]);
    let none = || number(format::NONE.into(), None);
    let moved = match &one.moved {
        Some(moved) => [moved.places, moved.distinct].map(whole),
        None => [none(), none()],
    };
    let (target, fault) = (plain(&one.target), plain(&one.fault));
    ChangeRow { target, fault, counts: counts.map(whole).collect(), moved }
}

/// The largest share of moved objects that came equally far.
fn highest(moved: &MovedOn) -> f64 {
    let most = moved.reach.iter().copied().max().unwrap_or(0);
    most as f64 / moved.reach.iter().sum::<u64>().max(1) as f64
}

/// How far moved objects came, all plots to the same height.
fn plot(at: usize, one: &ChangedScenes, most: f64) -> Option<(String, String)> {
    let moved = one.moved.as_ref()?;
    let last = moved.reach.len().checked_sub(1)?;
    let label = |tenth: usize| match tenth {
        tenth if tenth == last => "arrived".to_owned(),
        tenth => format!("{} to {}% of the way", 10 * tenth, 10 * (tenth + 1)),
    };
    let labels: Vec<String> = (0..=last).map(label).collect();
    // Every bar has its words; below there is room for some.
    let below = |tenth: usize| match tenth {
        0 => "0–10%",
        4 => "40–50%",
        tenth if tenth == last => "arrived",
        _ => "",
    };
    let bars: Vec<Column<'_>> = (moved.reach.iter().zip(&labels).enumerate())
        .map(|(tenth, (&count, label))| Column { label, below: below(tenth), count })
        .collect();
    let name = format!("{}, {}", one.target, one.fault);
    let title = format!("How far moved objects came: {name}");
    let arrived = &moved.arrived;
    let about = format!("{} of {} arrived.", format::count(arrived.events), arrived.n);
    let caption = Caption { id: &format!("reach-{at}"), title: &title, about: &about };
    let chart = columns(&caption, &bars, "part of the way", most);
    let came = format!(
        "{}: {} of {} arrived ({})",
        plain(&name),
        format::count(arrived.events),
        format::counted(arrived.n, "object"),
        format::rate(arrived)
    );
    Some((came, chart))
}

fn natural(one: &ChangedScenes) -> NaturalRow {
    let none = || number(format::NONE.into(), None);
    NaturalRow {
        target: plain(&one.target),
        fault: plain(&one.fault),
        changed: share(&one.naturalness),
        moved: one.moved.as_ref().map_or_else(none, |moved| share(&moved.naturalness)),
    }
}

fn share(mean: &Mean) -> Cell {
    let text = mean.value.map_or_else(
        || format::NONE.into(),
        |value| {
            let [value, low, high] = [value, mean.low, mean.high].map(format::percent);
            format!("{value}% [{low}, {high}]")
        },
    );
    number(text, mean.value)
}
