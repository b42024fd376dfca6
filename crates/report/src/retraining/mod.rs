//! The page of failure-aware retraining: the precision of each configuration, and how it developed.

mod charts;
pub mod prose;

use crate::document::{
    Block, Cell, Column, Document, Header, Key, KeyFigure, Mark, Part, Picture, Pictures, Row,
    Stamp, Table,
};
use crate::render;
use faultlens_analysis::format::{NONE, count, counted, percent as share_percent};
use faultlens_analysis::retraining::{
    Configuration, Findings, Metric, OfSeed, Origin, Plan, Retraining, findings,
};
use prose::{cautions, conclusions, percent, points, standing};
use std::path::Path;

/// How many failing scenes the page shows.
const MOST_SHOWN: usize = 12;

/// What the page shows. Names in it come from outside; the page escapes them.
#[derive(Debug, Clone)]
pub struct RetrainingPage<'a> {
    /// What was measured.
    pub retraining: &'a Retraining,
    /// The experiment's folder: pictures of scenes come from it.
    pub folder: &'a Path,
    /// Where it comes from: name and value.
    pub provenance: Vec<(String, String)>,
}

const LEAD: &str = "Does a detector learn more from scenes in which it was found to fail? Three \
                    models continue from the same first one, for the same number of steps: with \
                    the originals alone, with failing scenes added, and with changed scenes that \
                    were not checked.";

/// The page, in one file that loads nothing.
pub fn retraining(of: &RetrainingPage<'_>) -> String {
    let all = of.retraining;
    let found = findings(all);
    let header = Header {
        kind: "Retraining experiment",
        title: "Failure-aware retraining".into(),
        lead: LEAD.into(),
        findings: conclusions(&found),
        figures: figures(all, &found),
        ..Header::default()
    };
    let document = Document::new(
        header,
        cautions(all),
        sections(all, &found),
        method(all),
        of.provenance.clone(),
    );
    render::html::page(&document, Some(of.folder))
}

const CONFIGURATIONS: &str = "Mean average precision in percent over all measurements of the \
                              retraining, averaged over the seeds with its 95% interval. The last \
                              column is the paper's, on other data.";

const DIFFERENCES: &str = "Differences in percentage points, paired by seed. A difference is called \
                           better or worse only where its whole interval says so.";

const CURVES: &str = "A thin line for each seed, a bold one for their mean. Step 0 is the first \
                      model, which all three share.";

const SCENES: &str = "In each, an inserted object changes what the first model of its seed finds \
                      elsewhere in the scene.";

fn sections(all: &Retraining, found: &Findings) -> Vec<Part> {
    let blocks = vec![
        Block::note(CONFIGURATIONS),
        Block::Table(configurations(found)),
        Block::note(DIFFERENCES),
        Block::Table(differences(found)),
    ];
    let mut parts = vec![Part::new("configurations", "Configurations", Block::all(blocks))];
    let charts = charts::charts(all);
    if !charts.is_empty() {
        let legend = Configuration::ALL
            .map(|one| Key { mark: Mark::Line(charts::style(one)), text: one.about().to_owned() });
        let blocks = vec![Block::note(CURVES), Block::Legend(legend.into()), Block::Charts(charts)];
        parts.push(Part::new("curves", "Precision and loss over time", Block::all(blocks)));
    }
    let scenes = scenes(all);
    if !scenes.is_empty() {
        let blocks = vec![Block::note(SCENES), Block::Pictures(Pictures::Stamps(scenes))];
        parts.push(Part::new("scenes", "Examples of failing scenes", Block::all(blocks)));
    }
    if !all.seeds.is_empty() {
        parts.push(Part::new("seeds", "Seeds", Block::Table(seeds(&all.seeds))));
    }
    parts
}

/// A column for each metric.
fn metric_columns() -> impl Iterator<Item = Column> {
    Metric::ALL.into_iter().map(|metric| Column::number(metric.name()))
}

fn configurations(of: &Findings) -> Table {
    let mut columns = vec![Column::name("Configuration")];
    columns.extend(metric_columns());
    columns.push(Column::number("COCO AP, at the end"));
    columns.push(Column::number("Paper’s mAP"));
    let mut first = vec![Cell::text("0").with_note("the first model, before anything was added")];
    first.extend(of.first.iter().map(|(_, known)| Cell::text(percent(known))));
    first.extend([Cell::text(NONE), Cell::text(NONE)]);
    let mut rows: Vec<Row> = vec![first.into()];
    for (number, configuration) in (1..).zip(Configuration::ALL) {
        let mut cells = vec![Cell::text(format!("{number}")).with_note(configuration.about())];
        let mut last = NONE.to_owned();
        for row in of.rows.iter().filter(|row| row.configuration == configuration) {
            cells.push(Cell::text(percent(&row.throughout)));
            if row.metric == Metric::Ap {
                last = percent(&row.last);
            }
        }
        cells.push(Cell::text(last));
        cells.push(Cell::text(format!("{:.1}", configuration.paper())));
        rows.push(cells.into());
    }
    let caption = "Configurations with their mean average precision".into();
    Table { caption, columns, rows, ..Table::default() }
}

fn differences(of: &Findings) -> Table {
    let mut columns = vec![Column::name("Difference")];
    columns.extend(metric_columns());
    columns.push(Column::text("By COCO AP"));
    let mut rows: Vec<Row> = Vec::new();
    for (less, name) in [(Configuration::Originals, "2 − 1"), (Configuration::Unchecked, "2 − 3")]
    {
        let mut cells = vec![Cell::text(name)];
        let mut verdict = "";
        for one in of.differences.iter().filter(|one| one.less == less) {
            cells.push(Cell::text(points(&one.known)));
            if one.metric == Metric::Ap {
                verdict = standing(one.standing);
            }
        }
        cells.push(Cell::text(verdict));
        rows.push(cells.into());
    }
    let caption = "Differences between configurations".into();
    Table { caption, columns, rows, ..Table::default() }
}

