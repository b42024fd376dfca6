use super::censoring::Censoring;
use super::data::Lifetimes;
use super::error::SurvivalError;

/// How far predicted chances lie from what happened: the mean squared difference at one time, with
/// inverse censoring weights (Graf et al. 1999). 0 is perfect, 0.25 is what a coin would have.
///
/// `chances` has the predicted chance of an event by `time`, one per row.
///
/// # Errors
/// Another number of chances, one outside 0..=1, a time that is not above 0 or by which every row is
/// censored, or late entries.
pub fn brier_score(data: &Lifetimes, chances: &[f64], time: f64) -> Result<f64, SurvivalError> {
    score(data, &Censoring::new(data)?, chances, time)
}

/// The mean of [`brier_score`] from 0 to `horizon`, by the trapezoidal rule. `chances` gives the
/// predicted chances of an event by a time.
///
/// # Errors
/// As [`brier_score`], or what `chances` says.
pub fn integrated_brier_score(
    data: &Lifetimes,
    horizon: f64,
    mut chances: impl FnMut(f64) -> Result<Vec<f64>, SurvivalError>,
) -> Result<f64, SurvivalError> {
    let censoring = Censoring::new(data)?;
    // At time 0 nothing has happened and nothing was predicted, so the first score is 0.
    let mut sum = 0.0;
    for step in 1..=STEPS {
        let time = horizon * step as f64 / STEPS as f64;
        let half = if step == STEPS { 0.5 } else { 1.0 };
        sum += half * score(data, &censoring, &chances(time)?, time)?;
    }
    Ok(sum / STEPS as f64)
}

/// Steps of the integral; twice as many change the third digit at most.
const STEPS: usize = 100;

/// The time up to which scores are integrated: nine in ten rows have left by it, so that a few
/// long-lived rows with large weights do not decide.
#[must_use]
pub fn brier_horizon(data: &Lifetimes) -> f64 {
    let rows = data.durations().iter().copied().zip(data.row_weights().iter().copied());
    super::data::weighted_quantiles(rows.collect(), [0.9]).map_or(0.0, |[horizon]| horizon)
}

fn score(
    data: &Lifetimes,
    censoring: &Censoring,
    chances: &[f64],
    time: f64,
) -> Result<f64, SurvivalError> {
    let rows = data.rows();
    if chances.len() != rows {
        let column = "the prediction".to_owned();
        return Err(SurvivalError::Length { column, found: chances.len(), rows });
    }
    if let Some(&value) = chances.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(SurvivalError::Question { what: "a predicted chance", value });
    }
    let free = censoring.free_at(time);
    if !(time.is_finite() && time > 0.0 && free > 0.0) {
        return Err(SurvivalError::Question { what: "a time of prediction", value: time });
    }
    let mut sum = 0.0;
    for (i, chance) in chances.iter().enumerate() {
        let end = data.durations()[i];
        let weight = data.row_weights()[i];
        // A row that is censored before the time says nothing; the others stand for it.
        if end > time {
            sum += weight * chance * chance / free;
        } else if data.observed()[i] {
            sum += weight * (1.0 - chance) * (1.0 - chance) / censoring.free_before(end);
        }
    }
    Ok(sum / data.total_weight())
}
