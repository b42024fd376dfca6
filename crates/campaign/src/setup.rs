//! A campaign with everything opened: what running, replaying and pinning have in common.

use crate::attack;
use crate::cases::{CaseError, Cases};
use crate::inject::TrialSeed;
use crate::plan::{Plan, TrialKey};
use crate::preserve::{self, PreserveError};
use crate::run::Clock;
use crate::scene::{ObjectPool, ObjectPoolError};
use crate::subject::{OpenTarget, WhiteBox};
use faultlens_core::{Comparison, Reason, Target as _, Truth, did_you_mean};
use faultlens_engine::Golden;
use faultlens_faults::{Injection, SitePlan, Sites, check};
use faultlens_judge::Judge;
use faultlens_record::TrialId;
use faultlens_spec::ATTRIBUTES;
use faultlens_spec::{Campaign, Disturbance, FaultPoint, TargetSpec};
use faultlens_targets::{OpenError, ServiceError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why a campaign cannot start.
#[derive(Debug, thiserror::Error)]
pub enum OpenCampaignError {
    /// A target cannot be opened.
    #[error("target {name}: {source}")]
    Target {
        /// Its name in the campaign.
        name: String,
        /// What is wrong.
        source: OpenError,
    },
    /// A service cannot be asked.
    #[error("target {name}: {source}")]
    Service {
        /// Its name in the campaign.
        name: String,
        /// What is wrong.
        source: ServiceError,
    },
    /// The cases cannot be opened.
    #[error("cases: {0}")]
    Cases(#[from] CaseError),
    /// The list of names is not the model's.
    #[error("target {target}: there are {names} labels, but the model has {classes} classes")]
    Labels {
        /// The target.
        target: String,
        /// How many names there are.
        names: usize,
        /// How many classes there are.
        classes: usize,
    },
    /// A requirement speaks of something that no trial has.
    #[error("requirement: trials have no attribute {name:?}; {hint}")]
    Attribute {
        /// What was asked for.
        name: String,
        /// What there is.
        hint: String,
    },
    /// Fairness is asked for by a column that the data set does not have.
    #[error("fairness: the cases have no column {name:?}; {hint}")]
    Column {
        /// What was asked for.
        name: String,
        /// What there is.
        hint: String,
    },
    /// A fault asks for an operator or a value that a target does not have.
    #[error("fault {fault}: target {target} has nothing of kind or name {wanted:?}; {hint}")]
    Operator {
        /// The fault.
        fault: String,
        /// The target.
        target: String,
        /// What was asked for.
        wanted: String,
        /// What there is.
        hint: String,
    },
    /// The oracle or a guard cannot judge what a target answers.
    #[error(
        "target {target} answers with {kind}, which the campaign's oracle (same_top where none is named) or a guard cannot judge; write oracle: {fitting} into the campaign"
    )]
    Judge {
        /// The target.
        target: String,
        /// The oracle for such answers.
        fitting: &'static str,
        /// What it answers with.
        kind: &'static str,
    },
    /// A defence can do nothing about a target's answers.
    #[error(
        "target {target}: {defence} can do nothing about {kind}, which it answers with; leave the defence out"
    )]
    Defence {
        /// The target.
        target: String,
        /// The defence.
        defence: &'static str,
        /// What it answers with.
        kind: &'static str,
    },
    /// There is nothing to put into scenes.
    #[error("objects: {0}")]
    Objects(#[from] ObjectPoolError),
    /// A requirement on what people cope with cannot be checked.
    #[error("preserve: {0}")]
    Preserve(#[from] PreserveError),
    /// A fault finds nothing to change in a target.
    #[error("fault {fault}: target {target}: {why}")]
    Sites {
        /// The fault.
        fault: String,
        /// The target.
        target: String,
        /// The reason.
        why: String,
    },
}

/// The most places of an exhaustive plan, for one case: each has a record.
const MOST_PLACES: u64 = 10_000_000;

/// Attributes that follow from the outcome.
const RESULTS: [&str; 2] = ["answer", "outcome"];

/// Refuses requirements on attributes that no trial will have, before hours of work and not after.
fn concerns(campaign: &Campaign, cases: &Cases) -> Result<(), OpenCampaignError> {
    // What groups cases belong to, the first one tells; where it cannot be read, the records will.
    let first = cases.sample.first().and_then(|&index| cases.set.case(index).ok());
    let Some(first) = first else { return Ok(()) };
    let axes = campaign.faults.iter().filter_map(|fault| Some(fault.dose?.axis));
    // What became of a trial must not decide whether it counts.
    let fixed = ATTRIBUTES.iter().map(|(name, _)| *name).filter(|name| !RESULTS.contains(name));
    let settings = campaign.faults.iter().flat_map(|fault| fault.settings.iter());
    let traits = campaign.targets.iter().flat_map(|target| target.traits.keys());
    let texts = first.strata.keys().chain(traits).map(String::as_str);
    let known: BTreeSet<&str> =
        fixed.chain(axes).chain(settings.map(|(name, _)| name)).chain(texts).collect();
    let fairness = campaign.fairness.iter().flat_map(|fairness| &fairness.by);
    if let Some(name) = fairness.clone().find(|name| !first.strata.contains_key(*name)) {
        let columns = first.strata.keys().map(String::as_str);
        let hint = match did_you_mean(name, columns.clone()) {
            Some(near) => format!("did you mean {near:?}?"),
            None if first.strata.is_empty() => "the data set has no further columns".to_owned(),
            None => format!("there are {}", columns.collect::<Vec<_>>().join(", ")),
        };
        return Err(OpenCampaignError::Column { name: name.clone(), hint });
    }
    let names = campaign.requirements.iter().flat_map(|requirement| requirement.filter.keys());
    match names.into_iter().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(OpenCampaignError::Attribute {
            name: name.clone(),
            hint: match did_you_mean(name, known.iter().copied()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            },
        }),
    }
}

