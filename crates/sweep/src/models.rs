//! The models of a part: trained, or found where they were kept before.
//!
//! A model's file is named by all that decides its weights, so that a sweep that was stopped goes
//! on where it was, and sweeps can share what they train.

use crate::SweepError;
use crate::config::{Means, ModelPoint, Origin};
use crate::depth::layers;
use crate::file::replace;
use crate::part::{Part, hex};
use faultlens_campaign::fingerprint;
use faultlens_engine::Model;
use faultlens_engine::onnx::{self, ModelProto};
use faultlens_train::{
    Card, Progress, Recipe, TRAINING_VERSION, Task, TrainError, described, first_model, score,
    train,
};
use faultlens_vision::{Channels, LABELS_KEY};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// A model as trials meet it, and what its training took.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The model, by its place in the sweep.
    pub model: usize,
    /// The defence, by its place in the sweep.
    pub defence: usize,
    /// The ONNX file.
    pub file: PathBuf,
    /// Whether the file, or the sweep, names the model's classes.
    pub named: bool,
    /// How many layers with weights it has.
    pub layers: u32,
    /// Processor seconds of training for each sample of the training set.
    pub training_seconds: f64,
}

/// What happens while models are trained.
#[derive(Debug, Clone, Copy)]
pub struct Event<'a> {
    /// The model, and the defence in training where there is one.
    pub name: &'a str,
    /// Which of the models, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
    /// What happens to it.
    pub what: EventKind,
}

/// What happens to a model.
#[derive(Debug, Clone, Copy)]
pub enum EventKind {
    /// It was trained before.
    Kept,
    /// It learns.
    Learns(Progress),
    /// It has learned.
    Trained,
}

/// One training that the part needs: a model, and the defence in training where there is one.
type Order = (usize, Option<usize>);

