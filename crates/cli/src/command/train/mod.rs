//! `faultlens train`: a network learns from a data set.

mod bar;
mod card;
mod output;
mod source;

use std::ops::ControlFlow;

use crate::exit;
use anyhow::{Context, anyhow, ensure};
use faultlens::data::DataSet;
use faultlens::engine::Model;
use faultlens::engine::onnx::ModelProto;
use faultlens::train::architecture::{ARCHITECTURES, find};
use faultlens::train::{
    Adversarial, Card, Noise, Recipe, Schedule, Task, Trained, check_measurable, described,
    first_model, score, train,
};
use faultlens::vision::Channels;

use crate::args::{ScheduleName, TaskName, TrainArgs};
use crate::command::threads;
use crate::console::Console;
use crate::text::{self, Align};
use bar::Bar;
use card::Training;
use output::Output;
use source::Sources;

/// Trains, writes the model, measures it, and writes its card.
pub(crate) fn run(args: &TrainArgs, console: &mut Console) -> anyhow::Result<u8> {
    let (Some(order), Some(data), Some(output), false) =
        (&args.architecture, &args.data, &args.output, args.list)
    else {
        return list(console);
    };
    let usual = find(order)?
        .task
        .ok_or_else(|| anyhow!("this architecture cannot be trained alone: {order}"))?;
    let task = args.task.map_or(usual, Task::from);
    let output = Output::new(output)?;
    let sources = Sources::open(args, data, task, console)?;
    let recipe = recipe(args, task, &sources.train)?;
    let model = first_model(order, &recipe, &sources.train)?;
    check_measurable(&recipe, &Model::from_proto(&model)?, &sources.test)
        .with_context(|| format!("{order} cannot be evaluated on {}", sources.measured_on))?;
    output.announce(console);
    let cases = sources.train.len();
    let held_out = sources.test.len();
    console.aside(format_args!("{cases} cases to train on, {held_out} to evaluate on"));
    let threads = threads(args.threads);
    let trained = learn(&recipe, &model, &sources.train, threads, console)?;
    let recipe = &recipe;
    let sources = &sources;
    let trained = &trained;
    let output = &output;
    let card = finish(&Training { args, order, data, output, recipe, sources, trained }, threads)?;
    if args.json {
        console.json(&card)?
    } else {
        show(console, &card, output)?
    }
    Ok(exit::OK)
}

/// Writes the model, measures it, and writes its card, in this order: what was learned is safe
/// before an image that cannot be read stops the measuring.
fn finish(training: &Training<'_>, threads: usize) -> anyhow::Result<Card> {
    let Training { recipe, sources, output, .. } = *training;
    let proto = described(&training.trained.model, recipe, &sources.train.classes)?;
    output.write_model(&proto)?;
    let model = Model::from_proto(&proto)?.with_threads(threads)?;
    let score = score(recipe, &model, &sources.test).with_context(|| {
        format!("{} is written, but cannot be evaluated", output.model.display())
    })?;
    let card = training.card(score);
    output.write_card(&card)?;
    Ok(card)
}

impl From<TaskName> for Task {
    fn from(name: TaskName) -> Self {
        match name {
            TaskName::Classify => Self::Classify,
            TaskName::Segment => Self::Segment,
            TaskName::Regress => Self::Regress,
            TaskName::Detect => Self::Detect,
            TaskName::Reconstruct => Self::Reconstruct,
        }
    }
}

fn recipe(args: &TrainArgs, task: Task, data: &DataSet) -> anyhow::Result<Recipe> {
    let first = data.case(0)?.image;
    let height = first.height();
    let width = first.width();
    let size = args.size.unwrap_or([height, width]);
    ensure!(
        task != Task::Segment || size == [height, width],
        "segments are as large as the images ({height}x{width}), so --size cannot be used; scale \
         the data set before"
    );
    let channels = if args.grey { Channels::Grey } else { Channels::Rgb };
    let input = Recipe::default_input(size, channels);
    let usual = Recipe::new(task, input).with_optimiser(&args.optimiser)?;
    let recipe = Recipe {
        epochs: args.epochs,
        batch: args.batch,
        learning_rate: args.rate.unwrap_or(usual.learning_rate),
        momentum: args.momentum.unwrap_or(usual.momentum),
        weight_decay: args.decay.unwrap_or(usual.weight_decay),
        schedule: match args.schedule {
            ScheduleName::Constant => Schedule::Constant,
            ScheduleName::Cosine => Schedule::Cosine,
            ScheduleName::Step => Schedule::Step,
        },
        seed: args.seed,
        augment: args.augment.clone(),
        noise: args.noise.map(|sigma| Noise { sigma, share: args.noise_share }),
        adversarial: args.adversarial.map(|epsilon| Adversarial {
            epsilon,
            steps: args.adversarial_steps,
            share: args.adversarial_share,
        }),
        ..usual
    };
    recipe.check()?;
    Ok(recipe)
}

