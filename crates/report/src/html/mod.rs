//! The page: one file that holds all it shows.

mod attacks;
mod detection;
mod examples;
mod fairness;
mod gallery;
mod preserve;
mod protection;
mod rates;
mod robustness;
mod scenes;
mod sections;
mod side_by_side;
mod spending;
mod view;

use crate::ReportError;
use crate::image::{Album, base64};
use askama::Template as _;
use faultlens_analysis::Summary;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::path::Path;

pub(crate) const STYLE: &str = include_str!("../../templates/report.css");
pub(crate) const SCRIPT: &str = include_str!("../../templates/report.js");

/// The run as one self-contained page. `dir` is the run directory: example images come from it,
/// and the page's `replay` commands name it as it is given here.
///
/// An image that is missing, hostile or too much is left out with a note, so a damaged run still
/// has its page. The page's own policy allows nothing from elsewhere and no script but its own.
pub fn html(summary: &Summary, dir: &Path) -> Result<String, ReportError> {
    let mut album = Album::new(dir, pictures(summary));
    Ok(view::Page::new(summary, dir, &mut album).render()?)
}

/// How many different pictures a run has.
fn pictures(summary: &Summary) -> usize {
    let examples = summary.examples.iter().flat_map(|one| [&one.before, &one.after]);
    let classes = summary.classes.iter().flat_map(|all| all.worst.iter().chain(&all.best));
    let rows = summary.galleries.iter().flat_map(|gallery| &gallery.rows);
    let befores = rows.clone().flat_map(|row| row.trials.iter().flatten().map(|one| &one.before));
    let rows = rows.flat_map(|row| [&row.image, &row.golden].into_iter().chain(&row.cells));
    let all = examples.chain(classes.map(|class| &class.image)).chain(rows).chain(befores);
    all.flatten().collect::<BTreeSet<_>>().len()
}

/// The script's hash, so that the page's policy runs no other, whatever a label holds.
pub(crate) fn script_hash() -> String {
    format!("sha256-{}", base64(&Sha256::digest(SCRIPT.as_bytes())))
}
