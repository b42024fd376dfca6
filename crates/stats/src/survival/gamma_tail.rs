//! The generalised gamma distribution in its standard form: Z with log-density
//! −½ln 2π − δ(λ) − z²·(e^v − 1 − v)/v², v = λz, where δ is Stirling's rest. This form is smooth
//! through λ = 0 (the normal distribution) and turns λ < 0 into the mirror image of λ > 0.

use std::f64::consts::PI;
use std::sync::LazyLock;

use super::gamma::stirling_rest;
use super::jet::{Jet, Partials};

/// Below this |λ| the tail is integrated; above, summed by the series of the incomplete gamma
/// function, which slows down and loses digits as λ⁻² grows.
const SMALL: f64 = 0.15;

/// The log-density of Z with its derivatives by z (x) and λ (y).
pub(crate) fn ln_density(z: f64, lambda: f64) -> Partials {
    let rest = stirling_rest(lambda);
    let v = lambda * z;
    let [phi, phi1, phi2] = exp_rest(v);
    let z2 = z * z;
    // ∂z of z²φ(λz) is (e^v − 1)/λ = z·(1 + v·φ).
    Partials {
        value: -(2.0 * PI).ln() / 2.0 - rest[0] - z2 * phi,
        x: -z * (1.0 + v * phi),
        y: -rest[1] - z2 * z * phi1,
        xx: -v.exp(),
        xy: -z2 * (phi + v * phi1),
        yy: -rest[2] - z2 * z2 * phi2,
    }
}

/// (eᵛ − 1 − v)/v² and its first two derivatives; by the Taylor series near 0, where the formula
/// cancels.
fn exp_rest(v: f64) -> [f64; 3] {
    if v.abs() < 0.7 {
        let mut out = [0.0; 3];
        // c is 1/(k+2)! times v to the power of k, k−1, k−2.
        let mut factorial = 2.0;
        let mut power = [1.0, 0.0, 0.0];
        for k in 0..18 {
            let n = f64::from(k);
            out[0] += power[0] / factorial;
            out[1] += n * power[1] / factorial;
            out[2] += n * (n - 1.0) * power[2] / factorial;
            power = [power[0] * v, power[0], power[1]];
            factorial *= n + 3.0;
        }
        return out;
    }
    let grown = v.exp_m1();
    let phi = (grown - v) / (v * v);
    let phi1 = (grown / v - 2.0 * phi) / v;
    let phi2 = ((grown + 1.0) / v - 2.0 * grown / (v * v) - 2.0 * phi1 + 2.0 * phi / v) / v;
    [phi, phi1, phi2]
}

/// ln P(Z > z) with its derivatives by z (x) and λ (y).
pub(crate) fn ln_upper(z: f64, lambda: f64) -> Partials {
    let density = ln_density(z, lambda);
    if z < 0.0 && density.value < -800.0 {
        // So far to the left the tail is 1, while derivatives of the density overflow.
        return Partials { value: 0.0, x: 0.0, y: 0.0, xx: 0.0, xy: 0.0, yy: 0.0 };
    }
    let Jet { value, gradient: [y], hessian: [[yy]] } = ln_upper_by_shape(z, lambda, &density);
    // The upper tail falls by the density, so only the derivatives by λ need an algorithm.
    let hazard = (density.value - value).exp();
    let x = -hazard;
    Partials { value, x, y, xx: x * (density.x - x), xy: x * (density.y - y), yy }
}

/// ln P(Z > z) with its derivatives by λ alone.
fn ln_upper_by_shape(z: f64, lambda: f64, density: &Partials) -> Jet<1> {
    if lambda.abs() >= SMALL {
        return by_incomplete_gamma(z, lambda, density);
    }
    if z >= 0.0 {
        return by_integral(z, lambda, density);
    }
    // By symmetry, P(Z < z) is the upper tail of the mirror image, at −z and −λ.
    let mut lower = by_integral(-z, -lambda, &ln_density(-z, -lambda));
    lower.gradient[0] = -lower.gradient[0];
    ln_one_less(lower)
}

