//! The discrete hazard model with complementary log-log link: proportional hazards of times that
//! come in whole numbers, such as queries or steps.

use super::coefficient::Coefficient;
use super::crossed::{CrossedErrors, Piece, crossed};
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::matrix::{Square, dot};
use super::newton::{Lost, Slope, maximise};
use super::standard::Standard;
use crate::estimate::Level;

/// The name of the model, in errors and tables.
const NAME: &str = "cloglog";

/// One period of a [`Discrete`] model: the times after the end of the one before it, up to its own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    /// The last time of the period.
    pub end: f64,
    /// The (weighted) rows that were at risk throughout it.
    pub at_risk: f64,
    /// The (weighted) events in it.
    pub events: f64,
    /// ln(−ln(1 − hazard)) where every covariate is 0; infinite where every row at risk had the
    /// event.
    pub baseline: f64,
}

/// Grouped proportional hazards (Prentice and Gloeckler 1978, Biometrics 34:57–67): in period j a
/// row that lasted so long has its event with the chance 1 − exp(−exp(γⱼ + xβ)). β is that of Cox's
/// model of the times behind the periods, whatever the periods are.
#[derive(Debug, Clone)]
pub struct Discrete {
    names: Vec<String>,
    periods: Vec<Period>,
    /// The γ of each period that has one, then β.
    estimates: Vec<f64>,
    covariance: Square,
    log_likelihood: f64,
    rows: usize,
}

/// Fits a discrete hazard model. Each distinct time of an event ends a period; where there are more
/// than `most`, periods hold about equally many events. Rows that were censored within a period
/// count up to the one before it.
///
/// # Errors
/// Data without events, columns that say nothing or too much, or a likelihood without a maximum.
pub fn discrete(data: &Lifetimes, most: usize) -> Result<Discrete, SurvivalError> {
    let standard = Standard::new(data, 0.0)?;
    let table = Table::new(data, most);
    let start = table.start(standard.columns.len());
    let rows = table.by_row(&standard.columns);
    let peak = maximise(start, |at, derivatives| table.evaluate(&rows, at, derivatives))
        .map_err(|why| lost(why, table.free, &standard.names))?;
    let factor = peak.information.cholesky();
    let factor = factor.ok_or(SurvivalError::NotConverged { model: NAME })?;
    let back = back(table.free, &standard);
    let mut estimates = Vec::with_capacity(back.n);
    for i in 0..back.n {
        estimates.push(dot(&back.at[i * back.n..(i + 1) * back.n], &peak.at));
    }
    let mut periods = table.periods;
    let free = periods.iter_mut().filter(|period| period.events < period.at_risk);
    for (period, gamma) in free.zip(&estimates) {
        period.baseline = *gamma;
    }
    Ok(Discrete {
        names: standard.names,
        periods,
        estimates,
        covariance: factor.inverse().mixed_by(&back),
        log_likelihood: peak.value,
        rows: data.rows(),
    })
}

fn lost(why: Lost, free: usize, names: &[String]) -> SurvivalError {
    match why {
        Lost::Endless(i) if i >= free => SurvivalError::Separation(names[i - free].clone()),
        _ => SurvivalError::NotConverged { model: NAME },
    }
}

/// The matrix that turns coefficients of standardised columns into those of the data's units.
fn back(free: usize, standard: &Standard) -> Square {
    let width = free + standard.names.len();
    let mut out = Square::zero(width);
    for i in 0..free {
        out.add(i, i, 1.0);
    }
    for (c, (mean, deviation)) in standard.means.iter().zip(&standard.deviations).enumerate() {
        out.add(free + c, free + c, 1.0 / deviation);
        for i in 0..free {
            out.add(i, free + c, -mean / deviation);
        }
    }
    out
}

/// The rows as periods see them.
struct Table {
    periods: Vec<Period>,
    /// How many periods have a coefficient: not those in which every row at risk had the event,
    /// which say nothing about covariates.
    free: usize,
    /// The coefficient of each period.
    places: Vec<Option<usize>>,
    /// Of each row the first period, the one after its last, and whether its last has the event.
    spans: Vec<Span>,
    weights: Vec<f64>,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    from: usize,
    to: usize,
    event: bool,
}

