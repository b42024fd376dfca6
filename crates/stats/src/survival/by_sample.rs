//! The mean duration of attacks on samples, without a distribution, as it holds for new samples.

use super::data::Lifetimes;
use super::error::SurvivalError;
use crate::bootstrap::{index_below, quantile};
use crate::estimate::{Estimate, Level};
use crate::mean::student;
use crate::proportion::exact_ends;

/// What the rows of samples say about the durations of samples like them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BySample {
    /// E[min(T, horizon)]: the area under Kaplan and Meier's curve. Where every row had its event
    /// and the horizon is the latest of them, this is the observed mean of T.
    pub mean: Estimate,
    /// The time spent for each event by somebody who gives up at the horizon and takes another
    /// sample: the area over the share that has the event by then. `None` without events.
    pub price: Option<Estimate>,
    /// The share without an event by the horizon.
    pub survival: f64,
    /// How many different samples there are.
    pub samples: u64,
    /// How many rows had their event by the horizon.
    pub events: u64,
}

/// Fewer events than this and the share of events decides, whose exact interval is known.
const FEW: u64 = 10;

/// The mean duration up to a horizon with an interval for new samples: `samples` says for each row
/// which sample it is of, and samples are what is drawn. The interval spans Student's on the
/// logarithm, with the error of the infinitesimal jackknife, and the studentised bootstrap over
/// samples (Efron and Tibshirani 1993, chapter 12), which knows how skew durations are; either alone
/// covers too little in small samples. With fewer than ten events an end lies no nearer than the
/// exact interval of their share puts it.
///
/// # Errors
/// Another number of samples than rows, or a horizon that is not above 0.
pub fn by_sample(
    data: &Lifetimes,
    samples: &[usize],
    horizon: f64,
    resamples: usize,
    level: Level,
    mut draw: impl FnMut() -> u64,
) -> Result<BySample, SurvivalError> {
    let rows = SampleRows::new(data, samples, horizon)?;
    let count = rows.samples.len();
    let found = rows.measure(&vec![1.0; count]);
    let events = rows.rows.iter().filter(|row| row.event).count() as u64;
    let mut resampled = [Vec::new(), Vec::new()];
    let mut counts = vec![0.0; count];
    for _ in 0..resamples {
        counts.fill(0.0);
        for _ in 0..count {
            counts[index_below(count, draw())] += 1.0;
        }
        let other = rows.measure(&counts);
        resampled[0].extend(found.mean.distance(&other.mean));
        resampled[1].extend(found.price.distance(&other.price));
    }
    for distances in &mut resampled {
        distances.sort_by(f64::total_cmp);
    }
    let mut mean = rows.interval(found.mean, &resampled[0], level);
    let mut price = rows.interval(found.price, &resampled[1], level);
    let complete = found.survival <= 0.0;
    if !complete && events < FEW {
        rows.widen(&mut mean, &mut price, events, horizon, level);
    }
    if !complete {
        mean.high = mean.high.min(horizon);
    }
    Ok(BySample {
        mean,
        price: (events > 0).then_some(price),
        survival: found.survival,
        samples: count as u64,
        events,
    })
}

struct SortedRow {
    time: f64,
    event: bool,
    sample: usize,
}

/// Rows in the order of their times, for means of the same rows with samples counted differently, as
/// a bootstrap over samples needs them that several tables share.
pub struct SampleRows {
    rows: Vec<SortedRow>,
    /// The names of the samples, ascending.
    samples: Vec<usize>,
    horizon: f64,
}

/// A mean with its standard error.
#[derive(Debug, Clone, Copy)]
struct WithError {
    mean: f64,
    error: f64,
}

impl WithError {
    /// How far another sample's mean lies from this one, on the logarithm, in its own errors.
    fn distance(&self, other: &Self) -> Option<f64> {
        let known = other.mean.is_finite() && other.mean > 0.0 && other.error > 1e-9 * other.mean;
        known.then(|| (other.mean / self.mean).ln() / (other.error / other.mean))
    }
}

