//! Attacks on a network whose peers' results are known, and on linear models whose smallest
//! changes are; see `data/README.md`.

mod asking;
mod digits;
mod every;
mod gradient;
mod linear;

use digits::Digits;
use faultlens_core::{Seed, Setting, Settings, Unset, argmax};
use faultlens_faults::attack::{
    ATTACKS, Attack, AttackSession, AttackTarget, Found, Goal, Norm, Sample,
};
use std::path::PathBuf;

/// Enough questions for every attack here.
pub(super) const PLENTY: u64 = 1_000_000;

/// An attack with its defaults and these settings.
pub(super) fn attack(name: &str, settings: &[(&'static str, &str)]) -> Box<dyn Attack> {
    let plugin = ATTACKS.iter().find(|plugin| plugin.name == name).unwrap();
    let mut all = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            all.set(parameter.name, setting.clone());
        }
    }
    for &(name, value) in settings {
        let parameter = plugin.parameters.iter().find(|parameter| parameter.name == name).unwrap();
        all.set(
            name,
            match parameter.kind {
                faultlens_core::ParameterKind::Choice(_) => Setting::Word(value.to_owned().into()),
                _ => Setting::Number(value.parse().unwrap()),
            },
        );
    }
    (plugin.build)(&all).unwrap()
}

/// What an attack finds for images with these goals, at most `max_queries` queries each.
pub(super) fn attacked(
    attack: &dyn Attack,
    target: &dyn AttackTarget,
    images: &[Vec<f32>],
    goals: &[Goal],
    max_queries: u64,
) -> Vec<Found> {
    let mut samples = Vec::new();
    for (at, (image, goal)) in images.iter().zip(goals).enumerate() {
        let stream = Seed::new(5).at(at as u64).stream();
        samples.push(Sample::new(image.clone(), *goal, stream, max_queries));
    }
    let mut session = AttackSession::new(target, attack.norm(), samples);
    attack.search(&mut session).unwrap();
    session.finish()
}

/// Digits under attack.
pub(super) struct Exam {
    pub(super) target: Digits,
    pub(super) images: Vec<Vec<f32>>,
    pub(super) goals: Vec<Goal>,
}

impl Exam {
    /// The first digits; each should become anything else.
    pub(super) fn of(count: usize) -> Self {
        let target = Digits::load(&data("digits_cnn.onnx")).unwrap();
        let images: Vec<Vec<f32>> = array("images.npy", 256).into_iter().take(count).collect();
        let logits = array("logits.npy", 10);
        let mut goals = Vec::new();
        for logits in logits.into_iter().take(count) {
            goals.push(Goal { from: argmax(logits), towards: None });
        }
        Self { target, images, goals }
    }

    /// The same digits; each should become the class behind its own.
    pub(super) fn targeted(mut self) -> Self {
        for goal in &mut self.goals {
            goal.towards = goal.from.map(|class| (class + 1) % 10);
        }
        self
    }

    pub(super) fn results(&self, attack: &dyn Attack) -> Results {
        self.results_within(attack, PLENTY)
    }

    /// What the attack finds, checked: asked again, found points have the wanted answer, no value
    /// is outside the range, and no sample cost more than it may.
    pub(super) fn results_within(&self, attack: &dyn Attack, max: u64) -> Results {
        let found = attacked(attack, &self.target, &self.images, &self.goals, max);
        let norm = attack.norm();
        for ((found, goal), image) in found.iter().zip(&self.goals).zip(&self.images) {
            let question =
                faultlens_faults::attack::Question { point: &found.point, goal, draw: 1 };
            let reply = self.target.ask(&[question]).unwrap()[0];
            assert_eq!(reply.changed, found.cost.first.is_some());
            assert!(found.point.iter().all(|value| (0.0..=1.0).contains(value)));
            assert!(found.cost.queries <= max);
            assert!(found.cost.first.is_none_or(|first| first.queries <= max
                && norm.distance(&found.point, image) <= first.distance));
        }
        let images = self.images.clone();
        Results { found, images }
    }
}

/// What an attack has found.
pub(super) struct Results {
    pub(super) found: Vec<Found>,
    images: Vec<Vec<f32>>,
}

impl Results {
    /// The share of samples whose answer changed.
    pub(super) fn reached(&self) -> f64 {
        let changed = self.found.iter().filter(|found| found.cost.first.is_some()).count();
        changed as f64 / self.found.len() as f64
    }

    /// The distances of the samples whose answer changed.
    pub(super) fn distances(&self, norm: Norm) -> Vec<f64> {
        let pairs = self.found.iter().zip(&self.images);
        let changed = pairs.filter(|(found, _)| found.cost.first.is_some());
        changed.map(|(found, image)| norm.distance(&found.point, image)).collect()
    }

    /// Their mean.
    pub(super) fn mean_distance(&self, norm: Norm) -> f64 {
        let distances = self.distances(norm);
        distances.iter().sum::<f64>() / distances.len() as f64
    }

    /// Questions for each sample.
    pub(super) fn mean_queries(&self) -> f64 {
        let queries: u64 = self.found.iter().map(|found| found.cost.queries).sum();
        queries as f64 / self.found.len() as f64
    }
}

fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/attacks").join(name)
}

/// The rows of an array of `f32` beside the tests.
pub(super) fn array(name: &str, row: usize) -> Vec<Vec<f32>> {
    digits::rows_of(&data(name), row).unwrap()
}
