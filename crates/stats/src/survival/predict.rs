use super::data::Lifetimes;
use super::error::SurvivalError;
use super::family::Part;
use super::gamma_tail::NODES;
use super::parametric::Fit;
use crate::estimate::{Estimate, Level};

/// What a fit says about one row of covariates; intervals by the delta method, on a scale on which
/// they cannot leave the possible values.
pub struct Prediction<'a> {
    fit: &'a Fit,
    covariates: Vec<f64>,
    theta: Vec<f64>,
    level: Level,
}

impl Fit {
    /// The prediction for one row of covariates, in the order of [`Fit::covariates`].
    ///
    /// # Errors
    /// Another number of covariates, or one that is not finite.
    pub fn predict(&self, row: &[f64], level: Level) -> Result<Prediction<'_>, SurvivalError> {
        let found = row.len();
        let rows = self.covariates().len();
        if found != rows {
            return Err(SurvivalError::Length { column: "the row".to_owned(), found, rows });
        }
        if let Some(i) = row.iter().position(|v| !v.is_finite()) {
            let covariate = self.covariates()[i].clone();
            let value = row[i];
            return Err(SurvivalError::Value { covariate, row: 1, value });
        }
        Ok(Prediction { fit: self, covariates: row.to_vec(), theta: self.theta(row), level })
    }

    /// The predicted median of every row: the score by which concordance ranks them. The data may
    /// be others than those of the fit but need the same covariates.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have.
    pub fn medians(&self, data: &Lifetimes) -> Result<Vec<f64>, SurvivalError> {
        let mut known: Option<(Vec<f64>, f64)> = None;
        Ok(self
            .rows_of(data)?
            .map(|row| {
                let theta = self.theta(&row);
                // The location only shifts ln t, so rows that share the rest share the search.
                let ln = match &known {
                    Some((others, ln)) if others[..] == theta[1..] => *ln,
                    _ => {
                        let mut centred = theta.clone();
                        centred[0] = 0.0;
                        let ln = self.ln_time_of(std::f64::consts::LN_2, &centred);
                        known = Some((theta[1..].to_vec(), ln));
                        ln
                    }
                };
                (theta[0] + ln).exp()
            })
            .collect())
    }

    /// The chance that each row has its event by `time`: what a calibration looks at.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have, or a time that is not above 0.
    pub fn event_chances(&self, data: &Lifetimes, time: f64) -> Result<Vec<f64>, SurvivalError> {
        let ln_t = checked(time)?.ln();
        Ok(self
            .rows_of(data)?
            .map(|row| {
                -(-self.family.value(Part::CumulativeHazard, ln_t, &self.theta(&row))).exp_m1()
            })
            .collect())
    }

    /// Cox-Snell residuals H(t|x): a sample of the unit exponential distribution, with the data's
    /// censoring, if the model is right.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have.
    pub fn residuals(&self, data: &Lifetimes) -> Result<Lifetimes, SurvivalError> {
        let mut durations = Vec::with_capacity(data.rows());
        let mut entries = Vec::with_capacity(data.rows());
        for (i, row) in self.rows_of(data)?.enumerate() {
            let theta = self.theta(&row);
            durations.push(self.hazard_by(data.durations()[i], &theta));
            entries.push(self.hazard_by(data.entries()[i], &theta));
        }
        Lifetimes::new(durations, data.observed().to_vec())?
            .weights(data.row_weights().to_vec())?
            .late_entry(entries)
    }

    /// H(t) for a time that may be 0.
    fn hazard_by(&self, time: f64, theta: &[f64]) -> f64 {
        if time > 0.0 { self.family.value(Part::CumulativeHazard, time.ln(), theta) } else { 0.0 }
    }

    fn rows_of<'a>(
        &'a self,
        data: &'a Lifetimes,
    ) -> Result<impl Iterator<Item = Vec<f64>> + 'a, SurvivalError> {
        let columns = data.columns(self.covariates())?;
        Ok((0..data.rows()).map(move |i| columns.iter().map(|c| c[i]).collect()))
    }

    /// ln t at which the cumulative hazard reaches `target`: Newton's method on its logarithm
    /// inside a bracket.
    fn ln_time_of(&self, target: f64, theta: &[f64]) -> f64 {
        let hazard = |u: f64| self.family.value(Part::CumulativeHazard, u, theta);
        let mut low = theta[0];
        let mut high = theta[0];
        let mut reach = 1.0;
        while hazard(low) > target && reach < 1e9 {
            low -= reach;
            reach *= 2.0;
        }
        while hazard(high) < target && reach < 1e9 {
            high += reach;
            reach *= 2.0;
        }
        let mut u = low + (high - low) / 2.0;
        for _ in 0..200 {
            let now = hazard(u);
            if now < target {
                low = u
            } else {
                high = u
            }
            let slope = (self.family.value(Part::LogHazard, u, theta) + u).exp() / now;
            let mut next = u - (now / target).ln() / slope;
            if !(next > low && next < high) {
                next = low + (high - low) / 2.0;
            }
            let done = (next - u).abs() <= 1e-15 * (1.0 + u.abs());
            u = next;
            if done {
                break;
            }
        }
        u
    }
}

fn checked(time: f64) -> Result<f64, SurvivalError> {
    if time.is_finite() && time > 0.0 {
        return Ok(time);
    }
    Err(SurvivalError::Question { what: "a time of prediction", value: time })
}

