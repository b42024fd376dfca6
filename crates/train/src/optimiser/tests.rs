//! One suite for every optimiser; their numbers are compared with PyTorch's in `tests/`.

use super::*;
use crate::architecture::{Spec, build};
use faultlens_core::{Seed, Tensor};
use faultlens_engine::onnx::{self, ModelProto};
use faultlens_engine::{EngineError, Loss};

#[test]
fn only_long_gradients_are_shortened() {
    for (length, factor) in [(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (8.0, 0.25)] {
        assert_eq!(shorten(length, 2.0), factor, "{length}");
    }
}

#[test]
fn names_are_sorted_and_wrong_ones_are_helped() {
    assert!(OPTIMISERS.is_sorted_by_key(|o| o.name()));
    for o in OPTIMISERS {
        assert_eq!(optimiser(o.name()).unwrap().name(), o.name());
        assert!(!o.about().is_empty());
    }
    assert!(optimiser(DEFAULT_OPTIMISER).is_ok());
    let error = |name| optimiser(name).unwrap_err().to_string();
    assert_eq!(error("adams"), "the optimiser cannot be adams: did you mean adam?");
    assert!(error("lbfgs").ends_with("known are adam, rmsprop, sgd"), "{}", error("lbfgs"));
}

/// Minimises half the squared distance from `goal` by the rule alone.
fn descend(o: &dyn Optimiser, goal: &[f32], steps: u64) -> Vec<f32> {
    let mut weights = vec![0.0; goal.len()];
    let mut memory = vec![0.0; goal.len() * o.memories()];
    let Settings { learning_rate, momentum, .. } = o.usual();
    for count in 1..=steps {
        let gradient: Vec<f32> = weights.iter().zip(goal).map(|(w, g)| w - g).collect();
        let step = Step { count, rate: learning_rate, momentum, shorten: 1.0, decay: 0.0 };
        change(o, &step, &mut weights, &gradient, &mut memory);
    }
    weights
}

#[test]
fn every_optimiser_arrives_with_its_usual_settings() {
    // A goal that equals its start must be left in peace, not divided by zero.
    let goal = [0.0, 0.5, -0.3, 0.01];
    for o in OPTIMISERS {
        let found = descend(*o, &goal, 3000);
        for (found, goal) in found.iter().zip(goal) {
            assert!((found - goal).abs() < 2e-3, "{}: {found} instead of {goal}", o.name());
        }
        assert_eq!(found[0], 0.0, "{}", o.name());
    }
}

#[test]
fn threads_and_chunks_change_no_bit() {
    let goal: Vec<f32> = (0..CHUNK * 2 + 77).map(|i| (i % 1013) as f32 / 500.0 - 1.0).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for o in OPTIMISERS {
        let alone = descend(*o, &goal, 4);
        assert_eq!(alone, pool.install(|| descend(*o, &goal, 4)), "{}", o.name());
        // Each element goes its own way, wherever it lies.
        for at in [0, CHUNK - 1, CHUNK, CHUNK * 2 + 76] {
            assert_eq!(alone[at..=at], descend(*o, &goal[at..=at], 4), "{} at {at}", o.name());
        }
    }
}

fn weights(model: &ModelProto) -> Vec<(String, Vec<f32>)> {
    let stored = model.graph.as_ref().unwrap().initializer.iter();
    let floats = stored.filter_map(|stored| {
        Some((stored.name.clone(), onnx::tensor(stored).unwrap().as_f32()?.to_vec()))
    });
    floats.collect()
}

/// The gradient's length, how far one step along it goes, and the weights after it.
fn step(name: &str, clip: Option<f64>, weight_decay: f64) -> (f64, f64, Vec<(String, Vec<f32>)>) {
    let model = build("mlp:4", &Spec::new([1, 2, 2], 2), Seed::new(1)).unwrap();
    let mut learner = Learner::new(&model, 1).unwrap();
    let image = Tensor::new(vec![1, 1, 2, 2], vec![3.0f32, -2.0, 1.0, 4.0]).unwrap();
    let gradient = Tensor::new(vec![1, 2], vec![5.0f32, -5.0]).unwrap();
    let loss = Loss { value: 0.0, gradients: vec![("logits".into(), gradient)] };
    learner.step(&[("image", image)], 0, |_| Ok::<_, EngineError>(loss)).unwrap();
    let length = learner.gradient_length();
    let settings = Settings { learning_rate: 1.0, momentum: 0.0, weight_decay };
    Descent::new(optimiser(name).unwrap(), settings, clip).step(&mut learner, 1.0);
    let before = weights(&model);
    let after = weights(&learner.to_proto());
    let pairs = before.iter().zip(&after).flat_map(|((_, a), (_, b))| a.iter().zip(b));
    let moved = pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
    (length, moved, after)
}

#[test]
fn a_step_of_sgd_is_as_long_as_the_clip_allows() {
    let (length, moved, _) = step("sgd", None, 0.0);
    assert!(length > 1.0 && (moved / length - 1.0).abs() < 1e-4, "{length} {moved}");
    let (_, moved, _) = step("sgd", Some(0.5), 0.0);
    assert!((moved - 0.5).abs() < 1e-4, "{moved}");
}

#[test]
fn decay_leaves_biases_alone_whatever_the_optimiser() {
    for o in OPTIMISERS {
        let (_, _, free) = step(o.name(), None, 0.0);
        let (_, _, decayed) = step(o.name(), None, 0.1);
        for ((name, free), (_, decayed)) in free.iter().zip(&decayed) {
            assert_eq!(free == decayed, name.ends_with("bias"), "{} {name}", o.name());
        }
    }
}
