//! How a model is trained: all hyperparameters in one place.

use crate::augment;
use crate::error::TrainError;
use crate::hook::{Adversarial, Noise};
use crate::optimiser::{self, DEFAULT_OPTIMISER, Descent, Settings};
use crate::task::Task;
use faultlens_vision::{Channels, ElementType, InputDescription};
use serde::{Deserialize, Serialize};

/// The maximum number of epochs: a larger one is likely a typo, and steps would overflow.
const MAX_EPOCHS: usize = 100_000;

/// How the learning rate goes over the epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// Always the same.
    Constant,
    /// Down to zero along half a cosine.
    Cosine,
    /// A tenth after half of the epochs, a hundredth after three quarters.
    Step,
}

impl Schedule {
    /// The name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Cosine => "cosine",
            Self::Step => "step",
        }
    }

    /// The factor on the learning rate when `done` (0 to 1) of all steps are behind.
    pub fn factor(self, done: f64) -> f64 {
        match self {
            Self::Constant => 1.0,
            Self::Cosine => 0.5 * (1.0 + libm::cos(std::f64::consts::PI * done)),
            Self::Step if done < 0.5 => 1.0,
            Self::Step if done < 0.75 => 0.1,
            Self::Step => 0.01,
        }
    }
}

fn default_optimiser() -> String {
    DEFAULT_OPTIMISER.to_owned()
}

/// How a model is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// What it learns to answer.
    pub task: Task,
    /// Passes over the whole data set.
    pub epochs: usize,
    /// Images per step.
    pub batch: usize,
    /// The name of the optimiser.
    #[serde(default = "default_optimiser")]
    pub optimiser: String,
    /// The learning rate after the warm-up.
    pub learning_rate: f64,
    /// Momentum: the part of the last step that goes into the next.
    pub momentum: f64,
    /// Weight decay; biases and the parameters of normalisations have none.
    pub weight_decay: f64,
    /// How the learning rate goes over the epochs.
    pub schedule: Schedule,
    /// The fraction of all steps over which the learning rate rises from zero.
    pub warm_up: f64,
    /// Gradient clipping: the largest norm over all weights.
    pub clip: Option<f64>,
    /// The seed of initial weights, order of images, augmentation and dropout.
    pub seed: u64,
    /// The names of augmentations, applied in this order.
    pub augment: Vec<String>,
    /// Noise on the input; absent in recipes of versions that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Noise>,
    /// Adversarial training; absent in recipes of versions that had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adversarial: Option<Adversarial>,
    /// How images are fed.
    pub input: InputDescription,
}

impl Recipe {
    /// The gradient descent of this recipe.
    pub fn descent(&self) -> Result<Descent, TrainError> {
        Ok(Descent::new(optimiser::optimiser(&self.optimiser)?, self.settings(), self.clip))
    }

    /// A recipe that works for most small tasks.
    pub fn new(task: Task, input: InputDescription) -> Self {
        Self {
            task,
            epochs: 10,
            batch: 32,
            optimiser: default_optimiser(),
            learning_rate: 0.05,
            momentum: 0.9,
            weight_decay: 5e-4,
            schedule: Schedule::Cosine,
            warm_up: 0.05,
            clip: Some(10.0),
            seed: 1,
            augment: Vec::new(),
            noise: None,
            adversarial: None,
            input,
        }
    }

    /// How images of a size are fed by default: pixels lie around zero, which the initial weights
    /// expect.
    pub fn default_input(size: [usize; 2], channels: Channels) -> InputDescription {
        let mut input = InputDescription::plain(size, channels, ElementType::F32);
        input.mean.fill(0.5);
        input.std.fill(0.25);
        input
    }

    /// The same with another optimiser and the settings that suit it.
    pub fn with_optimiser(self, name: &str) -> Result<Self, TrainError> {
        let Settings { learning_rate, momentum, weight_decay } =
            optimiser::optimiser(name)?.usual();
        Ok(Self { optimiser: name.to_owned(), learning_rate, momentum, weight_decay, ..self })
    }

    pub(crate) fn settings(&self) -> Settings {
        let Self { learning_rate, momentum, weight_decay, .. } = *self;
        Settings { learning_rate, momentum, weight_decay }
    }

    /// Says what is wrong before any image is read.
    pub fn check(&self) -> Result<(), TrainError> {
        let positive = |what, x: f64| (what, x, x.is_finite() && x > 0.0, "it must be above zero");
        let share =
            |what, x: f64| (what, x, (0.0..1.0).contains(&x), "it must lie from 0 up to below 1");
        let epochs = self.epochs as f64;
        let few = self.epochs <= MAX_EPOCHS;
        let checks = [
            positive("the number of epochs", epochs),
            ("the number of epochs", epochs, few, "at most 100000 are possible"),
            positive("the batch", self.batch as f64),
            positive("the learning rate", self.learning_rate),
            positive("the clip", self.clip.unwrap_or(1.0)),
            share("the momentum", self.momentum),
            share("the weight decay", self.weight_decay),
            share("the warm-up", self.warm_up),
        ];
        if let Some((what, given, _, why)) = checks.into_iter().find(|(_, _, fits, _)| !fits) {
            return Err(TrainError::Recipe { what, given: given.to_string(), why: why.into() });
        }
        optimiser::optimiser(&self.optimiser)?;
        augment::named(&self.augment)?;
        self.noise.map_or(Ok(()), |noise| noise.check())?;
        self.adversarial.map_or(Ok(()), |adversarial| adversarial.check(self.task))?;
        self.check_augmented_task()
    }

