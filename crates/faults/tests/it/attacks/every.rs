//! What holds for every attack of the registry.

use super::linear::{ANY, Linear};
use super::{PLENTY, attack, attacked};
use faultlens_core::{ParameterKind, Seed, Setting, TargetError, Unset};
use faultlens_faults::attack::{
    ATTACKS, Attack, AttackSession, AttackTarget, Goal, Gradient, Halt, Needs, Question, Reply,
    Sample,
};
use std::sync::atomic::{AtomicU64, Ordering};

/// Settings with which an attack is quick.
fn quick(name: &str) -> Box<dyn Attack> {
    match name {
        "pixel" | "threshold" => attack(name, &[("population", "20"), ("iterations", "15")]),
        "square" => attack(name, &[("iterations", "200")]),
        "hop_skip_jump" => attack(name, &[("initial_evaluations", "20"), ("iterations", "4")]),
        "auto_pgd" => attack(name, &[("restarts", "2"), ("iterations", "20")]),
        "pgd" => attack(name, &[("restarts", "2"), ("momentum", "0.9")]),
        _ => attack(name, &[]),
    }
}

#[test]
fn the_registry_is_sorted_and_its_defaults_are_in_range() {
    assert!(ATTACKS.is_sorted_by_key(|plugin| plugin.name));
    for plugin in ATTACKS {
        assert!(!plugin.about.ends_with('.') && !plugin.when.ends_with('.'), "{}", plugin.name);
        for parameter in plugin.parameters {
            let fits = match (&parameter.unset, parameter.kind) {
                (Unset::Is(Setting::Number(n)), ParameterKind::Whole { min, max }) => {
                    n.fract() == 0.0 && (min..=max).contains(&(*n as i64))
                }
                (Unset::Is(Setting::Number(n)), ParameterKind::Number { min, max }) => {
                    (min..=max).contains(n)
                }
                (Unset::Is(Setting::Word(word)), ParameterKind::Choice(words)) => {
                    words.contains(&word.as_ref())
                }
                (unset, _) => *unset == Unset::Absent,
            };
            assert!(fits, "{} {}", plugin.name, parameter.name);
        }
        let built = quick(plugin.name);
        assert!(built.dose().amount > 0.0, "{}", plugin.name);
        assert_eq!(built.is_one_shot(), plugin.name == "fgm");
    }
}

/// Counts what it is asked, and fails after so many queries.
struct Counting<'a> {
    inner: &'a dyn AttackTarget,
    asked: AtomicU64,
    fails_after: u64,
}

impl Counting<'_> {
    fn count(&self, questions: usize) -> Result<(), TargetError> {
        let before = self.asked.fetch_add(questions as u64, Ordering::Relaxed);
        if before + questions as u64 > self.fails_after {
            return Err(TargetError::Failed("on purpose".to_owned()));
        }
        Ok(())
    }
}

impl AttackTarget for Counting<'_> {
    fn shape(&self) -> [usize; 3] {
        self.inner.shape()
    }

    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError> {
        assert!(!questions.is_empty());
        assert!(questions.iter().all(|q| q.point.iter().all(|v| (0.0..=1.0).contains(v))));
        self.count(questions.len())?;
        self.inner.ask(questions)
    }

    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError> {
        assert!(!questions.is_empty());
        self.count(questions.len())?;
        self.inner.gradients(questions, slope)
    }
}

fn counting(inner: &dyn AttackTarget) -> Counting<'_> {
    Counting { inner, asked: AtomicU64::new(0), fails_after: u64::MAX }
}

#[test]
fn no_more_is_asked_than_may_be_and_the_cost_is_right() {
    let (toy, start) = Linear::random(4, 5, [3, 6, 6]);
    for plugin in ATTACKS {
        for max in [0, 1, 2, 7, 60, 400] {
            let target = counting(&toy);
            let starts = [start.clone(), start.clone()];
            let found = attacked(&*quick(plugin.name), &target, &starts, &[ANY, ANY], max);
            let counted: u64 = found.iter().map(|found| found.cost.queries).sum();
            assert_eq!(target.asked.load(Ordering::Relaxed), counted, "{}", plugin.name);
            for found in &found {
                let cost = found.cost;
                assert!(cost.queries <= max && cost.gradients <= cost.queries);
                assert!(cost.first.is_none_or(|f| f.queries >= 1 && f.queries <= max));
                if quick(plugin.name).needs() < Needs::Gradients {
                    assert_eq!(cost.gradients, 0);
                }
            }
        }
    }
}

