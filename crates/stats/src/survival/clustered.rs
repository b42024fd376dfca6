use std::collections::BTreeMap;

use super::data::Lifetimes;
use super::error::SurvivalError;
use super::family::Part;
use super::likelihood::Block;
use super::matrix::Square;
use super::parametric::Fit;

impl Fit {
    /// The same fit with standard errors that hold although rows of one cluster resemble each
    /// other, as samples do that were asked of one model (Liang and Zeger 1986). `data` are the
    /// rows of the fit, `clusters` says for each to which it belongs. With fewer clusters than some
    /// thirty the errors are too small on average, whatever the number of rows.
    ///
    /// # Errors
    /// Another number of clusters than rows, fewer than two different ones, or a covariate of the
    /// fit that the data do not have.
    pub fn clustered(&self, data: &Lifetimes, clusters: &[usize]) -> Result<Self, SurvivalError> {
        let mut out = self.robust(data, clusters)?;
        let mut different = clusters.to_vec();
        different.sort_unstable();
        different.dedup();
        let count = different.len();
        // The intercept, and each covariate that only tells clusters apart, fits one of them.
        let spent = 1 + shared(&data.columns(self.covariates())?, clusters);
        let free = count.saturating_sub(spent).max(1) as f64;
        out.covariance.at.iter_mut().for_each(|v| *v *= count as f64 / free);
        Ok(out)
    }

    /// The same without a correction for the number of clusters, as R's `cluster()`. With every row
    /// as its own cluster it holds although the distribution is not quite that of the model.
    ///
    /// # Errors
    /// As [`Fit::clustered`].
    pub fn robust(&self, data: &Lifetimes, clusters: &[usize]) -> Result<Self, SurvivalError> {
        let found = clusters.len();
        let rows = data.rows();
        if found != rows {
            let column = "the cluster column".to_owned();
            return Err(SurvivalError::Length { column, found, rows });
        }
        let sums = self.scores_by(data, clusters)?;
        if sums.len() < 2 {
            let what = "the number of clusters";
            return Err(SurvivalError::Question { what, value: sums.len() as f64 });
        }
        // The sandwich A⁻¹ B A⁻¹: B sums the outer products of the clusters' scores, and the
        // covariance of the plain fit is A⁻¹.
        let mut spread = Square::zero(self.estimates.len());
        for score in sums.values() {
            spread.add_outer(score);
        }
        spread.mirror();
        let mut out = self.clone();
        out.covariance = spread.mixed_by(&self.covariance);
        Ok(out)
    }

    /// The same fit with standard errors at least as large as those of another fit of the same
    /// model. Clustered errors that fall below those of independent rows mostly do so by luck,
    /// when clusters are few. Where this fit has no error at all, the other's stands, as if
    /// independent of all else.
    ///
    /// # Errors
    /// A fit with another number of coefficients.
    pub fn with_errors_at_least_of(&self, other: &Self) -> Result<Self, SurvivalError> {
        let rows = self.estimates.len();
        let found = other.estimates.len();
        if found != rows {
            let column = "the other fit".to_owned();
            return Err(SurvivalError::Length { column, found, rows });
        }
        let mut factors = Vec::with_capacity(rows);
        for i in 0..rows {
            let own = self.covariance.get(i, i);
            let minimum = other.covariance.get(i, i);
            factors.push(if own > 0.0 { (minimum / own).sqrt().max(1.0) } else { 0.0 });
        }
        let mut out = self.clone();
        for i in 0..rows {
            for j in 0..rows {
                let by = factors[i] * factors[j];
                let at = i * rows + j;
                // What is no number stays none, whatever it is multiplied by.
                let own = if by > 0.0 { self.covariance.at[at] * by } else { 0.0 };
                let lacks = i == j && by == 0.0;
                out.covariance.at[at] = if lacks { other.covariance.get(i, i) } else { own };
            }
        }
        Ok(out)
    }

    /// The derivatives of each cluster's log-likelihood by the coefficients.
    fn scores_by(
        &self,
        data: &Lifetimes,
        clusters: &[usize],
    ) -> Result<BTreeMap<usize, Vec<f64>>, SurvivalError> {
        let columns = data.columns(self.covariates())?;
        let mut sums = BTreeMap::new();
        for (i, &cluster) in clusters.iter().enumerate() {
            let duration = data.durations()[i];
            if duration == 0.0 {
                return Err(SurvivalError::ZeroDuration { row: i + 1 });
            }
            let row: Vec<f64> = columns.iter().map(|c| c[i]).collect();
            let sum = sums.entry(cluster).or_insert_with(|| vec![0.0; self.estimates.len()]);
            let slopes = self.row_score(data, i, &row);
            for (block, slope) in self.blocks.iter().zip(slopes) {
                add(sum, block, &row, slope);
            }
        }
        Ok(sums)
    }

    /// The derivatives of one row's log-likelihood by the distribution's parameters.
    fn row_score(&self, data: &Lifetimes, i: usize, row: &[f64]) -> Vec<f64> {
        let theta = self.theta(row);
        let (part, sign) = if data.observed()[i] {
            (Part::LogDensity, 1.0)
        } else {
            (Part::CumulativeHazard, -1.0)
        };
        let own = self.family.jet(part, data.durations()[i].ln(), &theta);
        let entry = data.entries()[i];
        let before = (entry > 0.0)
            .then(|| self.family.jet(Part::CumulativeHazard, entry.ln(), &theta).gradient);
        (0..theta.len())
            .map(|k| {
                data.row_weights()[i]
                    * (sign * own.gradient[k] + before.map_or(0.0, |gradient| gradient[k]))
            })
            .collect()
    }
}

