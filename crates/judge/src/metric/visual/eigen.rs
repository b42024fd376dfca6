//! What a covariance says: its eigenvalues, and a triangle that makes its numbers independent.

use super::covariance::{BLOCK, Square};

/// Turns through all pairs; five are enough for any covariance, so these never run out.
const SWEEPS: usize = 60;

/// The eigenvalues of a symmetric matrix, by Jacobi's method: slow for large ones, and exact for
/// small ones whatever they look like.
pub(super) fn eigenvalues(mut matrix: Square) -> [f64; BLOCK] {
    for _ in 0..SWEEPS {
        let mut turned = false;
        for p in 0..BLOCK {
            for q in p + 1..BLOCK {
                // What does not change the larger of both any more is nothing.
                let size = matrix[p][p].abs().max(matrix[q][q].abs());
                if size + matrix[p][q].abs() > size {
                    turn(&mut matrix, p, q);
                    turned = true;
                }
            }
        }
        if !turned {
            break;
        }
    }
    std::array::from_fn(|at| matrix[at][at])
}

/// Turns two axes so that they have nothing in common.
fn turn(matrix: &mut Square, p: usize, q: usize) {
    let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * matrix[p][q]);
    let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    for row in matrix.iter_mut() {
        [row[p], row[q]] = [cosine * row[p] - sine * row[q], sine * row[p] + cosine * row[q]];
    }
    let first = matrix[p];
    let second = matrix[q];
    matrix[p] = std::array::from_fn(|at| cosine * first[at] - sine * second[at]);
    matrix[q] = std::array::from_fn(|at| sine * first[at] + cosine * second[at]);
}

/// The lower triangle `T` with `uᵀ·C⁻¹·u = |T·u|²` for a positive definite matrix `C`: the inverse
/// of its Cholesky factor.
pub(super) fn whitening(matrix: &Square) -> Square {
    let mut factor = [[0.0; BLOCK]; BLOCK];
    for row in 0..BLOCK {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| factor[row][at] * factor[column][at]).sum();
            let left = matrix[row][column] - known;
            factor[row][column] =
                if row == column { left.sqrt() } else { left / factor[column][column] };
        }
    }
    let mut inverse = [[0.0; BLOCK]; BLOCK];
    for column in 0..BLOCK {
        inverse[column][column] = 1.0 / factor[column][column];
        for row in column + 1..BLOCK {
            let known: f64 = (column..row).map(|at| factor[row][at] * inverse[at][column]).sum();
            inverse[row][column] = -known / factor[row][row];
        }
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second differences of a line with fixed ends; its eigenvalues are known in closed form.
    fn line() -> Square {
        std::array::from_fn(|a| {
            std::array::from_fn(|b| [2.0, -1.0].get(a.abs_diff(b)).copied().unwrap_or(0.0))
        })
    }

    #[test]
    fn eigenvalues_in_closed_form() {
        let mut found = eigenvalues(line());
        found.sort_by(f64::total_cmp);
        for (at, found) in found.into_iter().enumerate() {
            let sine = (std::f64::consts::PI * (at + 1) as f64 / 20.0).sin();
            assert!((found - 4.0 * sine * sine).abs() < 1e-14, "{at}: {found}");
        }
        let ones = eigenvalues([[1.0; BLOCK]; BLOCK]);
        assert!(ones.iter().filter(|value| value.abs() < 1e-14).count() == BLOCK - 1, "{ones:?}");
        assert_eq!(eigenvalues([[0.0; BLOCK]; BLOCK]), [0.0; BLOCK]);
    }

    #[test]
    fn the_triangle_is_the_root_of_the_inverse() {
        // The inverse of the line is min(a, b) · (10 − max(a, b)) / 10, from 1.
        let triangle = whitening(&line());
        for a in 0..BLOCK {
            for b in 0..BLOCK {
                let found: f64 = triangle.iter().map(|row| row[a] * row[b]).sum();
                let wanted = (a.min(b) + 1) as f64 * (BLOCK - a.max(b)) as f64 / 10.0;
                assert!((found - wanted).abs() < 1e-13, "{a} {b}: {found}");
            }
        }
    }
}