#[test]
fn drawn_answers_cost_several_questions_each_with_its_own_number() {
    let (toy, start) = Linear::random(4, 5, [3, 6, 6]);
    for plugin in ATTACKS {
        let attack = quick(plugin.name);
        let samples = vec![Sample::new(start.clone(), ANY, Seed::new(1).stream(), 100)];
        let numbered = Numbered { inner: &toy, last: AtomicU64::new(0) };
        let mut session = AttackSession::new(&numbered, attack.norm(), samples).averaging(3);
        attack.search(&mut session).unwrap();
        let cost = session.finish()[0].cost;
        assert!(cost.queries <= 100 && cost.queries.is_multiple_of(3), "{}", plugin.name);
        assert_eq!(cost.queries, numbered.last.load(Ordering::Relaxed), "{}", plugin.name);
    }
}

/// Insists that the questions of its one sample are numbered one behind the other.
struct Numbered<'a> {
    inner: &'a dyn AttackTarget,
    last: AtomicU64,
}

impl Numbered<'_> {
    fn check(&self, questions: &[Question<'_>]) {
        for question in questions {
            assert_eq!(question.draw, self.last.fetch_add(1, Ordering::Relaxed) + 1);
        }
    }
}

impl AttackTarget for Numbered<'_> {
    fn shape(&self) -> [usize; 3] {
        self.inner.shape()
    }

    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError> {
        self.check(questions);
        self.inner.ask(questions)
    }

    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError> {
        self.check(questions);
        self.inner.gradients(questions, slope)
    }
}

#[test]
fn a_sample_is_attacked_the_same_alone_and_beside_others() {
    let (toy, start) = Linear::random(6, 4, [1, 5, 5]);
    let goals = [ANY, Goal { from: Some(0), towards: Some(2) }];
    for plugin in ATTACKS {
        let attack = quick(plugin.name);
        let together = attacked(&*attack, &toy, &[start.clone(), start.clone()], &goals, PLENTY);
        let again = attacked(&*attack, &toy, &[start.clone(), start.clone()], &goals, PLENTY);
        let alone = attacked(&*attack, &toy, std::slice::from_ref(&start), &goals[..1], PLENTY);
        assert_eq!(together[0].point, alone[0].point, "{}", plugin.name);
        for (a, b) in together.iter().zip(&again).chain([(&together[0], &alone[0])]) {
            assert_eq!(a.point, b.point, "{}", plugin.name);
            assert_eq!(a.cost.queries, b.cost.queries, "{}", plugin.name);
            let queries = |found: &faultlens_faults::attack::Found| {
                found.cost.first.map(|first| (first.queries, first.gradients))
            };
            assert_eq!(queries(a), queries(b), "{}", plugin.name);
        }
    }
}

#[test]
fn trials_differ_only_where_random_numbers_are_drawn() {
    let (toy, start) = Linear::random(6, 4, [1, 5, 5]);
    for plugin in ATTACKS {
        let attack = attack(plugin.name, &[]);
        let tried = |seed: u64, max: u64| {
            let stream = Seed::new(seed).stream();
            let samples = vec![Sample::new(start.clone(), ANY, stream, max)];
            let mut session = AttackSession::new(&toy, attack.norm(), samples);
            attack.search(&mut session).unwrap();
            session.finish()[0].point.clone()
        };
        // The first point of all shows it best: some searches end in the same corner.
        assert_eq!(tried(1, 1) != tried(2, 1), attack.draws(), "{}", plugin.name);
        assert!(attack.draws() || tried(1, 500) == tried(2, 500), "{}", plugin.name);
    }
}

