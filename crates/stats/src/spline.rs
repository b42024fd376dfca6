//! Cubic smoothing splines with the penalty and the choice of smoothness of R's `smooth.spline`,
//! cross-validated by leaving one point out.

use std::error::Error;
use std::fmt;

/// Fewer points have no curve: the scale of the penalty leaves out five of their basis functions.
pub const MIN_POINTS: usize = 4;
/// From here on R places knots by other formulas.
const MAX_POINTS: usize = 199;
/// From here on there are fewer knots than points.
const KNOT_AT_EACH: usize = 50;
/// Smoothness is searched in steps of 0.01 from minus to plus 1.5.
const STEPS: i32 = 150;
/// A leverage this close to 1 is 1: the curve goes through the point whatever it is, and what
/// the others say about it is a division by nothing.
const FREE: f64 = 1e-10;

/// Why there is no curve.
#[derive(Debug, Clone, PartialEq)]
pub enum SplineError {
    /// Too few points for a curve, or more than knots are known for.
    Points(usize),
    /// Places that do not ascend have no order in which a curve meets them.
    Order,
    /// A point that counts for nothing, or for everything.
    Weight(f64),
    /// A height that is NaN or infinite, or not one per place.
    Heights(usize),
    /// A penalty that is no number, or so small that the curve is not determined.
    Penalty(f64),
}

impl fmt::Display for SplineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Points(value) => {
                write!(f, "a spline needs {MIN_POINTS} to {MAX_POINTS} points, not {value}")
            }
            Self::Order => f.write_str("places of points must be finite and ascend"),
            Self::Weight(value) => write!(f, "a weight is a finite number above 0, not {value}"),
            Self::Heights(value) => {
                write!(f, "a finite height is needed for each of {value} points")
            }
            Self::Penalty(value) => write!(f, "no curve is determined by a penalty of {value}"),
        }
    }
}

impl Error for SplineError {}

/// A row or column of a symmetric band matrix: the diagonal and three entries beside it.
type Band = [f64; 4];

/// Points that curves are fitted to: places and weights, prepared once for any heights.
#[derive(Debug, Clone)]
pub struct Smoother {
    /// Scaled to a mean of 1.
    weights: Vec<f64>,
    /// The basis functions that are not 0 at each point: the first, and four values.
    basis: Vec<(usize, Band)>,
    gram: Vec<Band>,
    penalty: Vec<Band>,
    /// How large the penalty is beside the data, so that smoothness means the same everywhere.
    ratio: f64,
}

/// A fitted curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Smooth {
    /// The height of the curve at each point.
    pub fitted: Vec<f64>,
    /// How much each point pulls the curve to itself, from 0 to 1.
    pub leverages: Vec<f64>,
    /// The penalty on curvature, with places scaled to 0..1.
    pub penalty: f64,
}