/// A campaign with everything opened.
pub struct OpenCampaign {
    /// The plan as configured.
    pub campaign: Campaign,
    /// The targets, in the campaign's order.
    pub targets: Vec<OpenTarget>,
    /// What is shown.
    pub cases: Cases,
    /// Who judges.
    pub judge: Arc<Judge>,
    /// All trials by number.
    pub plan: Plan,
    /// What is written in the files with tolerances, by the campaign's names for them.
    pub tolerances: BTreeMap<String, String>,
    /// What is put into scenes.
    pub(crate) object_pool: ObjectPool,
    /// Where time goes.
    pub(crate) clock: Clock,
    /// By fault, what identities are made from.
    specs: Vec<String>,
}

impl OpenCampaign {
    /// Opens targets and cases, and checks that the faults fit them.
    pub fn open(campaign: Campaign) -> Result<Self, OpenCampaignError> {
        let cases = Cases::open(&campaign.cases, campaign.seed)?;
        let open = |spec| OpenTarget::open(spec, &campaign.base, &cases.set.classes);
        let targets = campaign.targets.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        for (spec, subject) in campaign.targets.iter().zip(&targets) {
            fits(&campaign.faults, &spec.name, subject)?;
            defensible(spec, subject)?;
        }
        concerns(&campaign, &cases)?;
        let trials = campaign.targets.iter().zip(&targets);
        let trials =
            trials.map(|(spec, subject)| trials_of(&campaign, &cases, &spec.name, subject));
        let plan = Plan::new(cases.sample.len(), &trials.collect::<Result<Vec<_>, _>>()?);
        let judge = campaign.judge.build();
        let tolerances = preserve::tolerances(&campaign)?;
        preserve::check_classes(&campaign, &cases.set.classes, &targets)?;
        let (object_pool, clock) = (object_pool(&campaign)?, Clock::default());
        let specs = campaign.faults.iter().map(|fault| spec(fault, &object_pool)).collect();
        Ok(Self { campaign, targets, cases, judge, plan, tolerances, object_pool, clock, specs })
    }

    /// Refuses a judge who has nothing to say about a target's answers, before hours of work and
    /// not after. Asked on the first case that the target answers.
    pub fn check_judge(&self) -> Result<(), OpenCampaignError> {
        for (spec, subject) in self.campaign.targets.iter().zip(&self.targets) {
            let cases = self.cases.sample.iter().take(TRIED);
            let mut cases = cases.filter_map(|&index| self.cases.set.case(index).ok());
            let answered = cases.find_map(|case| {
                // A service is not asked before its answers can be filed.
                let answer = match subject.specimen() {
                    Some(answer) => answer,
                    None => subject.ask(&case.image).ok()?,
                };
                Some((case, answer))
            });
            let Some((case, answer)) = answered else { continue };
            let comparison = Comparison {
                case: &case,
                truth: Truth::default(),
                golden: &answer,
                observed: &answer,
                fault: None,
            };
            if self.judge.skips_case(&comparison) == Some(Reason::UnsupportedAnswer) {
                let (kind, fitting) = subject.answers_with();
                return Err(OpenCampaignError::Judge { target: spec.name.clone(), kind, fitting });
            }
        }
        Ok(())
    }

