//! A target of a campaign with what trials need to know about it.

use crate::cases::pixels_digest;
use crate::open_error::OpenCampaignError;
use crate::white_box::WhiteBox;
use faultlens_core::{
    Bounds, Defence, Detections, Image, Names, Picture, Ranking, Response, Scores, Seed, Segments,
    Target, TargetError, Text, class_called,
};
use faultlens_engine::Dim;
use faultlens_record::TrialId;
use faultlens_spec::{DefenceSpec, Source, TargetSpec};
use faultlens_targets::service::Task;
use faultlens_targets::{OnnxTarget, ServiceTarget};
use faultlens_vision::{Labels, OutputKind};
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// More classes than an oracle looks at.
const MANY_CLASSES: usize = 2000;

/// A target with what trials need to know about it.
pub struct OpenTarget {
    system: System,
    /// The defences in front of it, in this order.
    defences: Vec<Arc<dyn Defence>>,
    /// What distinguishes its answers from those of others: the model's file and how it is asked.
    pub key: String,
    /// The same without its defences.
    pub origin: String,
    /// By class of the data set, the class of the target that means the same.
    pub truths: Vec<Option<usize>>,
}

/// The system under test.
enum System {
    Model(Box<WhiteBox>),
    Service(Box<ServiceTarget>),
    Own(OwnTarget),
}

/// A target that a program brings along.
struct OwnTarget {
    target: Box<dyn Target>,
    key: String,
    /// The kind of its answers, by the first one that it gave, and the oracle for them.
    answers_with: (&'static str, &'static str),
}

impl OpenTarget {
    /// Opens a target; `classes` are those of the data set.
    pub(crate) fn open(
        spec: &TargetSpec,
        base: &Path,
        classes: &[String],
    ) -> Result<Self, OpenCampaignError> {
        let system = match &spec.source {
            Source::Model { path, written } => {
                let target = OnnxTarget::open(path, (**written).clone());
                let target = target.map_err(|source| OpenCampaignError::Target {
                    name: spec.name.clone(),
                    source,
                })?;
                check_labels(&spec.name, &target)?;
                System::Model(Box::new(WhiteBox::new(target)))
            }
            Source::Service(service) => {
                let target = ServiceTarget::open(service, base);
                System::Service(Box::new(target.map_err(|source| OpenCampaignError::Service {
                    name: spec.name.clone(),
                    source,
                })?))
            }
            Source::Own { .. } => return Err(OpenCampaignError::OwnTarget(spec.name.clone())),
        };
        let origin = system.key();
        let key = defended_key(origin.clone(), &spec.defences);
        let defences = spec.defences.iter().map(DefenceSpec::build).collect();
        let truths = system.truths(classes);
        Ok(Self { system, defences, key, origin, truths })
    }

    /// A target of a program's own; `answer` is its answer to the first case, where it gave one, and
    /// `classes` are those of the data set.
    pub(crate) fn own(
        key: &str,
        target: Box<dyn Target>,
        answer: Option<&Response>,
        classes: &[String],
    ) -> Self {
        let key = TrialId::of(&[b"own target", key.as_bytes()]).to_string();
        let answers_with = answer.map_or(("labels", "same_top"), kind_of_answer);
        let system = System::Own(OwnTarget { target, key, answers_with });
        let origin = system.key();
        let truths = system.truths(classes);
        Self { system, defences: Vec::new(), key: origin.clone(), origin, truths }
    }

    /// The model, where its inside can be reached.
    pub fn white_box(&self) -> Option<&WhiteBox> {
        match &self.system {
            System::Model(white_box) => Some(white_box),
            System::Service(_) | System::Own(_) => None,
        }
    }

    /// The service, where it is one.
    pub fn service(&self) -> Option<&ServiceTarget> {
        match &self.system {
            System::Service(service) => Some(service),
            System::Model(_) | System::Own(_) => None,
        }
    }