impl Smoother {
    /// Prepares places, which ascend, and weights, which are scaled to a mean of 1.
    ///
    /// # Errors
    /// Too few or too many points, places that do not ascend, weights that are not above 0.
    pub fn new(places: &[f64], weights: &[f64]) -> Result<Self, SplineError> {
        let n = places.len();
        if !(MIN_POINTS..=MAX_POINTS).contains(&n) || weights.len() != n {
            return Err(SplineError::Points(n));
        }
        let range = (places[0], places[n - 1]);
        let ascend = places.is_sorted_by(|a, b| a < b) && (range.1 - range.0).is_finite();
        if !ascend || !places.iter().all(|x| x.is_finite()) {
            return Err(SplineError::Order);
        }
        if let Some(wrong) = weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(SplineError::Weight(*wrong));
        }
        let mean = weights.iter().sum::<f64>() / n as f64;
        let weights: Vec<f64> = weights.iter().map(|w| w / mean).collect();
        let scaled: Vec<f64> = places.iter().map(|x| (x - range.0) / (range.1 - range.0)).collect();
        let knots = knots(&scaled);
        let basis: Vec<(usize, Band)> = scaled.iter().map(|&x| basis_at(x, &knots)).collect();
        let gram = gram(&basis, &weights, knots.len() - 4);
        let penalty = curvature(&knots);
        let ratio = trace(&gram) / trace(&penalty);
        Ok(Self { weights, basis, gram, penalty, ratio })
    }

    /// The curve with a given penalty on its curvature.
    ///
    /// # Errors
    /// Heights that are not finite or not one per place; a penalty that determines no curve.
    pub fn fit_with(&self, heights: &[f64], penalty: f64) -> Result<Smooth, SplineError> {
        let right = self.right(heights)?;
        let mut work = Work::new(self.gram.len());
        if !(penalty.is_finite() && work.solve(self, &right, penalty)) {
            return Err(SplineError::Penalty(penalty));
        }
        Ok(Smooth {
            fitted: (0..self.basis.len()).map(|k| work.fitted(self, k)).collect(),
            leverages: (0..self.basis.len()).map(|k| work.leverage(self, k)).collect(),
            penalty,
        })
    }

    /// The curve that predicts a point best from all others: the penalty is chosen by leave-one-out
    /// cross-validation over a grid.
    ///
    /// # Errors
    /// Heights that are not finite or not one per place; points that determine no curve.
    pub fn fit(&self, heights: &[f64]) -> Result<Smooth, SplineError> {
        let right = self.right(heights)?;
        let mut work = Work::new(self.gram.len());
        let mut best = (f64::INFINITY, f64::NAN);
        for step in -STEPS..=STEPS {
            let q = f64::from(step) / 100.0;
            let penalty = self.ratio * libm::pow(256.0, 3.0 * q - 1.0);
            if !work.solve(self, &right, penalty) {
                continue;
            }
            let error = self.left_out_error(heights, &work, best.0);
            if error < best.0 {
                best = (error, penalty);
            }
        }
        self.fit_with(heights, best.1)
    }

    /// How far off each point is from a curve through all others, squared, weighted and summed;
    /// infinite where that is not defined, or as soon as it is more than `limit`. By the leverages,
    /// without fitting again (Craven and Wahba 1979).
    fn left_out_error(&self, heights: &[f64], work: &Work, limit: f64) -> f64 {
        let mut error = 0.0;
        for (k, (height, weight)) in heights.iter().zip(&self.weights).enumerate() {
            let free = 1.0 - work.leverage(self, k);
            if free < FREE || error > limit {
                return f64::INFINITY;
            }
            let off = (height - work.fitted(self, k)) / free;
            error += weight * off * off;
        }
        error
    }

    /// The right side of the normal equations.
    fn right(&self, heights: &[f64]) -> Result<Vec<f64>, SplineError> {
        if heights.len() != self.weights.len() || !heights.iter().all(|y| y.is_finite()) {
            return Err(SplineError::Heights(self.weights.len()));
        }
        let mut right = vec![0.0; self.gram.len()];
        for ((first, values), (y, w)) in self.basis.iter().zip(heights.iter().zip(&self.weights)) {
            for (i, value) in values.iter().enumerate() {
                right[first + i] += w * y * value;
            }
        }
        Ok(right)
    }
}

/// Knots at every place, or evenly spread over their ranks where there are many; the ends four
/// times.
fn knots(places: &[f64]) -> Vec<f64> {
    let n = places.len();
    let count = match n {
        0..KNOT_AT_EACH => n,
        _ => (50.0 * libm::pow(2.0, (n - KNOT_AT_EACH) as f64 / 150.0)) as usize,
    };
    let mut knots = vec![places[0]; 3];
    knots.extend((0..count).map(|i| places[i * (n - 1) / (count - 1)]));
    knots.extend([places[n - 1]; 3]);
    knots
}

/// The first of the four cubic basis functions that are not 0 at a place, and their values, by the
/// recursion of Cox and de Boor.
fn basis_at(x: f64, knots: &[f64]) -> (usize, Band) {
    let last = knots.len() - 5;
    let span = (knots[3..=last].partition_point(|knot| *knot <= x) + 2).clamp(3, last);
    let mut values = [1.0, 0.0, 0.0, 0.0];
    for degree in 1..=3 {
        let mut carried = 0.0;
        for i in 0..degree {
            let below = knots[span + 1 + i - degree];
            let above = knots[span + 1 + i];
            let part = values[i] / (above - below);
            values[i] = carried + (above - x) * part;
            carried = (x - below) * part;
        }
        values[degree] = carried;
    }
    (span - 3, values)
}

