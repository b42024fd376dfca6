//! Along the boundary between answers, without knowing more than the answers.

use super::ball::resize;
use super::noise::{bells, uniforms};
use super::step::{ITERATIONS, LENGTH_OR_LARGEST_TWO, count, norm};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const INITIAL: Parameter = Parameter {
    name: "initial_evaluations",
    about: "directions that the first iteration samples; later ones sample more",
    kind: ParameterKind::Whole { min: 1, max: 100_000 },
    unset: Unset::Is(Setting::Number(100.0)),
};

const MAX_EVALUATIONS: Parameter = Parameter {
    name: "most_evaluations",
    about: "largest number of directions that an iteration samples",
    kind: ParameterKind::Whole { min: 1, max: 100_000 },
    unset: Unset::Is(Setting::Number(1000.0)),
};

/// Random images that are tried for a start, and how many of them together. A wanted class is
/// rarer among them than any other one.
const STARTS: usize = 100;
const STARTS_TOWARDS: usize = 1000;
const TOGETHER: usize = 10;

/// How often a step is halved: after that it is too short to matter.
const HALVINGS: usize = 25;

/// How often the way to the boundary is halved at most, whatever its end.
const BISECTIONS: usize = 40;

described! {
    /// # What it does
    /// Walks along the decision boundary towards the image, from answers alone (Chen et al.
    /// 2020). It starts at random noise with another answer, bisects towards the image up to the
    /// boundary, estimates the direction of the boundary from answers nearby, and steps along it.
    /// # When to use it
    /// An attacker who can only query, and gets nothing but the answer.
    struct HopSkipJump {
        norm: Norm,
        iterations: usize,
        initial: usize,
        max_directions: usize,
    }
}

pub(super) const HOP_SKIP_JUMP: Plugin<dyn Attack> = Plugin {
    name: "hop_skip_jump",
    about: about(HopSkipJump::DOC),
    when: when(HopSkipJump::DOC),
    parameters: &[LENGTH_OR_LARGEST_TWO, ITERATIONS, INITIAL, MAX_EVALUATIONS],
    build: |settings| {
        Ok(Box::new(HopSkipJump {
            norm: norm(settings)?,
            iterations: count(settings, ITERATIONS.name)?,
            initial: count(settings, INITIAL.name)?,
            max_directions: count(settings, MAX_EVALUATIONS.name)?,
        }))
    },
};

/// Where the search for one sample stands: at a point with the wanted answer.
struct Hop {
    sample: usize,
    point: Vec<f32>,
}

impl Attack for HopSkipJump {
    fn needs(&self) -> Needs {
        Needs::Decisions
    }

    fn norm(&self) -> Norm {
        self.norm
    }

    fn dose(&self) -> Dose {
        Dose { axis: "iterations", amount: self.iterations as f64 }
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        let mut hops = Vec::new();
        for sample in session.open()? {
            hops.extend(begin(session, sample)?);
        }
        self.approach(session, &mut hops)?;
        for iteration in 0..self.iterations {
            let mut directions = Vec::with_capacity(hops.len());
            for hop in &hops {
                directions.push(self.feel(session, hop, iteration)?);
            }
            self.jump(session, &mut hops, &directions, iteration)?;
            self.approach(session, &mut hops)?;
        }
        Ok(())
    }
}

/// A random image with the wanted answer, if one is found.
fn begin(session: &mut AttackSession<'_>, sample: usize) -> Result<Option<Hop>, Halt> {
    let towards = session.goal(sample).towards.is_some();
    let mut left = if towards { STARTS_TOWARDS } else { STARTS };
    let values = session.start(sample).len();
    while left > 0 {
        let tries = left.min(TOGETHER).min(session.affords(sample));
        if tries == 0 {
            break;
        }
        let mut images = vec![0.0; tries * values];
        uniforms(session.stream(sample), &mut images);
        images.iter_mut().for_each(|value| *value = 0.5 + 0.5 * *value);
        let replies = session.ask(&rows(sample, &images, values))?;
        if let Some(at) = replies.iter().position(|reply| reply.changed) {
            let point = images[at * values..(at + 1) * values].to_vec();
            return Ok(Some(Hop { sample, point }));
        }
        left -= tries;
    }
    Ok(None)
}

impl HopSkipJump {
    /// How exactly the boundary is found, as a share of the way.
    fn fineness(&self, values: usize) -> f64 {
        let values = values.max(1) as f64;
        if self.norm == Norm::Infinity { 0.01 / values } else { 0.01 / values.sqrt() }
    }

    /// Moves all points towards their images, up to the boundary.
    fn approach(&self, session: &mut AttackSession<'_>, hops: &mut [Hop]) -> Result<(), Halt> {
        let mut spans: Vec<(f64, f64)> = vec![(0.0, 1.0); hops.len()];
        for _ in 0..BISECTIONS {
            let mut open = Vec::new();
            let mut tried: Vec<Vec<f32>> = Vec::new();
            for (at, (hop, &(low, high))) in hops.iter().zip(&spans).enumerate() {
                let coarse = high - low > self.fineness(hop.point.len());
                if coarse && session.affords(hop.sample) > 0 {
                    let middle = 0.5 * (low + high);
                    open.push(at);
                    tried.push(self.between(session.start(hop.sample), &hop.point, middle));
                }
            }
            let points: Vec<(usize, &[f32])> =
                open.iter().zip(&tried).map(|(&at, p)| (hops[at].sample, p.as_slice())).collect();
            let replies = session.ask(&points)?;
            for (&at, reply) in open.iter().zip(replies) {
                let middle = 0.5 * (spans[at].0 + spans[at].1);
                if reply.changed { spans[at].1 = middle } else { spans[at].0 = middle }
            }
        }
        for (hop, (_, high)) in hops.iter_mut().zip(spans) {
            if high < 1.0 {
                hop.point = self.between(session.start(hop.sample), &hop.point, high);
            }
        }
        Ok(())
    }

