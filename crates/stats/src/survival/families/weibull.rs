use crate::survival::family::Distribution;
use crate::survival::jet::Jet;

/// H(t) = (t/λ)^ρ with ln λ = Xβ and ln ρ: a failure rate that rises (ρ > 1) or falls with time.
/// The only model here that is both accelerated failure time and proportional hazards.
pub struct Weibull;

impl Distribution for Weibull {
    fn name(&self) -> &'static str {
        "weibull"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["lambda", "rho"]
    }

    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        (theta[1].exp() * (-theta[0] + ln_t)).exp()
    }

    fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        theta[1] + theta[1].exp() * (-theta[0] + ln_t) + -ln_t
    }
}
