//! The nearest boundary, as if the model were linear, again and again.

use super::step::{ITERATIONS, basis, count};
use super::{Attack, AttackSession, Goal, Gradient, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset, argmax};

const CLASSES: Parameter = Parameter {
    name: "classes",
    about: "how many of the most likely other classes are considered",
    kind: ParameterKind::Whole { min: 1, max: 1000 },
    unset: Unset::Is(Setting::Number(10.0)),
};

const OVERSHOOT: Parameter = Parameter {
    name: "overshoot",
    about: "how far beyond the boundary the image is moved, as a fraction of the way",
    kind: ParameterKind::Number { min: 0.0, max: 1.0 },
    unset: Unset::Is(Setting::Number(1e-6)),
};

/// Longer ways that are tried where the boundary was reached but not crossed: the way is a sum of
/// small floats.
const FURTHER: [f64; 5] = [1e-4, 1e-3, 5e-3, 0.02, 0.1];

/// How often the last stretch is halved: a model that bends is crossed earlier than a linear one.
const HALVINGS: usize = 6;

described! {
    /// # What it does
    /// Steps to the nearest decision boundary, as if the model were linear, until the answer
    /// changes (Moosavi-Dezfooli et al. 2016). Then goes back along the way as far as the answer
    /// stays changed.
    /// # When to use it
    /// An attacker who has the model and wants the smallest change.
    struct DeepFool {
        iterations: usize,
        classes: usize,
        overshoot: f64,
    }
}

pub(super) const DEEPFOOL: Plugin<dyn Attack> = Plugin {
    name: "deepfool",
    about: about(DeepFool::DOC),
    when: when(DeepFool::DOC),
    parameters: &[ITERATIONS, CLASSES, OVERSHOOT],
    build: |settings| {
        Ok(Box::new(DeepFool {
            iterations: count(settings, ITERATIONS.name)?,
            classes: count(settings, CLASSES.name)?,
            overshoot: settings.number(OVERSHOOT.name)?,
        }))
    },
};

/// Where the search for one sample stands.
struct Way {
    sample: usize,
    /// From the start, without overshoot.
    moved: Vec<f32>,
    point: Vec<f32>,
}

impl Attack for DeepFool {
    fn needs(&self) -> Needs {
        Needs::Gradients
    }

    fn norm(&self) -> Norm {
        Norm::Two
    }

    fn dose(&self) -> Dose {
        Dose { axis: "classes", amount: self.classes as f64 }
    }

    fn draws(&self) -> bool {
        false
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        let mut ways = Vec::new();
        for sample in session.open()? {
            let point = session.start(sample).to_vec();
            ways.push(Way { sample, moved: vec![0.0; point.len()], point });
        }
        let mut stuck = Vec::new();
        let mut others = self.classes;
        for _ in 0..self.iterations {
            ways.retain(|way| session.affords(way.sample) > others);
            others = self.advance(session, &mut ways, &mut stuck, others)?;
            ways.retain(|way| session.affords(way.sample) > 0);
            session.ask(&points(&ways))?;
            ways.retain(|way| !session.is_found(way.sample));
        }
        stuck.append(&mut ways);
        self.go_further(session, &stuck)?;
        come_back(session)
    }
}

impl DeepFool {
    /// Moves all samples to their nearest boundaries; those without one are stuck. Answers how
    /// many other classes there are to look at.
    fn advance(
        &self,
        session: &mut AttackSession<'_>,
        ways: &mut Vec<Way>,
        stuck: &mut Vec<Way>,
        others: usize,
    ) -> Result<usize, Halt> {
        let goals: Vec<Goal> = ways.iter().map(|way| session.goal(way.sample)).collect();
        let gradients = slopes(session, ways, &goals, others)?;
        let known = gradients.iter().map(|gradient| gradient.logits.len().max(2) - 1).max();
        let mut gradients = gradients.into_iter();
        let mut further = Vec::with_capacity(ways.len());
        for (goal, mut way) in goals.iter().zip(ways.drain(..)) {
            let own: Vec<Gradient> = gradients.by_ref().take(ranks(goal, others)).collect();
            match nearest(goal, &own) {
                Some(step) => {
                    way.moved.iter_mut().zip(step).for_each(|(moved, step)| *moved += step);
                    way.point = reached(session, &way, self.overshoot);
                    further.push(way);
                }
                None => stuck.push(way),
            }
        }
        *ways = further;
        Ok(known.map_or(others, |known| others.min(known)))
    }

    /// Tries longer ways for samples that stand before a boundary.
    fn go_further(&self, session: &mut AttackSession<'_>, stuck: &[Way]) -> Result<(), Halt> {
        for further in FURTHER.iter().filter(|further| **further > self.overshoot) {
            let open =
                |way: &&Way| !session.is_found(way.sample) && session.affords(way.sample) > 0;
            let tried: Vec<(usize, Vec<f32>)> = stuck
                .iter()
                .filter(open)
                .map(|way| (way.sample, reached(session, way, *further)))
                .collect();
            session.ask(&borrowed(&tried))?;
        }
        Ok(())
    }
}

