//! Linear models: the smallest change of an answer is known in closed form.

use super::digits::reply;
use super::{PLENTY, attack, attacked};
use faultlens_core::{Seed, TargetError};
use faultlens_faults::attack::{AttackTarget, Goal, Gradient, Norm, Question, Reply};

/// Logits that are sums of pixels.
pub(super) struct Linear {
    shape: [usize; 3],
    /// By class.
    weights: Vec<Vec<f32>>,
    offsets: Vec<f32>,
}

impl Linear {
    /// Random weights; a grey image of 0.5 is of class 0, by not much.
    pub(super) fn random(seed: u64, classes: usize, shape: [usize; 3]) -> (Self, Vec<f32>) {
        let mut stream = Seed::new(seed).stream();
        let values = shape.iter().product();
        let weights: Vec<Vec<f32>> =
            (0..classes).map(|_| (0..values).map(|_| stream.gaussian() as f32).collect()).collect();
        let mut offsets = Vec::new();
        for (class, row) in weights.iter().enumerate() {
            let lead = if class == 0 { 0.0 } else { 0.3 + 0.2 * class as f32 };
            offsets.push(-0.5 * row.iter().sum::<f32>() - lead);
        }
        (Self { shape, weights, offsets }, vec![0.5; values])
    }

    fn logits(&self, point: &[f32]) -> Vec<f32> {
        let mut logits = Vec::new();
        for (row, offset) in self.weights.iter().zip(&self.offsets) {
            let sum: f64 = row.iter().zip(point).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
            logits.push((sum + f64::from(*offset)) as f32);
        }
        logits
    }

    /// The least distance of a changed answer: over the classes, how far class 0 is ahead divided
    /// by the dual norm of the difference of the weights.
    pub(super) fn minimum(&self, point: &[f32], norm: Norm, goal: &Goal) -> f64 {
        let logits = self.logits(point);
        let mut minimum = f64::INFINITY;
        for class in 1..self.weights.len() {
            if goal.towards.is_some_and(|wanted| wanted != class) {
                continue;
            }
            let pairs = self.weights[class].iter().zip(&self.weights[0]);
            let slope: Vec<f64> = pairs.map(|(a, b)| f64::from(a - b)).collect();
            let dual = match norm {
                Norm::Infinity => slope.iter().map(|s| s.abs()).sum(),
                Norm::Two => slope.iter().map(|s| s * s).sum::<f64>().sqrt(),
                Norm::Zero | Norm::One => slope.iter().fold(0.0, |a: f64, s| a.max(s.abs())),
            };
            minimum = minimum.min(f64::from(logits[0] - logits[class]) / dual);
        }
        minimum
    }
}

impl AttackTarget for Linear {
    fn shape(&self) -> [usize; 3] {
        self.shape
    }

    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError> {
        Ok(questions.iter().map(|q| reply(q.goal, &self.logits(q.point))).collect())
    }

    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError> {
        let mut gradients = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            let logits = self.logits(question.point);
            let mut sum = vec![0.0; question.point.len()];
            for (row, weight) in self.weights.iter().zip(slope(at, &logits)) {
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
            gradients.push(Gradient { reply: reply(question.goal, &logits), logits, slope: sum });
        }
        Ok(gradients)
    }
}

pub(super) const ANY: Goal = Goal { from: Some(0), towards: None };