/// The products of basis functions, summed over the points by weight.
fn gram(basis: &[(usize, Band)], weights: &[f64], size: usize) -> Vec<Band> {
    let mut gram = vec![[0.0; 4]; size];
    for ((first, values), weight) in basis.iter().zip(weights) {
        for i in 0..4 {
            for j in i..4 {
                gram[first + i][j - i] += weight * values[i] * values[j];
            }
        }
    }
    gram
}

/// The products of second derivatives of basis functions, integrated. Second derivatives are
/// linear between knots, so that their values at knots are enough.
fn curvature(knots: &[f64]) -> Vec<Band> {
    let size = knots.len() - 4;
    let mut penalty = vec![[0.0; 4]; size];
    for i in 2..size - 1 {
        let [a, b, c] = second_derivative(knots, i);
        let [d, e, f] = second_derivative(knots, i + 1);
        let left = [a, b, c, 0.0];
        let right = [0.0, d, e, f];
        let third = (knots[i + 2] - knots[i + 1]) / 3.0;
        for j in 0..4 {
            for k in j..4 {
                let mixed = (left[j] * right[k] + right[j] * left[k]) / 2.0;
                let both = left[j] * left[k] + mixed + right[j] * right[k];
                penalty[i - 2 + j][k - j] += third * both;
            }
        }
    }
    penalty
}

/// The second derivative at knot i + 1, from coefficients i − 2 to i: de Boor's formula for the
/// derivative of a B-spline, twice.
fn second_derivative(knots: &[f64], i: usize) -> [f64; 3] {
    let twice = 2.0 / (knots[i + 2] - knots[i]);
    let above = 3.0 / (knots[i + 3] - knots[i]);
    let below = 3.0 / (knots[i + 2] - knots[i - 1]);
    [twice * below, -twice * (above + below), twice * above]
}

/// The sum of the diagonal without the ends, as in R.
fn trace(of: &[Band]) -> f64 {
    of[2..of.len() - 3].iter().map(|row| row[0]).sum()
}

/// Rows before the first and behind the last, which hold zeros, so that no loop asks for ends.
const EDGE: usize = 3;

/// The normal equations with one penalty, factored and solved; kept between penalties, so that a
/// search asks for memory once.
struct Work {
    /// L of LDLᵀ: the three entries below each diagonal one.
    lower: Vec<[f64; 3]>,
    diagonal: Vec<f64>,
    solution: Vec<f64>,
    /// The inverse, as far as it lies in the band.
    inverse: Vec<Band>,
}

impl Work {
    fn new(size: usize) -> Self {
        let rows = size + 2 * EDGE;
        Self {
            lower: vec![[0.0; 3]; rows],
            diagonal: vec![0.0; rows],
            solution: vec![0.0; rows],
            inverse: vec![[0.0; 4]; rows],
        }
    }

    /// `false` where the equations have no single solution.
    fn solve(&mut self, of: &Smoother, right: &[f64], penalty: f64) -> bool {
        if !self.factor(of, penalty) {
            return false;
        }
        let rows = EDGE..EDGE + right.len();
        let x = &mut self.solution;
        for (i, value) in rows.clone().zip(right) {
            let before = [1, 2, 3].map(|k| self.lower[i - k][k - 1] * x[i - k]);
            x[i] = value - before[0] - before[1] - before[2];
        }
        for i in rows.rev() {
            let [a, b, c] = self.lower[i];
            x[i] = x[i] / self.diagonal[i] - a * x[i + 1] - b * x[i + 2] - c * x[i + 3];
        }
        self.invert(right.len());
        true
    }

    fn factor(&mut self, of: &Smoother, penalty: f64) -> bool {
        for (j, (gram, curvature)) in of.gram.iter().zip(&of.penalty).enumerate() {
            let i = j + EDGE;
            let mut row = [0.0; 4];
            for e in 0..4 {
                row[e] = gram[e] + penalty * curvature[e];
            }
            for k in 1..=3 {
                let above = self.lower[i - k];
                let scaled = above[k - 1] * self.diagonal[i - k];
                for e in 0..=3 - k {
                    row[e] -= above[k - 1 + e] * scaled;
                }
            }
            if row[0].is_nan() || row[0] <= 0.0 {
                return false;
            }
            self.diagonal[i] = row[0];
            self.lower[i] = [row[1] / row[0], row[2] / row[0], row[3] / row[0]];
        }
        true
    }

