//! One target and one case, asked undisturbed; faults are injected here.

use crate::boundary;
use crate::config::{Disturbance, FaultPoint};
use crate::plan::Spot;
use crate::record::{GoldenRecord, Record, Site};
use crate::setup::{Setup, Subject};
use crate::store::CaseRecord;
use faultlens_core::{
    Case, DType, Exhibit, Image, ImageFault, Measure, Outcome, Reason, Response, Seed, TargetError,
    Trial,
};
use faultlens_engine::{Change, Edit, EngineError, Golden, Replay, ValueId};
use faultlens_faults::{Injection, SitePlan, Sites, Strike};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What a record calls the number of changed elements, where it is not one.
pub(crate) const HITS: &str = "hits";

/// What a record calls how much a trial counts, where that is not one.
pub(crate) const WEIGHT: &str = "weight";

/// How many trials inside a model run together: they share the streaming of weights.
pub(crate) const STACK: usize = 32;

/// One target and one case, asked undisturbed.
pub(crate) struct Stage<'s> {
    setup: &'s Setup,
    pub(crate) subject: &'s Subject,
    /// What is shown.
    pub(crate) case: Case,
    /// What tells the case from others: its name and its pixels.
    pub(crate) key: String,
    /// The class of the target's list that the case should have.
    truth: Option<usize>,
    pub(crate) golden: Golden<'s>,
    /// The undisturbed answer.
    pub(crate) answer: Response,
    /// Why no trial of this case says anything, whatever the fault.
    pub(crate) barred: Option<Reason>,
}

/// What a target did under a fault.
pub(crate) struct Observed {
    /// What it answered; `None` where that is golden, bit for bit.
    pub(crate) answer: Result<Option<Response>, TargetError>,
    pub(crate) site: Option<Site>,
    /// What it was shown, where that was changed.
    pub(crate) image: Option<Image>,
    /// The golden answer as the fault has moved it: what is expected now.
    pub(crate) moved: Option<Box<Response>>,
    pub(crate) queries: u32,
    pub(crate) micros: u64,
    /// Whether the fault found anything to change.
    pub(crate) landed: bool,
    /// What else is recorded of the trial.
    pub(crate) extra: BTreeMap<String, String>,
}

impl FaultPoint {
    /// Injects the fault once for each seed, and says of each in turn what the target did.
    pub(crate) fn inject(&self, stage: &Stage<'_>, seeds: &[u64], each: &mut dyn FnMut(Observed)) {
        match &self.disturbance {
            Disturbance::Image(fault) => {
                seeds.iter().for_each(|&seed| each(stage.show(fault.as_ref(), seed)));
            }
            Disturbance::Model(injection) => stage.disturb(injection, seeds, each),
        }
    }
}

impl<'s> Stage<'s> {
    /// Asks the target about the undisturbed case.
    pub(crate) fn open(setup: &'s Setup, target: u32, case: Case) -> Result<Self, TargetError> {
        let subject = &setup.targets[target as usize];
        let golden = subject.target.golden(&case.image)?;
        let answer = subject.target.response(golden.outputs(), &case.image)?;
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
        let moved = self.moved(fault, seed).map(Box::new);
        let (site, image, extra) = (None, Some(image), BTreeMap::new());
        Observed { answer, site, image, moved, queries, micros, landed: true, extra }
    }

    /// What the target should answer where a fault moves things that answers give places of.
    fn moved(&self, fault: &dyn ImageFault, seed: u64) -> Option<Response> {
        if !matches!(self.answer, Response::Detections(_) | Response::Segments(_)) {
            return None;
        }
        let (width, height) = (self.case.image.width(), self.case.image.height());
        let motion = fault.motion(width, height, &mut Seed::new(seed).stream())?;
        Some(motion.response(&self.answer, width, height))
    }

    /// Changes what the model computes, a stack of trials at a time.
    fn disturb(&self, injection: &Injection, seeds: &[u64], each: &mut dyn FnMut(Observed)) {
        let (anatomy, batch) = (&self.subject.anatomy, self.subject.target.batch());
        let sites = Sites::new(&self.golden, anatomy, injection, batch);
        for stack in seeds.chunks(STACK) {
            if injection.plan() == SitePlan::Boundary {
                boundary::search(self, injection, &sites, stack, each);
                continue;
            }
            let start = Instant::now();
            let strikes: Vec<Option<Strike>> =
                stack.iter().map(|&seed| strike(injection, &sites, seed)).collect();
            let changes = strikes.iter().map(|strike| match strike {
                Some(strike) => strike.changes.clone(),
                None => Vec::new(),
            });
            let answers = self.answers(&changes.collect::<Vec<_>>());
            let micros = micros(start.elapsed()) / stack.len() as u64;
            for (strike, answer) in strikes.into_iter().zip(answers) {
                let (site, landed, extra) = match &strike {
                    Some(strike) => {
                        let site = strike.changes.first().and_then(|change| self.site(change));
                        (site, true, told(strike))
                    }
                    None => (None, false, BTreeMap::new()),
                };
                let (image, moved, queries) = (None, None, 1);
                each(Observed { answer, site, image, moved, queries, micros, landed, extra });
            }
        }
    }

