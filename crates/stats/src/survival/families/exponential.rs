use crate::survival::family::Distribution;
use crate::survival::jet::Jet;

/// H(t) = t/λ with ln λ = Xβ: a constant failure rate, so that waiting tells nothing.
pub struct Exponential;

impl Distribution for Exponential {
    fn name(&self) -> &'static str {
        "exponential"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["lambda"]
    }

    #[inline]
    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        (-theta[0] + ln_t).exp()
    }

    #[inline]
    fn log_hazard<const N: usize>(&self, _ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        -theta[0]
    }
}