    /// The band of the inverse from below (Hutchinson and de Hoog 1985).
    fn invert(&mut self, size: usize) {
        for i in (EDGE..EDGE + size).rev() {
            let [a, b, c] = self.lower[i];
            let [next, second, third] = [1, 2, 3].map(|k| self.inverse[i + k]);
            let one = -(a * next[0] + b * next[1] + c * next[2]);
            let two = -(a * next[1] + b * second[0] + c * second[1]);
            let three = -(a * next[2] + b * second[1] + c * third[0]);
            let own = 1.0 / self.diagonal[i] - a * one - b * two - c * three;
            self.inverse[i] = [own, one, two, three];
        }
    }

    fn fitted(&self, of: &Smoother, point: usize) -> f64 {
        let (first, values) = &of.basis[point];
        values.iter().zip(&self.solution[first + EDGE..]).map(|(v, c)| v * c).sum()
    }

    fn leverage(&self, of: &Smoother, point: usize) -> f64 {
        let (first, [a, b, c, d]) = of.basis[point];
        let at = first + EDGE;
        let rows = [self.inverse[at], self.inverse[at + 1], self.inverse[at + 2]];
        let own = a * a * rows[0][0]
            + b * b * rows[1][0]
            + c * c * rows[2][0]
            + d * d * self.inverse[at + 3][0];
        let mixed = a * (b * rows[0][1] + c * rows[0][2] + d * rows[0][3])
            + b * (c * rows[1][1] + d * rows[1][2])
            + c * d * rows[2][1];
        of.weights[point] * (own + 2.0 * mixed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: [f64; 12] = [0.0, 0.05, 0.11, 0.2, 0.31, 0.42, 0.5, 0.66, 0.7, 0.83, 0.94, 1.0];
    const HEIGHTS: [f64; 12] = [0.97, 0.99, 0.95, 0.98, 0.9, 0.93, 0.85, 0.8, 0.82, 0.6, 0.45, 0.3];
    const WEIGHTS: [f64; 12] =
        [12.0, 40.0, 25.0, 30.0, 11.0, 60.0, 33.0, 21.0, 18.0, 44.0, 29.0, 15.0];

    fn smoother() -> Smoother {
        Smoother::new(&PLACES, &WEIGHTS).unwrap()
    }

    /// Values of SciPy's `make_smoothing_spline`, which has a knot at each point too: at 0, 0.42
    /// and 1.
    #[test]
    fn curves_are_as_scipy_draws_them() {
        let cases = [
            (1e-6, [0.9716548875673223, 0.9295240335738285, 0.30082780316431945]),
            (1e-4, [0.9826202150288558, 0.917411715764744, 0.31877710052049224]),
            (1e-2, [1.0001814342186703, 0.9066799437472696, 0.3982772569564949]),
            (1.0, [1.0802698810515017, 0.8448197041088578, 0.5046701612354636]),
        ];
        for (penalty, wanted) in cases {
            let smooth = smoother().fit_with(&HEIGHTS, penalty).unwrap();
            let got = [0, 5, 11].map(|k: usize| smooth.fitted[k]);
            for (got, wanted) in got.iter().zip(wanted) {
                assert!((got - wanted).abs() < 1e-10, "{penalty}: {got} {wanted}");
            }
        }
    }

    /// A point moved by a little moves the curve there by its leverage.
    #[test]
    fn leverages_are_what_a_point_pulls() {
        for penalty in [1e-4, 1e-2, 1.0] {
            let smooth = smoother().fit_with(&HEIGHTS, penalty).unwrap();
            for k in 0..PLACES.len() {
                let mut moved = HEIGHTS;
                moved[k] += 1.0;
                let pulled = smoother().fit_with(&moved, penalty).unwrap();
                let pull = pulled.fitted[k] - smooth.fitted[k];
                assert!((pull - smooth.leverages[k]).abs() < 1e-9, "{penalty} {k}: {pull}");
            }
        }
    }

    /// The penalty and the curve of an independent program: NumPy's dense equations on SciPy's
    /// basis functions, searched over the same steps.
    #[test]
    fn the_smoothness_that_predicts_best_is_found() {
        let smooth = smoother().fit(&HEIGHTS).unwrap();
        assert!((smooth.penalty / 0.0012266469140195808 - 1.0).abs() < 1e-9, "{}", smooth.penalty);
        assert!((smooth.fitted[6] - 0.8845534195665377).abs() < 1e-9);
        assert!((smooth.leverages[6] - 0.34521016116350295).abs() < 1e-9);
    }

    /// As above, with 70 points and 54 knots.
    #[test]
    fn many_points_share_knots() {
        let i = || (0..70).map(f64::from);
        let x: Vec<f64> =
            i().map(|i| (i + 1.0 + if (i * i) % 3.0 == 1.0 { 0.3 } else { 0.0 }) / 100.0).collect();
        let y: Vec<f64> =
            i().zip(&x).map(|(i, x)| 0.97 - 0.4 * x * x * x + 0.03 * libm::sin(i * 1.7)).collect();
        let n: Vec<f64> = i().map(|i| 11.0 + (i * 37.0) % 50.0).collect();
        let smoother = Smoother::new(&x, &n).unwrap();
        assert_eq!(knots(&x).len(), 54 + 6);
        let smooth = smoother.fit(&y).unwrap();
        assert!((smooth.penalty / 2.4346344273278394e-8 - 1.0).abs() < 1e-9, "{}", smooth.penalty);
        let at = [0, 10, 35, 69].map(|k| (smooth.fitted[k], smooth.leverages[k]));
        let wanted = [
            (0.9715794790709291, 0.9804838786936261),
            (0.9387317644273075, 0.8924796522300796),
            (0.9568162679148201, 0.776735586618901),
            (0.8094537007520007, 0.9087914321428207),
        ];
        for (got, wanted) in at.iter().zip(wanted) {
            assert!((got.0 - wanted.0).abs() < 1e-9 && (got.1 - wanted.1).abs() < 1e-8, "{got:?}");
        }
    }

    #[test]
    fn a_line_stays_a_line_and_any_unit_will_do() {
        let line: Vec<f64> = PLACES.iter().map(|x| 0.9 - 0.2 * x).collect();
        let smooth = smoother().fit(&line).unwrap();
        for (fitted, height) in smooth.fitted.iter().zip(&line) {
            assert!((fitted - height).abs() < 1e-9, "{fitted} {height}");
        }
        let percent = PLACES.map(|x| x * 100.0 - 3.0);
        let other = Smoother::new(&percent, &WEIGHTS.map(|w| w * 7.0)).unwrap();
        let a = smoother().fit(&HEIGHTS).unwrap();
        let b = other.fit(&HEIGHTS).unwrap();
        for (a, b) in a.fitted.iter().zip(&b.fitted) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }

    #[test]
    fn what_has_no_curve_is_refused() {
        let weights = [1.0; 200];
        let new = |x: &[f64]| Smoother::new(x, &weights[..x.len()]).err();
        assert_eq!(new(&[0.0, 1.0, 2.0]), Some(SplineError::Points(3)));
        let many: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(new(&many), Some(SplineError::Points(200)));
        assert_eq!(new(&[0.0, 1.0, 1.0, 2.0]), Some(SplineError::Order));
        assert_eq!(new(&[0.0, 1.0, f64::NAN, 2.0]), Some(SplineError::Order));
        assert_eq!(new(&[0.0, 1.0, 2.0, f64::INFINITY]), Some(SplineError::Order));
        let zero = Smoother::new(&[0.0, 1.0, 2.0, 3.0], &[1.0, 1.0, 0.0, 1.0]);
        assert_eq!(zero.err(), Some(SplineError::Weight(0.0)));
        let four = Smoother::new(&[0.0, 1.0, 2.0, 3.0], &weights[..4]).unwrap();
        assert_eq!(four.fit(&[0.0; 3]), Err(SplineError::Heights(4)));
        assert_eq!(four.fit(&[0.0, 0.0, f64::NAN, 0.0]), Err(SplineError::Heights(4)));
        assert!(matches!(four.fit_with(&[0.0; 4], f64::NAN), Err(SplineError::Penalty(_))));
        assert!(four.fit(&[0.5, 0.5, 0.5, 0.5]).is_ok());
    }
}
