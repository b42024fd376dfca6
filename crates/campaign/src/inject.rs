//! One target and one case, asked undisturbed; faults are injected here.

use crate::boundary;
use crate::changes::changes;
use crate::plan::TrialKey;
use crate::score::scores;
use crate::setup::OpenCampaign;
use crate::standing::{precision, says, standing, standing_of_truth};
use crate::subject::{OpenTarget, WhiteBox};
use faultlens_core::{
    AppliedFault, Bounds, Case, Comparison, DType, Detection, Image, Measurement, Motion, Outcome,
    Reason, Response, Seed, Target as _, TargetError, Truth,
};
use faultlens_engine::{Change, Edit, EngineError, Golden, Replay, ValueId};
use faultlens_faults::{Injection, SitePlan, Sites, Strike};
use faultlens_judge::is_correct;
use faultlens_judge::visual::Reference;
use faultlens_record::inventory;
use faultlens_record::keys::{HITS, POSITIVE, WEIGHT};
use faultlens_record::store::{CaseRecord, measures_from_fields};
use faultlens_record::{Cost, GoldenRecord, Measures, Record, Site};
use faultlens_spec::{Disturbance, FaultPoint};
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How often a service is asked for an answer that gets lost and that other trials hang on.
const TRIES: usize = 3;

/// How many trials inside a model run together: they share the streaming of weights.
pub const STACK: usize = 32;

/// One target and one case, asked undisturbed.
pub struct GoldenCase<'s> {
    /// The campaign.
    pub setup: &'s OpenCampaign,
    /// The target.
    pub subject: &'s OpenTarget,
    /// What is shown.
    pub case: Case,
    /// What tells the case from others: its name and its pixels.
    pub key: String,
    /// The class of the target's list that the case should have.
    truth: Option<usize>,
    /// The undisturbed run, where the target is a model that faults can land in.
    inside: Option<(&'s WhiteBox, Golden<'s>)>,
    /// The undisturbed answer.
    pub answer: Response,
    /// Why no trial of this case says anything, whatever the fault.
    pub barred: Option<Reason>,
    /// What changes of the image are held against, once one is; `None` where there is no telling.
    pub original: OnceCell<Option<Reference>>,
    /// The directions of the image's edges, once changed scenes are held against them.
    pub edges: OnceCell<Option<Vec<f64>>>,
}

/// What a target did under a fault.
pub struct Observation {
    /// What it answered; `None` where that is golden, bit for bit.
    pub answer: Result<Option<Response>, TargetError>,
    /// Where a model fault landed.
    pub site: Option<Site>,
    /// What it was shown, where that was changed.
    pub image: Option<Image>,
    /// The fault in that image.
    pub shown_under: Option<&'static str>,
    /// The golden answer as the fault has moved it: what is expected now.
    pub moved: Option<Box<Response>>,
    /// How often the target was queried.
    pub queries: u32,
    /// How long it took.
    pub micros: u64,
    /// How much people notice of what it was shown, where that was told.
    pub visual_change: Option<f64>,
    /// Where something came into the scene or went out of it.
    pub touched: Option<Bounds>,
    /// What was found of that and is no part of the answer.
    pub own: Vec<Detection>,
    /// Where the fault has moved what stands in the image.
    pub motion: Option<Box<Motion>>,
    /// Why the trial says nothing, whatever was answered.
    pub void: Option<Reason>,
    /// What else is recorded of the trial.
    pub extra: BTreeMap<String, String>,
}

impl Observation {
    /// What came of a trial that left the image as it is.
    pub fn inside(answer: Result<Option<Response>, TargetError>, micros: u64) -> Self {
        Self {
            answer,
            site: None,
            image: None,
            shown_under: None,
            moved: None,
            visual_change: None,
            queries: 1,
            micros,
            touched: None,
            own: Vec::new(),
            motion: None,
            void: None,
            extra: BTreeMap::new(),
        }
    }
}

/// Which trial of a target, case and fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrialSeed {
    /// What its random numbers start from.
    pub(crate) seed: u64,
    /// How many came before it.
    pub(crate) repeat: u32,
}

