use super::data::Lifetimes;
use super::error::SurvivalError;
use crate::estimate::{Estimate, Level};

/// How many rows were under observation just before a time, and how many events it brought.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Moment {
    pub(crate) time: f64,
    pub(crate) at_risk: f64,
    pub(crate) events: f64,
}

/// Sorted times with the weight of all rows at or after each.
struct After {
    times: Vec<f64>,
    weight: Vec<f64>,
}

impl After {
    fn new(mut rows: Vec<(f64, f64)>) -> Self {
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut weight = vec![0.0; rows.len() + 1];
        for i in (0..rows.len()).rev() {
            weight[i] = weight[i + 1] + rows[i].1;
        }
        Self { times: rows.into_iter().map(|r| r.0).collect(), weight }
    }

    fn at_or_after(&self, time: f64) -> f64 {
        self.weight[self.times.partition_point(|&t| t < time)]
    }

    fn exactly_at(&self, time: f64) -> f64 {
        self.at_or_after(time) - self.weight[self.times.partition_point(|&t| t <= time)]
    }
}

/// The rows at risk at any time, late entries taken into account.
pub(crate) struct Risk {
    leave: After,
    enter: After,
    events: After,
}

impl Risk {
    pub(crate) fn new(data: &Lifetimes) -> Self {
        let mut leave = Vec::new();
        let mut enter = Vec::new();
        let mut events = Vec::new();
        for (i, &weight) in data.row_weights().iter().enumerate() {
            leave.push((data.durations()[i], weight));
            if data.entries()[i] > 0.0 {
                enter.push((data.entries()[i], weight));
            }
            if data.observed()[i] {
                events.push((data.durations()[i], weight));
            }
        }
        Self { leave: After::new(leave), enter: After::new(enter), events: After::new(events) }
    }

    pub(crate) fn at(&self, time: f64) -> Moment {
        Moment {
            time,
            at_risk: self.leave.at_or_after(time) - self.enter.at_or_after(time),
            events: self.events.exactly_at(time),
        }
    }

    /// Every distinct time of an event, ascending.
    pub(crate) fn event_times(&self) -> Vec<f64> {
        let mut times = self.events.times.clone();
        times.dedup();
        times
    }

    fn moments(&self) -> Vec<Moment> {
        self.event_times().into_iter().map(|t| self.at(t)).collect()
    }
}

/// One time at which a [`Curve`] steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// When.
    pub time: f64,
    /// The (weighted) rows under observation just before.
    pub at_risk: f64,
    /// The (weighted) events.
    pub events: f64,
    /// The curve from here to the next step.
    pub estimate: Estimate,
}

/// A curve that assumes no distribution: it changes only where events were seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The steps, ascending in time; empty without events.
    pub steps: Vec<Step>,
    start: Estimate,
}

impl Curve {
    /// The curve at any time.
    #[must_use]
    pub fn at(&self, time: f64) -> Estimate {
        let after = self.steps.partition_point(|s| s.time <= time);
        if after == 0 { self.start } else { self.steps[after - 1].estimate }
    }

    /// The first time at which a survival curve is at or below one half; `None` if the
    /// observation ended before.
    #[must_use]
    pub fn median(&self) -> Option<f64> {
        self.steps.iter().find(|s| s.estimate.value.is_some_and(|v| v <= 0.5)).map(|s| s.time)
    }

    /// The median with its interval: the times at which the ends of the curve's own intervals reach
    /// one half (Brookmeyer and Crowley 1982). `None`, or a high end without bound, if the
    /// observation ended before.
    #[must_use]
    pub fn median_interval(&self) -> Estimate {
        let reached = |end: fn(&Estimate) -> f64| {
            self.steps.iter().find(|s| end(&s.estimate) <= 0.5).map(|s| s.time)
        };
        Estimate {
            value: self.median(),
            low: reached(|estimate| estimate.low).unwrap_or(f64::INFINITY),
            high: reached(|estimate| estimate.high).unwrap_or(f64::INFINITY),
            n: self.start.n,
        }
    }

