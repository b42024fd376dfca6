//! The few special functions that intervals need, accurate for samples of up to
//! [`crate::proportion::MAX_TRIALS`].

use std::f64::consts::{PI, SQRT_2};

/// The root of an increasing test: the point of `low..high` where `above` turns true, to the last
/// bit. Slower than Newton's method and never lost, which matters more for a handful of calls.
pub(crate) fn bisect(mut low: f64, mut high: f64, above: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return middle;
        }
        if above(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
}

/// The standard normal distribution function.
pub(crate) fn normal_cdf(z: f64) -> f64 {
    libm::erfc(-z / SQRT_2) / 2.0
}

/// The inverse of [`normal_cdf`]; infinite at 0 and 1.
pub(crate) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    bisect(-40.0, 0.0, |z| normal_cdf(z) > p)
}

/// The regularised incomplete beta function: the chance that a Beta(a, b) variable is at most x.
pub(crate) fn beta_cdf(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let front = ln_beta_front(x, a, b).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(x, a, b) / a
    } else {
        1.0 - front * beta_fraction(1.0 - x, b, a) / b
    }
}

/// The inverse of [`beta_cdf`] in x.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    bisect(0.0, 1.0, |x| beta_cdf(x, a, b) > p)
}

/// ln of xᵃ(1−x)ᵇ / B(a, b), by Loader's saddle-point expansion (2000, "Fast and accurate
/// computation of binomial probabilities"): plain log-gammas lose all digits in large samples.
pub(crate) fn ln_beta_front(x: f64, a: f64, b: f64) -> f64 {
    let n = a + b;
    let stirling = stirling_error(n) - stirling_error(a) - stirling_error(b);
    let deviance = deviance(a, n * x) + deviance(b, n * (1.0 - x));
    stirling - deviance + (a * b / n).ln() / 2.0 - (2.0 * PI).ln() / 2.0
}

/// lnΓ(x+1) less Stirling's approximation of it.
fn stirling_error(x: f64) -> f64 {
    if x < 16.0 {
        let stirling = (x + 0.5) * x.ln() - x + (2.0 * PI).ln() / 2.0;
        return libm::lgamma(x + 1.0) - stirling;
    }
    let s = 1.0 / (x * x);
    let tail = 1.0 / 1680.0 - s * (1.0 / 1188.0 - s * 691.0 / 360_360.0);
    (1.0 / 12.0 - s * (1.0 / 360.0 - s * (1.0 / 1260.0 - s * tail))) / x
}

/// x·ln(x/m) + m − x, without cancellation where x is close to m.
fn deviance(x: f64, m: f64) -> f64 {
    let d = x - m;
    if d.abs() >= 0.1 * (x + m) {
        return x * (x / m).ln() - d;
    }
    let v = d / (x + m);
    let mut sum = d * v;
    let mut term = 2.0 * x * v;
    for k in 1..100 {
        term *= v * v;
        let next = sum + term / f64::from(2 * k + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// The continued fraction of the incomplete beta function by Lentz's method. It needs a number of
/// steps that grows as the square root of a + b.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const STEPS: u32 = 1_000_000;
    let (mut c, mut d) = lentz_step(-(a + b) * x / (a + 1.0), f64::INFINITY, 1.0);
    let mut fraction = d;
    for k in 1..STEPS {
        let m = f64::from(k);
        let at = a + 2.0 * m;
        (c, d) = lentz_step(m * (b - m) * x / ((at - 1.0) * at), c, d);
        fraction *= c * d;
        (c, d) = lentz_step(-(a + m) * (a + b + m) * x / (at * (at + 1.0)), c, d);
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// One step of Lentz's method in the modification of Thompson and Barnett (1986): numerators and
/// denominators are kept away from 0.
fn lentz_step(coefficient: f64, c: f64, d: f64) -> (f64, f64) {
    (away_from_zero(1.0 + coefficient / c), 1.0 / away_from_zero(1.0 + coefficient * d))
}

fn away_from_zero(value: f64) -> f64 {
    if value.abs() < 1e-300 { 1e-300 } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_of_the_beta_distribution() {
        for x in [1e-9, 0.1, 0.5, 0.73, 0.99] {
            let arcsine = 2.0 / PI * libm::asin(libm::sqrt(x));
            for (a, b, want) in [
                (1.0, 1.0, x),
                (3.0, 1.0, x * x * x),
                (1.0, 2.0, x * (2.0 - x)),
                (0.5, 0.5, arcsine),
            ] {
                let got = beta_cdf(x, a, b);
                assert!((got / want - 1.0).abs() < 1e-13, "{x} {a} {b}: {got}");
                let back = beta_quantile(got, a, b);
                assert!((beta_cdf(back, a, b) - got).abs() < 1e-14, "{x} {a} {b}");
            }
        }
    }

    #[test]
    fn symmetric_in_large_samples() {
        for a in [1e3, 1e5, 1e8] {
            let half = beta_cdf(0.5, a, a);
            assert!((half - 0.5).abs() < 1e-11, "{a}: {half}");
        }
    }

    #[test]
    fn normal_quantile_inverts_the_distribution() {
        for p in [1e-12, 0.025, 0.3, 0.5, 0.975] {
            let back = normal_cdf(normal_quantile(p));
            assert!((back / p - 1.0).abs() < 1e-13, "{p}: {back}");
        }
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }
}