impl Table {
    fn new(data: &Lifetimes, most: usize) -> Self {
        let mut periods: Vec<Period> = ends(data, most.max(1))
            .into_iter()
            .map(|end| Period { end, at_risk: 0.0, events: 0.0, baseline: f64::INFINITY })
            .collect();
        let weights = data.row_weights().to_vec();
        let mut spans = Vec::with_capacity(data.rows());
        for (i, &time) in data.durations().iter().enumerate() {
            let entry = data.entries()[i];
            // A row that enters within a period is at risk from the next one on.
            let from = if entry > 0.0 {
                periods.partition_point(|period| period.end < entry) + 1
            } else {
                0
            };
            let event = data.observed()[i];
            let to = if event {
                periods.partition_point(|period| period.end < time) + 1
            } else {
                periods.partition_point(|period| period.end <= time)
            };
            let span = Span { from: from.min(to), to, event: event && from < to };
            for period in &mut periods[span.from..span.to] {
                period.at_risk += weights[i];
            }
            if span.event {
                periods[to - 1].events += weights[i];
            }
            spans.push(span);
        }
        let mut free = 0;
        let mut places = Vec::with_capacity(periods.len());
        for period in &periods {
            let place = (period.events > 0.0 && period.events < period.at_risk).then_some(free);
            free += usize::from(place.is_some());
            places.push(place);
        }
        Self { periods, free, places, spans, weights }
    }

    /// The hazards without covariates, on the scale of the link.
    fn start(&self, covariates: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.free + covariates);
        for (period, place) in self.periods.iter().zip(&self.places) {
            if place.is_some() {
                let hazard = period.events / period.at_risk;
                out.push((-(-hazard).ln_1p()).ln());
            }
        }
        out.resize(self.free + covariates, 0.0);
        out
    }

    /// The covariates of each row, one row after the other.
    fn by_row(&self, columns: &[Vec<f64>]) -> Vec<Vec<f64>> {
        (0..self.spans.len()).map(|i| columns.iter().map(|column| column[i]).collect()).collect()
    }

    fn evaluate(&self, rows: &[Vec<f64>], at: &[f64], derivatives: bool) -> Slope {
        let mut value = 0.0;
        let mut piece = Piece::zero(at.len());
        for (i, row) in rows.iter().enumerate() {
            value += self.add(i, row, at, derivatives.then_some(&mut piece));
        }
        piece.information.mirror();
        Slope { value, gradient: piece.score, hessian: piece.information.negated() }
    }

    /// The log-likelihood of a row; its score and expected information are added to the piece. The
    /// expected information is what generalised linear models report, too (Fisher's scoring).
    fn add(&self, i: usize, row: &[f64], at: &[f64], mut piece: Option<&mut Piece>) -> f64 {
        let Span { from, to, event } = self.spans[i];
        let weight = self.weights[i];
        let shift = dot(row, &at[self.free..]);
        let mut value = 0.0;
        let mut slopes = 0.0;
        let mut informations = 0.0;
        for j in from..to {
            let Some(place) = self.places[j] else { continue };
            let rate = (at[place] + shift).exp();
            let happened = event && j + 1 == to;
            value += weight * if happened { (-(-rate).exp_m1()).ln() } else { -rate };
            let Some(piece) = piece.as_deref_mut() else { continue };
            // μ / (eᵘ − 1) goes to 1 with μ.
            let odds = if rate > 0.0 { rate / rate.exp_m1() } else { 1.0 };
            let slope = weight * if happened { odds } else { -rate };
            let information = weight * rate * odds;
            piece.score[place] += slope;
            piece.information.add(place, place, information);
            for (c, x) in row.iter().enumerate() {
                piece.information.add(self.free + c, place, information * x);
            }
            slopes += slope;
            informations += information;
        }
        if let Some(piece) = piece {
            for (c, x) in row.iter().enumerate() {
                piece.score[self.free + c] += slopes * x;
                for (d, y) in row[..=c].iter().enumerate() {
                    piece.information.add(self.free + c, self.free + d, informations * x * y);
                }
            }
        }
        value
    }
}

/// The last time of each period: every distinct time of an event, or so many quantiles of them.
fn ends(data: &Lifetimes, most: usize) -> Vec<f64> {
    let mut times: Vec<f64> = data.event_times().collect();
    times.sort_by(f64::total_cmp);
    let mut distinct = times.clone();
    distinct.dedup();
    if distinct.len() <= most {
        return distinct;
    }
    let mut out: Vec<f64> =
        (1..=most).map(|k| times[(times.len() * k).div_ceil(most) - 1]).collect();
    out.dedup();
    out
}

impl Discrete {
    /// The covariates' coefficients, on the logarithm of the hazard: above 0 the event comes sooner.
    #[must_use]
    pub fn coefficients(&self, level: Level) -> Vec<Coefficient> {
        let free = self.estimates.len() - self.names.len();
        let mut out = Vec::with_capacity(self.names.len());
        for (c, name) in self.names.iter().enumerate() {
            let variance = self.covariance.get(free + c, free + c);
            let estimate = self.estimates[free + c];
            out.push(Coefficient::new("hazard", name, estimate, variance, level));
        }
        out
    }