    /// What the target is shown instead of an image.
    pub fn shown<'i>(&self, image: &'i Image) -> Cow<'i, Image> {
        let mut shown = Cow::Borrowed(image);
        for defence in self.defences.iter().filter(|defence| defence.cleans()) {
            shown = Cow::Owned(defence.clean(&shown));
        }
        shown
    }

    /// The answer of the target itself to an image that its defences have cleaned.
    pub(crate) fn bare(&self, image: &Image) -> Result<Response, TargetError> {
        let shown = self.shown(image);
        match &self.system {
            System::Model(white_box) => white_box.target.ask(&shown),
            System::Service(service) => service.ask(&shown),
            System::Own(own) => own.target.ask(&shown),
        }
    }

    /// A second answer to an image: models repeat theirs bit for bit, services need not.
    pub(crate) fn second(&self, image: &Image) -> Result<Response, TargetError> {
        match self.service() {
            Some(service) => self.after(service.second(&self.shown(image))?, image),
            None => self.ask(image),
        }
    }

    /// The answer as its defences pass it on; their random numbers start from the seed.
    pub(crate) fn defended(&self, answer: Response, seed: Seed) -> Result<Response, TargetError> {
        let mut answer = answer;
        for (at, defence) in self.defences.iter().enumerate() {
            answer = defence.answer(answer, &mut seed.at(at as u64).stream())?;
        }
        Ok(answer)
    }

    /// The defences, in the order in which they stand before the target.
    pub(crate) fn defences(&self) -> &[Arc<dyn Defence>] {
        &self.defences
    }

    /// The answer to an image, from that of the model to what it was shown instead. The seed is the
    /// image's, so that the same image gets the same answer.
    pub(crate) fn after(&self, answer: Response, image: &Image) -> Result<Response, TargetError> {
        self.defended(answer, Seed::new(pixels_digest(image)))
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

    /// What the target is, in words that follow "it is".
    pub(crate) fn kind(&self) -> &'static str {
        match &self.system {
            System::Model(_) => "a model",
            System::Service(_) => "a service",
            System::Own(_) => "a target of the program's own",
        }
    }

    /// What the target answers with, and the oracle that judges such answers.
    pub(crate) fn answers_with(&self) -> (&'static str, &'static str) {
        match &self.system {
            System::Model(white_box) => {
                let kind = white_box.target.description().output.kind;
                (kind.name(), fitting(kind))
            }
            System::Service(service) => match service.task() {
                Task::Labels | Task::Moderation | Task::Celebrities => ("labels", "same_top"),
                Task::Objects | Task::Faces => ("detections", "same_detections"),
                Task::Text => ("text", "same_text"),
                Task::Tensors => {
                    let kind = service.spec().output.as_ref().map(|output| output.kind);
                    ("tensors", kind.map_or("same_top", fitting))
                }
            },
            System::Own(own) => own.answers_with,
        }
    }
}

impl Target for OpenTarget {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        self.after(self.bare(image)?, image)
    }
}

impl System {
    fn key(&self) -> String {
        match self {
            Self::Model(white_box) => {
                let description = white_box.target.description();
                let described =
                    serde_json::json!([description.input, description.output]).to_string();
                let parts = [white_box.target.fingerprint().as_bytes(), described.as_bytes()];
                TrialId::of(&parts).to_string()
            }
            Self::Service(service) => service.key(),
            Self::Own(own) => own.key.clone(),
        }
    }

    /// Classes are matched by name. Where the target has no names, or the data set has numbers
    /// for names, the numbers are taken as the target's.
    fn truths(&self, classes: &[String]) -> Vec<Option<usize>> {
        let none = Labels::default();
        let labels = match self {
            Self::Model(white_box) => &white_box.target.description().labels,
            Self::Service(service) if service.task() == Task::Tensors => {
                service.labels().unwrap_or(&none)
            }
            Self::Own(own) if own.answers_with.0 != "labels" => &none,
            // Services speak in names, and so do rankings; a number is none.
            Self::Service(_) | Self::Own(_) => {
                let class_of =
                    |name: &String| name.parse::<u64>().is_err().then(|| class_called(name));
                return classes.iter().map(class_of).collect();
            }
        };
        let names: Vec<String> = (0..labels.len()).map(|class| labels.name(class)).collect();
        matched_classes(classes, &names)
    }
}

/// By class of the data set, the class of the target that means the same: the one of that name, else
/// the one of that number, else, where the target has no names, the one in the same position.
fn matched_classes(classes: &[String], names: &[String]) -> Vec<Option<usize>> {
    let mut matched = Vec::with_capacity(classes.len());
    for (at, class) in classes.iter().enumerate() {
        let name = class.to_lowercase();
        let by_name = names.iter().position(|own| own.to_lowercase() == name);
        let by_number = || class.parse().ok().or(names.is_empty().then_some(at));
        matched.push(by_name.or_else(by_number));
    }
    matched
}

/// The key of a target behind defences; that of one without stays as it is.
fn defended_key(key: String, defences: &[DefenceSpec]) -> String {
    if defences.is_empty() {
        return key;
    }
    let specs: Vec<String> = defences.iter().map(DefenceSpec::spec).collect();
    let mut parts = vec![key.as_bytes()];
    parts.extend(specs.iter().map(|spec| spec.as_bytes()));
    TrialId::of(&parts).to_string()
}

/// The kind of an answer as campaign files name it, and the oracle that judges such answers.
fn kind_of_answer(answer: &Response) -> (&'static str, &'static str) {
    let kind = match answer {
        Response::Ranking(_) => return ("labels", "same_top"),
        Response::Scores(_) => OutputKind::Probabilities,
        Response::Values(_) => OutputKind::Values,
        Response::Detections(_) => OutputKind::Detections,
        Response::Segments(_) => OutputKind::Segments,
        Response::Picture(_) => OutputKind::Picture,
        Response::Text(_) => OutputKind::Text,
    };
    (kind.name(), fitting(kind))
}

/// An answer of a kind that says nothing.
fn empty(kind: OutputKind) -> Response {
    let names = Names::Letters;
    let finite = true;
    match kind {
        OutputKind::Logits | OutputKind::Probabilities => {
            Response::Scores(Scores { scores: vec![0.0; MANY_CLASSES], names })
        }
        OutputKind::Values => Response::Values(vec![0.0]),
        OutputKind::Detections => {
            Response::Detections(Detections { found: Vec::new(), names, finite, min_score: None })
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

/// Refuses a list of labels that is longer or shorter than the model's list of classes: labels would
/// stand for the wrong classes.
fn check_labels(name: &str, target: &OnnxTarget) -> Result<(), OpenCampaignError> {
    let graph = target.model().graph();
    let described = target.description();
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
