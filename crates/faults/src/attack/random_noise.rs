//! Noise, and nothing else.

use super::ball::resize;
use super::noise::{bells, uniforms};
use super::step::{EPSILON, LENGTH_OR_LARGEST, count, norm};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const TRIES: Parameter = Parameter {
    name: "tries",
    about: "how many noisy images are shown",
    kind: ParameterKind::Whole { min: 1, max: 1_000_000 },
    unset: Unset::Is(Setting::Number(100.0)),
};

/// Tries of a sample that are asked together: what changes the answer early spares the rest.
const TOGETHER: usize = 16;

/// # What it does
/// Adds noise of a given size, again and again: each pixel anywhere within ε, or a random
/// direction of length ε.
/// # When to use it
/// As the baseline: a search that does not find more than noise is no search.
pub(super) const RANDOM_NOISE: Plugin<dyn Attack> = Plugin {
    name: "random_noise",
    about: "noise of size epsilon, drawn again and again",
    when: "the baseline: whoever searches should find more than chance does",
    parameters: &[EPSILON, LENGTH_OR_LARGEST, TRIES],
    build: |settings| {
        Ok(Box::new(RandomNoise {
            epsilon: settings.number(EPSILON.name)?,
            norm: norm(settings)?,
            tries: count(settings, TRIES.name)?,
        }))
    },
};

struct RandomNoise {
    epsilon: f64,
    norm: Norm,
    tries: usize,
}

impl Attack for RandomNoise {
    fn needs(&self) -> Needs {
        Needs::Decisions
    }

    fn norm(&self) -> Norm {
        self.norm
    }

    fn dose(&self) -> Dose {
        Dose { axis: "epsilon", amount: self.epsilon }
    }

    fn most_questions(&self) -> Option<u64> {
        Some(self.tries as u64)
    }

    fn search(&self, hunt: &mut AttackSession<'_>) -> Result<(), Halt> {
        for sample in hunt.open()? {
            let mut left = self.tries;
            while left > 0 && !hunt.is_found(sample) && hunt.affords(sample) > 0 {
                let tries = left.min(TOGETHER).min(hunt.affords(sample));
                let noisy: Vec<Vec<f32>> = (0..tries).map(|_| self.noisy(hunt, sample)).collect();
                let points: Vec<(usize, &[f32])> =
                    noisy.iter().map(|point| (sample, point.as_slice())).collect();
                hunt.ask(&points)?;
                left -= tries;
            }
        }
        Ok(())
    }
}

impl RandomNoise {
    fn noisy(&self, hunt: &mut AttackSession<'_>, sample: usize) -> Vec<f32> {
        let mut noise = vec![0.0f32; hunt.start(sample).len()];
        let stream = hunt.stream(sample);
        if self.norm == Norm::Infinity {
            uniforms(stream, &mut noise);
            noise.iter_mut().for_each(|n| *n *= self.epsilon as f32);
        } else {
            bells(stream, &mut noise);
            resize(&mut noise, self.epsilon);
        }
        let start = hunt.start(sample);
        let sum = start.iter().zip(&noise).map(|(value, n)| (value + n).clamp(0.0, 1.0));
        let mut point: Vec<f32> = sum.collect();
        hunt.confine(sample, &mut point);
        point
    }
}
