//! CMA-ES: candidates around a mean, whose spread follows the ones that cost least.

use super::generations::{Generations, Space};
use faultlens_core::Stream;

/// Values up to which spreads in all directions are kept. A full matrix for n values takes n²
/// numbers and n³ work a generation; beyond, each value has its own spread and no more.
pub(super) const FULL: usize = 100;

/// Covariance matrix adaptation (Hansen 2016), for many values in its separable form (Ros and
/// Hansen 2008). The matrix is kept as a triangular root (Krause et al. 2016): candidates need it,
/// and the path of the step size goes with it as well as with a symmetric one.
pub(super) struct Adaptation {
    bounds: Vec<(f64, f64)>,
    mean: Vec<f64>,
    width: f64,
    spread: Spread,
    rates: Rates,
    /// How the mean has moved lately, in the coordinates of the draws, and in those of the space.
    drawn_path: Vec<f64>,
    path: Vec<f64>,
    generation: i32,
    /// The draws of this generation.
    draws: Vec<Vec<f64>>,
}

/// How wide candidates lie in each direction.
enum Spread {
    Full {
        /// Row by row.
        covariance: Vec<f64>,
        /// Its triangular root.
        root: Vec<f64>,
    },
    /// The variance of each value.
    Diagonal(Vec<f64>),
}

/// How fast it learns; all follow from the number of values and candidates.
struct Rates {
    population: usize,
    weights: Vec<f64>,
    effective: f64,
    width_path: f64,
    damping: f64,
    path: f64,
    one: f64,
    many: f64,
    /// The usual length of a draw.
    length: f64,
}