fn learn(
    recipe: &Recipe,
    model: &ModelProto,
    data: &DataSet,
    threads: usize,
    console: &mut Console,
) -> anyhow::Result<Trained> {
    let mut bar = Bar::new();
    let progress = &mut |progress| {
        bar.show(console, &progress);
        ControlFlow::Continue(())
    };
    let trained = train(recipe, model, data, threads, progress)?;
    let losses = (trained.epochs.first(), trained.epochs.last());
    if let (Some(first), Some(last)) = losses
        && (last.loss > first.loss || last.loss > HUGE)
    {
        console.aside("warning: the loss did not converge; try a lower --rate");
    }
    Ok(trained)
}

/// A loss that no task ends with.
const HUGE: f64 = 1e3;

fn show(console: &mut Console, card: &Card, output: &Output) -> anyhow::Result<()> {
    for score in &card.scores {
        let metric = &score.metric;
        let value = score.value;
        let n = score.n;
        let between = score.interval.map(|[low, high]| format!(" [{low:.4}, {high:.4}]"));
        let between = between.unwrap_or_default();
        console.line(format_args!("{metric:<22}{value:.4}{between} on {n} images"))?;
    }
    console.line(format_args!("{:<22}{}", "measured on", card.measured_on))?;
    console.line(format_args!("{:<22}{}", "parameters", card.parameters))?;
    let cost = &card.cost;
    console.line(format_args!(
        "{:<22}{:.2} ms of wall time, {:.2} ms of processor time, on {} threads",
        "training per sample", cost.wall_ms_per_sample, cost.cpu_ms_per_sample, cost.threads
    ))?;
    console.line(format_args!("{:<22}{}", "model", output.model.display()))?;
    console.line(format_args!("{:<22}{}", "card", output.card.display()))?;
    Ok(())
}

fn list(console: &mut Console) -> anyhow::Result<u8> {
    let rows: Vec<[String; 2]> =
        ARCHITECTURES.iter().map(|a| [a.example(), a.about.to_owned()]).collect();
    for line in text::table([Align::Left, Align::Left], &rows) {
        console.line(line)?;
    }
    Ok(exit::OK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;
    use faultlens::vision::{INPUT_KEY, LABELS_KEY, OUTPUT_KEY};
    use faultlens::{Case, Image};

    /// The recipe of a command with these options, for four pictures without classes.
    fn asked(options: &str) -> (Recipe, DataSet) {
        let line = format!("faultlens train autoencoder:2,3 --data set -o m.onnx {options}");
        let Command::Train(args) = Args::try_parse_from(line.split_whitespace()).unwrap().command
        else {
            panic!("another command")
        };
        let image = Image::from_rgb(8, 8, vec![90; 192]).unwrap();
        let cases: Vec<Case> = (0..4).map(|at| Case::new(at.to_string(), image.clone())).collect();
        let data = DataSet::new(Vec::new(), cases);
        (recipe(&args, Task::Reconstruct, &data).unwrap(), data)
    }

    #[test]
    fn an_optimiser_has_settings_of_its_own_unless_they_are_given() {
        for (options, name, numbers) in [
            ("", "sgd", [0.05, 0.9, 5e-4]),
            ("--optimiser adam", "adam", [0.001, 0.9, 0.0]),
            ("--optimiser rmsprop", "rmsprop", [0.001, 0.0, 0.0]),
            (
                "--optimiser rmsprop --rate 0.1 --momentum 0.2 --decay 0.3",
                "rmsprop",
                [0.1, 0.2, 0.3],
            ),
        ] {
            let (found, _) = asked(options);
            assert_eq!(found.optimiser, name);
            assert_eq!(
                [found.learning_rate, found.momentum, found.weight_decay],
                numbers,
                "{name}"
            );
        }
        let line = "faultlens train lenet --data set -o m.onnx --optimiser adams";
        let error = Args::try_parse_from(line.split_whitespace()).unwrap_err().to_string();
        assert!(error.contains("adam, rmsprop, sgd"), "{error}");
    }

    #[test]
    fn a_reconstructing_model_says_that_it_answers_pictures() {
        let (recipe, data) = asked("--grey");
        let model = first_model("autoencoder:2,3", &recipe, &data).unwrap();
        assert_eq!(model.graph.as_ref().unwrap().output[0].name, "picture");
        let described = described(&model, &recipe, &data.classes).unwrap();
        let metadata = |key: &str| {
            let entry = described.metadata_props.iter().find(|entry| entry.key == key);
            entry.map(|entry| entry.value.as_str())
        };
        assert!(metadata(OUTPUT_KEY).is_some_and(|text| text.starts_with(r#"{"kind":"picture""#)));
        assert!(metadata(INPUT_KEY).is_some() && metadata(LABELS_KEY).is_none());
    }
}
