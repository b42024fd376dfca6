use super::data::Lifetimes;
use super::matrix::{Square, dot};
use super::newton::Slope;
use super::standard::Standard;

/// What to do with events at the same time, of which the order is unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ties {
    /// Efron (1977): close to averaging over all orders. The better one where ties are many.
    #[default]
    Efron,
    /// Breslow (1974): all events of a time face the whole risk set.
    Breslow,
}

/// Cox's partial likelihood over rows sorted from the longest duration to the shortest, so that
/// the risk set only grows and one pass sums everything; it starts anew with each stratum.
#[derive(Debug, Clone)]
pub(crate) struct Partial {
    width: usize,
    /// Standardised covariates in rows.
    rows: Vec<f64>,
    times: Vec<f64>,
    observed: Vec<bool>,
    weights: Vec<f64>,
    strata: Vec<usize>,
    /// When each row came under observation.
    entries: Vec<f64>,
    /// The place of each row in the data.
    order: Vec<usize>,
    /// Rows that entered late, by stratum as the rows are and then latest first: who leaves the
    /// risk set again.
    late: Vec<usize>,
    ties: Ties,
    penalty: f64,
}

/// What the model knows about one time of events.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub(crate) stratum: usize,
    pub(crate) time: f64,
    /// The increment of the baseline's cumulative hazard.
    pub(crate) hazard: f64,
    /// The increment of its variance for known coefficients.
    pub(crate) variance: f64,
    /// The weighted mean of the covariates in the risk set, in standardised units.
    pub(crate) mean: Vec<f64>,
    /// How many events there were.
    pub(crate) events: usize,
}

/// One row of a partial likelihood.
pub(crate) struct Case<'a> {
    /// Its place in the data.
    pub(crate) place: usize,
    pub(crate) stratum: usize,
    pub(crate) time: f64,
    pub(crate) entry: f64,
    pub(crate) observed: bool,
    pub(crate) weight: f64,
    /// Its standardised covariates.
    pub(crate) x: &'a [f64],
}

/// How the likelihood would change if every coefficient drifted with a reading of time, at no drift.
pub(crate) struct Drift {
    /// The slope along each coefficient's drift.
    pub(crate) score: Vec<f64>,
    /// The information on the coefficients and their drifts together.
    pub(crate) mixed: Square,
    /// The information on the drifts.
    pub(crate) own: Square,
}

/// Sums over a set of rows of weight·e^η, and of that times x and x·xᵀ (lower half).
pub(crate) struct Sums {
    pub(crate) zero: f64,
    pub(crate) first: Vec<f64>,
    second: Square,
}

impl Sums {
    fn new(width: usize) -> Self {
        Self { zero: 0.0, first: vec![0.0; width], second: Square::zero(width) }
    }

    fn add(&mut self, risk: f64, x: &[f64], derivatives: bool) {
        self.zero += risk;
        if !derivatives {
            return;
        }
        let n = x.len();
        for i in 0..n {
            let part = risk * x[i];
            self.first[i] += part;
            for (sum, other) in self.second.at[i * n..i * n + i + 1].iter_mut().zip(x) {
                *sum += part * other;
            }
        }
    }

    fn clear(&mut self) {
        self.zero = 0.0;
        self.first.fill(0.0);
        self.second.at.fill(0.0);
    }
}