impl GoldenCase<'_> {
    /// Injects the fault once for each turn, and says of each what the target did.
    pub(crate) fn inject(
        &self,
        fault: &FaultPoint,
        turns: &[TrialSeed],
        each: &mut dyn FnMut(Observation),
    ) {
        let seeds: Vec<u64> = turns.iter().map(|turn| turn.seed).collect();
        let name = fault.name;
        match &fault.disturbance {
            Disturbance::Image(fault) => {
                seeds.iter().for_each(|&seed| each(self.show(name, fault.as_ref(), seed)));
            }
            Disturbance::Varied(varied) => {
                seeds.iter().for_each(|&seed| each(self.show_varied(name, varied, seed)));
            }
            Disturbance::Model(injection) => self.disturb(injection, &seeds, each),
            Disturbance::Attack(attack) => {
                seeds.iter().for_each(|&seed| each(self.attack(name, attack, seed)));
            }
            Disturbance::Scene(fault) => {
                turns.iter().for_each(|&turn| each(self.restage(name, fault.as_ref(), turn)));
            }
        }
    }
}

impl<'s> GoldenCase<'s> {
    /// Asks the target about the undisturbed case.
    pub fn open(setup: &'s OpenCampaign, target: u32, case: Case) -> Result<Self, TargetError> {
        let (start, subject) = (Instant::now(), &setup.targets[target as usize]);
        let (inside, answer) = match subject.inside() {
            Some(inside) => {
                let (golden, answer) = inside.golden(&subject.shown(&case.image))?;
                (Some((inside, golden)), subject.after(answer, &case.image)?)
            }
            None => (None, persistently(|| subject.ask(&case.image))?),
        };
        setup.clock.add(Duration::ZERO, start.elapsed());
        let truth = case.label.and_then(|label| subject.truths.get(label).copied().flatten());
        let key = case_key(&case);
        let (barred, original, edges) = (None, OnceCell::new(), OnceCell::new());
        let mut stage =
            Self { setup, subject, case, key, truth, inside, answer, barred, original, edges };
        stage.barred = setup.judge.skips_case(&stage.undisturbed(&stage.answer));
        if stage.barred.is_none() {
            stage.barred = stage.unsteady()?;
        }
        Ok(stage)
    }

    /// The model and its undisturbed run; an error where there is none to reach into.
    pub fn inside(&self) -> Result<(&'s WhiteBox, &Golden<'s>), TargetError> {
        let inside = self.inside.as_ref().map(|(inside, golden)| (*inside, golden));
        inside.ok_or_else(|| TargetError::Failed("the target is no model".to_owned()))
    }

