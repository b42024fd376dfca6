//! The page of a comparison: two or more runs, the first of which is the baseline.

use crate::checks::checks;
use crate::document::{Block, Cell, Check, Column, Document, Header, KeyFigure, Part};
use crate::document::{Reach, Row, Table};
use crate::prose::detection::clean_quality;
use crate::prose::method::{intervals, provenance};
use crate::prose::{comparison_test, comparison_warnings, family_name};
use crate::render;
use faultlens_analysis::format;
use faultlens_analysis::{Compared, Direction, Family, RunComparison, Summary};

/// What the page shows. Names in it come from outside; every format escapes them.
#[derive(Debug, Clone)]
pub struct ComparisonPage<'a> {
    /// The runs, the baseline first.
    pub runs: &'a [ComparedRun],
    /// Every other run beside the baseline, in the order of the runs.
    pub comparisons: &'a [RunComparison],
}

/// A run of a comparison.
#[derive(Debug, Clone)]
pub struct ComparedRun {
    /// What tells it from the others, such as its directory's name.
    pub name: String,
    /// What it found.
    pub summary: Summary,
}

/// The comparison as one page that loads nothing.
pub fn comparison(of: &ComparisonPage<'_>) -> String {
    render::html::page(&document(of), None)
}

/// The comparison as Markdown, for a comment on a pull request.
pub fn comparison_markdown(of: &ComparisonPage<'_>) -> String {
    render::markdown::render(&document(of))
}

fn document(of: &ComparisonPage<'_>) -> Document {
    let others: Vec<&str> = of.runs.iter().skip(1).map(|run| run.name.as_str()).collect();
    let baseline = of.runs.first();
    let header = Header {
        kind: "Comparison",
        title: format!("{} against {}", others.join(", "), baseline.map_or("", |run| &run.name)),
        lead: lead(of),
        findings: findings(of),
        interval: baseline.map(|run| intervals(&run.summary)).unwrap_or_default(),
        source: "from the run directories alone",
        figures: figures(of),
        ..Header::default()
    };
    let mut warnings = Vec::new();
    for comparison in of.comparisons {
        warnings.extend(comparison_warnings(comparison));
    }
    warnings.dedup();
    let mut method: Vec<String> = Vec::new();
    for comparison in of.comparisons {
        let text = format!("{}.", comparison_test(comparison.test));
        if !method.contains(&text) {
            method.push(text);
        }
    }
    Document::new(header, warnings, parts(of), method, origins(of))
}

/// Where each run comes from.
fn origins(of: &ComparisonPage<'_>) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for run in of.runs {
        for (name, value) in provenance(&run.summary.provenance) {
            all.push((format!("{}: {name}", run.name), value));
        }
    }
    all
}

/// The rows of a comparison that are about faults, worst first. All trials together say nothing
/// where faults disturb different things.
fn shown<'a>(of: &ComparisonPage<'_>, comparison: &'a RunComparison) -> Vec<&'a Compared> {
    let several = of.runs.iter().any(|run| run.summary.families.len() > 1);
    let mut rows = comparison.worst_first();
    rows.retain(|row| row.first.n > 0 && row.second.n > 0);
    if several {
        rows.retain(|row| row.what != "all trials" && !row.what.starts_with("target "));
    }
    rows
}

/// How many rows went this way.
fn number(of: &ComparisonPage<'_>, comparison: &RunComparison, way: Direction) -> u64 {
    let rows = shown(of, comparison);
    rows.into_iter().filter(|row| comparison.direction(row) == way).count() as u64
}

fn lead(of: &ComparisonPage<'_>) -> String {
    let mut worse = 0;
    let mut better = 0;
    let mut compared = 0;
    for comparison in of.comparisons {
        worse += number(of, comparison, Direction::Worse);
        better += number(of, comparison, Direction::Better);
        compared += shown(of, comparison).len() as u64;
    }
    if compared == 0 {
        return "The runs have no fault point in common: there is nothing to compare.".to_owned();
    }
    format!(
        "Of {}, {worse} got worse and {better} better; no difference is shown for the others.",
        format::counted(compared, "compared rate")
    )
}

/// For each run what got worse most and what got better most.
fn findings(of: &ComparisonPage<'_>) -> Vec<String> {
    let mut findings = Vec::new();
    for (run, comparison) in of.runs.iter().skip(1).zip(of.comparisons) {
        let rows = shown(of, comparison);
        for way in [Direction::Worse, Direction::Better] {
            let Some(row) = rows.iter().find(|row| comparison.direction(row) == way) else {
                continue;
            };
            findings.push(format!(
                "{}: {} got {} most: {} to {}, {} points.",
                run.name,
                row.what,
                way.text(),
                format::value(&row.first),
                format::value(&row.second),
                difference(row)
            ));
        }
    }
    findings
}

fn figures(of: &ComparisonPage<'_>) -> Vec<KeyFigure> {
    let mut figures = Vec::new();
    for (run, comparison) in of.runs.iter().skip(1).zip(of.comparisons) {
        let compared = format::counted(shown(of, comparison).len() as u64, "rate");
        for (name, way) in [("Worse", Direction::Worse), ("Better", Direction::Better)] {
            figures.push(KeyFigure::new(
                format!("{name}, {}", run.name),
                format::count(number(of, comparison, way)),
                format!("of {compared} compared"),
            ));
        }
    }
    figures
}

