//! The sections of a campaign report, each in a file of its own.
//!
//! A section turns a part of the summary into a [`Block`]: its prose, its tables and its charts,
//! for all formats. To add one, write its file with a function `build` and add one line to
//! `sections!`.

use crate::document::{Block, Part, Reach};
use faultlens_analysis::Summary;
use faultlens_analysis::protection::Advice;
use std::path::Path;

/// What sections are built from.
pub(crate) struct Input<'a> {
    pub(crate) summary: &'a Summary,
    /// The run directory, as commands shall name it.
    pub(crate) dir: &'a Path,
    /// What the intervals are, such as `95% intervals for new images`.
    pub(crate) interval: String,
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

/// Declares the module of each section, and lists the sections in the order of the report.
macro_rules! sections {
    ($($module:ident: $reach:ident, $id:literal, $title:literal;)*) => {
        $(mod $module;)*

        /// Every section, in the order of the report.
        pub(crate) const SECTIONS: &[Section] = &[
            $(Section {
                id: $id,
                title: $title,
                reach: Reach::$reach,
                build: $module::build,
            },)*
        ];
    };
}

// To add a section: its file, and its line here with how far it reaches ([`Reach`]), what links
// lead to, and its title.
sections! {
    warnings: Terminal, "warnings", "Warnings";
    requirements: Comment, "requirements", "Requirements";
    glance: Page, "glance", "At a glance";
    targets: Page, "targets", "Targets";
    preserve: Comment, "preserve", "Within human tolerance";
    pinned: Comment, "pinned", "Pinned trials";
    detection: Comment, "detection", "Detection quality";
    outcomes: Terminal, "outcomes", "Outcomes";
    rates: Terminal, "rates", "Failure rates";
    skipped: Page, "skipped", "Skipped trials";
    protect_first: Comment, "protect", "What to protect first";
    protections: Page, "protection", "Protections";
    heat: Page, "heat", "Layers and bits";
    critical: Comment, "critical", "Critical bits";
    attacks: Page, "attacks", "Attacks";
    scenes: Comment, "scenes", "Changed scenes";
    advice: Page, "advice", "Recommendations";
    side_by_side: Page, "sides", "Targets side by side";
    measures: Page, "measures", "How far predictions move";
    fairness: Page, "fairness", "Fairness";
    benefits: Page, "benefits", "Defences";
    spending: Page, "spending", "Time and cost";
    robustness: Page, "robustness", "Error rate by severity";
    classes: Page, "classes", "Least and most robust classes";
    traits: Comment, "traits", "By target trait";
    curves: Page, "curves", "Failure rate by severity";
    gallery: Page, "gallery", "Gallery";
    thresholds: Comment, "beyond", "Size of the output change";
    examples: Page, "examples", "Example trials";
    method: Page, "method", "Method";
    provenance: Page, "provenance", "Provenance";
}

/// Sections that the page shows without being asked: verdicts, and what to know first.
const OPEN: [&str; 4] = ["warnings", "requirements", "glance", "pinned"];

/// The section that says what became of the trials; terminals show it below the headline.
const OUTCOMES: &str = "outcomes";

/// The sections that have something to show.
pub(crate) fn parts(input: &Input<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for section in SECTIONS {
        if let Some(block) = (section.build)(input) {
            parts.push(Part {
                reach: section.reach,
                under_headline: section.id == OUTCOMES,
                folded: !OPEN.contains(&section.id),
                ..Part::new(section.id, section.title, block)
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
