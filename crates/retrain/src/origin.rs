//! What an experiment stands on: where scenes come from, what is measured on, how models learn.

use crate::file::file_key;
use crate::{Origin, Plan, RetrainError};
use faultlens_campaign::cases::world_cases;
use faultlens_campaign::fingerprint;
use faultlens_core::{Case, Seed};
use faultlens_data::DataSet;
use faultlens_engine::Model;
use faultlens_engine::onnx;
use faultlens_train::{Card, Recipe, Schedule, Task, check_measurable, first_model};
use faultlens_vision::Channels;
use faultlens_world as world;
use std::fs;
use std::path::{Path, PathBuf};

/// The learning rate of the shipped detector.
const RATE: f64 = 0.02;

/// All that seeds share.
pub(crate) struct Ground {
    /// What is measured on.
    pub(crate) held_out: DataSet,
    /// Tells whether other held-out scenes are the same.
    pub(crate) held_out_key: String,
    /// What it is, in words.
    pub(crate) measured_on: String,
    /// The network, as it is ordered.
    pub(crate) architecture: String,
    /// How models go on; the seed is to be set.
    pub(crate) recipe: Recipe,
    start: Start,
}

/// What a seed begins with.
enum Start {
    World { first_epochs: usize },
    Own { model: PathBuf, data: DataSet },
}

/// The first model of a seed: to be trained, or there already.
pub(crate) enum First<'a> {
    Trained(Box<Recipe>),
    There(&'a Path),
}

impl Ground {
    pub(crate) fn open(plan: &Plan) -> Result<Self, RetrainError> {
        let ground = match &plan.origin {
            Origin::World { architecture, first_epochs, held_out } => {
                let size = [world::SCENE_SIZE; 2];
                let input = Recipe::default_input(size, Channels::Rgb);
                let usual = Recipe { learning_rate: RATE, ..Recipe::new(Task::Detect, input) };
                let asked = format!("scenes:{held_out}");
                let data = world_cases(&asked, world::TEST, [1, 1], &world::SCENE_CLASSES)?;
                let recipe = going_on(usual, plan);
                let first = first_model(architecture, &recipe, &data)
                    .and_then(|model| Ok(Model::from_proto(&model)?));
                let first = first.map_err(RetrainError::train(architecture))?;
                let start = Start::World { first_epochs: *first_epochs };
                let measured_on = format!("world:{asked}, part {}", world::TEST);
                Self::new(architecture.clone(), recipe, &first, data, measured_on, start)?
            }
            Origin::Own { model, data, evaluate, .. } => {
                let card = card(model)?;
                let held_out = opened(evaluate, &card)?;
                let recipe = going_on(card.recipe.clone(), plan);
                let first = Model::from_proto(&onnx::read(model)?)?;
                let start = Start::Own { model: model.clone(), data: opened(data, &card)? };
                let measured_on = evaluate.display().to_string();
                Self::new(card.architecture, recipe, &first, held_out, measured_on, start)?
            }
        };
        ground.recipe.check().map_err(RetrainError::train("the recipe"))?;
        if let Start::World { first_epochs } = ground.start {
            let first = Recipe { epochs: first_epochs, ..ground.recipe.clone() };
            first.check().map_err(RetrainError::train("the recipe of the first model"))?;
        }
        Ok(ground)
    }

    fn new(
        architecture: String,
        recipe: Recipe,
        first: &Model,
        held_out: DataSet,
        measured_on: String,
        start: Start,
    ) -> Result<Self, RetrainError> {
        check_measurable(&recipe, first, &held_out).map_err(RetrainError::train(&measured_on))?;
        let held_out_key = fingerprint(&held_out)?;
        Ok(Self { held_out, held_out_key, measured_on, architecture, recipe, start })
    }

    /// The original scenes of a seed, as they are to be written.
    pub(crate) fn originals(&self, plan: &Plan, seed: u64) -> Result<DataSet, RetrainError> {
        match &self.start {
            Start::World { .. } => {
                // Pictures of the world's own seed of that number, so that seeds share none.
                let scenes = world::scenes(
                    Seed::new(seed).child(world::TRAIN),
                    plan.scenes.unwrap_or_default(),
                );
                let cases: Vec<Case> = scenes.into_iter().map(|scene| scene.case).collect();
                let classes = world::SCENE_CLASSES.map(str::to_owned).to_vec();
                Ok(DataSet::new(classes, cases))
            }
            Start::Own { data, .. } => {
                let wanted = plan.scenes.unwrap_or(data.len());
                if wanted > data.len() || data.len() < 2 {
                    return Err(RetrainError::Plan {
                        what: "the number of scenes",
                        given: wanted.to_string(),
                        why: "the data have fewer, or fewer than 2",
                    });
                }
                let mut order: Vec<usize> = (0..data.len()).collect();
                if wanted < data.len() {
                    Seed::new(seed).child("originals").stream().shuffle(&mut order);
                    order.truncate(wanted);
                    order.sort_unstable();
                }
                Ok(data.subset(&order))
            }
        }
    }

    pub(crate) fn first(&self, seed: u64) -> First<'_> {
        match &self.start {
            Start::World { first_epochs } => {
                let recipe = Recipe { epochs: *first_epochs, seed, ..self.recipe.clone() };
                First::Trained(Box::new(recipe))
            }
            Start::Own { model, .. } => First::There(model),
        }
    }
}

/// How models go on: always as fast, since they go on from where the first model was stopped.
fn going_on(of_first: Recipe, plan: &Plan) -> Recipe {
    Recipe {
        epochs: plan.epochs,
        batch: plan.batch,
        learning_rate: plan.rate.unwrap_or(of_first.learning_rate),
        schedule: Schedule::Constant,
        ..of_first
    }
}

/// The card that `faultlens train` wrote beside a detector.
pub(crate) fn card(model: &Path) -> Result<Card, RetrainError> {
    let path = model.with_extension("json");
    let wrong = |why: String| RetrainError::NoCard { why, path: path.clone() };
    let text = fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    let card: Card = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    match card.recipe.task {
        Task::Detect => Ok(card),
        task => Err(RetrainError::NoDetector { task: task.name(), path: model.to_path_buf() }),
    }
}

/// A data set of the classes that the model knows.
fn opened(data: &Path, card: &Card) -> Result<DataSet, RetrainError> {
    let set = DataSet::open(data)?;
    if set.classes == card.classes {
        return Ok(set);
    }
    Err(RetrainError::Classes {
        known: card.classes.join(", "),
        data: data.display().to_string(),
        there: set.classes.join(", "),
    })
}

/// Where inserted objects come from, as a campaign names it, and a key that changes with its content.
pub(crate) fn objects(plan: &Plan, originals: &str) -> (String, Option<String>) {
    match &plan.origin {
        Origin::Own { objects: Some(objects), .. } => {
            let absolute = std::path::absolute(objects).unwrap_or_else(|_| objects.clone());
            let key = file_key(&objects.join("index.json")).or_else(|| file_key(objects));
            (absolute.to_string_lossy().into_owned(), key)
        }
        _ => (originals.to_owned(), None),
    }
}