    /// What the target should answer.
    pub(crate) fn truth(&self) -> Truth<'_> {
        let classes = &self.setup.cases.set.classes;
        let label = self.case.label.and_then(|label| classes.get(label));
        Truth { class: self.truth, label: label.map(String::as_str) }
    }

    /// Changes what the model computes, a stack of trials at a time.
    fn disturb(&self, injection: &Injection, seeds: &[u64], each: &mut dyn FnMut(Observation)) {
        let Ok((inside, golden)) = self.inside() else { return };
        let sites = Sites::new(golden, &inside.anatomy, injection, inside.target.batch());
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
            self.setup.clock.add(Duration::ZERO, start.elapsed());
            let micros = micros(start.elapsed()) / stack.len() as u64;
            for (strike, answer) in strikes.into_iter().zip(answers) {
                let inside = Observation::inside(answer, micros);
                each(match &strike {
                    Some(strike) => {
                        let site = strike.changes.first().and_then(|change| self.site(change));
                        Observation { site, extra: told(strike), ..inside }
                    }
                    None => Observation { void: Some(Reason::NoSite), ..inside },
                });
            }
        }
    }

    /// What the model answers under each list of changes; `None` where that is golden.
    pub fn answers(&self, changes: &[Vec<Change>]) -> Vec<Result<Option<Response>, TargetError>> {
        let (inside, golden) = match self.inside() {
            Ok(inside) => inside,
            Err(error) => return vec![Err(error); changes.len()],
        };
        let answer = |replay: Result<Replay, EngineError>| match replay {
            Ok(replay) if !replay.reached_output() => Ok(None),
            Ok(replay) => {
                let answer = inside.target.response(replay.outputs(), &self.case.image)?;
                self.subject.after(answer, &self.case.image).map(Some)
            }
            Err(error) => Err(TargetError::Failed(error.to_string())),
        };
        golden.replay_stack(changes).into_iter().map(answer).collect()
    }

    /// The bits of an element in the golden run, and how they are read.
    pub fn bits(&self, value: ValueId, element: usize) -> Option<(u64, DType)> {
        let (_, golden) = self.inside().ok()?;
        golden.bits(value, element).zip(golden.dtype(value))
    }

    /// One trial.
    pub(crate) fn once(&self, fault: &FaultPoint, turn: TrialSeed) -> Option<Observation> {
        let mut observed = None;
        self.inject(fault, &[turn], &mut |one| observed = Some(one));
        observed
    }

    /// The place that a change hits, with the number before and after.
    pub fn site(&self, change: &Change) -> Option<Site> {
        let (before, dtype) = self.bits(change.value, change.element)?;
        let after = change.edit.of(before, dtype);
        // A bit that is held at what it was is still the one that was hit.
        let touched = match change.edit {
            Edit::Flip(mask) | Edit::Raise(mask) | Edit::Clear(mask) => mask,
            Edit::Set(_) | Edit::Scale(_) | Edit::Add(_) => before ^ after,
        };
        Some(Site {
            place: self.inside().ok()?.0.place(change.value)?,
            element: change.element as u64,
            bit: (touched.count_ones() == 1).then(|| touched.trailing_zeros()),
            before: dtype.number(before),
            after: dtype.number(after),
        })
    }

    /// What became of a trial.
    pub fn judge(&self, observed: &Observation) -> Outcome {
        if let Some(reason) = &self.barred {
            return Outcome::Skipped(*reason);
        }
        if let Some(reason) = &observed.void {
            return Outcome::Skipped(*reason);
        }
        // What an answer does not count for, its absence does not count for either.
        if let Some(reason) = self.setup.judge.skips_trial(&self.comparison(&self.answer, observed))
        {
            return Outcome::Skipped(reason);
        }
        let answer = match &observed.answer {
            // What golden says of itself was asked when the case was opened.
            Ok(None) => return Outcome::Unchanged,
            Ok(Some(answer)) => answer,
            Err(TargetError::Failed(_)) => return Outcome::Crashed,
            Err(TargetError::Rejected(_)) => return Outcome::Detected,
            Err(TargetError::TimedOut(_)) => return Outcome::TimedOut,
            Err(TargetError::Lost(_) | TargetError::Closed(_)) => {
                return Outcome::Skipped(Reason::NoResponse);
            }
        };
        self.setup.judge.judge(&self.comparison(answer, observed))
    }

    /// What a judge looks at.
    fn comparison<'a>(&'a self, answer: &'a Response, observed: &'a Observation) -> Comparison<'a> {
        let golden = observed.moved.as_deref().unwrap_or(&self.answer);
        let visual_change = observed.visual_change;
        let fault = observed.shown_under.map(|name| AppliedFault { name, visual_change });
        Comparison { golden, fault, ..self.undisturbed(answer) }
    }

    fn undisturbed<'a>(&'a self, observed: &'a Response) -> Comparison<'a> {
        let (truth, golden) = (self.truth(), &self.answer);
        Comparison { case: &self.case, truth, golden, observed, fault: None }
    }

    /// The record of a trial.
    pub fn record(&self, number: u64, spot: TrialKey, observed: Observation) -> Record {
        let outcome = self.judge(&observed);
        let mut extra = observed.extra.clone();
        let mut oracle = None;
        let answer = match &observed.answer {
            Ok(Some(answer)) => {
                let comparison = self.comparison(answer, &observed);
                let measure = self.setup.judge.measure(&comparison);
                oracle = measure.map(|measure| measure.name);
                extra.extend(
                    measure.map(|Measurement { name, value }| (name.into(), value.to_string())),
                );
                extra.extend(standing(&self.answer, answer));
                if observed.image.is_some() {
                    extra.extend(standing_of_truth(answer, self.truth()));
                    extra.extend(precision(comparison.golden, answer));
                    extra.extend(changes(comparison.golden, answer, self.setup.judge.overlap()));
                    extra.extend(self.scores(&observed, Some(answer)));
                }
                Some(answer)
            }
            // Nobody was asked.
            Ok(None) if observed.image.is_some() || observed.queries == 0 => None,
            Ok(None) => Some(&self.answer),
            Err(error) => {
                extra.insert("error".to_owned(), error.to_string());
                if observed.image.is_some() {
                    extra.extend(self.scores(&observed, None));
                }
                None
            }
        };
        if let Some(positive) = answer.and_then(|answer| self.positive(answer)) {
            extra.insert(POSITIVE.to_owned(), u8::from(positive).to_string());
        }
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
            cost: Cost { queries: observed.queries, micros: observed.micros },
            digest: answer.map(Response::digest),
            measures: measures_from_fields(&mut extra, oracle),
            extra,
        }
    }

    /// How good an answer with objects or areas is, how like golden, and which objects were found
    /// where they are known.
    fn scores(
        &self,
        observed: &Observation,
        answer: Option<&Response>,
    ) -> BTreeMap<String, String> {
        let golden = observed.moved.as_deref().unwrap_or(&self.answer);
        let moved = observed.moved.is_some();
        let truths = &self.subject.truths;
        let mut scores = scores(&self.case, truths, (golden, answer), moved);
        if !moved && inventory::is_known(&self.case, truths, &self.answer) {
            scores.extend(inventory::observed(answer));
        }
        scores
    }

    /// Whether an answer is what fairness counts; `None` where nobody asks for fairness.
    fn positive(&self, answer: &Response) -> Option<bool> {
        let fairness = self.setup.campaign.fairness.as_ref()?;
        match &fairness.positive {
            Some(name) => Some(says(answer, name)),
            None => is_correct(answer, self.truth()),
        }
    }

    /// The record of the undisturbed answer.
    pub(crate) fn golden_record(&self, target: u32, case: u32) -> GoldenRecord {
        let (answer, score) = headline(Some(&self.answer));
        let correct = is_correct(&self.answer, self.truth());
        let digest = Some(self.answer.digest());
        let truth = match (&self.answer, self.truth()) {
            (Response::Scores(scores), Truth { class: Some(class), .. }) => {
                Some(scores.name(class).into())
            }
            (Response::Ranking(_) | Response::Text(_), Truth { label: Some(label), .. }) => {
                Some(label.into())
            }
            _ => None,
        };
        let positive = self.positive(&self.answer);
        let scene = inventory::golden(&self.case, &self.subject.truths, &self.answer);
        GoldenRecord {
            target,
            case,
            answer,
            score,
            correct,
            positive,
            truth,
            digest,
            scene: scene.map(Into::into),
            error: None,
        }
    }
}

