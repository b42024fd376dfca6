//! A target of a campaign with what trials need to know about it.

use crate::inject::pixels_digest;
use crate::setup::OpenCampaignError;
use faultlens_core::{
    Bounds, Defence, Detections, Image, Names, Picture, Ranking, Response, Scores, Seed, Segments,
    Target, TargetError, Text, class_called,
};
use faultlens_engine::{Dim, Golden, Graph, ValueId};
use faultlens_faults::Anatomy;
use faultlens_record::{ModelValue, TrialId};
use faultlens_spec::{DefenceSpec, Source, TargetSpec};
use faultlens_targets::service::Task;
use faultlens_targets::{OnnxTarget, ServiceTarget};
use faultlens_vision::{Labels, OutputKind};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// More classes than an oracle looks at.
const MANY_CLASSES: usize = 2000;

/// A target with what trials need to know about it.
pub struct OpenTarget {
    asked: Asked,
    /// What stands before it.
    defences: Vec<Arc<dyn Defence>>,
    /// What tells its answers from those of others: the model's file and how it is asked.
    pub key: String,
    /// The same without its defences.
    pub origin: String,
    /// By class of the data set, the class of the target that means the same.
    pub truths: Vec<Option<usize>>,
}

enum Asked {
    Model(Box<WhiteBox>),
    Service(Box<ServiceTarget>),
}

/// A model that faults can land in.
pub struct WhiteBox {
    /// The model, and how it is asked.
    pub target: OnnxTarget,
    /// Which layers it has.
    pub anatomy: Anatomy,
    /// By value, where a fault in it is recorded.
    places: BTreeMap<ValueId, Arc<ModelValue>>,
}

impl OpenTarget {
    /// Opens a target; `classes` are those of the data set.
    pub(crate) fn open(
        spec: &TargetSpec,
        base: &Path,
        classes: &[String],
    ) -> Result<Self, OpenCampaignError> {
        let asked = match &spec.source {
            Source::Model { path, written } => {
                let target = OnnxTarget::open(path, (**written).clone());
                let target = target.map_err(|source| OpenCampaignError::Target {
                    name: spec.name.clone(),
                    source,
                })?;
                named(&spec.name, &target)?;
                Asked::Model(Box::new(WhiteBox::new(target)))
            }
            Source::Service(service) => {
                let target = ServiceTarget::open(service, base);
                Asked::Service(Box::new(target.map_err(|source| OpenCampaignError::Service {
                    name: spec.name.clone(),
                    source,
                })?))
            }
        };
        let origin = asked.key();
        let key = defended_key(origin.clone(), &spec.defences);
        let defences = spec.defences.iter().map(DefenceSpec::build).collect();
        let truths = asked.truths(classes);
        Ok(Self { asked, defences, key, origin, truths })
    }

    /// The model, where its inside can be reached.
    pub fn inside(&self) -> Option<&WhiteBox> {
        match &self.asked {
            Asked::Model(inside) => Some(inside),
            Asked::Service(_) => None,
        }
    }

    /// The service, where it is one.
    pub fn service(&self) -> Option<&ServiceTarget> {
        match &self.asked {
            Asked::Model(_) => None,
            Asked::Service(service) => Some(service),
        }
    }

    /// What the target is shown instead of an image.
    pub fn shown<'i>(&self, image: &'i Image) -> Cow<'i, Image> {
        let clean =
            |image: Cow<'i, Image>, defence: &Arc<dyn Defence>| Cow::Owned(defence.clean(&image));
        let cleaning = self.defences.iter().filter(|defence| defence.cleans());
        cleaning.fold(Cow::Borrowed(image), clean)
    }

    /// What the target itself says to an image behind its defences.
    pub(crate) fn bare(&self, image: &Image) -> Result<Response, TargetError> {
        let shown = self.shown(image);
        match &self.asked {
            Asked::Model(inside) => inside.target.ask(&shown),
            Asked::Service(service) => service.ask(&shown),
        }
    }

    /// A second answer to an image: models repeat theirs bit for bit, services need not.
    pub(crate) fn second(&self, image: &Image) -> Result<Response, TargetError> {
        match self.service() {
            Some(service) => self.after(service.second(&self.shown(image))?, image),
            None => self.ask(image),
        }
    }

    /// What its defences say instead of an answer; what they draw follows from the seed.
    pub(crate) fn said(&self, answer: Response, seed: Seed) -> Result<Response, TargetError> {
        let say = |answer, (at, defence): (usize, &Arc<dyn Defence>)| {
            defence.answer(answer, &mut seed.at(at as u64).stream())
        };
        self.defences.iter().enumerate().try_fold(answer, say)
    }

    /// The defences, in the order in which they stand before the target.
    pub(crate) fn defences(&self) -> &[Arc<dyn Defence>] {
        &self.defences
    }

    /// What the model says to an image after a run on what it was shown instead.
    pub(crate) fn after(&self, answer: Response, image: &Image) -> Result<Response, TargetError> {
        self.said(answer, Seed::new(pixels_digest(image)))
    }

    /// An answer of a service's kind that says nothing, to see whether it can be judged; `None`
    /// for models, which can be asked.
    pub(crate) fn specimen(&self) -> Option<Response> {
        Some(match self.service()?.task() {
            Task::Labels | Task::Moderation | Task::Celebrities => {
                Response::Ranking(Ranking::of_names([]))
            }
            Task::Objects | Task::Faces => empty(OutputKind::Detections),
            Task::Text => empty(OutputKind::Text),
            Task::Tensors => empty(self.service()?.spec().output.as_ref()?.kind),
        })
    }

    /// What the target answers with, and the oracle that judges such answers.
    pub(crate) fn answers_with(&self) -> (&'static str, &'static str) {
        match &self.asked {
            Asked::Model(inside) => {
                let kind = inside.target.description().output.kind;
                (kind.name(), fitting(kind))
            }
            Asked::Service(service) => match service.task() {
                Task::Labels | Task::Moderation | Task::Celebrities => ("labels", "same_top"),
                Task::Objects | Task::Faces => ("detections", "same_detections"),
                Task::Text => ("text", "same_text"),
                Task::Tensors => {
                    let kind = service.spec().output.as_ref().map(|output| output.kind);
                    ("tensors", kind.map_or("same_top", fitting))
                }
            },
        }
    }
}