/// Answers nonsense.
struct Broken {
    shape: [usize; 3],
    classes: usize,
    value: f32,
}

impl AttackTarget for Broken {
    fn shape(&self) -> [usize; 3] {
        self.shape
    }

    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError> {
        let number = Some(f64::from(self.value));
        let reply = Reply { changed: false, resistance: number, margin: number };
        Ok(vec![reply; questions.len()])
    }

    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError> {
        let logits = vec![self.value; self.classes];
        let mut gradients = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            assert_eq!(slope(at, &logits).len(), self.classes);
            let slope = vec![self.value; question.point.len()];
            let reply = Reply { changed: false, resistance: None, margin: None };
            gradients.push(Gradient { reply, logits: logits.clone(), slope });
        }
        Ok(gradients)
    }
}

#[test]
fn nonsense_ends_the_search_and_nothing_else() {
    for plugin in ATTACKS {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, 1.0] {
            for (shape, classes) in [([1, 1, 1], 1), ([3, 1, 1], 2), ([1, 2, 9], 10)] {
                let broken = Broken { shape, classes, value };
                let start = vec![0.0; shape.iter().product()];
                let goals = [
                    ANY,
                    Goal { from: None, towards: None },
                    Goal { from: Some(0), towards: Some(7) },
                ];
                let starts = vec![start; goals.len()];
                let found = attacked(&*quick(plugin.name), &broken, &starts, &goals, 2000);
                for found in found {
                    assert!(found.cost.first.is_none(), "{}", plugin.name);
                    assert!(found.point.iter().all(|v| (0.0..=1.0).contains(v)), "{}", plugin.name);
                }
            }
        }
    }
}

#[test]
fn a_target_that_fails_ends_the_search_and_what_was_found_stays() {
    let (toy, start) = Linear::random(4, 5, [1, 6, 6]);
    for plugin in ATTACKS {
        let target = Counting { inner: &toy, asked: AtomicU64::new(0), fails_after: 0 };
        let attack = quick(plugin.name);
        let samples = vec![Sample::new(start.clone(), ANY, Seed::new(1).stream(), PLENTY)];
        let mut session = AttackSession::new(&target, attack.norm(), samples);
        let ended = attack.search(&mut session);
        assert!(matches!(ended, Err(Halt::Target(_))), "{}", plugin.name);
        assert_eq!(session.finish()[0].point, start, "{}", plugin.name);
    }
}

#[test]
fn nothing_counts_that_people_notice() {
    let (toy, start) = Linear::random(4, 2, [1, 6, 6]);
    let near = start.clone();
    let passes = move |point: &[f32]| {
        point.iter().zip(&near).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) <= 0.3
    };
    for plugin in ATTACKS {
        let wide: &[(&'static str, &str)] = match plugin.name {
            "pixel" => &[("pixels", "36"), ("iterations", "20")],
            "threshold" => &[("threshold", "200")],
            "hop_skip_jump" | "deepfool" => &[],
            _ => &[("epsilon", "0.9")],
        };
        let attack = attack(plugin.name, wide);
        let sample = Sample::new(start.clone(), ANY, Seed::new(1).stream(), 5000);
        let mut session = AttackSession::new(&toy, attack.norm(), vec![sample.unnoticed(&passes)]);
        attack.search(&mut session).unwrap();
        let found = &session.finish()[0];
        assert!(found.cost.first.is_some(), "{}", plugin.name);
        assert!(passes(&found.point), "{}", plugin.name);
    }
}

#[test]
fn what_is_no_image_is_refused() {
    let (toy, start) = Linear::random(4, 5, [1, 6, 6]);
    for plugin in ATTACKS {
        for wrong in [1.5, -0.1, f32::NAN] {
            let mut start = start.clone();
            start[7] = wrong;
            let attack = quick(plugin.name);
            let samples = vec![Sample::new(start, ANY, Seed::new(1).stream(), PLENTY)];
            let ended = attack.search(&mut AttackSession::new(&toy, attack.norm(), samples));
            assert_eq!(ended, Err(Halt::Outside), "{}", plugin.name);
        }
    }
}