    /// The identity of a trial; `case` is the key of its case.
    pub fn identity(&self, spot: TrialKey, case: &str) -> TrialId {
        let key = &self.targets[spot.target as usize].key;
        self.id(Some(key), spot, case)
    }

    /// What a trial's random numbers start from: its identity. What is drawn for an image does
    /// not concern the target, so that all targets are shown the same faulty images; a permanent
    /// fault does not concern the case. A trial of an exhaustive plan draws nothing; its number
    /// says which place it is.
    pub fn stream_seed(&self, spot: TrialKey, case: &str) -> u64 {
        let key = &self.targets[spot.target as usize].key;
        match &self.fault(spot).disturbance {
            Disturbance::Image(_) | Disturbance::Varied(_) => self.id(None, spot, case).seed(),
            Disturbance::Attack(_) | Disturbance::Scene(_) => self.identity(spot, case).seed(),
            Disturbance::Model(injection) => match injection.plan() {
                SitePlan::Exhaustive => u64::from(spot.repeat),
                _ if injection.is_permanent() => self.id(Some(key), spot, "").seed(),
                _ => self.identity(spot, case).seed(),
            },
        }
    }

    /// A trial of a case.
    pub(crate) fn turn(&self, spot: TrialKey, case: &str) -> TrialSeed {
        TrialSeed { seed: self.stream_seed(spot, case), repeat: spot.repeat }
    }

    fn id(&self, key: Option<&String>, spot: TrialKey, case: &str) -> TrialId {
        TrialId::of(&[
            key.map_or(b"", |key| key.as_bytes()),
            case.as_bytes(),
            self.specs[spot.fault as usize].as_bytes(),
            &self.campaign.seed.to_le_bytes(),
            &spot.repeat.to_le_bytes(),
        ])
    }

    /// Whether it is told of every trial how much people notice of what was done to an image.
    pub(crate) fn tells_changes(&self) -> bool {
        let Campaign { tells_every_change, preserve, .. } = &self.campaign;
        *tells_every_change || !preserve.is_empty() || self.judge.needs_visual_change()
    }

    /// Whether something comes into scenes or leaves them.
    pub(crate) fn changes_scenes(&self) -> bool {
        let mut faults = self.campaign.faults.iter();
        faults.any(|fault| matches!(fault.disturbance, Disturbance::Scene(_)))
    }

    /// The fault of a trial.
    pub fn fault(&self, spot: TrialKey) -> &FaultPoint {
        &self.campaign.faults[spot.fault as usize]
    }
}

/// The objects that scenes are changed with; pinned trials may need them too.
fn object_pool(campaign: &Campaign) -> Result<ObjectPool, OpenCampaignError> {
    let object_pool = campaign.objects.as_deref().map(ObjectPool::open).transpose()?;
    Ok(object_pool.unwrap_or_default())
}

/// What identities of a fault's trials are made from: with other objects they are other trials.
fn spec(fault: &FaultPoint, object_pool: &ObjectPool) -> String {
    match object_pool.digest().filter(|_| fault.disturbance.needs_objects()) {
        Some(objects) => format!("{} objects={objects}", fault.spec()),
        None => fault.spec(),
    }
}

/// Refuses a defence that would only seem to be one.
fn defensible(spec: &TargetSpec, subject: &OpenTarget) -> Result<(), OpenCampaignError> {
    let (kind, _) = subject.answers_with();
    let idle = spec.defences.iter().find(|defence| !defence.build().suits(kind));
    match idle {
        None => Ok(()),
        Some(defence) => {
            let target = spec.name.clone();
            Err(OpenCampaignError::Defence { target, defence: defence.name, kind })
        }
    }
}

fn fits(
    faults: &[FaultPoint],
    target: &str,
    subject: &OpenTarget,
) -> Result<(), OpenCampaignError> {
    for fault in faults {
        let Disturbance::Model(injection) = &fault.disturbance else { continue };
        let Some(inside) = subject.inside() else {
            return Err(OpenCampaignError::Sites {
                fault: fault.label.clone(),
                target: target.to_owned(),
                why: "it is a service, and faults reach into models alone; give it a campaign of \
                      its own with faults in images"
                    .to_owned(),
            });
        };
        let graph = inside.target.model().graph();
        if let Some((wanted, hint)) = injection.selection().unknown_in(graph) {
            return Err(OpenCampaignError::Operator {
                fault: fault.label.clone(),
                target: target.to_owned(),
                wanted: wanted.to_owned(),
                hint,
            });
        }
    }
    Ok(())
}

