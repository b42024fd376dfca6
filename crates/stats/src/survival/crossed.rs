//! Standard errors of rows that resemble each other in two ways at once, such as all attacks on one
//! model and all attacks on one image.

use std::collections::BTreeMap;

use super::data::Lifetimes;
use super::error::SurvivalError;
use super::family::Part;
use super::likelihood::Block;
use super::matrix::Square;
use super::parametric::Fit;
use crate::estimate::Level;
use crate::mean::student;
use crate::special::{beta_cdf, normal_cdf};

/// What some rows add to the likelihood's derivatives.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    pub(crate) score: Vec<f64>,
    /// The lower triangle of the information.
    pub(crate) information: Square,
}

impl Piece {
    pub(crate) fn zero(width: usize) -> Self {
        Self { score: vec![0.0; width], information: Square::zero(width) }
    }
}

/// What crossed clusters say about a fit's errors.
#[derive(Debug, Clone)]
pub struct CrossedErrors {
    pub(crate) covariance: Square,
    /// How many clusters there are of either kind.
    pub clusters: [usize; 2],
    /// For each coefficient whether it rests on a single cluster of the first kind: without that
    /// one it could not be estimated, so that no error says how it differs from cluster to cluster.
    pub single: Vec<bool>,
}

/// A coefficient whose variance grows by more without a cluster rests on that cluster alone.
const ALONE: f64 = 1e4;
/// What stands on the diagonal, relative to it, so that what a cluster alone decides can be told.
const RIDGE: f64 = 1e-7;

/// The covariance V₁ + V₂ − V₁₂ of Cameron, Gelbach and Miller (2011, JBES 29:238–249). V₁ and V₂
/// leave out one cluster after the other, by one Newton step each (the jackknife CV₃, which does not
/// understate errors when clusters are few or unlike; MacKinnon, Nielsen and Webb 2023), V₁₂ is the
/// plain sandwich. Eigenvalues below 0 become 0, and no variance is smaller than that of V₁, of V₂
/// or of independent rows.
pub(crate) fn crossed(
    plain: &Square,
    rows: usize,
    by: [&[usize]; 2],
    mut add: impl FnMut(usize, &mut Piece),
) -> Result<CrossedErrors, SurvivalError> {
    for clusters in by {
        if clusters.len() != rows {
            let column = "the cluster column".to_owned();
            return Err(SurvivalError::Length { column, found: clusters.len(), rows });
        }
    }
    let width = plain.n;
    let factor = plain.cholesky().ok_or(SurvivalError::NotConverged { model: "clustered" })?;
    let information = factor.inverse();
    let mut pieces = [BTreeMap::new(), BTreeMap::new()];
    let mut both: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
    for i in 0..rows {
        let mut own = Piece::zero(width);
        add(i, &mut own);
        own.information.mirror();
        for (pieces, clusters) in pieces.iter_mut().zip(by) {
            join(pieces.entry(clusters[i]).or_insert_with(|| Piece::zero(width)), &own);
        }
        let sum = both.entry((by[0][i], by[1][i])).or_insert_with(|| vec![0.0; width]);
        sum.iter_mut().zip(&own.score).for_each(|(sum, score)| *sum += score);
    }
    let [first, second] = &pieces;
    let clusters = [first.len(), second.len()];
    if let Some(&few) = clusters.iter().find(|&&count| count < 2) {
        let what = "the number of clusters";
        return Err(SurvivalError::Question { what, value: few as f64 });
    }
    let one = jackknife(&information, plain, first)?;
    let other = jackknife(&information, plain, second)?;
    let mut shared = Square::zero(width);
    for score in both.values() {
        outer(&mut shared, score);
    }
    let shared = shared.mixed_by(plain);
    let mut sum = one.covariance.clone();
    for (at, value) in sum.at.iter_mut().enumerate() {
        *value += other.covariance.at[at] - shared.at[at];
    }
    let mut covariance = sum.without_negative_directions();
    covariance.raise(&[plain, &one.covariance, &other.covariance]);
    Ok(CrossedErrors { covariance, clusters, single: one.single })
}

fn join(to: &mut Piece, own: &Piece) {
    to.score.iter_mut().zip(&own.score).for_each(|(sum, value)| *sum += value);
    let values = to.information.at.iter_mut().zip(&own.information.at);
    values.for_each(|(sum, value)| *sum += value);
}

fn outer(to: &mut Square, score: &[f64]) {
    for (i, a) in score.iter().enumerate() {
        for (j, b) in score.iter().enumerate() {
            to.add(i, j, a * b);
        }
    }
}

struct Jackknife {
    covariance: Square,
    single: Vec<bool>,
}

