//! The models of a seed: the first one, and what the configurations make of it.

use crate::event::{EventKind, Workers};
use crate::file::replace_json;
use crate::origin::Ground;
use crate::precision::measure;
use crate::{Configuration, Course, Metric, Point, Precision, RetrainError};
use faultlens_data::DataSet;
use faultlens_engine::onnx::{self, ModelProto};
use faultlens_train::{
    Card, Progress, Recipe, Rest, Score, TrainError, Trained, described, first_model, train,
    train_with,
};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::Ordering;

/// What a training needs besides its recipe and data.
pub(crate) struct Learning<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) workers: &'a Workers<'a>,
    /// The seed's folder.
    pub(crate) folder: &'a Path,
}

impl Learning<'_> {
    /// Trains the first model on the originals, and writes it as `first.onnx`.
    pub(crate) fn first(
        &self,
        recipe: &Recipe,
        originals: &DataSet,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<Precision, RetrainError> {
        let (trained, model, precision) = self
            .train_first(recipe, originals, emit)
            .map_err(RetrainError::train("the first model"))?;
        self.keep(FIRST, &model, &self.card(FIRST, recipe, originals, &trained, &precision))?;
        Ok(precision)
    }

    fn train_first(
        &self,
        recipe: &Recipe,
        originals: &DataSet,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<(Trained, ModelProto, Precision), TrainError> {
        let raw = first_model(&self.ground.architecture, recipe, originals)?;
        let progress = &mut |progress| self.report_progress(FIRST, progress, emit);
        let trained = train(recipe, &raw, originals, self.workers.threads, progress)?;
        let model = described(&trained.model, recipe, &originals.classes)?;
        let precision = self.precision(recipe, &model)?;
        Ok((trained, model, precision))
    }

    /// Goes on from the first model with some set, and writes what became of it.
    pub(crate) fn course(
        &self,
        configuration: Configuration,
        recipe: &Recipe,
        first: &ModelProto,
        data: &DataSet,
        every: usize,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> Result<Course, RetrainError> {
        let name = configuration.name();
        let mut losses = Vec::new();
        let mut points = Vec::new();
        let each_epoch = &mut |rest: &Rest<'_>| {
            losses.push((rest.steps, rest.came_to.loss));
            if rest.epoch.is_multiple_of(every) || rest.epoch == recipe.epochs {
                let precision = self.precision(recipe, &rest.model())?;
                points.push(Point { steps: rest.steps, precision });
            }
            Ok(())
        };
        let progress = &mut |progress| self.report_progress(name, progress, emit);
        let trained = train_with(recipe, first, data, self.workers.threads, progress, each_epoch)
            .map_err(RetrainError::train(configuration.about()))?;
        if let Some(Point { precision, .. }) = points.last() {
            let card = self.card(name, recipe, data, &trained, precision);
            self.keep(name, &trained.model, &card)?;
        }
        Ok(Course { configuration, losses, points })
    }

    /// How good a model is on the held-out scenes.
    pub(crate) fn precision(
        &self,
        recipe: &Recipe,
        model: &ModelProto,
    ) -> Result<Precision, TrainError> {
        measure(recipe, model, &self.ground.held_out, self.workers.threads)
    }

    /// Reports a step of training; ends the training where somebody interrupts.
    fn report_progress(
        &self,
        name: &'static str,
        progress: Progress,
        emit: &mut dyn FnMut(EventKind<'_>),
    ) -> ControlFlow<()> {
        emit(EventKind::Learns { name, progress });
        if self.workers.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn card(
        &self,
        name: &str,
        recipe: &Recipe,
        data: &DataSet,
        trained: &Trained,
        precision: &Precision,
    ) -> Card {
        let n = self.ground.held_out.len();
        let scores = [("ap", Metric::Ap), ("ap50", Metric::Ap50), ("voc_ap", Metric::Voc)];
        Card {
            name: name.to_owned(),
            architecture: self.ground.architecture.clone(),
            parameters: trained.parameters,
            data: format!("{} scenes of the retraining, {name}", data.len()),
            classes: data.classes.clone(),
            recipe: recipe.clone(),
            measured_on: self.ground.measured_on.clone(),
            scores: scores
                .map(|(name, metric): (&str, Metric)| Score {
                    metric: name.to_owned(),
                    value: metric.of(precision),
                    interval: None,
                    n,
                })
                .to_vec(),
            cost: trained.cost,
            epochs: trained.epochs.clone(),
            command: "faultlens retrain, with the plan in retraining.json".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Writes a model with its card beside it.
    pub(crate) fn keep(
        &self,
        name: &str,
        model: &ModelProto,
        card: &Card,
    ) -> Result<(), RetrainError> {
        let path = self.folder.join(format!("{name}.onnx"));
        onnx::write(model, &path)?;
        replace_json(&path.with_extension("json"), card, "write the card")
    }
}

/// What the first model's files are called.
pub(crate) const FIRST: &str = "first";
