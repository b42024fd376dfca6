//! The report of a campaign in every format, from one document.

use crate::ReportError;
use crate::checks::checks;
use crate::document::{Document, Header, KeyFigure};
use crate::escape::plain;
use crate::frame::{SCRIPT, STYLE, script_hash};
use crate::image::Album;
use crate::render;
use crate::render::terminal::Terminal;
use crate::sections::{Input, parts};
use askama::Template;
use faultlens_analysis::format;
use faultlens_analysis::{Progress, Summary, Tally};
use std::path::Path;

const OUTDATED: &str = "The protections below were evaluated on other trials than the run has now; \
                        run faultlens protect again.";

#[derive(Template)]
#[template(path = "report.html")]
struct Page {
    style: &'static str,
    script: &'static str,
    script_hash: String,
    version: &'static str,
    title: String,
    /// Every picture of the page, for the drawings that show it.
    pictures: String,
    body: String,
}

/// The run as one self-contained page. `dir` is the run directory: example images come from it,
/// and the page's `replay` commands name it as it is given here.
///
/// An image that is missing, hostile or too large is left out with a note, so that a damaged run
/// still has its page. The page's own policy allows nothing from elsewhere and no script but its
/// own.
///
/// # Errors
/// [`ReportError::Page`] if the page's template cannot be filled in.
pub fn html(summary: &Summary, dir: &Path) -> Result<String, ReportError> {
    let mut warnings = Vec::new();
    let protections = faultlens_protect::read(dir).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        None
    });
    let recorded = summary.progress.recorded;
    if protections.as_ref().is_some_and(|advice| advice.recorded != recorded) {
        warnings.push(OUTDATED.to_owned());
    }
    let document = document(&Input { summary, dir, protections, warnings });
    let mut album = Album::new(dir);
    let body = render::html::body(&document, &mut album);
    let page = Page {
        style: STYLE,
        script: SCRIPT,
        script_hash: script_hash(),
        version: env!("CARGO_PKG_VERSION"),
        title: plain(&document.header.title),
        pictures: album.images(),
        body,
    };
    Ok(page.render()?)
}

/// The run as Markdown: verdict, findings, and the first rows of the tables that suit a comment on
/// a pull request.
pub fn markdown(summary: &Summary) -> String {
    render::markdown::render(&document(&without_directory(summary)))
}

/// The run in at most 40 lines: findings, outcomes, requirements, and the groups with the highest
/// rates, intervals drawn. Nothing from outside reaches the terminal as a command to it.
pub fn terminal(summary: &Summary, options: Terminal) -> String {
    render::terminal::render(&document(&without_directory(summary)), options)
}

fn without_directory(summary: &Summary) -> Input<'_> {
    Input { summary, dir: Path::new(""), protections: None, warnings: Vec::new() }
}

fn document(input: &Input<'_>) -> Document {
    let summary = input.summary;
    let header = Header {
        title: summary.name.clone(),
        verdict: summary.verdict,
        findings: summary.findings.clone(),
        headline: headline(&summary.overall),
        interval: summary.interval.clone(),
        figures: figures(&summary.overall, &summary.progress),
        checks: checks(summary),
    };
    Document { header, parts: parts(input) }
}

fn headline(tally: &Tally) -> String {
    let trials = format::counted(format::trials(tally), "trial");
    let rate = match tally.rate.value {
        None => "none judged".into(),
        Some(_) => format!("{} changed", format::rate(&tally.rate)),
    };
    if tally.spare == 0 {
        return format!("{trials}, {rate}");
    }
    format!("{trials}, {rate} ({} not needed)", format::count(tally.spare))
}

fn figures(tally: &Tally, progress: &Progress) -> Vec<KeyFigure> {
    let judged = format!("of {} judged", format::count(tally.rate.n));
    let interval = match tally.rate.value {
        None => "no trial judged yet".into(),
        Some(_) => {
            let (low, high) = format::ends(&tally.rate);
            format!(
                "{} to {}%; {} {judged}",
                format::percent(low),
                format::percent(high),
                format::count(tally.changed)
            )
        }
    };
    let mut figures = vec![
        KeyFigure { name: "Changed", value: format::value(&tally.rate), note: interval },
        figure("Trials", progress.recorded, state(progress)),
        figure("Detected", tally.detected, judged.clone()),
        figure("Crashed", tally.crashed, judged.clone()),
    ];
    if tally.timed_out > 0 {
        figures.push(figure("Timed out", tally.timed_out, judged));
    }
    figures.push(figure("Skipped", format::skipped(tally), "in no rate".into()));
    if tally.spare > 0 {
        let note = "planned for more objects than there are".into();
        figures.push(figure("Not needed", tally.spare, note));
    }
    figures
}

fn figure(name: &'static str, count: u64, note: String) -> KeyFigure {
    KeyFigure { name, value: format::count(count), note }
}

/// How far the run is, in words.
fn state(progress: &Progress) -> String {
    let planned = format::count(progress.planned);
    let time = format::duration(progress.seconds);
    if progress.stopped_early {
        format!("of {planned} planned; the stop rule was met; {time} of CPU time")
    } else if progress.complete {
        format!("complete; {time} of CPU time")
    } else {
        format!("of {planned} planned; not finished")
    }
}