    /// Augmentations move pixels only: what a case says about places would be wrong afterwards.
    fn check_augmented_task(&self) -> Result<(), TrainError> {
        if self.augment.is_empty() || self.task.is_augmented() {
            return Ok(());
        }
        let task = self.task.name();
        Err(TrainError::Recipe {
            what: "the augmentation",
            given: self.augment.join(","),
            why: format!(
                "it moves pixels, but not the objects, segments and values that the task {task} \
                 learns; leave it out, it is for the tasks classify and reconstruct"
            ),
        })
    }

    /// The learning rate of a step, of `steps` in all.
    pub(crate) fn rate(&self, step: usize, steps: usize) -> f64 {
        let done = step as f64 / steps.max(1) as f64;
        let rise = if done < self.warm_up { (done / self.warm_up).max(0.01) } else { 1.0 };
        self.learning_rate * rise * self.schedule.factor(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_vision::{Channels, ElementType};

    #[test]
    fn schedules_fall() {
        for (schedule, done, factor) in [
            (Schedule::Constant, 0.9, 1.0),
            (Schedule::Cosine, 0.0, 1.0),
            (Schedule::Cosine, 0.5, 0.5),
            (Schedule::Cosine, 1.0, 0.0),
            (Schedule::Step, 0.49, 1.0),
            (Schedule::Step, 0.5, 0.1),
            (Schedule::Step, 0.9, 0.01),
        ] {
            assert!((schedule.factor(done) - factor).abs() < 1e-12, "{schedule:?} {done}");
        }
    }

    fn recipe(task: Task) -> Recipe {
        let input = InputDescription::plain([8, 8], Channels::Rgb, ElementType::F32);
        Recipe::new(task, input)
    }

    #[test]
    fn the_rate_rises_and_then_follows_the_schedule() {
        let schedule = Schedule::Constant;
        let rising =
            Recipe { learning_rate: 0.4, warm_up: 0.1, schedule, ..recipe(Task::Classify) };
        // The first step is not lost: a hundredth of the rate.
        for (step, rate) in [(0, 0.004), (5, 0.2), (9, 0.36), (10, 0.4), (99, 0.4)] {
            assert!((rising.rate(step, 100) - rate).abs() < 1e-12, "{step}");
        }
        let schedule = Schedule::Step;
        let at_once = Recipe { warm_up: 0.0, schedule, ..rising };
        for (step, rate) in [(0, 0.4), (49, 0.4), (50, 0.04), (75, 0.004)] {
            assert!((at_once.rate(step, 100) - rate).abs() < 1e-12, "{step}");
        }
    }

    #[test]
    fn an_optimiser_brings_its_settings_and_old_recipes_mean_sgd() {
        let plain = recipe(Task::Classify);
        assert_eq!(plain.clone().with_optimiser("sgd").unwrap(), plain);
        let adam = plain.clone().with_optimiser("adam").unwrap();
        assert_eq!((adam.optimiser.as_str(), adam.learning_rate), ("adam", 0.001));
        let mut written = serde_json::to_value(&plain).unwrap();
        assert_eq!(written.as_object_mut().unwrap().remove("optimiser"), Some("sgd".into()));
        assert_eq!(serde_json::from_value::<Recipe>(written).unwrap(), plain);
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let plain = recipe(Task::Classify);
        let augment = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let moved = |task| Recipe { augment: augment(&["flip", "shift"]), ..recipe(task) };
        let cases = [
            (plain.clone(), None),
            (moved(Task::Classify), None),
            (moved(Task::Reconstruct), None),
            (Recipe { optimiser: "adam".into(), ..plain.clone() }, None),
            (Recipe { optimiser: "sgdm".into(), ..plain.clone() }, Some("did you mean sgd?")),
            (moved(Task::Segment), Some("flip,shift: it moves pixels, but not the objects")),
            (moved(Task::Regress), Some("the task regress learns")),
            (moved(Task::Detect), Some("the task detect learns")),
            (Recipe { augment: augment(&["fli"]), ..plain.clone() }, Some("did you mean flip?")),
            (Recipe { augment: augment(&["rain"]), ..plain.clone() }, Some("flip, shift")),
            (Recipe { momentum: 1.0, ..plain.clone() }, Some("from 0 up to below 1")),
            (Recipe { epochs: 100_001, ..plain.clone() }, Some("at most 100000")),
            (Recipe { epochs: 0, ..plain.clone() }, Some("above zero")),
            (Recipe { learning_rate: f64::NAN, ..plain }, Some("cannot be NaN")),
        ];
        for (recipe, wanted) in cases {
            match (recipe.check().map_err(|error| error.to_string()), wanted) {
                (Ok(()), None) => {}
                (Err(error), Some(wanted)) => assert!(error.contains(wanted), "{error}"),
                (found, wanted) => panic!("{found:?} instead of {wanted:?}"),
            }
        }
    }
}
