//! Projected gradients that choose their own steps.

use super::ball::{beginning, project};
use super::loss::Loss;
use super::step::{EPSILON, LENGTH_OR_LARGEST, RESTARTS, ascent, count, norm, random_start};
use super::{Attack, AttackSession, Gradient, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, SettingError, Unset};

const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    about: "number of steps",
    kind: ParameterKind::Whole { min: 1, max: 100_000 },
    unset: Unset::Is(Setting::Number(100.0)),
};

const LOSS: Parameter = Parameter {
    name: "loss",
    about: "what is raised: the cross entropy, or a difference of logits that does not depend on \
            their scale",
    kind: ParameterKind::Choice(Loss::WORDS),
    unset: Unset::Is(Setting::Word(std::borrow::Cow::Borrowed("cross_entropy"))),
};

const RANDOM_START: Parameter = random_start("yes");

/// How much of a step is new; the rest repeats the last one.
const NEW: f32 = 0.75;

/// The share of steps that must raise the loss between two looks.
const RISING: f64 = 0.75;

described! {
    /// # What it does
    /// Takes projected gradient steps with momentum that choose their own length (Croce and Hein
    /// 2020). Steps begin wide and are halved, from the best point so far, whenever the loss
    /// rises too rarely.
    /// # When to use it
    /// An attacker who has the model and nothing to tune; stronger than `pgd`.
    struct AutoPgd {
        epsilon: f64,
        norm: Norm,
        loss: Loss,
        iterations: usize,
        restarts: usize,
        random_start: bool,
    }
}

pub(super) const AUTO_PGD: Plugin<dyn Attack> = Plugin {
    name: "auto_pgd",
    about: about(AutoPgd::DOC),
    when: when(AutoPgd::DOC),
    parameters: &[EPSILON, LENGTH_OR_LARGEST, LOSS, ITERATIONS, RESTARTS, RANDOM_START],
    build: |settings| {
        let word = settings.word(LOSS.name)?;
        Ok(Box::new(AutoPgd {
            epsilon: settings.number(EPSILON.name)?,
            norm: norm(settings)?,
            loss: Loss::named(word)
                .ok_or_else(|| SettingError(format!("{word} is no loss of attacks")))?,
            iterations: count(settings, ITERATIONS.name)?,
            restarts: count(settings, RESTARTS.name)?,
            random_start: settings.word(RANDOM_START.name)? == "yes",
        }))
    },
};

/// Where the search for one sample stands.
struct Walk {
    sample: usize,
    point: Vec<f32>,
    last: Vec<f32>,
    step: f64,
    /// The point with the highest loss, with its slope.
    best: Vec<f32>,
    best_slope: Vec<f32>,
    highest: f64,
    before: f64,
    /// Since the last look: how often the loss rose, the highest loss then, and whether the step
    /// was halved then.
    rises: usize,
    highest_then: f64,
    halved_then: bool,
}

impl Attack for AutoPgd {
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
        let looks = checkpoints(self.iterations);
        for restart in 0..self.restarts {
            let random = self.random_start || restart > 0;
            let mut walks: Vec<Walk> = session
                .open()?
                .into_iter()
                .map(|sample| self.begin(session, sample, random))
                .collect();
            for iteration in 0..self.iterations {
                walks = self.advance(session, walks, iteration, &looks)?;
            }
            walks.retain(|walk| session.affords(walk.sample) > 0);
            session.ask(&points(&walks))?;
        }
        Ok(())
    }
}

impl AutoPgd {
    fn begin(&self, session: &mut AttackSession<'_>, sample: usize, random: bool) -> Walk {
        let point = beginning(self.norm, self.epsilon, session, sample, random);
        Walk {
            sample,
            last: point.clone(),
            best: point.clone(),
            best_slope: Vec::new(),
            point,
            step: 2.0 * self.epsilon,
            highest: f64::NEG_INFINITY,
            before: f64::NEG_INFINITY,
            rises: 0,
            highest_then: f64::NEG_INFINITY,
            halved_then: false,
        }
    }

