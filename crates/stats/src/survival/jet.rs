use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number that carries its exact first and second derivatives by `N` variables (forward-mode
/// automatic differentiation), so that a model is written once as a plain formula and its gradient
/// and information matrix are never wrong.
///
/// `Jet<0>` is a plain number: the same formula then costs no derivatives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Jet<const N: usize> {
    /// The value itself.
    pub value: f64,
    /// The first derivatives.
    pub gradient: [f64; N],
    /// The second derivatives, symmetric.
    pub hessian: [[f64; N]; N],
}

/// A function of two variables and its derivatives at one point, for [`Jet::of_two`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Partials {
    pub(crate) value: f64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) xx: f64,
    pub(crate) xy: f64,
    pub(crate) yy: f64,
}

impl<const N: usize> Jet<N> {
    /// A number that depends on no variable.
    #[must_use]
    #[inline]
    pub fn constant(value: f64) -> Self {
        Self { value, gradient: [0.0; N], hessian: [[0.0; N]; N] }
    }

    /// The variable number `index`; a constant when there is no such variable, which is what
    /// makes `Jet<0>` plain.
    #[must_use]
    #[inline]
    pub fn variable(value: f64, index: usize) -> Self {
        let mut jet = Self::constant(value);
        if let Some(slope) = jet.gradient.get_mut(index) {
            *slope = 1.0;
        }
        jet
    }

    /// f of this number, from f, f′ and f″ at its value: how functions that are not built in join.
    #[must_use]
    #[inline]
    pub fn map(self, [f, f1, f2]: [f64; 3]) -> Self {
        // The chain rule: (f∘g)″ = f″·g′g′ᵀ + f′·g″.
        let mut out = Self::constant(f);
        for i in 0..N {
            out.gradient[i] = f1 * self.gradient[i];
            for j in 0..N {
                out.hessian[i][j] =
                    f1 * self.hessian[i][j] + f2 * self.gradient[i] * self.gradient[j];
            }
        }
        out
    }

    /// A function of two numbers from its derivatives at their values.
    #[must_use]
    #[inline]
    pub(crate) fn of_two(x: Self, y: Self, at: Partials) -> Self {
        let mut out = Self::constant(at.value);
        for i in 0..N {
            let xi = x.gradient[i];
            let yi = y.gradient[i];
            out.gradient[i] = at.x * xi + at.y * yi;
            for j in 0..N {
                let xj = x.gradient[j];
                let yj = y.gradient[j];
                out.hessian[i][j] = at.x * x.hessian[i][j]
                    + at.y * y.hessian[i][j]
                    + at.xx * xi * xj
                    + at.xy * (xi * yj + xj * yi)
                    + at.yy * yi * yj;
            }
        }
        out
    }

    /// e to the power of this number.
    #[must_use]
    #[inline]
    pub fn exp(self) -> Self {
        let e = self.value.exp();
        self.map([e, e, e])
    }

    /// The natural logarithm.
    #[must_use]
    #[inline]
    pub fn ln(self) -> Self {
        let inverse = 1.0 / self.value;
        self.map([self.value.ln(), inverse, -inverse * inverse])
    }

    /// ln(1 + eˣ), without overflow for large and without loss for small x.
    #[must_use]
    #[inline]
    pub fn softplus(self) -> Self {
        let x = self.value;
        let small = (-x.abs()).exp();
        let share = if x > 0.0 { 1.0 } else { small } / (1.0 + small);
        let slope = small / ((1.0 + small) * (1.0 + small));
        self.map([x.max(0.0) + small.ln_1p(), share, slope])
    }

    /// This number times a plain one.
    #[must_use]
    #[inline]
    pub fn scale(mut self, by: f64) -> Self {
        self.value *= by;
        for i in 0..N {
            self.gradient[i] *= by;
            for j in 0..N {
                self.hessian[i][j] *= by;
            }
        }
        self
    }
}

impl<const N: usize> Add for Jet<N> {
    type Output = Self;
    #[inline]
    fn add(mut self, other: Self) -> Self {
        self.value += other.value;
        for i in 0..N {
            self.gradient[i] += other.gradient[i];
            for j in 0..N {
                self.hessian[i][j] += other.hessian[i][j];
            }
        }
        self
    }
}

impl<const N: usize> Neg for Jet<N> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.scale(-1.0)
    }
}

impl<const N: usize> Sub for Jet<N> {
    type Output = Self;
    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self.value -= other.value;
        for i in 0..N {
            self.gradient[i] -= other.gradient[i];
            for j in 0..N {
                self.hessian[i][j] -= other.hessian[i][j];
            }
        }
        self
    }
}

impl<const N: usize> Mul for Jet<N> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let x = self.value;
        let y = other.value;
        // Leibniz's rule: (xy)″ = x″y + xy″ + x′y′ᵀ + y′x′ᵀ.
        let mut out = Self::constant(x * y);
        for i in 0..N {
            out.gradient[i] = y * self.gradient[i] + x * other.gradient[i];
            for j in 0..N {
                out.hessian[i][j] = y * self.hessian[i][j]
                    + x * other.hessian[i][j]
                    + self.gradient[i] * other.gradient[j]
                    + self.gradient[j] * other.gradient[i];
            }
        }
        out
    }
}

impl<const N: usize> Div for Jet<N> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let inverse = 1.0 / other.value;
        let squared = inverse * inverse;
        self * other.map([inverse, -squared, 2.0 * squared * inverse])
    }
}

impl<const N: usize> Add<f64> for Jet<N> {
    type Output = Self;
    #[inline]
    fn add(mut self, other: f64) -> Self {
        self.value += other;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn formula<const N: usize>(x: Jet<N>, y: Jet<N>) -> Jet<N> {
        (x * y + 0.5).softplus() / (y.exp() - x).ln() - x.scale(3.0)
    }

    #[test]
    fn derivatives_as_by_finite_differences() {
        let x = 0.4;
        let y = 1.3;
        let jet = formula(Jet::<2>::variable(x, 0), Jet::variable(y, 1));
        let at = |x, y| formula(Jet::<0>::constant(x), Jet::constant(y)).value;
        let h = 1e-4;
        let dx = (at(x + h, y) - at(x - h, y)) / (2.0 * h);
        let dxx = (at(x + h, y) - 2.0 * at(x, y) + at(x - h, y)) / (h * h);
        let corner = |a: f64, b: f64| at(x + a * h, y + b * h);
        let dxy = (corner(1.0, 1.0) - corner(1.0, -1.0) - corner(-1.0, 1.0) + corner(-1.0, -1.0))
            / (4.0 * h * h);
        assert!((jet.value - at(x, y)).abs() < 1e-15);
        assert!((jet.gradient[0] - dx).abs() < 1e-6, "{jet:?} {dx}");
        assert!((jet.hessian[0][0] - dxx).abs() < 1e-5, "{jet:?} {dxx}");
        assert!((jet.hessian[0][1] - dxy).abs() < 1e-5, "{jet:?} {dxy}");
        assert!((jet.hessian[0][1] - jet.hessian[1][0]).abs() < 1e-14, "{jet:?}");
    }
}