impl Partial {
    pub(crate) fn new(data: &Lifetimes, standard: &Standard, ties: Ties, penalty: f64) -> Self {
        let order = data.longest_first();
        let entries: Vec<f64> = order.iter().map(|&i| data.entries()[i]).collect();
        let strata: Vec<usize> = order.iter().map(|&i| data.strata()[i]).collect();
        let mut late: Vec<usize> = (0..order.len()).filter(|&i| entries[i] > 0.0).collect();
        late.sort_by(|&a, &b| strata[b].cmp(&strata[a]).then(entries[b].total_cmp(&entries[a])));
        Self {
            width: standard.columns.len(),
            rows: order.iter().flat_map(|&i| standard.columns.iter().map(move |c| c[i])).collect(),
            times: order.iter().map(|&i| data.durations()[i]).collect(),
            observed: order.iter().map(|&i| data.observed()[i]).collect(),
            weights: order.iter().map(|&i| data.row_weights()[i]).collect(),
            strata,
            entries,
            order,
            late,
            ties,
            penalty: penalty * data.row_weights().iter().sum::<f64>(),
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// All that is known of one row.
    pub(crate) fn case(&self, i: usize) -> Case<'_> {
        Case {
            place: self.order[i],
            stratum: self.strata[i],
            time: self.times[i],
            entry: self.entries[i],
            observed: self.observed[i],
            weight: self.weights[i],
            x: self.row(i),
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    pub(crate) fn penalty_at(&self, at: &[f64]) -> f64 {
        self.penalty * dot(at, at) / 2.0
    }

    /// Walks through the times of events, latest first, with the sums over the risk set, the sums
    /// over the events, and the events' rows.
    pub(crate) fn walk(
        &self,
        at: &[f64],
        derivatives: bool,
        mut visit: impl FnMut(&Sums, &Sums, &[usize]),
    ) {
        let mut risk = Sums::new(self.width);
        let mut ended = Sums::new(self.width);
        let mut start = 0;
        let mut gone = 0;
        let weight = |i: usize| self.weights[i] * dot(at, self.row(i)).exp();
        while start < self.times.len() {
            let time = self.times[start];
            let stratum = self.strata[start];
            if start > 0 && self.strata[start - 1] != stratum {
                risk.clear();
                gone += self.late[gone..].partition_point(|&i| self.strata[i] > stratum);
            }
            let same = |i: &usize| self.times[*i] == time && self.strata[*i] == stratum;
            let end = (start..self.times.len()).take_while(same).last().map_or(start, |i| i + 1);
            ended.clear();
            let mut events = Vec::new();
            for i in start..end {
                let own = weight(i);
                risk.add(own, self.row(i), derivatives);
                if self.observed[i] {
                    ended.add(own, self.row(i), derivatives);
                    events.push(i);
                }
            }
            while let Some(&i) = self.late.get(gone) {
                if self.strata[i] != stratum || self.entries[i] < time {
                    break;
                }
                risk.add(-weight(i), self.row(i), derivatives);
                gone += 1;
            }
            if !events.is_empty() {
                visit(&risk, &ended, &events);
            }
            start = end;
        }
    }

    /// The shares of the events' own risk that are taken out, one per factor of the likelihood,
    /// and the weight of each factor.
    pub(crate) fn factors(&self, events: &[usize]) -> (Vec<f64>, f64) {
        let total: f64 = events.iter().map(|&i| self.weights[i]).sum();
        let count = events.len() as f64;
        match self.ties {
            Ties::Efron => ((0..events.len()).map(|k| k as f64 / count).collect(), total / count),
            Ties::Breslow => (vec![0.0], total),
        }
    }

    pub(crate) fn evaluate(&self, at: &[f64], derivatives: bool) -> Slope {
        let n = if derivatives { self.width } else { 0 };
        let mut out = Slope { value: 0.0, gradient: vec![0.0; n], hessian: Square::zero(n) };
        let mut mean = vec![0.0; n];
        self.walk(at, derivatives, |risk, ended, events| {
            for &i in events {
                out.value += self.weights[i] * dot(at, self.row(i));
                for (sum, x) in out.gradient.iter_mut().zip(self.row(i)) {
                    *sum += self.weights[i] * x;
                }
            }
            let (shares, weight) = self.factors(events);
            for share in shares {
                let zero = risk.zero - share * ended.zero;
                out.value -= weight * zero.ln();
                for i in 0..n {
                    mean[i] = (risk.first[i] - share * ended.first[i]) / zero;
                    out.gradient[i] -= weight * mean[i];
                    let line = i * n..i * n + i + 1;
                    let sums = out.hessian.at[line.clone()].iter_mut().zip(&mean);
                    let both = risk.second.at[line.clone()].iter().zip(&ended.second.at[line]);
                    for ((sum, other), (all, own)) in sums.zip(both) {
                        *sum -= weight * ((all - share * own) / zero - mean[i] * other);
                    }
                }
            }
        });
        out.value -= self.penalty_at(at);
        for (i, value) in at.iter().enumerate().take(n) {
            out.gradient[i] -= self.penalty * value;
            out.hessian.add(i, i, -self.penalty);
        }
        out.hessian.mirror();
        out
    }

    /// Baseline and means at the fitted coefficients, ascending in stratum and time.
    pub(crate) fn moments(&self, at: &[f64]) -> Vec<Moment> {
        let mut out = Vec::new();
        self.walk(at, true, |risk, _, events| {
            let weight: f64 = events.iter().map(|&i| self.weights[i]).sum();
            out.push(Moment {
                stratum: self.strata[events[0]],
                time: self.times[events[0]],
                hazard: weight / risk.zero,
                variance: weight / (risk.zero * risk.zero),
                mean: risk.first.iter().map(|f| f / risk.zero).collect(),
                events: events.len(),
            });
        });
        out.reverse();
        out
    }

    /// The slope and information of coefficients that drift; `readings` has one for each time of
    /// events, the latest first.
    pub(crate) fn drift(&self, at: &[f64], readings: impl Iterator<Item = f64>) -> Drift {
        let n = self.width;
        let mut readings = readings;
        let mut drift = Drift { score: vec![0.0; n], mixed: Square::zero(n), own: Square::zero(n) };
        let mut mean = vec![0.0; n];
        self.walk(at, true, |risk, ended, events| {
            let reading = readings.next().unwrap_or(0.0);
            for &i in events {
                for (sum, x) in drift.score.iter_mut().zip(self.row(i)) {
                    *sum += reading * self.weights[i] * x;
                }
            }
            let (shares, weight) = self.factors(events);
            for share in shares {
                let zero = risk.zero - share * ended.zero;
                for i in 0..n {
                    mean[i] = (risk.first[i] - share * ended.first[i]) / zero;
                    drift.score[i] -= reading * weight * mean[i];
                    for j in 0..=i {
                        let at = i * n + j;
                        let second = (risk.second.at[at] - share * ended.second.at[at]) / zero;
                        let variance = weight * (second - mean[i] * mean[j]);
                        drift.mixed.add(i, j, reading * variance);
                        drift.own.add(i, j, reading * reading * variance);
                    }
                }
            }
        });
        drift.mixed.mirror();
        drift.own.mirror();
        drift
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn partial(ties: Ties) -> Partial {
        let times = vec![5.0, 3.0, 3.0, 8.0, 2.0, 3.0, 9.0, 6.0];
        let observed = vec![true, true, true, false, true, false, true, true];
        let data = Lifetimes::new(times, observed).unwrap();
        let data = data.weights(vec![1.0, 2.0, 1.0, 0.5, 1.0, 1.0, 1.0, 3.0]).unwrap();
        let data = data.late_entry(vec![0.0, 1.0, 0.0, 4.0, 0.0, 0.0, 5.0, 2.5]).unwrap();
        let data = data.covariate("a", vec![1.0, 2.0, 0.5, 3.0, 1.0, 4.0, 2.0, 0.0]).unwrap();
        let data = data.covariate("b", vec![0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]).unwrap();
        Partial::new(&data, &Standard::new(&data, 0.0).unwrap(), ties, 0.1)
    }

    #[test]
    fn derivatives_by_differences() {
        let h = 1e-5;
        for ties in [Ties::Efron, Ties::Breslow] {
            let partial = partial(ties);
            let at = [0.3, -0.4];
            let got = partial.evaluate(&at, true);
            assert!((got.value - partial.evaluate(&at, false).value).abs() < 1e-13);
            for i in 0..2 {
                let moved = |by: f64| {
                    let mut at = at;
                    at[i] += by;
                    partial.evaluate(&at, true)
                };
                let up = moved(h);
                let down = moved(-h);
                assert!((got.gradient[i] - (up.value - down.value) / (2.0 * h)).abs() < 1e-7);
                for j in 0..2 {
                    let want = (up.gradient[j] - down.gradient[j]) / (2.0 * h);
                    assert!((got.hessian.get(i, j) - want).abs() < 1e-7, "{i} {j}");
                }
            }
        }
    }
}
