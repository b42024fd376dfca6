//! One file per parametric model, and the registry of them. To add one, write its file and name it
//! in [`FAMILIES`].

mod exponential;
mod generalised_gamma;
mod log_logistic;
mod log_normal;
mod weibull;

pub use exponential::Exponential;
pub use generalised_gamma::GeneralisedGamma;
pub use log_logistic::LogLogistic;
pub use log_normal::LogNormal;
pub use weibull::Weibull;

use super::error::SurvivalError;
use super::family::Family;

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
    use crate::survival::family::Part;

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
