use super::cox::Cox;
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::log_rank::TestResult;
use super::matrix::dot;
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
    /// Whether each coefficient stays the same over time, by Schoenfeld's residuals (Grambsch and
    /// Therneau 1994): one test per covariate. A small p says that hazards are not proportional.
    #[must_use]
    pub fn proportionality(&self, clock: Clock) -> Vec<(String, TestResult)> {
        let (drift, spread) = self.drift(clock);
        let events = self.events() as f64;
        (0..self.slopes.len())
            .map(|i| {
                // Residuals scaled by the covariance estimate how far the coefficient was off.
                let n = self.slopes.len();
                let scaled = events * dot(&self.covariance.at[i * n..][..n], &drift);
                let variance = events * self.covariance.get(i, i) * spread;
                (self.covariates[i].clone(), TestResult::new(scaled * scaled / variance, 1))
            })
            .collect()
    }

    /// The same for all covariates together.
    #[must_use]
    pub fn global_proportionality(&self, clock: Clock) -> TestResult {
        let (drift, spread) = self.drift(clock);
        let statistic = self.events() as f64 * self.covariance.form(&drift, &drift) / spread;
        TestResult::new(statistic, self.slopes.len())
    }

    fn events(&self) -> usize {
        self.moments.iter().map(|m| m.residuals.len()).sum()
    }

    /// Σ(g − ḡ)·residual and Σ(g − ḡ)² over events.
    fn drift(&self, clock: Clock) -> (Vec<f64>, f64) {
        let mut before = 0.0;
        let readings: Vec<f64> = self
            .moments
            .iter()
            .zip(&self.lasting)
            .map(|(m, lasting)| {
                let count = m.residuals.len() as f64;
                let rank = before + (count + 1.0) / 2.0;
                before += count;
                match clock {
                    Clock::Identity => m.time,
                    Clock::Logarithm => m.time.ln(),
                    Clock::Rank => rank,
                    Clock::KaplanMeier => 1.0 - lasting,
                }
            })
            .collect();
        let total: f64 =
            readings.iter().zip(&self.moments).map(|(g, m)| g * m.residuals.len() as f64).sum();
        let mean = total / self.events() as f64;
        let mut drift = vec![0.0; self.slopes.len()];
        let mut spread = 0.0;
        for (g, moment) in readings.iter().zip(&self.moments) {
            for residual in &moment.residuals {
                spread += (g - mean) * (g - mean);
                for (sum, r) in drift.iter_mut().zip(residual) {
                    *sum += (g - mean) * r;
                }
            }
        }
        (drift, spread)
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
    /// A covariate of the fit that the data do not have, or no row that is left.
    pub fn residuals(&self, data: &Lifetimes) -> Result<Lifetimes, SurvivalError> {
        let baseline = self.baseline();
        let scores = self.scores(data)?;
        let spans = (0..data.rows()).map(|i| {
            let risk = (-scores[i]).exp();
            [data.entries()[i], data.durations()[i]].map(|time| {
                risk * (match baseline.partition_point(|(t, _)| *t <= time) {
                    0 => 0.0,
                    after => baseline[after - 1].1,
                })
            })
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
