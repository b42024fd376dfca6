//! Blocks as the few lines that a command prints when a run ends.

use crate::document::{Block, Cell, Check, Document, Drawn, Header, Kind, Part, Reach, Table};
use crate::escape::{columns, plain, shorten};
use crate::svg::rate_ticks;
use faultlens_analysis::Verdict;
use faultlens_analysis::format;

/// No more lines than a terminal shows at once.
const MOST_LINES: usize = 40;
/// Below this nothing fits, so lines are as long as this.
const LEAST_WIDTH: usize = 48;
const MOST_WIDTH: usize = 120;
/// Room for the findings, so that the numbers below keep theirs.
const FINDING_LINES: usize = 8;
const LIST_LINES: usize = 4;
const CHECK_LINES: usize = 8;
/// Tables of one section; a second one is shown where the first leaves so many lines.
const MOST_TABLES: usize = 2;
const SECOND_TABLE: usize = 16;
/// Columns of `99.99% [99.94, 99.998]` and the like.
const RATE_COLUMNS: usize = 20;

/// How the terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Whether it shows colours.
    pub colour: bool,
    /// Its width in columns.
    pub width: usize,
}

/// The document in at most 40 lines.
pub(crate) fn render(document: &Document, options: Terminal) -> String {
    let mut page = Page {
        colour: options.colour,
        width: options.width.clamp(LEAST_WIDTH, MOST_WIDTH),
        lines: Vec::new(),
    };
    page.header(&document.header);
    let shown: Vec<&Part> =
        document.parts.iter().filter(|part| part.reach == Reach::Terminal).collect();
    for part in shown.iter().filter(|part| part.under_headline) {
        page.tables(&part.block, None);
    }
    page.checks(&document.header.checks);
    for part in shown.iter().filter(|part| !part.under_headline) {
        page.lists(&part.block, &part.title);
        page.tables(&part.block, Some(&part.title));
    }
    page.lines.truncate(MOST_LINES);
    page.lines.join("\n") + "\n"
}

/// Colours of the terminal's own palette, so that they suit its background.
#[derive(Clone, Copy)]
enum Paint {
    Bold,
    Dim,
    Red,
    Green,
    Yellow,
}

fn paint_of(verdict: Verdict) -> (Paint, &'static str) {
    match verdict {
        Verdict::Met => (Paint::Green, "✓"),
        Verdict::Inconclusive => (Paint::Yellow, "?"),
        Verdict::NotMet => (Paint::Red, "✗"),
    }
}

struct Page {
    colour: bool,
    width: usize,
    lines: Vec<String>,
}