    /// What the model answers under each list of changes; `None` where that is golden.
    pub(crate) fn answers(
        &self,
        changes: &[Vec<Change>],
    ) -> Vec<Result<Option<Response>, TargetError>> {
        let answer = |replay: Result<Replay, EngineError>| match replay {
            Ok(replay) if !replay.reached_output() => Ok(None),
            Ok(replay) => {
                self.subject.target.response(replay.outputs(), &self.case.image).map(Some)
            }
            Err(error) => Err(TargetError::Failed(error.to_string())),
        };
        self.golden.replay_stack(changes).into_iter().map(answer).collect()
    }

    /// The bits of an element in the golden run, and how they are read.
    pub(crate) fn bits(&self, value: ValueId, element: usize) -> Option<(u64, DType)> {
        self.golden.bits(value, element).zip(self.golden.dtype(value))
    }

    /// One trial.
    pub(crate) fn once(&self, fault: &FaultPoint, seed: u64) -> Option<Observed> {
        let mut observed = None;
        fault.inject(self, &[seed], &mut |one| observed = Some(one));
        observed
    }

    pub(crate) fn site(&self, change: &Change) -> Option<Site> {
        let (before, dtype) = self.bits(change.value, change.element)?;
        let after = change.edit.of(before, dtype);
        // A bit that is held at what it was is still the one that was hit.
        let touched = match change.edit {
            Edit::Flip(mask) | Edit::Raise(mask) | Edit::Clear(mask) => mask,
            Edit::Set(_) | Edit::Scale(_) | Edit::Add(_) => before ^ after,
        };
        Some(Site {
            place: self.subject.place(change.value)?,
            element: change.element as u64,
            bit: (touched.count_ones() == 1).then(|| touched.trailing_zeros()),
            before: dtype.number(before),
            after: dtype.number(after),
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
            // What golden says of itself was asked when the case was opened.
            Ok(None) => return Outcome::Masked,
            Ok(Some(answer)) => answer,
            Err(TargetError::Failed(_)) => return Outcome::Crashed,
            Err(TargetError::Rejected(_)) => return Outcome::Detected,
        };
        self.setup.judge.judge(&self.exhibit(answer, observed.moved.as_deref()))
    }

    fn exhibit<'a>(&'a self, observed: &'a Response, moved: Option<&'a Response>) -> Exhibit<'a> {
        let golden = moved.unwrap_or(&self.answer);
        Exhibit { case: &self.case, truth: self.truth, golden, observed }
    }

    /// The record of a trial.
    pub(crate) fn record(&self, number: u64, spot: Spot, observed: Observed) -> Record {
        let outcome = self.judge(&observed);
        let mut extra = observed.extra;
        let answer = match &observed.answer {
            Ok(Some(answer)) => {
                let measure =
                    self.setup.judge.measure(&self.exhibit(answer, observed.moved.as_deref()));
                extra.extend(
                    measure.map(|Measure { name, value }| (name.into(), value.to_string())),
                );
                Some(answer)
            }
            Ok(None) => Some(&self.answer),
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
        let truth = match &self.answer {
            Response::Scores(scores) => self.truth.map(|truth| scores.name(truth).into()),
            _ => None,
        };
        GoldenRecord { target, case, answer, score, correct, truth, digest, error: None }
    }
}

/// What the trial of this seed does.
pub(crate) fn strike(injection: &Injection, sites: &Sites<'_>, seed: u64) -> Option<Strike> {
    match injection.plan() {
        SitePlan::Exhaustive => injection.at(sites, seed),
        _ => injection.draw(sites, &mut Seed::new(seed).stream()),
    }
}

/// What a record says of changes beyond the first one's place.
fn told(strike: &Strike) -> BTreeMap<String, String> {
    let mut extra = BTreeMap::new();
    if strike.changes.len() != 1 {
        extra.insert(HITS.to_owned(), strike.changes.len().to_string());
    }
    if strike.weight != 1.0 {
        extra.insert(WEIGHT.to_owned(), strike.weight.to_string());
    }
    extra
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

pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
