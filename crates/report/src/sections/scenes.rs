//! What became of other objects where one was inserted into a scene or removed from it.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Plot, Reach, Row, Table};
use crate::prose::scenes;
use crate::svg::{self, Caption, columns};
use faultlens_analysis::format;
use faultlens_analysis::{ChangedScenes, Mean, Rate, Relocations, SceneTotal, Summary};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let summary = input.summary;
    let scenes = &summary.scenes.by_fault;
    if scenes.is_empty() {
        return None;
    }
    let moved = scenes.iter().any(|one| one.moved.is_some());
    let mut blocks = vec![
        Block::paragraph(
            "An object was inserted into each image, or removed from it, and the target was \
             queried again. All other detections must stay: the same objects with the same labels \
             in the same places. The object itself is not judged.",
        ),
        Block::List(sentences(summary)),
        Block::titled(
            "How often other objects changed",
            vec![
                Block::note(format!(
                    "Objects: detections in the clean images. After the plus: further images, from \
                     moving an object further after it had changed a prediction. In brackets: {}.",
                    input.interval
                )),
                Block::Table(overview(summary)),
            ],
        ),
        Block::titled(
            "Kinds of change",
            vec![
                Block::note(format!(
                    "Scenes in which an object was missed, spurious, relabelled or misplaced; one \
                     scene can have several. Distinct: without identical images. Average \
                     precision: scenes that a drop of it alone would reveal; it hardly reacts to \
                     spurious objects with a low score.{}",
                    if moved {
                        " MeasureChange: positions closer to the destination at which the \
                         prediction was changed, too."
                    } else {
                        ""
                    }
                )),
                Block::Table(kinds(scenes, moved)),
            ],
        ),
    ];
    blocks.extend(reach(scenes));
    blocks.extend(naturalness(summary, moved));
    Some(Block::all(blocks))
}

/// How often scenes changed, whether the position matters, and which cases are unstable.
fn sentences(summary: &Summary) -> Vec<String> {
    let mut sentences = Vec::new();
    sentences.extend(summary.scenes.totals.iter().filter_map(scenes::changed_scenes));
    sentences.extend(summary.scenes.placements.iter().filter_map(scenes::placement));
    for total in &summary.scenes.totals {
        if let Some(target) = total.target.as_ref().filter(|_| total.unsteady > 0) {
            sentences.push(scenes::unstable_target(target, total.unsteady));
        }
    }
    sentences
}

fn overview(summary: &Summary) -> Table {
    let scenes = &summary.scenes.by_fault;
    // A column of nothing would only take the room.
    let money = scenes.iter().any(|one| one.money.is_some());
    let mut columns = vec![
        Column::name("target"),
        Column::text("fault"),
        Column::number("scenes").reaching(Reach::Page),
        Column::number("objects").reaching(Reach::Page),
        Column::number("changed"),
        Column::number("rate"),
        Column::number("time").reaching(Reach::Page),
        Column::number("queries").reaching(Reach::Page),
    ];
    if money {
        columns.push(Column::number("cost").reaching(Reach::Page));
    }
    Table {
        caption: "Changed scenes by target and fault".into(),
        columns,
        rows: scenes.iter().map(overview_row).collect(),
        totals: totals(summary),
        sortable: true,
        ..Table::default()
    }
}

fn overview_row(one: &ChangedScenes) -> Row {
    let moved = one.moved.as_ref().map_or(0, |moved| moved.distinct);
    vec![
        Cell::text(&one.target),
        Cell::text(&one.fault),
        with_moved(one.changed.n, moved),
        Cell::count(one.objects),
        changed(&one.changed),
        Cell::rate(&one.changed),
        Cell::number(format::duration(one.seconds), Some(one.seconds)),
        Cell::count(one.queries),
        cost(one.money),
    ]
    .into()
}

/// Targets with several faults, and all targets together.
fn totals(summary: &Summary) -> Vec<Row> {
    let mut rows = Vec::new();
    for total in &summary.scenes.totals {
        let faults =
            summary.scenes.by_fault.iter().filter(|one| Some(&one.target) == total.target.as_ref());
        if total.target.is_none() || faults.count() > 1 {
            rows.push(total_row(total));
        }
    }
    rows
}

fn total_row(total: &SceneTotal) -> Row {
    vec![
        Cell::text(total.target.as_deref().unwrap_or("all targets")),
        Cell::text("all"),
        with_moved(total.scenes, total.moved),
        Cell::count(total.objects),
        changed(&total.changed),
        Cell::rate(&total.changed),
        Cell::number(format::duration(total.seconds), Some(total.seconds)),
        Cell::count(total.queries),
        cost(total.money),
    ]
    .into()
}

/// Scenes, and those more that came of moving objects further.
fn with_moved(scenes: u64, moved: u64) -> Cell {
    let text = match moved {
        0 => format::count(scenes),
        moved => format!("{} + {}", format::count(scenes), format::count(moved)),
    };
    Cell::number(text, Some((scenes + moved) as f64))
}

fn changed(rate: &Rate) -> Cell {
    let text = format!("{} of {}", format::count(rate.events), format::count(rate.n));
    Cell::number(text, Some(rate.events as f64))
}

fn cost(money: Option<f64>) -> Cell {
    let text = money.map_or_else(|| format::NONE.into(), |money| format::number(money, 4));
    Cell::number(text, money)
}

