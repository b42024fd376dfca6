use std::f64::consts::PI;

use crate::survival::family::Distribution;
use crate::survival::gamma::ln_normal_upper;
use crate::survival::jet::Jet;

/// S(t) = 1 − Φ((ln t − μ)/σ) with μ = Xβ and ln σ: a failure rate that rises and then falls.
pub struct LogNormal;

#[inline]
fn standard<const N: usize>(ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
    (-theta[0] + ln_t) * (-theta[1]).exp()
}

impl Distribution for LogNormal {
    fn name(&self) -> &'static str {
        "lognormal"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["mu", "sigma"]
    }

    #[inline]
    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let z = standard(ln_t, theta);
        -z.map(ln_normal_upper(z.value))
    }

    #[inline]
    fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        self.log_density(ln_t, theta) + self.cumulative_hazard(ln_t, theta)
    }

    #[inline]
    fn log_density<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let z = standard(ln_t, theta);
        (z * z).scale(-0.5) - theta[1] + (-ln_t - (2.0 * PI).ln() / 2.0)
    }
}
