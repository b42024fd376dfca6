//! The trials of a run, drawn again.

use super::ProtectError;
use super::shield::Shield;
use super::tallies::{Draw, TrialKind, TrialTallies};
use faultlens_campaign::plan::TrialKey;
use faultlens_campaign::run::RunError;
use faultlens_campaign::trial::{Disturb, STACK, disturb, strike};
use faultlens_campaign::{GoldenCase, Observation, OpenCampaign};
use faultlens_core::{Case, OutcomeKind, Response, TargetError};
use faultlens_engine::{Change, Golden};
use faultlens_faults::{Injection, SitePlan, Sites, Strike};
use faultlens_record::Cost;
use faultlens_record::store::{CaseRecord, FaultOn, Store};
use std::collections::{BTreeMap, BTreeSet};

/// In how many parts cases are cut; each is evaluated with what was made from the others.
const FOLDS: u32 = 4;

/// The trials of a run that protections are tried on.
pub(super) struct Trials {
    /// By target and then by case, in the order of the plan.
    recorded: Vec<Vec<Vec<Recorded>>>,
    cases: BTreeMap<u32, CaseRecord>,
    /// Trials that protections are not tried on, by reason.
    pub(super) left_out: BTreeMap<String, u64>,
}

/// A trial on record.
struct Recorded {
    fault: u32,
    repeat: u32,
    outcome: OutcomeKind,
}

/// The trials of one case of one target, run again.
#[derive(Default)]
pub(super) struct CaseResult {
    pub(super) tallies: TrialTallies,
    /// What clipping did to the undisturbed case, where there are clips.
    pub(super) alarm: Option<Alarm>,
}

/// What clipping did to an undisturbed case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Alarm {
    /// The image, or the group of images that count as one.
    pub(super) image: u64,
    /// Whether it changed any value.
    pub(super) touched: bool,
    /// Whether it changed the answer; `None` where a guard bars the case.
    pub(super) changed: Option<bool>,
}

impl Trials {
    /// Reads what is on record.
    pub(super) fn read(store: &Store, open: &OpenCampaign) -> Result<Self, ProtectError> {
        let cases = store.cases()?.into_iter().map(|case| (case.case, case)).collect();
        let mut recorded: Vec<Vec<Vec<Recorded>>> = Vec::new();
        for _ in &open.targets {
            recorded.push((0..open.plan.cases()).map(|_| Vec::new()).collect());
        }
        let mut trials = Self { recorded, cases, left_out: BTreeMap::new() };
        let mut any = false;
        store.for_each::<ProtectError>(|record| {
            let outcome = record.outcome.kind();
            let why = match &open.campaign.faults.get(record.fault as usize) {
                Some(fault) => left_out(disturb(fault), outcome),
                None => Some("of a fault that the campaign does not have"),
            };
            let of_target = trials.recorded.get_mut(record.target as usize);
            match (why, of_target.and_then(|cases| cases.get_mut(record.case as usize))) {
                (None, Some(case)) => {
                    case.push(Recorded { fault: record.fault, repeat: record.repeat, outcome });
                    any = true;
                }
                (why, _) => {
                    let why = why.unwrap_or("of a case that the campaign does not have");
                    *trials.left_out.entry(why.to_owned()).or_default() += 1;
                }
            }
            Ok(())
        })?;
        if any { Ok(trials) } else { Err(ProtectError::Nothing) }
    }

    /// In how many parts the cases are cut.
    pub(super) fn folds(&self) -> u32 {
        let cases = self.recorded.first().map_or(0, Vec::len) as u32;
        FOLDS.min(cases).max(1)
    }

    /// The case as it was when the run met it; `None` where it could not be read.
    pub(super) fn case(
        &self,
        open: &OpenCampaign,
        number: u32,
    ) -> Result<Option<Case>, ProtectError> {
        let changed = |what: String| RunError::Changed { what, hint: "put it back as it was" };
        let Some(then) = self.cases.get(&number) else { return Ok(None) };
        if then.error.is_some() {
            return Ok(None);
        }
        let index = open.cases.sample.get(number as usize);
        let index = *index.ok_or_else(|| changed("the data set".to_owned()))?;
        let case = open.cases.set.case(index);
        let case = case.map_err(|error| changed(format!("a case ({error})")))?;
        let now = open.cases.record(number, &case);
        if (&then.name, then.digest) != (&now.name, now.digest) {
            return Err(changed(format!("the image of case {}", case.name)).into());
        }
        Ok(Some(case))
    }

    /// The image of a case, or the group of images that count as one.
    fn image(&self, open: &OpenCampaign, number: u32) -> u64 {
        let group = open.campaign.cluster.as_deref();
        self.cases.get(&number).map_or(u64::from(number), |case| case.cluster(group))
    }

