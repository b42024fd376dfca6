//! Training from end to end, on small sets that are drawn on the spot.

use faultlens_core::{Case, DType, Image, Seed, Tensor};
use faultlens_data::DataSet;
use faultlens_engine::onnx::{self, ModelBuilder, ModelProto};
use faultlens_engine::{EngineError, Learner, Loss, Model};
use faultlens_train::architecture::{ARCHITECTURES, Spec, build};
use faultlens_train::{
    Adversarial, Noise, Progress, Recipe, Task, TrainError, Trained, score, train, train_with,
};
use faultlens_vision::{Channels, ElementType, InputDescription};
use std::ops::ControlFlow;

/// Nobody stops the training.
fn on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Noisy squares of three colours.
fn colours(n: usize, side: usize) -> DataSet {
    let case = |at: usize| {
        let mut stream = Seed::new(4).at(at as u64).stream();
        let class = at % 3;
        let image = Image::from_rgb(
            side,
            side,
            (0..side * side * 3)
                .map(|i: usize| {
                    let base = if i % 3 == class { 150.0 } else { 90.0 };
                    (base + 30.0 * stream.gaussian()).clamp(0.0, 255.0) as u8
                })
                .collect(),
        )
        .unwrap();
        Case { label: Some(class), ..Case::new(format!("square {at}"), image) }
    };
    let cases: Vec<Case> = (0..n).map(case).collect();
    DataSet::new(["red", "green", "blue"].map(str::to_owned).to_vec(), cases)
}

fn recipe(side: usize) -> Recipe {
    let input = InputDescription::plain([side, side], Channels::Rgb, ElementType::F32);
    Recipe { epochs: 3, batch: 8, ..Recipe::new(Task::Classify, input) }
}

fn network(order: &str, side: usize) -> ModelProto {
    build(order, &Spec::new([3, side, side], 3), Seed::new(1)).unwrap()
}

fn run(
    recipe: &Recipe,
    order: &str,
    data: &DataSet,
    threads: usize,
) -> Result<Trained, TrainError> {
    train(recipe, &network(order, recipe.input.size[0]), data, threads, &mut on)
}

#[test]
fn a_network_learns_three_colours() {
    let data = colours(96, 12);
    let recipe = recipe(12);
    let mut seen = Vec::new();
    let model = network("convnet:8,16", 12);
    let trained = train(&recipe, &model, &data, 1, &mut |p| {
        seen.push((p.epoch, p.step));
        ControlFlow::Continue(())
    })
    .unwrap();
    let losses: Vec<f64> = trained.epochs.iter().map(|e| e.loss).collect();
    assert!(losses[2] < 0.5 * losses[0], "{losses:?}");
    assert_eq!((seen.len(), seen[0], seen[35]), (36, (1, 1), (3, 12)));
    let model = Model::from_proto(&trained.model).unwrap();
    let score = score(&recipe, &model, &colours(60, 12)).unwrap();
    assert_eq!((score.metric.as_str(), score.n), ("accuracy", 60));
    assert!(score.value >= 0.95, "{score:?}");
    let [low, high] = score.interval.unwrap();
    assert!(low < score.value && score.value <= high && high - low > 0.01, "{score:?}");
    assert!(trained.cost.cpu_ms_per_sample > 0.0 && trained.cost.wall_ms_per_sample > 0.0);
}

#[test]
fn who_looks_on_between_epochs_changes_nothing() {
    let data = colours(20, 12);
    let recipe = recipe(12);
    let model = network("convnet:4", 12);
    let alone = train(&recipe, &model, &data, 1, &mut on).unwrap();
    let mut seen = Vec::new();
    let watched = train_with(&recipe, &model, &data, 1, &mut on, &mut |rest| {
        seen.push((rest.epoch, rest.steps, rest.came_to, onnx::encode(&rest.model())));
        Ok(())
    })
    .unwrap();
    assert_eq!(onnx::encode(&alone.model), onnx::encode(&watched.model));
    let places: Vec<(usize, usize)> = seen.iter().map(|one| (one.0, one.1)).collect();
    assert_eq!(places, [(1, 3), (2, 6), (3, 9)]);
    let epochs: Vec<_> = seen.iter().map(|one| one.2).collect();
    assert_eq!(epochs, watched.epochs);
    assert_ne!(seen[0].3, seen[1].3);
    assert_eq!(seen[2].3, onnx::encode(&watched.model));
    let refused = |_: &faultlens_train::Rest<'_>| Err(TrainError::Empty);
    let stopped = train_with(&recipe, &model, &data, 1, &mut on, &mut { refused });
    assert!(matches!(stopped, Err(TrainError::Empty)));
}

