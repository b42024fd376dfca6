//! What attacks that follow gradients make large: a number, and how it depends on the logits.

use super::Goal;
use super::step::basis;
use faultlens_core::argmax;

/// A loss that rises towards the goal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loss {
    /// How surprised one is by the undisturbed class, or how little by the wanted one.
    CrossEntropy,
    /// The difference of logits ratio (Croce and Hein 2020), which does not change with their
    /// scale: no model looks robust because it is very sure.
    Ratio,
}

impl Loss {
    /// What campaign files call the losses.
    pub(super) const WORDS: &'static [&'static str] = &["cross_entropy", "dlr"];

    pub(super) fn named(word: &str) -> Option<Self> {
        match word {
            "cross_entropy" => Some(Self::CrossEntropy),
            "dlr" => Some(Self::Ratio),
            _ => None,
        }
    }

    /// The loss of an answer.
    pub(super) fn value(self, goal: &Goal, logits: &[f32]) -> f64 {
        match self {
            Self::CrossEntropy => surprise(goal, logits),
            Self::Ratio => Quotient::of(goal, logits).map_or(f64::NAN, |q| q.over / q.under),
        }
    }

    /// How it depends on each logit.
    pub(super) fn slope(self, goal: &Goal, logits: &[f32]) -> Vec<f32> {
        match self {
            Self::CrossEntropy => cross_entropy(goal, logits),
            Self::Ratio => {
                Quotient::of(goal, logits).map_or_else(|| vec![0.0; logits.len()], |q| q.slope())
            }
        }
    }
}

/// The slope of the cross entropy: away from the class of the undisturbed answer, or towards the
/// wanted one.
pub(super) fn cross_entropy(goal: &Goal, logits: &[f32]) -> Vec<f32> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = logits.iter().map(|logit| libm::expf(logit - top)).collect();
    let sum: f32 = powers.iter().sum();
    let class = goal.towards.or(goal.from);
    let sign = if goal.towards.is_some() { -1.0 } else { 1.0 };
    // The derivative of the cross entropy is the softmax, less one for the class.
    let mut slope = Vec::with_capacity(powers.len());
    for (at, power) in powers.iter().enumerate() {
        let own = if Some(at) == class { 1.0 } else { 0.0 };
        slope.push(sign * (power / sum - own));
    }
    slope
}

fn surprise(goal: &Goal, logits: &[f32]) -> f64 {
    let Some(class) = goal.towards.or(goal.from).filter(|class| *class < logits.len()) else {
        return f64::NAN;
    };
    let own = f64::from(logits[class]);
    let top = f64::from(logits.iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = logits.iter().map(|logit| libm::exp(f64::from(*logit) - top)).sum();
    let surprise = libm::log(sum) + top - own;
    if goal.towards.is_some() { -surprise } else { surprise }
}

fn weighted_sum(weights: &[(usize, f64)], logits: &[f32]) -> f64 {
    weights.iter().map(|&(class, weight)| weight * f64::from(logits[class])).sum()
}

/// A difference of logits over another one.
struct Quotient {
    over: f64,
    under: f64,
    classes: usize,
    /// The weights of the logits in each.
    over_weights: Vec<(usize, f64)>,
    under_weights: Vec<(usize, f64)>,
}

impl Quotient {
    /// Where there are too few classes for the difference below, it is one; there is none where
    /// nothing stands against the undisturbed class.
    fn of(goal: &Goal, logits: &[f32]) -> Option<Self> {
        let mut order: Vec<usize> = (0..logits.len()).collect();
        order.sort_by(|a, b| logits[*b].total_cmp(&logits[*a]));
        let own =
            goal.from.filter(|class| *class < logits.len()).or(argmax(logits.iter().copied()))?;
        let (rival, under_weights) = match goal.towards {
            Some(wanted) => {
                let under = match order.as_slice() {
                    [first, _, third, fourth, ..] => {
                        vec![(*first, 1.0), (*third, -0.5), (*fourth, -0.5)]
                    }
                    _ => Vec::new(),
                };
                (wanted, under)
            }
            None => {
                let under = match order.as_slice() {
                    [first, _, third, ..] => vec![(*first, 1.0), (*third, -1.0)],
                    _ => Vec::new(),
                };
                (order.iter().copied().find(|class| *class != own)?, under)
            }
        };
        if rival >= logits.len() {
            return None;
        }
        let over_weights = vec![(rival, 1.0), (own, -1.0)];
        let over = weighted_sum(&over_weights, logits);
        let under =
            if under_weights.is_empty() { 1.0 } else { weighted_sum(&under_weights, logits) };
        let usable = under > 0.0 && under.is_finite() && over.is_finite();
        let classes = logits.len();
        usable.then_some(Self { over, under, classes, over_weights, under_weights })
    }

    fn slope(&self) -> Vec<f32> {
        let above = self.over_weights.iter().map(|&(class, w)| (class, (w / self.under) as f32));
        let falls = -self.over / (self.under * self.under);
        let below = self.under_weights.iter().map(|&(class, w)| (class, (falls * w) as f32));
        basis(self.classes, &above.chain(below).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOGITS: [f32; 5] = [2.0, 0.5, -1.0, 1.25, 0.75];

    #[test]
    fn slopes_are_those_of_the_values() {
        let towards = |class| Goal { from: Some(0), towards: Some(class) };
        for goal in [Goal { from: Some(0), towards: None }, towards(2), towards(3)] {
            for loss in [Loss::CrossEntropy, Loss::Ratio] {
                let slope = loss.slope(&goal, &LOGITS);
                for class in 0..LOGITS.len() {
                    let moved = |by: f32| {
                        let mut logits = LOGITS;
                        logits[class] += by;
                        loss.value(&goal, &logits)
                    };
                    let measured = (moved(1e-2) - moved(-1e-2)) / 2e-2;
                    let computed = f64::from(slope[class]);
                    assert!((measured - computed).abs() < 1e-4, "{loss:?} {goal:?} {class}");
                }
            }
        }
    }

    #[test]
    fn the_ratio_is_that_of_its_authors() {
        let any = Goal { from: Some(0), towards: None };
        // -(2 - 1.25) / (2 - 0.75)
        assert!((Loss::Ratio.value(&any, &LOGITS) + 0.6).abs() < 1e-6);
        let wanted = Goal { from: Some(0), towards: Some(1) };
        // -(2 - 0.5) / (2 - (0.75 + 0.5) / 2)
        let expected = -1.5 / 1.375;
        assert!((Loss::Ratio.value(&wanted, &LOGITS) - expected).abs() < 1e-6);
        let scaled = LOGITS.map(|logit| 100.0 * logit);
        assert!((Loss::Ratio.value(&any, &scaled) + 0.6).abs() < 1e-6);
    }

    #[test]
    fn few_classes_and_strange_logits_do_no_harm() {
        let any = Goal { from: Some(0), towards: None };
        assert_eq!(Loss::Ratio.value(&any, &[3.0, 1.0]), -2.0);
        assert_eq!(Loss::Ratio.slope(&any, &[3.0, 1.0]), [-1.0, 1.0]);
        for logits in [&[][..], &[1.0], &[1.0; 4], &[f32::NAN; 3], &[f32::INFINITY, 0.0, 1.0]] {
            for loss in [Loss::CrossEntropy, Loss::Ratio] {
                for goal in [
                    any,
                    Goal { from: None, towards: None },
                    Goal { from: Some(9), towards: Some(8) },
                ] {
                    assert_eq!(loss.slope(&goal, logits).len(), logits.len());
                    loss.value(&goal, logits);
                }
            }
        }
    }
}
