//! Attacks: a search for the smallest change of the image that changes the answer.

mod check;
mod target;

use super::{Disturb, Facts, Probe, SeedScope, Trial, Unfit};
use crate::observation::{Observation, ShownImage};
use crate::target::OpenTarget;
use faultlens_core::{Image, Reason, Response, Seed, Stream, TargetError};
use faultlens_faults::attack::{
    AttackCost as SearchCost, AttackSession, Found, Goal, Halt, Norm, Sample,
};
use faultlens_judge::top_class;
use faultlens_judge::visual::Reference;
use faultlens_record::store::FaultOn;
use faultlens_record::{AttackCost, AttackSuccess, FirstSuccess, Measures};
use faultlens_spec::{AttackSpec, change_of};
use target::ActiveAttack;

impl Disturb for AttackSpec {
    fn facts(&self) -> Facts<'_> {
        Facts {
            max_queries: self.most_questions(),
            // Labels are placed in the image of the case, not in that of the model's size.
            shows_no_image: Some(
                "attacks on a model are shown at its size, where the labels do not lie",
            ),
            ..Facts::new(FaultOn::Attack, SeedScope::TargetAndCase)
        }
    }

    fn check(&self, target: &OpenTarget) -> Result<(), Unfit> {
        check::suits(self, target).map_err(Unfit::Target)
    }

    fn trials(&self, planned: u32, probe: &Probe<'_>) -> Result<u32, String> {
        if let Some(image) = probe.image() {
            check::gradients_work(self, probe.target, image)?;
        }
        Ok(planned)
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        // The whole search counts as the target's time: it consists of queries.
        trial.start_asking();
        search(self, trial).unwrap_or_else(|error| Observation::answered(Err(error)))
    }
}

fn search(spec: &AttackSpec, trial: &mut Trial<'_>) -> Result<Observation, TargetError> {
    let golden = trial.golden;
    let (active, start) = ActiveAttack::new(golden, spec)?;
    let undisturbed = active.picture(&start)?;
    let mut stream = Seed::new(trial.seed.seed).stream();
    let Some(goal) = goal(spec, &active.answer, &mut stream) else {
        return Ok(Observation::skipped(Reason::NoAttackGoal));
    };
    let mut reference = None;
    if golden.context.measures_visual_change || spec.within.is_some() {
        reference = Reference::new(&undisturbed).ok();
    }
    if spec.within.is_some() && reference.is_none() {
        return Ok(Observation::skipped(Reason::VisualChangeUnknown));
    }
    let visual_change =
        |picture: &Image| reference.as_ref().and_then(|reference| change_of(reference, picture));
    let unnoticed = |point: &[f32]| {
        let picture = active.picture(point).ok();
        let change = picture.and_then(|picture| visual_change(&picture));
        change.zip(spec.within).is_some_and(|(change, most)| change <= most)
    };
    let mut sample = Sample::new(start.clone(), goal, stream, spec.queries);
    if spec.within.is_some() {
        sample = sample.unnoticed(&unnoticed);
    }
    let norm = spec.attack.norm();
    let mut session = AttackSession::new(&active, norm, vec![sample]).averaging(spec.averaging);
    let halted = spec.attack.search(&mut session).err();
    let SearchEnd { point, cost, answer } = end(&active, session, halted, (&start, &goal))?;
    let image = active.picture(&point)?;
    let visual_change = visual_change(&image);
    trial.count_queries(cost.queries);
    let shown = ShownImage {
        // The undisturbed answer as the attack met it, where that is not the golden one.
        expected: (active.answer != golden.answer).then(|| active.answer.clone()),
        ..ShownImage::new(image, trial.fault, visual_change)
    };
    let attack = Some(attack_cost(&cost, norm, &start, &point));
    Ok(Observation {
        shown: Some(Box::new(shown)),
        measures: Measures { attack, ..Measures::default() },
        ..Observation::answered(answer.map(Some))
    })
}

/// What the attack wants of the answer; `None` where the answer is that already, or has no such
/// class.
fn goal(spec: &AttackSpec, answer: &Response, stream: &mut Stream) -> Option<Goal> {
    let from = top_class(answer);
    let Some(towards) = &spec.towards else { return Some(Goal { from, towards: None }) };
    let class = towards.class(answer, stream)?;
    (from != Some(class)).then_some(Goal { from, towards: Some(class) })
}

/// Where a search ended.
struct SearchEnd {
    point: Vec<f32>,
    cost: SearchCost,
    answer: Result<Response, TargetError>,
}

/// The image that a search ended at, and its answer. A search that found nothing leaves the image as
/// it is, unless its last query failed: then that failure is the result.
fn end(
    active: &ActiveAttack<'_>,
    session: AttackSession<'_>,
    halted: Option<Halt>,
    (start, goal): (&[f32], &Goal),
) -> Result<SearchEnd, TargetError> {
    let Some(Found { point, draws, cost }) = session.finish().into_iter().next() else {
        return Err(TargetError::Failed("the attack has lost its image".to_owned()));
    };
    // A target that gives no answer now is asked again later, from the start.
    if let Some(Halt::Target(error)) = &halted
        && error.leaves_open()
    {
        return Err(error.clone());
    }
    if cost.first.is_some() {
        let answer = active.last(&point, draws, goal);
        return Ok(SearchEnd { point: active.rounded(point), cost, answer });
    }
    match halted {
        Some(Halt::Target(error)) => return Err(error),
        Some(halt @ Halt::Outside) => return Err(TargetError::Rejected(halt.to_string())),
        Some(Halt::Spent) | None => {}
    }
    let last = active.last(&point, draws, goal);
    if last.is_err() && cost.queries > 0 {
        return Ok(SearchEnd { point: active.rounded(point), cost, answer: last });
    }
    Ok(SearchEnd { point: start.to_vec(), cost, answer: Ok(active.answer.clone()) })
}

/// The cost of a search, and how far it moved the image where it succeeded.
fn attack_cost(cost: &SearchCost, norm: Norm, start: &[f32], point: &[f32]) -> AttackCost {
    let success = cost.first.as_ref().map(|first| AttackSuccess {
        distance: norm.distance(start, point),
        distance_inf: Norm::Infinity.distance(start, point),
        distance_2: Norm::Two.distance(start, point),
        distance_0: Norm::Zero.distance(start, point),
        first: FirstSuccess {
            queries: first.queries,
            gradients: first.gradients,
            distance: first.distance,
            cpu_seconds: first.cpu.as_secs_f64(),
            wall_seconds: first.wall.as_secs_f64(),
        },
    });
    AttackCost {
        cpu_seconds: cost.cpu.as_secs_f64(),
        wall_seconds: cost.wall.as_secs_f64(),
        gradients: cost.gradients,
        success,
    }
}
