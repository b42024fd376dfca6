//! One target and one case, asked undisturbed; faults are injected here.

use crate::config::{Disturbance, FaultPoint};
use crate::plan::Spot;
use crate::record::{GoldenRecord, Record, Site};
use crate::setup::{Setup, Subject};
use crate::store::CaseRecord;
use faultlens_core::{
    Case, Exhibit, Image, ImageFault, Outcome, Reason, Response, Seed, TargetError, Trial,
};
use faultlens_engine::{Change, Golden};
use faultlens_faults::{ModelFault, Sites, number_of};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many trials inside a model run together: they share the streaming of weights.
const STACK: usize = 32;

/// One target and one case, asked undisturbed.
pub(crate) struct Stage<'s> {
    setup: &'s Setup,
    subject: &'s Subject,
    /// What is shown.
    pub(crate) case: Case,
    /// What tells the case from others: its name and its pixels.
    pub(crate) key: String,
    /// The class of the target's list that the case should have.
    truth: Option<usize>,
    golden: Golden<'s>,
    /// The undisturbed answer.
    pub(crate) answer: Response,
    /// Why no trial of this case says anything, whatever the fault.
    pub(crate) barred: Option<Reason>,
}

/// What a target did under a fault.
pub(crate) struct Observed {
    /// What it answered; `None` where that is golden, bit for bit.
    pub(crate) answer: Result<Option<Response>, TargetError>,
    site: Option<Site>,
    /// What it was shown, where that was changed.
    pub(crate) image: Option<Image>,
    queries: u32,
    micros: u64,
    /// Whether the fault found anything to change.
    landed: bool,
}

impl FaultPoint {
    /// Injects the fault once for each seed, and says of each in turn what the target did.
    pub(crate) fn inject(&self, stage: &Stage<'_>, seeds: &[u64], each: &mut dyn FnMut(Observed)) {
        match &self.disturbance {
            Disturbance::Image(fault) => {
                seeds.iter().for_each(|&seed| each(stage.show(fault.as_ref(), seed)));
            }
            Disturbance::Model(fault) => stage.disturb(fault.as_ref(), seeds, each),
        }
    }
}

impl<'s> Stage<'s> {
    /// Asks the target about the undisturbed case.
    pub(crate) fn open(setup: &'s Setup, target: u32, case: Case) -> Result<Self, TargetError> {
        let subject = &setup.targets[target as usize];
        let golden = subject.target.golden(&case.image)?;
        let answer = subject.target.response(golden.outputs())?;
        let truth = case.label.and_then(|label| subject.truths.get(label).copied().flatten());
        let exhibit = Exhibit { case: &case, truth, golden: &answer, observed: &answer };
        let barred = setup.judge.bars_case(&exhibit);
        let key = case_key(&case);
        Ok(Self { setup, subject, case, key, truth, golden, answer, barred })
    }

    /// Shows the target a changed image.
    fn show(&self, fault: &dyn ImageFault, seed: u64) -> Observed {
        let start = Instant::now();
        let mut trial = Trial::new(&self.subject.target, Seed::new(seed).stream());
        let image = fault.change(&self.case.image, trial.stream());
        let answer = trial.ask(&image).map(Some);
        let (queries, micros) = (trial.queries(), micros(start.elapsed()));
        Observed { answer, site: None, image: Some(image), queries, micros, landed: true }
    }

    /// Changes what the model computes, a stack of trials at a time.
    fn disturb(&self, fault: &dyn ModelFault, seeds: &[u64], each: &mut dyn FnMut(Observed)) {
        let sites = Sites::new(&self.golden, fault.place(), self.subject.target.batch());
        for stack in seeds.chunks(STACK) {
            let start = Instant::now();
            let draw = |&seed: &u64| fault.changes(&sites, &mut Seed::new(seed).stream());
            let changes: Vec<Vec<Change>> = stack.iter().map(draw).collect();
            let replays = self.golden.replay_stack(&changes);
            let micros = micros(start.elapsed()) / stack.len() as u64;
            for (changes, replay) in changes.iter().zip(replays) {
                let answer = match replay {
                    Ok(replay) if !replay.reached_output() => Ok(None),
                    Ok(replay) => self.subject.target.response(replay.outputs()).map(Some),
                    Err(error) => Err(TargetError::Failed(error.to_string())),
                };
                let site = changes.first().and_then(|change| self.site(change));
                let landed = !changes.is_empty();
                each(Observed { answer, site, image: None, queries: 1, micros, landed });
            }
        }
    }

