//! A campaign with everything opened: what running, replaying and pinning have in common.

use crate::analysis::ATTRIBUTES;
use crate::cases::{CaseError, Cases};
use crate::config::{Campaign, Disturbance, FaultPoint};
use crate::plan::{Plan, Spot};
use crate::record::{Place, TrialId};
use faultlens_core::{Exhibit, Reason, Target as _, did_you_mean};
use faultlens_engine::vision::OutputKind;
use faultlens_engine::{Dim, Golden, Graph, ValueId};
use faultlens_faults::{Anatomy, Injection, SitePlan, Sites, check};
use faultlens_judge::Judge;
use faultlens_targets::{OnnxTarget, OpenError};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why a campaign cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A target cannot be opened.
    #[error("target {name}: {source}")]
    Target {
        /// Its name in the campaign.
        name: String,
        /// What is wrong.
        source: OpenError,
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
fn concerns(campaign: &Campaign, cases: &Cases) -> Result<(), SetupError> {
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
    let names = campaign.requirements.iter().flat_map(|requirement| requirement.filter.keys());
    match names.into_iter().find(|name| !known.contains(name.as_str())) {
        None => Ok(()),
        Some(name) => Err(SetupError::Attribute {
            name: name.clone(),
            hint: match did_you_mean(name, known.iter().copied()) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("there are {}", known.into_iter().collect::<Vec<_>>().join(", ")),
            },
        }),
    }
}

/// A campaign with everything opened.
pub struct Setup {
    /// The plan as configured.
    pub campaign: Campaign,
    /// The targets, in the campaign's order.
    pub targets: Vec<Subject>,
    /// What is shown.
    pub cases: Cases,
    /// Who judges.
    pub judge: Arc<Judge>,
    /// All trials by number.
    pub plan: Plan,
    /// By fault, what identities are made from.
    specs: Vec<String>,
}

/// A target with what trials need to know about it.
pub struct Subject {
    /// The target itself.
    pub target: OnnxTarget,
    /// What tells its answers from those of others: the model's file and how it is asked.
    pub key: String,
    /// By class of the data set, the class of the target that means the same.
    pub truths: Vec<Option<usize>>,
    /// Which layers the model has.
    pub anatomy: Anatomy,
    /// By value, where a fault in it is recorded.
    places: BTreeMap<ValueId, Arc<Place>>,
}

impl Setup {
    /// Opens targets and cases, and checks that the faults fit them.
    pub fn open(campaign: Campaign) -> Result<Self, SetupError> {
        let cases = Cases::open(&campaign.cases, campaign.seed)?;
        let open = |spec: &crate::config::TargetSpec| {
            let target = OnnxTarget::open(&spec.model, spec.written.clone());
            target
                .map(|target| Subject::new(target, &cases.set.classes))
                .map_err(|source| SetupError::Target { name: spec.name.clone(), source })
        };
        let targets = campaign.targets.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        for (spec, subject) in campaign.targets.iter().zip(&targets) {
            named(&spec.name, &subject.target)?;
            fits(&campaign.faults, &spec.name, subject.target.model().graph())?;
        }
        concerns(&campaign, &cases)?;
        let trials = campaign.targets.iter().zip(&targets);
        let trials =
            trials.map(|(spec, subject)| trials_of(&campaign, &cases, &spec.name, subject));
        let plan = Plan::new(cases.sample.len(), &trials.collect::<Result<Vec<_>, _>>()?);
        let judge = campaign.judge.build();
        let specs = campaign.faults.iter().map(FaultPoint::spec).collect();
        Ok(Self { campaign, targets, cases, judge, plan, specs })
    }

    /// Refuses a judge who has nothing to say about a target's answers, before hours of work and
    /// not after. Asked on the first case that the target answers.
    pub fn check_judge(&self) -> Result<(), SetupError> {
        for (spec, subject) in self.campaign.targets.iter().zip(&self.targets) {
            let cases = self.cases.sample.iter().take(TRIED);
            let mut cases = cases.filter_map(|&index| self.cases.set.case(index).ok());
            let answered = cases.find_map(|case| {
                let answer = subject.target.ask(&case.image).ok()?;
                Some((case, answer))
            });
            let Some((case, answer)) = answered else { continue };
            let exhibit = Exhibit { case: &case, truth: None, golden: &answer, observed: &answer };
            if self.judge.bars_case(&exhibit) == Some(Reason::Unsuited) {
                let kind = subject.target.description().output.kind.name();
                let fitting = fitting(subject.target.description().output.kind);
                return Err(SetupError::Judge { target: spec.name.clone(), kind, fitting });
            }
        }
        Ok(())
    }

    /// The identity of a trial; `case` is the key of its case.
    pub fn identity(&self, spot: Spot, case: &str) -> TrialId {
        let key = &self.targets[spot.target as usize].key;
        self.id(Some(key), spot, case)
    }

    /// What a trial's random numbers start from: its identity. What is drawn for an image does
    /// not concern the target, so that all targets are shown the same faulty images; a permanent
    /// fault does not concern the case. A trial of an exhaustive plan draws nothing; its number
    /// says which place it is.
    pub fn stream_seed(&self, spot: Spot, case: &str) -> u64 {
        let key = &self.targets[spot.target as usize].key;
        match &self.fault(spot).disturbance {
            Disturbance::Image(_) => self.id(None, spot, case).seed(),
            Disturbance::Model(injection) => match injection.plan() {
                SitePlan::Exhaustive => u64::from(spot.repeat),
                _ if injection.is_permanent() => self.id(Some(key), spot, "").seed(),
                _ => self.identity(spot, case).seed(),
            },
        }
    }

