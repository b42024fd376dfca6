//! The first cases of a campaign, to try faults out on before the first trial.

use crate::cases::Cases;
use crate::target::OpenTarget;
use faultlens_core::Image;
use faultlens_engine::Golden;
use std::cell::OnceCell;

/// Cases that are tried until the target answers one.
pub(crate) const PROBED_CASES: usize = 16;

/// A target with the first cases of a campaign. Images and golden runs are made when a fault first
/// asks for them, and then shared.
pub struct Probe<'a> {
    /// The target.
    pub target: &'a OpenTarget,
    /// Whether a stop rule decides how many trials there are.
    pub has_stop_rule: bool,
    cases: &'a Cases,
    image: OnceCell<Option<Image>>,
    golden: OnceCell<Option<Golden<'a>>>,
}

impl<'a> Probe<'a> {
    pub(crate) fn new(target: &'a OpenTarget, cases: &'a Cases, has_stop_rule: bool) -> Self {
        Self { target, has_stop_rule, cases, image: OnceCell::new(), golden: OnceCell::new() }
    }

    /// The first image that can be read.
    pub(crate) fn image(&self) -> Option<&Image> {
        self.image.get_or_init(|| self.cases.readable().next().map(|case| case.image)).as_ref()
    }

    /// The golden run of the first case that the model answers; `None` where it answers none, or
    /// where the target is no model.
    pub(crate) fn golden(&self) -> Option<&Golden<'a>> {
        let run = || {
            let white_box = self.target.white_box()?;
            let mut cases = self.cases.readable().take(PROBED_CASES);
            cases.find_map(|case| white_box.target.golden(&self.target.shown(&case.image)).ok())
        };
        self.golden.get_or_init(run).as_ref()
    }
}