impl Prediction<'_> {
    /// The standard error of a quantity, from its slopes by the distribution's parameters.
    fn error(&self, slopes: &[f64]) -> f64 {
        let mut by_coefficient = Vec::with_capacity(self.fit.estimates.len());
        for (block, slope) in self.fit.blocks.iter().zip(slopes) {
            by_coefficient.push(*slope);
            by_coefficient.extend(block.covariates.iter().map(|&c| slope * self.covariates[c]));
        }
        self.fit.covariance.form(&by_coefficient, &by_coefficient).max(0.0).sqrt()
    }

    /// A positive quantity with an interval that is symmetric in its logarithm.
    fn positive(&self, ln: f64, error: f64) -> Estimate {
        let reach = self.level.z() * error;
        Estimate {
            value: Some(ln.exp()),
            low: (ln - reach).exp(),
            high: (ln + reach).exp(),
            n: self.fit.rows() as u64,
        }
    }

    /// H(t), the expected number of events had the row been restored after each.
    ///
    /// # Errors
    /// A time that is not above 0.
    pub fn cumulative_hazard(&self, time: f64) -> Result<Estimate, SurvivalError> {
        let jet = self.fit.family.jet(Part::CumulativeHazard, checked(time)?.ln(), &self.theta);
        Ok(self.positive(jet.value.ln(), self.error(&jet.gradient) / jet.value))
    }

    /// S(t), the chance to last longer than t.
    ///
    /// # Errors
    /// A time that is not above 0.
    pub fn survival(&self, time: f64) -> Result<Estimate, SurvivalError> {
        let hazard = self.cumulative_hazard(time)?;
        Ok(Estimate {
            value: hazard.value.map(|h| (-h).exp()),
            low: (-hazard.high).exp(),
            high: (-hazard.low).exp(),
            n: hazard.n,
        })
    }

    /// h(t), the rate of events at t among rows that lasted so long.
    ///
    /// # Errors
    /// A time that is not above 0.
    pub fn hazard(&self, time: f64) -> Result<Estimate, SurvivalError> {
        let jet = self.fit.family.jet(Part::LogHazard, checked(time)?.ln(), &self.theta);
        Ok(self.positive(jet.value, self.error(&jet.gradient)))
    }

    /// The time by which a share of such rows has had the event.
    ///
    /// # Errors
    /// A share that is not between 0 and 1.
    pub fn quantile(&self, share: f64) -> Result<Estimate, SurvivalError> {
        if !(share > 0.0 && share < 1.0) {
            return Err(SurvivalError::Question { what: "a share of events", value: share });
        }
        Ok(self.time_of(-(-share).ln_1p()))
    }

    /// The median duration.
    #[must_use]
    pub fn median(&self) -> Estimate {
        self.time_of(std::f64::consts::LN_2)
    }

    /// The time at which the cumulative hazard reaches `target`.
    fn time_of(&self, target: f64) -> Estimate {
        let u = self.fit.ln_time_of(target, &self.theta);
        let hazard = self.fit.family.jet(Part::CumulativeHazard, u, &self.theta);
        let rate = (self.fit.family.value(Part::LogHazard, u, &self.theta) + u).exp();
        // Moving a parameter moves the time along H(t) = target.
        let slopes = hazard.gradient.map(|g| -g / rate);
        self.positive(u, self.error(&slopes))
    }

    /// E\[T\]. Infinite, with an interval without bounds, where the tail is too heavy for a mean.
    #[must_use]
    pub fn mean(&self) -> Estimate {
        let Some(end) = self.end_of_tail() else {
            let n = self.fit.rows() as u64;
            return Estimate { value: Some(f64::INFINITY), low: 0.0, high: f64::INFINITY, n };
        };
        self.area(end)
    }

    /// E[min(T, horizon)]: the mean that data observed up to the horizon can support.
    ///
    /// # Errors
    /// A horizon that is not above 0.
    pub fn restricted_mean(&self, horizon: f64) -> Result<Estimate, SurvivalError> {
        let area = self.area(checked(horizon)?.ln());
        Ok(Estimate { high: area.high.min(horizon), ..area })
    }

    fn hazard_at(&self, u: f64) -> f64 {
        self.fit.family.value(Part::CumulativeHazard, u, &self.theta)
    }

    /// ln t beyond which t·S(t) is negligible beside the median; `None` if it never is.
    fn end_of_tail(&self) -> Option<f64> {
        let middle = self.fit.ln_time_of(std::f64::consts::LN_2, &self.theta);
        let mut reach = 0.25;
        while self.hazard_at(middle + reach) - reach < 40.0 {
            reach *= 1.25;
            if reach > 2000.0 {
                return None;
            }
        }
        Some(middle + reach)
    }

    /// The area under S up to ln t = `end`, by Gauss-Legendre panels as wide as the distribution.
    fn area(&self, end: f64) -> Estimate {
        let quantile = |p: f64| self.fit.ln_time_of(-f64::ln_1p(-p), &self.theta);
        // Before this nothing happens: S is 1 to ten digits.
        let start = quantile(1e-11).min(end);
        let width = 2.0 * (quantile(0.75) - quantile(0.25));
        let panels = ((end - start) / width).ceil().max(1.0);
        let step = (end - start) / panels;
        let mut area = start.exp();
        let mut slopes = vec![0.0; self.theta.len()];
        for panel in 0..panels as usize {
            for &(node, weight) in NODES.iter() {
                let u = start + (panel as f64 + node) * step;
                let hazard = self.fit.family.jet(Part::CumulativeHazard, u, &self.theta);
                let mass = weight * step * (u - hazard.value).exp();
                area += mass;
                for (slope, g) in slopes.iter_mut().zip(&hazard.gradient) {
                    *slope -= mass * g;
                }
            }
        }
        self.positive(area.ln(), self.error(&slopes) / area)
    }
}
