use super::curve::Risk;
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::gamma::chi_squared_upper;
use super::matrix::Square;

/// The result of a χ² test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TestResult {
    /// How far the data are from what the hypothesis expects.
    pub statistic: f64,
    /// The degrees of freedom of its χ² distribution.
    pub freedom: usize,
    /// How often chance alone would go so far.
    pub p: f64,
}

impl TestResult {
    pub(crate) fn new(statistic: f64, freedom: usize) -> Self {
        Self { statistic, freedom, p: chi_squared_upper(statistic, freedom) }
    }
}

/// Whether groups have the same survival curve (Mantel 1966); no distribution is assumed, and it
/// is most sensitive where one hazard is a multiple of the other.
///
/// # Errors
/// Fewer than two groups, or no events in which two of them took part.
pub fn log_rank(groups: &[&Lifetimes]) -> Result<TestResult, SurvivalError> {
    if groups.len() < 2 {
        let value = groups.len() as f64;
        return Err(SurvivalError::Question { what: "the number of groups", value });
    }
    let risks: Vec<Risk> = groups.iter().map(|g| Risk::new(g)).collect();
    let mut times: Vec<f64> = risks.iter().flat_map(Risk::event_times).collect();
    times.sort_by(f64::total_cmp);
    times.dedup();
    let n = groups.len();
    let mut excess = vec![0.0; n];
    let mut variance = Square::zero(n);
    for time in times {
        let moments: Vec<_> = risks.iter().map(|r| r.at(time)).collect();
        let at_risk: f64 = moments.iter().map(|m| m.at_risk).sum();
        let events: f64 = moments.iter().map(|m| m.events).sum();
        // The hypergeometric variance, which allows for tied events.
        let spread =
            if at_risk > 1.0 { events * (at_risk - events) / (at_risk - 1.0) } else { 0.0 };
        for i in 0..n {
            let share = moments[i].at_risk / at_risk;
            excess[i] += moments[i].events - events * share;
            for (j, other) in moments.iter().enumerate() {
                let own = f64::from(i == j);
                variance.add(i, j, spread * share * (own - other.at_risk / at_risk));
            }
        }
    }
    statistic(&excess, &variance)
}

/// One group follows from the others, and groups that were never at risk say nothing.
fn statistic(excess: &[f64], variance: &Square) -> Result<TestResult, SurvivalError> {
    let informed: Vec<usize> =
        (0..excess.len()).filter(|&i| variance.get(i, i) > 1e-12).skip(1).collect();
    let mut kept = Square::zero(informed.len());
    for (i, &a) in informed.iter().enumerate() {
        for (j, &b) in informed.iter().enumerate() {
            kept.add(i, j, variance.get(a, b));
        }
    }
    let rest: Vec<f64> = informed.iter().map(|&i| excess[i]).collect();
    let factor = kept.cholesky().filter(|_| !rest.is_empty()).ok_or(SurvivalError::NoEvents)?;
    Ok(TestResult::new(super::matrix::dot(&rest, &factor.solve(&rest)), rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freireich_of_1963() {
        let treated =
            [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35];
        let censored = [3, 5, 7, 8, 11, 12, 13, 16, 17, 18, 19, 20];
        let observed = (0..21).map(|i| !censored.contains(&i)).collect();
        let a = Lifetimes::new(treated.map(f64::from).to_vec(), observed).unwrap();
        let placebo = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23];
        let b = Lifetimes::new(placebo.map(f64::from).to_vec(), vec![true; 21]).unwrap();
        // R's survdiff prints 16.8 on 1 degree of freedom, p = 4e-05.
        let test = log_rank(&[&a, &b]).unwrap();
        assert!((test.statistic - 16.79).abs() < 5e-3, "{test:?}");
        assert!(test.freedom == 1 && (test.p - 4.17e-5).abs() < 1e-7, "{test:?}");
        assert!(log_rank(&[&a]).is_err());
        assert!(log_rank(&[&a, &a]).unwrap().statistic < 1e-20);
    }
}