/// How many other classes are looked at; a wanted one leaves nothing to choose.
fn ranks(goal: &Goal, others: usize) -> usize {
    if goal.towards.is_some() { 1 } else { others }
}

/// How the lead over each other class depends on the points, all samples and classes together.
fn slopes(
    session: &mut AttackSession<'_>,
    ways: &[Way],
    goals: &[Goal],
    others: usize,
) -> Result<Vec<Gradient>, Halt> {
    let mut asked = Vec::new();
    for (at, goal) in goals.iter().enumerate() {
        asked.extend((0..ranks(goal, others)).map(|rank| (at, rank)));
    }
    let questions: Vec<(usize, &[f32])> =
        asked.iter().map(|&(at, _)| (ways[at].sample, ways[at].point.as_slice())).collect();
    session.gradients(&questions, &mut |question, logits| {
        let &(at, rank) = &asked[question];
        let rival = rival(&goals[at], logits, rank);
        let weights = rival.map(|(own, other)| [(other, 1.0), (own, -1.0)]);
        basis(logits.len(), weights.as_ref().map_or(&[], |weights| weights))
    })
}

/// Halves the last stretch of the ways to all found samples.
fn come_back(session: &mut AttackSession<'_>) -> Result<(), Halt> {
    let mut stretches: Vec<(usize, Vec<f32>, f32, f32)> = (0..session.len())
        .filter_map(|sample| Some((sample, session.best(sample)?.to_vec(), 0.0, 1.0)))
        .collect();
    for _ in 0..HALVINGS {
        stretches.retain(|(sample, ..)| session.affords(*sample) > 0);
        let tried: Vec<(usize, Vec<f32>)> = stretches
            .iter()
            .map(|(sample, far, low, high)| {
                (*sample, between(session.start(*sample), far, weighted(*low, *high)))
            })
            .collect();
        let replies = session.ask(&borrowed(&tried))?;
        for ((_, _, low, high), reply) in stretches.iter_mut().zip(replies) {
            let middle = weighted(*low, *high);
            if reply.changed { *high = middle } else { *low = middle }
        }
    }
    Ok(())
}

/// The boundary is mostly close to the far end: the first look is at nine tenths of the way.
fn weighted(low: f32, high: f32) -> f32 {
    if low == 0.0 { 0.1 * low + 0.9 * high } else { 0.5 * (low + high) }
}

fn between(from: &[f32], to: &[f32], share: f32) -> Vec<f32> {
    from.iter().zip(to).map(|(a, b)| (a + share * (b - a)).clamp(0.0, 1.0)).collect()
}

/// Where a way ends with an overshoot.
fn reached(session: &AttackSession<'_>, way: &Way, overshoot: f64) -> Vec<f32> {
    let share = (1.0 + overshoot) as f32;
    let start = session.start(way.sample);
    let end = start.iter().zip(&way.moved).map(|(from, moved)| from + share * moved);
    let mut point: Vec<f32> = end.map(|value| value.clamp(0.0, 1.0)).collect();
    session.confine(way.sample, &mut point);
    point
}

/// The class that should give way, and the one of a rank that should take its place.
fn rival(goal: &Goal, logits: &[f32], rank: usize) -> Option<(usize, usize)> {
    let top = argmax(logits.iter().copied())?;
    if let Some(wanted) = goal.towards {
        return (wanted != top && wanted < logits.len()).then_some((top, wanted));
    }
    let own = goal.from.filter(|class| *class < logits.len()).unwrap_or(top);
    let mut others: Vec<usize> = (0..logits.len()).filter(|class| *class != own).collect();
    others.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]));
    others.get(rank).map(|other| (own, *other))
}

/// The shortest step to a boundary, if any gradient leads to one.
fn nearest(goal: &Goal, gradients: &[Gradient]) -> Option<Vec<f32>> {
    let mut best: Option<(f64, f64, &[f32])> = None;
    for (rank, gradient) in gradients.iter().enumerate() {
        let Some((own, other)) = rival(goal, &gradient.logits, rank) else { continue };
        let behind = f64::from(gradient.logits[own] - gradient.logits[other]).abs();
        let square: f64 = gradient.slope.iter().map(|v| f64::from(*v) * f64::from(*v)).sum();
        let distance = behind / square.sqrt();
        let usable = square > 0.0 && distance.is_finite();
        if usable && best.is_none_or(|(min, ..)| distance < min) {
            best = Some((distance, behind / square, &gradient.slope));
        }
    }
    best.map(|(_, factor, slope)| slope.iter().map(|v| (factor * f64::from(*v)) as f32).collect())
}

fn points(ways: &[Way]) -> Vec<(usize, &[f32])> {
    ways.iter().map(|way| (way.sample, way.point.as_slice())).collect()
}

fn borrowed(tried: &[(usize, Vec<f32>)]) -> Vec<(usize, &[f32])> {
    tried.iter().map(|(sample, point)| (*sample, point.as_slice())).collect()
}
