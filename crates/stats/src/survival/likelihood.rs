use std::ops::Range;

use super::data::Lifetimes;
use super::error::SurvivalError;
use super::family::{Family, MAX_PARAMETERS, Part};
use super::matrix::{Square, add_dots, dot};
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

    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.start + self.len()
    }

    /// Blocks one after the other, from the covariates of each parameter.
    pub(crate) fn sequence(covariates: Vec<Vec<usize>>) -> Vec<Self> {
        let mut start = 0;
        covariates
            .into_iter()
            .map(|covariates| {
                let block = Self { start, covariates };
                start += block.len();
                block
            })
            .collect()
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
        let mut ln: Vec<f64> = data.durations().iter().map(|t| t.ln()).collect();
        let of_events = ln.iter().zip(data.observed()).filter(|(_, e)| **e);
        let shift = of_events.map(|(ln, _)| ln / events).sum::<f64>();
        ln.iter_mut().for_each(|ln| *ln -= shift);
        Ok(Self {
            ln,
            ln_entry: data
                .enters_late()
                .then(|| data.entries().iter().map(|t| t.ln() - shift).collect()),
            observed: data.observed().to_vec(),
            weights: data.row_weights().to_vec(),
            shift,
        })
    }

    /// Every `stride`th row, in the same units.
    pub(crate) fn thinned(&self, stride: usize) -> Self {
        Self {
            ln: every_nth(&self.ln, stride),
            ln_entry: self.ln_entry.as_ref().map(|entries| every_nth(entries, stride)),
            observed: every_nth(&self.observed, stride),
            weights: every_nth(&self.weights, stride),
            shift: self.shift,
        }
    }

    /// What scaling the time adds to the log-likelihood.
    pub(crate) fn unit(&self) -> f64 {
        let of_events = self.weights.iter().zip(&self.observed).filter(|(_, e)| **e);
        self.shift * of_events.map(|(w, _)| w).sum::<f64>()
    }
}

fn every_nth<T: Copy>(values: &[T], stride: usize) -> Vec<T> {
    values.iter().copied().step_by(stride).collect()
}

/// Rows that are worked on at once: few enough for their columns to stay in the nearest cache.
const CHUNK: usize = 256;

/// The log-likelihood Σ w(E·ln h − H) of one family on one data set, in standardised units.
pub(crate) struct Likelihood<'a> {
    family: &'a dyn Family,
    times: &'a Times,
    standard: &'a Standard,
    pub(crate) blocks: Vec<Block>,
    width: usize,
    /// The penalty times the sum of weights.
    penalty: f64,
}

/// What is known of the rows of a chunk: a line per parameter, or per pair of parameters.
struct Chunk {
    theta: Vec<[f64; CHUNK]>,
    gradient: Vec<[f64; CHUNK]>,
    /// Of parameters k ≥ l, at k(k+1)/2 + l.
    hessian: Vec<[f64; CHUNK]>,
}

impl Chunk {
    fn new(parameters: usize) -> Self {
        let line = [0.0; CHUNK];
        let pairs = parameters * (parameters + 1) / 2;
        Self {
            theta: vec![line; parameters],
            gradient: vec![line; parameters],
            hessian: vec![line; pairs],
        }
    }
}

impl<'a> Likelihood<'a> {
    pub(crate) fn new(
        family: &'a dyn Family,
        times: &'a Times,
        standard: &'a Standard,
        covariates: Vec<Vec<usize>>,
        penalty: f64,
    ) -> Self {
        let blocks = Block::sequence(covariates);
        let width = blocks.iter().map(Block::len).sum();
        let penalty = penalty * times.weights.iter().sum::<f64>();
        Self { family, times, standard, blocks, width, penalty }
    }

    pub(crate) fn evaluate(&self, at: &[f64], derivatives: bool) -> Slope {
        let mut slope = self.sum(at, derivatives);
        self.add_penalty(at, derivatives, &mut slope);
        slope.hessian.mirror();
        slope
    }

    /// What the penalty takes from the log-likelihood.
    pub(crate) fn penalty_at(&self, at: &[f64]) -> f64 {
        let slopes = self.blocks.iter().map(|block| &at[block.range()][1..]);
        self.penalty / 2.0 * slopes.map(|slopes| dot(slopes, slopes)).sum::<f64>()
    }

    /// The sum over all rows; of the second derivatives the lower half.
    fn sum(&self, at: &[f64], derivatives: bool) -> Slope {
        let n = if derivatives { self.width } else { 0 };
        let mut slope = Slope { value: 0.0, gradient: vec![0.0; n], hessian: Square::zero(n) };
        let mut chunk = Chunk::new(self.blocks.len());
        let rows = self.times.ln.len();
        for start in (0..rows).step_by(CHUNK) {
            let range = start..rows.min(start + CHUNK);
            self.predict(at, range.clone(), &mut chunk);
            if derivatives {
                slope.value += self.add_jets(range.clone(), &mut chunk);
                self.gather(range, &chunk, &mut slope);
            } else {
                slope.value += range.map(|i| self.row_value(i, &chunk, i - start)).sum::<f64>();
            }
        }
        slope
    }

