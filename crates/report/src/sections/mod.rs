//! The sections of a campaign report, each in a file of its own.
//!
//! A section turns a part of the summary into a [`Block`]: its prose, its tables and its charts, for
//! all formats. To add one, write its file and add one line to [`SECTIONS`].

mod advice;
mod attacks;
mod benefits;
mod classes;
mod critical;
mod curves;
mod detection;
mod examples;
mod fairness;
mod gallery;
mod heat;
mod method;
mod outcomes;
mod pinned;
mod preserve;
mod protect_first;
mod protections;
mod provenance;
mod rates;
mod requirements;
mod robustness;
mod scenes;
mod side_by_side;
mod spending;
mod targets;
mod thresholds;
mod traits;
mod warnings;

use crate::document::{Block, Part, Reach};
use faultlens_analysis::Summary;
use faultlens_protect::Advice;
use std::path::Path;

/// What sections are built from.
pub(crate) struct Input<'a> {
    pub(crate) summary: &'a Summary,
    /// The run directory, as commands shall name it.
    pub(crate) dir: &'a Path,
    /// The evaluated protections, where `faultlens protect` was run.
    pub(crate) protections: Option<Advice>,
    /// What the reader should know besides the summary's own warnings.
    pub(crate) warnings: Vec<String>,
}

/// A section of a report.
pub(crate) struct Section {
    /// What links lead to.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    pub(crate) reach: Reach,
    /// Builds it; `None` where the run has nothing to show in it.
    pub(crate) build: fn(&Input<'_>) -> Option<Block>,
}

const fn page(
    id: &'static str,
    title: &'static str,
    build: fn(&Input<'_>) -> Option<Block>,
) -> Section {
    Section { id, title, reach: Reach::Page, build }
}

const fn comment(
    id: &'static str,
    title: &'static str,
    build: fn(&Input<'_>) -> Option<Block>,
) -> Section {
    Section { id, title, reach: Reach::Comment, build }
}

const fn everywhere(
    id: &'static str,
    title: &'static str,
    build: fn(&Input<'_>) -> Option<Block>,
) -> Section {
    Section { id, title, reach: Reach::Terminal, build }
}

/// Every section, in the order of the report. Add yours here: `page` shows it in the page alone,
/// `comment` also in Markdown, `everywhere` also on the terminal.
pub(crate) const SECTIONS: &[Section] = &[
    everywhere("warnings", "Warnings", warnings::build),
    page("targets", "Targets", targets::build),
    comment("requirements", "Requirements", requirements::build),
    comment("preserve", "Within human tolerance", preserve::build),
    comment("pinned", "Pinned trials", pinned::build),
    everywhere(OUTCOMES, "Outcomes", outcomes::build),
    everywhere("rates", "Failure rates", rates::build),
    comment("protect", "What to protect first", protect_first::build),
    page("protection", "Protections", protections::build),
    page("heat", "Layers and bits", heat::build),
    comment("critical", "Critical bits", critical::build),
    page("attacks", "Attacks", attacks::build),
    comment("scenes", "Changed scenes", scenes::build),
    page("detection", "Detection quality", detection::build),
    page("advice", "Recommendations", advice::build),
    page("sides", "Targets side by side", side_by_side::build),
    page("fairness", "Fairness", fairness::build),
    page("benefits", "Defences", benefits::build),
    page("spending", "Time and cost", spending::build),
    page("robustness", "Error rate by severity", robustness::build),
    page("classes", "Least and most robust classes", classes::build),
    comment("traits", "By target trait", traits::build),
    page("curves", "Failure rate by severity", curves::build),
    page("gallery", "Gallery", gallery::build),
    comment("beyond", "Size of the output change", thresholds::build),
    page("examples", "Example trials", examples::build),
    page("method", "Method", method::build),
    page("provenance", "Provenance", provenance::build),
];

/// The section that says what became of the trials; terminals show it below the headline.
const OUTCOMES: &str = "outcomes";

/// The sections that have something to show.
pub(crate) fn parts(input: &Input<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for section in SECTIONS {
        if let Some(block) = (section.build)(input) {
            parts.push(Part {
                id: section.id,
                title: section.title,
                reach: section.reach,
                under_headline: section.id == OUTCOMES,
                block,
            });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ids_and_titles_are_unique_and_need_no_escaping() {
        let ids: BTreeSet<&str> = SECTIONS.iter().map(|section| section.id).collect();
        let titles: BTreeSet<&str> = SECTIONS.iter().map(|section| section.title).collect();
        assert_eq!((ids.len(), titles.len()), (SECTIONS.len(), SECTIONS.len()));
        for text in ids.iter().chain(&titles) {
            assert!(text.chars().all(|c| c.is_ascii_alphabetic() || c == ' '), "{text}");
        }
    }
}
