use super::data::Lifetimes;
use super::error::SurvivalError;
use super::family::{Family, Part};
use super::jet::Jet;
use super::matrix::{Square, dot};
use super::newton::Slope;
use super::standard::Standard;

/// Which coefficients belong to a parameter: its intercept at `start`, then one per covariate.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Block {
    pub(crate) start: usize,
    pub(crate) covariates: Vec<usize>,
}

impl Block {
    pub(crate) fn len(&self) -> usize {
        self.covariates.len() + 1
    }

    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.len()
    }

    /// Blocks one after the other, from the covariates of each parameter.
    pub(crate) fn sequence(covariates: Vec<Vec<usize>>) -> Vec<Self> {
        let mut start = 0;
        let next = |covariates: Vec<usize>| {
            let block = Self { start, covariates };
            start += block.len();
            block
        };
        covariates.into_iter().map(next).collect()
    }
}

/// The durations as a likelihood sees them: logarithms around 0 whatever the unit of time.
#[derive(Debug, Clone)]
pub(crate) struct Times {
    pub(crate) ln: Vec<f64>,
    /// The logarithm of the entry; `None` when every row was there from the start.
    ln_entry: Option<Vec<f64>>,
    pub(crate) observed: Vec<bool>,
    pub(crate) weights: Vec<f64>,
    /// What was subtracted from every logarithm.
    pub(crate) shift: f64,
}

impl Times {
    /// # Errors
    /// [`SurvivalError::ZeroDuration`].
    pub(crate) fn new(data: &Lifetimes) -> Result<Self, SurvivalError> {
        if let Some(i) = data.durations().iter().position(|&t| t == 0.0) {
            return Err(SurvivalError::ZeroDuration { row: i + 1 });
        }
        let events = data.events().max(1) as f64;
        let shift = data.event_times().map(|t| t.ln() / events).sum::<f64>();
        let ln = |values: &[f64]| values.iter().map(|t| t.ln() - shift).collect::<Vec<f64>>();
        Ok(Self {
            ln: ln(data.durations()),
            ln_entry: data.enters_late().then(|| ln(data.entries())),
            observed: data.observed().to_vec(),
            weights: data.row_weights().to_vec(),
            shift,
        })
    }

    /// Every so manieth row, in the same units.
    pub(crate) fn thinned(&self, stride: usize) -> Self {
        let thin = |v: &Vec<f64>| v.iter().copied().step_by(stride).collect::<Vec<f64>>();
        Self {
            ln: thin(&self.ln),
            ln_entry: self.ln_entry.as_ref().map(thin),
            observed: self.observed.iter().copied().step_by(stride).collect(),
            weights: thin(&self.weights),
            shift: self.shift,
        }
    }

    /// What scaling the time adds to the log-likelihood.
    pub(crate) fn unit(&self) -> f64 {
        let of_events = self.weights.iter().zip(&self.observed).filter(|(_, e)| **e);
        self.shift * of_events.map(|(w, _)| w).sum::<f64>()
    }
}

/// The log-likelihood Σ w(E·ln h − H) of one family on one data set, in standardised units.
pub(crate) struct Likelihood<'a> {
    family: &'a dyn Family,
    times: &'a Times,
    pub(crate) blocks: Vec<Block>,
    width: usize,
    /// One row of `width` per row of the data: what each coefficient is multiplied with.
    rows: Vec<f64>,
    /// The penalty times the sum of weights.
    penalty: f64,
}

impl<'a> Likelihood<'a> {
    pub(crate) fn new(
        family: &'a dyn Family,
        times: &'a Times,
        standard: &Standard,
        covariates: Vec<Vec<usize>>,
        penalty: f64,
    ) -> Self {
        let blocks = Block::sequence(covariates);
        let width = blocks.iter().map(Block::len).sum();
        let mut rows = Vec::with_capacity(width * times.ln.len());
        for i in 0..times.ln.len() {
            for block in &blocks {
                rows.push(1.0);
                rows.extend(block.covariates.iter().map(|&c| standard.columns[c][i]));
            }
        }
        let penalty = penalty * times.weights.iter().sum::<f64>();
        Self { family, times, blocks, width, rows, penalty }
    }

    pub(crate) fn evaluate(&self, at: &[f64], derivatives: bool) -> Slope {
        let mut slope = Slope {
            value: 0.0,
            gradient: vec![0.0; if derivatives { self.width } else { 0 }],
            hessian: Square::zero(if derivatives { self.width } else { 0 }),
        };
        let mut theta = vec![0.0; self.blocks.len()];
        for (i, row) in self.rows.chunks_exact(self.width).enumerate() {
            for (value, block) in theta.iter_mut().zip(&self.blocks) {
                *value = dot(&at[block.range()], &row[block.range()]);
            }
            if derivatives {
                self.add_row(i, row, &theta, &mut slope);
            } else {
                slope.value += self.row_value(i, &theta);
            }
        }
        self.add_penalty(at, derivatives, &mut slope);
        slope.hessian.mirror();
        slope
    }