/// ln(1 − p) from ln p.
fn ln_one_less(ln_p: Jet<1>) -> Jet<1> {
    let p = ln_p.value.exp();
    let odds = if p < 1.0 { p / (1.0 - p) } else { f64::INFINITY };
    ln_p.map([(-p).ln_1p(), -odds, -odds * (1.0 + odds)])
}

/// With a = λ⁻² and x = a·e^{λz}, the density is |λ| x^a e^{−x}/Γ(a), the front of the lower
/// series and of the upper continued fraction.
fn by_incomplete_gamma(z: f64, lambda: f64, density: &Partials) -> Jet<1> {
    let front = Jet { value: density.value, gradient: [density.y], hessian: [[density.yy]] };
    let shape = Jet::<1>::variable(lambda, 0);
    let a = Jet::constant(1.0) / (shape * shape);
    let x = a * shape.scale(z).exp();
    let ln_shape = if lambda > 0.0 { shape.ln() } else { (-shape).ln() };
    let series = x.value < a.value + 1.0;
    let ln_part = if series {
        front + ln_shape + lower_series(a, x).ln()
    } else {
        front - ln_shape + upper_fraction(a, x).ln()
    };
    // For λ > 0 large z is large x; for λ < 0 large z is small x.
    if series == (lambda < 0.0) { ln_part } else { ln_one_less(ln_part) }
}

/// Whether a term no longer changes a sum or its derivatives in double precision.
fn settled(term: &Jet<1>, sum: &Jet<1>) -> bool {
    small(term.value, sum.value)
        && small(term.gradient[0], sum.value.abs() + sum.gradient[0].abs())
        && small(term.hessian[0][0], sum.value.abs() + sum.hessian[0][0].abs())
}

fn small(term: f64, sum: f64) -> bool {
    term.abs() <= 1e-16 * sum.abs() + 1e-300
}

/// Σ xⁿ / ((a+1)…(a+n)).
fn lower_series(a: Jet<1>, x: Jet<1>) -> Jet<1> {
    let mut term = Jet::constant(1.0);
    let mut sum = term;
    for n in 1..2000 {
        term = term * x / (a + f64::from(n));
        sum = sum + term;
        if settled(&term, &sum) {
            break;
        }
    }
    sum
}

/// 1/(x+1−a − 1(1−a)/(x+3−a − …)) by Lentz's method.
fn upper_fraction(a: Jet<1>, x: Jet<1>) -> Jet<1> {
    let one = Jet::constant(1.0);
    let mut b = x - a + 1.0;
    let mut d = one / b;
    let mut c = b;
    let mut fraction = d;
    for k in 1..2000 {
        let n = f64::from(k);
        let step = (a + -n).scale(n);
        b = b + 2.0;
        d = one / (b + step * d);
        // The first c is infinite in Lentz's method, so its quotient vanishes.
        c = if k == 1 { b } else { b + step / c };
        let ratio = c * d;
        fraction = fraction * ratio;
        if settled(&(ratio + -1.0), &one) {
            break;
        }
    }
    fraction
}

/// The nodes and weights of Gauss-Legendre quadrature on 0..1.
pub(crate) static NODES: LazyLock<Vec<(f64, f64)>> = LazyLock::new(|| legendre(40));