/// A few failing scenes, as many of each seed.
fn scenes(of: &Retraining) -> Vec<Stamp> {
    let each = (MOST_SHOWN / of.seeds.len().max(1)).max(1);
    let mut stamps = Vec::new();
    for seed in &of.seeds {
        for path in seed.used.shown.iter().take(each) {
            stamps.push(Stamp {
                pictures: vec![Picture {
                    source: Ok(path.clone()),
                    alt: format!("A failing scene of seed {}", seed.seed),
                    caption: None,
                }],
                name: format!("seed {}", seed.seed),
                notes: Vec::new(),
            });
        }
    }
    stamps.truncate(MOST_SHOWN);
    stamps
}

fn seeds(seeds: &[OfSeed]) -> Table {
    Table {
        caption: "Seeds with their first models and changed scenes".into(),
        columns: vec![
            Column::name("Seed"),
            Column::number("Originals"),
            Column::number("First model’s COCO AP"),
            Column::number("Changed scenes"),
            Column::number("Failing"),
            Column::number("Failing used, of distinct ones"),
            Column::number("Failing among unchecked"),
        ],
        rows: seeds.iter().map(seed_row).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn seed_row(of: &OfSeed) -> Row {
    let used = &of.used;
    let failing =
        format!("{} of {}", count(used.failing_used as u64), count(used.different as u64));
    let unchecked = format!("{} of {}", used.unchecked_failing, used.unchecked_used);
    vec![
        Cell::number(of.seed.to_string(), Some(of.seed as f64)),
        Cell::count(of.scenes as u64),
        Cell::number(format!("{:.1}", 100.0 * of.first.ap), Some(of.first.ap)),
        Cell::count(used.judged),
        Cell::count(used.failing),
        Cell::number(failing, Some(used.failing_used as f64)),
        Cell::number(unchecked, Some(used.unchecked_failing as f64)),
    ]
    .into()
}

fn figures(of: &Retraining, found: &Findings) -> Vec<KeyFigure> {
    let judged: u64 = of.seeds.iter().map(|seed| seed.used.judged).sum();
    let failing: u64 = of.seeds.iter().map(|seed| seed.used.failing).sum();
    let share = if judged > 0 {
        format!("{}%", share_percent(failing as f64 / judged as f64))
    } else {
        NONE.to_owned()
    };
    vec![
        difference(found, "Failing − originals", Configuration::Originals),
        difference(found, "Failing − unchecked", Configuration::Unchecked),
        KeyFigure::new("Scenes that fail", share, format!("of {} changed scenes", count(judged))),
        KeyFigure::new("Seeds", of.seeds.len().to_string(), "each the whole experiment once"),
    ]
}

fn difference(found: &Findings, name: &str, less: Configuration) -> KeyFigure {
    let mut all = found.differences.iter();
    let one = all.find(|one| one.less == less && one.metric == Metric::Ap);
    let text = one.map_or(NONE.to_owned(), |one| points(&one.known));
    // The interval is a note, so that the number stands in one line.
    let (value, interval) = text.split_once(' ').unwrap_or((&text, "without an interval"));
    KeyFigure::new(name, value, format!("points of COCO AP, {interval}"))
}

/// Where first models come from.
fn first_models(of: &Plan) -> String {
    match &of.origin {
        Origin::World { architecture, first_epochs, .. } => format!(
            "For each seed, {architecture} is trained for {} on its own scenes of the embedded \
             world, and stopped long before it has learned all that it could.",
            counted(*first_epochs as u64, "epoch")
        ),
        Origin::Own { model, .. } => format!(
            "The first model is {}; seeds differ in what is drawn and in the order in which it is \
             seen.",
            model.display()
        ),
    }
}

fn method(of: &Retraining) -> Vec<String> {
    let plan = &of.plan;
    let labels = if plan.label_inserted {
        "Changed scenes have the labels of their backgrounds, and one for the inserted object."
    } else {
        "Changed scenes have the labels of their backgrounds; the inserted object has none."
    };
    vec![
        first_models(plan),
        format!(
            "Objects cut out of the originals are inserted beside those that the first model \
             finds, {} for each. A scene fails where what the model finds elsewhere changes: an \
             object is lost, new, of another class, or overlaps its undisturbed box by less than \
             half.",
            counted(plan.per_object.into(), "scene")
        ),
        labels.to_owned(),
        "Failing scenes are drawn both as they were placed and as far as their object moved, \
         unchecked ones only as they were placed; 2 − 3 compares both differences at once."
            .to_owned(),
        format!(
            "In all configurations an epoch has twice as many images as there are originals; the \
             first sees each original twice. {} with {} images per step, a constant learning rate, \
             and originals in the same places of the same order in all three.",
            counted(plan.epochs as u64, "epoch"),
            plan.batch
        ),
        format!(
            "Measured on {}. A number is the mean over all measurements of the retraining, as in \
             the paper; then the mean over the seeds with Student's 95% interval. Differences are \
             paired by seed. Intervals are not adjusted for multiple comparisons.",
            of.measured_on
        ),
        "The paper's numbers are those of an SSD MobileNet on BDD100K, one run of each \
         configuration without intervals (Wang and Su, ASE'20, section 6.4): a remark, not a target."
            .to_owned(),
    ]
}