fn parts(of: &ComparisonPage<'_>) -> Vec<Part> {
    let mut parts = vec![Part::new("runs", "Runs side by side", runs(of)).reaching(Reach::Comment)];
    if let Some(block) = requirements(of) {
        parts.push(Part::new("requirements", "Requirements", block).reaching(Reach::Comment));
    }
    let mut blocks = Vec::new();
    for (at, comparison) in of.comparisons.iter().enumerate() {
        let table = differences(of, at, comparison);
        if !table.rows.is_empty() {
            let title = format!("{} against {}", of.runs[at + 1].name, of.runs[0].name);
            blocks.push(Block::titled(title, vec![Block::Table(table)]));
        }
    }
    if !blocks.is_empty() {
        blocks.insert(0, Block::note(ABOUT_DIFFERENCES));
        let block = Block::all(blocks);
        parts.push(Part::new("rates", "Rates by fault", block).reaching(Reach::Comment));
    }
    parts
}

const ABOUT_DIFFERENCES: &str = "How often the prediction changed. The difference is the run minus \
                                 the baseline, in percentage points; trials of the same image, \
                                 fault and repeat are paired where both runs have them. What got \
                                 worse comes first, then what got better.";

/// A row per run and target: verdict, quality without faults, rates by family.
fn runs(of: &ComparisonPage<'_>) -> Block {
    let mut families: Vec<Family> = Vec::new();
    for one in of.runs.iter().flat_map(|run| &run.summary.families) {
        if !families.contains(&one.family) {
            families.push(one.family);
        }
    }
    families.sort_unstable();
    let mut columns = vec![
        Column::name("Run"),
        Column::text("Verdict"),
        Column::text("Target"),
        Column::number("Without faults"),
        Column::number("Trials"),
    ];
    for family in &families {
        columns.push(Column::number(format!("Changed, {}", family_name(*family).to_lowercase())));
    }
    let mut rows: Vec<Row> = Vec::new();
    for run in of.runs {
        let verdict = match run.summary.checks.verdict {
            Some(verdict) => Cell::verdict(verdict),
            None => Cell::text("nothing required"),
        };
        let mut name = Cell::text(&run.name);
        if run.name != run.summary.name {
            name = name.with_note(&run.summary.name);
        }
        for target in &run.summary.targets {
            let mut cells = vec![
                name.clone(),
                verdict.clone(),
                Cell::text(&target.name).with_note(&target.model),
                Cell::text(clean_quality(target, &run.summary)),
                Cell::count(target.tally.trials()),
            ];
            for family in &families {
                cells.push(match target.families.get(family) {
                    Some(rate) => Cell::rate(rate),
                    None => Cell::text(format::NONE),
                });
            }
            rows.push(cells.into());
        }
    }
    let caption = "Runs with verdicts, quality without faults and failure rates".into();
    Block::Table(Table { caption, columns, rows, ..Table::default() })
}

/// Requirements of all runs, a column per run; `None` where nothing is required.
fn requirements(of: &ComparisonPage<'_>) -> Option<Block> {
    let all: Vec<Vec<Check>> = of.runs.iter().map(|run| checks(&run.summary)).collect();
    let mut names: Vec<&str> = Vec::new();
    for check in all.iter().flatten() {
        if !names.contains(&check.name.as_str()) {
            names.push(&check.name);
        }
    }
    if names.is_empty() {
        return None;
    }
    let mut columns = vec![Column::name("Requirement")];
    columns.extend(of.runs.iter().map(|run| Column::text(&run.name)));
    let mut rows: Vec<Row> = Vec::new();
    for name in names {
        let mut cells = vec![Cell::text(name)];
        for checks in &all {
            cells.push(match checks.iter().find(|check| check.name == name) {
                Some(check) => Cell::verdict(check.verdict).with_note(&check.brief),
                None => Cell::text("not required"),
            });
        }
        rows.push(cells.into());
    }
    let caption = "Requirements with the verdict of every run".into();
    Some(Block::Table(Table { caption, columns, rows, ..Table::default() }))
}

/// All rates of a run beside the baseline's.
fn differences(of: &ComparisonPage<'_>, at: usize, comparison: &RunComparison) -> Table {
    let mut rows: Vec<Row> = Vec::new();
    for row in shown(of, comparison) {
        let p = row.p_value.map_or(format::NONE.to_owned(), format::p_value);
        rows.push(
            vec![
                Cell::text(&row.what),
                Cell::text(comparison.direction(row).text()),
                Cell::rate(&row.first),
                Cell::rate(&row.second),
                Cell::number(difference(row), row.difference),
                Cell::number(p, row.p_value),
                Cell::count(row.pairs),
            ]
            .into(),
        );
    }
    Table {
        caption: format!("Rates of {} and {}", of.runs[0].name, of.runs[at + 1].name),
        columns: vec![
            Column::name("Fault"),
            Column::text("Change"),
            Column::number(&of.runs[0].name),
            Column::number(&of.runs[at + 1].name),
            Column::number("Difference"),
            Column::number("p"),
            Column::number("Pairs"),
        ],
        rows,
        sortable: true,
        ..Table::default()
    }
}

/// A difference with its interval: `+3.2 [+1.0, +5.4]`.
fn difference(row: &Compared) -> String {
    match row.difference {
        None => format::NONE.to_owned(),
        Some(value) => format!(
            "{} [{}, {}]",
            format::points(value),
            format::points(row.low),
            format::points(row.high)
        ),
    }
}