impl Target for OpenTarget {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        self.after(self.bare(image)?, image)
    }
}

impl Asked {
    fn key(&self) -> String {
        match self {
            Self::Model(inside) => {
                let description = inside.target.description();
                let described =
                    serde_json::json!([description.input, description.output]).to_string();
                let parts = [inside.target.fingerprint().as_bytes(), described.as_bytes()];
                TrialId::of(&parts).to_string()
            }
            Self::Service(service) => service.key(),
        }
    }

    /// Classes are matched by name. Where the target has no names, or the data set has numbers
    /// for names, the numbers are taken as the target's.
    fn truths(&self, classes: &[String]) -> Vec<Option<usize>> {
        let none = Labels::default();
        let labels = match self {
            Self::Model(inside) => &inside.target.description().labels,
            Self::Service(service) if service.task() == Task::Tensors => {
                service.labels().unwrap_or(&none)
            }
            // Services speak in names; a number is none.
            Self::Service(_) => {
                let class =
                    |name: &String| name.parse::<u64>().is_err().then(|| class_called(name));
                return classes.iter().map(class).collect();
            }
        };
        let named: Vec<String> =
            (0..labels.len()).map(|class| labels.name(class).to_lowercase()).collect();
        let truth = |(at, class): (usize, &String)| {
            let by_name = named.iter().position(|name| *name == class.to_lowercase());
            let by_number = || class.parse().ok().or(named.is_empty().then_some(at));
            by_name.or_else(by_number)
        };
        classes.iter().enumerate().map(truth).collect()
    }
}

impl WhiteBox {
    fn new(target: OnnxTarget) -> Self {
        let graph = target.model().graph();
        let anatomy = Anatomy::of(graph);
        let placed = |id| Some((id, Arc::new(place(graph, &anatomy, id)?)));
        let places = graph.value_ids().filter_map(placed).collect();
        Self { target, anatomy, places }
    }

    /// Where a fault in this value is recorded.
    pub fn place(&self, id: ValueId) -> Option<Arc<ModelValue>> {
        self.places.get(&id).cloned()
    }

    /// The undisturbed run on an image as it is shown, and the answer.
    pub fn golden(&self, shown: &Image) -> Result<(Golden<'_>, Response), TargetError> {
        let golden = self.target.golden(shown)?;
        let answer = self.target.response(golden.outputs(), shown)?;
        Ok((golden, answer))
    }
}

/// The key of a target behind defences; that of one without stays as it is.
fn defended_key(key: String, defences: &[DefenceSpec]) -> String {
    if defences.is_empty() {
        return key;
    }
    let specs: Vec<String> = defences.iter().map(DefenceSpec::spec).collect();
    let parts: Vec<&[u8]> =
        [key.as_bytes()].into_iter().chain(specs.iter().map(|spec| spec.as_bytes())).collect();
    TrialId::of(&parts).to_string()
}

fn place(graph: &Graph, anatomy: &Anatomy, id: ValueId) -> Option<ModelValue> {
    let at = anatomy.owner(graph, id)?;
    let operator = graph.operator(at);
    Some(ModelValue {
        value: graph.value_name(id).to_owned(),
        operator: operator.name.clone(),
        kind: operator.op_type.clone(),
        position: at.index() as u32,
        layer: anatomy.layer(at),
        layer_name: anatomy.name(anatomy.layer(at)).to_owned(),
    })
}

/// An answer of a kind that says nothing.
fn empty(kind: OutputKind) -> Response {
    let (names, finite) = (Names::Letters, true);
    match kind {
        OutputKind::Logits | OutputKind::Probabilities => {
            Response::Scores(Scores { scores: vec![0.0; MANY_CLASSES], names })
        }
        OutputKind::Values => Response::Values(vec![0.0]),
        OutputKind::Detections => {
            Response::Detections(Detections { found: Vec::new(), names, finite })
        }
        OutputKind::Segments => Response::Segments(Segments {
            width: 1,
            height: 1,
            classes: vec![0],
            covers: Bounds { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 },
            names,
            finite,
        }),
        OutputKind::Picture => Response::Picture(Picture {
            width: 1,
            height: 1,
            channels: 1,
            values: vec![0.0],
            finite,
        }),
        OutputKind::Text => Response::Text(Text { classes: Vec::new(), names, finite }),
    }
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

/// Refuses a list of names that is longer or shorter than the model's list of classes: names would
/// stand for other classes than they say.
fn named(name: &str, target: &OnnxTarget) -> Result<(), OpenCampaignError> {
    let (graph, described) = (target.model().graph(), target.description());
    let output = described.output.position(graph).ok().and_then(|at| graph.outputs().get(at));
    let shape = output.and_then(|&id| graph.declared_shape(id));
    match (shape.and_then(|shape| shape.last()), described.labels.len()) {
        (Some(&Dim::Fixed(classes)), names)
            if names > 0 && names != classes && described.output.kind.is_scores() =>
        {
            Err(OpenCampaignError::Labels { target: name.to_owned(), names, classes })
        }
        _ => Ok(()),
    }
}
