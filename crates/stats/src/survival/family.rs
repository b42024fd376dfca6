use super::error::SurvivalError;
use super::families::{Exponential, GeneralisedGamma, LogLogistic, LogNormal, Weibull};
use super::jet::Jet;

/// The most parameters a distribution may have.
pub const MOST_PARAMETERS: usize = 3;

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
    fn jet(&self, part: Part, ln_t: f64, theta: &[f64]) -> Jet<MOST_PARAMETERS>;
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

    fn jet(&self, part: Part, ln_t: f64, theta: &[f64]) -> Jet<MOST_PARAMETERS> {
        // Fewer parameters make smaller jets, and those are several times faster.
        match theta.len() {
            1 => widen(evaluate::<D, 1>(self, part, ln_t, theta)),
            2 => widen(evaluate::<D, 2>(self, part, ln_t, theta)),
            _ => evaluate::<D, MOST_PARAMETERS>(self, part, ln_t, theta),
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
    let mut variables = [Jet::constant(0.0); MOST_PARAMETERS];
    for (i, (slot, &value)) in variables.iter_mut().zip(theta).enumerate() {
        *slot = Jet::variable(value, i);
    }
    let variables = &variables[..theta.len().min(MOST_PARAMETERS)];
    match part {
        Part::CumulativeHazard => of.cumulative_hazard(ln_t, variables),
        Part::LogHazard => of.log_hazard(ln_t, variables),
        Part::LogDensity => of.log_density(ln_t, variables),
    }
}

#[inline]
fn widen<const N: usize>(jet: Jet<N>) -> Jet<MOST_PARAMETERS> {
    let mut out = Jet::constant(jet.value);
    for i in 0..N {
        out.gradient[i] = jet.gradient[i];
        out.hessian[i][..N].copy_from_slice(&jet.hessian[i]);
    }
    out
}

/// Every parametric model, from the simplest to the most flexible. Add yours here.
pub const FAMILIES: &[&dyn Family] =
    &[&Exponential, &Weibull, &LogNormal, &LogLogistic, &GeneralisedGamma];

/// The parametric model of this name.
///
/// # Errors
/// [`SurvivalError::Unknown`] with the names there are.
pub fn family(name: &str) -> Result<&'static dyn Family, SurvivalError> {
    FAMILIES.iter().copied().find(|f| f.name() == name).ok_or_else(|| SurvivalError::Unknown {
        name: name.to_owned(),
        known: FAMILIES.iter().map(|f| f.name().to_owned()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARTS: [Part; 3] = [Part::CumulativeHazard, Part::LogHazard, Part::LogDensity];
    const TIMES: [f64; 5] = [-3.0, -0.5, 0.0, 0.4, 1.1];
    const THETAS: [[f64; 3]; 4] =
        [[0.2, -0.3, 0.7], [-0.4, 0.5, -0.6], [0.0, 0.0, 0.05], [0.3, 0.4, 0.0]];

    #[test]
    fn derivatives_by_the_parameters_as_by_differences() {
        let h = 1e-5;
        for family in FAMILIES {
            let n = family.parameters().len();
            for (part, ln_t, theta) in cases() {
                let got = family.jet(part, ln_t, &theta[..n]);
                assert!((got.value - family.value(part, ln_t, &theta[..n])).abs() < 1e-14);
                for i in 0..n {
                    let moved = |by: f64| {
                        let mut theta = theta;
                        theta[i] += by;
                        family.jet(part, ln_t, &theta[..n])
                    };
                    let up = moved(h);
                    let down = moved(-h);
                    let close = |got: f64, want: f64| {
                        let error = (got - want).abs() / (1.0 + want.abs());
                        assert!(error < 1e-6, "{} {part:?} {ln_t} {theta:?}", family.name());
                    };
                    close(got.gradient[i], (up.value - down.value) / (2.0 * h));
                    for j in 0..n {
                        close(got.hessian[i][j], (up.gradient[j] - down.gradient[j]) / (2.0 * h));
                    }
                }
            }
        }
    }

    #[test]
    fn the_hazard_is_the_derivative_of_the_cumulative_hazard() {
        let h = 1e-5;
        for family in FAMILIES {
            let n = family.parameters().len();
            for (_, ln_t, theta) in cases() {
                let at = |ln_t: f64| family.value(Part::CumulativeHazard, ln_t, &theta[..n]);
                let slope = (at(ln_t + h) - at(ln_t - h)) / (2.0 * h) / ln_t.exp();
                let got = family.value(Part::LogHazard, ln_t, &theta[..n]).exp();
                let error = (got - slope).abs() / (1e-4 + slope);
                assert!(error < 1e-5, "{} {ln_t} {theta:?}: {got} {slope}", family.name());
            }
        }
    }

    fn cases() -> Vec<(Part, f64, [f64; 3])> {
        let mut all = Vec::new();
        for part in PARTS {
            for ln_t in TIMES {
                all.extend(THETAS.map(|theta| (part, ln_t, theta)));
            }
        }
        all
    }

    #[test]
    fn an_unknown_family_lists_the_known_ones() {
        let message = family("weibul").err().unwrap().to_string();
        assert!(message.starts_with("nothing is called weibul; known are exponential, weibull"));
    }
}
