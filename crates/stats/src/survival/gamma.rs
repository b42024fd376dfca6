//! The gamma function's relatives that survival models need.

use std::f64::consts::PI;

/// ln Γ(a) less Stirling's approximation (a−½)ln a − a + ½ln 2π, and its first two derivatives by
/// λ where a = λ⁻². Even and smooth in λ, also at 0, which log-gamma itself is not.
pub(crate) fn stirling_rest(lambda: f64) -> [f64; 3] {
    const SERIES: [f64; 6] =
        [1.0 / 12.0, -1.0 / 360.0, 1.0 / 1260.0, -1.0 / 1680.0, 1.0 / 1188.0, -691.0 / 360_360.0];
    let square = lambda * lambda;
    // Stirling's series in 1/a = λ²: exact to double precision for a > 25.
    if square < 0.04 {
        let mut out = [0.0; 3];
        for (k, c) in SERIES.iter().enumerate() {
            // The powers of λ are 2, 6, 10, …
            let power = (4 * k + 2) as f64;
            let low = square.powi(2 * k as i32);
            out[0] += c * low * square;
            out[1] += c * power * low * lambda;
            out[2] += c * power * (power - 1.0) * low;
        }
        return out;
    }
    let a = 1.0 / square;
    let value = libm::lgamma(a) - (a - 0.5) * a.ln() + a - (2.0 * PI).ln() / 2.0;
    let (psi, psi1) = polygammas(a);
    let by_a = psi - a.ln() + 0.5 / a;
    let by_aa = psi1 - 1.0 / a - 0.5 / (a * a);
    let a1 = -2.0 * a / lambda;
    let a2 = 6.0 * a * a;
    [value, by_a * a1, by_aa * a1 * a1 + by_a * a2]
}

/// The digamma and trigamma functions of a > 0.
pub(crate) fn polygammas(mut a: f64) -> (f64, f64) {
    let mut psi = 0.0;
    let mut psi1 = 0.0;
    // The recurrence ψ(a) = ψ(a+1) − 1/a leads to where the asymptotic series converges.
    while a < 16.0 {
        psi -= 1.0 / a;
        psi1 += 1.0 / (a * a);
        a += 1.0;
    }
    let s = 1.0 / (a * a);
    psi += a.ln()
        - 0.5 / a
        - s * (1.0 / 12.0 - s * (1.0 / 120.0 - s * (1.0 / 252.0 - s * (1.0 / 240.0 - s / 132.0))));
    psi1 += 1.0 / a
        + 0.5 * s
        + s / a
            * (1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s * (1.0 / 30.0 - s * 5.0 / 66.0))));
    (psi, psi1)
}

/// The upper regularised incomplete gamma function Q(a, x).
pub(crate) fn gamma_upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 1.0;
    }
    let front = (a * x.ln() - x - libm::lgamma(a)).exp();
    if x < a + 1.0 {
        // The power series of the lower function.
        let mut term = 1.0 / a;
        let mut sum = 1.0 / a;
        let mut n = a;
        while term > sum * 1e-17 {
            n += 1.0;
            term *= x / n;
            sum += term;
        }
        return 1.0 - front * sum;
    }
    // The continued fraction of the upper function by Lentz's method.
    let mut b = x + 1.0 - a;
    let mut c = f64::INFINITY;
    let mut d = 1.0 / b;
    let mut fraction = d;
    for k in 1..100_000 {
        let step = -f64::from(k) * (f64::from(k) - a);
        b += 2.0;
        d = 1.0 / (b + step * d);
        c = b + step / c;
        fraction *= c * d;
        if (c * d - 1.0).abs() < 1e-16 {
            break;
        }
    }
    front * fraction
}

/// The chance that a χ² variable of so many degrees of freedom exceeds x: a test's p-value.
pub(crate) fn chi_squared_upper(x: f64, freedom: usize) -> f64 {
    gamma_upper(freedom as f64 / 2.0, x / 2.0)
}

/// ln(1 − Φ(z)) and its first two derivatives, far into both tails.
pub(crate) fn ln_normal_upper(z: f64) -> [f64; 3] {
    let upper = crate::special::normal_cdf(-z);
    let ln_density = -z * z / 2.0 - (2.0 * PI).ln() / 2.0;
    let value = if z < -1.0 {
        (-crate::special::normal_cdf(z)).ln_1p()
    } else if z < 30.0 {
        upper.ln()
    } else {
        // The asymptotic series of Mills' ratio; erfc underflows out here.
        let s = 1.0 / (z * z);
        ln_density - z.ln() + (-s * (1.0 - s * (3.0 - s * 15.0))).ln_1p()
    };
    // The hazard of the normal distribution, the inverse of Mills' ratio.
    let mills = (ln_density - value).exp();
    [value, -mills, -mills * (mills - z)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        let (psi, psi1) = polygammas(1.0);
        assert!((psi + 0.577_215_664_901_532_9).abs() < 1e-14, "{psi}");
        assert!((psi1 - PI * PI / 6.0).abs() < 1e-14, "{psi1}");
        for x in [0.1, 1.0, 3.0, 30.0] {
            assert!((gamma_upper(1.0, x) / (-x).exp() - 1.0).abs() < 1e-13, "{x}");
            let half = libm::erfc(x.sqrt());
            assert!((gamma_upper(0.5, x) / half - 1.0).abs() < 1e-12, "{x}");
        }
        assert!((chi_squared_upper(3.841_458_820_694_124, 1) - 0.05).abs() < 1e-14);
    }

    #[test]
    fn derivatives_by_differences() {
        let h = 1e-4;
        for at in [-40.0, -3.0, -0.5, 0.0, 1.7, 12.0, 29.99, 30.5, 200.0] {
            differences(ln_normal_upper, at, h, 2e-6);
        }
        for at in [-2.0, -0.25, -0.1, 0.05, 0.199, 0.21, 0.6, 1.0, 3.0] {
            differences(stirling_rest, at, h, 2e-6);
        }
    }

    fn differences(f: impl Fn(f64) -> [f64; 3], at: f64, h: f64, tolerance: f64) {
        let got = f(at);
        let up = f(at + h);
        let down = f(at - h);
        for k in 0..2 {
            let want = (up[k] - down[k]) / (2.0 * h);
            let error = (got[k + 1] - want).abs() / (1.0 + want.abs());
            assert!(error < tolerance, "at {at}, derivative {}: {got:?}, {want}", k + 1);
        }
    }

    #[test]
    fn the_series_meets_the_closed_form() {
        let below = stirling_rest(0.2 - 1e-12);
        let above = stirling_rest(0.2 + 1e-12);
        for k in 0..3 {
            assert!((below[k] - above[k]).abs() < 1e-9, "{below:?} {above:?}");
        }
    }
}
