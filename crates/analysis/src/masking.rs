//! Whether gradients mislead: attacks that only ask beside those that follow gradients, at equal
//! size of their changes.

use faultlens_stats::mcnemar_exact;
use std::collections::BTreeMap;

/// Rounding of recorded distances.
const ROUNDING: f64 = 1e-5;

/// How far an attack that follows gradients may go; as bits, so that equal limits are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// In the largest of all pixels.
    Infinity(u64),
    /// In the length of the change.
    Two(u64),
}

/// What came of one attack on one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Whether the attack follows gradients.
    pub follows: bool,
    /// How far the image was moved in the largest of its pixels; `None` where no change was found.
    pub distance_inf: Option<f64>,
    /// The length of the change, likewise.
    pub distance_2: Option<f64>,
}

/// Both kinds of attack on the same cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BothKinds {
    /// Cases that met both.
    pub cases: u64,
    /// Those of them whose answer attacks changed that only ask.
    pub asking: u64,
    /// Those of them whose answer attacks changed that follow gradients.
    pub following: u64,
    /// The p-value of "both change as many" (McNemar).
    pub p_value: f64,
}

impl Limit {
    /// The limit of a norm's word; `None` where records do not say distances by it.
    pub fn new(norm: &str, epsilon: f64) -> Option<Self> {
        match norm {
            "inf" => Some(Self::Infinity(epsilon.to_bits())),
            "2" => Some(Self::Two(epsilon.to_bits())),
            _ => None,
        }
    }

    /// The largest change that counts.
    pub fn epsilon(self) -> f64 {
        match self {
            Self::Infinity(bits) | Self::Two(bits) => f64::from_bits(bits),
        }
    }

    /// The norm's word.
    pub fn norm(self) -> &'static str {
        match self {
            Self::Infinity(_) => "inf",
            Self::Two(_) => "2",
        }
    }

    fn allows(self, attempt: &Attempt) -> bool {
        let distance = match self {
            Self::Infinity(_) => attempt.distance_inf,
            Self::Two(_) => attempt.distance_2,
        };
        let most = self.epsilon() * (1.0 + ROUNDING) + ROUNDING;
        distance.is_some_and(|distance| distance <= most)
    }

    /// The cases that each kind of attack changed within the limit, side by side; `None` where no
    /// case met both kinds.
    pub fn both_kinds<K: Ord>(
        self,
        attempts: impl IntoIterator<Item = (K, Attempt)>,
    ) -> Option<BothKinds> {
        let mut cases: BTreeMap<K, [Option<bool>; 2]> = BTreeMap::new();
        for (case, attempt) in attempts {
            let own = &mut cases.entry(case).or_default()[usize::from(attempt.follows)];
            *own = Some(own.unwrap_or(false) || self.allows(&attempt));
        }
        let pairs = cases.values().filter_map(|[asking, following]| (*asking).zip(*following));
        let pairs: Vec<(bool, bool)> = pairs.collect();
        let count =
            |of: fn(&(bool, bool)) -> bool| pairs.iter().filter(|pair| of(pair)).count() as u64;
        let alone = [count(|pair| pair.0 && !pair.1), count(|pair| pair.1 && !pair.0)];
        (!pairs.is_empty()).then(|| BothKinds {
            cases: pairs.len() as u64,
            asking: count(|pair| pair.0),
            following: count(|pair| pair.1),
            p_value: mcnemar_exact(alone[0], alone[1]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_within_the_limit_count_and_cases_need_both_kinds() {
        let attempt = |follows, distance| Attempt {
            follows,
            distance_inf: distance,
            distance_2: distance.map(|d: f64| 10.0 * d),
        };
        let attempts = [
            (1, attempt(false, Some(0.03))),
            (1, attempt(true, None)),
            (2, attempt(false, Some(0.5))),
            (2, attempt(true, Some(0.01))),
            // The second try within the limit is enough.
            (2, attempt(false, Some(0.02))),
            (3, attempt(false, Some(0.01))),
        ];
        let limit = Limit::new("inf", 0.03).unwrap();
        let both = limit.both_kinds(attempts).unwrap();
        assert_eq!((both.cases, both.asking, both.following, both.p_value), (2, 2, 1, 1.0));
        let narrow = Limit::new("2", 0.15).unwrap().both_kinds(attempts).unwrap();
        assert_eq!((narrow.cases, narrow.asking, narrow.following), (2, 0, 1));
        assert_eq!(limit.both_kinds([(1, attempt(true, None))]), None);
        assert_eq!(Limit::new("1", 0.1), None);
    }
}
