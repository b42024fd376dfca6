//! Who judges a trial: oracles, and guards that say when their judgement counts.

mod golden_correct;
mod same_detections;
mod same_picture;
mod same_segments;
mod same_text;
mod same_top;
mod same_values;
mod within_tolerance;

use faultlens_core::{Comparison, Guard, Measurement, Oracle, Outcome, Plugin, Reason};

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

/// An oracle behind its guards.
pub struct Judge {
    oracle: Box<dyn Oracle>,
    guards: Vec<Box<dyn Guard>>,
}

impl Judge {
    /// A judge who asks the guards in this order, then the oracle.
    pub fn new(oracle: Box<dyn Oracle>, guards: Vec<Box<dyn Guard>>) -> Self {
        Self { oracle, guards }
    }

    /// Why no trial of this case says anything, whatever the fault; asked with golden as the
    /// observed answer.
    pub fn skips_case(&self, comparison: &Comparison<'_>) -> Option<Reason> {
        if !comparison.golden.is_finite() {
            return Some(Reason::GoldenNotFinite);
        }
        let barred = self.guards.iter().find_map(|guard| guard.skips_case(comparison));
        // Who cannot judge golden against itself will judge no answer to this case.
        barred.or_else(|| match self.oracle.judge(comparison) {
            Outcome::Unchanged => None,
            Outcome::Skipped(reason) => Some(reason),
            _ => Some(Reason::UnsupportedAnswer),
        })
    }

    /// Why a trial says nothing, whatever was answered; to be asked before it is judged.
    pub fn skips_trial(&self, comparison: &Comparison<'_>) -> Option<Reason> {
        self.guards.iter().find_map(|guard| guard.skips_trial(comparison))
    }

    /// Whether it must know how much people notice of what was done to an image.
    pub fn needs_visual_change(&self) -> bool {
        self.guards.iter().any(|guard| guard.needs_visual_change())
    }

    /// What became of a trial that is not barred. An answer that is not finite gives
    /// the fault away.
    pub fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        if !comparison.observed.is_finite() {
            return Outcome::Detected;
        }
        self.oracle.judge(comparison)
    }

    /// The overlap from which boxes are taken for the same object: the oracle's, else one half.
    pub fn overlap(&self) -> f64 {
        self.oracle.overlap().unwrap_or(0.5)
    }

    /// How far the answer moved, for the record; `None` where the oracle has no measure, and for
    /// answers that are not finite, which are nowhere.
    pub fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let finite = comparison.golden.is_finite() && comparison.observed.is_finite();
        if finite { self.oracle.measure(comparison) } else { None }
    }
}

#[cfg(test)]
mod tests;