impl Part<'_> {
    /// All models of the part, each as often as it is defended. What was not kept before is
    /// trained on so many threads; ends with [`SweepError::Stopped`] where `follow` breaks off.
    pub fn members(
        &self,
        threads: usize,
        follow: &mut dyn FnMut(&Event<'_>) -> ControlFlow<()>,
    ) -> Result<Vec<Member>, SweepError> {
        let sweep = self.sweep;
        let hook = |defence: usize| sweep.defences[defence].trains().then_some(defence);
        let mut orders: Vec<Order> = sweep.targets().map(|(model, d)| (model, hook(d))).collect();
        orders.sort_unstable();
        orders.dedup();
        // Hours of training must not end in a folder that cannot be had.
        let cache = sweep.cache();
        fs::create_dir_all(&cache).map_err(SweepError::io("make the folder for models", &cache))?;
        let data = fingerprint(&self.train)?;
        let mut ready = Vec::new();
        for (at, &(model, defence)) in orders.iter().enumerate() {
            let name = self.model_name(model, defence);
            let mut emit =
                |what| follow(&Event { name: &name, number: at + 1, of: orders.len(), what });
            ready.push(self.ready((model, defence), &data, threads, &mut emit)?);
        }
        Ok(sweep
            .targets()
            .filter_map(|(model, defence): (usize, usize)| {
                let at = orders.iter().position(|&order| order == (model, hook(defence)))?;
                Some(Member { model, defence, ..ready.get(at)?.clone() })
            })
            .collect())
    }

    fn model_name(&self, model: usize, defence: Option<usize>) -> String {
        let sweep = self.sweep;
        match defence {
            Some(defence) => {
                format!("{}, {}", sweep.models[model].name, sweep.defences[defence].label)
            }
            None => sweep.models[model].name.clone(),
        }
    }

    /// A model, ready to be asked.
    fn ready(
        &self,
        (model, defence): Order,
        data: &str,
        threads: usize,
        emit: &mut dyn FnMut(EventKind) -> ControlFlow<()>,
    ) -> Result<Member, SweepError> {
        let point = &self.sweep.models[model];
        if let Some(brought) = brought(model, point)? {
            return Ok(brought);
        }
        let recipe = self.recipe(point, defence)?;
        let kept = Kept::new(&self.sweep.cache(), point, &recipe, data);
        let (proto, card) = match kept.find() {
            Some(found) => go_on(emit(EventKind::Kept)).map(|()| found)?,
            None => {
                let learns = &mut |progress| emit(EventKind::Learns(progress));
                let made = self.train(point, &recipe, threads, learns);
                let (proto, card) =
                    made.map_err(|source| self.untrained((model, defence), source))?;
                kept.keep(&proto, &card)?;
                go_on(emit(EventKind::Trained))?;
                (proto, card)
            }
        };
        Ok(Member {
            model,
            defence: 0,
            file: kept.model,
            named: true,
            layers: layers(&proto),
            training_seconds: card.cost.cpu_seconds / self.train.len().max(1) as f64,
        })
    }

    fn untrained(&self, (model, defence): Order, source: TrainError) -> SweepError {
        match source {
            TrainError::Stopped => SweepError::Stopped,
            source => {
                let model = self.model_name(model, defence);
                SweepError::Train { model, source: Box::new(source) }
            }
        }
    }

    fn recipe(&self, point: &ModelPoint, defence: Option<usize>) -> Result<Recipe, SweepError> {
        let first = self.train.case(0)?.image;
        let input = Recipe::default_input([first.height(), first.width()], Channels::Rgb);
        let means = defence.map(|defence| &self.sweep.defences[defence].means);
        let plain = Recipe::new(Task::Classify, input);
        let (plain, batch) = match &point.origin {
            Origin::Here { batch, optimiser } => (
                plain.with_optimiser(optimiser).map_err(|source| SweepError::Train {
                    model: point.name.clone(),
                    source: Box::new(source),
                })?,
                *batch,
            ),
            Origin::Elsewhere { .. } => (plain, 1),
        };
        Ok(Recipe {
            epochs: point.epochs as usize,
            batch,
            learning_rate: point.learning_rate,
            seed: self.sweep.seed.wrapping_add(u64::from(self.permutation)),
            noise: match means {
                Some(Means::Noise(noise)) => Some(*noise),
                _ => None,
            },
            adversarial: match means {
                Some(Means::Adversarial(adversarial)) => Some(*adversarial),
                _ => None,
            },
            ..plain
        })
    }

    fn train(
        &self,
        point: &ModelPoint,
        recipe: &Recipe,
        threads: usize,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<(ModelProto, Card), TrainError> {
        let first = first_model(&point.architecture, recipe, &self.train)?;
        let trained = train(recipe, &first, &self.train, threads, progress)?;
        let proto = described(&trained.model, recipe, &self.train.classes)?;
        let model = Model::from_proto(&proto)?.with_threads(threads)?;
        let measured = score(recipe, &model, &self.samples)?;
        let data = &self.data;
        let permutation = self.permutation;
        let card = Card {
            name: point.name.clone(),
            architecture: point.architecture.clone(),
            parameters: trained.parameters,
            data: format!("{data}, split {permutation}, {} cases", self.train.len()),
            classes: self.train.classes.clone(),
            recipe: recipe.clone(),
            measured_on: format!("{data}, split {permutation}, held out"),
            scores: vec![measured],
            cost: trained.cost,
            epochs: trained.epochs,
            command: format!("faultlens run with the sweep {:?}", self.sweep.name),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok((proto, card))
    }
}

/// A model that was trained elsewhere; none where the sweep trains it.
fn brought(model: usize, point: &ModelPoint) -> Result<Option<Member>, SweepError> {
    let Origin::Elsewhere { path, training_seconds, layers: given, asked } = &point.origin else {
        return Ok(None);
    };
    let proto = onnx::read(path)?;
    Ok(Some(Member {
        model,
        defence: 0,
        file: path.canonicalize().map_err(SweepError::io("open the model", path))?,
        named: asked.contains_key("labels")
            || proto.metadata_props.iter().any(|entry| entry.key == LABELS_KEY),
        layers: given.unwrap_or_else(|| layers(&proto)),
        training_seconds: *training_seconds,
    }))
}

fn go_on(flow: ControlFlow<()>) -> Result<(), SweepError> {
    if flow.is_break() { Err(SweepError::Stopped) } else { Ok(()) }
}

/// Where a model and its card are kept.
struct Kept {
    model: PathBuf,
    card: PathBuf,
}

impl Kept {
    fn new(cache: &Path, point: &ModelPoint, recipe: &Recipe, data: &str) -> Self {
        let decides = json!([TRAINING_VERSION, point.architecture, recipe, data]);
        let hash = hex(&Sha256::digest(decides.to_string())[..16]);
        let file = |ending: &str| cache.join(format!("{hash}.{ending}"));
        Self { model: file("onnx"), card: file("json") }
    }

    /// What was kept; nothing where either file is missing or cannot be read, so that it is made
    /// again.
    fn find(&self) -> Option<(ModelProto, Card)> {
        let card = serde_json::from_slice(&fs::read(&self.card).ok()?).ok()?;
        Some((onnx::read(&self.model).ok()?, card))
    }

    /// Keeps both; the card comes last, so that what has one is complete.
    fn keep(&self, model: &ModelProto, card: &Card) -> Result<(), SweepError> {
        onnx::write(model, &self.model)?;
        let text = serde_json::to_vec_pretty(card)
            .map_err(|source| SweepError::io("write the card", &self.card)(source.into()))?;
        replace(&self.card, &text, "write the card")
    }
}