/// How coefficients move when one cluster after the other is left out, by one Newton step.
fn jackknife(
    information: &Square,
    plain: &Square,
    pieces: &BTreeMap<usize, Piece>,
) -> Result<Jackknife, SurvivalError> {
    let width = information.n;
    let mut covariance = Square::zero(width);
    let mut single = vec![false; width];
    for piece in pieces.values() {
        let mut rest = information.clone();
        for (at, value) in rest.at.iter_mut().enumerate() {
            *value -= piece.information.at[at];
        }
        for i in 0..width {
            rest.add(i, i, RIDGE * information.get(i, i));
        }
        // Where even the ridge does not help, the observed information of the others is not convex
        // here: the step of all rows together stands in.
        match rest.cholesky() {
            Some(factor) => {
                outer(&mut covariance, &factor.solve(&piece.score));
                let inverse = factor.inverse();
                for (i, alone) in single.iter_mut().enumerate() {
                    *alone |= inverse.get(i, i) > ALONE * plain.get(i, i);
                }
            }
            None => {
                let factor = information.cholesky();
                let factor = factor.ok_or(SurvivalError::NotConverged { model: "clustered" })?;
                outer(&mut covariance, &factor.solve(&piece.score));
            }
        }
    }
    let share = (pieces.len() as f64 - 1.0) / pieces.len() as f64;
    covariance.at.iter_mut().for_each(|value| *value *= share);
    Ok(Jackknife { covariance, single })
}

impl Square {
    /// The nearest symmetric matrix without negative eigenvalues, by Jacobi's rotations.
    fn without_negative_directions(&self) -> Self {
        let n = self.n;
        let mut matrix = self.clone();
        let mut vectors = Self::zero(n);
        (0..n).for_each(|i| vectors.add(i, i, 1.0));
        let total: f64 = self.at.iter().map(|value| value * value).sum();
        for _ in 0..SWEEPS {
            let mut off = 0.0;
            for p in 0..n {
                for q in p + 1..n {
                    off += matrix.get(p, q) * matrix.get(p, q);
                    rotate(&mut matrix, &mut vectors, p, q);
                }
            }
            if off <= 1e-28 * total {
                break;
            }
        }
        if (0..n).all(|i| matrix.get(i, i) >= 0.0) {
            return self.clone();
        }
        let mut out = Self::zero(n);
        for k in 0..n {
            let value = matrix.get(k, k).max(0.0);
            for i in 0..n {
                for j in 0..n {
                    out.add(i, j, value * vectors.get(i, k) * vectors.get(j, k));
                }
            }
        }
        out
    }

    /// Scales rows and columns so that no variance is below that of any of the others. A variance of
    /// 0 takes theirs, as if independent of all else.
    fn raise(&mut self, floors: &[&Self]) {
        let n = self.n;
        let mut factors = vec![1.0; n];
        let mut lacking = vec![0.0; n];
        for i in 0..n {
            let own = self.get(i, i);
            let floor = floors.iter().map(|floor| floor.get(i, i)).fold(0.0, f64::max);
            if own > 1e-12 * floor {
                factors[i] = (floor / own).sqrt().max(1.0);
            } else {
                factors[i] = 0.0;
                lacking[i] = floor;
            }
        }
        for i in 0..n {
            for j in 0..n {
                self.at[i * n + j] *= factors[i] * factors[j];
            }
            self.add(i, i, lacking[i]);
        }
    }
}

/// More sweeps of rotations than any matrix of a few dozen columns needs.
const SWEEPS: usize = 60;

/// One of Jacobi's rotations: what stands at (p, q) becomes 0.
fn rotate(matrix: &mut Square, vectors: &mut Square, p: usize, q: usize) {
    let n = matrix.n;
    let off = matrix.get(p, q);
    if off == 0.0 {
        return;
    }
    let theta = (matrix.get(q, q) - matrix.get(p, p)) / (2.0 * off);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for k in 0..n {
        let a = matrix.get(k, p);
        let b = matrix.get(k, q);
        matrix.at[k * n + p] = cosine * a - sine * b;
        matrix.at[k * n + q] = sine * a + cosine * b;
    }
    for k in 0..n {
        let a = matrix.get(p, k);
        let b = matrix.get(q, k);
        matrix.at[p * n + k] = cosine * a - sine * b;
        matrix.at[q * n + k] = sine * a + cosine * b;
        let a = vectors.get(k, p);
        let b = vectors.get(k, q);
        vectors.at[k * n + p] = cosine * a - sine * b;
        vectors.at[k * n + q] = sine * a + cosine * b;
    }
}

