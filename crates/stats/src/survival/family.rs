use super::jet::Jet;

/// The largest number of parameters of a distribution.
pub const MAX_PARAMETERS: usize = 3;

/// A distribution of durations: a new parametric model is one file that implements this.
///
/// Two formulas are needed; fitting, derivatives, standard errors, predictions and intervals
/// follow from them. Parameter 0 is a location on the scale of ln t: adding c to it multiplies
/// every duration by eᶜ, which is what makes a fit independent of the unit of time. Every
/// parameter may take any real value, so scales come in as logarithms.
///
/// ```
/// use faultlens_stats::Level;
/// use faultlens_stats::survival::{Distribution, Jet, Lifetimes, Options, fit};
///
/// /// H(t) = (t/λ)².
/// struct Rayleigh;
///
/// impl Distribution for Rayleigh {
///     fn name(&self) -> &'static str {
///         "rayleigh"
///     }
///     fn parameters(&self) -> &'static [&'static str] {
///         &["lambda"]
///     }
///     fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
///         (-theta[0] + ln_t).scale(2.0).exp()
///     }
///     fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
///         theta[0].scale(-2.0) + (2.0_f64.ln() + ln_t)
///     }
/// }
///
/// let data = Lifetimes::new(vec![3.0, 4.0, 5.0], vec![true, false, true])?;
/// let table = fit(&Rayleigh, &data, &Options::default())?.coefficients(Level::default());
/// // The maximum in closed form: λ² is the sum of squares over the number of events.
/// assert!((2.0 * table[0].estimate - 25.0_f64.ln()).abs() < 1e-12);
/// # Ok::<(), faultlens_stats::survival::SurvivalError>(())
/// ```
pub trait Distribution: Sync {
    /// The name to ask for it by.
    fn name(&self) -> &'static str;

    /// The names of its parameters, the location first.
    fn parameters(&self) -> &'static [&'static str];

    /// H(t): minus the logarithm of the survival function.
    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N>;

    /// ln h(t), the logarithm of the derivative of H by t.
    fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N>;

    /// ln f(t); given by those two, and overridden only where a shorter formula exists.
    fn log_density<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        self.log_hazard(ln_t, theta) - self.cumulative_hazard(ln_t, theta)
    }

    /// Distributions that are special cases of this one. Their fits are the starts of this one's,
    /// so that it never ends below them.
    fn nested(&self) -> &'static [Nested] {
        &[]
    }
}

/// How a special case sits inside a larger distribution.
pub struct Nested {
    /// The special case.
    pub family: &'static dyn Family,
    /// For each parameter of the larger distribution: the factor on the special case's parameter
    /// of that position (0 where it has none), and what is added to its intercept.
    pub map: &'static [(f64, f64)],
}

/// Which function of a distribution is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// H(t).
    CumulativeHazard,
    /// ln h(t).
    LogHazard,
    /// ln f(t).
    LogDensity,
}

/// A [`Distribution`] as an object, so that a registry can hold all of them.
pub trait Family: Sync {
    /// See [`Distribution::name`].
    fn name(&self) -> &'static str;
    /// See [`Distribution::parameters`].
    fn parameters(&self) -> &'static [&'static str];
    /// See [`Distribution::nested`].
    fn nested(&self) -> &'static [Nested];
    /// One function at one time.
    fn value(&self, part: Part, ln_t: f64, theta: &[f64]) -> f64;
    /// The same with its derivatives by the parameters; those it does not have stay 0.
    fn jet(&self, part: Part, ln_t: f64, theta: &[f64]) -> Jet<MAX_PARAMETERS>;
}

impl<D: Distribution> Family for D {
    fn name(&self) -> &'static str {
        Distribution::name(self)
    }

    fn parameters(&self) -> &'static [&'static str] {
        Distribution::parameters(self)
    }

    fn nested(&self) -> &'static [Nested] {
        Distribution::nested(self)
    }

    fn value(&self, part: Part, ln_t: f64, theta: &[f64]) -> f64 {
        evaluate::<D, 0>(self, part, ln_t, theta).value
    }

    fn jet(&self, part: Part, ln_t: f64, theta: &[f64]) -> Jet<MAX_PARAMETERS> {
        // Fewer parameters make smaller jets, and those are several times faster.
        match theta.len() {
            1 => widen(evaluate::<D, 1>(self, part, ln_t, theta)),
            2 => widen(evaluate::<D, 2>(self, part, ln_t, theta)),
            _ => evaluate::<D, MAX_PARAMETERS>(self, part, ln_t, theta),
        }
    }
}

#[inline]
fn evaluate<D: Distribution, const N: usize>(
    of: &D,
    part: Part,
    ln_t: f64,
    theta: &[f64],
) -> Jet<N> {
    let mut variables = [Jet::constant(0.0); MAX_PARAMETERS];
    for (i, (slot, &value)) in variables.iter_mut().zip(theta).enumerate() {
        *slot = Jet::variable(value, i);
    }
    let variables = &variables[..theta.len().min(MAX_PARAMETERS)];
    match part {
        Part::CumulativeHazard => of.cumulative_hazard(ln_t, variables),
        Part::LogHazard => of.log_hazard(ln_t, variables),
        Part::LogDensity => of.log_density(ln_t, variables),
    }
}

#[inline]
fn widen<const N: usize>(jet: Jet<N>) -> Jet<MAX_PARAMETERS> {
    let mut out = Jet::constant(jet.value);
    for i in 0..N {
        out.gradient[i] = jet.gradient[i];
        out.hessian[i][..N].copy_from_slice(&jet.hessian[i]);
    }
    out
}
