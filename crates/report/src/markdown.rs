//! A comment on a pull request.

use crate::escape::markdown as escape;
use faultlens_analysis::words as format;
use faultlens_analysis::{
    Checked, CriticalBits, GroupRow, Grouping, Pinned, Preserved, Summary, Trait, Verdict,
};
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
    let spare = match tally.spare {
        0 => String::new(),
        some => format!(", {} planned and not needed", format::count(some)),
    };
    let _ = write!(
        out,
        "{}; changed among the judged: {}; {} detected, {} crashed, {} timed out, {} skipped{}. In brackets: {}.\n\n",
        format::counted(format::trials(tally), "trial"),
        code(&format::rate(&tally.rate)),
        format::count(tally.detected),
        format::count(tally.crashed),
        format::count(tally.timed_out),
        format::count(format::skipped(tally)),
        spare,
        escape(&summary.interval)
    );
    if !summary.warnings.is_empty() {
        out.push_str("**Before you trust the numbers**\n\n");
        list(&mut out, &summary.warnings);
    }
    requirements(&mut out, &summary.requirements);
    preserved(&mut out, &summary.preserved);
    pinned(&mut out, &summary.pinned);
    for one in summary.groupings.iter().filter(|grouping| !grouping.rows.is_empty()) {
        grouping(&mut out, one);
    }
    scenes(&mut out, summary);
    rankings(&mut out, summary);
    critical(&mut out, &summary.critical);
    traits(&mut out, &summary.traits);
    thresholds(&mut out, summary);
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
            code(&format::measured(checked)),
            format::allowed(checked),
            escape(&checked.why)
        );
    }
    out.push('\n');
}

fn preserved(out: &mut String, all: &[Preserved]) {
    if all.is_empty() {
        return;
    }
    out.push_str(
        "### What people cope with\n\n| verdict | requirement | tolerated | measured | why |\n",
    );
    out.push_str("|---|---|---:|---:|---|\n");
    for one in all {
        let _ = writeln!(
            out,
            "| {} {} | {} | {:.2} | {} | {} |",
            sign(one.verdict),
            one.verdict.text(),
            escape(&format::preserved(one)),
            one.tolerated,
            code(&format::kept(one)),
            escape(&one.why)
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
        "### {}\n\n| {} | changed | n | rate |\n|---|---:|---:|---:|\n",
        escape(&grouping.title),
        escape(&grouping.attribute)
    );
    for row in most_telling(grouping) {
        let rate = &row.tally.rate;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} |",
            escape(row.name()),
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

fn scenes(out: &mut String, summary: &Summary) {
    if summary.scenes.is_empty() {
        return;
    }
    out.push_str(
        "### Changed scenes\n\n| fault | target | changed | n | rate | missed | spurious |",
    );
    out.push_str(" relabelled | misplaced |\n|---|---|---:|---:|---:|---:|---:|---:|---:|\n");
    for one in summary.scenes.iter().take(MOST_ROWS) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            escape(&one.fault),
            escape(&one.target),
            format::count(one.changed.events),
            format::count(one.changed.n),
            code(&format::rate(&one.changed)),
            format::count(one.missed),
            format::count(one.spurious),
            format::count(one.relabelled),
            format::count(one.misplaced)
        );
    }
    let left = summary.scenes.len().saturating_sub(MOST_ROWS);
    if left > 0 {
        let _ = write!(out, "\n{} more in the report.\n", format::count(left as u64));
    }
    out.push('\n');
}

fn rankings(out: &mut String, summary: &Summary) {
    for ranking in &summary.rankings {
        let (target, attribute) = (escape(&ranking.target), escape(&ranking.attribute));
        let _ = write!(
            out,
            "### What to protect first: {attribute}s of {target}\n\n| {attribute} | share of \
             changed answers | together |\n|---|---:|---:|\n"
        );
        for row in ranking.rows.iter().take(MOST_ROWS) {
            let (share, together) = (format::rate(&row.share), format::rate(&row.together));
            let name = escape(&row.name);
            let _ = writeln!(out, "| {name} | {} | {} |", code(&share), code(&together));
        }
        out.push('\n');
    }
}

fn critical(out: &mut String, found: &[CriticalBits]) {
    for one in found {
        let _ = write!(
            out,
            "### Critical bits of {}, {}\n\n| layer | elements | critical bits per element | share of \
             all flips |\n|---|---:|---:|---:|\n",
            escape(&one.target),
            escape(&one.point)
        );
        for layer in one.layers.iter().chain([&one.all]) {
            let name = layer.layer.map(|number| format::layer(number, &layer.name));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                escape(name.as_deref().unwrap_or("all layers")),
                format::count(layer.mean.n),
                code(&format::mean(&layer.mean)),
                code(&format::rate(&layer.share))
            );
        }
        let _ = write!(
            out,
            "\n{} questions instead of {}; {} of the checked bits were not as expected.\n\n",
            format::count(one.queries),
            format::count(one.exhaustive),
            code(&format::rate(&one.unexpected))
        );
    }
}

fn traits(out: &mut String, traits: &[Trait]) {
    for one in traits {
        let _ = write!(
            out,
            "### By {0}\n\n| {0} | targets | rate | right without faults |\n|---|---:|---:|---:|\n",
            escape(&one.name)
        );
        for row in &one.rows {
            let accuracy = row.accuracy.as_ref().map_or("not known".into(), format::rate);
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} |",
                escape(&row.value),
                format::count(row.targets),
                code(&format::rate(&row.rate)),
                code(&accuracy)
            );
        }
        out.push('\n');
    }
}

fn thresholds(out: &mut String, summary: &Summary) {
    let Some(first) = summary.thresholds.first() else { return };
    out.push_str("### How far the answers moved\n\n| fault | target |");
    for (threshold, _) in &first.rates {
        let _ = write!(out, " beyond {} |", format::number(*threshold, 6));
    }
    let _ = writeln!(out, "\n|---|---|{}", "---:|".repeat(first.rates.len()));
    for row in summary.thresholds.iter().take(MOST_ROWS) {
        let _ = write!(out, "| {} | {} |", escape(&row.point), escape(&row.target));
        for (_, rate) in &row.rates {
            let _ = write!(out, " {} |", code(&format::rate(rate)));
        }
        out.push('\n');
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
