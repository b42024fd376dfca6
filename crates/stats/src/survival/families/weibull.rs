use crate::survival::family::Distribution;
use crate::survival::jet::Jet;

/// H(t) = (t/λ)^ρ with ln λ = Xβ and ln ρ: a failure rate that rises (ρ > 1) or falls with time.
/// The only model here that is both accelerated failure time and proportional hazards.
pub struct Weibull;

/// ln (t/λ)^ρ.
#[inline]
fn power<const N: usize>(ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
    theta[1].exp() * (-theta[0] + ln_t)
}

impl Distribution for Weibull {
    fn name(&self) -> &'static str {
        "weibull"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["lambda", "rho"]
    }

    #[inline]
    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        power(ln_t, theta).exp()
    }

    #[inline]
    fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        theta[1] + power(ln_t, theta) + -ln_t
    }

    #[inline]
    fn log_density<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let power = power(ln_t, theta);
        theta[1] + power - power.exp() + -ln_t
    }
}
