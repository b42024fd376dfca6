//! The page of a robustness study: what breaks, what it costs, and why.

mod charts;
mod markdown;
mod tables;
mod words;

use crate::ReportError;
use crate::escape::plain;
use crate::frame::{SCRIPT, STYLE, script_hash};
use crate::survival::RowView;
use crate::survival::plots::PlotsView;
use askama::Template;
use faultlens_sweep::analysis::Findings;

use charts::ChartView;
use tables::{CostTable, EffectTable, GroupTable};
use words::Frame;

pub use markdown::grid_markdown;

/// What the page shows. Names in it come from outside; the page escapes them.
#[derive(Debug, Clone)]
pub struct GridPage<'a> {
    /// What the page is about, such as the study's name.
    pub title: String,
    /// What the rows say.
    pub findings: &'a Findings,
    /// Where it comes from: name and value.
    pub provenance: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "grid.html")]
struct Page {
    style: String,
    script: &'static str,
    script_hash: String,
    version: &'static str,
    of: Frame,
    title: String,
    accuracies: Vec<ChartView>,
    clocks: Vec<ClockView>,
    plots: Vec<PlotsView>,
    effects: Vec<ChartView>,
    effects_about: String,
    coefficients: Vec<EffectTable>,
    costs: Vec<ChartView>,
    tables: Vec<CostTable>,
    groups: Vec<GroupTable>,
}

/// The models on one clock, ready to be shown.
struct ClockView {
    heading: String,
    about: String,
    rows: Vec<RowView>,
}

/// The page, in one file that loads nothing.
///
/// # Errors
/// [`ReportError::Page`].
pub fn grid(of: &GridPage<'_>) -> Result<String, ReportError> {
    let findings = of.findings;
    let style = [
        STYLE,
        include_str!("../../templates/survival.css"),
        include_str!("../../templates/grid.css"),
    ];
    let page = Page {
        style: style.concat(),
        script: SCRIPT,
        script_hash: script_hash(),
        version: env!("CARGO_PKG_VERSION"),
        of: Frame::new(of),
        title: plain(&of.title),
        accuracies: charts::accuracies(findings),
        clocks: [&findings.seconds, &findings.queries]
            .into_iter()
            .filter_map(tables::clock)
            .collect(),
        plots: charts::plots(&findings.seconds),
        effects: charts::effects(&findings.seconds),
        effects_about: words::effects_about(&findings.seconds),
        coefficients: tables::coefficients(findings),
        costs: charts::costs(findings),
        tables: tables::costs(findings),
        groups: tables::groups(findings),
    };
    Ok(page.render()?)
}
