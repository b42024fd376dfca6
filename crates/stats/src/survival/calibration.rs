use super::data::{Lifetimes, weighted_quantiles};
use super::error::SurvivalError;
use super::hazard_cells::{Cells, Grid};
use super::hazard_spline::HazardSpline;
use super::jet::Jet;
use super::matrix::Square;
use super::newton::{Slope, maximise};
use crate::bootstrap::quantile;

/// How far predicted chances lie from observed ones (Austin, Harrell and van Klaveren 2020). What
/// was observed is smoothed by a flexible model of the durations on the prediction itself, since
/// censored rows have no outcome to count.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// The time by which events were predicted.
    pub time: f64,
    /// The mean difference: the integrated calibration index.
    pub ici: f64,
    /// The median difference.
    pub e50: f64,
    /// The 90th percentile of the differences.
    pub e90: f64,
    /// The largest difference.
    pub emax: f64,
    /// Predicted and observed chances over the range of predictions, for a plot.
    pub curve: Vec<(f64, f64)>,
}

/// How the observed chances are smoothed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// Linear splines of the prediction and of time, as many as the data support: hazard regression
    /// (Kooperberg, Stone and Truong 1995), which Austin et al. use. Sees any shape of misfit.
    Flexible,
    /// A cubic spline of ln T with knots at its 5th, 50th and 95th percentile among events, on which the
    /// prediction acts in proportion: lifelines' definition, which sees only predictions that are too
    /// high or too low, or too extreme, throughout.
    #[default]
    Spline,
    /// The same without its bend, for too few events to place knots.
    Straight,
}

/// Compares the predicted chance of an event by `time`, one per row, with the data.
///
/// # Errors
/// Another number of chances, one outside 0..=1, a time that is not above 0, no events, or
/// durations on which the smoothing model has no fit.
pub fn calibration(
    data: &Lifetimes,
    chances: &[f64],
    time: f64,
    smoothing: Smoothing,
) -> Result<Calibration, SurvivalError> {
    check(data, chances, time)?;
    let smooth = Observed::new(data, chances, time, smoothing)?;
    let mut gaps = Vec::with_capacity(chances.len());
    for (&chance, &weight) in chances.iter().zip(data.row_weights()) {
        gaps.push((gap(&smooth, chance), weight));
    }
    let low = chances.iter().copied().fold(1.0, f64::min);
    let high = chances.iter().copied().fold(0.0, f64::max);
    let mut curve = Vec::with_capacity(100);
    for i in 0..100 {
        let predicted = low + (high - low) * f64::from(i) / 99.0;
        curve.push((predicted, smooth.at(predicted)));
    }
    let sum: f64 = gaps.iter().map(|(gap, weight)| gap * weight).sum();
    let quantiles = weighted_quantiles(gaps, [0.5, 0.9, 1.0]);
    let [e50, e90, emax] = quantiles.ok_or(SurvivalError::Empty)?;
    Ok(Calibration { time, ici: sum / data.total_weight(), e50, e90, emax, curve })
}

/// How far the observed share lies from a predicted chance.
fn gap(observed: &Observed, chance: f64) -> f64 {
    (observed.at(chance) - chance.clamp(EDGE, 1.0 - EDGE)).abs()
}

pub(crate) fn check(data: &Lifetimes, chances: &[f64], time: f64) -> Result<(), SurvivalError> {
    let rows = data.rows();
    if chances.len() != rows {
        let column = "the prediction".to_owned();
        return Err(SurvivalError::Length { column, found: chances.len(), rows });
    }
    if let Some(&value) = chances.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(SurvivalError::Question { what: "a predicted chance", value });
    }
    if !(time.is_finite() && time > 0.0) {
        return Err(SurvivalError::Question { what: "a time of prediction", value: time });
    }
    Ok(())
}

/// Observed shares by predicted chance, smoothed.
enum Observed {
    Cubic(Smooth),
    Flexible(Flexible),
}

/// A fitted hazard regression, and where its spans end at the time of the prediction.
pub(crate) struct Flexible {
    pub(crate) spline: HazardSpline,
    pub(crate) cells: Cells,
    pub(crate) until: usize,
}

impl Flexible {
    pub(crate) fn new(cells: Cells, until: usize) -> Result<Self, SurvivalError> {
        let spline = HazardSpline::fit(&cells).ok_or(SurvivalError::NoSmoothing)?;
        Ok(Self { spline, cells, until })
    }

