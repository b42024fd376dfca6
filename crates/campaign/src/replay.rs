//! One recorded trial, run again: proves that it repeats bit for bit, and shows both answers.

use crate::detection_diff::DetectionDiff;
use crate::inject::{GoldenCase, case_record, unasked};
use crate::pin::Pin;
use crate::run::{RunError, attach, places, unchanged};
use crate::setup::OpenCampaign;
use faultlens_core::{Case, Image, Outcome, Reason, Response, TargetError};
use faultlens_record::Record;
use faultlens_record::store::Store;
use faultlens_spec::Campaign;
use std::path::Path;

/// A trial, run again.
pub struct Replayed {
    /// What is on record.
    pub recorded: Record,
    /// What happened now.
    pub now: Record,
    /// The case's name.
    pub case: String,
    /// The target's name.
    pub target: String,
    /// The fault with its settings.
    pub fault: String,
    /// The undisturbed answer, best first.
    pub golden: Vec<(String, Option<f64>)>,
    /// The answer under the fault, best first; empty where there was none.
    pub observed: Vec<(String, Option<f64>)>,
    /// The undisturbed image.
    pub before: Image,
    /// What the target was shown, where that was changed.
    pub after: Option<Image>,
    /// Both answers thing by thing, where they are about objects.
    pub detection_diff: Option<DetectionDiff>,
}

impl Replayed {
    /// Whether everything but the time is the same, bit for bit.
    pub fn is_identical(&self) -> bool {
        self.now.is_same(&self.recorded)
    }
}

/// A run, opened to run single trials of it again.
pub struct Rerun {
    /// The run.
    pub store: Store,
    /// The campaign, opened again.
    pub setup: OpenCampaign,
}

impl Rerun {
    /// Opens a run's campaign, as it was run, with the models and data where they were.
    pub fn open(dir: &Path) -> Result<Self, RunError> {
        let store = Store::read(dir)?;
        let base = Path::new(&store.manifest().base);
        let campaign = Campaign::parse(&store.campaign_yaml()?, &base.join("campaign.yaml"))?;
        let setup = OpenCampaign::open(campaign)?;
        unchanged(store.manifest(), &setup)?;
        attach(&setup, dir)?;
        Ok(Self { store, setup })
    }

    /// Runs a trial again; `text` is its number or the beginning of its identity.
    pub fn replay(&self, text: &str) -> Result<Replayed, RunError> {
        let recorded = self.store.find(text)?;
        let none = || RunError::NoTrial(text.to_owned());
        let spot = self.setup.plan.spot(recorded.number).ok_or_else(none)?;
        let failed = |error: TargetError| match &recorded.outcome {
            Outcome::Skipped(Reason::GoldenFailed) => RunError::NotRun(error.to_string()),
            _ => changed(format!("the target's undisturbed answer ({error})")),
        };
        let stage =
            GoldenCase::open(&self.setup, spot.target, self.case(&recorded)?).map_err(failed)?;
        let fault = self.setup.fault(spot);
        let observed = stage.once(fault, self.setup.turn(spot, &stage.key)).ok_or_else(none)?;
        // Where the trial says nothing and golden stands for the answer, nobody was asked.
        let asked = |answer: &&Option<Response>| answer.is_some() || observed.void.is_none();
        let answer = observed.answer.as_ref().ok().filter(asked);
        let answer = answer.map(|answer| places(answer.as_ref().unwrap_or(&stage.answer)));
        let after = observed.image.clone();
        let detection_diff =
            DetectionDiff::new(&stage, &observed).filter(|_| stage.barred.is_none());
        let now = match &stage.barred {
            Some(reason) => unasked(&self.setup, recorded.number, spot, &stage.key, reason),
            None => stage.record(recorded.number, spot, observed),
        };
        Ok(Replayed {
            case: stage.case.name.clone(),
            target: self.setup.campaign.targets[spot.target as usize].name.clone(),
            fault: fault.label.clone(),
            golden: places(&stage.answer),
            observed: answer.unwrap_or_default(),
            before: stage.case.image.clone(),
            after,
            detection_diff,
            now,
            recorded,
        })
    }

    /// The case of a trial, as it was.
    pub(crate) fn case(&self, recorded: &Record) -> Result<Case, RunError> {
        let cases = self.store.cases()?;
        let then = cases.into_iter().find(|case| case.case == recorded.case);
        if let Some(error) = then.as_ref().and_then(|case| case.error.as_ref()) {
            return Err(RunError::NotRun(format!("its case could not be read ({error})")));
        }
        let index = self.setup.cases.sample.get(recorded.case as usize);
        let index = *index.ok_or_else(|| changed("the data set".to_owned()))?;
        let case = self.setup.cases.set.case(index);
        let case = case.map_err(|error| changed(format!("a case ({error})")))?;
        let now = case_record(&self.setup, recorded.case, &case);
        if then.is_some_and(|then| (&then.name, then.digest) != (&now.name, now.digest)) {
            return Err(changed(format!("the image of case {}", case.name)));
        }
        Ok(case)
    }

    /// A pin of a recorded trial.
    pub fn pin(&self, text: &str, name: Option<&str>) -> Result<Pin, RunError> {
        let recorded = self.store.find(text)?;
        if let Outcome::Skipped(reason) = &recorded.outcome {
            let (number, reason) = (recorded.number, reason.text());
            return Err(RunError::PinUnjudged { number, reason });
        }
        let case = self.case(&recorded)?;
        let none = || RunError::NoTrial(text.to_owned());
        Pin::new(&self.setup, &recorded, &case, name).ok_or_else(none)
    }
}

fn changed(what: String) -> RunError {
    RunError::Changed { what, hint: "put it back as it was" }
}