struct Measures {
    mean: WithError,
    price: WithError,
    survival: f64,
}

impl SampleRows {
    /// The rows up to a horizon; `samples` names for each the sample that it is of.
    ///
    /// # Errors
    /// Another number of samples than rows, or a horizon that is not above 0.
    pub fn new(data: &Lifetimes, samples: &[usize], horizon: f64) -> Result<Self, SurvivalError> {
        if samples.len() != data.rows() {
            let column = "the sample column".to_owned();
            let found = samples.len();
            return Err(SurvivalError::Length { column, found, rows: data.rows() });
        }
        if !(horizon.is_finite() && horizon > 0.0) {
            return Err(SurvivalError::Question { what: "a horizon", value: horizon });
        }
        Ok(Self::sorted(data, samples, horizon))
    }

    /// The names of the samples, ascending.
    #[must_use]
    pub fn samples(&self) -> &[usize] {
        &self.samples
    }

    /// E[min(T, horizon)] by Kaplan and Meier with each of [`samples`](Self::samples) counted so
    /// often; `None` where none counts.
    #[must_use]
    pub fn mean(&self, counts: &[f64]) -> Option<f64> {
        let mut area = 0.0;
        let mut survival = 1.0;
        let mut from = 0.0;
        for step in self.steps(counts) {
            area += survival * (step.time - from);
            survival = step.survival;
            from = step.time;
        }
        let any = counts.iter().any(|count| *count > 0.0);
        any.then_some(area + survival * (self.horizon - from))
    }

    fn sorted(data: &Lifetimes, samples: &[usize], horizon: f64) -> Self {
        let mut known: Vec<usize> = samples.to_vec();
        known.sort_unstable();
        known.dedup();
        let mut rows = Vec::with_capacity(data.rows());
        for (i, sample) in samples.iter().enumerate() {
            let time = data.durations()[i];
            rows.push(SortedRow {
                time: time.min(horizon),
                event: data.observed()[i] && time <= horizon,
                sample: known.partition_point(|other| other < sample),
            });
        }
        rows.sort_by(|a, b| a.time.total_cmp(&b.time).then(b.event.cmp(&a.event)));
        Self { rows, samples: known, horizon }
    }

    /// The curve's area and what it says of the price, each sample counted so often.
    fn measure(&self, counts: &[f64]) -> Measures {
        let steps = self.steps(counts);
        let survival = steps.last().map_or(1.0, |step| step.survival);
        // The area right of each step, from the end.
        let mut after = vec![0.0; steps.len()];
        let mut until = self.horizon;
        let mut area = 0.0;
        for (step, after) in steps.iter().zip(&mut after).rev() {
            area += step.survival * (until - step.time);
            *after = area;
            until = step.time;
        }
        area += until;
        // The infinitesimal jackknife: how a row moves the area, and the share that is left. A row's
        // event lowers both, its presence in the risk sets before raises them.
        let mut moves = vec![[0.0; 2]; self.samples.len()];
        let mut raised = [0.0; 2];
        let mut next = 0;
        for row in self.rows.iter().filter(|row| counts[row.sample] > 0.0) {
            while next < steps.len() && steps[next].time <= row.time {
                let step = &steps[next];
                let share = step.moved() * step.events / step.at_risk;
                raised[0] += after[next] * share;
                raised[1] += survival * share;
                next += 1;
            }
            let own = &mut moves[row.sample];
            own[0] += raised[0];
            own[1] += raised[1];
            if row.event {
                let share = steps[next - 1].moved();
                own[0] -= after[next - 1] * share;
                own[1] -= survival * share;
            }
        }
        let share = 1.0 - survival;
        let price = area / share;
        let mut squares = [0.0; 2];
        for (own, count) in moves.iter().zip(counts) {
            squares[0] += count * own[0] * own[0];
            // The derivative of area / (1 − S).
            let moved = (own[0] + price * own[1]) / share;
            squares[1] += count * moved * moved;
        }
        let samples = self.samples.len() as f64;
        let few = samples / (samples - 1.0).max(1.0);
        let [mean, price_error] = squares.map(|sum: f64| (sum * few).sqrt());
        Measures {
            mean: WithError { mean: area, error: mean },
            price: WithError { mean: price, error: price_error },
            survival,
        }
    }

