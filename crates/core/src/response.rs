//! What a target answers.

use serde::Serialize;

/// One place in a ranking: a class and how strongly the target believes in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// The class's position in the target's output.
    pub index: usize,
    /// The class's name, or its index as text where names are unknown.
    pub label: String,
    /// The target's score, as the output description says: probability, logit or value.
    pub score: f32,
}

/// Classes from the most to the least believed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Ranking(Vec<Ranked>);

impl Ranking {
    /// Ranks scores, highest first; equal scores keep the order of their index, and a score that
    /// is not a number ranks last, so that the order never depends on the sort.
    pub fn from_scores(scores: &[f32], label: impl Fn(usize) -> String) -> Self {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| match (scores[a].is_nan(), scores[b].is_nan()) {
            (false, false) => scores[b].total_cmp(&scores[a]).then(a.cmp(&b)),
            (a_nan, b_nan) => a_nan.cmp(&b_nan).then(a.cmp(&b)),
        });
        Self(
            order
                .into_iter()
                .map(|i| Ranked { index: i, label: label(i), score: scores[i] })
                .collect(),
        )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_highest_first_with_ties_by_index_and_nan_last() {
        let r = Ranking::from_scores(&[0.5, f32::NAN, 2.0, 0.5], |i| i.to_string());
        let order: Vec<usize> = r.places().iter().map(|p| p.index).collect();
        assert_eq!(order, [2, 0, 3, 1]);
    }
}
