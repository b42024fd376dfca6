//! One attack on one case, from the first question to what is recorded.

use super::Assault;
use super::victim::Besieged;
use crate::inject::{Observed, Stage, micros};
use crate::show::told;
use crate::varied::change_of;
use faultlens_core::{Image, Reason, Response, Seed, TargetError};
use faultlens_faults::attack::{Account, Found, Goal, Halt, Hunt, Norm, Sample};
use faultlens_judge::best;
use faultlens_judge::visual::Reference;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What a record says of an attack that differs from run to run: times.
pub(crate) const TIMED: &[&str] =
    &["cpu_seconds", "wall_seconds", "first_cpu_seconds", "first_wall_seconds"];

impl Stage<'_> {
    /// Attacks the case.
    pub(crate) fn attack(&self, name: &'static str, assault: &Assault, seed: u64) -> Observed {
        let start = Instant::now();
        let observed = self.besiege(name, assault, seed, start);
        let elapsed = start.elapsed();
        self.setup.clock.add(Duration::ZERO, elapsed);
        let failed = |error| Observed { queries: 0, ..Observed::inside(Err(error), 0) };
        Observed { micros: micros(elapsed), ..observed.unwrap_or_else(failed) }
    }

    fn besiege(
        &self,
        name: &'static str,
        assault: &Assault,
        seed: u64,
        begun: Instant,
    ) -> Result<Observed, TargetError> {
        let (victim, start) = Besieged::new(self, assault)?;
        let undisturbed = victim.picture(&start)?;
        let mut stream = Seed::new(seed).stream();
        let towards = assault.towards.as_ref();
        let towards = towards.map(|towards| towards.class(&victim.answer, &mut stream));
        if towards == Some(None)
            || towards.flatten().is_some_and(|to| best(&victim.answer) == Some(to))
        {
            return Ok(void(Reason::NoSite, begun));
        }
        let goal = Goal { from: best(&victim.answer), towards: towards.flatten() };
        let told_changes = self.setup.tells_changes() || assault.within.is_some();
        let original = told_changes.then(|| Reference::new(&undisturbed).ok()).flatten();
        let change =
            |picture: &Image| original.as_ref().and_then(|original| change_of(original, picture));
        if assault.within.is_some() && original.is_none() {
            return Ok(void(Reason::Untold, begun));
        }
        let passes = |point: &[f32]| {
            let change = victim.picture(point).ok().and_then(|picture| change(&picture));
            change.zip(assault.within).is_some_and(|(change, most)| change <= most)
        };
        let sample = Sample::new(start.clone(), goal, stream, assault.queries);
        let sample = if assault.within.is_some() { sample.unnoticed(&passes) } else { sample };
        let norm = assault.attack.norm();
        let mut hunt = Hunt::new(&victim, norm, vec![sample]).averaging(assault.averaging);
        let halted = match assault.attack.search(&mut hunt) {
            Ok(()) | Err(Halt::Spent) => None,
            Err(Halt::Target(error)) => Some(error),
            Err(halt @ Halt::Outside) => Some(TargetError::Rejected(halt.to_string())),
        };
        let found = hunt.finish().into_iter().next();
        let Found { point, account } =
            found.unwrap_or_else(|| Found { point: start.clone(), account: Account::default() });
        let point = victim.settled(point);
        let image = victim.picture(&point)?;
        let visual_change = change(&image);
        let answer = match halted {
            // What was found before stays found.
            Some(error) if account.first.is_none() => Err(error),
            _ => victim.last(&point).map(Some),
        };
        let mut extra = told(visual_change);
        extra.extend(books(&account, norm, &start, &point));
        Ok(Observed {
            shown_under: Some(name),
            moved: self.unlike(&victim.answer),
            visual_change,
            extra,
            image: Some(image),
            queries: u32::try_from(account.queries).unwrap_or(u32::MAX),
            ..Observed::inside(answer, micros(begun.elapsed()))
        })
    }

    /// The undisturbed answer as the attack met it, where that is not golden.
    fn unlike(&self, answer: &Response) -> Option<Box<Response>> {
        (*answer != self.answer).then(|| Box::new(answer.clone()))
    }
}

fn void(reason: Reason, begun: Instant) -> Observed {
    let void = Some(reason);
    Observed { queries: 0, void, ..Observed::inside(Ok(None), micros(begun.elapsed())) }
}

/// What a record says of an attack.
fn books(account: &Account, norm: Norm, start: &[f32], point: &[f32]) -> BTreeMap<String, String> {
    let Account { gradients, cpu, wall, first, .. } = account;
    let seconds = |time: &Duration| format!("{:.9}", time.as_secs_f64());
    let brief = |distance: f64| format!("{distance:.6}");
    let mut books = vec![
        ("distance", brief(norm.distance(start, point))),
        ("distance_inf", brief(Norm::Infinity.distance(start, point))),
        ("distance_2", brief(Norm::Two.distance(start, point))),
        ("distance_0", Norm::Zero.distance(start, point).to_string()),
        ("cpu_seconds", seconds(cpu)),
        ("wall_seconds", seconds(wall)),
    ];
    if *gradients > 0 {
        books.push(("gradients", gradients.to_string()));
    }
    if let Some(first) = first {
        books.extend([
            ("first_queries", first.queries.to_string()),
            ("first_gradients", first.gradients.to_string()),
            ("first_distance", brief(first.distance)),
            ("first_cpu_seconds", seconds(&first.cpu)),
            ("first_wall_seconds", seconds(&first.wall)),
        ]);
    }
    books.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}
