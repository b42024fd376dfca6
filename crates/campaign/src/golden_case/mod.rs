//! One target and one case, asked undisturbed: the reference that its trials are judged against.

mod model;

use crate::cases::case_key;
use crate::context::TrialContext;
use crate::observation::Observation;
use crate::target::OpenTarget;
use crate::white_box::WhiteBox;
use faultlens_core::{
    AppliedFault, Case, Comparison, Image, Outcome, Reason, Response, Target as _, TargetError,
    Truth,
};
use faultlens_engine::Golden;
use faultlens_judge::visual::Reference;
use faultlens_judge::{HogSettings, hog, hog_intersection};
use faultlens_spec::change_of;
use std::cell::OnceCell;
use std::time::{Duration, Instant};

/// How often a service is asked for an answer that gets lost and that other trials depend on.
const ATTEMPTS: usize = 3;

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
    /// The class of the target's list that the case should have.
    truth: Option<usize>,
    /// The undisturbed run, where the target is a model that faults can land in.
    run: Option<(&'s WhiteBox, Golden<'s>)>,
    /// The undisturbed answer.
    pub answer: Response,
    /// Why no trial of this case says anything, whatever the fault.
    pub skipped: Option<Reason>,
    /// The image prepared for visual comparisons, made at the first one; `None` for images that
    /// cannot be compared.
    reference: OnceCell<Option<Reference>>,
    /// The histogram of oriented gradients of the image, made when the first changed scene is
    /// compared with it.
    gradients: OnceCell<Option<Vec<f64>>>,
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
            None => (None, ask_repeatedly(|| target.ask(&case.image))?),
        };
        context.clock.add(Duration::ZERO, start.elapsed());
        let truth = case.label.and_then(|label| target.truths.get(label).copied().flatten());
        let mut golden = Self {
            context,
            target,
            key: case_key(&case),
            case,
            truth,
            run,
            answer,
            skipped: None,
            reference: OnceCell::new(),
            gradients: OnceCell::new(),
        };
        golden.skipped = context.judge.skips_case(&golden.undisturbed(&golden.answer));
        if golden.skipped.is_none() {
            golden.skipped = golden.unstable()?;
        }
        Ok(golden)
    }

    /// Why changes of the scene cannot be judged: a service answers the undisturbed image otherwise
    /// when it is asked again. Models repeat their answers, so only services are asked.
    fn unstable(&self) -> Result<Option<Reason>, TargetError> {
        if self.target.service().is_none() || !self.context.needs_stable_golden {
            return Ok(None);
        }
        match ask_repeatedly(|| self.target.second(&self.case.image)) {
            Err(closed @ TargetError::Closed(_)) => Err(closed),
            Err(_) => Ok(Some(Reason::NoResponse)),
            Ok(answer) => {
                let again = Observation::answered(Ok(Some(answer)));
                let changed = self.judge(&again) == Outcome::Changed;
                Ok(changed.then_some(Reason::GoldenUnstable))
            }
        }
    }

    /// What the target should answer.
    pub fn truth(&self) -> Truth<'_> {
        let label = self.case.label.and_then(|label| self.context.classes.get(label));
        Truth { class: self.truth, label: label.map(String::as_str) }
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
            Err(TargetError::Lost(_) | TargetError::Closed(_)) => {
                Outcome::Skipped(Reason::NoResponse)
            }
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

    /// The image prepared for visual comparisons; `None` where it cannot be compared.
    pub(crate) fn reference(&self) -> Option<&Reference> {
        self.reference.get_or_init(|| Reference::new(&self.case.image).ok()).as_ref()
    }

    /// How much people notice of the change from the undisturbed image to this one.
    pub(crate) fn visual_change(&self, image: &Image) -> Option<f64> {
        change_of(self.reference()?, image)
    }

    /// How natural an image looks beside the undisturbed one: the intersection of their histograms
    /// of oriented gradients. `None` for images that are too small.
    pub(crate) fn naturalness(&self, image: &Image) -> Option<f64> {
        let own = self.gradients.get_or_init(|| gradients(&self.case.image)).as_ref()?;
        hog_intersection(own, &gradients(image)?)
    }
}

fn gradients(image: &Image) -> Option<Vec<f64>> {
    hog(image, &HogSettings::default()).ok()
}

/// Asks for an answer that more than one trial depends on: one that gets lost is asked for again.
fn ask_repeatedly(
    mut ask: impl FnMut() -> Result<Response, TargetError>,
) -> Result<Response, TargetError> {
    let mut answer = ask();
    for _ in 1..ATTEMPTS {
        match &answer {
            Err(TargetError::Lost(_) | TargetError::TimedOut(_)) => answer = ask(),
            _ => break,
        }
    }
    answer
}
