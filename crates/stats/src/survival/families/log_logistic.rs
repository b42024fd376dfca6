use crate::survival::family::Distribution;
use crate::survival::jet::Jet;

/// H(t) = ln(1 + (t/α)^β) with ln α = Xb and ln β: odds of failure that grow as a power of time,
/// with a heavier tail than the log-normal. E\[T\] is infinite for β ≤ 1.
pub struct LogLogistic;

#[inline]
fn ln_odds<const N: usize>(ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
    theta[1].exp() * (-theta[0] + ln_t)
}

impl Distribution for LogLogistic {
    fn name(&self) -> &'static str {
        "loglogistic"
    }

    fn parameters(&self) -> &'static [&'static str] {
        &["alpha", "beta"]
    }

    #[inline]
    fn cumulative_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        ln_odds(ln_t, theta).softplus()
    }

    #[inline]
    fn log_hazard<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let odds = ln_odds(ln_t, theta);
        theta[1] + odds - odds.softplus() + -ln_t
    }

    #[inline]
    fn log_density<const N: usize>(&self, ln_t: f64, theta: &[Jet<N>]) -> Jet<N> {
        let odds = ln_odds(ln_t, theta);
        theta[1] + odds - odds.softplus().scale(2.0) + -ln_t
    }
}
