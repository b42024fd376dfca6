use super::cox::{Cox, hazard_by};
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::log_rank::TestResult;
use super::matrix::{Square, dot};
use crate::estimate::{Estimate, Level};

/// The clock of a test of proportional hazards: against which function of time a coefficient might
/// drift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clock {
    /// The time itself.
    Identity,
    /// Its logarithm, which needs durations above 0.
    Logarithm,
    /// The rank among the events: late outliers count no more than others.
    Rank,
    /// The share of rows that have had the event before, as R does.
    #[default]
    KaplanMeier,
}

impl Cox {
    /// Whether each coefficient stays the same over time: one test per covariate. A small p says
    /// that hazards are not proportional.
    ///
    /// It is the score test of a model in which the coefficient drifts with the clock, as in R's
    /// `cox.zph` since version 3.0 of its survival package. The approximation of Grambsch and Therneau
    /// (1994), which came before it, takes the variance of the covariates in the risk set to be the
    /// same at all times and can miss drifts by orders of magnitude of p.
    #[must_use]
    pub fn proportionality(&self, clock: Clock) -> Vec<(String, TestResult)> {
        let (score, variance) = self.drift(clock);
        self.covariates
            .iter()
            .enumerate()
            .map(|(i, name)| {
                let variance = variance.get(i, i);
                // With a single time of events no drift can be seen.
                let statistic = if variance > 0.0 { score[i] * score[i] / variance } else { 0.0 };
                (name.clone(), TestResult::new(statistic, 1))
            })
            .collect()
    }

    /// The same for all covariates together.
    #[must_use]
    pub fn global_proportionality(&self, clock: Clock) -> TestResult {
        let (score, variance) = self.drift(clock);
        let solved = variance.cholesky().map(|factor| factor.solve(&score));
        let statistic = solved.map_or(0.0, |solved| dot(&score, &solved));
        TestResult::new(statistic, self.slopes.len())
    }

    /// The slope of the likelihood along a drift of each coefficient, with its variance for known
    /// coefficients less what is lost since they are estimated.
    fn drift(&self, clock: Clock) -> (Vec<f64>, Square) {
        let readings = self.readings(clock);
        let drift = self.partial.drift(&self.slopes, readings.into_iter().rev());
        let n = self.slopes.len();
        let lost = self.covariance.mixed_by(&drift.mixed);
        let mut variance = Square::zero(n);
        for (sum, (own, lost)) in variance.at.iter_mut().zip(drift.own.at.iter().zip(&lost.at)) {
            *sum = own - lost;
        }
        (drift.score, variance)
    }

    /// The clock at each moment, less its mean over the events, which changes no test and keeps
    /// digits. The times of all strata are on one clock, as in R.
    fn readings(&self, clock: Clock) -> Vec<f64> {
        let mut counts = vec![0.0; self.lasting.len()];
        let place = |time: f64| self.lasting.partition_point(|(when, _)| *when < time);
        for moment in &self.moments {
            counts[place(moment.time)] += moment.events as f64;
        }
        let mut before = 0.0;
        let mut total = 0.0;
        let mut by_time = Vec::with_capacity(counts.len());
        for ((time, lasting), count) in self.lasting.iter().zip(&counts) {
            let reading = match clock {
                Clock::Identity => *time,
                Clock::Logarithm => time.ln(),
                Clock::Rank => before + (count + 1.0) / 2.0,
                Clock::KaplanMeier => 1.0 - lasting,
            };
            before += count;
            total += count * reading;
            by_time.push(reading);
        }
        self.moments.iter().map(|moment| by_time[place(moment.time)] - total / before).collect()
    }

    /// The cumulative hazard of one row by `time`, with an interval that counts both the baseline
    /// and the coefficients as uncertain (Tsiatis 1981).
    ///
    /// # Errors
    /// Another number of covariates, or one that is not finite.
    pub fn cumulative_hazard(
        &self,
        row: &[f64],
        time: f64,
        level: Level,
    ) -> Result<Estimate, SurvivalError> {
        let x = self.checked(row)?;
        let mut hazard = 0.0;
        let mut variance = 0.0;
        let mut lever = vec![0.0; x.len()];
        for m in self.moments.iter().take_while(|m| m.time <= time) {
            hazard += m.hazard;
            variance += m.variance;
            for (sum, (own, mean)) in lever.iter_mut().zip(x.iter().zip(&m.mean)) {
                *sum += (own - mean) * m.hazard;
            }
        }
        let n = self.rows as u64;
        if hazard == 0.0 {
            return Ok(Estimate { value: Some(0.0), low: 0.0, high: 0.0, n });
        }
        let error = (variance + self.covariance.form(&lever, &lever)).sqrt() / hazard;
        let value = hazard * dot(&self.slopes, &x).exp();
        let reach = (level.z() * error).exp();
        Ok(Estimate { value: Some(value), low: value / reach, high: value * reach, n })
    }

    /// The chance of one row to last longer than `time`.
    ///
    /// # Errors
    /// As [`Cox::cumulative_hazard`].
    pub fn survival(
        &self,
        row: &[f64],
        time: f64,
        level: Level,
    ) -> Result<Estimate, SurvivalError> {
        let hazard = self.cumulative_hazard(row, time, level)?;
        Ok(Estimate {
            value: hazard.value.map(|h| (-h).exp()),
            low: (-hazard.high).exp(),
            high: (-hazard.low).exp(),
            n: hazard.n,
        })
    }

