//! An oracle behind its guards: what decides the outcome of a trial.

use faultlens_core::{Comparison, Guard, Measurement, Oracle, Outcome, Reason};

/// An oracle behind its guards.
pub struct Judge {
    oracle: Box<dyn Oracle>,
    guards: Vec<Box<dyn Guard>>,
}

impl Judge {
    /// A judge that consults the guards in this order, then the oracle.
    pub fn new(oracle: Box<dyn Oracle>, guards: Vec<Box<dyn Guard>>) -> Self {
        Self { oracle, guards }
    }

    /// Why every trial of this case is skipped, whatever the fault. To be called before any trial,
    /// with golden as the observed answer.
    pub fn skips_case(&self, comparison: &Comparison<'_>) -> Option<Reason> {
        if !comparison.golden.is_finite() {
            return Some(Reason::GoldenNotFinite);
        }
        if let Some(reason) = self.guards.iter().find_map(|guard| guard.skips_case(comparison)) {
            return Some(reason);
        }
        // An oracle that cannot judge golden against itself cannot judge any answer to this case.
        match self.oracle.judge(comparison) {
            Outcome::Unchanged => None,
            Outcome::Skipped(reason) => Some(reason),
            _ => Some(Reason::UnsupportedAnswer),
        }
    }

    /// Why a trial is skipped, whatever the target answered. To be called before it is judged.
    pub fn skips_trial(&self, comparison: &Comparison<'_>) -> Option<Reason> {
        self.guards.iter().find_map(|guard| guard.skips_trial(comparison))
    }

    /// Whether [`AppliedFault::visual_change`](faultlens_core::AppliedFault::visual_change) must be
    /// measured before a trial is judged.
    pub fn needs_visual_change(&self) -> bool {
        self.guards.iter().any(|guard| guard.needs_visual_change())
    }

    /// What became of a trial that is not skipped. An answer that is not finite is
    /// [`Outcome::Detected`].
    pub fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        if !comparison.observed.is_finite() {
            return Outcome::Detected;
        }
        self.oracle.judge(comparison)
    }

    /// The intersection over union from which two boxes count as the same object: the oracle's,
    /// else one half as in PASCAL VOC.
    pub fn overlap(&self) -> f64 {
        self.oracle.overlap().unwrap_or(0.5)
    }

    /// How far the answer moved, for the record; `None` where the oracle does not measure it, and
    /// for answers that are not finite.
    pub fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let finite = comparison.golden.is_finite() && comparison.observed.is_finite();
        if finite { self.oracle.measure(comparison) } else { None }
    }
}