    fn steps(&self, counts: &[f64]) -> Vec<CurveStep> {
        let mut at_risk: f64 = self.rows.iter().map(|row| counts[row.sample]).sum();
        let mut survival = 1.0;
        let mut out: Vec<CurveStep> = Vec::with_capacity(self.rows.len());
        let mut start = 0;
        while start < self.rows.len() {
            let time = self.rows[start].time;
            let mut events = 0.0;
            let mut left = 0.0;
            while let Some(row) = self.rows.get(start).filter(|row| row.time == time) {
                left += counts[row.sample];
                events += if row.event { counts[row.sample] } else { 0.0 };
                start += 1;
            }
            if events > 0.0 {
                survival *= 1.0 - events / at_risk;
                out.push(CurveStep { time, at_risk, events, survival });
            }
            at_risk -= left;
        }
        out
    }

    /// Student's interval on the logarithm, and that of the resampled distances where it is wider.
    fn interval(&self, of: WithError, distances: &[f64], level: Level) -> Estimate {
        let n = self.rows.len() as u64;
        if self.samples.len() < 2 || !of.mean.is_finite() {
            let value = Some(of.mean).filter(|mean| mean.is_finite());
            return Estimate { value, low: 0.0, high: f64::INFINITY, n };
        }
        let error = of.error / of.mean;
        let reach = student(self.samples.len() as f64 - 1.0, level);
        let mut below = -reach;
        let mut above = reach;
        if distances.len() > 1 {
            let tail = level.alpha() / 2.0;
            below = below.min(quantile(distances, tail));
            above = above.max(quantile(distances, 1.0 - tail));
        }
        // A distance below 0 says that a sample's mean may fall short of the truth.
        Estimate {
            value: Some(of.mean),
            low: of.mean * (-above * error).exp(),
            high: of.mean * (-below * error).exp(),
            n,
        }
    }

    /// Moves the ends out to where the exact interval of the share of events puts them.
    fn widen(
        &self,
        mean: &mut Estimate,
        price: &mut Estimate,
        events: u64,
        horizon: f64,
        level: Level,
    ) {
        let share = events as f64 / self.rows.len() as f64;
        let (low, high) = exact_ends(share, self.samples.len() as f64, level);
        // Rows with an event lose at most the whole horizon.
        mean.low = mean.low.min(horizon * (1.0 - high));
        price.high = if low > 0.0 { price.high.max(horizon / low) } else { f64::INFINITY };
    }
}

struct CurveStep {
    time: f64,
    at_risk: f64,
    events: f64,
    survival: f64,
}

