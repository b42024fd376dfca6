//! Oracles judge trials; guards say when their judgement counts.
//!
//! To add one, write a file with a [`Plugin`] entry beside the others and name it in [`ORACLES`] or
//! [`GUARDS`]. Help texts, the schema of campaign files and the tables in `docs/campaign.md` follow
//! from the entry (`UPDATE_DOCS=1 cargo test -p faultlens-judge` writes the tables).

mod golden_correct;
mod same_detections;
mod same_picture;
mod same_segments;
mod same_text;
mod same_top;
mod same_values;
mod within_tolerance;

use faultlens_core::{Guard, Oracle, Plugin};

/// Every oracle, in alphabetical order. Add yours here.
pub const ORACLES: &[Plugin<dyn Oracle>] = &[
    same_detections::SAME_DETECTIONS,
    same_picture::SAME_PICTURE,
    same_segments::SAME_SEGMENTS,
    same_text::SAME_TEXT,
    same_top::SAME_TOP,
    same_values::SAME_VALUES,
];

/// Every guard, in alphabetical order. Add yours here.
pub const GUARDS: &[Plugin<dyn Guard>] =
    &[golden_correct::GOLDEN_CORRECT, within_tolerance::WITHIN_TOLERANCE];

#[cfg(test)]
mod tests;