#[test]
fn reconstruction_descends_along_the_squared_distance() {
    // One weight w, by which every pixel p is multiplied: the loss is (w - 1)² · mean of p².
    let mut builder = ModelBuilder::new("dimmer");
    let shape = ["N".into(), 1.into(), 2.into(), 2.into()];
    builder.input("image", DType::F32, &shape);
    builder.initializer("w", Tensor::new(vec![1, 1, 1, 1], vec![0.5f32]).unwrap());
    builder.node("Conv", &["image", "w"], &["picture"]);
    builder.output("picture", DType::F32, &shape);
    let grey = |pixels: [u8; 4]| {
        let rgb = pixels.iter().flat_map(|&p| [p; 3]).collect();
        Case::new("grey", Image::from_rgb(2, 2, rgb).unwrap())
    };
    let data = DataSet::new(Vec::new(), vec![grey([0, 51, 102, 153]), grey([204, 255, 255, 0])]);
    let square = (0.04 + 0.16 + 0.36 + 0.64 + 2.0) / 8.0;
    let input = InputDescription::plain([2, 2], Channels::Grey, ElementType::F32);
    let recipe = Recipe {
        epochs: 1,
        learning_rate: 0.1,
        weight_decay: 0.0,
        warm_up: 0.0,
        ..Recipe::new(Task::Reconstruct, input)
    };
    let trained = train(&recipe, &builder.build(), &data, 1, &mut on).unwrap();
    assert!((trained.epochs[0].loss - 0.25 * square).abs() < 1e-6, "{:?}", trained.epochs);
    let stored = &trained.model.graph.unwrap().initializer[0];
    let found = onnx::tensor(stored).unwrap().as_f32().unwrap()[0];
    let wanted = 0.5 - 0.1 * 2.0 * (0.5 - 1.0) * square;
    assert!((f64::from(found) - wanted).abs() < 1e-6, "{found} instead of {wanted}");
}

#[test]
fn an_autoencoder_learns_to_say_what_it_sees() {
    let input = InputDescription::plain([12, 12], Channels::Rgb, ElementType::F32);
    let recipe = Recipe { epochs: 15, batch: 8, ..Recipe::new(Task::Reconstruct, input) };
    let recipe = recipe.with_optimiser("adam").unwrap();
    let recipe = Recipe { learning_rate: 0.01, augment: vec!["shift".to_owned()], ..recipe };
    // Cases need no class.
    let bare = |n: usize| {
        let cases = (0..n).map(|at| Case { label: None, ..colours(n, 12).case(at).unwrap() });
        DataSet::new(Vec::new(), cases.collect::<Vec<_>>())
    };
    let first = network("autoencoder:8,8", 12);
    let psnr = |model: &ModelProto| {
        let found = score(&recipe, &Model::from_proto(model).unwrap(), &bare(24)).unwrap();
        assert_eq!((found.metric.as_str(), found.interval, found.n), ("psnr", None, 24));
        found.value
    };
    let trained = train(&recipe, &first, &bare(96), 1, &mut on).unwrap();
    let twice = train(&recipe, &first, &bare(96), 2, &mut on).unwrap();
    assert_eq!(onnx::encode(&trained.model), onnx::encode(&twice.model));
    // The noise has a deviation of 30 of 255, which leaves 18.6 dB to who sees the colour; the
    // best answer to a picture that is not looked at has 15.8 dB.
    let before = psnr(&first);
    let after = psnr(&trained.model);
    assert!(before < 15.8 && after > 17.4, "{before} {after}");
}

#[test]
fn the_same_seed_gives_the_same_bits_on_any_threads() {
    let data = colours(20, 16);
    let mut recipe = recipe(16);
    recipe.epochs = 2;
    recipe.augment = vec!["flip".to_owned(), "shift".to_owned()];
    // Depthwise and plain convolutions, batch norms and a dropout.
    let bytes = |seed: u64, threads: usize| {
        let recipe = Recipe { seed, ..recipe.clone() };
        let trained = run(&recipe, "mobilenet_v2:0.2,0.3", &data, threads).unwrap();
        onnx::encode(&trained.model)
    };
    let first = bytes(1, 1);
    assert_eq!(first, bytes(1, 1));
    assert_eq!(first, bytes(1, 2));
    assert_ne!(first, bytes(2, 1));
}

