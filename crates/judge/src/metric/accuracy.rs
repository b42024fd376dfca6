//! The share of right answers.

/// The share of pairs (answer, label) that agree, as every classifier is compared by; `None`
/// without a pair.
pub fn accuracy(pairs: impl IntoIterator<Item = (usize, usize)>) -> Option<f64> {
    let mut right = 0usize;
    let mut all = 0usize;
    for (answer, label) in pairs {
        right += usize::from(answer == label);
        all += 1;
    }
    (all > 0).then(|| right as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_right_answers() {
        assert_eq!(accuracy([(1, 1), (2, 1), (0, 0), (3, 3)]), Some(0.75));
        assert_eq!(accuracy([]), None);
    }
}
