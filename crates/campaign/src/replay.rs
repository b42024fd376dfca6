//! One recorded trial, run again: proves that it repeats bit for bit, and shows both answers.

use crate::golden_case::SiteHit;
use crate::object_comparison::ObjectComparison;
use crate::open::OpenCampaign;
use crate::pin::Pin;
use crate::record::{skipped_record, trial_record};
use crate::run::{attach, check_unchanged, top_answers};
use crate::run_error::RunError;
use crate::trial::{disturb, run_one, sites_hit};
use faultlens_core::{Case, Image, Outcome, Reason};
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
    /// Every site that a fault inside a model hit; the record keeps the first one alone.
    pub sites: Vec<SiteHit>,
    /// Both answers object by object, where they are detections.
    pub comparison: Option<ObjectComparison>,
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
    pub open: OpenCampaign,
}

impl Rerun {
    /// Opens a run's campaign file again, with the models and data where they were.
    pub fn open(dir: &Path) -> Result<Self, RunError> {
        let store = Store::read(dir)?;
        let base = Path::new(&store.manifest().base);
        let campaign = Campaign::parse(&store.campaign_yaml()?, &base.join("campaign.yaml"))?;
        Self::with(dir, OpenCampaign::open(campaign)?)
    }

    /// Opens a run of a campaign that is open already: the only way for one that was built by a
    /// program, which has no file.
    pub fn with(dir: &Path, open: OpenCampaign) -> Result<Self, RunError> {
        let store = Store::read(dir)?;
        check_unchanged(store.manifest(), &open)?;
        attach(&open, dir)?;
        Ok(Self { store, open })
    }

    /// Runs a trial again; `text` is its number or the beginning of its identity.
    pub fn replay(&self, text: &str) -> Result<Replayed, RunError> {
        let recorded = self.store.find(text)?;
        let open = &self.open;
        let number = recorded.number;
        let Some(key) = open.plan.key(number) else {
            return Err(RunError::NoTrial(text.to_owned()));
        };
        let golden = match open.golden_case(key.target, self.case(&recorded)?) {
            Ok(golden) => golden,
            Err(error) if recorded.outcome == Outcome::Skipped(Reason::GoldenFailed) => {
                return Err(RunError::NotRun(error.to_string()));
            }
            Err(error) => {
                return Err(changed(format!("the target's undisturbed answer ({error})")));
            }
        };
        let fault = open.fault(key);
        let seed = open.trial_seed(key, &golden.key);
        let observation = run_one(fault, &golden, seed);
        let sites = match disturb(fault).facts().injection {
            Some(injection) if golden.skipped.is_none() => {
                sites_hit(injection, &golden, seed.seed, &observation)
            }
            _ => Vec::new(),
        };
        let observed = match &observation.answer {
            Ok(Some(answer)) => top_answers(answer),
            // A skipped trial without an answer was not asked; otherwise the answer is the golden
            // one.
            Ok(None) if observation.skipped.is_none() => top_answers(&golden.answer),
            _ => Vec::new(),
        };
        let after = observation.image().cloned();
        let trial = open.identity(key, &golden.key);
        let (comparison, now) = match golden.skipped {
            Some(reason) => (None, skipped_record(number, key, trial, reason)),
            None => (
                ObjectComparison::new(&golden, &observation),
                trial_record(&golden, number, key, trial, observation),
            ),
        };
        Ok(Replayed {
            case: golden.case.name.clone(),
            target: open.campaign.targets[key.target as usize].name.clone(),
            fault: fault.label.clone(),
            golden: top_answers(&golden.answer),
            observed,
            before: golden.case.image.clone(),
            after,
            sites,
            comparison,
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
        let cases = &self.open.cases;
        let Some(&index) = cases.sample.get(recorded.case as usize) else {
            return Err(changed("the data set".to_owned()));
        };
        let case = cases.set.case(index).map_err(|error| changed(format!("a case ({error})")))?;
        let now = cases.record(recorded.case, &case);
        if then.is_some_and(|then| (&then.name, then.digest) != (&now.name, now.digest)) {
            return Err(changed(format!("the image of case {}", case.name)));
        }
        Ok(case)
    }

    /// A pin of a recorded trial.
    pub fn pin(&self, text: &str, name: Option<&str>) -> Result<Pin, RunError> {
        let recorded = self.store.find(text)?;
        if let Outcome::Skipped(reason) = &recorded.outcome {
            return Err(RunError::PinUnjudged { number: recorded.number, reason: *reason });
        }
        let case = self.case(&recorded)?;
        Pin::new(&self.open, &recorded, &case, name)
            .ok_or_else(|| RunError::NoTrial(text.to_owned()))
    }
}

fn changed(what: String) -> RunError {
    RunError::Changed { what, hint: "put it back as it was" }
}
