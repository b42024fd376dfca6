//! The model card, and the command in it that trains the model again.

use std::borrow::Cow;

use faultlens::train::{Card, Recipe, Score, Task, Trained};

use super::output::Output;
use super::source::Sources;
use crate::args::TrainArgs;

/// A finished training: the request and its result.
pub(super) struct Training<'a> {
    pub(super) args: &'a TrainArgs,
    pub(super) order: &'a str,
    pub(super) data: &'a str,
    pub(super) output: &'a Output,
    pub(super) recipe: &'a Recipe,
    pub(super) sources: &'a Sources,
    pub(super) trained: &'a Trained,
}

impl Training<'_> {
    pub(super) fn card(&self, score: Score) -> Card {
        let Self { order, data, recipe, sources, trained, .. } = *self;
        let mut classes = Vec::new();
        if recipe.task.has_classes() {
            classes.clone_from(&sources.train.classes);
        }
        Card {
            name: self.output.name(),
            architecture: order.to_owned(),
            parameters: trained.parameters,
            data: data.to_owned(),
            classes,
            recipe: recipe.clone(),
            measured_on: sources.measured_on.clone(),
            scores: vec![score],
            cost: trained.cost,
            epochs: trained.epochs.clone(),
            command: self.command(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The command that trains the model again, as a shell reads it.
    fn command(&self) -> String {
        let Self { args, order, data, recipe, .. } = *self;
        let mut words: Vec<String> = ["faultlens", "train", order].map(str::to_owned).to_vec();
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        option("--data", Some(data.to_owned()));
        option("--test", args.test.clone());
        option("--task", args.task.map(|task| Task::from(task).name().to_owned()));
        option("--epochs", Some(args.epochs.to_string()));
        option("--batch", Some(args.batch.to_string()));
        option("--optimiser", Some(recipe.optimiser.clone()));
        option("--rate", Some(recipe.learning_rate.to_string()));
        option("--momentum", Some(recipe.momentum.to_string()));
        option("--decay", Some(recipe.weight_decay.to_string()));
        option("--schedule", Some(recipe.schedule.name().to_owned()));
        option("--augment", (!args.augment.is_empty()).then(|| args.augment.join(",")));
        if let Some(noise) = recipe.noise {
            option("--noise", Some(noise.sigma.to_string()));
            option("--noise-share", Some(noise.share.to_string()));
        }
        if let Some(adversarial) = recipe.adversarial {
            option("--adversarial", Some(adversarial.epsilon.to_string()));
            option("--adversarial-steps", Some(adversarial.steps.to_string()));
            option("--adversarial-share", Some(adversarial.share.to_string()));
        }
        option("--size", args.size.map(|[height, width]| format!("{height}x{width}")));
        option("--label-column", args.label_column.clone());
        option("--cases", args.cases.map(|n| n.to_string()));
        option("--seed", Some(args.seed.to_string()));
        option("-o", Some(self.output.file_name()));
        words.extend(args.grey.then(|| "--grey".to_owned()));
        words.extend(args.skip_unreadable.then(|| "--skip-unreadable".to_owned()));
        let words: Vec<Cow<'_, str>> = words.iter().map(|word| quoted(word)).collect();
        words.join(" ")
    }
}

/// A word as a shell reads it back: in quotes where it holds what shells treat in their own way.
fn quoted(word: &str) -> Cow<'_, str> {
    if !word.is_empty()
        && word.chars().all(|c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c))
    {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_read_back_what_was_given() {
        for (word, wanted) in [
            ("convnet:16,32x2", "convnet:16,32x2"),
            ("my data/set", "'my data/set'"),
            ("a$(b)", "'a$(b)'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("*.png", "'*.png'"),
        ] {
            assert_eq!(quoted(word), wanted);
        }
    }
}
