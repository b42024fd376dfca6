//! One step along the gradient.

use super::loss::cross_entropy;
use super::step::{EPSILON, NORM, ascent, norm};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Plugin};

described! {
    /// # What it does
    /// Takes one step of size epsilon in the direction in which the loss rises fastest
    /// (Goodfellow et al. 2014).
    /// # When to use it
    /// An attacker who has the model and little time: one gradient, a single shot.
    struct Fgm {
        epsilon: f64,
        norm: Norm,
    }
}

pub(super) const FGM: Plugin<dyn Attack> = Plugin {
    name: "fgm",
    about: about(Fgm::DOC),
    when: when(Fgm::DOC),
    parameters: &[EPSILON, NORM],
    build: |settings| {
        Ok(Box::new(Fgm { epsilon: settings.number(EPSILON.name)?, norm: norm(settings)? }))
    },
};

impl Attack for Fgm {
    fn needs(&self) -> Needs {
        Needs::Gradients
    }

    fn norm(&self) -> Norm {
        self.norm
    }

    fn dose(&self) -> Dose {
        Dose { axis: "epsilon", amount: self.epsilon }
    }

    fn is_one_shot(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        // One question for the gradient, one for what it leads to.
        let mut samples = session.open()?;
        samples.retain(|sample| session.affords(*sample) > 1);
        let mut moved: Vec<Vec<f32>> =
            samples.iter().map(|at| session.start(*at).to_vec()).collect();
        let goals: Vec<_> = samples.iter().map(|at| session.goal(*at)).collect();
        let slopes = session.gradients(&points(&samples, &moved), &mut |at, logits| {
            cross_entropy(&goals[at], logits)
        })?;
        for ((sample, point), slope) in samples.iter().zip(&mut moved).zip(&slopes) {
            for (value, step) in point.iter_mut().zip(ascent(self.norm, &slope.slope)) {
                *value = (*value + self.epsilon as f32 * step).clamp(0.0, 1.0);
            }
            session.confine(*sample, point);
        }
        session.ask(&points(&samples, &moved))?;
        Ok(())
    }
}

fn points<'p>(samples: &[usize], points: &'p [Vec<f32>]) -> Vec<(usize, &'p [f32])> {
    samples.iter().copied().zip(points.iter().map(Vec::as_slice)).collect()
}