    /// A block's covariates on some rows, one after the other.
    fn columns(&self, block: &Block, rows: &Range<usize>) -> impl Iterator<Item = &[f64]> {
        let rows = rows.clone();
        block.covariates.iter().map(move |&c| &self.standard.columns[c][rows.clone()])
    }

    /// The distribution's parameters of each row.
    fn predict(&self, at: &[f64], rows: Range<usize>, chunk: &mut Chunk) {
        for (line, block) in chunk.theta.iter_mut().zip(&self.blocks) {
            let line = &mut line[..rows.len()];
            line.fill(at[block.start]);
            for (slope, column) in at[block.range()][1..].iter().zip(self.columns(block, &rows)) {
                for (value, x) in line.iter_mut().zip(column) {
                    *value += slope * x;
                }
            }
        }
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

    /// The parameters of one row of a chunk.
    fn theta<'b>(
        &self,
        chunk: &Chunk,
        at: usize,
        theta: &'b mut [f64; MAX_PARAMETERS],
    ) -> &'b [f64] {
        for (value, line) in theta.iter_mut().zip(&chunk.theta) {
            *value = line[at];
        }
        &theta[..self.blocks.len()]
    }

    fn row_value(&self, i: usize, chunk: &Chunk, at: usize) -> f64 {
        let mut theta = [0.0; MAX_PARAMETERS];
        let theta = self.theta(chunk, at, &mut theta);
        let (part, sign) = self.part(i);
        let mut value = sign * self.family.value(part, self.times.ln[i], theta);
        if let Some(entry) = self.late(i) {
            value += self.family.value(Part::CumulativeHazard, entry, theta);
        }
        self.times.weights[i] * value
    }

    /// Notes each row's derivatives by the parameters; the sum of the values.
    fn add_jets(&self, rows: Range<usize>, chunk: &mut Chunk) -> f64 {
        let mut value = 0.0;
        for (at, i) in rows.enumerate() {
            let mut theta = [0.0; MAX_PARAMETERS];
            let theta = self.theta(chunk, at, &mut theta);
            let (part, sign) = self.part(i);
            let mut jet = self.family.jet(part, self.times.ln[i], theta);
            let weight = sign * self.times.weights[i];
            if let Some(entry) = self.late(i) {
                let before = self.family.jet(Part::CumulativeHazard, entry, theta);
                jet = jet + before.scale(sign);
            }
            value += weight * jet.value;
            let mut pairs = chunk.hessian.iter_mut();
            for (k, line) in chunk.gradient.iter_mut().enumerate() {
                line[at] = weight * jet.gradient[k];
                for (second, pair) in jet.hessian[k].iter().take(k + 1).zip(&mut pairs) {
                    pair[at] = weight * second;
                }
            }
        }
        value
    }

    /// Adds up the derivatives by the coefficients, by the chain rule.
    fn gather(&self, rows: Range<usize>, chunk: &Chunk, slope: &mut Slope) {
        let ones = [1.0; CHUNK];
        let n = rows.len();
        // The intercept is a column of ones.
        let mut columns: Vec<Vec<&[f64]>> = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let mut own = vec![&ones[..n]];
            own.extend(self.columns(block, &rows));
            columns.push(own);
        }
        let mut product = [0.0; CHUNK];
        let mut pairs = chunk.hessian.iter();
        for (k, block) in self.blocks.iter().enumerate() {
            add_dots(&chunk.gradient[k][..n], &columns[k], &mut slope.gradient[block.range()]);
            for (l, second) in (0..=k).zip(&mut pairs) {
                for (i, column) in block.range().zip(&columns[k]) {
                    for ((out, s), x) in product.iter_mut().zip(&second[..n]).zip(*column) {
                        *out = s * x;
                    }
                    let from = self.blocks[l].start;
                    // Within a block the lower half suffices.
                    let to = self.blocks[l].range().end.min(i + 1);
                    let line = &mut slope.hessian.at[i * self.width..][from..to];
                    add_dots(&product[..n], &columns[l][..line.len()], line);
                }
            }
        }
    }

    fn add_penalty(&self, at: &[f64], derivatives: bool, slope: &mut Slope) {
        if self.penalty == 0.0 {
            return;
        }
        slope.value -= self.penalty_at(at);
        if !derivatives {
            return;
        }
        for i in self.blocks.iter().flat_map(|block| block.range().skip(1)) {
            slope.gradient[i] -= self.penalty * at[i];
            slope.hessian.add(i, i, -self.penalty);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::families::FAMILIES;
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
                let up = moved(h);
                let down = moved(-h);
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
