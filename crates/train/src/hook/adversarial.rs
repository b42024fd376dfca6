//! Adversarial training: the model learns from examples that are made against it as it is now.

use super::{Pixels, check_share, refuse};
use crate::error::TrainError;
use crate::task::Task;
use faultlens_core::{Seed, Tensor, TensorData};
use serde::{Deserialize, Serialize};

/// A share of each batch is attacked with the current weights before the model learns from it: with
/// one step by the fast gradient method, with more by projected gradients in the maximum norm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Adversarial {
    /// How far each value of an image may move, in pixels from 0 to 1.
    pub epsilon: f64,
    /// How many gradients are followed.
    pub steps: usize,
    /// The share of samples that are attacked.
    pub share: f64,
}

/// More than enough for an attack to have gone as far as it gets.
const MAX_STEPS: usize = 1000;
/// Steps of several together could go this much farther than the limit, so that they reach it.
const REACH: f32 = 2.5;

impl Adversarial {
    /// The fast gradient method on half of the samples.
    pub fn on_half(epsilon: f64) -> Self {
        Self { epsilon, steps: 1, share: 0.5 }
    }

    pub(crate) fn check(&self, task: Task) -> Result<(), TrainError> {
        let fits = self.epsilon > 0.0 && self.epsilon <= 1.0;
        let what = "the adversarial epsilon";
        let why = "it must lie above 0 and up to 1";
        refuse(what, self.epsilon, fits, why)?;
        let fits = (1..=MAX_STEPS).contains(&self.steps);
        let what = "the number of adversarial steps";
        let why = "it must lie from 1 to 1000";
        refuse(what, self.steps as f64, fits, why)?;
        check_share("the adversarial share", self.share)?;
        if task == Task::Classify {
            return Ok(());
        }
        Err(TrainError::Recipe {
            what: "adversarial training",
            given: format!("part of the task {}", task.name()),
            why: "it is for the task classify; leave it out".to_owned(),
        })
    }

    /// Attacks a share of a batch; `follow` says how the loss depends on what is fed. All of the
    /// batch is fed each time, since batch norms look at all of it.
    pub(crate) fn replace(
        &self,
        batch: &mut Tensor,
        pixels: &Pixels,
        seed: Seed,
        mut follow: impl FnMut(&Tensor) -> Result<Tensor, TrainError>,
    ) -> Result<(), TrainError> {
        let start = batch.as_f32().unwrap_or_default().to_vec();
        let images = start.len() / pixels.image().max(1);
        let chosen: Vec<bool> =
            (0..images as u64).map(|at| seed.at(at).stream().chance(self.share)).collect();
        if !chosen.contains(&true) {
            return Ok(());
        }
        for _ in 0..self.steps {
            let gradient = follow(batch)?;
            let Some(slope) = gradient.as_f32() else { break };
            let TensorData::F32(data) = batch.data_mut() else { break };
            for (at, value) in data.iter_mut().enumerate() {
                let image = at / pixels.image();
                let place = at % pixels.image();
                if chosen[image] {
                    *value = self.moved(*value, start[at], slope[at], pixels.unit(place));
                }
            }
        }
        Ok(())
    }

    /// One step of one value, which stays near where it started and between black and white.
    fn moved(&self, value: f32, start: f32, slope: f32, (pixel, black): (f32, f32)) -> f32 {
        let radius = self.epsilon as f32 * pixel.abs();
        let step = if self.steps == 1 { radius } else { radius * REACH / self.steps as f32 };
        let by = if slope == 0.0 || slope.is_nan() { 0.0 } else { step.copysign(slope) };
        let dark = black.min(black + pixel);
        let bright = black.max(black + pixel);
        // Noise may have left the range before; it is not drawn back.
        let low = dark.min(start);
        let high = bright.max(start);
        (value + by).clamp(start - radius, start + radius).clamp(low, high)
    }
}