impl Rates {
    fn new(values: usize, population: Option<usize>) -> Self {
        let n = values.max(1) as f64;
        let population = population.unwrap_or(4 + (3.0 * libm::log(n)) as usize).max(4);
        let half = libm::log((population + 1) as f64 / 2.0);
        let raw: Vec<f64> =
            (1..=population / 2).map(|rank| half - libm::log(rank as f64)).collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let effective = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let width_path = (effective + 2.0) / (n + effective + 5.0);
        let damping =
            1.0 + 2.0 * (((effective - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + width_path;
        // Fewer numbers to learn can be learnt faster.
        let faster = if values > FULL { (n + 2.0) / 3.0 } else { 1.0 };
        let one = (faster * 2.0 / ((n + 1.3) * (n + 1.3) + effective)).min(0.5);
        let many = 2.0 * (effective - 2.0 + 1.0 / effective) / ((n + 2.0) * (n + 2.0) + effective);
        Self {
            population,
            weights,
            effective,
            width_path,
            damping,
            path: (4.0 + effective / n) / (n + 4.0 + 2.0 * effective / n),
            one,
            many: (faster * many).min(1.0 - one),
            length: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
        }
    }
}

impl Spread {
    fn new(values: usize) -> Self {
        if values > FULL {
            return Self::Diagonal(vec![1.0; values]);
        }
        let mut covariance = vec![0.0; values * values];
        (0..values).for_each(|at| covariance[at * values + at] = 1.0);
        Self::Full { root: covariance.clone(), covariance }
    }

    /// A draw in the coordinates of the space.
    fn stretch(&self, draw: &[f64]) -> Vec<f64> {
        match self {
            Self::Diagonal(variances) => {
                draw.iter().zip(variances).map(|(z, variance)| z * variance.sqrt()).collect()
            }
            Self::Full { root, .. } => {
                let mut stretched = Vec::with_capacity(draw.len());
                for (at, row) in root.chunks_exact(draw.len()).enumerate() {
                    stretched.push(row[..=at].iter().zip(draw).map(|(a, z)| a * z).sum());
                }
                stretched
            }
        }
    }

    /// Fades by `keep` and gains weighted products of steps with themselves.
    fn update(&mut self, keep: f64, steps: &[(f64, Vec<f64>)]) {
        match self {
            Self::Diagonal(variances) => {
                for (at, variance) in variances.iter_mut().enumerate() {
                    let gained = steps.iter().map(|(weight, step)| weight * step[at] * step[at]);
                    *variance = (keep * *variance + gained.sum::<f64>()).clamp(1e-30, 1e30);
                }
            }
            Self::Full { covariance, root } => {
                let values = steps.first().map_or(0, |(_, step)| step.len());
                for (row, line) in covariance.chunks_exact_mut(values.max(1)).enumerate() {
                    for (column, value) in line.iter_mut().enumerate() {
                        let gained = steps.iter().map(|(w, step)| w * step[row] * step[column]);
                        *value = keep * *value + gained.sum::<f64>();
                    }
                }
                // A matrix that rounding has made no covariance keeps its last root.
                if let Some(new) = triangular_root(covariance, values) {
                    *root = new;
                }
            }
        }
    }
}

/// The lower triangle whose product with itself is the matrix (Cholesky); `None` where the matrix
/// has none.
fn triangular_root(matrix: &[f64], size: usize) -> Option<Vec<f64>> {
    let mut root = vec![0.0; size * size];
    for row in 0..size {
        for column in 0..=row {
            let products = (0..column).map(|k| root[row * size + k] * root[column * size + k]);
            let rest = matrix[row * size + column] - products.sum::<f64>();
            root[row * size + column] = if row == column {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                rest.sqrt()
            } else {
                rest / root[column * size + column]
            };
        }
    }
    Some(root)
}

impl Adaptation {
    pub(super) fn new(space: Space, population: Option<usize>) -> Self {
        let values = space.bounds.len();
        Self {
            rates: Rates::new(values, population),
            spread: Spread::new(values),
            bounds: space.bounds,
            mean: space.start,
            width: space.width,
            drawn_path: vec![0.0; values],
            path: vec![0.0; values],
            generation: 0,
            draws: Vec::new(),
        }
    }

    /// Moves the paths by the mean of the best draws and their steps; answers whether the paths
    /// are of a usual length.
    fn follow(&mut self, draw: &[f64], step: &[f64]) -> bool {
        let Rates { effective, width_path, path, length, .. } = self.rates;
        let values = draw.len() as f64;
        let gain = (width_path * (2.0 - width_path) * effective).sqrt();
        for (path, draw) in self.drawn_path.iter_mut().zip(draw) {
            *path = (1.0 - width_path) * *path + gain * draw;
        }
        let reached = self.drawn_path.iter().map(|p| p * p).sum::<f64>().sqrt();
        let faded = 1.0 - libm::pow(1.0 - width_path, f64::from(2 * self.generation));
        let usual = reached / faded.sqrt() < (1.4 + 2.0 / (values + 1.0)) * length;
        let gain = if usual { (path * (2.0 - path) * effective).sqrt() } else { 0.0 };
        for (kept, step) in self.path.iter_mut().zip(step) {
            *kept = (1.0 - path) * *kept + gain * step;
        }
        let change = width_path / self.rates.damping * (reached / length - 1.0);
        self.width = (self.width * libm::exp(change.min(1.0))).clamp(1e-12, 1e6);
        usual
    }
}

impl Generations for Adaptation {
    fn propose(&mut self, stream: &mut Stream) -> Vec<Vec<f64>> {
        let values = self.mean.len();
        self.draws = (0..self.rates.population)
            .map(|_| (0..values).map(|_| stream.gaussian()).collect())
            .collect();
        let mut candidates = Vec::with_capacity(self.draws.len());
        for draw in &self.draws {
            let mut candidate = self.spread.stretch(draw);
            for ((value, mean), (low, high)) in
                candidate.iter_mut().zip(&self.mean).zip(&self.bounds)
            {
                *value = (mean + self.width * *value).clamp(*low, *high);
            }
            candidates.push(candidate);
        }
        candidates
    }

    /// Learns from the draws themselves, not from where the bounds cut them: those would shrink
    /// the spread. The mean stays inside.
    fn learn(&mut self, costs: &[f64]) {
        self.generation = self.generation.saturating_add(1).min(1_000_000);
        let mut order: Vec<usize> = (0..costs.len().min(self.draws.len())).collect();
        order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        let best: Vec<(f64, &Vec<f64>)> = self
            .rates
            .weights
            .iter()
            .copied()
            .zip(order.iter().map(|at| &self.draws[*at]))
            .collect();
        let mut draw = vec![0.0; self.mean.len()];
        for (weight, own) in &best {
            draw.iter_mut().zip(*own).for_each(|(sum, z)| *sum += weight * z);
        }
        let many = self.rates.many;
        let mut steps: Vec<(f64, Vec<f64>)> =
            best.iter().map(|(weight, own)| (many * weight, self.spread.stretch(own))).collect();
        let step = self.spread.stretch(&draw);
        for ((mean, step), (low, high)) in self.mean.iter_mut().zip(&step).zip(&self.bounds) {
            *mean = (*mean + self.width * step).clamp(*low, *high);
        }
        let usual = self.follow(&draw, &step);
        let Rates { one, path, .. } = self.rates;
        let lost = if usual { 0.0 } else { one * path * (2.0 - path) };
        steps.push((one, self.path.clone()));
        self.spread.update(1.0 - one - many + lost, &steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    fn minimum(values: usize, generations: usize, cost: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let space =
            Space { bounds: vec![(-2.0, 3.0); values], start: vec![0.0; values], width: 0.5 };
        let mut search = Adaptation::new(space, None);
        let mut stream = Seed::new(8).stream();
        for _ in 0..generations {
            let candidates = search.propose(&mut stream);
            assert!(candidates.iter().flatten().all(|value| (-2.0..=3.0).contains(value)));
            search.learn(&candidates.iter().map(|c| cost(c)).collect::<Vec<_>>());
        }
        search.mean
    }

    fn valley(x: &[f64]) -> f64 {
        let pair = |p: &[f64]| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2);
        x.windows(2).map(pair).sum()
    }

    #[test]
    fn the_least_of_a_sphere_and_of_a_valley_is_found() {
        let sphere = minimum(6, 150, |x| x.iter().map(|v| (v - 0.7).powi(2)).sum());
        assert!(sphere.iter().all(|value| (value - 0.7).abs() < 1e-6), "{sphere:?}");
        // The authors' own needs about 230 generations here.
        let found = minimum(6, 600, valley);
        assert!(found.iter().all(|value| (value - 1.0).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn many_values_of_different_weight_are_found_one_by_one() {
        let weigh = |x: &[f64]| {
            let of = |(at, v): (usize, &f64)| (1.0 + at as f64) * (v - 0.5).powi(2);
            x.iter().enumerate().map(of).sum()
        };
        let found = minimum(FULL + 20, 1500, weigh);
        assert!(found.iter().all(|value| (value - 0.5).abs() < 1e-3), "{found:?}");
    }

    #[test]
    fn the_least_at_a_bound_and_flat_costs_do_no_harm() {
        let corner = minimum(5, 200, |x| x.iter().sum());
        assert!(corner.iter().all(|value| *value < -1.9), "{corner:?}");
        for cost in [0.0, f64::MAX, f64::NAN] {
            assert!(minimum(5, 300, |_| cost).iter().all(|value| value.is_finite()));
        }
        assert_eq!(minimum(1, 100, |x| (x[0] - 3.0).abs()).len(), 1);
    }

    #[test]
    fn roots_multiply_to_their_matrix() {
        let matrix = [4.0, 2.0, 0.6, 2.0, 5.0, 1.0, 0.6, 1.0, 3.0];
        let root = triangular_root(&matrix, 3).unwrap();
        for row in 0..3 {
            for column in 0..3 {
                let product: f64 = (0..3).map(|k| root[row * 3 + k] * root[column * 3 + k]).sum();
                assert!((product - matrix[row * 3 + column]).abs() < 1e-12);
            }
        }
        assert!(triangular_root(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
