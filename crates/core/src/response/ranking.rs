//! Classes by the confidence of a target.

use super::{Names, class_called};
use std::cmp::Ordering;

/// One place in a ranking: a class and the confidence of the target in it.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ranked {
    /// The class's position in the target's output.
    pub index: usize,
    /// The class's name, or its index as text where names are unknown.
    pub label: String,
    /// The target's score, as the output description says: probability, logit or value.
    pub score: f32,
}

/// Classes from the highest score to the lowest.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(transparent))]
pub struct Ranking(Vec<Ranked>);

impl Ranking {
    /// Ranks scores, highest first; equal scores keep the order of their index, and a score that
    /// is not a number ranks last, so that the order never depends on the sort.
    pub fn from_scores(scores: &[f32], label: impl Fn(usize) -> String) -> Self {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| highest_first(scores[a], scores[b]).then(a.cmp(&b)));
        Self(
            order
                .into_iter()
                .map(|i| Ranked { index: i, label: label(i), score: scores[i] })
                .collect(),
        )
    }

    /// The ranking of a target that reports names without a fixed list of classes, in its order.
    pub fn of_names(places: impl IntoIterator<Item = (String, f32)>) -> Self {
        Self(
            places
                .into_iter()
                .map(|(label, score)| Ranked { index: class_called(&label), label, score })
                .collect(),
        )
    }

    /// The rank of a class, from 1; `None` where it is not ranked.
    pub fn rank_of(&self, class: usize) -> Option<usize> {
        self.0.iter().position(|place| place.index == class).map(|at| at + 1)
    }

    /// The places, best first.
    pub fn places(&self) -> &[Ranked] {
        &self.0
    }

    /// The best place, unless the target answered nothing at all.
    pub fn top(&self) -> Option<&Ranked> {
        self.0.first()
    }

    /// Only the best `k` places.
    pub fn truncated(mut self, k: usize) -> Self {
        self.0.truncate(k);
        self
    }
}

/// Highest first, what is not a number last.
fn highest_first(a: f32, b: f32) -> Ordering {
    match (a.is_nan(), b.is_nan()) {
        (false, false) => b.total_cmp(&a),
        (a_nan, b_nan) => a_nan.cmp(&b_nan),
    }
}

/// Where the highest score is, in the order of [`Ranking`] without the cost of a sort: the first
/// of equal scores, and one that is not a number only where no score is one. `None` without a
/// score.
pub fn argmax(scores: impl IntoIterator<Item = f32>) -> Option<usize> {
    let places = scores.into_iter().enumerate();
    places.min_by(|(_, a), (_, b)| highest_first(*a, *b)).map(|(at, _)| at)
}

/// A score for every class, ranked only when somebody looks.
#[derive(Debug, Clone)]
pub struct Scores {
    /// By class, in the target's order.
    pub scores: Vec<f32>,
    /// The classes' names.
    pub names: Names,
}

/// Names are the target's, not the answer's.
impl PartialEq for Scores {
    fn eq(&self, other: &Self) -> bool {
        self.scores == other.scores
    }
}

impl Scores {
    /// The class's name.
    pub fn name(&self, class: usize) -> String {
        self.names.name(class)
    }

    /// The best class.
    pub fn top(&self) -> Option<usize> {
        argmax(self.scores.iter().copied())
    }

    /// The rank of a class in the order of [`Ranking`], from 1; `None` for a class that does not
    /// exist.
    pub fn rank_of(&self, class: usize) -> Option<usize> {
        let own = *self.scores.get(class)?;
        let mut rank = 1;
        for (other, &score) in self.scores.iter().enumerate() {
            if highest_first(score, own).then(other.cmp(&class)) == Ordering::Less {
                rank += 1;
            }
        }
        Some(rank)
    }

    /// The scores as probabilities that sum to one: as they are where they do already, else through
    /// a softmax.
    pub fn shares(&self) -> Vec<f32> {
        if self.are_shares() {
            return self.scores.clone();
        }
        // Subtracting the largest score keeps the exponentials finite.
        let top = self.scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f32> = self.scores.iter().map(|score| libm::expf(score - top)).collect();
        let sum: f32 = powers.iter().sum();
        powers.into_iter().map(|power| power / sum).collect()
    }

    /// Whether the scores are probabilities that sum to one already.
    pub fn are_shares(&self) -> bool {
        let sum: f32 = self.scores.iter().sum();
        (sum - 1.0).abs() < 1e-3 && self.scores.iter().all(|score| (0.0..=1.0).contains(score))
    }

    /// All classes, best first.
    pub fn ranking(&self) -> Ranking {
        Ranking::from_scores(&self.scores, |class| self.name(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn ranks_highest_first_with_ties_by_index_and_nan_last() {
        let r = Ranking::from_scores(&[0.5, f32::NAN, 2.0, 0.5], |i| i.to_string());
        let order: Vec<usize> = r.places().iter().map(|p| p.index).collect();
        assert_eq!(order, [2, 0, 3, 1]);
    }

    #[test]
    fn the_best_k_are_those_of_the_ranking() {
        let scores = vec![0.5, f32::NAN, 2.0, 0.5, -1.0];
        let scores = Scores { scores, names: Names::Listed(Arc::new(["a".to_owned()])) };
        let ranking = scores.ranking();
        for k in 0..6 {
            for class in 0..6 {
                let wanted = ranking.places().iter().take(k).any(|place| place.index == class);
                assert_eq!(
                    scores.rank_of(class).is_some_and(|at| at <= k),
                    wanted,
                    "{class} among {k}"
                );
            }
        }
        assert_eq!((scores.name(0), scores.name(3)), ("a".to_owned(), "3".to_owned()));
    }

    #[test]
    fn the_best_score_is_the_first_of_the_highest() {
        let nan = f32::NAN;
        let infinity = f32::INFINITY;
        let cases: [(&[f32], Option<usize>); 7] = [
            (&[], None),
            (&[1.0, 3.0, 3.0], Some(1)),
            (&[nan, -1.0, nan], Some(1)),
            (&[nan, -infinity, -nan], Some(1)),
            (&[2.0, infinity, nan], Some(1)),
            (&[nan, -nan], Some(0)),
            (&[-2.0], Some(0)),
        ];
        for (scores, wanted) in cases {
            assert_eq!(argmax(scores.iter().copied()), wanted, "{scores:?}");
            let ranking = Ranking::from_scores(scores, |i| i.to_string());
            assert_eq!(ranking.top().map(|top| top.index), wanted, "{scores:?}");
        }
    }
}