    fn at(&self, chance: f64) -> f64 {
        let z = log_log(chance);
        -(-self.spline.cumulative_hazard(&self.cells, self.until, z)).exp_m1()
    }
}

impl Observed {
    fn new(
        data: &Lifetimes,
        chances: &[f64],
        time: f64,
        smoothing: Smoothing,
    ) -> Result<Self, SurvivalError> {
        if smoothing != Smoothing::Flexible {
            return Ok(Self::Cubic(Smooth::fit(data, chances, time, smoothing)?));
        }
        let z: Vec<f64> = chances.iter().map(|&p| log_log(p)).collect();
        let grid = Grid::new(data, &z, time)?;
        let cells = grid.count(data, &z, &vec![1.0; data.rows()]);
        Ok(Self::Flexible(Flexible::new(cells, grid.until)?))
    }

    fn at(&self, chance: f64) -> f64 {
        match self {
            Self::Cubic(smooth) => smooth.observed(chance),
            Self::Flexible(flexible) => flexible.at(chance),
        }
    }
}

/// Chances closer to 0 or 1 than this are moved, since their log-log is infinite.
const EDGE: f64 = 1e-10;

/// ln(−ln(1−p)), the scale on which proportional hazards add.
pub(crate) fn log_log(p: f64) -> f64 {
    (-(-p.clamp(EDGE, 1.0 - EDGE)).ln_1p()).ln()
}

/// ln H = γ₀ + γ₁y + γ₂b(y) with y = ln(t/t₀) − β·z, a natural cubic spline b and z the log-log of
/// the prediction (Crowther, Royston and Clements 2022). At β = −1, γ = (0, 1, 0) it is the
/// prediction itself under an exponential time.
struct Smooth {
    knots: [f64; 3],
    at: [f64; 4],
}

impl Smooth {
    fn fit(
        data: &Lifetimes,
        chances: &[f64],
        time: f64,
        smoothing: Smoothing,
    ) -> Result<Self, SurvivalError> {
        if let Some(i) = data.durations().iter().position(|&t| t == 0.0) {
            return Err(SurvivalError::ZeroDuration { row: i + 1 });
        }
        let knots = knots(data, time)?;
        let z: Vec<f64> = chances.iter().map(|&p| log_log(p)).collect();
        let peak = maximise(vec![-1.0, 0.0, 1.0, 0.0], |at: &[f64], _: bool| {
            let mut sum = Jet::<4>::constant(0.0);
            let theta: [Jet<4>; 4] = std::array::from_fn(|i| Jet::variable(at[i], i));
            for (i, &z) in z.iter().enumerate() {
                let row = |t: f64, event| terms(&knots, &theta, (t / time).ln(), z, event);
                let mut own = row(data.durations()[i], data.observed()[i]);
                if data.entries()[i] > 0.0 {
                    own = own - row(data.entries()[i], false);
                }
                sum = sum + own.scale(data.row_weights()[i]);
            }
            slope(&sum, smoothing)
        })
        .map_err(|_| SurvivalError::NoSmoothing)?;
        Ok(Self { knots, at: std::array::from_fn(|i| peak.at[i]) })
    }

    /// The smoothed share of events by the time among rows with this prediction.
    fn observed(&self, chance: f64) -> f64 {
        let theta = self.at.map(Jet::<0>::constant);
        let ln_hazard = ln_hazards(&self.knots, &theta, 0.0, log_log(chance)).0;
        -(-ln_hazard.value.exp()).exp_m1()
    }
}

/// The 5th, 50th and 95th percentile of ln(t/t₀) among events.
fn knots(data: &Lifetimes, time: f64) -> Result<[f64; 3], SurvivalError> {
    let mut ends: Vec<f64> = data.event_times().map(|t| (t / time).ln()).collect();
    if ends.is_empty() {
        return Err(SurvivalError::NoEvents);
    }
    ends.sort_by(f64::total_cmp);
    let knots = [0.05, 0.5, 0.95].map(|p| quantile(&ends, p));
    if knots[0] >= knots[2] {
        return Err(SurvivalError::NoSmoothing);
    }
    Ok(knots)
}

fn slope(sum: &Jet<4>, smoothing: Smoothing) -> Slope {
    let mut gradient = sum.gradient.to_vec();
    let mut hessian = sum.hessian;
    if smoothing == Smoothing::Straight {
        // The bend starts at 0 and, without a slope, stays there.
        gradient[3] = 0.0;
        hessian[3] = [0.0, 0.0, 0.0, -1.0];
        hessian.iter_mut().take(3).for_each(|row| row[3] = 0.0);
    }
    // Outside the region where H rises there is no likelihood; NaN must not pass for a gain.
    let value = if sum.value.is_nan() { f64::NEG_INFINITY } else { sum.value };
    Slope { value, gradient, hessian: Square { n: 4, at: hessian.concat() } }
}