    /// The point on the way from an image that is a share of the distance away from it.
    fn between(&self, start: &[f32], point: &[f32], share: f64) -> Vec<f32> {
        let pairs = start.iter().zip(point);
        if self.norm == Norm::Infinity {
            let max = (share * self.norm.distance(start, point)) as f32;
            return pairs.map(|(from, to)| from + (to - from).clamp(-max, max)).collect();
        }
        let share = share as f32;
        pairs.map(|(from, to)| (from + share * (to - from)).clamp(0.0, 1.0)).collect()
    }

    /// The direction in which wanted answers lie, felt from answers around a point.
    fn feel(
        &self,
        session: &mut AttackSession<'_>,
        hop: &Hop,
        iteration: usize,
    ) -> Result<Vec<f32>, Halt> {
        let values = hop.point.len();
        let wanted = self.initial as f64 * ((iteration + 1) as f64).sqrt();
        let looks = (wanted as usize).min(self.max_directions).min(session.affords(hop.sample));
        let distance = self.norm.distance(&hop.point, session.start(hop.sample));
        let whole =
            if self.norm == Norm::Infinity { values as f64 } else { (values as f64).sqrt() };
        let reach = if iteration == 0 { 0.1 } else { whole * self.fineness(values) * distance };
        let mut around = vec![0.0; looks * values];
        let stream = session.stream(hop.sample);
        if self.norm == Norm::Infinity {
            uniforms(stream, &mut around);
        } else {
            bells(stream, &mut around);
        }
        for look in around.chunks_exact_mut(values.max(1)) {
            resize(look, reach);
            for (value, from) in look.iter_mut().zip(&hop.point) {
                *value = (from + *value).clamp(0.0, 1.0);
            }
        }
        let replies = session.ask(&rows(hop.sample, &around, values))?;
        let changed: Vec<bool> = replies.iter().map(|reply| reply.changed).collect();
        Ok(self.direction(&hop.point, &around, &changed))
    }

    /// The mean of all directions, those to other answers counted backwards; one where all
    /// answers are the same counts as it is.
    fn direction(&self, point: &[f32], around: &[f32], changed: &[bool]) -> Vec<f32> {
        let share = changed.iter().filter(|c| **c).count() as f32 / changed.len().max(1) as f32;
        let mixed = share > 0.0 && share < 1.0;
        let mean = if mixed { 2.0 * share - 1.0 } else { 0.0 };
        let mut sum = vec![0.0f32; point.len()];
        for (look, changed) in around.chunks_exact(point.len().max(1)).zip(changed) {
            let weight = if *changed { 1.0 - mean } else { -1.0 - mean };
            for ((sum, value), from) in sum.iter_mut().zip(look).zip(point) {
                *sum += weight * (value - from);
            }
        }
        if self.norm == Norm::Infinity {
            sum.iter_mut().for_each(|s| *s = if *s == 0.0 { 0.0 } else { s.signum() });
        } else {
            resize(&mut sum, 1.0);
        }
        sum
    }

    /// Steps along the directions, each as far as the answer stays as wanted.
    fn jump(
        &self,
        session: &mut AttackSession<'_>,
        hops: &mut [Hop],
        directions: &[Vec<f32>],
        iteration: usize,
    ) -> Result<(), Halt> {
        let mut lengths: Vec<f64> = Vec::with_capacity(hops.len());
        for hop in &*hops {
            let distance = self.norm.distance(&hop.point, session.start(hop.sample));
            lengths.push(distance / ((iteration + 1) as f64).sqrt());
        }
        let mut open: Vec<usize> = (0..hops.len()).collect();
        for _ in 0..HALVINGS {
            open.retain(|&at| session.affords(hops[at].sample) > 0);
            let tried: Vec<Vec<f32>> = open
                .iter()
                .map(|&at| moved(&hops[at].point, &directions[at], lengths[at] as f32))
                .collect();
            let points: Vec<(usize, &[f32])> =
                open.iter().zip(&tried).map(|(&at, p)| (hops[at].sample, p.as_slice())).collect();
            let replies = session.ask(&points)?;
            let mut left = Vec::new();
            for ((at, reply), point) in open.into_iter().zip(replies).zip(tried) {
                lengths[at] *= 0.5;
                if reply.changed { hops[at].point = point } else { left.push(at) }
            }
            open = left;
        }
        Ok(())
    }
}

fn moved(point: &[f32], direction: &[f32], length: f32) -> Vec<f32> {
    point.iter().zip(direction).map(|(p, d)| (p + length * d).clamp(0.0, 1.0)).collect()
}

/// Points of a sample that stand one behind the other.
fn rows(sample: usize, points: &[f32], values: usize) -> Vec<(usize, &[f32])> {
    points.chunks_exact(values.max(1)).map(|point| (sample, point)).collect()
}
