//! `Gemm` and `MatMul`.

use super::backward::gradient;
use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::kernels::channels::sums;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::matrix::Matrix;
use crate::ops::ProductShapes;

pub(super) fn gemm(backward: &mut Backward<'_>) -> Gradients {
    let is_transposed = ["transA", "transB"].map(|name| backward.attributes.flag(name));
    let [alpha, beta] = ["alpha", "beta"].map(|name| backward.attributes.float(name, 1.0));
    let a = backward.floats(0, Order::RowMajor)?;
    let b = backward.floats(1, Order::RowMajor)?;
    let mut incoming = backward.gradient_in(Order::RowMajor)?;
    let mut gradients: Vec<Option<Floats>> = backward.operands.iter().map(|_| None).collect();
    if backward.wants(2) {
        gradients[2] = Some(bias(backward, &incoming, beta)?);
    }
    if alpha != 1.0 {
        incoming.data.iter_mut().for_each(|g| *g *= alpha);
    }
    let y = matrix(&incoming)?;
    let a_matrix = matrix(a)?;
    let b_matrix = matrix(b)?;
    let [mut to_a, mut to_b] = [a, b].map(|floats| backward.zeros(floats.data.len()));
    let empty = [a, b, &incoming].iter().any(|floats| floats.data.is_empty());
    if backward.wants(0) && !empty {
        first(is_transposed, y, b_matrix, &mut to_a, backward.threads);
    }
    if backward.wants(1) && !empty {
        second(is_transposed, y, a_matrix, &mut to_b, backward.threads);
    }
    gradients[0] = Some(gradient(&a.shape, Order::RowMajor, to_a));
    gradients[1] = Some(gradient(&b.shape, Order::RowMajor, to_b));
    backward.recycle(incoming);
    Ok(gradients)
}

// With Y = A · B and G the gradient of Y: dA = G · Bᵀ and dB = Aᵀ · G; transposed operands turn the
// factors round.

/// The gradient of a product's first matrix, which may be stored transposed as the second may.
fn first(is_transposed: [bool; 2], y: Matrix<'_>, b: Matrix<'_>, to: &mut [f32], threads: usize) {
    match is_transposed {
        [false, false] => y.times_transposed(b, to, threads),
        [false, true] => y.times(b, to, threads),
        [true, false] => b.times_transposed(y, to, threads),
        [true, true] => {
            let straight = transposed(&b);
            Matrix::new(&straight, b.columns(), b.rows()).times_transposed(y, to, threads);
        }
    }
}

/// The gradient of a product's second matrix.
fn second(is_transposed: [bool; 2], y: Matrix<'_>, a: Matrix<'_>, to: &mut [f32], threads: usize) {
    let straight = if is_transposed[0] { transposed(&a) } else { Vec::new() };
    let a = if is_transposed[0] { Matrix::new(&straight, a.columns(), a.rows()) } else { a };
    if is_transposed[1] {
        y.transposed_times(a, to, threads);
    } else {
        a.transposed_times(y, to, threads);
    }
}

/// The bias's gradient, summed over the rows and columns that share it.
fn bias(backward: &Backward<'_>, incoming: &Floats, beta: f32) -> Result<Floats, OperandError> {
    let shape = backward.shape(2)?;
    let rows = incoming.shape[0];
    let columns = incoming.shape[1];
    let (own_rows, own_columns) = match *shape {
        [] => (1, 1),
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => return Err(OperandError::new(format!("a bias of shape {shape:?} has no gradient"))),
    };
    let mut data = if own_rows == rows && rows > 1 {
        incoming.data.clone()
    } else {
        sums(&incoming.data, columns, backward.threads)
    };
    if own_columns == 1 && columns > 1 {
        data = data.chunks_exact(columns).map(|row| row.iter().sum()).collect();
    }
    data.iter_mut().for_each(|g| *g *= beta);
    Ok(gradient(shape, Order::RowMajor, data))
}

fn matrix(floats: &Floats) -> Result<Matrix<'_>, OperandError> {
    match floats.shape.as_slice() {
        &[rows, columns] => Ok(Matrix::new(&floats.data, rows, columns)),
        shape => Err(OperandError::new(format!("a matrix is wanted, not {shape:?}"))),
    }
}

fn transposed(matrix: &Matrix<'_>) -> Vec<f32> {
    let data = matrix.data();
    let rows = matrix.rows();
    (0..data.len()).map(|at| data[at % rows * matrix.columns() + at / rows]).collect()
}

/// One product per entry of the batch; what is shared between entries sums their gradients.
pub(super) fn matmul(backward: &mut Backward<'_>) -> Gradients {
    let a = backward.floats(0, Order::RowMajor)?;
    let b = backward.floats(1, Order::RowMajor)?;
    let incoming = backward.gradient_in(Order::RowMajor)?;
    let mut shapes = ProductShapes::new(&a.shape, &b.shape)?;
    // Rows that share one matrix are rows of one product.
    if b.shape.len() == 2 && a.shape.len() > 2 {
        shapes.rows *= shapes.starts.len();
        shapes.starts.truncate(1);
    }
    let ProductShapes { rows, depth, columns, starts, .. } = &shapes;
    let rows = *rows;
    let depth = *depth;
    let columns = *columns;
    let threads = backward.threads;
    let [mut to_a, mut to_b] = [a, b].map(|floats| backward.zeros(floats.data.len()));
    let mut product = vec![0.0; rows * depth];
    let nothing = rows * depth * columns == 0;
    for (&[at_a, at_b], y) in
        starts.iter().zip(incoming.data.chunks_exact((rows * columns).max(1))).filter(|_| !nothing)
    {
        let y = Matrix::new(y, rows, columns);
        if backward.wants(0) {
            let b = Matrix::new(&b.data[at_b..][..depth * columns], depth, columns);
            y.times_transposed(b, &mut product, threads);
            let to = to_a[at_a..].iter_mut();
            to.zip(&product).for_each(|(to, g)| *to += g);
        }
        if backward.wants(1) {
            let a = Matrix::new(&a.data[at_a..][..rows * depth], rows, depth);
            a.transposed_times(y, &mut to_b[at_b..][..depth * columns], threads);
        }
    }
    let to_a = backward.wants(0).then(|| gradient(&a.shape, Order::RowMajor, to_a));
    let to_b = backward.wants(1).then(|| gradient(&b.shape, Order::RowMajor, to_b));
    Ok(vec![to_a, to_b])
}