/// Asks for an answer that more than one trial hangs on: one that gets lost is asked for again.
pub(crate) fn persistently(
    mut ask: impl FnMut() -> Result<Response, TargetError>,
) -> Result<Response, TargetError> {
    let mut answer = ask();
    for _ in 1..TRIES {
        match &answer {
            Err(TargetError::Lost(_) | TargetError::TimedOut(_)) => answer = ask(),
            _ => break,
        }
    }
    answer
}

/// What the trial of this seed does.
pub fn strike(injection: &Injection, sites: &Sites<'_>, seed: u64) -> Option<Strike> {
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
pub(crate) fn unasked(
    setup: &OpenCampaign,
    number: u64,
    spot: TrialKey,
    case: &str,
    why: &Reason,
) -> Record {
    Record {
        number,
        trial: setup.identity(spot, case),
        target: spot.target,
        case: spot.case,
        fault: spot.fault,
        repeat: spot.repeat,
        outcome: Outcome::Skipped(why.clone()),
        site: None,
        answer: None,
        score: None,
        cost: Cost::default(),
        digest: None,
        measures: Measures::default(),
        extra: BTreeMap::new(),
    }
}

/// The record of a case that could be read.
pub fn case_record(setup: &OpenCampaign, number: u32, case: &Case) -> CaseRecord {
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