fn kinds(scenes: &[ChangedScenes], moved: bool) -> Table {
    let mut columns = vec![Column::name("target"), Column::text("fault")];
    let titles = ["changed", "distinct", "missed", "spurious", "relabelled", "misplaced"];
    columns.extend(titles.map(Column::number));
    columns.push(Column::number("average precision").reaching(Reach::Page));
    if moved {
        columns.push(Column::number("moved").reaching(Reach::Page));
        columns.push(Column::number("moved, distinct").reaching(Reach::Page));
    }
    Table {
        caption: "Kinds of change by target and fault".into(),
        columns,
        rows: scenes.iter().map(kinds_row).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn kinds_row(one: &ChangedScenes) -> Row {
    let mut cells = vec![Cell::text(&one.target), Cell::text(&one.fault)];
    let counts = [
        one.changed.events,
        one.distinct,
        one.missed,
        one.spurious,
        one.relabelled,
        one.misplaced,
        one.imprecise,
    ];
    cells.extend(counts.map(Cell::count));
    match &one.moved {
        Some(moved) => cells.extend([moved.places, moved.distinct].map(Cell::count)),
        None => cells.extend([(); 2].map(|()| Cell::number(format::NONE, None))),
    }
    cells.into()
}

/// How far objects could be moved while the prediction stayed changed; `None` where none was moved.
fn reach(scenes: &[ChangedScenes]) -> Option<Block> {
    let highest =
        scenes.iter().filter_map(|one| one.moved.as_ref()).map(tallest).fold(0.0, f64::max);
    let moved = scenes.iter().filter(|one| one.moved.as_ref().is_some_and(|one| one.arrived.n > 0));
    let charts: Vec<Chart> =
        moved.enumerate().filter_map(|(at, one)| reach_chart(at, one, highest)).collect();
    if charts.is_empty() {
        return None;
    }
    let note = "An object that changed a prediction was moved towards its destination for as long \
                as the prediction stayed changed. Shares are of all objects that could be moved; \
                all charts have the same scale.";
    Some(Block::titled(
        "How far objects could be moved",
        vec![Block::note(note), Block::Charts(charts)],
    ))
}

/// The largest share of moved objects that came equally far.
fn tallest(moved: &Relocations) -> f64 {
    let most = moved.reach.iter().copied().max().unwrap_or(0);
    most as f64 / moved.reach.iter().sum::<u64>().max(1) as f64
}

/// All charts have the same height, `most`.
fn reach_chart(at: usize, one: &ChangedScenes, most: f64) -> Option<Chart> {
    let moved = one.moved.as_ref()?;
    let last = moved.reach.len().checked_sub(1)?;
    let mut labels = Vec::new();
    for tenth in 0..last {
        labels.push(format!("{} to {}% of the way", 10 * tenth, 10 * (tenth + 1)));
    }
    labels.push("arrived".to_owned());
    let mut bars = Vec::new();
    for (tenth, (&count, label)) in moved.reach.iter().zip(&labels).enumerate() {
        // Every bar has its label; below the axis there is room for some.
        let below = match tenth {
            0 => "0–10%",
            4 => "40–50%",
            tenth if tenth == last => "arrived",
            _ => "",
        };
        bars.push(svg::Column { label, below, count });
    }
    let name = format!("{}, {}", one.target, one.fault);
    let title = format!("How far moved objects came: {name}");
    let arrived = &moved.arrived;
    let about = format!("{} of {} arrived.", format::count(arrived.events), arrived.n);
    let caption = Caption { id: &format!("reach-{at}"), title: &title, about: &about };
    Some(Chart {
        svg: columns(&caption, &bars, "part of the way", most),
        plot: Plot::Xy,
        caption: Some(format!(
            "{name}: {} of {} arrived ({})",
            format::count(arrived.events),
            format::counted(arrived.n, "object"),
            format::rate(arrived)
        )),
        ..Chart::default()
    })
}

/// How natural changed scenes look; `None` where that was not measured.
fn naturalness(summary: &Summary, moved: bool) -> Option<Block> {
    let mut rows: Vec<Row> = Vec::new();
    for one in summary.scenes.by_fault.iter().filter(|one| one.naturalness.n > 0) {
        let none = Cell::number(format::NONE, None);
        let moved = one.moved.as_ref().map_or(none, |moved| share(&moved.naturalness));
        let cells =
            vec![Cell::text(&one.target), Cell::text(&one.fault), share(&one.naturalness), moved];
        rows.push(cells.into());
    }
    if rows.is_empty() {
        return None;
    }
    let mut columns =
        vec![Column::name("target"), Column::text("fault"), Column::number("changed scenes")];
    if moved {
        columns.push(Column::number("moved"));
    }
    let table = Table {
        caption: "Naturalness by target and fault".into(),
        columns,
        rows,
        sortable: true,
        ..Table::default()
    };
    let note = format!(
        "The share of the clean image's edges that the changed image keeps (intersection of their \
         histograms of oriented gradients): 100% is the same image; two unrelated photographs \
         share less than half. Means with {} intervals (Student's, of the logit, so that they stay \
         between 0 and 100%).",
        format::limit(summary.intervals.level.confidence())
    );
    Some(Block::titled("Naturalness", vec![Block::note(note), Block::Table(table)]))
}

fn share(mean: &Mean) -> Cell {
    let text = match mean.value {
        None => format::NONE.into(),
        Some(value) => {
            let [value, low, high] = [value, mean.low, mean.high].map(format::percent);
            format!("{value}% [{low}, {high}]")
        }
    };
    Cell::number(text, mean.value)
}