/// How many columns are the same in all rows of every cluster.
fn shared(columns: &[&[f64]], clusters: &[usize]) -> usize {
    columns
        .iter()
        .filter(|column| {
            let mut first = BTreeMap::new();
            column.iter().zip(clusters).all(|(v, cluster)| first.entry(cluster).or_insert(v) == &v)
        })
        .count()
}

/// Adds a parameter's derivative to those of its coefficients.
fn add(sum: &mut [f64], block: &Block, row: &[f64], slope: f64) {
    sum[block.start] += slope;
    for (place, &covariate) in block.range().skip(1).zip(&block.covariates) {
        sum[place] += slope * row[covariate];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate::Level;
    use crate::survival::{Options, family, fit};

    fn se(fit: &Fit) -> Vec<f64> {
        fit.coefficients(Level::default()).iter().map(|c| c.se).collect()
    }

    /// Of the exponential distribution everything is known: the score of ln λ is t/λ − E, the
    /// information the number of events.
    #[test]
    fn as_by_hand() {
        let times = vec![1.0, 2.0, 4.0, 5.0, 8.0, 10.0];
        let observed = vec![true, true, false, true, true, true];
        let data = Lifetimes::new(times.clone(), observed.clone()).unwrap();
        let plain = fit(family("exponential").unwrap(), &data, &Options::default()).unwrap();
        let clusters = [7, 7, 3, 3, 5, 5];
        let scale = times.iter().sum::<f64>() / 5.0;
        let score = |i: usize| times[i] / scale - f64::from(observed[i]);
        let squares: f64 = [0, 2, 4].map(|i| (score(i) + score(i + 1)).powi(2)).iter().sum();
        let want = (squares * 1.5).sqrt() / 5.0;
        let got = se(&plain.clustered(&data, &clusters).unwrap())[0];
        assert!((got - want).abs() < 1e-12, "{got} {want}");
        assert!(plain.clustered(&data, &[1; 6]).is_err());
        assert!(plain.clustered(&data, &[1]).is_err());
    }

    #[test]
    fn columns_that_only_tell_clusters_apart_are_counted() {
        let clusters = [4, 4, 2, 2];
        let own = [1.0, 1.0, 5.0, 5.0];
        let mixed = [1.0, 2.0, 5.0, 5.0];
        assert_eq!(shared(&[&own, &mixed], &clusters), 1);
        assert_eq!(shared(&[], &clusters), 0);
    }

    #[test]
    fn the_wary_fit_has_the_larger_error_of_each_coefficient() {
        let times: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i * 17 % 41)).collect();
        let x = (0..40).map(|i| f64::from(i * 7 % 11)).collect();
        let data = Lifetimes::new(times, vec![true; 40]).unwrap().covariate("x", x).unwrap();
        let plain = fit(family("weibull").unwrap(), &data, &Options::default()).unwrap();
        let clusters: Vec<usize> = (0..40).map(|i| i / 10).collect();
        let clustered = plain.clustered(&data, &clusters).unwrap();
        let wary = clustered.with_errors_at_least_of(&plain).unwrap();
        let all = se(&wary).into_iter().zip(se(&plain)).zip(se(&clustered));
        for ((wary, plain), clustered) in all {
            assert!((wary - plain.max(clustered)).abs() < 1e-12, "{wary} {plain} {clustered}");
        }
        let other = fit(family("exponential").unwrap(), &data, &Options::default()).unwrap();
        assert!(wary.with_errors_at_least_of(&other).is_err());
        for lacking in [0.0, -1e-9, f64::NAN] {
            let mut without = clustered.clone();
            for at in 0..3 {
                (without.covariance.at[3 + at], without.covariance.at[3 * at + 1]) =
                    (lacking, lacking);
            }
            let mended = without.with_errors_at_least_of(&plain).unwrap();
            assert_eq!(se(&mended)[1], se(&plain)[1], "{lacking}");
            assert_eq!(se(&mended)[0], se(&wary)[0], "{lacking}");
            let row: Vec<f64> = (0..3).map(|at| mended.covariance.get(1, at)).collect();
            assert_eq!((row[0], row[2]), (0.0, 0.0), "{lacking}");
        }
    }

    /// Copies of a row say nothing new, and the errors know it.
    #[test]
    fn copies_of_rows_do_not_narrow_the_errors() {
        let n = 60;
        let times: Vec<f64> = (0..n).map(|i| 1.0 + f64::from(i * 37 % 61)).collect();
        let observed: Vec<bool> = (0..n).map(|i| i % 5 != 0).collect();
        let x: Vec<f64> = (0..n).map(|i| f64::from(i * 29 % 17)).collect();
        let data = |copies: usize| {
            let times = times.repeat(copies);
            let data = Lifetimes::new(times, observed.repeat(copies)).unwrap();
            data.covariate("x", x.repeat(copies)).unwrap()
        };
        let clusters: Vec<usize> = (0..60).collect();
        let weibull = family("weibull").unwrap();
        let once = fit(weibull, &data(1), &Options::default()).unwrap();
        let often = fit(weibull, &data(4), &Options::default()).unwrap();
        let wanted = se(&once.clustered(&data(1), &clusters).unwrap());
        let got = se(&often.clustered(&data(4), &clusters.repeat(4)).unwrap());
        for ((got, want), naive) in got.iter().zip(&wanted).zip(se(&often)) {
            assert!((got - want).abs() < 1e-6 * want, "{got} {want}");
            assert!(naive < 0.75 * want, "{naive} {want}");
        }
    }
}
