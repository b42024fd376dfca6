use std::collections::BTreeMap;

use super::cox::Cox;
use super::error::SurvivalError;
use super::matrix::{Square, dot};
use super::partial::Partial;

impl Cox {
    /// The same fit with robust standard errors (Lin and Wei 1989): they hold although rows of one
    /// cluster resemble each other, weights are not counts of rows, or hazards are not quite
    /// proportional. `clusters` says for each row of the fit to which it belongs; where every row has
    /// its own, only the model's assumptions are given up. As R's `cluster()`, without a correction for
    /// few clusters.
    ///
    /// # Errors
    /// Another number of clusters than rows, or fewer than two different ones.
    pub fn clustered(&self, clusters: &[usize]) -> Result<Self, SurvivalError> {
        let found = clusters.len();
        if found != self.rows {
            let column = "the cluster column".to_owned();
            return Err(SurvivalError::Length { column, found, rows: self.rows });
        }
        let width = self.slopes.len();
        let mut sums: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (row, residual) in self.partial.score_residuals(&self.slopes) {
            let sum = sums.entry(clusters[row]).or_insert_with(|| vec![0.0; width]);
            for (total, part) in sum.iter_mut().zip(residual) {
                *total += part;
            }
        }
        if sums.len() < 2 {
            let what = "the number of clusters";
            return Err(SurvivalError::Question { what, value: sums.len() as f64 });
        }
        // The sandwich A⁻¹ B A⁻¹, with B the sum of the outer products of the clusters' scores.
        let mut spread = Square::zero(width);
        for score in sums.values() {
            spread.add_outer(score);
        }
        spread.mirror();
        let mut out = self.clone();
        out.covariance = spread.mixed_by(&self.covariance);
        Ok(out)
    }
}

/// The hazard of one time of events, as sums over the factors of the likelihood that it has.
struct Jump {
    stratum: usize,
    time: f64,
    /// The baseline's increment, and the same times the mean of the covariates.
    hazard: f64,
    drawn: Vec<f64>,
    /// What the events of the time themselves are spared of both, under Efron's treatment of ties.
    spared: f64,
    spared_drawn: Vec<f64>,
    /// The mean of the covariates over the factors.
    mean: Vec<f64>,
}

impl Partial {
    /// Each row's part in the derivatives of the likelihood, by its weight, with its place in the
    /// data: what is left of its covariates after those of its risk sets (Therneau, Grambsch and
    /// Fleming 1990). They sum to 0 at the maximum.
    pub(crate) fn score_residuals(&self, at: &[f64]) -> Vec<(usize, Vec<f64>)> {
        let jumps = self.jumps(at);
        let sums = Sums::new(&jumps, self.width());
        let mut out = Vec::with_capacity(self.len());
        for i in 0..self.len() {
            let row = self.case(i);
            let risk = dot(at, row.x).exp();
            let until = |time: f64| {
                jumps.partition_point(|jump| (jump.stratum, jump.time) <= (row.stratum, time))
            };
            let end = until(row.time);
            let start = if row.entry > 0.0 {
                until(row.entry)
            } else {
                jumps.partition_point(|jump| jump.stratum < row.stratum)
            };
            let hazard = sums.hazard[end] - sums.hazard[start];
            let mut residual = Vec::with_capacity(row.x.len());
            for (k, x) in row.x.iter().enumerate() {
                let drawn = sums.drawn[end][k] - sums.drawn[start][k];
                let mut left = -risk * (x * hazard - drawn);
                if row.observed {
                    let own = &jumps[end - 1];
                    left += x - own.mean[k] + risk * (x * own.spared - own.spared_drawn[k]);
                }
                residual.push(row.weight * left);
            }
            out.push((row.place, residual));
        }
        out
    }

    /// Every time of events, ascending in stratum and time.
    fn jumps(&self, at: &[f64]) -> Vec<Jump> {
        let width = self.width();
        let mut out = Vec::new();
        self.walk(at, true, |risk, ended, events| {
            let first = self.case(events[0]);
            let zeros = vec![0.0; width];
            let mut jump = Jump {
                stratum: first.stratum,
                time: first.time,
                hazard: 0.0,
                drawn: zeros.clone(),
                spared: 0.0,
                spared_drawn: zeros.clone(),
                mean: zeros,
            };
            let (shares, weight) = self.factors(events);
            for &share in &shares {
                let zero = risk.zero - share * ended.zero;
                let hazard = weight / zero;
                jump.hazard += hazard;
                jump.spared += share * hazard;
                for k in 0..width {
                    let mean = (risk.first[k] - share * ended.first[k]) / zero;
                    jump.drawn[k] += hazard * mean;
                    jump.spared_drawn[k] += share * hazard * mean;
                    jump.mean[k] += mean / shares.len() as f64;
                }
            }
            out.push(jump);
        });
        out.reverse();
        out
    }
}

/// Sums over all jumps before each, and over all.
struct Sums {
    hazard: Vec<f64>,
    drawn: Vec<Vec<f64>>,
}

impl Sums {
    fn new(jumps: &[Jump], width: usize) -> Self {
        let mut hazard = vec![0.0];
        let mut drawn = vec![vec![0.0; width]];
        for (i, jump) in jumps.iter().enumerate() {
            hazard.push(hazard[i] + jump.hazard);
            drawn.push(drawn[i].iter().zip(&jump.drawn).map(|(sum, more)| sum + more).collect());
        }
        Self { hazard, drawn }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cox::cox;
    use super::super::data::Lifetimes;
    use super::super::partial::Ties;

    #[test]
    fn residuals_sum_to_the_gradient_which_is_zero() {
        let n = 60;
        let times = (0..n).map(|i| 1.0 + f64::from(i * 37 % 23)).collect();
        let observed = (0..n).map(|i| i % 4 != 0).collect();
        let entries = (0..n).map(|i| f64::from(i % 3) * 0.3).collect();
        let data = Lifetimes::new(times, observed).unwrap().late_entry(entries).unwrap();
        let data = data.weights((0..n).map(|i| 0.5 + f64::from(i % 5)).collect()).unwrap();
        let data = data.stratified((0..n).map(|i| i as usize % 2).collect()).unwrap();
        let data = data.covariate("a", (0..n).map(|i| f64::from(i * 29 % 17)).collect()).unwrap();
        let data = data.covariate("b", (0..n).map(|i| f64::from(i * 13 % 7)).collect()).unwrap();
        for ties in [Ties::Efron, Ties::Breslow] {
            let fit = cox(&data, ties, 0.0).unwrap();
            let all = fit.partial.score_residuals(&fit.slopes);
            for k in 0..2 {
                let sum: f64 = all.iter().map(|(_, residual)| residual[k]).sum();
                let size: f64 = all.iter().map(|(_, residual)| residual[k].abs()).sum();
                assert!(sum.abs() < 1e-7 && size > 1.0, "{ties:?} {sum} {size}");
            }
        }
    }
}
