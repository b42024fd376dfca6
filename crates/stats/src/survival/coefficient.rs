use crate::estimate::Level;
use crate::multiple::holm;
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

/// The p-values of a table's covariates, adjusted by Holm (1979) over all of them, those of every
/// parameter included; `None` for intercepts, which nobody tests, and where there is no p-value.
#[must_use]
pub fn adjusted_p(table: &[Coefficient]) -> Vec<Option<f64>> {
    let is_tested = |line: &Coefficient| line.covariate != INTERCEPT && !line.p.is_nan();
    let raw: Vec<f64> = table.iter().filter(|line| is_tested(line)).map(|line| line.p).collect();
    let mut adjusted = holm(&raw).unwrap_or_default().into_iter();
    table.iter().map(|line| if is_tested(line) { adjusted.next() } else { None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intercepts_are_not_among_the_tests() {
        let line =
            |covariate: &str, z: f64| Coefficient::new("beta", covariate, z, 1.0, Level::default());
        // p is 0.0455 and 0.0027; Holm doubles the smaller one.
        let table = [line(INTERCEPT, 9.0), line("a", 2.0), line("b", 3.0), line(INTERCEPT, 1.0)];
        let got = adjusted_p(&table);
        assert_eq!((got[0], got[3]), (None, None));
        assert!((got[1].unwrap() - table[1].p).abs() < 1e-15);
        assert!((got[2].unwrap() - 2.0 * table[2].p).abs() < 1e-15);
        let nothing = Coefficient::new("beta", "c", 0.0, 0.0, Level::default());
        assert_eq!(adjusted_p(&[nothing]), [None]);
    }
}