/// Whether an attack with these settings reaches the goal.
fn reaches(
    name: &str,
    settings: &[(&'static str, &str)],
    toy: &(Linear, Vec<f32>),
    goal: Goal,
) -> bool {
    let attack = attack(name, settings);
    let found = attacked(&*attack, &toy.0, std::slice::from_ref(&toy.1), &[goal], PLENTY);
    found[0].cost.first.is_some()
}

#[test]
fn pgd_reaches_the_goal_exactly_where_the_ball_does() {
    for seed in 0..8 {
        let toy = Linear::random(seed, 2, [1, 4, 5]);
        for (word, norm) in [("inf", Norm::Infinity), ("2", Norm::Two), ("1", Norm::One)] {
            for goal in [ANY, Goal { from: Some(0), towards: Some(1) }] {
                let minimum = toy.0.minimum(&toy.1, norm, &goal);
                assert!(minimum < 0.5, "the range of pixels must not matter");
                for (share, expected) in [(0.99, false), (1.01, true)] {
                    let epsilon = (share * minimum).to_string();
                    let settings = [("epsilon", epsilon.as_str()), ("norm", word)];
                    assert_eq!(reaches("pgd", &settings, &toy, goal), expected, "{word} {share}");
                    if norm != Norm::One {
                        let computed = reaches("auto_pgd", &settings, &toy, goal);
                        assert_eq!(computed, expected, "auto_pgd {word} {share}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_sum_moves_on_where_a_pixel_is_at_its_end() {
    let (mut toy, start) = Linear::random(1, 2, [1, 1, 4]);
    // The steepest pixel alone ends at 1 before the answer changes.
    toy.weights = vec![vec![0.0; 4], vec![1.0, 0.9, 0.8, 0.7]];
    toy.offsets = vec![0.0, -0.5 * 3.4 - 0.9];
    let settings = [("epsilon", "1.2"), ("norm", "1"), ("iterations", "40")];
    assert!(reaches("pgd", &settings, &(toy, start), ANY));
}

#[test]
fn deepfool_finds_the_smallest_change_of_a_linear_model() {
    for seed in 0..8 {
        let (toy, start) = Linear::random(seed, 4, [3, 2, 3]);
        for goal in [ANY, Goal { from: Some(0), towards: Some(3) }] {
            let minimum = toy.minimum(&start, Norm::Two, &goal);
            let attack = attack("deepfool", &[]);
            let found = attacked(&*attack, &toy, std::slice::from_ref(&start), &[goal], PLENTY);
            assert!(found[0].cost.first.is_some());
            let distance = Norm::Two.distance(&found[0].point, &start);
            assert!(distance > minimum * 0.9998, "{distance} {minimum}");
            // Towards one class, a third one may stand in the way.
            let tight = if goal.towards.is_some() { 1.5 } else { 1.0002 };
            assert!(distance < minimum * tight, "{distance} {minimum}");
        }
    }
}

#[test]
fn answers_alone_lead_close_to_the_smallest_change() {
    let (toy, start) = Linear::random(3, 2, [1, 4, 4]);
    for (word, norm, share) in [("2", Norm::Two, 1.05), ("inf", Norm::Infinity, 1.6)] {
        let minimum = toy.minimum(&start, norm, &ANY);
        let settings = [("norm", word), ("initial_evaluations", "300"), ("iterations", "20")];
        let attack = attack("hop_skip_jump", &settings);
        let found = attacked(&*attack, &toy, std::slice::from_ref(&start), &[ANY], PLENTY);
        let distance = norm.distance(&found[0].point, &start);
        assert!((0.999..share).contains(&(distance / minimum)), "{word}: {distance} {minimum}");
    }
}

#[test]
fn noise_reaches_only_what_its_size_allows() {
    let toy = Linear::random(2, 2, [1, 1, 2]);
    for (word, norm) in [("inf", Norm::Infinity), ("2", Norm::Two)] {
        let minimum = toy.0.minimum(&toy.1, norm, &ANY);
        for (share, expected) in [(0.98, false), (1.5, true)] {
            let epsilon = (share * minimum).to_string();
            let settings = [("epsilon", epsilon.as_str()), ("norm", word)];
            assert_eq!(reaches("random_noise", &settings, &toy, ANY), expected, "{word} {share}");
        }
    }
}

/// A single row of pixels: stripes and squares of one pixel can have every sign.
#[test]
fn squares_reach_the_goal_exactly_where_the_ball_does() {
    let toy = Linear::random(5, 2, [1, 1, 8]);
    let minimum = toy.0.minimum(&toy.1, Norm::Infinity, &ANY);
    for (share, expected) in [(0.99, false), (1.01, true)] {
        let epsilon = (share * minimum).to_string();
        assert_eq!(reaches("square", &[("epsilon", epsilon.as_str())], &toy, ANY), expected);
    }
}
