//! One target and one case, asked undisturbed: the reference that its trials are judged against.

mod image;
mod model;
mod repeat;

use crate::cases::case_key;
use crate::context::TrialContext;
use crate::observation::Observation;
use crate::target::OpenTarget;
use crate::white_box::WhiteBox;
use faultlens_core::{
    AppliedFault, Case, Comparison, Outcome, Reason, Response, Target as _, TargetError, Truth,
};
use faultlens_engine::Golden;
use image::PreparedImage;
pub use model::SiteHit;
use std::time::{Duration, Instant};

/// One target and one case, asked undisturbed.
pub struct GoldenCase<'s> {
    /// What all trials share.
    pub context: &'s TrialContext,
    /// The target.
    pub target: &'s OpenTarget,
    /// What is shown.
    pub case: Case,
    /// What distinguishes the case from others: its name and its pixels.
    pub key: String,
    /// The undisturbed run, where the target is a model that faults can land in.
    run: Option<(&'s WhiteBox, Golden<'s>)>,
    /// The undisturbed answer.
    pub answer: Response,
    /// Why no trial of this case says anything, whatever the fault.
    pub skipped: Option<Reason>,
    /// The undisturbed image, prepared for comparisons with changed ones.
    prepared: PreparedImage,
}

impl<'s> GoldenCase<'s> {
    /// Asks the target about the undisturbed case.
    pub fn open(
        context: &'s TrialContext,
        target: &'s OpenTarget,
        case: Case,
    ) -> Result<Self, TargetError> {
        let start = Instant::now();
        let (run, answer) = match target.white_box() {
            // The intermediate values are kept, so that model faults replay only what they reach.
            Some(white_box) => {
                let (golden, answer) = white_box.golden(&target.shown(&case.image))?;
                (Some((white_box, golden)), target.after(answer, &case.image)?)
            }
            None => (None, repeat::ask_repeatedly(|| target.ask(&case.image))?),
        };
        context.clock.add(Duration::ZERO, start.elapsed());
        let mut golden = Self {
            context,
            target,
            key: case_key(&case),
            case,
            run,
            answer,
            skipped: None,
            prepared: PreparedImage::default(),
        };
        golden.skipped = context.judge.skips_case(&golden.undisturbed(&golden.answer));
        if golden.skipped.is_none() {
            golden.skipped = golden.is_unstable()?;
        }
        Ok(golden)
    }

    /// What the target should answer.
    pub fn truth(&self) -> Truth<'_> {
        let Some(label) = self.case.label else { return Truth::default() };
        Truth {
            class: self.target.truths.get(label).copied().flatten(),
            label: self.context.classes.get(label).map(String::as_str),
        }
    }

    /// The outcome of a trial. What the guards rule out is skipped first, so that an answer that
    /// would not count does not count when it is missing either.
    pub fn judge(&self, observation: &Observation) -> Outcome {
        if let Some(reason) = self.skipped.or(observation.skipped) {
            return Outcome::Skipped(reason);
        }
        let judge = &self.context.judge;
        if let Some(reason) = judge.skips_trial(&self.comparison(&self.answer, observation)) {
            return Outcome::Skipped(reason);
        }
        match &observation.answer {
            // The golden answer was compared with itself when the case was opened.
            Ok(None) => Outcome::Unchanged,
            Ok(Some(answer)) => judge.judge(&self.comparison(answer, observation)),
            Err(TargetError::Failed(_)) => Outcome::Crashed,
            Err(TargetError::Rejected(_)) => Outcome::Detected,
            Err(TargetError::TimedOut(_)) => Outcome::TimedOut,
            Err(_) => Outcome::Skipped(Reason::NoResponse),
        }
    }

    /// What the judge compares: an answer with the one that is expected under the fault.
    pub(crate) fn comparison<'a>(
        &'a self,
        answer: &'a Response,
        observation: &'a Observation,
    ) -> Comparison<'a> {
        let shown = observation.shown.as_deref();
        Comparison {
            golden: observation.expected().unwrap_or(&self.answer),
            fault: shown.map(|shown| AppliedFault {
                name: shown.fault,
                visual_change: shown.visual_change,
            }),
            ..self.undisturbed(answer)
        }
    }

    /// A comparison with the golden answer, without any fault.
    pub(crate) fn undisturbed<'a>(&'a self, observed: &'a Response) -> Comparison<'a> {
        Comparison {
            case: &self.case,
            truth: self.truth(),
            golden: &self.answer,
            observed,
            fault: None,
        }
    }
}
