//! Stochastic gradient descent with momentum.

use faultlens_engine::{Learner, WeightInfo};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Elements that one thread changes at a time.
const CHUNK: usize = 1 << 15;

/// Descends along gradients, as PyTorch's `SGD` does: `v = momentum · v + (g + decay · w)`,
/// `w = w - rate · v`.
#[derive(Debug, Default)]
pub struct Sgd {
    /// How much of the last step goes into the next.
    pub momentum: f32,
    /// How strongly what is multiplied (filters and matrices) is pulled to zero; biases, norms
    /// and slopes are not.
    pub weight_decay: f32,
    /// The longest gradient, over all weights, that is followed as it is.
    pub clip: Option<f64>,
    velocities: BTreeMap<String, Vec<f32>>,
}

impl Sgd {
    /// At rest.
    pub fn new(momentum: f64, weight_decay: f64, clip: Option<f64>) -> Self {
        let (momentum, weight_decay) = (momentum as f32, weight_decay as f32);
        Self { momentum, weight_decay, clip, velocities: BTreeMap::new() }
    }

    /// Changes all weights of the learner by its last gradients.
    pub fn step(&mut self, learner: &mut Learner, rate: f64) {
        let shorten = self.clip.map_or(1.0, |most| shorten(learner.gradient_length(), most));
        let (momentum, rate) = (self.momentum, rate as f32);
        let velocities = &mut self.velocities;
        let decay = self.weight_decay;
        learner.update(|weight: &WeightInfo<'_>, weights, gradient| {
            let decay = if weight.decays { decay } else { 0.0 };
            let velocity = velocities
                .entry(weight.name.to_owned())
                .or_insert_with(|| vec![0.0; weights.len()]);
            let one = |((w, v), g): ((&mut [f32], &mut [f32]), &[f32])| {
                for ((w, v), &g) in w.iter_mut().zip(v).zip(g) {
                    *v = momentum * *v + (shorten * g + decay * *w);
                    *w -= rate * *v;
                }
            };
            if rayon::current_thread_index().is_some() {
                let chunks = weights.par_chunks_mut(CHUNK).zip(velocity.par_chunks_mut(CHUNK));
                chunks.zip(gradient.par_chunks(CHUNK)).for_each(one);
            } else {
                one(((weights, velocity), gradient));
            }
        });
    }
}

/// The factor that brings a gradient of this length down to the longest that is followed.
fn shorten(length: f64, longest: f64) -> f32 {
    (longest / length.max(longest)) as f32
}

#[cfg(test)]
mod tests {
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

    fn weights(model: &ModelProto) -> Vec<(String, Vec<f32>)> {
        let stored = model.graph.as_ref().unwrap().initializer.iter();
        let floats = stored.filter_map(|stored| {
            Some((stored.name.clone(), onnx::tensor(stored).unwrap().as_f32()?.to_vec()))
        });
        floats.collect()
    }

    /// The gradient's length, how far one step along it goes, and the weights after it.
    fn step(clip: Option<f64>, decay: f64) -> (f64, f64, Vec<(String, Vec<f32>)>) {
        let model = build("mlp:4", &Spec::new([1, 2, 2], 2), Seed::new(1)).unwrap();
        let mut learner = Learner::new(&model, 1).unwrap();
        let image = Tensor::new(vec![1, 1, 2, 2], vec![3.0f32, -2.0, 1.0, 4.0]).unwrap();
        let gradient = Tensor::new(vec![1, 2], vec![5.0f32, -5.0]).unwrap();
        let loss = Loss { value: 0.0, gradients: vec![("logits".into(), gradient)] };
        learner.step(&[("image", image)], 0, |_| Ok::<_, EngineError>(loss)).unwrap();
        let length = learner.gradient_length();
        Sgd::new(0.0, decay, clip).step(&mut learner, 1.0);
        let (before, after) = (weights(&model), weights(&learner.to_proto()));
        let pairs = before.iter().zip(&after).flat_map(|((_, a), (_, b))| a.iter().zip(b));
        let moved = pairs.map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>().sqrt();
        (length, moved, after)
    }

    #[test]
    fn a_step_is_as_long_as_the_clip_allows_and_decay_leaves_biases_alone() {
        let (length, moved, free) = step(None, 0.0);
        assert!(length > 1.0 && (moved / length - 1.0).abs() < 1e-4, "{length} {moved}");
        let (_, moved, _) = step(Some(0.5), 0.0);
        assert!((moved - 0.5).abs() < 1e-4, "{moved}");
        let (_, _, decayed) = step(None, 0.1);
        for ((name, free), (_, decayed)) in free.iter().zip(&decayed) {
            assert_eq!(free == decayed, name.ends_with("bias"), "{name}");
        }
    }
}