impl Page {
    fn paint(&self, paint: Paint, text: &str) -> String {
        let code = match paint {
            Paint::Bold => "1",
            Paint::Dim => "2",
            Paint::Red => "31",
            Paint::Green => "32",
            Paint::Yellow => "33",
        };
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.into() }
    }

    fn left(&self) -> usize {
        MOST_LINES.saturating_sub(self.lines.len())
    }

    fn head(&mut self, text: &str) {
        let text = self.paint(Paint::Bold, &shorten(&plain(text), self.width));
        self.lines.push(String::new());
        self.lines.push(text);
    }

    fn header(&mut self, header: &Header) {
        let title = self.paint(Paint::Bold, &shorten(&plain(&header.title), self.width));
        self.lines.push(title);
        if let Some((verdict, text)) = &header.verdict {
            let (paint, sign) = paint_of(*verdict);
            let text = self.paint(paint, &format!("{sign} {text}"));
            self.lines.push(text);
        }
        self.lines.push(String::new());
        self.list(&header.findings, FINDING_LINES);
        self.head(&header.headline);
        if header.headline.contains('[') {
            let text = format!("  brackets: {}", plain(&header.interval));
            let text = self.paint(Paint::Dim, &shorten(&text, self.width));
            self.lines.push(text);
        }
    }

    /// Lines of text with a sign before each, cut where the room ends.
    fn list(&mut self, texts: &[String], most: usize) {
        let mut lines: Vec<String> = Vec::new();
        for text in texts {
            for (at, line) in wrap(&plain(text), self.width - 4).into_iter().enumerate() {
                lines.push(format!("  {} {line}", if at == 0 { "•" } else { " " }));
            }
        }
        if lines.len() > most {
            lines.truncate(most - 1);
            lines.push("    … more in the report".into());
        }
        self.lines.append(&mut lines);
    }

    /// The lists of a section, below its title.
    fn lists(&mut self, block: &Block, title: &str) {
        match block {
            Block::List(lines) if !lines.is_empty() => {
                self.head(title);
                self.list(lines, LIST_LINES);
            }
            Block::Group(group) if !group.folded => {
                group.blocks.iter().for_each(|block| self.lists(block, title));
            }
            _ => {}
        }
    }

    /// Requirements and pinned trials, the worst first, because the room may end.
    fn checks(&mut self, checks: &[Check]) {
        if checks.is_empty() {
            return;
        }
        self.head("Requirements");
        let mut order: Vec<&Check> = checks.iter().collect();
        order.sort_by_key(|check| std::cmp::Reverse(check.verdict));
        let most = if order.len() > CHECK_LINES { CHECK_LINES - 1 } else { order.len() };
        let widest = order.iter().map(|check| columns(&check.brief)).max().unwrap_or(0);
        let wide = widest.clamp(RATE_COLUMNS, self.width / 2);
        let room = self.width - 17 - wide - 2;
        for check in order.iter().take(most) {
            let (paint, sign) = paint_of(check.verdict);
            let word = self.paint(paint, &format!("{sign} {:<12}", check.verdict.text()));
            let name = pad(&shorten(&plain(&check.name), room), room);
            let brief = shorten(&plain(&check.brief), wide + 1);
            self.lines.push(format!("  {word} {name} {brief:>wide$}"));
        }
        if order.len() > most {
            self.lines.push(format!("  … and {} more", order.len() - most));
        }
    }

    /// The first tables of a section, each below its own title.
    fn tables(&mut self, block: &Block, title: Option<&str>) {
        let mut found = Vec::new();
        collect(block, None, &mut found);
        found.retain(|(_, table)| !table.rows.is_empty());
        found.truncate(if self.left() < SECOND_TABLE { 1 } else { MOST_TABLES });
        let number = found.len();
        for (at, (group, table)) in found.into_iter().enumerate() {
            let most = self.left() / (number - at);
            let title = match (title, group) {
                (Some(title), Some(group)) => Some(format!("{title}: {group}")),
                (title, _) => title.map(str::to_owned),
            };
            self.table(title.as_deref(), table, most);
        }
    }

    /// A table in at most so many lines: names, the drawing of the last column that has one, and
    /// the texts of the columns that reach the terminal.
    fn table(&mut self, title: Option<&str>, table: &Table, most: usize) {
        // A gap, the heading and the axis, and at least two rows.
        if most < 5 {
            return;
        }
        let shown: Vec<usize> = (0..table.columns.len())
            .filter(|&at| {
                let column = &table.columns[at];
                column.reach == Reach::Terminal && column.kind == Kind::Number
            })
            .collect();
        let Some(&drawn) = shown.last() else { return };
        let mut rows = table.highest(most - 3);
        // Where any row is drawn, one without a drawing has nothing to show.
        if rows.iter().any(|row| row.cells[drawn].drawn.is_some()) {
            rows.retain(|row| row.cells[drawn].drawn.is_some());
        }
        if rows.is_empty() {
            return;
        }
        if let Some(title) = title {
            let more = table.rows.iter().filter(|row| !row.part).count() - rows.len();
            let more =
                if more > 0 { format!(" ({more} more in the report)") } else { String::new() };
            self.head(&format!("{title}{more}"));
        }
        let widths: Vec<usize> = shown
            .iter()
            .map(|&at| rows.iter().map(|row| columns(&row.cells[at].text)).max().unwrap_or(0))
            .collect();
        let taken: usize = widths.iter().map(|width| width + 1).sum();
        let names = rows.iter().map(|row| columns(&plain(&row.cells[0].text))).max().unwrap_or(0);
        let label = names.min((self.width - taken.min(self.width - 8)) / 2).min(30);
        let room = self.width.saturating_sub(label + taken + 4).clamp(4, 60);
        let highest = rows.iter().filter_map(|row| match row.cells[drawn].drawn {
            Some(Drawn::Interval(_, _, high)) => Some(high),
            _ => None,
        });
        let high = highest
            .fold(None, |most: Option<f64>, high| Some(most.map_or(high, |most| most.max(high))));
        let end = high.and_then(|high| rate_ticks(high, 4).last().copied());
        for row in &rows {
            let name = pad(&shorten(&plain(&row.cells[0].text), label), label);
            let drawing = draw(&row.cells[drawn], end.unwrap_or(1.0), room);
            let mut line = format!("  {name} {}", pad(&drawing, room));
            for (&at, &width) in shown.iter().zip(&widths) {
                let text = plain(&row.cells[at].text);
                line.push_str(&format!(" {text:>width$}"));
            }
            self.lines.push(shorten(&line, self.width));
        }
        if let Some(end) = end {
            let scale = format!("0{:>1$}", format::limit(end), room - 1);
            let scale = self.paint(Paint::Dim, &format!("  {} {scale}", pad("", label)));
            self.lines.push(scale);
        }
    }
}