fn legendre(n: u32) -> Vec<(f64, f64)> {
    let count = f64::from(n);
    let nodes = (0..n).map(|i| {
        // Newton's method on the Legendre polynomial from Tricomi's approximation of its root.
        let mut x = libm::cos(PI * (f64::from(i) + 0.75) / (count + 0.5));
        let mut slope = 0.0;
        for _ in 0..100 {
            // Bonnet's recurrence.
            let mut p0 = 1.0;
            let mut p1 = x;
            for k in 2..=n {
                let k = f64::from(k);
                (p0, p1) = (p1, ((2.0 * k - 1.0) * x * p1 - (k - 1.0) * p0) / k);
            }
            slope = count * (x * p1 - p0) / (x * x - 1.0);
            let step = p1 / slope;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        ((1.0 - x) / 2.0, 1.0 / ((1.0 - x * x) * slope * slope))
    });
    nodes.collect()
}

/// The tail beyond z ≥ 0, where the density falls: ∫ e^{ℓ(z+v)} dv over the range on which it falls
/// by a factor of e³⁸, which is all of it in double precision.
fn by_integral(z: f64, lambda: f64, density: &Partials) -> Jet<1> {
    let width = tail_width(z, lambda, density.value);
    let mut sum = 0.0;
    let mut first = 0.0;
    let mut second = 0.0;
    for &(node, weight) in NODES.iter() {
        let at = ln_density(z + node * width, lambda);
        let mass = weight * width * (at.value - density.value).exp();
        sum += mass;
        first += mass * at.y;
        second += mass * (at.yy + at.y * at.y);
    }
    let slope = first / sum;
    Jet {
        value: density.value + f64::ln(sum),
        gradient: [slope],
        hessian: [[second / sum - slope * slope]],
    }
}

/// How far the density takes to fall by a factor of e³⁸. Newton's method from the right on a concave
/// function never undershoots, so it may stop early.
fn tail_width(z: f64, lambda: f64, top: f64) -> f64 {
    let mut width = 14.0;
    for _ in 0..4 {
        let at = ln_density(z + width, lambda);
        let excess = top - at.value - 38.0;
        if excess <= 0.0 {
            break;
        }
        width += excess / at.x;
    }
    width
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: [f64; 12] =
        [-2.5, -1.0, -0.5, -0.16, -0.14, -0.01, 0.0, 0.003, 0.149, 0.151, 1.0, 3.0];

    #[test]
    fn special_cases_in_closed_form() {
        for z in [-6.0, -1.0, 0.0, 0.7, 2.5, 3.5] {
            let weibull = ln_upper(z, 1.0).value;
            assert!((weibull / -f64::exp(z) - 1.0).abs() < 1e-12, "{z} {weibull}");
            let normal = ln_upper(z, 0.0).value;
            let want = super::super::gamma::ln_normal_upper(z)[0];
            assert!((normal / want - 1.0).abs() < 1e-11, "{z} {normal} {want}");
        }
    }

    #[test]
    fn far_outside_nothing_overflows() {
        for (z, lambda) in [(-60.0, -20.0), (-1e4, -0.01), (-1e3, 3.0), (-1e5, 0.5), (-40.0, 0.0)] {
            let got = ln_upper(z, lambda);
            let all = [got.value, got.x, got.y, got.xx, got.xy, got.yy];
            assert!(all.iter().all(|v| v.abs() < 1e-9), "{z} {lambda}: {got:?}");
        }
    }

    #[test]
    fn both_algorithms_meet() {
        for z in [-9.0, -4.0, -0.1, 0.0, 1.0, 5.0, 9.0] {
            for lambda in [SMALL, -SMALL] {
                let density = ln_density(z, lambda);
                let one = by_incomplete_gamma(z, lambda, &density);
                let other = ln_upper_by_shape(z, lambda * (1.0 - 1e-13), &density);
                let close = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + a.abs());
                assert!(close(one.value, other.value), "{z} {lambda}: {one:?} {other:?}");
                assert!(
                    close(one.gradient[0], other.gradient[0]),
                    "{z} {lambda}: {one:?} {other:?}"
                );
                assert!(
                    (one.hessian[0][0] - other.hessian[0][0]).abs()
                        < 1e-7 * (1.0 + one.hessian[0][0].abs()),
                    "{z} {lambda}: {one:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn derivatives_by_differences() {
        let h = 1e-5;
        for f in [ln_density, ln_upper] {
            for z in [-3.0, -0.4, 0.0, 0.8, 2.0] {
                for lambda in SHAPES {
                    let got = f(z, lambda);
                    let right = f(z + h, lambda);
                    let left = f(z - h, lambda);
                    let up = f(z, lambda + h);
                    let down = f(z, lambda - h);
                    for (got, above, below) in [
                        (got.x, right.value, left.value),
                        (got.y, up.value, down.value),
                        (got.xx, right.x, left.x),
                        (got.xy, up.x, down.x),
                        (got.yy, up.y, down.y),
                    ] {
                        let want = (above - below) / (2.0 * h);
                        let error = (got - want).abs() / (1.0 + want.abs());
                        assert!(error < 1e-5, "z {z}, λ {lambda}: {got} {want}");
                    }
                }
            }
        }
    }
}