    /// One trial.
    pub(crate) fn once(&self, fault: &FaultPoint, seed: u64) -> Option<Observed> {
        let mut observed = None;
        fault.inject(self, &[seed], &mut |one| observed = Some(one));
        observed
    }

    fn site(&self, change: &Change) -> Option<Site> {
        let before = self.golden.bits(change.value, change.element)?;
        let dtype = self.golden.dtype(change.value)?;
        let differ = before ^ change.bits;
        Some(Site {
            place: self.subject.place(change.value)?,
            element: change.element as u64,
            bit: (differ.count_ones() == 1).then(|| differ.trailing_zeros()),
            before: number_of(before, dtype),
            after: number_of(change.bits, dtype),
        })
    }

    /// What became of a trial.
    pub(crate) fn judge(&self, observed: &Observed) -> Outcome {
        if let Some(reason) = &self.barred {
            return Outcome::Unjudged(reason.clone());
        }
        if !observed.landed {
            return Outcome::Unjudged(Reason::NoSite);
        }
        let answer = match &observed.answer {
            Ok(answer) => answer.as_ref().unwrap_or(&self.answer),
            Err(TargetError::Failed(_)) => return Outcome::Crashed,
            Err(TargetError::Rejected(_)) => return Outcome::Detected,
        };
        self.setup.judge.judge(&Exhibit {
            case: &self.case,
            truth: self.truth,
            golden: &self.answer,
            observed: answer,
        })
    }

    /// The record of a trial.
    pub(crate) fn record(&self, number: u64, spot: Spot, observed: Observed) -> Record {
        let outcome = self.judge(&observed);
        let mut extra = BTreeMap::new();
        let answer = match &observed.answer {
            Ok(answer) => Some(answer.as_ref().unwrap_or(&self.answer)),
            Err(error) => {
                extra.insert("error".to_owned(), error.to_string());
                None
            }
        };
        let (text, score) = headline(answer);
        Record {
            number,
            trial: self.setup.identity(spot, &self.key),
            target: spot.target,
            case: spot.case,
            fault: spot.fault,
            repeat: spot.repeat,
            outcome,
            site: observed.site,
            answer: text,
            score,
            queries: observed.queries,
            digest: answer.map(Response::digest),
            extra,
            micros: observed.micros,
        }
    }

    /// The record of the undisturbed answer.
    pub(crate) fn golden_record(&self, target: u32, case: u32) -> GoldenRecord {
        let (answer, score) = headline(Some(&self.answer));
        let correct = match (&self.answer, self.truth) {
            (Response::Scores(scores), Some(truth)) => Some(scores.top() == Some(truth)),
            _ => None,
        };
        let digest = Some(self.answer.digest());
        GoldenRecord { target, case, answer, score, correct, digest, error: None }
    }
}

/// The record of a trial that was not run, since its outcome was clear before.
pub(crate) fn unasked(setup: &Setup, number: u64, spot: Spot, case: &str, why: &Reason) -> Record {
    Record {
        number,
        trial: setup.identity(spot, case),
        target: spot.target,
        case: spot.case,
        fault: spot.fault,
        repeat: spot.repeat,
        outcome: Outcome::Unjudged(why.clone()),
        site: None,
        answer: None,
        score: None,
        queries: 0,
        digest: None,
        extra: BTreeMap::new(),
        micros: 0,
    }
}

/// The record of a case that could be read.
pub(crate) fn case_record(setup: &Setup, number: u32, case: &Case) -> CaseRecord {
    let label = case.label.and_then(|label| setup.cases.set.classes.get(label).cloned());
    CaseRecord {
        case: number,
        name: case.name.clone(),
        label,
        strata: case.strata.clone(),
        width: case.image.width() as u32,
        height: case.image.height() as u32,
        digest: Some(pixels_digest(&case.image)),
        error: None,
    }
}

/// What tells a case from others: its name and its pixels.
pub fn case_key(case: &Case) -> String {
    format!("{} {:016x}", case.name, pixels_digest(&case.image))
}

/// Tells whether another image has the same pixels.
pub(crate) fn pixels_digest(image: &Image) -> u64 {
    let size = (image.width() as u64) << 32 | image.height() as u64;
    let (words, rest) = image.rgb().as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain(rest.iter().map(|&byte| u64::from(byte)))
        .fold(size, |hash, word| (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn headline(answer: Option<&Response>) -> (Option<Arc<str>>, Option<f32>) {
    match answer.map(Response::headline) {
        Some((text, score)) => (Some(text.into()), score),
        None => (None, None),
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
