//! One attack on one case, from the first question to what is recorded.

use super::AttackSpec;
use super::victim::ActiveAttack;
use crate::inject::{GoldenCase, Observation, micros};
use crate::show::told;
use faultlens_core::{Image, Reason, Response, Seed, Stream, TargetError};
use faultlens_faults::attack::{AttackCost, AttackSession, Found, Goal, Halt, Norm, Sample};
use faultlens_judge::top_class;
use faultlens_judge::visual::Reference;
use faultlens_spec::change_of;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

impl GoldenCase<'_> {
    /// Attacks the case.
    pub(crate) fn attack(
        &self,
        name: &'static str,
        assault: &AttackSpec,
        seed: u64,
    ) -> Observation {
        let start = Instant::now();
        let observed = self.besiege(name, assault, seed, start);
        let elapsed = start.elapsed();
        self.setup.clock.add(Duration::ZERO, elapsed);
        let failed = |error| Observation { queries: 0, ..Observation::inside(Err(error), 0) };
        Observation { micros: micros(elapsed), ..observed.unwrap_or_else(failed) }
    }

    fn besiege(
        &self,
        name: &'static str,
        assault: &AttackSpec,
        seed: u64,
        begun: Instant,
    ) -> Result<Observation, TargetError> {
        let (victim, start) = ActiveAttack::new(self, assault)?;
        let undisturbed = victim.picture(&start)?;
        let mut stream = Seed::new(seed).stream();
        let Some(goal) = goal(assault, &victim.answer, &mut stream) else {
            return Ok(void(Reason::NoAttackGoal, begun));
        };
        let told_changes = self.setup.tells_changes() || assault.within.is_some();
        let original = told_changes.then(|| Reference::new(&undisturbed).ok()).flatten();
        if assault.within.is_some() && original.is_none() {
            return Ok(void(Reason::VisualChangeUnknown, begun));
        }
        let change =
            |picture: &Image| original.as_ref().and_then(|original| change_of(original, picture));
        let passes = |point: &[f32]| {
            let change = victim.picture(point).ok().and_then(|picture| change(&picture));
            change.zip(assault.within).is_some_and(|(change, most)| change <= most)
        };
        let sample = Sample::new(start.clone(), goal, stream, assault.queries);
        let sample = if assault.within.is_some() { sample.unnoticed(&passes) } else { sample };
        let mut hunt = AttackSession::new(&victim, assault.attack.norm(), vec![sample])
            .averaging(assault.averaging);
        let halted = assault.attack.search(&mut hunt).err();
        let Left { point, account, answer } = left(&victim, hunt, halted, (&start, &goal))?;
        let image = victim.picture(&point)?;
        let visual_change = change(&image);
        let mut extra = told(visual_change);
        extra.extend(books(&account, assault.attack.norm(), &start, &point));
        Ok(Observation {
            shown_under: Some(name),
            moved: self.unlike(&victim.answer),
            visual_change,
            extra,
            image: Some(image),
            queries: u32::try_from(account.queries).unwrap_or(u32::MAX),
            ..Observation::inside(answer.map(Some), micros(begun.elapsed()))
        })
    }

    /// The undisturbed answer as the attack met it, where that is not golden.
    fn unlike(&self, answer: &Response) -> Option<Box<Response>> {
        (*answer != self.answer).then(|| Box::new(answer.clone()))
    }
}

/// What is wanted of the answer; `None` where it is wanted already, or there is no such class.
fn goal(assault: &AttackSpec, answer: &Response, stream: &mut Stream) -> Option<Goal> {
    let from = top_class(answer);
    let Some(towards) = &assault.towards else { return Some(Goal { from, towards: None }) };
    let class = towards.class(answer, stream)?;
    (from != Some(class)).then_some(Goal { from, towards: Some(class) })
}

/// What an attack leaves behind.
struct Left {
    point: Vec<f32>,
    account: AttackCost,
    answer: Result<Response, TargetError>,
}

/// The image that was found and its answer. An attack that found nothing leaves the image as it
/// is, unless its last try was refused: then that is what became of it.
fn left(
    victim: &ActiveAttack<'_>,
    hunt: AttackSession<'_>,
    halted: Option<Halt>,
    (start, goal): (&[f32], &Goal),
) -> Result<Left, TargetError> {
    let failed = || TargetError::Failed("the attack has lost its image".to_owned());
    let Found { point, draws, cost: account } =
        hunt.finish().into_iter().next().ok_or_else(failed)?;
    // Who may not be asked any more is asked again later, from the start.
    if let Some(Halt::Target(closed @ TargetError::Closed(_))) = halted {
        return Err(closed);
    }
    if account.first.is_some() {
        let answer = victim.last(&point, draws, goal);
        return Ok(Left { point: victim.settled(point), account, answer });
    }
    match halted {
        Some(Halt::Target(error)) => return Err(error),
        Some(halt @ Halt::Outside) => return Err(TargetError::Rejected(halt.to_string())),
        Some(Halt::Spent) | None => {}
    }
    let last = victim.last(&point, draws, goal);
    Ok(match last {
        Err(_) if account.queries > 0 => {
            Left { point: victim.settled(point), account, answer: last }
        }
        _ => Left { point: start.to_vec(), account, answer: Ok(victim.answer.clone()) },
    })
}

fn void(reason: Reason, begun: Instant) -> Observation {
    let void = Some(reason);
    Observation { queries: 0, void, ..Observation::inside(Ok(None), micros(begun.elapsed())) }
}

/// What a record says of an attack.
fn books(
    account: &AttackCost,
    norm: Norm,
    start: &[f32],
    point: &[f32],
) -> BTreeMap<String, String> {
    let AttackCost { gradients, cpu, wall, first, .. } = account;
    let seconds = |time: &Duration| format!("{:.9}", time.as_secs_f64());
    let brief = |distance: f64| format!("{distance:.6}");
    let mut books = vec![("cpu_seconds", seconds(cpu)), ("wall_seconds", seconds(wall))];
    if *gradients > 0 {
        books.push(("gradients", gradients.to_string()));
    }
    if let Some(first) = first {
        books.extend([
            ("distance", brief(norm.distance(start, point))),
            ("distance_inf", brief(Norm::Infinity.distance(start, point))),
            ("distance_2", brief(Norm::Two.distance(start, point))),
            ("distance_0", Norm::Zero.distance(start, point).to_string()),
            ("first_queries", first.queries.to_string()),
            ("first_gradients", first.gradients.to_string()),
            ("first_distance", brief(first.distance)),
            ("first_cpu_seconds", seconds(&first.cpu)),
            ("first_wall_seconds", seconds(&first.wall)),
        ]);
    }
    books.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}
