//! A campaign with everything opened: what running, replaying and pinning have in common.

use crate::analysis::ATTRIBUTES;
use crate::cases::{CaseError, Cases};
use crate::config::{Campaign, Disturbance, FaultPoint};
use crate::plan::{Plan, Spot};
use crate::record::{Place, TrialId};
use faultlens_core::did_you_mean;
use faultlens_engine::vision::OutputKind;
use faultlens_engine::{Dim, Graph, ValueId};
use faultlens_faults::owner;
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
    /// A fault asks for an operator that a target does not have.
    #[error("fault {fault}: target {target} has no operator of kind or name {wanted:?}; {hint}")]
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
}

/// Attributes that follow from the outcome.
const RESULTS: [&str; 2] = ["answer", "outcome"];

/// Refuses requirements on attributes that no trial will have, before hours of work and not after.
fn concerns(campaign: &Campaign, cases: &Cases) -> Result<(), SetupError> {
    // What groups cases belong to, the first one tells; where it cannot be read, the records will.
    let first = cases.sample.first().and_then(|&index| cases.set.case(index).ok());
    let Some(first) = first else { return Ok(()) };
    let axes = campaign.faults.iter().filter_map(|fault| Some(fault.dose()?.axis));
    // What became of a trial must not decide whether it counts.
    let fixed = ATTRIBUTES.iter().map(|(name, _)| *name).filter(|name| !RESULTS.contains(name));
    let known: BTreeSet<&str> =
        fixed.chain(axes).chain(first.strata.keys().map(String::as_str)).collect();
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
        let trials = campaign.faults.iter().map(|fault| fault.trials);
        let plan = Plan::new(targets.len(), cases.sample.len(), trials);
        let judge = campaign.judge.build();
        let specs = campaign.faults.iter().map(FaultPoint::spec).collect();
        Ok(Self { campaign, targets, cases, judge, plan, specs })
    }

    /// The identity of a trial; `case` is the key of its case.
    pub fn identity(&self, spot: Spot, case: &str) -> TrialId {
        let key = &self.targets[spot.target as usize].key;
        self.id(Some(key), spot, case)
    }

    /// What a trial's random numbers start from: its identity. What is drawn for an image does
    /// not concern the target, so that all targets are shown the same faulty images.
    pub fn stream_seed(&self, spot: Spot, case: &str) -> u64 {
        match self.fault(spot).disturbance {
            Disturbance::Image(_) => self.id(None, spot, case).seed(),
            Disturbance::Model(_) => self.identity(spot, case).seed(),
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
        let placed = |id| Some((id, Arc::new(place(graph, id)?)));
        let places = graph.value_ids().filter_map(placed).collect();
        Self { target, key, truths, places }
    }

    /// Where a fault in this value is recorded.
    pub fn place(&self, id: ValueId) -> Option<Arc<Place>> {
        self.places.get(&id).cloned()
    }
}

fn place(graph: &Graph, id: ValueId) -> Option<Place> {
    let at = owner(graph, id)?;
    let operator = graph.operator(at);
    Some(Place {
        value: graph.value_name(id).to_owned(),
        operator: operator.name.clone(),
        kind: operator.op_type.clone(),
        layer: at.index() as u32,
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
            if names > 0 && names != classes && described.output.kind != OutputKind::Values =>
        {
            Err(SetupError::Labels { target: name.to_owned(), names, classes })
        }
        _ => Ok(()),
    }
}

fn fits(faults: &[FaultPoint], target: &str, graph: &Graph) -> Result<(), SetupError> {
    for fault in faults {
        let Disturbance::Model(model_fault) = &fault.disturbance else { continue };
        let Some(wanted) = model_fault.place().unknown_in(graph) else { continue };
        let kinds: BTreeSet<&str> =
            graph.operators().iter().map(|op| op.op_type.as_str()).collect();
        let names = graph.operators().iter().map(|op| op.name.as_str());
        let hint = match did_you_mean(wanted, kinds.iter().copied().chain(names)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => format!("it has {}", kinds.into_iter().collect::<Vec<_>>().join(", ")),
        };
        return Err(SetupError::Operator {
            fault: fault.label.clone(),
            target: target.to_owned(),
            wanted: wanted.to_owned(),
            hint,
        });
    }
    Ok(())
}