/// E·ln h − H of one row, up to −ln t, which no coefficient changes.
fn terms<const N: usize>(
    knots: &[f64; 3],
    theta: &[Jet<N>; 4],
    ln_t: f64,
    z: f64,
    event: bool,
) -> Jet<N> {
    let (ln_cumulative, rise) = ln_hazards(knots, theta, ln_t, z);
    let survival = -ln_cumulative.exp();
    if event { ln_cumulative + rise.ln() + survival } else { survival }
}

/// ln H and its derivative by y.
fn ln_hazards<const N: usize>(
    knots: &[f64; 3],
    [beta, g0, g1, g2]: &[Jet<N>; 4],
    ln_t: f64,
    z: f64,
) -> (Jet<N>, Jet<N>) {
    let y = beta.scale(-z) + ln_t;
    let [b, b1, b2, b3] = basis(y.value, knots);
    let ln_cumulative = *g0 + *g1 * y + *g2 * y.map([b, b1, b2]);
    (ln_cumulative, *g1 + *g2 * y.map([b1, b2, b3]))
}

/// The natural cubic spline through three knots, linear beyond them, with its derivatives.
fn basis(y: f64, [first, middle, last]: &[f64; 3]) -> [f64; 4] {
    let share = (last - middle) / (last - first);
    let mut out = [0.0; 4];
    for (knot, factor) in [(middle, 1.0), (first, -share), (last, share - 1.0)] {
        let d = (y - knot).max(0.0);
        let step = if d > 0.0 { 6.0 } else { 0.0 };
        for (sum, power) in out.iter_mut().zip([d * d * d, 3.0 * d * d, 6.0 * d, step]) {
            *sum += factor * power;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_by_differences() {
        let h = 1e-5;
        let knots = [-1.0, 0.1, 0.9];
        let at = [-0.8, 0.1, 1.2, 0.15];
        for (ln_t, z, event) in
            [(-2.0, 0.3, true), (0.0, -0.5, true), (0.4, 0.2, false), (1.5, 1.0, true)]
        {
            let value = |at: [f64; 4]| {
                terms(
                    &knots,
                    &std::array::from_fn(|i| Jet::<4>::variable(at[i], i)),
                    ln_t,
                    z,
                    event,
                )
            };
            let got = value(at);
            for i in 0..4 {
                let moved = |by: f64| {
                    let mut at = at;
                    at[i] += by;
                    value(at)
                };
                let up = moved(h);
                let down = moved(-h);
                assert!((got.gradient[i] - (up.value - down.value) / (2.0 * h)).abs() < 1e-6);
                for j in 0..4 {
                    let want = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
                    assert!((got.hessian[i][j] - want).abs() < 1e-5, "{ln_t} {i} {j}");
                }
            }
        }
    }

    /// Exponential quantiles of two risks: the true chances are calibrated, halved ones are off
    /// by half.
    #[test]
    fn wrong_predictions_are_found() {
        let mut times = Vec::new();
        let mut chances = Vec::new();
        for rate in [0.5, 1.0, 2.0] {
            for i in 0..400 {
                times.push(-((f64::from(i) + 0.5) / 400.0).ln() / rate);
                chances.push(1.0 - f64::exp(-rate * 0.7));
            }
        }
        let data = Lifetimes::new(times, vec![true; 1200]).unwrap();
        let right = calibration(&data, &chances, 0.7, Smoothing::Spline).unwrap();
        assert!(right.emax < 0.005, "{right:?}");
        let halved: Vec<f64> = chances.iter().map(|p| p / 2.0).collect();
        let wrong = calibration(&data, &halved, 0.7, Smoothing::Spline).unwrap();
        let mean = halved.iter().sum::<f64>() / 1200.0;
        assert!((wrong.ici - mean).abs() < 0.02, "{} {mean}", wrong.ici);
        assert!(calibration(&data, &halved, 0.0, Smoothing::Spline).is_err());
        assert!(calibration(&data, &[2.0; 1200], 0.7, Smoothing::Spline).is_err());
        assert!(calibration(&data, &[0.5], 0.7, Smoothing::Spline).is_err());
    }
}