    /// The median duration of one row; `None` if its survival stays above one half as long as
    /// anybody was observed.
    ///
    /// # Errors
    /// As [`Cox::cumulative_hazard`].
    pub fn median(&self, row: &[f64]) -> Result<Option<f64>, SurvivalError> {
        let risk = dot(&self.slopes, &self.checked(row)?).exp();
        Ok(self
            .baseline()
            .into_iter()
            .find(|(_, hazard)| hazard * risk >= std::f64::consts::LN_2)
            .map(|(time, _)| time))
    }

    /// The median duration of one row with its interval: the times at which the ends of the
    /// survival's own intervals reach one half, infinite where they do not, as R's `survfit` of a
    /// Cox model with log-log intervals.
    ///
    /// # Errors
    /// As [`Cox::cumulative_hazard`].
    pub fn median_interval(&self, row: &[f64], level: Level) -> Result<Estimate, SurvivalError> {
        let x = self.checked(row)?;
        let risk = dot(&self.slopes, &x).exp();
        let mut hazard = 0.0;
        let mut variance = 0.0;
        let mut lever = vec![0.0; x.len()];
        let mut out =
            Estimate { value: None, low: f64::INFINITY, high: f64::INFINITY, n: self.rows as u64 };
        for m in &self.moments {
            hazard += m.hazard;
            variance += m.variance;
            for (sum, (own, mean)) in lever.iter_mut().zip(x.iter().zip(&m.mean)) {
                *sum += (own - mean) * m.hazard;
            }
            let error = (variance + self.covariance.form(&lever, &lever)).sqrt() / hazard;
            let reach = (level.z() * error).exp();
            let reached = |times: f64| hazard * risk * times >= std::f64::consts::LN_2;
            out.low = if reached(reach) { out.low.min(m.time) } else { out.low };
            if reached(1.0) && out.value.is_none() {
                out.value = Some(m.time);
            }
            if reached(1.0 / reach) {
                out.high = m.time;
                break;
            }
        }
        Ok(out)
    }

    /// E[min(T, horizon)] of one row. The interval comes from the curves at the ends of the
    /// survival's intervals, so it is wide rather than narrow.
    ///
    /// # Errors
    /// As [`Cox::cumulative_hazard`], or a horizon that is not above 0.
    pub fn restricted_mean(
        &self,
        row: &[f64],
        horizon: f64,
        level: Level,
    ) -> Result<Estimate, SurvivalError> {
        if !(horizon.is_finite() && horizon > 0.0) {
            return Err(SurvivalError::Question { what: "a horizon", value: horizon });
        }
        let mut areas = [0.0; 3];
        let mut curve = [1.0; 3];
        let mut since = 0.0;
        for m in self.moments.iter().take_while(|m| m.time < horizon) {
            for (area, s) in areas.iter_mut().zip(curve) {
                *area += s * (m.time - since);
            }
            let s = self.survival(row, m.time, level)?;
            curve = [s.value.unwrap_or(0.0), s.low, s.high];
            since = m.time;
        }
        let [value, low, high] = std::array::from_fn(|i| areas[i] + curve[i] * (horizon - since));
        Ok(Estimate { value: Some(value), low, high, n: self.rows as u64 })
    }

    /// Cox-Snell residuals H(t|x), as [`Fit::residuals`](super::Fit::residuals). Rows that came and
    /// went between two events are left out: the baseline says nothing about them.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have, a stratum that was not in the fit, or no row
    /// that is left.
    pub fn residuals(&self, data: &Lifetimes) -> Result<Lifetimes, SurvivalError> {
        let baselines = self.baselines(data)?;
        let scores = self.scores(data)?;
        let spans = (0..data.rows()).map(|i| {
            let risk = (-scores[i]).exp();
            let baseline = &baselines[&data.strata()[i]];
            [data.entries()[i], data.durations()[i]].map(|time| risk * hazard_by(baseline, time))
        });
        let spans: Vec<[f64; 2]> = spans.collect();
        let kept: Vec<usize> =
            (0..data.rows()).filter(|&i| spans[i][0] == 0.0 || spans[i][0] < spans[i][1]).collect();
        Lifetimes::new(
            kept.iter().map(|&i| spans[i][1]).collect(),
            kept.iter().map(|&i| data.observed()[i]).collect(),
        )?
        .weights(kept.iter().map(|&i| data.row_weights()[i]).collect())?
        .late_entry(kept.iter().map(|&i| spans[i][0]).collect())
    }

    fn checked(&self, row: &[f64]) -> Result<Vec<f64>, SurvivalError> {
        if self.strata.len() > 1 {
            return Err(SurvivalError::SeveralStrata);
        }
        let found = row.len();
        let rows = self.covariates.len();
        if found != rows {
            return Err(SurvivalError::Length { column: "the row".to_owned(), found, rows });
        }
        if let Some(i) = row.iter().position(|v| !v.is_finite()) {
            let covariate = self.covariates[i].clone();
            let value = row[i];
            return Err(SurvivalError::Value { covariate, row: 1, value });
        }
        Ok(self.standardised(row))
    }
}
