//! `faultlens report`: what a run found.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use crate::exit;
use faultlens::analysis::{Summary, summarise};
use faultlens::report::{Terminal, html, json, junit, markdown, terminal};
use faultlens::sweep::{has_rows, load_rows};

use crate::args::{ReportArgs, ReportFormat};
use crate::command::{sweep, write};
use crate::console::Console;

/// Makes a report from a run directory.
pub(crate) fn run(args: &ReportArgs, console: &mut Console) -> anyhow::Result<u8> {
    if has_rows(&args.run) {
        return of_sweep(args, console);
    }
    let summary = summarise(&args.run, &args.by)?;
    let Some(format) = format(args) else {
        page(&summary, &args.run, args.output.clone(), console)?;
        return Ok(exit::OK);
    };
    let text = match format {
        ReportFormat::Html => html(&summary, &args.run),
        ReportFormat::Markdown => markdown(&summary),
        ReportFormat::Json => json(&summary)?.to_string(),
        ReportFormat::Junit => junit(&summary),
        ReportFormat::Text => terminal(&summary, terminal_options(console)),
    };
    deliver(args, &text, console)?;
    Ok(exit::OK)
}

/// The path that stands for standard output.
const STDOUT: &str = "-";

/// The one format that is wanted; `None` for the page with a summary on the terminal.
fn format(args: &ReportArgs) -> Option<ReportFormat> {
    let to_stdout = args.output.as_deref() == Some(Path::new(STDOUT));
    match (args.json, args.format) {
        (true, _) => Some(ReportFormat::Json),
        // Standard output takes one document, and that is the page.
        (false, None) => to_stdout.then_some(ReportFormat::Html),
        (false, format) => format,
    }
}

/// Writes a report to its file, or to standard output.
fn deliver(args: &ReportArgs, text: &str, console: &mut Console) -> anyhow::Result<()> {
    match args.output.as_deref() {
        Some(path) if path != Path::new(STDOUT) => write(path, text),
        _ => Ok(console.line(text.trim_end())?),
    }
}

/// Makes the report of a sweep from its rows.
fn of_sweep(args: &ReportArgs, console: &mut Console) -> anyhow::Result<u8> {
    ensure!(
        args.by.is_empty(),
        "a sweep is always reported by all of its axes; --by works on its campaigns"
    );
    let rows = load_rows(&args.run)?;
    let folder = args.run.file_name().unwrap_or(args.run.as_os_str()).to_string_lossy();
    let name = if rows.name.is_empty() { &*folder } else { rows.name.as_str() };
    let report = sweep::SweepReport::new(name, &rows, args.mixed_machines)?;
    let Some(format) = format(args) else {
        match &args.output {
            Some(path) => write(path, report.page())?,
            None => report.save(&args.run)?,
        }
        let path = args.output.clone().unwrap_or_else(|| args.run.join(sweep::PAGE));
        report.conclude(console)?;
        console.line(format_args!("report: {}", path.display()))?;
        return Ok(exit::OK);
    };
    let text = match format {
        ReportFormat::Html => report.page(),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Json => serde_json::to_string(&report.findings)?,
        ReportFormat::Junit | ReportFormat::Text => {
            bail!(
                "a sweep has only --format html, markdown and json; its campaigns have all formats"
            )
        }
    };
    deliver(args, &text, console)?;
    Ok(exit::OK)
}

/// Writes the page again, after something was added to the run.
pub(crate) fn rewrite(dir: &Path) -> anyhow::Result<()> {
    write_page(&summarise(dir, &[])?, dir)
}

/// Writes the page of a run into its directory.
pub(crate) fn write_page(summary: &Summary, dir: &Path) -> anyhow::Result<()> {
    write(&dir.join("report.html"), html(summary, dir))
}

/// How a run that has just ended is reported, besides its page.
pub(crate) struct ReportOptions<'a> {
    /// Where the verdicts go as JUnit XML.
    pub(crate) junit: Option<&'a Path>,
    /// What goes to standard output.
    pub(crate) shown: Shown,
}

/// What of a run's summary goes to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// What people read.
    Text,
    /// One object with everything.
    Json,
    /// Nothing; something else is written there.
    Nothing,
}

/// Reports a run that has just ended: a page, and a summary.
pub(crate) fn report_run(
    dir: &Path,
    options: &ReportOptions<'_>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let summary = summarise(dir, &[])?;
    if let Some(path) = options.junit {
        write(path, junit(&summary))?;
    }
    if options.shown == Shown::Text {
        return page(&summary, dir, None, console);
    }
    write_page(&summary, dir)?;
    if options.shown == Shown::Json { console.json(&json(&summary)?) } else { Ok(()) }
}

fn page(
    summary: &Summary,
    dir: &Path,
    path: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let usual = path.is_none();
    let path = path.unwrap_or_else(|| dir.join("report.html"));
    let written = write(&path, html(summary, dir));
    // A run in a read-only directory is summarised all the same; a path that the user gave must be
    // writable.
    let written = if usual { written } else { Ok(written?) };
    console.line(terminal(summary, terminal_options(console)).trim_end())?;
    written?;
    Ok(console.line(format_args!("\nreport: {}", path.display()))?)
}

fn terminal_options(console: &Console) -> Terminal {
    Terminal { colour: console.has_colours(), width: console.width() }
}
