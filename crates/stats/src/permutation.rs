use crate::bootstrap::index_below;

/// Up to so many differences all signs are tried; 2¹⁶ sums take no time.
const MAX_EXACT: usize = 16;

/// How many random signs or orders stand for all of them. The p-value of a true null exceeds its
/// level by at most 1 / (draws + 1).
const DRAWS: u64 = 9_999;

/// Sums in another order differ in the last bits: what comes this close counts as equal.
const EQUAL: f64 = 1.0 - 1e-9;

/// The sign-flip test (Fisher 1935), two-sided: the chance that paired differences, one per image,
/// have a mean this far from 0 where each could as well have had the other sign. Use it to ask
/// whether one target fails more often than another on the same images.
///
/// Exact for up to 16 differences, with 9,999 random sets of signs beyond that. Without a
/// difference that is not 0 the answer is 1.
pub fn sign_flip(differences: &[f64], mut draw: impl FnMut() -> u64) -> f64 {
    let differences: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    let observed = differences.iter().sum::<f64>().abs() * EQUAL;
    if differences.len() <= MAX_EXACT {
        let all = 1_u64 << differences.len();
        let extreme = (0..all).filter(|signs| flipped(&differences, *signs).abs() >= observed);
        return extreme.count() as f64 / all as f64;
    }
    let mut extreme = 1;
    for _ in 0..DRAWS {
        // Each draw has the signs of 64 differences.
        let sum: f64 = differences.chunks(64).map(|chunk| flipped(chunk, draw())).sum();
        extreme += u64::from(sum.abs() >= observed);
    }
    extreme as f64 / (DRAWS + 1) as f64
}

/// The sum of at most 64 differences, each with the sign that its bit says.
fn flipped(differences: &[f64], signs: u64) -> f64 {
    let mut sum = 0.0;
    for (at, difference) in differences.iter().enumerate() {
        sum += if signs >> at & 1 == 1 { *difference } else { -difference };
    }
    sum
}

/// The permutation test of two groups of images, two-sided: the chance that their means lie this far
/// apart where chance alone decides which image is in which group. Values are one per image, so that
/// many trials of one image count as one.
///
/// With 9,999 random orders. Without two groups the answer is 1.
pub fn permutation(first: &[f64], second: &[f64], mut draw: impl FnMut() -> u64) -> f64 {
    if first.is_empty() || second.is_empty() {
        return 1.0;
    }
    let mut all: Vec<f64> = first.iter().chain(second).copied().collect();
    let total: f64 = all.iter().sum();
    let mean = total / all.len() as f64;
    // The total is fixed, so the first group's sum decides how far the means lie apart.
    let expected = mean * first.len() as f64;
    let observed = (first.iter().sum::<f64>() - expected).abs() * EQUAL;
    let mut extreme = 1;
    for _ in 0..DRAWS {
        let mut sum = 0.0;
        // The first places of a random order (Fisher and Yates).
        for at in 0..first.len() {
            let other = at + index_below(all.len() - at, draw());
            all.swap(at, other);
            sum += all[at];
        }
        extreme += u64::from((sum - expected).abs() >= observed);
    }
    extreme as f64 / (DRAWS + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generator(mut state: u64) -> impl FnMut() -> u64 {
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = state;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^ (bits >> 31)
        }
    }

    /// Darwin's maize, with which Fisher (1935, The Design of Experiments, section 21) introduced
    /// the test: of 2¹⁵ sets of signs 1,726 have a sum at least as far from 0, p = 0.0527.
    #[test]
    fn darwins_maize() {
        let maize = [
            49.0, -67.0, 8.0, 16.0, 6.0, 23.0, 28.0, 41.0, 14.0, 29.0, 56.0, 24.0, 75.0, 60.0,
            -48.0,
        ];
        let p = sign_flip(&maize, generator(1));
        assert_eq!(p, 1726.0 / 32768.0);
        // With two more that hardly count, all signs are too many to try.
        let many: Vec<f64> = maize.into_iter().chain([1e-6, -1e-6]).collect();
        let drawn = sign_flip(&many, generator(2));
        assert!((drawn - p).abs() < 0.01, "{drawn}");
    }

    #[test]
    fn nothing_differs() {
        assert_eq!(sign_flip(&[], generator(1)), 1.0);
        assert_eq!(sign_flip(&[0.0; 40], generator(1)), 1.0);
        assert_eq!(permutation(&[1.0; 8], &[1.0; 9], generator(1)), 1.0);
        assert_eq!(permutation(&[], &[1.0], generator(1)), 1.0);
    }

    /// With all orders: 2 of the 20 ways to choose three of six lie as far apart.
    #[test]
    fn groups_that_do_not_overlap() {
        let p = permutation(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0], generator(3));
        assert!((p - 0.1).abs() < 0.01, "{p}");
    }
}
