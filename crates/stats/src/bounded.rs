//! Gaffke's bound for the mean of a quantity between 0 and 1, of whose distribution nothing is
//! known.

use crate::estimate::Level;

/// A bound that the mean share of events exceeds with a chance of at most half of what the level
/// leaves, from clusters with `(events, weights)`.
///
/// Gaffke (2005, Communications in Statistics 34:1757–1771): give the clusters, and one more in
/// which everything is an event, random weights that sum to 1, uniform among all such weights. The
/// bound is the quantile of the weighted mean. For clusters that are all or nothing it is Clopper
/// and Pearson's. That it holds for every distribution is proven for two observations and has not
/// failed in any search since (Learned-Miller and Thomas 2019; Phan, Thomas and Learned-Miller 2021).
///
/// A mean of clusters that do not all weigh the same is a ratio; the added one weighs as much as the
/// heaviest.
pub(crate) fn upper_mean(clusters: &[(f64, f64)], level: Level) -> f64 {
    let heaviest = clusters.iter().map(|cluster| cluster.1).fold(0.0, f64::max);
    if heaviest == 0.0 {
        return 1.0;
    }
    let total: f64 = clusters.iter().map(|cluster| cluster.1).sum();
    let rate = clusters.iter().map(|cluster| cluster.0).sum::<f64>() / total;
    if rate >= 1.0 {
        return 1.0;
    }
    let mut all: Vec<(f64, f64)> = clusters.to_vec();
    all.push((heaviest, heaviest));
    let mut groups = equal_ones(&all);
    if groups.len() > MAX_GROUPS {
        let rounded: Vec<(f64, f64)> =
            all.iter().map(|cluster| rounded(*cluster, heaviest)).collect();
        groups = equal_ones(&rounded);
    }
    let tail = level.alpha() / 2.0;
    // Uniform weights are exponential variables over their sum, so that the weighted mean is at
    // most t where the sum of each variable times what its cluster has above t is at most 0.
    let mut low = rate;
    let mut high = 1.0;
    // Each step is an integral, and nobody reads more digits.
    while high - low > 1e-10 {
        let t = f64::midpoint(low, high);
        let above: Vec<(f64, i32)> =
            groups.iter().map(|&(events, weights, n)| (events - t * weights, n)).collect();
        if chance_above_zero(&above) < tail { high = t } else { low = t }
    }
    high
}

/// The clusters that are equal, with how many there are of each.
fn equal_ones(clusters: &[(f64, f64)]) -> Vec<(f64, f64, i32)> {
    let mut sorted = clusters.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut groups: Vec<(f64, f64, i32)> = Vec::new();
    for (events, weights) in sorted {
        match groups.last_mut() {
            Some(last) if last.0 == events && last.1 == weights => last.2 += 1,
            _ => groups.push((events, weights, 1)),
        }
    }
    groups
}

/// More groups than this are rounded to fewer: each costs time at every step of an integral.
const MAX_GROUPS: usize = 300;

/// A cluster with its rate rounded up to the next of 100 steps, so that the bound only rises, and
/// its weight to one of eight steps between powers of two.
fn rounded((events, weights): (f64, f64), heaviest: f64) -> (f64, f64) {
    const WEIGHTS: f64 = 8.0;
    const RATES: f64 = 100.0;
    let step = (libm::log2(weights / heaviest) * WEIGHTS).round();
    let weight = heaviest * libm::exp2(step / WEIGHTS);
    ((events / weights * RATES - 1e-9).ceil() / RATES * weight, weight)
}

/// The chance that a sum of independent exponential variables with these factors is above 0, each
/// factor so many times.
///
/// By inversion of the characteristic function (Gil-Pelaez 1951; Imhof 1961): 1/2 + 1/π ∫ Im φ(s)/s
/// ds over positive s, with φ(s) = ∏ 1 / (1 − i a s). In ln s the integrand falls off on both sides,
/// where the trapezoid rule converges faster than any power of the step.
fn chance_above_zero(factors: &[(f64, i32)]) -> f64 {
    const STEP: f64 = 0.05;
    let squares: f64 = factors.iter().map(|&(a, n)| f64::from(n) * a * a).sum();
    let scale = squares.sqrt();
    if scale == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    // From where the integrand is below e⁻³⁴ upwards.
    let mut x = -34.0;
    loop {
        let s = f64::exp(x) / scale;
        let (size, imaginary) = characteristic(factors, s);
        sum += imaginary;
        // What is left is at most the size, as it falls at least as 1/s.
        if x > 0.0 && size < 1e-13 || x > 60.0 {
            break;
        }
        x += STEP;
    }
    (0.5 + STEP * sum / std::f64::consts::PI).clamp(0.0, 1.0)
}

/// The size of φ(s) and its imaginary part.
fn characteristic(factors: &[(f64, i32)], s: f64) -> (f64, f64) {
    let mut ln_size = 0.0;
    let mut angle = 0.0;
    for &(a, n) in factors {
        let n = f64::from(n);
        ln_size -= n * libm::log1p((a * s).powi(2)) / 2.0;
        angle += n * libm::atan(a * s);
    }
    let size = ln_size.exp();
    (size, size * libm::sin(angle))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clopper_pearson;

    #[test]
    fn all_or_nothing_is_clopper_and_pearson() {
        for (hits, n) in [(0, 1), (0, 10), (1, 10), (4, 20), (7, 50), (199, 200), (3, 1000)] {
            let clusters: Vec<_> =
                (0..n).map(|at| (if at < hits { 5.0 } else { 0.0 }, 5.0)).collect();
            let wanted = clopper_pearson(hits, n, Level::default()).unwrap().high;
            let found = upper_mean(&clusters, Level::default());
            assert!((found - wanted).abs() < 1e-9, "{hits} of {n}: {found} {wanted}");
        }
        assert_eq!(upper_mean(&[(5.0, 5.0); 3], Level::default()), 1.0);
        assert_eq!(upper_mean(&[], Level::default()), 1.0);
    }
}
