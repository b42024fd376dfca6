//! Steps along the gradient, each brought back to the ball.

use super::ball::{beginning, project};
use super::loss::cross_entropy;
use super::step::{EPSILON, ITERATIONS, NORM, RESTARTS, ascent_within, count, norm, random_start};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const STEP: Parameter = Parameter {
    name: "step",
    about: "how far one step goes; 2.5 times epsilon over the iterations where it is not set",
    kind: ParameterKind::Number { min: 1e-9, max: 1e6 },
    unset: Unset::Absent,
};

const MOMENTUM: Parameter = Parameter {
    name: "momentum",
    about: "how much of the direction so far a step keeps",
    kind: ParameterKind::Number { min: 0.0, max: 10.0 },
    unset: Unset::Is(Setting::Number(0.0)),
};

const RANDOM_START: Parameter = random_start("no");

/// # What it does
/// Follows the gradient of the loss in small steps and returns to the ball of radius ε after each
/// (Madry et al. 2017; with momentum: Dong et al. 2018).
/// # When to use it
/// The usual measure of what somebody reaches who has the model.
pub(super) const PGD: Plugin<dyn Attack> = Plugin {
    name: "pgd",
    about: "steps along the gradient of the loss, never further than epsilon from the image",
    when: "somebody who has the model and some patience; the usual measure of robustness",
    parameters: &[EPSILON, NORM, STEP, ITERATIONS, RESTARTS, RANDOM_START, MOMENTUM],
    build: |settings| {
        let epsilon = settings.number(EPSILON.name)?;
        let iterations = count(settings, ITERATIONS.name)?;
        let usual = 2.5 * epsilon / iterations as f64;
        Ok(Box::new(Pgd {
            epsilon,
            norm: norm(settings)?,
            step: settings.number_if_set(STEP.name).unwrap_or(usual),
            iterations,
            restarts: count(settings, RESTARTS.name)?,
            random_start: settings.word(RANDOM_START.name)? == "yes",
            momentum: settings.number(MOMENTUM.name)?,
        }))
    },
};

struct Pgd {
    epsilon: f64,
    norm: Norm,
    step: f64,
    iterations: usize,
    restarts: usize,
    random_start: bool,
    momentum: f64,
}

/// Where the search for one sample stands.
struct Walk {
    sample: usize,
    point: Vec<f32>,
    /// The directions so far; empty without momentum.
    velocity: Vec<f32>,
}

impl Attack for Pgd {
    fn needs(&self) -> Needs {
        Needs::Gradients
    }

    fn norm(&self) -> Norm {
        self.norm
    }

    fn dose(&self) -> Dose {
        Dose { axis: "epsilon", amount: self.epsilon }
    }

    fn draws(&self) -> bool {
        self.random_start || self.restarts > 1
    }

    fn search(&self, hunt: &mut AttackSession<'_>) -> Result<(), Halt> {
        for restart in 0..self.restarts {
            // The same start again would find the same again.
            let random = self.random_start || restart > 0;
            let mut walks: Vec<Walk> =
                hunt.open()?.into_iter().map(|sample| self.begin(hunt, sample, random)).collect();
            for _ in 0..self.iterations {
                walks = self.advance(hunt, walks)?;
            }
            walks.retain(|walk| hunt.affords(walk.sample) > 0);
            hunt.ask(&points(&walks))?;
        }
        Ok(())
    }
}

impl Pgd {
    fn begin(&self, hunt: &mut AttackSession<'_>, sample: usize, random: bool) -> Walk {
        let point = beginning(self.norm, self.epsilon, hunt, sample, random);
        let velocity = if self.momentum > 0.0 { vec![0.0; point.len()] } else { Vec::new() };
        Walk { sample, point, velocity }
    }

    /// One step of all walks together; those that have arrived or stand on flat ground end.
    fn advance(
        &self,
        hunt: &mut AttackSession<'_>,
        mut walks: Vec<Walk>,
    ) -> Result<Vec<Walk>, Halt> {
        walks.retain(|walk| hunt.affords(walk.sample) > 0);
        let goals: Vec<_> = walks.iter().map(|walk| hunt.goal(walk.sample)).collect();
        let gradients =
            hunt.gradients(&points(&walks), &mut |at, logits| cross_entropy(&goals[at], logits))?;
        let mut further = Vec::with_capacity(walks.len());
        for (mut walk, gradient) in walks.into_iter().zip(gradients) {
            if !hunt.is_found(walk.sample) && self.step(hunt, &mut walk, gradient.slope) {
                further.push(walk);
            }
        }
        Ok(further)
    }

    /// Moves a walk along a slope; false where the slope leads nowhere.
    fn step(&self, hunt: &AttackSession<'_>, walk: &mut Walk, slope: Vec<f32>) -> bool {
        let slope = if self.momentum > 0.0 { self.carried(walk, &slope) } else { slope };
        let direction = ascent_within(self.norm, &slope, &walk.point);
        if direction.iter().all(|step| *step == 0.0) {
            return false;
        }
        for (value, step) in walk.point.iter_mut().zip(direction) {
            *value = (*value + self.step as f32 * step).clamp(0.0, 1.0);
        }
        project(self.norm, self.epsilon, hunt.start(walk.sample), &mut walk.point);
        hunt.confine(walk.sample, &mut walk.point);
        true
    }

    /// The slope with what is left of the ones before it, each divided by the sum of its sizes.
    fn carried(&self, walk: &mut Walk, slope: &[f32]) -> Vec<f32> {
        let sum: f64 = slope.iter().map(|value| f64::from(value.abs())).sum();
        if sum > 0.0 && sum.is_finite() {
            for (kept, value) in walk.velocity.iter_mut().zip(slope) {
                *kept = (self.momentum * f64::from(*kept) + f64::from(*value) / sum) as f32;
            }
        }
        walk.velocity.clone()
    }
}

fn points(walks: &[Walk]) -> Vec<(usize, &[f32])> {
    walks.iter().map(|walk| (walk.sample, walk.point.as_slice())).collect()
}
