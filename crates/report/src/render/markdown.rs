//! Blocks as Markdown, such as a comment on a pull request: tables with their first rows, lists
//! and paragraphs. Drawings, pictures and folded groups are left to the page.

use crate::document::{
    Block, Cell, Column, Document, Group, Header, KeyFigure, Kind, Reach, Row, Table,
};
use crate::escape::markdown as escaped;
use faultlens_analysis::Verdict;
use faultlens_analysis::format::{self, capitalised};
use std::fmt::Write as _;

/// Rows of a table; a comment is no report.
const MOST_ROWS: usize = 10;

/// The document as Markdown.
pub(crate) fn render(document: &Document) -> String {
    let mut out = String::new();
    header(&mut out, &document.header);
    for part in &document.parts {
        if part.reach < Reach::Comment {
            continue;
        }
        let mut text = String::new();
        block(&mut text, &part.block, 4);
        if !text.is_empty() {
            let _ = write!(out, "### {}\n\n{text}", escaped(&part.title));
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

/// A sign beside the word; neither colour nor picture is all there is.
fn sign(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "✅",
        Verdict::Inconclusive => "❔",
        Verdict::NotMet => "❌",
    }
}

fn header(out: &mut String, header: &Header) {
    let _ = write!(out, "## {}\n\n", escaped(&header.title));
    if let Some((verdict, text)) = &header.verdict {
        let _ = write!(out, "{} **{}**\n\n", sign(*verdict), escaped(&capitalised(text)));
    }
    if !header.lead.is_empty() {
        let _ = write!(out, "{}\n\n", escaped(&header.lead));
    }
    list(out, &header.findings);
    let mut figures = Vec::new();
    for KeyFigure { name, value, note } in &header.figures {
        figures.push(format!("{}: {} ({})", escaped(name), escaped(value), escaped(note)));
    }
    if !figures.is_empty() {
        let _ = write!(out, "{}.", figures.join(" · "));
        if !header.population.is_empty() {
            let _ = write!(out, " {}", escaped(&header.population));
        } else if !header.interval.is_empty() {
            let _ = write!(out, " Brackets are {}.", escaped(&header.interval));
        }
        out.push_str("\n\n");
    }
}

/// A block; titles of groups in it are headings of this level.
fn block(out: &mut String, one: &Block, level: usize) {
    match one {
        Block::Prose(prose) if prose.note => {}
        Block::Prose(prose) => {
            let _ = write!(out, "{}\n\n", escaped(&prose.text));
        }
        Block::List(lines) => list(out, lines),
        Block::Facts(facts) => {
            let lines: Vec<String> =
                facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
            list(out, &lines);
        }
        Block::Table(rows) => table(out, rows),
        Block::Beside(blocks) => blocks.iter().for_each(|one| block(out, one, level)),
        Block::Group(Group { folded: true, .. }) => {}
        Block::Group(group) => {
            let next = if group.title.is_some() { level + 1 } else { level };
            let mut text = String::new();
            group.blocks.iter().for_each(|one| block(&mut text, one, next));
            if let Some(title) = group.title.as_ref().filter(|_| !text.is_empty()) {
                let _ = write!(out, "{} {}\n\n", "#".repeat(level), escaped(title));
            }
            out.push_str(&text);
        }
        Block::Chart(_) | Block::Charts(_) | Block::Legend(_) | Block::Pictures(_) => {}
    }
}

fn list(out: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(out, "- {}", escaped(line));
    }
    if !lines.is_empty() {
        out.push('\n');
    }
}

fn table(out: &mut String, table: &Table) {
    let shown: Vec<(usize, &Column)> = table
        .columns
        .iter()
        .enumerate()
        .filter(|(_, column)| column.reach >= Reach::Comment && column.kind != Kind::Drawing)
        .collect();
    out.push('|');
    for (_, column) in &shown {
        let _ = write!(out, " {} |", escaped(&column.title));
    }
    out.push_str("\n|");
    for (_, column) in &shown {
        out.push_str(if column.kind == Kind::Number { "---:|" } else { "---|" });
    }
    out.push('\n');
    let kept = table.most_important(MOST_ROWS);
    for row in kept.iter().chain(&table.totals.iter().collect::<Vec<_>>()) {
        line(out, row, &shown);
    }
    let whole = table.rows.iter().filter(|row| !row.part).count();
    let left = whole - kept.len();
    if left > 0 {
        let _ = write!(out, "\n{} more in the report.\n", format::count(left as u64));
    }
    out.push('\n');
}

fn line(out: &mut String, row: &Row, shown: &[(usize, &Column)]) {
    out.push('|');
    for (at, column) in shown {
        let text = row.cells.get(*at).map(|cell| text_of(cell, column.kind)).unwrap_or_default();
        let _ = match row.chosen.filter(|_| column.kind == Kind::Name) {
            Some(mark) => write!(out, " **{text}** ({mark}) |"),
            None => write!(out, " {text} |"),
        };
    }
    out.push('\n');
}

fn text_of(cell: &Cell, kind: Kind) -> String {
    let sign = cell.verdict.map(|verdict| format!("{} ", sign(verdict))).unwrap_or_default();
    // Brackets would otherwise read as a link.
    let text = if kind == Kind::Number && cell.text.contains(['[', '(']) {
        format!("`{}`", cell.text.replace(['`', '|'], " "))
    } else {
        escaped(&cell.text)
    };
    let note = match (&cell.note, kind) {
        (Some(note), Kind::Name | Kind::Text) => format!("<br>{}", escaped(note)),
        _ => String::new(),
    };
    format!("{sign}{text}{note}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_tables_keep_the_rows_with_the_highest_values() {
        let row = |at: u64| vec![Cell::text(format!("r{at}")), Cell::count(at % 12)].into();
        let mut rows = Table {
            columns: vec![Column::name("row"), Column::number("events")],
            rows: (0..12).map(row).collect(),
            keep_highest: Some(1),
            ..Table::default()
        };
        let mut out = String::new();
        table(&mut out, &rows);
        assert!(!out.contains("| r1 |") && out.contains("| r2 | 2 |\n| r3 | 3 |"), "{out}");
        assert!(out.ends_with("\n2 more in the report.\n\n"), "{out}");
        rows.keep_highest = None;
        out.clear();
        table(&mut out, &rows);
        assert!(out.contains("| r0 | 0 |") && !out.contains("| r10 |"), "{out}");
    }

    #[test]
    fn only_what_reaches_comments_is_written() {
        let blocks = vec![
            Block::note("a note"),
            Block::paragraph("a *paragraph*"),
            Block::folded("folded", vec![Block::paragraph("inside")]),
            Block::titled("empty", vec![Block::Legend(Vec::new())]),
            Block::titled("full", vec![Block::List(vec!["line".into()])]),
        ];
        let mut out = String::new();
        block(&mut out, &Block::all(blocks), 4);
        assert_eq!(out, "a \\*paragraph\\*\n\n#### full\n\n- line\n\n");
    }
}