    /// One step of all walks together; those that have arrived or stand on flat ground end.
    fn advance(
        &self,
        session: &mut AttackSession<'_>,
        mut walks: Vec<Walk>,
        iteration: usize,
        looks: &[usize],
    ) -> Result<Vec<Walk>, Halt> {
        walks.retain(|walk| session.affords(walk.sample) > 0);
        let goals: Vec<_> = walks.iter().map(|walk| session.goal(walk.sample)).collect();
        let gradients = session
            .gradients(&points(&walks), &mut |at, logits| self.loss.slope(&goals[at], logits))?;
        let look = looks.iter().position(|&look| look == iteration && look > 0);
        let since = look.map(|at| iteration - looks[at - 1]);
        let mut further = Vec::with_capacity(walks.len());
        for (mut walk, gradient) in walks.into_iter().zip(gradients) {
            if session.is_found(walk.sample) {
                continue;
            }
            let loss = self.loss.value(&session.goal(walk.sample), &gradient.logits);
            let slope = walk.note(gradient, loss, since);
            if self.step(session, &mut walk, &slope, iteration == 0) {
                further.push(walk);
            }
        }
        Ok(further)
    }

    /// Brings a point back into the range of pixels and within epsilon of the image.
    fn bring_inside(&self, start: &[f32], point: &mut [f32]) {
        point.iter_mut().for_each(|value| *value = value.clamp(0.0, 1.0));
        project(self.norm, self.epsilon, start, point);
    }

    /// Moves a walk along a slope; false where the slope leads nowhere.
    fn step(
        &self,
        session: &AttackSession<'_>,
        walk: &mut Walk,
        slope: &[f32],
        first: bool,
    ) -> bool {
        let direction = ascent(self.norm, slope);
        if direction.iter().all(|step| *step == 0.0) {
            return false;
        }
        let start = session.start(walk.sample);
        let mut next = walk.point.clone();
        for (value, direction) in next.iter_mut().zip(&direction) {
            *value += walk.step as f32 * direction;
        }
        self.bring_inside(start, &mut next);
        if !first {
            // Momentum: x + α (z − x) + (1 − α) (x − last), with z the plain step.
            for ((z, x), last) in next.iter_mut().zip(&walk.point).zip(&walk.last) {
                *z = x + NEW * (*z - x) + (1.0 - NEW) * (x - last);
            }
            self.bring_inside(start, &mut next);
        }
        session.confine(walk.sample, &mut next);
        walk.last = std::mem::replace(&mut walk.point, next);
        true
    }
}

impl Walk {
    /// Notes the loss at the point; where it is time for a look after `since` steps, and they rose
    /// too seldom, goes back to the best point with half the step. Answers the slope to follow.
    fn note(&mut self, gradient: Gradient, loss: f64, since: Option<usize>) -> Vec<f32> {
        // What the walk begins with is no rise.
        if self.before > f64::NEG_INFINITY && loss > self.before {
            self.rises += 1;
        }
        self.before = loss;
        if loss > self.highest || self.highest.is_nan() || self.best_slope.is_empty() {
            self.highest = loss;
            self.best.clone_from(&self.point);
            self.best_slope.clone_from(&gradient.slope);
        }
        let Some(since) = since else { return gradient.slope };
        let seldom = (self.rises as f64) < RISING * since as f64;
        let stands = !self.halved_then && self.highest <= self.highest_then;
        self.rises = 0;
        self.highest_then = self.highest;
        self.halved_then = seldom || stands;
        if !self.halved_then {
            return gradient.slope;
        }
        self.step /= 2.0;
        self.last.clone_from(&self.best);
        self.point.clone_from(&self.best);
        self.best_slope.clone()
    }
}

/// The iterations after which the step is looked at, closer and closer together; in whole numbers,
/// as in the authors' own code.
fn checkpoints(iterations: usize) -> Vec<usize> {
    let [mut gap, min_gap, shorter] = [22, 6, 3].map(|percent| (iterations * percent / 100).max(1));
    let mut looks = vec![0];
    let mut look = gap;
    while look < iterations {
        looks.push(look);
        gap = gap.saturating_sub(shorter).max(min_gap);
        look += gap;
    }
    looks
}

fn points(walks: &[Walk]) -> Vec<(usize, &[f32])> {
    walks.iter().map(|walk| (walk.sample, walk.point.as_slice())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The shares of the paper (0.22, 0.41, 0.57, 0.70, …) of 100 iterations.
    #[test]
    fn looks_are_those_of_the_paper() {
        assert_eq!(checkpoints(100), [0, 22, 41, 57, 70, 80, 87, 93, 99]);
        assert_eq!(checkpoints(1), [0]);
        assert!(checkpoints(1000).is_sorted());
    }
}