    /// The area under a survival curve up to a horizon: E[min(T, horizon)] without a distribution,
    /// with an interval by Greenwood's variance that is symmetric in its logarithm. Where nothing
    /// happened before the horizon, the lower end is that of the share that may have had the event.
    ///
    /// # Errors
    /// A horizon that is not above 0.
    pub fn restricted_mean(&self, horizon: f64, level: Level) -> Result<Estimate, SurvivalError> {
        if !(horizon.is_finite() && horizon > 0.0) {
            return Err(SurvivalError::Question { what: "a horizon", value: horizon });
        }
        let n = self.start.n;
        let before: Vec<&Step> = self.steps.iter().take_while(|s| s.time < horizon).collect();
        if before.is_empty() {
            let low = horizon * (level.alpha() / 2.0).powf(1.0 / n.max(1) as f64);
            return Ok(Estimate { value: Some(horizon), low, high: horizon, n });
        }
        // From the end, so that the area right of each step is known when its turn comes.
        let mut right = 0.0;
        let mut variance = 0.0;
        let mut until = horizon;
        for step in before.iter().rev() {
            right += step.estimate.value.unwrap_or(0.0) * (until - step.time);
            let left = step.at_risk - step.events;
            if right > 0.0 && left > 0.0 {
                variance += right * right * step.events / (step.at_risk * left);
            }
            until = step.time;
        }
        let area = right + until;
        let reach = (level.z() * variance.sqrt() / area).exp();
        let high = (area * reach).min(horizon);
        Ok(Estimate { value: Some(area), low: area / reach, high, n })
    }
}

/// The survival curve by Kaplan and Meier (1958), with log-log intervals that stay within 0 and 1.
#[must_use]
pub fn kaplan_meier(data: &Lifetimes, level: Level) -> Curve {
    let n = data.rows() as u64;
    let start = Estimate { value: Some(1.0), low: 1.0, high: 1.0, n };
    let mut survival = 1.0;
    let mut variance = 0.0;
    let mut last_high = 1.0;
    Curve {
        steps: Risk::new(data)
            .moments()
            .into_iter()
            .map(|m| {
                let left = m.at_risk - m.events;
                // Sums of weights leave rounding where every row had its event.
                let left = if left < 1e-12 * m.at_risk { 0.0 } else { left };
                survival *= left / m.at_risk;
                variance += m.events / (m.at_risk * left);
                let estimate = if survival > 0.0 {
                    let ln = f64::ln(survival);
                    let reach = level.z() * f64::sqrt(variance) / ln.abs();
                    Estimate {
                        value: Some(survival),
                        low: (ln * reach.exp()).exp(),
                        high: (ln * (-reach).exp()).exp(),
                        n,
                    }
                } else {
                    // Greenwood's variance ends with the last row; the last known upper end still holds.
                    Estimate { value: Some(0.0), low: 0.0, high: last_high, n }
                };
                last_high = estimate.high;
                Step { time: m.time, at_risk: m.at_risk, events: m.events, estimate }
            })
            .collect(),
        start,
    }
}

/// The cumulative hazard by Nelson (1972) and Aalen (1978), with intervals symmetric in its
/// logarithm.
#[must_use]
pub fn nelson_aalen(data: &Lifetimes, level: Level) -> Curve {
    let n = data.rows() as u64;
    let start = Estimate { value: Some(0.0), low: 0.0, high: 0.0, n };
    let mut hazard = 0.0;
    let mut variance = 0.0;
    Curve {
        steps: Risk::new(data)
            .moments()
            .into_iter()
            .map(|m| {
                hazard += m.events / m.at_risk;
                variance += m.events / (m.at_risk * m.at_risk);
                let reach = f64::exp(level.z() * f64::sqrt(variance) / hazard);
                let estimate =
                    Estimate { value: Some(hazard), low: hazard / reach, high: hazard * reach, n };
                Step { time: m.time, at_risk: m.at_risk, events: m.events, estimate }
            })
            .collect(),
        start,
    }
}

/// Points of a QQ plot of [`residuals`](super::Fit::residuals): what the unit exponential
/// distribution expects and what the model left. A good model's points lie on the diagonal.
#[must_use]
pub fn qq_points(residuals: &Lifetimes) -> Vec<(f64, f64)> {
    let curve = kaplan_meier(residuals, Level::default());
    curve
        .steps
        .iter()
        .filter_map(|s| Some((-s.estimate.value.filter(|v| *v > 0.0)?.ln(), s.time)))
        .collect()
}

