use crate::estimate::Level;
use crate::special::normal_cdf;

/// The covariate of a parameter's constant term.
pub const INTERCEPT: &str = "Intercept";

/// One line of a fit's table.
#[derive(Debug, Clone, PartialEq)]
pub struct Coefficient {
    /// Which parameter of the distribution it is part of.
    pub parameter: String,
    /// What it is multiplied with; [`INTERCEPT`] for the constant.
    pub covariate: String,
    /// The estimate, in the units of the data.
    pub estimate: f64,
    /// Its standard error, from the observed information.
    pub se: f64,
    /// The estimate in standard errors.
    pub z: f64,
    /// How often chance alone would give so large a `z`, were the coefficient 0.
    pub p: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

impl Coefficient {
    pub(crate) fn new(
        parameter: &str,
        covariate: &str,
        estimate: f64,
        variance: f64,
        level: Level,
    ) -> Self {
        let se = variance.sqrt();
        let z = estimate / se;
        Self {
            parameter: parameter.to_owned(),
            covariate: covariate.to_owned(),
            estimate,
            se,
            z,
            p: 2.0 * normal_cdf(-z.abs()),
            low: estimate - level.z() * se,
            high: estimate + level.z() * se,
        }
    }
}