impl Fit {
    /// The same fit with standard errors that hold although rows resemble each other in two crossed
    /// ways, as attacks on one model do and attacks on one image: the errors that hold for other
    /// models and other images. `by` names for each row its cluster of either kind; with few clusters
    /// use [`student_level`] for intervals.
    ///
    /// # Errors
    /// Another number of clusters than rows, fewer than two different ones of either kind, a
    /// covariate of the fit that the data do not have, or a duration of 0.
    pub fn crossed(
        &self,
        data: &Lifetimes,
        by: [&[usize]; 2],
    ) -> Result<(Self, CrossedErrors), SurvivalError> {
        let columns = data.columns(self.covariates())?;
        if let Some(i) = data.durations().iter().position(|&time| time == 0.0) {
            return Err(SurvivalError::ZeroDuration { row: i + 1 });
        }
        let mut row = vec![0.0; columns.len()];
        let errors = crossed(&self.covariance, data.rows(), by, |i, piece| {
            for (value, column) in row.iter_mut().zip(&columns) {
                *value = column[i];
            }
            self.add_row(data, i, &row, piece);
        })?;
        let mut out = self.clone();
        out.covariance = errors.covariance.clone();
        Ok((out, errors))
    }

    /// Adds the derivatives of one row's log-likelihood by the coefficients.
    fn add_row(&self, data: &Lifetimes, i: usize, row: &[f64], piece: &mut Piece) {
        let theta = self.theta(row);
        let observed = data.observed()[i];
        let part = if observed { Part::LogDensity } else { Part::CumulativeHazard };
        let sign = if observed { 1.0 } else { -1.0 };
        let own = self.family.jet(part, data.durations()[i].ln(), &theta);
        let entry = data.entries()[i];
        let before =
            (entry > 0.0).then(|| self.family.jet(Part::CumulativeHazard, entry.ln(), &theta));
        let weight = data.row_weights()[i];
        for (k, block) in self.blocks.iter().enumerate() {
            let late = before.map_or(0.0, |jet| jet.gradient[k]);
            let slope = weight * (sign * own.gradient[k] + late);
            for (at, x) in terms(block, row) {
                piece.score[at] += slope * x;
            }
            for (l, other) in self.blocks[..=k].iter().enumerate() {
                let late = before.map_or(0.0, |jet| jet.hessian[k][l]);
                let bend = -weight * (sign * own.hessian[k][l] + late);
                for (at, x) in terms(block, row) {
                    for (to, y) in terms(other, row).filter(|(to, _)| *to <= at) {
                        piece.information.add(at, to, bend * x * y);
                    }
                }
            }
        }
    }
}

/// The coefficients of a parameter, each with what it is multiplied with.
fn terms<'a>(block: &'a Block, row: &'a [f64]) -> impl Iterator<Item = (usize, f64)> + 'a {
    let values = std::iter::once(1.0).chain(block.covariates.iter().map(|&c| row[c]));
    block.range().zip(values)
}

/// No level below 1 has a normal quantile beyond this.
const FURTHEST: f64 = 8.0;

/// The level whose normal quantile is Student's for so many degrees of freedom: what makes intervals
/// by normal quantiles as wide as few clusters demand. With a single degree of freedom the quantile
/// is 8 instead of 12.7, since no level is that close to 1.
#[must_use]
pub fn student_level(freedom: f64, level: Level) -> Level {
    let reach = student(freedom.max(1.0), level).min(FURTHEST);
    Level::new(1.0 - 2.0 * normal_cdf(-reach)).unwrap_or(level)
}

/// How often chance alone gives an estimate at least so many standard errors from 0, by Student's
/// distribution: ν / (ν + t²) is Beta(ν/2, 1/2).
#[must_use]
pub fn student_p(errors: f64, freedom: f64) -> f64 {
    let freedom = freedom.max(1.0);
    beta_cdf(freedom / (freedom + errors * errors), freedom / 2.0, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn negative_directions_are_dropped_and_others_stay() {
        // Eigenvalues 3 and −1 along (1, 1) and (1, −1).
        let got = Square { n: 2, at: vec![1.0, 2.0, 2.0, 1.0] }.without_negative_directions();
        for value in &got.at {
            assert!((value - 1.5).abs() < 1e-12, "{got:?}");
        }
        let fine = Square { n: 3, at: vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0] };
        assert_eq!(fine.without_negative_directions(), fine);
    }

    /// As tables of Student's distribution have them.
    #[test]
    fn few_clusters_widen_the_level() {
        for (freedom, quantile) in [(2.0, 4.302_653), (9.0, 2.262_157), (26.0, 2.055_529)] {
            let level = student_level(freedom, Level::default());
            assert!((level.z() - quantile).abs() < 1e-5, "{freedom}: {}", level.z());
            let p = student_p(quantile, freedom);
            assert!((p - 0.05).abs() < 1e-6, "{freedom}: {p}");
        }
        assert!((student_level(1.0, Level::default()).z() - FURTHEST).abs() < 0.2);
        assert!((student_p(1.0, 1.0) - 0.5).abs() < 1e-12);
    }
}
