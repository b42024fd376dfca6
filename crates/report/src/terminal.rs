//! What a command prints when a run ends.

use crate::escape::{columns, plain, shorten};
use crate::svg::rate_ticks;
use faultlens_analysis::words as format;
use faultlens_analysis::{Checked, Grouping, Summary, Verdict};

/// No more lines than a terminal shows at once.
const MOST_LINES: usize = 40;
/// Below this nothing fits, so lines are as long as this.
const LEAST_WIDTH: usize = 48;
const MOST_WIDTH: usize = 120;
/// Room for the findings, so that the numbers below keep theirs.
const FINDING_LINES: usize = 8;
const WARNING_LINES: usize = 4;
const REQUIREMENT_LINES: usize = 8;
/// A second grouping is shown where the first leaves it so many lines.
const SECOND_GROUPING: usize = 16;
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

/// The run in at most 40 lines: findings, outcomes, requirements, and the groups with the highest
/// rates, intervals drawn. Nothing from outside reaches the terminal as a command to it.
pub fn terminal(summary: &Summary, options: Terminal) -> String {
    let mut page = Page {
        colour: options.colour,
        width: options.width.clamp(LEAST_WIDTH, MOST_WIDTH),
        lines: Vec::new(),
    };
    page.title(summary);
    page.findings(&summary.findings);
    page.outcomes(summary);
    page.requirements(summary);
    page.warnings(&summary.warnings);
    let groupings = summary.groupings.iter().filter(|grouping| !grouping.rows.is_empty());
    let left = MOST_LINES.saturating_sub(page.lines.len());
    let shown: Vec<_> = groupings.take(if left < SECOND_GROUPING { 1 } else { 2 }).collect();
    for (at, grouping) in shown.iter().enumerate() {
        let left = MOST_LINES.saturating_sub(page.lines.len());
        page.grouping(grouping, left / (shown.len() - at));
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

    fn head(&mut self, text: &str) {
        let text = self.paint(Paint::Bold, &shorten(&plain(text), self.width));
        self.lines.push(String::new());
        self.lines.push(text);
    }

    fn title(&mut self, summary: &Summary) {
        let name = shorten(&plain(&summary.name), self.width);
        let name = self.paint(Paint::Bold, &name);
        self.lines.push(name);
        if let Some(verdict) = summary.verdict {
            let (paint, sign) = paint_of(verdict);
            let text = format!("{sign} requirements {}", verdict.text());
            let text = self.paint(paint, &text);
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
            lines.push("    … the rest is in the report".into());
        }
        self.lines.append(&mut lines);
    }

    fn findings(&mut self, findings: &[String]) {
        self.lines.push(String::new());
        self.list(findings, FINDING_LINES);
    }

    fn warnings(&mut self, warnings: &[String]) {
        if !warnings.is_empty() {
            self.head("Before you trust the numbers");
            self.list(warnings, WARNING_LINES);
        }
    }

    fn outcomes(&mut self, summary: &Summary) {
        let tally = &summary.overall;
        let trials = format::trials(tally);
        let rate = match tally.rate.value {
            None => "none judged".into(),
            Some(_) => format!("{} changed", format::rate(&tally.rate)),
        };
        self.head(&format!("{}, {rate}", format::counted(trials, "trial")));
        if tally.rate.value.is_some() {
            let text = format!("  in brackets: {}", plain(&summary.interval));
            let text = self.paint(Paint::Dim, &shorten(&text, self.width));
            self.lines.push(text);
        }
        let kinds = [
            ("unchanged", tally.unchanged),
            ("changed", tally.changed),
            ("detected", tally.detected),
            ("crashed", tally.crashed),
            ("timed out", tally.timed_out),
            ("skipped", format::skipped(tally)),
        ];
        let room = (self.width - 34).min(40);
        for (name, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
            let share = count as f64 / trials as f64;
            let bar = bar(share, room);
            let percent = format!("{}%", format::percent(share));
            let count = format::count(count);
            self.lines.push(format!("  {name:<10}{bar:<room$} {count:>11} {percent:>9}"));
        }
        if tally.spare > 0 {
            let spare = format::counted(tally.spare, "planned trial");
            let text = format!("  {spare} not needed: too few objects for so many");
            let text = self.paint(Paint::Dim, &shorten(&text, self.width));
            self.lines.push(text);
        }
    }

    fn requirements(&mut self, summary: &Summary) {
        let rates = summary
            .requirements
            .iter()
            .map(|checked| (checked.verdict, checked.requirement.clone(), measured(checked)));
        let kept = summary.preserved.iter().map(|one| {
            let distance = one.distance.as_ref().map_or(format::NONE.into(), format::distance);
            (one.verdict, format::preserved(one), distance)
        });
        let pins = summary
            .pinned
            .iter()
            .map(|pin| (pin.verdict, pin.name.clone(), format::outcome(&plain(&pin.outcome))));
        let verdicts: Vec<(Verdict, String, String)> = rates.chain(kept).chain(pins).collect();
        if verdicts.is_empty() {
            return;
        }
        self.head("Requirements");
        // The worst first, because the room may end.
        let mut order: Vec<_> = verdicts.iter().collect();
        order.sort_by_key(|line| std::cmp::Reverse(line.0));
        let most =
            if order.len() > REQUIREMENT_LINES { REQUIREMENT_LINES - 1 } else { order.len() };
        let widest = order.iter().map(|line| columns(&line.2)).max().unwrap_or(0);
        let wide = widest.clamp(RATE_COLUMNS, self.width / 2);
        let room = self.width - 17 - wide - 2;
        for (verdict, name, rate) in order.iter().take(most) {
            let (paint, sign) = paint_of(*verdict);
            let word = self.paint(paint, &format!("{sign} {:<12}", verdict.text()));
            let name = pad(&shorten(&plain(name), room), room);
            let rate = shorten(rate, wide + 1);
            self.lines.push(format!("  {word} {name} {rate:>wide$}"));
        }
        if order.len() > most {
            self.lines.push(format!("  … and {} more", order.len() - most));
        }
    }

    /// A grouping in at most so many lines.
    fn grouping(&mut self, grouping: &Grouping, most: usize) {
        // A gap, the heading and the axis, and at least two groups.
        if most < 5 {
            return;
        }
        let mut rows: Vec<_> = grouping.rows.iter().filter(|row| row.tally.rate.n > 0).collect();
        let rate = |at: &&faultlens_analysis::GroupRow| at.tally.rate.value.unwrap_or(0.0);
        rows.sort_by(|a, b| rate(b).total_cmp(&rate(a)));
        rows.truncate(most - 3);
        if rows.is_empty() {
            return;
        }
        let more = grouping.rows.len() - rows.len();
        let more = if more > 0 { format!(" ({more} more in the report)") } else { String::new() };
        self.head(&format!("{}: rate of changed trials{more}", grouping.title));
        let label = ((self.width - RATE_COLUMNS) / 2).min(30);
        let room = self.width - label - RATE_COLUMNS - 5;
        let high = rows.iter().map(|row| format::ends(&row.tally.rate).1).fold(0.0, f64::max);
        let end = rate_ticks(high, 4).last().copied().unwrap_or(1.0);
        for row in rows {
            let name = pad(&shorten(&plain(row.name()), label), label);
            let rate = &row.tally.rate;
            let (low, high) = format::ends(rate);
            let line = span(low, rate.value.unwrap_or(0.0), high, end, room);
            let text = format::rate(rate);
            self.lines.push(format!("  {name} {line} {text:>RATE_COLUMNS$}"));
        }
        let scale = format!("0{:>1$}", format::limit(end), room - 1);
        let scale = self.paint(Paint::Dim, &format!("  {} {scale}", pad("", label)));
        self.lines.push(scale);
    }
}

/// Failures in time are read against their limit, which no percent sign tells apart.
fn measured(checked: &Checked) -> String {
    match checked.fit {
        Some(_) => format!("{}, limit {}", format::measured(checked), format::allowed(checked)),
        None => format::rate(&checked.rate),
    }
}

/// A bar of eighths, so that small shares show.
fn bar(share: f64, room: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = ((share * room as f64 * 8.0).round() as usize).clamp(1, room * 8);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

/// An interval in text: `├──●──┤` on an axis from 0 to `end`, in so many columns.
fn span(low: f64, value: f64, high: f64, end: f64, room: usize) -> String {
    let place = |rate: f64| ((rate / end).clamp(0.0, 1.0) * (room - 1) as f64).round() as usize;
    let (low, value, high) = (place(low), place(value), place(high));
    let sign = |at: usize| match at {
        _ if at == value => '●',
        _ if at == low => '├',
        _ if at == high => '┤',
        _ if low < at && at < high => '─',
        _ => ' ',
    };
    (0..room).map(sign).collect()
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
        assert_eq!(span(0.2, 0.5, 0.8, 1.0, 11), "  ├──●──┤  ");
        assert_eq!(span(0.0, 0.0, 0.3, 1.0, 11), "●──┤       ");
        assert_eq!(span(0.999, 1.0, 1.0, 1.0, 5), "    ●");
        assert_eq!([bar(0.5, 4), bar(0.0001, 4), bar(1.0, 2)], ["██", "▏", "██"]);
    }

    #[test]
    fn text_wraps_at_words() {
        assert_eq!(wrap("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij k", 5), ["a…hij", "k"]);
        assert!(wrap("", 5).is_empty());
    }
}
