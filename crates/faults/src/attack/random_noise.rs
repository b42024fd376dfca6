//! Noise, and nothing else.

use super::ball::resize;
use super::noise::{bells, uniforms};
use super::step::{EPSILON, LENGTH_OR_LARGEST, count, norm};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const TRIES: Parameter = Parameter {
    name: "tries",
    about: "number of noisy images that are tried",
    kind: ParameterKind::Whole { min: 1, max: 1_000_000 },
    unset: Unset::Is(Setting::Number(100.0)),
};

/// Tries of a sample that are asked together: what changes the answer early spares the rest.
const TOGETHER: usize = 16;

described! {
    /// # What it does
    /// Adds noise of size epsilon, drawn again and again. Each pixel moves anywhere within
    /// epsilon, or the image in a random direction of length epsilon.
    /// # When to use it
    /// As the baseline: a search should find more than chance does.
    struct RandomNoise {
        epsilon: f64,
        norm: Norm,
        tries: usize,
    }
}

pub(super) const RANDOM_NOISE: Plugin<dyn Attack> = Plugin {
    name: "random_noise",
    about: about(RandomNoise::DOC),
    when: when(RandomNoise::DOC),
    parameters: &[EPSILON, LENGTH_OR_LARGEST, TRIES],
    build: |settings| {
        Ok(Box::new(RandomNoise {
            epsilon: settings.number(EPSILON.name)?,
            norm: norm(settings)?,
            tries: count(settings, TRIES.name)?,
        }))
    },
};

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

    fn max_queries(&self) -> Option<u64> {
        Some(self.tries as u64)
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        for sample in session.open()? {
            let mut left = self.tries;
            while left > 0 && !session.is_found(sample) && session.affords(sample) > 0 {
                let tries = left.min(TOGETHER).min(session.affords(sample));
                let noisy: Vec<Vec<f32>> =
                    (0..tries).map(|_| self.noisy(session, sample)).collect();
                let points: Vec<(usize, &[f32])> =
                    noisy.iter().map(|point| (sample, point.as_slice())).collect();
                session.ask(&points)?;
                left -= tries;
            }
        }
        Ok(())
    }
}

impl RandomNoise {
    fn noisy(&self, session: &mut AttackSession<'_>, sample: usize) -> Vec<f32> {
        let mut noise = vec![0.0f32; session.start(sample).len()];
        let stream = session.stream(sample);
        if self.norm == Norm::Infinity {
            uniforms(stream, &mut noise);
            noise.iter_mut().for_each(|n| *n *= self.epsilon as f32);
        } else {
            bells(stream, &mut noise);
            resize(&mut noise, self.epsilon);
        }
        let start = session.start(sample);
        let sum = start.iter().zip(&noise).map(|(value, n)| (value + n).clamp(0.0, 1.0));
        let mut point: Vec<f32> = sum.collect();
        session.confine(sample, &mut point);
        point
    }
}
