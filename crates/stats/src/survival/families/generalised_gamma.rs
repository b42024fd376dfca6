use crate::survival::family::{Distribution, Nested};
use crate::survival::gamma_tail::{ln_density, ln_upper};
use crate::survival::jet::Jet;

use super::{LogNormal, Weibull};

/// S(t) = Q(λ⁻², e^{λZ}/λ²) for λ > 0 and P(…) for λ < 0, Z = (ln t − μ)/σ, with μ = Xβ, ln σ and
/// λ. Holds the Weibull (λ = 1), the log-normal (λ = 0) and the gamma (λ = σ) as special cases,
/// so its λ says which of them the data like.
pub struct GeneralisedGamma;

#[inline]
fn standard<const N: usize>(ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
    (-theta[0] + ln_t) * (-theta[1]).exp()
}

impl Distribution for GeneralisedGamma {
    fn name(&self) -> &'static str {
        "gengamma"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["mu", "sigma", "lambda"]
    }

    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let z = standard(ln_t, theta);
        -Jet::of_two(z, theta[2], ln_upper(z.value, theta[2].value))
    }

    fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        self.log_density(ln_t, theta) + self.cumulative_hazard(ln_t, theta)
    }

    fn log_density<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let z = standard(ln_t, theta);
        Jet::of_two(z, theta[2], ln_density(z.value, theta[2].value)) - theta[1] + -ln_t
    }

    fn nested(&self) -> &'static [Nested] {
        &[
            Nested { family: &Weibull, map: &[(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0)] },
            Nested { family: &LogNormal, map: &[(1.0, 0.0), (1.0, 0.0), (0.0, 0.0)] },
        ]
    }
}