    /// The periods with their baselines.
    #[must_use]
    pub fn periods(&self) -> &[Period] {
        &self.periods
    }

    /// The log-likelihood.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Akaike's criterion, among discrete models of the same periods.
    #[must_use]
    pub fn aic(&self) -> f64 {
        2.0 * self.estimates.len() as f64 - 2.0 * self.log_likelihood
    }

    /// How many rows it was fitted on.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many events the model expects of each row of the data it was fitted to, for as long as
    /// the row was at risk: beside those observed this says how far off it is.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have.
    pub fn expected_events(&self, data: &Lifetimes) -> Result<Vec<f64>, SurvivalError> {
        let columns = data.columns(&self.names)?;
        let beta = &self.estimates[self.estimates.len() - self.names.len()..];
        let table = Table::new(data, self.periods.len());
        let mut out = Vec::with_capacity(data.rows());
        for (i, span) in table.spans.iter().enumerate() {
            let shift: f64 = columns.iter().zip(beta).map(|(column, b)| column[i] * b).sum();
            let mut expected = 0.0;
            for period in &self.periods[span.from..span.to] {
                expected += -(-(period.baseline + shift).exp()).exp_m1();
            }
            out.push(expected);
        }
        Ok(out)
    }

    /// The same fit with errors that hold although rows resemble each other in two crossed ways;
    /// see [`Fit::crossed`](super::Fit::crossed).
    ///
    /// # Errors
    /// Another number of clusters than rows, or fewer than two different ones of either kind.
    pub fn crossed(
        &self,
        data: &Lifetimes,
        by: [&[usize]; 2],
    ) -> Result<(Self, CrossedErrors), SurvivalError> {
        let columns = data.columns(&self.names)?;
        let table = Table::new(data, self.periods.len());
        let mut row = vec![0.0; columns.len()];
        let errors = crossed(&self.covariance, data.rows(), by, |i, piece| {
            for (value, column) in row.iter_mut().zip(&columns) {
                *value = column[i];
            }
            table.add(i, &row, &self.estimates, Some(piece));
        })?;
        let mut out = self.clone();
        out.covariance = errors.covariance.clone();
        Ok((out, errors))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table made by R's generator, sixty rows that last one to six steps.
    fn made() -> Lifetimes {
        const T: [u8; 60] = [
            4, 3, 6, 6, 6, 3, 4, 1, 6, 1, 2, 6, 6, 2, 6, 4, 1, 6, 3, 2, 4, 1, 3, 1, 6, 3, 6, 1, 6,
            4, 2, 1, 4, 1, 6, 3, 3, 1, 6, 1, 6, 1, 1, 6, 5, 6, 1, 1, 6, 2, 4, 4, 4, 6, 3, 1, 6, 2,
            2, 6,
        ];
        const E: [u8; 60] = [
            1, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 0,
            1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1,
            0, 0,
        ];
        const X: [f64; 60] = [
            -0.96, -0.29, 0.26, -1.15, 0.2, 0.03, 0.09, 1.12, -1.22, 1.27, -0.74, -1.13, -0.72,
            0.25, 0.15, -0.31, -0.95, -0.65, 1.22, 0.2, -0.58, -0.94, -0.2, -1.67, -0.48, -0.74,
            1.16, 1.01, -0.07, -1.14, 0.9, 0.85, 0.73, 0.74, -0.35, 0.71, 1.3, 0.04, -0.98, 0.79,
            0.79, -0.31, 1.7, -0.79, 0.35, -2.27, -0.16, 1.13, -0.46, -0.9, 0.73, -0.81, 0.27,
            -1.74, -1.41, -0.45, -1.04, 1.36, 0.92, -0.79,
        ];
        const Z: [u8; 60] = [
            1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, 0,
            0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 1,
            0, 0,
        ];
        let data = Lifetimes::new(T.map(f64::from).to_vec(), E.map(|e| e == 1).to_vec()).unwrap();
        let data = data.covariate("x", X.to_vec()).unwrap();
        data.covariate("z", Z.map(f64::from).to_vec()).unwrap()
    }

    /// R 4.2: `glm(y ~ 0 + factor(period) + x + z, binomial("cloglog"))` on the person-periods of
    /// the table. Nobody fell in period 5, whose coefficient R sends to −30 and which is none here.
    #[test]
    fn as_the_generalised_linear_model_of_r() {
        let fit = discrete(&made(), 20).unwrap();
        let lines = fit.coefficients(Level::default());
        let wanted = [(0.656_543_009_5, 0.206_330_981_4), (-1.087_001_520_2, 0.374_035_791_5)];
        for (line, (estimate, se)) in lines.iter().zip(wanted) {
            assert!((line.estimate - estimate).abs() < 1e-6, "{line:?}");
            assert!((line.se / se - 1.0).abs() < 1e-5, "{line:?}");
        }
        let baselines: Vec<f64> = fit.periods().iter().map(|period| period.baseline).collect();
        let wanted = [
            -1.117_785_947_1,
            -1.746_669_513_4,
            -1.008_025_895_6,
            -0.422_158_292_3,
            -0.619_189_983_8,
        ];
        assert_eq!(baselines.len(), wanted.len());
        for (got, want) in baselines.iter().zip(wanted) {
            assert!((got - want).abs() < 1e-6, "{baselines:?}");
        }
        assert!((fit.log_likelihood() + 83.985_266_51).abs() < 1e-7, "{}", fit.log_likelihood());
    }

    /// The same in R, fitted again without one cluster after the other: for x 0.253 by the first
    /// clusters and 0.210 by the second, for z 0.394 and 0.338. One Newton step comes close, and the
    /// crossed errors are at least as large as either.
    #[test]
    fn crossed_errors_hold_those_of_clusters_left_out() {
        let data = made();
        let fit = discrete(&data, 20).unwrap();
        let first: Vec<usize> = (0..60).map(|i| i % 8).collect();
        let second: Vec<usize> = (0..60).map(|i| i / 8 % 5).collect();
        let (wide, errors) = fit.crossed(&data, [&first, &second]).unwrap();
        assert_eq!(errors.clusters, [8, 5]);
        assert!(errors.single.iter().all(|alone| !alone), "{errors:?}");
        let alone: Vec<usize> = (0..60).collect();
        let (rows, _) = fit.crossed(&data, [&alone, &alone]).unwrap();
        let lines = wide.coefficients(Level::default());
        for (line, most) in lines.iter().zip([0.253_237_496_8, 0.393_808_842_2]) {
            assert!(line.se > 0.85 * most && line.se < 1.5 * most, "{line:?}");
        }
        // Rows that are their own clusters have errors like those of the model.
        for (line, plain) in rows.coefficients(Level::default()).iter().zip([0.206, 0.374]) {
            assert!(line.se >= plain - 1e-3 && line.se < 1.35 * plain, "{line:?}");
        }
        assert!(fit.crossed(&data, [&first, &[0; 60]]).is_err());
        assert!(fit.crossed(&data, [&first[1..], &second]).is_err());
    }

    /// Without covariates the hazard of a period is the share of its events.
    #[test]
    fn hazards_without_covariates_are_shares() {
        let times = vec![1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 3.0];
        let observed = vec![true, false, true, true, true, true, false, false];
        let data = Lifetimes::new(times, observed).unwrap();
        let fit = discrete(&data, 20).unwrap();
        for (period, hazard) in fit.periods().iter().zip([1.0 / 8.0, 2.0 / 6.0, 2.0 / 4.0]) {
            let got = -(-period.baseline.exp()).exp_m1();
            assert!((got - hazard).abs() < 1e-9, "{period:?}");
        }
        let expected: f64 = fit.expected_events(&data).unwrap().iter().sum();
        assert!((expected - 5.0).abs() < 1e-8, "{expected}");
    }

    #[test]
    fn a_period_in_which_all_fall_has_no_coefficient() {
        let data = Lifetimes::new(vec![1.0, 1.0, 2.0, 2.0], vec![true, false, true, true]).unwrap();
        let fit = discrete(&data, 20).unwrap();
        assert_eq!(fit.estimates.len(), 1);
        assert_eq!(fit.periods()[1].baseline, f64::INFINITY);
        let expected: f64 = fit.expected_events(&data).unwrap().iter().sum();
        assert!((expected - 3.0).abs() < 1e-8, "{expected}");
    }

    #[test]
    fn many_times_are_grouped_by_their_events() {
        let times: Vec<f64> = (1..=1000).map(f64::from).collect();
        let data = Lifetimes::new(times, vec![true; 1000]).unwrap();
        let periods = discrete(&data, 10).unwrap().periods;
        assert_eq!(periods.len(), 10);
        assert!(periods.iter().all(|period| period.events == 100.0), "{periods:?}");
        assert_eq!(periods[9].end, 1000.0);
    }

    #[test]
    fn late_rows_are_at_risk_from_the_next_period_on() {
        let data = Lifetimes::new(vec![1.0, 2.0, 2.0, 3.0], vec![true, true, true, false]).unwrap();
        let late = data.late_entry(vec![0.0, 0.0, 0.5, 1.5]).unwrap();
        let table = Table::new(&late, 20);
        assert_eq!((table.periods[0].at_risk, table.periods[1].at_risk), (2.0, 2.0));
    }
}