    fn id(&self, key: Option<&String>, spot: Spot, case: &str) -> TrialId {
        TrialId::of(&[
            key.map_or(b"", |key| key.as_bytes()),
            case.as_bytes(),
            self.specs[spot.fault as usize].as_bytes(),
            &self.campaign.seed.to_le_bytes(),
            &spot.repeat.to_le_bytes(),
        ])
    }

    /// The fault of a trial.
    pub fn fault(&self, spot: Spot) -> &FaultPoint {
        &self.campaign.faults[spot.fault as usize]
    }
}

impl Subject {
    fn new(target: OnnxTarget, classes: &[String]) -> Self {
        let description = target.description();
        let described = serde_json::json!([description.input, description.output]).to_string();
        let parts = [target.fingerprint().as_bytes(), described.as_bytes()];
        let key = TrialId::of(&parts).to_string();
        let truths = truths(classes, &target);
        let graph = target.model().graph();
        let anatomy = Anatomy::of(graph);
        let placed = |id| Some((id, Arc::new(place(graph, &anatomy, id)?)));
        let places = graph.value_ids().filter_map(placed).collect();
        Self { target, key, truths, anatomy, places }
    }

    /// Where a fault in this value is recorded.
    pub fn place(&self, id: ValueId) -> Option<Arc<Place>> {
        self.places.get(&id).cloned()
    }
}

fn place(graph: &Graph, anatomy: &Anatomy, id: ValueId) -> Option<Place> {
    let at = anatomy.owner(graph, id)?;
    let operator = graph.operator(at);
    Some(Place {
        value: graph.value_name(id).to_owned(),
        operator: operator.name.clone(),
        kind: operator.op_type.clone(),
        position: at.index() as u32,
        layer: anatomy.layer(at),
        layer_name: anatomy.name(anatomy.layer(at)).to_owned(),
    })
}

/// Classes are matched by name. Where the target has no names, or the data set has numbers for
/// names, the numbers are taken as the target's.
fn truths(classes: &[String], target: &OnnxTarget) -> Vec<Option<usize>> {
    let labels = &target.description().labels;
    let named: Vec<String> =
        (0..labels.len()).map(|class| labels.name(class).to_lowercase()).collect();
    let truth = |(at, class): (usize, &String)| {
        let by_name = named.iter().position(|name| *name == class.to_lowercase());
        let by_number = || class.parse().ok().or(named.is_empty().then_some(at));
        by_name.or_else(by_number)
    };
    classes.iter().enumerate().map(truth).collect()
}

/// Refuses a list of names that is longer or shorter than the model's list of classes: names would
/// stand for other classes than they say.
fn named(name: &str, target: &OnnxTarget) -> Result<(), SetupError> {
    let (graph, described) = (target.model().graph(), target.description());
    let output = described.output.position(graph).ok().and_then(|at| graph.outputs().get(at));
    let shape = output.and_then(|&id| graph.declared_shape(id));
    match (shape.and_then(|shape| shape.last()), described.labels.len()) {
        (Some(&Dim::Fixed(classes)), names)
            if names > 0 && names != classes && described.output.kind.is_scores() =>
        {
            Err(SetupError::Labels { target: name.to_owned(), names, classes })
        }
        _ => Ok(()),
    }
}

fn fits(faults: &[FaultPoint], target: &str, graph: &Graph) -> Result<(), SetupError> {
    for fault in faults {
        let Disturbance::Model(injection) = &fault.disturbance else { continue };
        if let Some((wanted, hint)) = injection.selection().unknown_in(graph) {
            return Err(SetupError::Operator {
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
    subject: &Subject,
) -> Result<Vec<u32>, SetupError> {
    let mut trials: Vec<u32> = campaign.faults.iter().map(|fault| fault.trials).collect();
    let injections = || {
        campaign.faults.iter().enumerate().filter_map(|(at, fault)| match &fault.disturbance {
            Disturbance::Model(injection) => Some((at, fault, injection)),
            Disturbance::Image(_) => None,
        })
    };
    if injections().next().is_none() {
        return Ok(trials);
    }
    let images = cases.sample.iter().filter_map(|&index| cases.set.case(index).ok());
    let golden = images.take(TRIED).find_map(|case| subject.target.golden(&case.image).ok());
    for (at, fault, injection) in injections() {
        let refused = |why: String| SetupError::Sites {
            fault: fault.label.clone(),
            target: name.to_owned(),
            why,
        };
        if let Some(golden) = &golden {
            check(golden, &subject.anatomy, injection).map_err(|why| refused(why.to_string()))?;
        }
        if campaign.stop.is_some() {
            stoppable(injection).map_err(|why| refused(why.to_owned()))?;
        }
        if injection.plan() == SitePlan::Exhaustive {
            trials[at] = places(golden.as_ref(), subject, injection).map_err(refused)?;
        }
    }
    Ok(trials)
}

/// The oracle that judges such answers.
fn fitting(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Logits | OutputKind::Probabilities => "same_top",
        OutputKind::Values => "same_values",
        OutputKind::Detections => "same_detections",
        OutputKind::Segments => "same_segments",
        OutputKind::Picture => "same_picture",
        OutputKind::Text => "same_text",
    }
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
    subject: &Subject,
    injection: &Injection,
) -> Result<u32, String> {
    let golden = golden.ok_or("the target answers no case, so that its places are unknown")?;
    let sites = Sites::new(golden, &subject.anatomy, injection, subject.target.batch());
    match injection.population(&sites) {
        all if all <= MOST_PLACES => Ok(all as u32),
        all => Err(format!(
            "sites: exhaustive would have {all} places for every case; select less, up to \
             {MOST_PLACES}"
        )),
    }
}
