//! Failure rates by some attribute of the trials: a chart beside a table each.

use super::Input;
use crate::document::{Block, Cell, Chart, Column, Group, Plot, Reach, Row, Table};
use crate::prose::groups;
use crate::prose::method::population;
use crate::svg::{self, Caption, Lines, Series, dots, lines, rate_ticks};
use faultlens_analysis::format;
use faultlens_analysis::{GroupRow, Grouping, Tally};
use faultlens_spec::Population;
use faultlens_stats::MIN_IMAGES;

/// Groups that a chart of dots shows; the table has all.
const MOST_DOTS: usize = 20;

/// The column of the rate in the table.
const RATE: usize = 3;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let mut blocks = Vec::new();
    let groupings = input.summary.groupings.iter().filter(|grouping| !grouping.rows.is_empty());
    for (at, grouping) in groupings.enumerate() {
        blocks.push(group(at, grouping, input));
    }
    (!blocks.is_empty()).then_some(Block::all(blocks))
}

fn group(at: usize, grouping: &Grouping, input: &Input<'_>) -> Block {
    let id = format!("by-{at}");
    let interval = interval(grouping, input);
    let mut beside = vec![Block::Table(table(grouping, &interval))];
    if let Some(test) = groups::test(grouping) {
        beside.push(Block::note(format!("p: {test}")));
    }
    let chart = Block::Chart(chart(&id, grouping, input, &interval));
    Block::Group(Group {
        id: Some(id),
        title: Some(groups::title(grouping)),
        folded: false,
        blocks: vec![Block::Beside(vec![chart, Block::all(beside)])],
    })
}

/// An outcome's column, shown only where any group has it.
struct OutcomeColumn {
    title: &'static str,
    count: fn(&Tally) -> u64,
}

const OUTCOMES: [OutcomeColumn; 4] = [
    OutcomeColumn { title: "detected", count: |tally| tally.detected },
    OutcomeColumn { title: "crashed", count: |tally| tally.crashed },
    OutcomeColumn { title: "timed out", count: |tally| tally.timed_out },
    OutcomeColumn { title: "skipped", count: Tally::skipped_trials },
];

fn table(grouping: &Grouping, interval: &str) -> Table {
    let tested = grouping.test.is_some();
    let outcomes: Vec<&OutcomeColumn> = OUTCOMES
        .iter()
        .filter(|column| grouping.rows.iter().any(|row| (column.count)(&row.tally) > 0))
        .collect();
    let mut columns = vec![
        Column::name(&grouping.attribute),
        Column::number("n"),
        Column::number("changed"),
        Column::number("rate").reaching(Reach::Terminal),
    ];
    columns.extend(outcomes.iter().map(|one| Column::number(one.title).reaching(Reach::Page)));
    if tested {
        columns.push(Column::number("p").reaching(Reach::Page));
    }
    let mut rows = Vec::new();
    for group in &grouping.rows {
        rows.push(row(group, &outcomes, tested));
        for part in &group.parts {
            let part = row(part, &outcomes, tested);
            rows.push(Row { part: true, ..part });
        }
    }
    Table {
        caption: format!(
            "{}: failure rates with {interval}, {}",
            groups::title(grouping),
            format::counted(grouping.rows.len() as u64, "group")
        ),
        columns,
        rows,
        // Groups with parts stay together.
        sortable: grouping.rows.iter().all(|row| row.parts.is_empty()),
        keep_highest: Some(RATE),
        ..Table::default()
    }
}

fn row(group: &GroupRow, outcomes: &[&OutcomeColumn], tested: bool) -> Row {
    let mut cells = vec![
        Cell { note: group.about.clone(), ..Cell::text(group.name()) },
        Cell::count(group.tally.rate.n),
        Cell::count(group.tally.changed),
        Cell::rate(&group.tally.rate),
    ];
    cells.extend(outcomes.iter().map(|column| Cell::count((column.count)(&group.tally))));
    if tested {
        let text = group.p_value.map_or(format::NONE.into(), format::p_value);
        cells.push(Cell::number(text, group.p_value));
    }
    cells.into()
}

/// What the intervals of groups are: those of few images speak of these images alone.
fn interval(grouping: &Grouping, input: &Input<'_>) -> String {
    let few = |row: &&GroupRow| row.tally.rate.population == Population::TheseImages;
    if population(input.summary) == Population::TheseImages
        || !grouping.rows.iter().any(|row| few(&row))
    {
        return input.interval.clone();
    }
    format!("{} (of groups with fewer than {MIN_IMAGES} images: for these images)", input.interval)
}

fn chart(id: &str, grouping: &Grouping, input: &Input<'_>, interval: &str) -> Chart {
    // What disturbs different things is in no rate together.
    let overall = if grouping.family.is_some() || grouping.target.is_some() {
        None
    } else {
        input.summary.overall.rate.value
    };
    let title = format!("Failure rate by {}", grouping.attribute);
    let about = about(grouping);
    let caption = Caption { id: &format!("{id}-chart"), title: &title, about: &about };
    // Many groups with an order of their own are a profile, which reads best as a line.
    let profile = grouping.ordered && grouping.rows.len() > MOST_DOTS;
    if profile {
        return Chart {
            svg: line_of_groups(&caption, grouping),
            plot: Plot::Lines,
            caption: Some(format!("Line: rate; band: {interval}.")),
            ..Chart::default()
        };
    }
    let rows: Vec<svg::Row<'_>> = grouping
        .rows
        .iter()
        .take(MOST_DOTS)
        .map(|row| svg::Row { label: row.name(), rate: &row.tally.rate })
        .collect();
    let mut note = format!("Dots: rates; lines: {interval}.");
    if grouping.rows.len() > MOST_DOTS {
        note += &format!(" The first {MOST_DOTS} of {} groups.", grouping.rows.len());
    }
    if let Some(all) = overall {
        note += &format!(" Dashed: all trials, {}%.", format::percent(all));
    }
    Chart {
        svg: dots(&caption, &rows, overall),
        plot: Plot::Dots,
        caption: Some(note),
        ..Chart::default()
    }
}

/// What can be seen in the chart, for those who do not see it.
fn about(grouping: &Grouping) -> String {
    let known = grouping.rows.iter().filter_map(|row| Some((row.tally.rate.value?, row)));
    let highest = known.clone().max_by(|a, b| a.0.total_cmp(&b.0));
    let lowest = known.min_by(|a, b| a.0.total_cmp(&b.0));
    let (Some((_, highest)), Some((_, lowest))) = (highest, lowest) else {
        return "No group has a judged trial.".into();
    };
    format!(
        "{}. Highest: {} with {}. Lowest: {} with {}. The table has all numbers.",
        format::counted(grouping.rows.len() as u64, "group"),
        highest.name(),
        format::rate(&highest.tally.rate),
        lowest.name(),
        format::rate(&lowest.tally.rate)
    )
}

fn line_of_groups(caption: &Caption<'_>, grouping: &Grouping) -> String {
    let rows = grouping.rows.iter().enumerate();
    let points = rows.map(|(at, row)| (at as f64, row.name().to_owned(), row.tally.rate)).collect();
    let series = [Series { name: grouping.attribute.clone(), points, style: 0 }];
    let ticks = rate_ticks(svg::highest_rate(&series), 4);
    lines(caption, &Lines { series: &series, ticks: &ticks, axis: &grouping.attribute })
}