/// The tables of a block, each with the title of the group that it stands in.
fn collect<'a>(
    block: &'a Block,
    group: Option<&'a str>,
    found: &mut Vec<(Option<&'a str>, &'a Table)>,
) {
    match block {
        Block::Table(table) => found.push((group, table)),
        Block::Beside(blocks) => blocks.iter().for_each(|block| collect(block, group, found)),
        Block::Group(own) if !own.folded => {
            let group = own.title.as_deref().or(group);
            own.blocks.iter().for_each(|block| collect(block, group, found));
        }
        _ => {}
    }
}

fn draw(cell: &Cell, end: f64, room: usize) -> String {
    match cell.drawn {
        Some(Drawn::Share(share)) => bar(share, room),
        Some(Drawn::Interval(low, value, high)) => span([low, value, high], end, room),
        None => String::new(),
    }
}

/// A bar of eighths, so that small shares show.
fn bar(share: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share * room as f64 * 8.0).round() as usize).clamp(1, room * 8);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// An interval in text: `├──●──┤` on an axis from 0 to `end`, in so many columns.
fn span(rates: [f64; 3], end: f64, room: usize) -> String {
    let [low, value, high] =
        rates.map(|rate| ((rate / end).clamp(0.0, 1.0) * (room - 1) as f64).round() as usize);
    let mut line = String::new();
    for at in 0..room {
        line.push(if at == value {
            '●'
        } else if at == low {
            '├'
        } else if at == high {
            '┤'
        } else if low < at && at < high {
            '─'
        } else {
            ' '
        });
    }
    line
}

/// The text with spaces up to so many columns; `format!` counts characters instead.
fn pad(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(columns(text)))
}

/// The text in lines of so many columns; only a word that is longer than a line is cut.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = shorten(word, width);
        match lines.last_mut() {
            Some(line) if columns(line) + 1 + columns(&word) <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_as_text() {
        assert_eq!(span([0.2, 0.5, 0.8], 1.0, 11), "  ├──●──┤  ");
        assert_eq!(span([0.0, 0.0, 0.3], 1.0, 11), "●──┤       ");
        assert_eq!(span([0.999, 1.0, 1.0], 1.0, 5), "    ●");
        assert_eq!([bar(0.5, 4), bar(0.0001, 4), bar(1.0, 2)], ["██", "▏", "██"]);
    }

    #[test]
    fn text_wraps_at_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 5), ["a…hij", "k"]);
        assert!(wrap("", 5).is_empty());
    }
}