/// How many trials each fault has for one case of a target. Model faults are tried out on the
/// first case that the target answers, so that one without a place to land is noticed before hours
/// of work and not after.
fn trials_of(
    campaign: &Campaign,
    cases: &Cases,
    name: &str,
    subject: &OpenTarget,
) -> Result<Vec<u32>, OpenCampaignError> {
    let mut trials: Vec<u32> = campaign.faults.iter().map(|fault| fault.trials).collect();
    let injections = || {
        campaign.faults.iter().enumerate().filter_map(|(at, fault)| match &fault.disturbance {
            Disturbance::Model(injection) => Some((at, fault, injection)),
            _ => None,
        })
    };
    attackable(campaign, cases, name, subject)?;
    if injections().next().is_none() {
        return Ok(trials);
    }
    let Some(inside) = subject.inside() else { return Ok(trials) };
    let images = cases.sample.iter().filter_map(|&index| cases.set.case(index).ok());
    let mut images = images.take(TRIED);
    let golden = images.find_map(|case| inside.target.golden(&subject.shown(&case.image)).ok());
    for (at, fault, injection) in injections() {
        let refused = |why: String| OpenCampaignError::Sites {
            fault: fault.label.clone(),
            target: name.to_owned(),
            why,
        };
        if let Some(golden) = &golden {
            check(golden, &inside.anatomy, injection).map_err(|why| refused(why.to_string()))?;
        }
        if campaign.stop.is_some() {
            stoppable(injection).map_err(|why| refused(why.to_owned()))?;
        }
        if injection.plan() == SitePlan::Exhaustive {
            trials[at] = places(golden.as_ref(), inside, injection).map_err(refused)?;
        }
    }
    Ok(trials)
}

/// Tries the gradients of a target out on the first case that it answers, so that a model without
/// them is noticed before the first trial.
fn attackable(
    campaign: &Campaign,
    cases: &Cases,
    name: &str,
    subject: &OpenTarget,
) -> Result<(), OpenCampaignError> {
    let attacks = campaign.faults.iter().filter_map(|fault| match &fault.disturbance {
        Disturbance::Attack(assault) => Some((fault, assault)),
        _ => None,
    });
    let mut image = None;
    for (fault, assault) in attacks {
        let refused = |why: String| OpenCampaignError::Sites {
            fault: fault.label.clone(),
            target: name.to_owned(),
            why,
        };
        attack::suits(assault, subject).map_err(refused)?;
        if image.is_none() {
            let cases = cases.sample.iter().filter_map(|&index| cases.set.case(index).ok());
            image = cases.take(TRIED).next().map(|case| case.image);
        }
        let Some(image) = &image else { continue };
        attack::gradients_work(assault, subject, image).map_err(refused)?;
    }
    Ok(())
}

/// An error, in words, where trials are not what a stop rule counts.
fn stoppable(injection: &Injection) -> Result<(), &'static str> {
    match injection.plan() {
        _ if injection.is_weighted() => {
            Err("a stop rule looks at plain counts; leave out the weights, or stop")
        }
        _ if injection.is_permanent() => {
            Err("a stop rule takes trials for independent, and trials of a permanent fault are \
                 not; leave out stop")
        }
        SitePlan::Boundary => {
            Err("a search is in no rate that a stop rule could look at; leave out stop")
        }
        SitePlan::Exhaustive => {
            Err("sites: exhaustive has a trial for every place; leave out stop")
        }
        SitePlan::Random => Ok(()),
    }
}

/// Cases that are tried until the target answers one.
const TRIED: usize = 16;

/// How many places an exhaustive plan has.
fn places(
    golden: Option<&Golden<'_>>,
    inside: &WhiteBox,
    injection: &Injection,
) -> Result<u32, String> {
    let golden = golden.ok_or("the target answers no case, so that its places are unknown")?;
    let sites = Sites::new(golden, &inside.anatomy, injection, inside.target.batch());
    match injection.population(&sites) {
        all if all <= MOST_PLACES => Ok(all as u32),
        all => Err(format!(
            "sites: exhaustive would have {all} places for every case; select less, up to \
             {MOST_PLACES}"
        )),
    }
}