    /// Runs all trials of a case again, in the model with clips where there is one.
    pub(super) fn rerun(
        &self,
        open: &OpenCampaign,
        target: u32,
        number: u32,
        shield: Option<&Shield>,
    ) -> Result<CaseResult, ProtectError> {
        let Some(case) = self.case(open, number)? else { return Ok(CaseResult::default()) };
        let Ok(golden_case) = open.golden_case(target, case) else {
            return Ok(CaseResult::default());
        };
        let clipped = shield.map(|shield| {
            let (golden, answer) =
                shield.golden(&golden_case.target.shown(&golden_case.case.image))?;
            Ok::<_, ProtectError>(Clipped { shield, golden, answer })
        });
        let clipped = clipped.transpose()?;
        let mut result = CaseResult::default();
        if let Some(clipped) = &clipped {
            let outcome = golden_case.judge(&answered(Ok(clipped.answer.clone()))).kind();
            let judged = outcome != OutcomeKind::Skipped;
            result.alarm = Some(Alarm {
                image: self.image(open, number),
                touched: clipped.shield.clips(&clipped.golden),
                changed: judged.then_some(outcome != OutcomeKind::Unchanged),
            });
        }
        let recorded = &self.recorded[target as usize][number as usize];
        for trials in recorded.chunk_by(|a, b| a.fault == b.fault) {
            let Some(first) = trials.first() else { continue };
            let fault = &open.campaign.faults[first.fault as usize];
            let Some(injection) = disturb(fault).facts().injection else { continue };
            let again = Again {
                open,
                golden_case: &golden_case,
                injection,
                clipped: clipped.as_ref(),
                image: self.image(open, number),
            };
            again.count(
                TrialKey { target, case: number, fault: 0, repeat: 0 },
                trials,
                &mut result,
            )?;
        }
        Ok(result)
    }
}

/// Why a trial is left out, if it is.
fn left_out(fault: &dyn Disturb, outcome: OutcomeKind) -> Option<&'static str> {
    match fault.facts().disturbs {
        FaultOn::Image => Some("faults in images"),
        FaultOn::Attack => Some("attacks"),
        FaultOn::Scene => Some("changed scenes"),
        FaultOn::Model if is_search(fault) => Some("searches for a boundary"),
        FaultOn::Model if outcome == OutcomeKind::Skipped => Some("not judged"),
        FaultOn::Model => None,
    }
}

fn is_search(fault: &dyn Disturb) -> bool {
    fault.facts().injection.is_some_and(|injection| injection.plan() == SitePlan::Boundary)
}

/// A case in the model with clips.
struct Clipped<'a> {
    shield: &'a Shield,
    golden: Golden<'a>,
    answer: Response,
}

/// One fault on one case, once more.
struct Again<'a> {
    open: &'a OpenCampaign,
    golden_case: &'a GoldenCase<'a>,
    injection: &'a Injection,
    clipped: Option<&'a Clipped<'a>>,
    /// What the case counts as.
    image: u64,
}

impl Again<'_> {
    fn count(
        &self,
        key: TrialKey,
        trials: &[Recorded],
        result: &mut CaseResult,
    ) -> Result<(), ProtectError> {
        let Ok((white_box, golden)) = self.golden_case.white_box() else { return Ok(()) };
        let sites =
            Sites::new(golden, &white_box.anatomy, self.injection, white_box.target.batch());
        for stack in trials.chunks(STACK) {
            let struck = stack.iter().filter_map(|trial| {
                let key = TrialKey { fault: trial.fault, repeat: trial.repeat, ..key };
                let seed = self.open.stream_seed(key, &self.golden_case.key);
                Some((trial, strike(self.injection, &sites, seed)?))
            });
            let struck: Vec<(&Recorded, Strike)> = struck.collect();
            let after = self.outcomes(&struck)?;
            for ((trial, strike), clipped) in struck.into_iter().zip(after) {
                let (computed, stored) = self.layers(&strike.changes);
                let kind = TrialKind { before: trial.outcome, clipped, computed, stored };
                let shared = u64::from(trial.fault) << 32 | u64::from(trial.repeat);
                let fault = self.injection.is_permanent().then_some(shared);
                let draw = Draw { image: self.image, fault, weight: strike.weight };
                result.tallies.add(kind, draw)?;
            }
        }
        Ok(())
    }

    /// What becomes of the trials in the model with clips.
    fn outcomes(
        &self,
        struck: &[(&Recorded, Strike)],
    ) -> Result<Vec<Option<OutcomeKind>>, ProtectError> {
        let Some(Clipped { shield, golden, answer }) = self.clipped else {
            return Ok(vec![None; struck.len()]);
        };
        let changes: Vec<Vec<Change>> =
            struck.iter().map(|(_, strike)| strike.changes.clone()).collect();
        let image = self.golden_case.target.shown(&self.golden_case.case.image);
        let answers = shield.answers(&image, (golden, answer), &changes);
        Ok(answers?
            .into_iter()
            .map(|answer| Some(self.golden_case.judge(&answered(answer)).kind()))
            .collect())
    }

    /// The layers in which changes meet what is computed, and those in which they meet weights. A
    /// change that leaves an element as it was is none.
    fn layers(&self, changes: &[Change]) -> (Vec<u32>, Vec<u32>) {
        let mut computed = BTreeSet::new();
        let mut stored = BTreeSet::new();
        let Ok((white_box, golden)) = self.golden_case.white_box() else {
            return Default::default();
        };
        let graph = golden.model().graph();
        let anatomy = &white_box.anatomy;
        for change in changes {
            let Some((before, dtype)) = self.golden_case.bits(change.value, change.element) else {
                continue;
            };
            if change.edit.of(before, dtype) == before {
                continue;
            }
            if graph.initializer(change.value).is_some() {
                stored.insert(anatomy.layer_of_value(graph, change.value));
            } else if let Some(maker) = graph.producer(change.value)
                && !self.injection.is_permanent()
            {
                computed.insert(anatomy.layer(maker));
            }
        }
        (computed.into_iter().collect(), stored.into_iter().collect())
    }
}

/// An answer as the golden case judges it.
fn answered(answer: Result<Response, TargetError>) -> Observation {
    Observation { cost: Cost::default(), ..Observation::answered(answer.map(Some)) }
}
