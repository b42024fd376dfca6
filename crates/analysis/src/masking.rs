//! Whether a target masks its gradients: query-based attacks compared with gradient-based ones at
//! equal size of their perturbations.

use faultlens_stats::mcnemar_exact;
use std::collections::BTreeMap;

/// Rounding of recorded distances.
const ROUNDING: f64 = 1e-5;

/// The largest perturbation of a gradient-based attack; as bits, so that equal limits are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    /// By the largest change of a pixel.
    Infinity(u64),
    /// By the Euclidean length of the change.
    Two(u64),
}

/// The result of one attack on one case.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Whether the attack is gradient-based.
    pub follows: bool,
    /// The largest change of a pixel; `None` where no adversarial image was found.
    pub distance_inf: Option<f64>,
    /// The length of the change, likewise.
    pub distance_2: Option<f64>,
}

/// Both kinds of attack on the same cases.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BothKinds {
    /// Cases that met both.
    pub cases: u64,
    /// Those of them whose prediction query-based attacks changed.
    pub asking: u64,
    /// Those of them whose prediction gradient-based attacks changed.
    pub following: u64,
    /// The p-value of "both change as many" (McNemar).
    pub p_value: f64,
}

impl Limit {
    /// The limit by a norm's name; `None` where records have no distances by it.
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

    /// The norm's name.
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
        let mut both = BothKinds { cases: 0, asking: 0, following: 0, p_value: 1.0 };
        // Discordant pairs, which McNemar's test compares.
        let mut asking_only = 0;
        let mut following_only = 0;
        for [asking, following] in cases.into_values() {
            let Some((asking, following)) = asking.zip(following) else { continue };
            both.cases += 1;
            both.asking += u64::from(asking);
            both.following += u64::from(following);
            asking_only += u64::from(asking && !following);
            following_only += u64::from(following && !asking);
        }
        both.p_value = mcnemar_exact(asking_only, following_only);
        (both.cases > 0).then_some(both)
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
