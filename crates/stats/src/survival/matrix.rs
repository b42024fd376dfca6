/// A square matrix in rows: the information of a fit, a few dozen columns at most.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Square {
    pub(crate) n: usize,
    pub(crate) at: Vec<f64>,
}

impl Square {
    pub(crate) fn zero(n: usize) -> Self {
        Self { n, at: vec![0.0; n * n] }
    }

    pub(crate) fn get(&self, i: usize, j: usize) -> f64 {
        self.at[i * self.n + j]
    }

    pub(crate) fn add(&mut self, i: usize, j: usize, value: f64) {
        self.at[i * self.n + j] += value;
    }

    /// Adds v·vᵀ to the lower triangle.
    pub(crate) fn add_outer(&mut self, v: &[f64]) {
        for (i, a) in v.iter().enumerate() {
            for (j, b) in v[..=i].iter().enumerate() {
                self.add(i, j, a * b);
            }
        }
    }

    /// Copies the lower triangle over the upper one, which was not summed.
    pub(crate) fn mirror(&mut self) {
        for i in 0..self.n {
            for j in 0..i {
                self.at[j * self.n + i] = self.at[i * self.n + j];
            }
        }
    }

    pub(crate) fn negated(&self) -> Self {
        Self { n: self.n, at: self.at.iter().map(|v| -v).collect() }
    }

    /// xᵀ M y.
    pub(crate) fn form(&self, x: &[f64], y: &[f64]) -> f64 {
        (0..self.n).map(|i| x[i] * dot(&self.at[i * self.n..(i + 1) * self.n], y)).sum()
    }

    /// A M Aᵀ, how a covariance changes when coefficients are mixed by A.
    pub(crate) fn mixed_by(&self, a: &Self) -> Self {
        let n = self.n;
        let mut out = Self::zero(n);
        for i in 0..n {
            for j in 0..=i {
                let left = &a.at[i * n..(i + 1) * n];
                let right = &a.at[j * n..(j + 1) * n];
                out.add(i, j, self.form(left, right));
            }
        }
        out.mirror();
        out
    }

    /// The Cholesky factor (lower); `None` when the matrix is not safely positive definite.
    pub(crate) fn cholesky(&self) -> Option<Self> {
        let n = self.n;
        let mut factor = Self::zero(n);
        for i in 0..n {
            for j in 0..=i {
                let a = &factor.at[i * n..i * n + j];
                let b = &factor.at[j * n..j * n + j];
                let rest = self.get(i, j) - dot(a, b);
                if i == j {
                    if rest.is_nan() || rest <= 1e-14 * self.get(i, i).abs() {
                        return None;
                    }
                    factor.at[i * n + i] = rest.sqrt();
                } else {
                    factor.at[i * n + j] = rest / factor.get(j, j);
                }
            }
        }
        Some(factor)
    }

    /// Solves M x = b where this is the Cholesky factor of M.
    pub(crate) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x = b.to_vec();
        for i in 0..n {
            x[i] = (x[i] - dot(&self.at[i * n..i * n + i], &x[..i])) / self.get(i, i);
        }
        for i in (0..n).rev() {
            let known: f64 = (i + 1..n).map(|j| self.get(j, i) * x[j]).sum();
            x[i] = (x[i] - known) / self.get(i, i);
        }
        x
    }

    /// The inverse of M where this is the Cholesky factor of M.
    pub(crate) fn inverse(&self) -> Self {
        let n = self.n;
        let mut out = Self::zero(n);
        for i in 0..n {
            let mut unit = vec![0.0; n];
            unit[i] = 1.0;
            out.at[i * n..(i + 1) * n].copy_from_slice(&self.solve(&unit));
        }
        out
    }
}

/// Sums that go on side by side, so that none waits for another.
const LANES: usize = 8;

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// Columns that share one pass over what they are multiplied with.
const TOGETHER: usize = 4;

/// Adds the product of `a` with each column to the number in its place.
pub(crate) fn add_dots(a: &[f64], columns: &[&[f64]], to: &mut [f64]) {
    let (groups, rest) = columns.as_chunks::<TOGETHER>();
    let (sums, last) = to.split_at_mut(groups.len() * TOGETHER);
    for (group, sums) in groups.iter().zip(sums.chunks_exact_mut(TOGETHER)) {
        for (sum, more) in sums.iter_mut().zip(dots(a, *group)) {
            *sum += more;
        }
    }
    for (column, sum) in rest.iter().zip(last) {
        *sum += dot(a, column);
    }
}

fn dots(a: &[f64], columns: [&[f64]; TOGETHER]) -> [f64; TOGETHER] {
    const WIDE: usize = 4;
    let mut sums = [[0.0; WIDE]; TOGETHER];
    let (parts, rest) = a.as_chunks::<WIDE>();
    let split = columns.map(|column| column.as_chunks::<WIDE>());
    for (at, a) in parts.iter().enumerate() {
        for (sums, (column, _)) in sums.iter_mut().zip(&split) {
            for lane in 0..WIDE {
                sums[lane] += a[lane] * column[at][lane];
            }
        }
    }
    std::array::from_fn(|k| sums[k].iter().sum::<f64>() + dot(rest, split[k].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_undoes_the_matrix() {
        let m = Square { n: 3, at: vec![4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0] };
        let inverse = m.cholesky().unwrap().inverse();
        for i in 0..3 {
            for j in 0..3 {
                let column: Vec<f64> = (0..3).map(|k| inverse.get(k, j)).collect();
                let got = dot(&m.at[i * 3..i * 3 + 3], &column);
                assert!((got - f64::from(i == j)).abs() < 1e-14, "{i} {j} {got}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_factor() {
        assert!(Square { n: 2, at: vec![1.0, 2.0, 2.0, 4.0] }.cholesky().is_none());
        assert!(Square { n: 1, at: vec![f64::NAN] }.cholesky().is_none());
    }
}
