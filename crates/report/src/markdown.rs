//! A comment on a pull request.

use crate::escape::markdown as escape;
use faultlens_campaign::analysis::words as format;
use faultlens_campaign::analysis::{Checked, GroupRow, Grouping, Pinned, Summary, Verdict};
use std::fmt::Write as _;

/// Rows of a grouping; a comment is no report.
const MOST_ROWS: usize = 10;

/// The run as Markdown: verdict, findings, requirements and the first rows of every grouping.
pub fn markdown(summary: &Summary) -> String {
    let mut out = format!("## {}\n\n", escape(&summary.name));
    if let Some(verdict) = summary.verdict {
        let _ = write!(out, "{} **Requirements {}**\n\n", sign(verdict), verdict.text());
    }
    list(&mut out, &summary.findings);
    let tally = &summary.overall;
    let _ = write!(
        out,
        "{}; deviated among the judged: {}; {} detected, {} crashed, {} timed out, {} unjudged. In brackets: {}.\n\n",
        format::counted(format::trials(tally), "trial"),
        code(&format::rate(&tally.rate)),
        format::count(tally.detected),
        format::count(tally.crashed),
        format::count(tally.timed_out),
        format::count(format::unjudged(tally)),
        escape(&summary.interval)
    );
    if !summary.warnings.is_empty() {
        out.push_str("**Before you trust the numbers**\n\n");
        list(&mut out, &summary.warnings);
    }
    requirements(&mut out, &summary.requirements);
    pinned(&mut out, &summary.pinned);
    for one in summary.groupings.iter().filter(|grouping| !grouping.rows.is_empty()) {
        grouping(&mut out, one);
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

/// Our own text as code; brackets would otherwise read as a link.
fn code(text: &str) -> String {
    format!("`{text}`")
}

fn list(out: &mut String, lines: &[String]) {
    for line in lines {
        let _ = writeln!(out, "- {}", escape(line));
    }
    if !lines.is_empty() {
        out.push('\n');
    }
}

fn requirements(out: &mut String, requirements: &[Checked]) {
    if requirements.is_empty() {
        return;
    }
    out.push_str("### Requirements\n\n| verdict | requirement | measured | limit | why |\n");
    out.push_str("|---|---|---:|---:|---|\n");
    for checked in requirements {
        let _ = writeln!(
            out,
            "| {} {} | {} | {} | {} | {} |",
            sign(checked.verdict),
            checked.verdict.text(),
            escape(&checked.requirement),
            code(&format::rate(&checked.rate)),
            format::limit(checked.limit),
            escape(&checked.why)
        );
    }
    out.push('\n');
}

fn pinned(out: &mut String, pins: &[Pinned]) {
    if pins.is_empty() {
        return;
    }
    out.push_str("### Pinned trials\n\n| verdict | pin | outcome | why |\n|---|---|---|---|\n");
    for pin in pins {
        let _ = writeln!(
            out,
            "| {} {} | {} | {} | {} |",
            sign(pin.verdict),
            pin.verdict.text(),
            escape(&pin.name),
            escape(&format::outcome(&pin.outcome)),
            escape(&pin.why)
        );
    }
    out.push('\n');
}

fn grouping(out: &mut String, grouping: &Grouping) {
    let _ = write!(
        out,
        "### {}\n\n| {} | deviated | n | rate |\n|---|---:|---:|---:|\n",
        escape(&grouping.title),
        escape(&grouping.attribute)
    );
    for row in most_telling(grouping) {
        let rate = &row.tally.rate;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            escape(&row.key),
            format::count(rate.events),
            format::count(rate.n),
            code(&format::rate(rate))
        );
    }
    let left = grouping.rows.len().saturating_sub(MOST_ROWS);
    if left > 0 {
        let which = if grouping.ordered { "with lower rates " } else { "" };
        let _ = write!(out, "\n{} more {which}in the report.\n", format::count(left as u64));
    }
    out.push('\n');
}

/// The rows with the highest rates, in the order that the grouping has.
fn most_telling(grouping: &Grouping) -> Vec<&GroupRow> {
    if !grouping.ordered {
        return grouping.rows.iter().take(MOST_ROWS).collect();
    }
    let mut rows: Vec<_> = grouping.rows.iter().enumerate().collect();
    let rate = |row: &GroupRow| row.tally.rate.value.unwrap_or(-1.0);
    rows.sort_by(|a, b| rate(b.1).total_cmp(&rate(a.1)));
    rows.truncate(MOST_ROWS);
    rows.sort_by_key(|(at, _)| *at);
    rows.into_iter().map(|(_, row)| row).collect()
}
