//! Differential evolution: differences between candidates are steps for others.

use super::generations::{Generations, Space};
use faultlens_core::Stream;

/// The population by default.
const USUAL: usize = 400;

/// Differential evolution (Storn and Price 1997), "best/1/bin": every candidate is challenged by
/// the best one plus a share of the difference of two others; all values are taken over. A
/// challenger that costs no more takes the place.
pub(super) struct Evolution {
    bounds: Vec<(f64, f64)>,
    /// Candidates with their costs; empty before the first generation.
    members: Vec<(f64, Vec<f64>)>,
    challengers: Vec<Vec<f64>>,
    best: usize,
    population: usize,
}

impl Evolution {
    pub(super) fn new(space: Space, population: Option<usize>) -> Self {
        let population = population.unwrap_or(USUAL).max(4);
        Self {
            bounds: space.bounds,
            members: Vec::new(),
            challengers: Vec::new(),
            best: 0,
            population,
        }
    }

    /// Candidates that fill the space evenly: a Latin hypercube.
    fn first(&self, stream: &mut Stream) -> Vec<Vec<f64>> {
        let mut members = vec![Vec::with_capacity(self.bounds.len()); self.population];
        let mut places: Vec<usize> = (0..self.population).collect();
        for &(low, high) in &self.bounds {
            stream.shuffle(&mut places);
            for (member, place) in members.iter_mut().zip(&places) {
                let share = (*place as f64 + stream.uniform()) / self.population as f64;
                member.push(low + share * (high - low));
            }
        }
        members
    }

    /// A random member but this one.
    fn other_than(&self, at: usize, stream: &mut Stream) -> usize {
        let drawn = stream.below(self.members.len() - 1);
        if drawn < at { drawn } else { drawn + 1 }
    }

    fn challenger(&self, at: usize, share: f64, stream: &mut Stream) -> Vec<f64> {
        let one = self.other_than(at, stream);
        let mut two = self.other_than(at, stream);
        while two == one {
            two = self.other_than(at, stream);
        }
        let [best, one, two] = [self.best, one, two].map(|at| &self.members[at].1);
        let mut challenger = Vec::with_capacity(self.bounds.len());
        for (value, &(low, high)) in self.bounds.iter().enumerate() {
            let moved = best[value] + share * (one[value] - two[value]);
            // What leaves the bounds begins anew, as in SciPy.
            let inside = (low..=high).contains(&moved);
            challenger.push(if inside { moved } else { stream.between(low, high) });
        }
        challenger
    }
}

impl Generations for Evolution {
    fn propose(&mut self, stream: &mut Stream) -> Vec<Vec<f64>> {
        self.challengers = if self.members.is_empty() {
            self.first(stream)
        } else {
            let share = stream.between(0.5, 1.0);
            (0..self.members.len()).map(|at| self.challenger(at, share, stream)).collect()
        };
        self.challengers.clone()
    }

    fn learn(&mut self, costs: &[f64]) {
        let challengers = std::mem::take(&mut self.challengers);
        if self.members.is_empty() {
            self.members = costs.iter().copied().zip(challengers).collect();
        } else {
            for ((member, cost), challenger) in self.members.iter_mut().zip(costs).zip(challengers)
            {
                if *cost <= member.0 {
                    *member = (*cost, challenger);
                }
            }
        }
        let places = 0..self.members.len();
        let best = places.min_by(|a, b| self.members[*a].0.total_cmp(&self.members[*b].0));
        self.best = best.unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    fn minimum(population: usize, generations: usize, cost: impl Fn(&[f64]) -> f64) -> Vec<f64> {
        let bounds = vec![(-2.0, 3.0); 4];
        let space = Space { bounds, start: Vec::new(), width: 0.0 };
        let mut search = Evolution::new(space, Some(population));
        let mut stream = Seed::new(8).stream();
        for _ in 0..generations {
            let candidates = search.propose(&mut stream);
            assert!(candidates.iter().flatten().all(|value| (-2.0..=3.0).contains(value)));
            search.learn(&candidates.iter().map(|c| cost(c)).collect::<Vec<_>>());
        }
        search.members[search.best].1.clone()
    }

    #[test]
    fn the_least_of_a_sphere_and_of_a_valley_is_found() {
        let sphere = minimum(40, 150, |x| x.iter().map(|v| (v - 0.7).powi(2)).sum());
        assert!(sphere.iter().all(|value| (value - 0.7).abs() < 1e-3), "{sphere:?}");
        let rosenbrock = |x: &[f64]| {
            let pair = |p: &[f64]| 100.0 * (p[1] - p[0] * p[0]).powi(2) + (1.0 - p[0]).powi(2);
            x.windows(2).map(pair).sum()
        };
        let valley = minimum(60, 600, rosenbrock);
        assert!(valley.iter().all(|value| (value - 1.0).abs() < 0.01), "{valley:?}");
    }

    #[test]
    fn the_least_at_a_bound_is_found() {
        let corner = minimum(40, 200, |x| x.iter().sum());
        assert!(corner.iter().all(|value| *value < -1.98), "{corner:?}");
    }
}
