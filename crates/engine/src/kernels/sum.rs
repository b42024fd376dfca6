//! Long sums in one fixed order.

use super::simd::per_isa;

/// Sums that are kept side by side; as many as hide the time that one addition takes.
const LANES: usize = 16;

/// The sum of `term` over all values: in double precision, in an order that depends on nothing but
/// their number. Up to sixteen values are summed from the first to the last.
pub(crate) fn sum<T: Copy + Into<f64>, F: Fn(f64) -> f64>(values: &[T], term: F) -> f64 {
    // Sixteen partial sums, as many on every machine, so that the order of additions is part of
    // the definition and not of the vector width.
    let mut lanes = [0.0; LANES];
    add_lanes(values, &mut lanes, term);
    lanes.iter().sum()
}

per_isa! {
    /// Adds every sixteenth term to the same lane.
    fn add_lanes[T: Copy + Into<f64>, F: Fn(f64) -> f64](values: &[T], lanes: &mut [f64; LANES], term: F) = {
        let (rows, rest) = values.as_chunks::<LANES>();
        for row in rows {
            for (lane, &x) in lanes.iter_mut().zip(row) {
                *lane += term(x.into());
            }
        }
        for (lane, &x) in lanes.iter_mut().zip(rest) {
            *lane += term(x.into());
        }
    };
}

/// The sum of `term` over all pairs of values, in the order of [`sum`].
pub(crate) fn sum_pairs<F: Fn(f64, f64) -> f64>(a: &[f32], b: &[f32], term: F) -> f64 {
    let mut lanes = [0.0; LANES];
    add_pair_lanes(a, b, &mut lanes, term);
    lanes.iter().sum()
}

per_isa! {
    fn add_pair_lanes[F: Fn(f64, f64) -> f64](a: &[f32], b: &[f32], lanes: &mut [f64; LANES], term: F) = {
        for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
            for ((lane, &x), &y) in lanes.iter_mut().zip(a).zip(b) {
                *lane += term(x.into(), y.into());
            }
        }
    };
}

per_isa! {
    /// Adds each value to a sum of its own.
    fn add_each[](sums: &mut [f64], values: &[f32]) = {
        for (sum, &x) in sums.iter_mut().zip(values) {
            *sum += f64::from(x);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_sums_run_from_first_to_last() {
        let values = [1.0f32, 1e30, -1e30, 2.0];
        assert_eq!(sum(&values, |x| x), 2.0);
        assert_eq!(sum::<f32, _>(&[], |x| x), 0.0);
    }

    #[test]
    fn pairs_are_summed_as_single_values_are() {
        let values: Vec<f32> = (0..37).map(|i| (i as f32).sin()).collect();
        assert_eq!(sum_pairs(&values, &values, |x, y| x * y), sum(&values, |x| x * x));
        let mut sums = [1.0; 3];
        add_each(&mut sums, &[1.0, 2.0, 3.0]);
        assert_eq!(sums, [2.0, 3.0, 4.0]);
    }

    #[test]
    fn long_sums_lose_nothing_that_matters() {
        let values = vec![0.1f32; 100_003];
        let exact = 100_003.0 * f64::from(0.1f32);
        assert!((sum(&values, |x| x) - exact).abs() < 1e-9);
    }
}