#[test]
fn a_loss_that_is_no_number_stops_the_training() {
    let recipe = Recipe { learning_rate: 1e30, clip: None, warm_up: 0.0, ..recipe(12) };
    let error = run(&recipe, "mlp:16", &colours(96, 12), 1).unwrap_err();
    assert!(matches!(error, TrainError::NotFinite { epoch: 1, .. }), "{error}");
    assert!(error.to_string().contains("lower the learning rate"), "{error}");
}

#[test]
fn cases_that_teach_nothing_are_named() {
    let data = colours(9, 12);
    let mut cases: Vec<Case> = (0..9).map(|at| data.case(at).unwrap()).collect();
    cases[4].label = None;
    let error = run(&recipe(12), "mlp:4", &DataSet::new(data.classes.clone(), cases.clone()), 1);
    assert!(error.unwrap_err().to_string().contains("square 4 has no class"));
    cases[4].label = Some(7);
    let error = run(&recipe(12), "mlp:4", &DataSet::new(data.classes.clone(), cases), 1);
    assert!(error.unwrap_err().to_string().contains("class 7, where the model knows 3"));
}

#[test]
fn a_set_without_cases_or_objects_stops_at_once() {
    let nothing = DataSet::new(vec![], Vec::new());
    let error = run(&recipe(12), "mlp:4", &nothing, 1).unwrap_err();
    assert!(matches!(error, TrainError::Empty), "{error}");
    let detect = Recipe { task: Task::Detect, ..recipe(16) };
    let error = run(&detect, "detector:8,8,16", &colours(9, 16), 1).unwrap_err();
    assert!(error.to_string().contains("no case has objects"), "{error}");
}

#[test]
fn numbers_of_a_recipe_are_checked() {
    let plain = recipe(12);
    let wrong = [
        Recipe { learning_rate: -1.0, ..plain.clone() },
        Recipe { momentum: 1.5, ..plain.clone() },
        Recipe { batch: 0, ..plain.clone() },
        Recipe { augment: vec!["flop".to_owned()], ..plain.clone() },
    ];
    for recipe in wrong {
        let error = run(&recipe, "mlp:4", &colours(9, 12), 1).unwrap_err();
        assert!(matches!(error, TrainError::Recipe { .. }), "{error}");
    }
}

/// Runs a batch through a network and back, with ones as gradients of all its outputs.
fn one_step(model: &ModelProto, shape: Vec<usize>) -> (Learner, usize) {
    let mut learner = Learner::new(model, 1).unwrap();
    let graph = model.graph.as_ref().unwrap();
    let input = graph.input[0].name.clone();
    let output = graph.output[0].name.clone();
    let mut stream = Seed::new(8).stream();
    let values: Vec<f32> = (0..shape.iter().product()).map(|_| stream.gaussian() as f32).collect();
    let feeds = [(input.as_str(), Tensor::new(shape, values).unwrap())];
    learner
        .step(&feeds, 1, |answers| {
            let answer = answers.value(&output)?;
            let weights = (0..answer.len()).map(|i| 1.0 + (i % 3) as f32).collect::<Vec<f32>>();
            let seed = Tensor::new(answer.shape().to_vec(), weights).unwrap();
            Ok::<Loss, EngineError>(Loss { value: 0.0, gradients: vec![(output.clone(), seed)] })
        })
        .unwrap();
    let mut changed = 0;
    learner.update(|_, weights, gradient| {
        assert!(gradient.iter().all(|g| g.is_finite()));
        changed += weights.len();
        weights.iter_mut().zip(gradient).for_each(|(w, g)| *w -= 1e-3 * g);
    });
    (learner, changed)
}

#[test]
fn every_architecture_hands_gradients_to_all_its_weights() {
    for architecture in ARCHITECTURES {
        // Narrow versions where a width can be given; PilotNet and AlexNet have a least size.
        let (order, side) = match architecture.name {
            "autoencoder" => ("autoencoder:4,8".to_owned(), 16),
            "pilotnet" => ("pilotnet:0.25".to_owned(), 64),
            "dcgan" => ("dcgan:8".to_owned(), 16),
            "unet" => ("unet:4,2".to_owned(), 16),
            "detector" => ("detector:8,8,16".to_owned(), 16),
            "convnet" | "highway" | "mlp" => (format!("{}:8,8", architecture.name), 16),
            "gru" | "lstm" => (format!("{}:16", architecture.name), 16),
            "lenet" => ("lenet".to_owned(), 16),
            name => (format!("{name}:0.125"), 32),
        };
        let spec = Spec::new([3, side, side], 3);
        let model = build(&order, &spec, Seed::new(3)).unwrap();
        let shape = if architecture.name == "dcgan" { vec![2, 3] } else { vec![2, 3, side, side] };
        let (learner, changed) = one_step(&model, shape);
        // The detector's boxes do not depend on what its scores do.
        if architecture.name != "detector" {
            assert_eq!(changed, learner.parameters(), "{order}");
        }
        let saved = learner.to_proto();
        assert_ne!(onnx::encode(&saved), onnx::encode(&model), "{order}");
        Model::from_proto(&saved).unwrap();
    }
}