/// So many of the points, evenly spaced, the last one included: as many as a chart can show.
#[must_use]
pub fn thinned<T: Copy>(points: &[T], max: usize) -> Vec<T> {
    let every = points.len().div_ceil(max.max(1)).max(1);
    let first = points.len().saturating_sub(1) % every;
    points.iter().copied().skip(first).step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_the_last_point() {
        for n in [1, 5, 199, 200, 201, 1234] {
            let all: Vec<usize> = (0..n).collect();
            let few = thinned(&all, 200);
            assert!(few.len() <= 200 && few.last() == Some(&(n - 1)), "{n}");
        }
        assert!(thinned::<usize>(&[], 200).is_empty());
    }

    /// Freireich's 6-MP group, in every textbook.
    fn freireich() -> Lifetimes {
        let times = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35];
        let censored = [3, 5, 7, 8, 11, 12, 13, 16, 17, 18, 19, 20];
        let observed = (0..21).map(|i| !censored.contains(&i)).collect();
        Lifetimes::new(times.map(f64::from).to_vec(), observed).unwrap()
    }

    #[test]
    fn kaplan_meier_of_a_textbook() {
        let curve = kaplan_meier(&freireich(), Level::default());
        // Survival and Greenwood's standard errors as printed by Klein and Moeschberger.
        for (time, want) in
            [(6.0, 0.857), (7.0, 0.807), (10.0, 0.753), (13.0, 0.690), (23.0, 0.448)]
        {
            let got = curve.at(time).value.unwrap();
            assert!((got - want).abs() < 6e-4, "{time}: {got}");
        }
        assert_eq!(curve.median(), Some(23.0));
        assert_eq!(curve.at(1.0).value, Some(1.0));
        let last = curve.at(40.0);
        assert!(last.low > 0.18 && last.low < 0.2 && last.high < 0.69, "{last:?}");
    }

    /// Without censoring the restricted mean is that of the numbers cut at the horizon, and its
    /// variance the numbers' own over n.
    #[test]
    fn the_restricted_mean_of_complete_rows_is_their_mean() {
        let times = vec![1.0, 2.0, 4.0, 7.0, 9.0, 9.5];
        let data = Lifetimes::new(times.clone(), vec![true; 6]).unwrap();
        let curve = kaplan_meier(&data, Level::default());
        let cut: Vec<f64> = times.iter().map(|t| t.min(8.0)).collect();
        let mean = cut.iter().sum::<f64>() / 6.0;
        let error = (cut.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / 36.0).sqrt();
        let got = curve.restricted_mean(8.0, Level::default()).unwrap();
        assert!((got.value.unwrap() - mean).abs() < 1e-12);
        let low = mean / (Level::default().z() * error / mean).exp();
        assert!((got.low - low).abs() < 1e-12, "{got:?} {low}");
        assert!(got.high <= 8.0 && got.high > mean);
        assert!(curve.restricted_mean(0.0, Level::default()).is_err());
    }

    #[test]
    fn nothing_seen_bounds_the_restricted_mean_from_below() {
        let data = Lifetimes::new(vec![5.0; 10], vec![false; 10]).unwrap();
        let got = kaplan_meier(&data, Level::default()).restricted_mean(5.0, Level::default());
        let got = got.unwrap();
        assert_eq!((got.value, got.high), (Some(5.0), 5.0));
        // Clopper and Pearson's lower end of ten in ten.
        assert!((got.low / 5.0 - 0.6915).abs() < 1e-4, "{got:?}");
    }

    #[test]
    fn nelson_aalen_sums_the_hazards() {
        let curve = nelson_aalen(&freireich(), Level::default());
        let want = 3.0 / 21.0 + 1.0 / 17.0 + 1.0 / 15.0;
        assert!((curve.at(12.9).value.unwrap() - want).abs() < 1e-15);
    }

    #[test]
    fn weights_are_repeated_rows_and_late_entries_leave_the_risk_set() {
        let once = Lifetimes::new(vec![1.0, 2.0, 2.0, 3.0], vec![true, true, true, false]).unwrap();
        let weighed = Lifetimes::new(vec![1.0, 2.0, 3.0], vec![true, true, false]).unwrap();
        let weighed = weighed.weights(vec![1.0, 2.0, 1.0]).unwrap();
        let level = Level::default();
        let a = kaplan_meier(&once, level);
        let b = kaplan_meier(&weighed, level);
        assert_eq!(a.at(2.5).value, b.at(2.5).value);
        let late = once.late_entry(vec![0.0, 0.0, 1.5, 1.0]).unwrap();
        let steps = kaplan_meier(&late, level).steps;
        assert_eq!((steps[0].at_risk, steps[1].at_risk), (2.0, 3.0));
    }

    #[test]
    fn all_events_end_at_zero() {
        let data = Lifetimes::new(vec![1.0, 2.0], vec![true, true]).unwrap();
        let end = kaplan_meier(&data, Level::default()).at(2.0);
        assert_eq!((end.value, end.low), (Some(0.0), 0.0));
        assert!(end.high > 0.0 && end.high <= 1.0);
    }
}
