use super::calibration::{Flexible, check, log_log};
use super::data::{Lifetimes, weighted_quantiles};
use super::error::SurvivalError;
use super::hazard_cells::Grid;
use crate::bootstrap::quantile;
use crate::estimate::Level;

/// How sure a calibration by [`Smoothing::Flexible`](super::Smoothing::Flexible) is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationInterval {
    /// The ends of the interval of the integrated calibration index.
    pub ici: (f64, f64),
    /// The ends of the interval of the median difference.
    pub e50: (f64, f64),
    /// How many resamples it is from.
    pub resamples: usize,
}

/// Bootstrap intervals of a calibration by [`Smoothing::Flexible`](super::Smoothing::Flexible): units of rows are drawn again with
/// replacement, predictions stay, and the smoothing with its choice of splines is done anew each time.
/// `units` says which rows belong together, by any number; rows that resemble each other are one
/// unit. The ends are percentiles, but noise adds to a mean of differences without sign, so that
/// the percentiles alone could never hold a truth near 0: the lower end is their reflection at the
/// estimate where that is lower. Randomness comes as uniform 64-bit numbers from the caller.
///
/// # Errors
/// As [`calibration`](super::calibration()); another number of units than rows, fewer than two units, or fewer than 40
/// resamples.
pub fn calibration_interval(
    data: &Lifetimes,
    chances: &[f64],
    time: f64,
    units: &[usize],
    resamples: usize,
    level: Level,
    mut draw: impl FnMut() -> u64,
) -> Result<CalibrationInterval, SurvivalError> {
    check(data, chances, time)?;
    let units = Units::new(units, data.rows())?;
    if resamples < MIN_RESAMPLES {
        let value = resamples as f64;
        return Err(SurvivalError::Question { what: "the number of resamples", value });
    }
    let z: Vec<f64> = chances.iter().map(|&p| log_log(p)).collect();
    let grid = Grid::new(data, &z, time)?;
    let whole = Flexible::new(grid.count(data, &z, &vec![1.0; data.rows()]), grid.until)?;
    let mut means = Vec::with_capacity(resamples);
    let mut medians = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let cells = grid.count(data, &z, &units.drawn(&mut draw));
        // A draw without events, or with too few to smooth, says nothing.
        let Ok(flexible) = Flexible::new(cells, grid.until) else { continue };
        let [mean, median] = flexible.gaps()?;
        means.push(mean);
        medians.push(median);
    }
    if means.len() < MIN_RESAMPLES {
        return Err(SurvivalError::NoSmoothing);
    }
    let resamples = means.len();
    let tail = level.alpha() / 2.0;
    let [mean, median] = whole.gaps()?;
    let [ici, e50] = [(mean, means), (median, medians)].map(|(own, mut all)| {
        all.sort_by(f64::total_cmp);
        let low = quantile(&all, tail);
        let high = quantile(&all, 1.0 - tail);
        (low.min(2.0 * own - high).max(0.0), high)
    });
    Ok(CalibrationInterval { ici, e50, resamples })
}

/// Fewer would put the ends of a 95% interval beyond the outermost draw.
const MIN_RESAMPLES: usize = 40;

impl Flexible {
    /// The mean and the median difference over the groups of the grid.
    fn gaps(&self) -> Result<[f64; 2], SurvivalError> {
        let mut gaps = Vec::new();
        let mut sum = 0.0;
        let mut total = 0.0;
        for (&z, &weight) in self.cells.z.iter().zip(&self.cells.weight) {
            if weight > 0.0 {
                let chance = -(-z.exp()).exp_m1();
                let hazard = self.spline.cumulative_hazard(&self.cells, self.until, z);
                let gap = (-(-hazard).exp_m1() - chance).abs();
                sum += weight * gap;
                total += weight;
                gaps.push((gap, weight));
            }
        }
        let [median] = weighted_quantiles(gaps, [0.5]).ok_or(SurvivalError::Empty)?;
        Ok([sum / total, median])
    }
}

/// Rows by what is drawn together.
struct Units {
    of_row: Vec<usize>,
    count: usize,
}

impl Units {
    fn new(units: &[usize], rows: usize) -> Result<Self, SurvivalError> {
        let found = units.len();
        if found != rows {
            let column = "the column of units".to_owned();
            return Err(SurvivalError::Length { column, found, rows });
        }
        let mut names = units.to_vec();
        names.sort_unstable();
        names.dedup();
        if names.len() < 2 {
            let value = names.len() as f64;
            return Err(SurvivalError::Question { what: "the number of units", value });
        }
        let of_row = units.iter().map(|unit| names.partition_point(|name| name < unit)).collect();
        Ok(Self { of_row, count: names.len() })
    }

    /// How often each row is in a draw of as many units as there are.
    fn drawn(&self, draw: &mut impl FnMut() -> u64) -> Vec<f64> {
        let mut copies = vec![0.0; self.count];
        for _ in 0..self.count {
            // The high half of the product is uniform below the count (Lemire 2019, unrejected).
            let at = (u128::from(draw()) * self.count as u128) >> 64;
            copies[at as usize] += 1.0;
        }
        self.of_row.iter().map(|&unit| copies[unit]).collect()
    }
}
