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
        let offset = |(class, row): (usize, &Vec<f32>)| {
            let lead = if class == 0 { 0.0 } else { 0.3 + 0.2 * class as f32 };
            -0.5 * row.iter().sum::<f32>() - lead
        };
        let offsets = weights.iter().enumerate().map(offset).collect();
        (Self { shape, weights, offsets }, vec![0.5; values])
    }

    fn logits(&self, point: &[f32]) -> Vec<f32> {
        let row = |(row, offset): (&Vec<f32>, &f32)| {
            let sum: f64 = row.iter().zip(point).map(|(w, x)| f64::from(*w) * f64::from(*x)).sum();
            (sum + f64::from(*offset)) as f32
        };
        self.weights.iter().zip(&self.offsets).map(row).collect()
    }

    /// The least distance of a changed answer: over the classes, how far class 0 is ahead divided
    /// by the dual norm of the difference of the weights.
    pub(super) fn least(&self, point: &[f32], norm: Norm, goal: &Goal) -> f64 {
        let logits = self.logits(point);
        let distance = |class: usize| {
            let own = &self.weights[0];
            let pairs = self.weights[class].iter().zip(own);
            let slope: Vec<f64> = pairs.map(|(a, b)| f64::from(a - b)).collect();
            let dual = match norm {
                Norm::Infinity => slope.iter().map(|s| s.abs()).sum(),
                Norm::Two => slope.iter().map(|s| s * s).sum::<f64>().sqrt(),
                Norm::Zero | Norm::One => slope.iter().fold(0.0, |a: f64, s| a.max(s.abs())),
            };
            f64::from(logits[0] - logits[class]) / dual
        };
        let classes = 1..self.weights.len();
        let wanted = classes.filter(|class| goal.towards.is_none_or(|t| t == *class));
        wanted.map(distance).fold(f64::INFINITY, f64::min)
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
        let answer = |(at, question): (usize, &Question<'_>)| {
            let logits = self.logits(question.point);
            let mut sum = vec![0.0; question.point.len()];
            for (row, weight) in self.weights.iter().zip(slope(at, &logits)) {
                sum.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
            Gradient { reply: reply(question.goal, &logits), logits, slope: sum }
        };
        Ok(questions.iter().enumerate().map(answer).collect())
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
                let least = toy.0.least(&toy.1, norm, &goal);
                assert!(least < 0.5, "the range of pixels must not matter");
                for (share, expected) in [(0.99, false), (1.01, true)] {
                    let epsilon = (share * least).to_string();
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
            let least = toy.least(&start, Norm::Two, &goal);
            let attack = attack("deepfool", &[]);
            let found = attacked(&*attack, &toy, std::slice::from_ref(&start), &[goal], PLENTY);
            assert!(found[0].cost.first.is_some());
            let distance = Norm::Two.distance(&found[0].point, &start);
            assert!(distance > least * 0.9998, "{distance} {least}");
            // Towards one class, a third one may stand in the way.
            let tight = if goal.towards.is_some() { 1.5 } else { 1.0002 };
            assert!(distance < least * tight, "{distance} {least}");
        }
    }
}

#[test]
fn answers_alone_lead_close_to_the_smallest_change() {
    let (toy, start) = Linear::random(3, 2, [1, 4, 4]);
    for (word, norm, share) in [("2", Norm::Two, 1.05), ("inf", Norm::Infinity, 1.6)] {
        let least = toy.least(&start, norm, &ANY);
        let settings = [("norm", word), ("initial_evaluations", "300"), ("iterations", "20")];
        let attack = attack("hop_skip_jump", &settings);
        let found = attacked(&*attack, &toy, std::slice::from_ref(&start), &[ANY], PLENTY);
        let distance = norm.distance(&found[0].point, &start);
        assert!((0.999..share).contains(&(distance / least)), "{word}: {distance} {least}");
    }
}

#[test]
fn noise_reaches_only_what_its_size_allows() {
    let toy = Linear::random(2, 2, [1, 1, 2]);
    for (word, norm) in [("inf", Norm::Infinity), ("2", Norm::Two)] {
        let least = toy.0.least(&toy.1, norm, &ANY);
        for (share, expected) in [(0.98, false), (1.5, true)] {
            let epsilon = (share * least).to_string();
            let settings = [("epsilon", epsilon.as_str()), ("norm", word)];
            assert_eq!(reaches("random_noise", &settings, &toy, ANY), expected, "{word} {share}");
        }
    }
}

/// A single row of pixels: stripes and squares of one pixel can have every sign.
#[test]
fn squares_reach_the_goal_exactly_where_the_ball_does() {
    let toy = Linear::random(5, 2, [1, 1, 8]);
    let least = toy.0.least(&toy.1, Norm::Infinity, &ANY);
    for (share, expected) in [(0.99, false), (1.01, true)] {
        let epsilon = (share * least).to_string();
        assert_eq!(reaches("square", &[("epsilon", epsilon.as_str())], &toy, ANY), expected);
    }
}
