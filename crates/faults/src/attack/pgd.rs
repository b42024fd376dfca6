//! Steps along the gradient, each brought back to the ball.

use super::ball::{beginning, project};
use super::loss::cross_entropy;
use super::step::{EPSILON, ITERATIONS, NORM, RESTARTS, ascent_within, count, norm, random_start};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const STEP: Parameter = Parameter {
    name: "step",
    about: "length of one step; 2.5 times epsilon over the iterations by default",
    kind: ParameterKind::Number { min: 1e-9, max: 1e6 },
    unset: Unset::Absent,
};

const MOMENTUM: Parameter = Parameter {
    name: "momentum",
    about: "how much of the previous direction a step keeps",
    kind: ParameterKind::Number { min: 0.0, max: 10.0 },
    unset: Unset::Is(Setting::Number(0.0)),
};

const RANDOM_START: Parameter = random_start("no");

described! {
    /// # What it does
    /// Takes steps along the gradient of the loss and projects each back to within epsilon of the
    /// image (Madry et al. 2017; with momentum Dong et al. 2018).
    /// # When to use it
    /// An attacker who has the model; the usual measure of robustness.
    struct Pgd {
        epsilon: f64,
        norm: Norm,
        step: f64,
        iterations: usize,
        restarts: usize,
        random_start: bool,
        momentum: f64,
    }
}

pub(super) const PGD: Plugin<dyn Attack> = Plugin {
    name: "pgd",
    about: about(Pgd::DOC),
    when: when(Pgd::DOC),
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

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        for restart in 0..self.restarts {
            // The same start again would find the same again.
            let random = self.random_start || restart > 0;
            let mut walks: Vec<Walk> = session
                .open()?
                .into_iter()
                .map(|sample| self.begin(session, sample, random))
                .collect();
            for _ in 0..self.iterations {
                walks = self.advance(session, walks)?;
            }
            walks.retain(|walk| session.affords(walk.sample) > 0);
            session.ask(&points(&walks))?;
        }
        Ok(())
    }
}

impl Pgd {
    fn begin(&self, session: &mut AttackSession<'_>, sample: usize, random: bool) -> Walk {
        let point = beginning(self.norm, self.epsilon, session, sample, random);
        let velocity = if self.momentum > 0.0 { vec![0.0; point.len()] } else { Vec::new() };
        Walk { sample, point, velocity }
    }

    /// One step of all walks together; those that have arrived or stand on flat ground end.
    fn advance(
        &self,
        session: &mut AttackSession<'_>,
        mut walks: Vec<Walk>,
    ) -> Result<Vec<Walk>, Halt> {
        walks.retain(|walk| session.affords(walk.sample) > 0);
        let goals: Vec<_> = walks.iter().map(|walk| session.goal(walk.sample)).collect();
        let gradients = session
            .gradients(&points(&walks), &mut |at, logits| cross_entropy(&goals[at], logits))?;
        let mut further = Vec::with_capacity(walks.len());
        for (mut walk, gradient) in walks.into_iter().zip(gradients) {
            if !session.is_found(walk.sample) && self.step(session, &mut walk, gradient.slope) {
                further.push(walk);
            }
        }
        Ok(further)
    }

    /// Moves a walk along a slope; false where the slope leads nowhere.
    fn step(&self, session: &AttackSession<'_>, walk: &mut Walk, slope: Vec<f32>) -> bool {
        let slope = if self.momentum > 0.0 { self.carried(walk, &slope) } else { slope };
        let direction = ascent_within(self.norm, &slope, &walk.point);
        if direction.iter().all(|step| *step == 0.0) {
            return false;
        }
        for (value, step) in walk.point.iter_mut().zip(direction) {
            *value = (*value + self.step as f32 * step).clamp(0.0, 1.0);
        }
        project(self.norm, self.epsilon, session.start(walk.sample), &mut walk.point);
        session.confine(walk.sample, &mut walk.point);
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
