use super::data::{Covariate, Lifetimes};
use super::error::SurvivalError;
use super::matrix::{Square, dot};

/// The covariates moved to mean 0 and standard deviation 1, so that no unit can spoil a fit, and
/// refused where no fit can have an answer.
#[derive(Debug, Clone)]
pub(crate) struct Standard {
    pub(crate) names: Vec<String>,
    pub(crate) means: Vec<f64>,
    pub(crate) deviations: Vec<f64>,
    /// One column per covariate.
    pub(crate) columns: Vec<Vec<f64>>,
}

/// Below this share of its own variance, what earlier columns leave of a column is rounding.
const UNEXPLAINED: f64 = 1e-10;

/// Every eighth row is fitted first, which gives a start for all; its own start comes from a sample
/// of it, and so on.
pub(crate) const STRIDE: usize = 8;
/// Fewer rows than this in a sample, or fewer events per coefficient, would not place a start.
const SAMPLE: (usize, usize) = (200, 10);

/// Whether a sample is large enough to be fitted for a start.
pub(crate) fn places_a_start(observed: &[bool], coefficients: usize) -> bool {
    let events = observed.iter().filter(|e| **e).count();
    observed.len() >= SAMPLE.0 && events >= SAMPLE.1 * coefficients
}

impl Standard {
    /// # Errors
    /// No events, a constant or collinear column, or (without a penalty) a column that is the same
    /// for all events and lies at the edge of its range.
    pub(crate) fn new(data: &Lifetimes, penalty: f64) -> Result<Self, SurvivalError> {
        if !(penalty.is_finite() && penalty >= 0.0) {
            return Err(SurvivalError::Penalty(penalty));
        }
        if data.events() == 0 {
            return Err(SurvivalError::NoEvents);
        }
        let mut out = Self { names: vec![], means: vec![], deviations: vec![], columns: vec![] };
        for covariate in data.covariates() {
            out.push(covariate)?;
            if penalty == 0.0 && separates(&covariate.values, data.observed()) {
                return Err(SurvivalError::Separation(covariate.name.clone()));
            }
        }
        out.refuse_collinear()?;
        Ok(out)
    }

    /// Every `stride`th row, in the same units.
    pub(crate) fn thinned(&self, stride: usize) -> Self {
        Self {
            names: self.names.clone(),
            means: self.means.clone(),
            deviations: self.deviations.clone(),
            columns: self
                .columns
                .iter()
                .map(|c| c.iter().copied().step_by(stride).collect())
                .collect(),
        }
    }

    fn push(&mut self, covariate: &Covariate) -> Result<(), SurvivalError> {
        let values = &covariate.values;
        let n = values.len() as f64;
        let largest = folded(values, f64::abs, f64::max);
        // Dividing first keeps sums of huge values finite.
        let mean = folded(values, |v| v / n, std::ops::Add::add);
        let spread = folded(values, |v| (v - mean).abs(), f64::max);
        if spread <= 1e-13 * largest {
            return Err(SurvivalError::Constant(covariate.name.clone()));
        }
        let squares = folded(values, |v| ((v - mean) / spread).powi(2), std::ops::Add::add);
        let deviation = spread * (squares / (n - 1.0)).sqrt();
        self.names.push(covariate.name.clone());
        self.means.push(mean);
        self.deviations.push(deviation);
        self.columns.push(values.iter().map(|v| (v - mean) / deviation).collect());
        Ok(())
    }

    fn refuse_collinear(&self) -> Result<(), SurvivalError> {
        let p = self.columns.len();
        let Some(rows) = self.columns.first().map(Vec::len) else { return Ok(()) };
        // The Cholesky factor of the correlation matrix; a diagonal entry is the share of a column
        // that the earlier ones do not explain.
        let mut factor = Square::zero(p);
        for i in 0..p {
            for j in 0..=i {
                let shared = dot(&self.columns[i], &self.columns[j]) / (rows as f64 - 1.0);
                let known = dot(&factor.at[i * p..i * p + j], &factor.at[j * p..j * p + j]);
                if i > j {
                    factor.at[i * p + j] = (shared - known) / factor.get(j, j);
                } else if shared - known > UNEXPLAINED {
                    factor.at[i * p + i] = (shared - known).sqrt();
                } else {
                    return Err(self.collinear(&factor, i));
                }
            }
        }
        Ok(())
    }

    /// Names the earlier columns that give column `i`, by their coefficients in its regression.
    fn collinear(&self, factor: &Square, i: usize) -> SurvivalError {
        let mut coefficients = factor.at[i * factor.n..i * factor.n + i].to_vec();
        for j in (0..i).rev() {
            let known: f64 = (j + 1..i).map(|k| factor.get(k, j) * coefficients[k]).sum();
            coefficients[j] = (coefficients[j] - known) / factor.get(j, j);
        }
        let with = (0..i)
            .filter(|j| coefficients[*j].abs() > 1e-6)
            .map(|j| self.names[j].clone())
            .collect();
        SurvivalError::Collinear { covariate: self.names[i].clone(), with }
    }
}

/// A sum or maximum of terms from 0 on, several at a time, so that none waits for another.
fn folded(values: &[f64], term: impl Fn(f64) -> f64, join: impl Fn(f64, f64) -> f64) -> f64 {
    let (parts, rest) = values.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for part in parts {
        for (lane, value) in lanes.iter_mut().zip(part) {
            *lane = join(*lane, term(*value));
        }
    }
    let rest = rest.iter().fold(0.0, |all, value| join(all, term(*value)));
    lanes.into_iter().fold(rest, join)
}

/// Whether every event has the same value and it is the smallest or the largest: the likelihood
/// then grows for ever as the coefficient does.
fn separates(values: &[f64], observed: &[bool]) -> bool {
    let mut of_events = values.iter().zip(observed).filter(|(_, e)| **e).map(|(v, _)| *v);
    let Some(first) = of_events.next() else { return false };
    // A single event at the edge of a continuous column is bad luck that other columns may cure.
    let mut several = false;
    for value in of_events {
        if value != first {
            return false;
        }
        several = true;
    }
    several && (values.iter().all(|&v| v >= first) || values.iter().all(|&v| v <= first))
}

/// The covariate whose coefficient ran away, if one did: in standardised units, where 30 would be
/// a factor of e³⁰ per standard deviation.
pub(crate) fn runaway(at: &[f64], variances: impl Fn(usize) -> f64) -> Option<usize> {
    (0..at.len())
        .filter(|i| at[*i].abs() > 30.0 || variances(*i) > 1e6)
        .max_by(|&a, &b| at[a].abs().total_cmp(&at[b].abs()))
}