/// The share of cases whose class is found after a step of `epsilon` along the sign of the
/// gradient, which is taken from differences of the model's own answers: no code of the training.
fn robust_accuracy(model: &ModelProto, recipe: &Recipe, data: &DataSet, epsilon: f32) -> f64 {
    let model = Model::from_proto(model).unwrap();
    let classes = data.classes.len();
    let margin = |points: &[f32], label: usize| -> Vec<f32> {
        let count = points.len() / (3 * 36);
        let fed = Tensor::new(vec![count, 3, 6, 6], points.to_vec()).unwrap();
        let logits = model.run(&[("image", fed)]).unwrap();
        let rows = logits[0].as_f32().unwrap().chunks(classes);
        let other = |row: &[f32]| {
            let others = (0..classes).filter(|&c| c != label).map(|c| row[c]);
            others.fold(f32::NEG_INFINITY, f32::max)
        };
        rows.map(|row| row[label] - other(row)).collect()
    };
    let stands = |at: &usize| {
        let case = data.case(*at).unwrap();
        let label = case.label.unwrap();
        let fed = recipe.input.tensor(&[case.image]).unwrap();
        let start = fed.as_f32().unwrap();
        let nudged: Vec<f32> = (0..start.len())
            .flat_map(|moved| {
                start
                    .iter()
                    .enumerate()
                    .map(|(i, &x): (usize, &f32)| if i == moved { x + 1e-2 } else { x })
                    .collect::<Vec<_>>()
            })
            .collect();
        let here = margin(start, label)[0];
        let slopes = margin(&nudged, label).into_iter().map(|there| there - here);
        let attacked: Vec<f32> = start
            .iter()
            .zip(slopes)
            .map(|(x, slope): (&f32, f32)| (x - epsilon * slope.signum()).clamp(0.0, 1.0))
            .collect();
        margin(&attacked, label)[0] > 0.0
    };
    (0..data.len()).filter(stands).count() as f64 / data.len() as f64
}

#[test]
fn adversarial_training_withstands_more() {
    let data = colours(120, 6);
    let unseen = colours(180, 6);
    let plain = Recipe { epochs: 12, ..recipe(6) };
    let epsilon = 0.08;
    let hardened = Recipe {
        adversarial: Some(Adversarial { epsilon, steps: 3, share: 1.0 }),
        ..plain.clone()
    };
    let accuracy = |recipe: &Recipe| {
        let trained = run(recipe, "mlp:32x1", &data, 1).unwrap();
        robust_accuracy(&trained.model, recipe, &unseen, epsilon as f32)
    };
    let soft = accuracy(&plain);
    let hard = accuracy(&hardened);
    assert!(hard > soft + 0.05, "{soft} without, {hard} with adversarial training");
}

#[test]
fn hooks_give_the_same_weights_on_any_number_of_threads_and_others_than_without() {
    let data = colours(40, 12);
    let plain = Recipe { epochs: 2, ..recipe(12) };
    let noisy = Recipe { noise: Some(Noise::on_half(0.1)), ..plain.clone() };
    let attacked = Recipe { adversarial: Some(Adversarial::on_half(0.05)), ..plain.clone() };
    let both = Recipe { noise: noisy.noise, ..attacked.clone() };
    let weights = |recipe: &Recipe, threads| {
        onnx::encode(&run(recipe, "convnet:4,8", &data, threads).unwrap().model)
    };
    let all = [plain, noisy, attacked, both].map(|recipe| {
        let one = weights(&recipe, 1);
        assert_eq!(one, weights(&recipe, 2));
        one
    });
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{at}");
    }
}

#[test]
fn who_follows_a_training_can_stop_it() {
    let data = colours(40, 12);
    let model = network("mlp:8x1", 12);
    let mut steps = 0;
    let stopped = train(&recipe(12), &model, &data, 1, &mut |_| {
        steps += 1;
        if steps == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(stopped, Err(TrainError::Stopped)) && steps == 3, "{steps}");
}