impl CurveStep {
    /// By which share of itself the curve falls from here on for one event more among those at risk.
    /// Where every row at risk has its event, another one changes nothing.
    fn moved(&self) -> f64 {
        let left = self.at_risk - self.events;
        if left > 1e-12 * self.at_risk { 1.0 / left } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marsaglia's xorshift: enough for a bootstrap.
    fn generator(mut state: u64) -> impl FnMut() -> u64 {
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_F491_4F6C_DD1D)
        }
    }

    #[test]
    fn rows_that_all_had_their_event_have_their_mean_and_its_error() {
        let times = vec![1.0, 2.0, 2.0, 4.0, 9.0, 3.0];
        let data = Lifetimes::new(times.clone(), vec![true; 6]).unwrap();
        let rows = SampleRows::new(&data, &[0, 1, 2, 3, 4, 5], 9.0).unwrap();
        let found = rows.measure(&[1.0; 6]);
        let mean = times.iter().sum::<f64>() / 6.0;
        let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
        assert!((found.mean.mean - mean).abs() < 1e-12);
        assert!((found.mean.error - (squares / 30.0).sqrt()).abs() < 1e-12, "{:?}", found.mean);
        assert!((found.price.mean - mean).abs() < 1e-12);
        // Counted twice, a sample weighs twice.
        let twice = rows.measure(&[2.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
        assert!((twice.mean.mean - 20.0 / 6.0).abs() < 1e-12);
        assert_eq!(rows.mean(&[2.0, 0.0, 1.0, 1.0, 1.0, 1.0]), Some(twice.mean.mean));
        assert_eq!(rows.mean(&[0.0; 6]), None);
    }

    /// R 4.2, survival 3.5-3: `residuals(survfit(Surv(t, e) ~ 1), times = 20, type = "rmst")`, summed
    /// by sample, on Freireich's 6-MP group with two rows for each of the first ten samples; the
    /// root of the sum of squares leaves out the factor 11 / 10 of the variance.
    #[test]
    fn errors_by_sample_as_r_has_them() {
        let times = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35];
        let censored = [3, 5, 7, 8, 11, 12, 13, 16, 17, 18, 19, 20];
        let observed = (0..21).map(|i| !censored.contains(&i)).collect();
        let data = Lifetimes::new(times.map(f64::from).to_vec(), observed).unwrap();
        let samples: Vec<usize> = (0..21).map(|i| i / 2).collect();
        let found = SampleRows::new(&data, &samples, 20.0).unwrap().measure(&[1.0; 11]);
        assert!((found.mean.mean - 16.116_526_610_64).abs() < 1e-6, "{:?}", found.mean);
        let error = found.mean.error * (10.0_f64 / 11.0).sqrt();
        assert!((error / 1.411_702_277_42 - 1.0).abs() < 1e-6, "{error}");
    }

    #[test]
    fn without_events_only_the_share_is_known() {
        let data = Lifetimes::new(vec![5.0; 20], vec![false; 20]).unwrap();
        let samples: Vec<usize> = (0..20).collect();
        let level = Level::default();
        let found = by_sample(&data, &samples, 5.0, 199, level, generator(1)).unwrap();
        assert_eq!((found.mean.value, found.mean.high, found.price), (Some(5.0), 5.0, None));
        // Clopper and Pearson's upper end of none in twenty is 16.8%.
        assert!((found.mean.low / 5.0 - 0.8316).abs() < 1e-3, "{found:?}");
        assert!(by_sample(&data, &samples[1..], 5.0, 199, level, generator(1)).is_err());
        assert!(by_sample(&data, &samples, 0.0, 199, level, generator(1)).is_err());
    }

    /// Exponential durations, complete and cut: how often the interval holds the truth.
    #[test]
    fn intervals_cover_the_mean() {
        for (samples, horizon) in [(20, f64::MAX), (50, f64::MAX), (20, 1.0), (50, 0.5)] {
            let mut draw = generator(42 + samples as u64);
            let truth = if horizon == f64::MAX { 1.0 } else { 1.0 - f64::exp(-horizon) };
            let mut held = 0;
            let runs = 400;
            for _ in 0..runs {
                let mut times = Vec::new();
                for _ in 0..samples {
                    let uniform = (draw() >> 11) as f64 / (1_u64 << 53) as f64;
                    times.push(-(1.0 - uniform).ln());
                }
                let observed = times.iter().map(|time| *time <= horizon).collect();
                let cut: Vec<f64> = times.iter().map(|time| time.min(horizon)).collect();
                let latest = cut.iter().copied().fold(0.0, f64::max);
                let data = Lifetimes::new(cut, observed).unwrap();
                let names: Vec<usize> = (0..samples).collect();
                let found =
                    by_sample(&data, &names, latest, 199, Level::default(), &mut draw).unwrap();
                held += u32::from(found.mean.contains(truth));
            }
            let share = f64::from(held) / f64::from(runs);
            assert!((0.92..=0.995).contains(&share), "{samples} {horizon}: {share}");
        }
    }
}
