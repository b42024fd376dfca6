//! Products of matrices that lie row by row, on several threads.

use super::gemm::{PANEL, Packed, Rows, multiply};
use super::outer::{RowPairs, Sums, outer};
use super::share::{SharedRows, shared_out};

/// Rows of a product that are computed in one go.
const ROWS: usize = 96;

/// A matrix, row by row.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    data: &'a [f32],
    rows: usize,
    columns: usize,
}

impl<'a> Matrix<'a> {
    pub(crate) fn new(data: &'a [f32], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "a matrix has all its elements");
        Self { data, rows, columns }
    }

    /// The elements, row by row.
    pub(crate) fn data(&self) -> &'a [f32] {
        self.data
    }

    /// How many rows there are.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// How many values a row has.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// `self · other`, into `to`.
    pub(crate) fn times(self, other: Matrix<'_>, to: &mut [f32], threads: usize) {
        let packed = Packed::from_rows(other.rows, other.columns, &[], |k, first, row| {
            row.copy_from_slice(&other.data[k * other.columns + first..][..row.len()]);
        });
        self.times_packed(&packed, to, threads);
    }

    /// `self · otherᵀ`, into `to`.
    pub(crate) fn times_transposed(self, other: Matrix<'_>, to: &mut [f32], threads: usize) {
        let packed = Packed::from_columns(
            other.columns,
            other.rows,
            &[],
            |c: usize| &other.data[c * other.columns..][..other.columns],
            |e| e,
        );
        self.times_packed(&packed, to, threads);
    }

    fn times_packed(self, packed: &Packed, to: &mut [f32], threads: usize) {
        assert_eq!(to.len(), self.rows * packed.columns(), "the product has room");
        let place = SharedRows(to.as_mut_ptr());
        let part = |rows: std::ops::Range<usize>, from: usize, until: usize| {
            let inputs: Vec<*const f32> = rows
                .clone()
                .map(|r| self.data[r * self.columns..][..self.columns].as_ptr())
                .collect();
            let outputs: Vec<*mut f32> = rows.map(|r| place.add(r * packed.columns())).collect();
            let rows = Rows { inputs: &inputs, taps: 1, run: self.columns, outputs: &outputs };
            // SAFETY: rows hold the depth, outputs all columns, and parts do not overlap.
            unsafe { multiply(&rows, packed, from, until) };
        };
        if self.rows >= ROWS * threads {
            shared_out(threads, self.rows, ROWS, |rows| part(rows, 0, packed.columns()));
        } else {
            shared_out(threads, packed.columns(), PANEL, |c| part(0..self.rows, c.start, c.end));
        }
    }

    /// Adds `selfᵀ · other` to `to`.
    pub(crate) fn transposed_times(self, other: Matrix<'_>, to: &mut [f32], threads: usize) {
        assert_eq!(self.rows, other.rows, "both have as many rows");
        assert_eq!(to.len(), self.columns * other.columns, "the product has room");
        let pairs = RowPairs::of_rows(self.data, other.data, [self.columns, other.columns]);
        let place = SharedRows(to.as_mut_ptr());
        shared_out(threads, self.columns, 48, |rows| {
            let to = place.add(rows.start * other.columns);
            let sums = Sums { to, rows: rows.len(), columns: other.columns };
            // SAFETY: rows of the product are shared out once.
            unsafe { outer(&pairs, [rows.start, 0], sums) };
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_plain_loops() {
        let value = |i: usize| ((i * 29 % 61) as f32 - 30.0) / 8.0;
        let m = 7;
        let k = 19;
        let n = 70;
        let a: Vec<f32> = (0..m * k).map(value).collect();
        let b: Vec<f32> = (0..k * n).map(|i| value(i + 3)).collect();
        let wanted: Vec<f32> = (0..m * n)
            .map(|at| (0..k).map(|d| a[at / n * k + d] * b[d * n + at % n]).sum())
            .collect();
        let turned = |x: &[f32], rows: usize, columns: usize| -> Vec<f32> {
            (0..x.len()).map(|at| x[at % rows * columns + at / rows]).collect()
        };
        let at = turned(&a, m, k);
        let bt = turned(&b, k, n);
        let mut found = vec![vec![0.0; m * n]; 3];
        Matrix::new(&a, m, k).times(Matrix::new(&b, k, n), &mut found[0], 1);
        Matrix::new(&a, m, k).times_transposed(Matrix::new(&bt, n, k), &mut found[1], 1);
        Matrix::new(&at, k, m).transposed_times(Matrix::new(&b, k, n), &mut found[2], 1);
        for found in found {
            assert!(found.iter().zip(&wanted).all(|(f, w)| (f - w).abs() < 1e-3));
        }
    }

    /// In a build without debug assertions, this once read past the packed weights.
    #[test]
    #[should_panic(expected = "taps and runs make up the depth of the weights")]
    fn matrices_that_do_not_fit_each_other_are_refused() {
        let left = [1.0; 6];
        let right = [1.0; 8];
        Matrix::new(&left, 2, 3).times(Matrix::new(&right, 2, 4), &mut [0.0; 8], 1);
    }
}
