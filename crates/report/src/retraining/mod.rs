//! The page of failure-aware retraining: what each configuration came to, and how it went.

mod charts;
mod words;

use crate::ReportError;
use crate::frame::{SCRIPT, STYLE, script_hash};
use crate::image::{Album, Room};
use askama::Template;
use faultlens_retrain::words::{percent, points, standing};
use faultlens_retrain::{Configuration, Difference, Metric, Retraining, findings};
use std::path::Path;

use charts::ChartView;
use words::Frame;

/// How many failing scenes the page shows.
const MOST_SHOWN: usize = 12;

/// What the page shows. Names in it come from outside; the page escapes them.
#[derive(Debug, Clone)]
pub struct RetrainingPage<'a> {
    /// What was measured.
    pub retraining: &'a Retraining,
    /// The experiment's folder: pictures of scenes come from it.
    pub folder: &'a Path,
    /// Where it comes from: name and value.
    pub provenance: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "retraining.html")]
struct Page {
    style: String,
    script: &'static str,
    script_hash: String,
    version: &'static str,
    title: &'static str,
    of: Frame,
    conclusions: Vec<String>,
    metrics: Vec<&'static str>,
    rows: Vec<RowView>,
    differences: Vec<DifferenceView>,
    seeds: Vec<[String; 7]>,
    legend: Vec<(&'static str, usize)>,
    charts: Vec<ChartView>,
    scenes: Vec<SceneView>,
    /// The scenes' pictures, for the drawings that show them.
    pictures: String,
}

/// One line of the table.
struct RowView {
    name: String,
    about: &'static str,
    cells: Vec<String>,
    last: String,
    paper: String,
}

/// Two configurations beside each other.
struct DifferenceView {
    name: String,
    cells: Vec<String>,
    standing: &'static str,
}

/// A failing scene.
struct SceneView {
    seed: u64,
    /// The drawing.
    picture: Result<String, &'static str>,
}

/// The page, in one file that loads nothing.
///
/// # Errors
/// [`ReportError::Page`].
pub fn retraining(of: &RetrainingPage<'_>) -> Result<String, ReportError> {
    let all = of.retraining;
    let known = findings(all);
    let style = [
        STYLE,
        include_str!("../../templates/survival.css"),
        include_str!("../../templates/retraining.css"),
    ];
    let mut album = Album::new(of.folder);
    let page = Page {
        style: style.concat(),
        script: SCRIPT,
        script_hash: script_hash(),
        version: env!("CARGO_PKG_VERSION"),
        title: "Failure-aware retraining",
        of: Frame::new(of, &known),
        conclusions: faultlens_retrain::words::conclusions(&known),
        metrics: Metric::ALL.map(Metric::name).to_vec(),
        rows: rows(&known),
        differences: differences(&known.differences),
        seeds: all.seeds.iter().map(words::seed).collect(),
        legend: Configuration::ALL.map(|one| (one.about(), charts::style(one))).to_vec(),
        charts: charts::charts(all),
        scenes: scenes(all, &mut album),
        pictures: album.images(),
    };
    Ok(page.render()?)
}

fn rows(of: &faultlens_retrain::Findings) -> Vec<RowView> {
    let first = RowView {
        name: "0".to_owned(),
        about: "the first model, before anything was added",
        cells: of.first.iter().map(|(_, known)| percent(known)).collect(),
        last: "–".to_owned(),
        paper: "–".to_owned(),
    };
    let row = |(number, configuration): (usize, Configuration)| {
        let mine = || of.rows.iter().filter(move |row| row.configuration == configuration);
        let last = mine().find(|row| row.metric == Metric::Ap);
        RowView {
            name: number.to_string(),
            about: configuration.about(),
            cells: mine().map(|row| percent(&row.throughout)).collect(),
            last: last.map(|row| percent(&row.last)).unwrap_or_default(),
            paper: format!("{:.1}", configuration.paper()),
        }
    };
    let others = (1..).zip(Configuration::ALL).map(row);
    [first].into_iter().chain(others).collect()
}

fn differences(all: &[Difference]) -> Vec<DifferenceView> {
    let others = [(Configuration::Originals, "2 − 1"), (Configuration::Unchecked, "2 − 3")];
    let one = |(less, name): (Configuration, &str)| {
        let mine = || all.iter().filter(move |one| one.less == less);
        let first = mine().find(|one| one.metric == Metric::Ap);
        DifferenceView {
            name: name.to_owned(),
            cells: mine().map(|one| points(&one.known)).collect(),
            standing: first.map(|one| standing(one.standing)).unwrap_or_default(),
        }
    };
    others.map(one).into_iter().collect()
}

/// A few failing scenes, as many of each seed.
fn scenes(of: &Retraining, album: &mut Album) -> Vec<SceneView> {
    let each = (MOST_SHOWN / of.seeds.len().max(1)).max(1);
    let mut shown: Vec<(u64, &str)> = Vec::new();
    for seed in &of.seeds {
        shown.extend(seed.used.shown.iter().take(each).map(|path| (seed.seed, path.as_str())));
    }
    shown.truncate(MOST_SHOWN);
    let wanted: Vec<(&str, Room)> = shown.iter().map(|(_, path)| (*path, Room::Stamp)).collect();
    album.load(&wanted);
    let mut views = Vec::new();
    for (seed, path) in shown {
        let name = format!("A failing scene of seed {seed}");
        views.push(SceneView { seed, picture: album.show(path, &name) });
    }
    views
}