    fn part(&self, i: usize) -> (Part, f64) {
        // Observed rows count with their density, censored ones with their survival.
        if self.times.observed[i] {
            (Part::LogDensity, 1.0)
        } else {
            (Part::CumulativeHazard, -1.0)
        }
    }

    fn late(&self, i: usize) -> Option<f64> {
        self.times.ln_entry.as_ref().map(|ln| ln[i]).filter(|ln| ln.is_finite())
    }

    fn row_value(&self, i: usize, theta: &[f64]) -> f64 {
        let (part, sign) = self.part(i);
        let mut value = sign * self.family.value(part, self.times.ln[i], theta);
        if let Some(entry) = self.late(i) {
            value += self.family.value(Part::CumulativeHazard, entry, theta);
        }
        self.times.weights[i] * value
    }

    fn add_row(&self, i: usize, row: &[f64], theta: &[f64], slope: &mut Slope) {
        let weight = self.times.weights[i];
        let (part, sign) = self.part(i);
        let jet = self.family.jet(part, self.times.ln[i], theta);
        self.add_jet(&jet, sign * weight, row, slope);
        if let Some(entry) = self.late(i) {
            let before = self.family.jet(Part::CumulativeHazard, entry, theta);
            self.add_jet(&before, weight, row, slope);
        }
    }

    fn add_jet<const N: usize>(&self, jet: &Jet<N>, times: f64, row: &[f64], slope: &mut Slope) {
        slope.value += times * jet.value;
        for (k, block) in self.blocks.iter().enumerate() {
            let by_parameter = times * jet.gradient[k];
            for i in block.range() {
                slope.gradient[i] += by_parameter * row[i];
                for (l, other) in self.blocks.iter().enumerate().take(k + 1) {
                    let factor = times * jet.hessian[k][l] * row[i];
                    let end = other.range().end.min(i + 1);
                    let line = i * self.width;
                    let sums = &mut slope.hessian.at[line + other.start..line + end];
                    for (sum, x) in sums.iter_mut().zip(&row[other.start..end]) {
                        *sum += factor * x;
                    }
                }
            }
        }
    }

    fn add_penalty(&self, at: &[f64], derivatives: bool, slope: &mut Slope) {
        if self.penalty == 0.0 {
            return;
        }
        for block in &self.blocks {
            for i in block.range().skip(1) {
                slope.value -= self.penalty * at[i] * at[i] / 2.0;
                if derivatives {
                    slope.gradient[i] -= self.penalty * at[i];
                    slope.hessian.add(i, i, -self.penalty);
                }
            }
        }
    }

    /// The log-likelihood without its penalty.
    pub(crate) fn plain(&self, at: &[f64]) -> f64 {
        let theta = |row: &[f64]| -> Vec<f64> {
            self.blocks.iter().map(|b| dot(&at[b.range()], &row[b.range()])).collect()
        };
        let rows = self.rows.chunks_exact(self.width).enumerate();
        rows.map(|(i, row)| self.row_value(i, &theta(row))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::super::family::FAMILIES;
    use super::*;

    fn data() -> Lifetimes {
        let times = vec![5.0, 3.0, 3.0, 8.0, 2.0, 3.5, 9.0, 6.0];
        let observed = vec![true, true, true, false, true, false, true, true];
        let data = Lifetimes::new(times, observed).unwrap();
        let data = data.weights(vec![1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 1.0, 3.0]).unwrap();
        let data = data.late_entry(vec![0.0, 1.0, 0.0, 4.0, 0.0, 0.0, 5.0, 2.5]).unwrap();
        let data = data.covariate("a", vec![1.0, 2.0, 0.5, 3.0, 1.0, 4.0, 2.0, 0.0]).unwrap();
        data.covariate("b", vec![0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]).unwrap()
    }

    /// With weights, late entries, a penalty, and covariates on every parameter.
    #[test]
    fn derivatives_by_differences() {
        let data = data();
        let standard = Standard::new(&data, 0.1).unwrap();
        let times = Times::new(&data).unwrap();
        let h = 1e-5;
        for family in FAMILIES {
            let covariates = [vec![0, 1], vec![1], vec![0]];
            let covariates = covariates[..family.parameters().len()].to_vec();
            let likelihood = Likelihood::new(*family, &times, &standard, covariates, 0.1);
            let at: Vec<f64> = (0..likelihood.width).map(|i| [0.2, -0.1, 0.3][i % 3]).collect();
            let got = likelihood.evaluate(&at, true);
            assert!((got.value - likelihood.evaluate(&at, false).value).abs() < 1e-12);
            for i in 0..at.len() {
                let moved = |by: f64| {
                    let mut at = at.clone();
                    at[i] += by;
                    likelihood.evaluate(&at, true)
                };
                let (up, down) = (moved(h), moved(-h));
                let slope = (up.value - down.value) / (2.0 * h);
                assert!((got.gradient[i] - slope).abs() < 1e-6 * (1.0 + slope.abs()));
                for j in 0..at.len() {
                    let want = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
                    let error = (got.hessian.get(i, j) - want).abs() / (1.0 + want.abs());
                    assert!(error < 1e-6, "{} {i} {j}: {error}", family.name());
                }
            }
        }
    }
}
