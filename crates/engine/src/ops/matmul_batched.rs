//! `MatMul` where both operands vary: one product per entry of the batch, of any type.

use super::cast::{Exact, Number};
use super::elements::{Element, alike, by_type};
use super::operands::{Answers, one, required, rounded, whole_value};
use super::places::{broadcast, spread_offsets};
use crate::error::OperandError;
use crate::kernels::gemm::{Packed, multiply_rows};
use crate::kernels::grid::Floats;
use crate::value::Value;
use faultlens_core::{Tensor, TensorData};

/// How two shapes multiply.
pub(crate) struct Shapes {
    pub(crate) rows: usize,
    pub(crate) depth: usize,
    pub(crate) columns: usize,
    /// For every product, where its rows and its matrix begin.
    pub(crate) starts: Vec<[usize; 2]>,
    product: Vec<usize>,
}

impl Shapes {
    pub(crate) fn new(a: &[usize], b: &[usize]) -> Result<Self, OperandError> {
        let operand_error = || OperandError::new(format!("shapes {a:?} and {b:?} do not multiply"));
        // A vector is a row on the left and a column on the right, and its axis goes away.
        let (outer_a, rows, depth) = match a {
            [] => return Err(operand_error()),
            [depth] => (&[][..], 1, *depth),
            [outer @ .., rows, depth] => (outer, *rows, *depth),
        };
        let (outer_b, same_depth, columns) = match b {
            [] => return Err(operand_error()),
            [depth] => (&[][..], *depth, 1),
            [outer @ .., depth, columns] => (outer, *depth, *columns),
        };
        let outer = broadcast(&[outer_a, outer_b])
            .filter(|_| depth == same_depth)
            .ok_or_else(operand_error)?;
        let [at_a, at_b] = [outer_a, outer_b].map(|own| spread_offsets(own, &outer));
        let starts = at_a
            .into_iter()
            .zip(at_b)
            .map(|(i, j)| [i * rows * depth, j * depth * columns])
            .collect();
        let mut product = outer;
        product.extend((a.len() > 1).then_some(rows));
        product.extend((b.len() > 1).then_some(columns));
        Ok(Self { rows, depth, columns, starts, product })
    }
}

/// The product of two values of one type; `None` for types that do not multiply.
pub(super) fn product(operands: &[Option<&Value>]) -> Answers {
    let a = required(operands, 0)?;
    let b = required(operands, 1)?;
    let shapes = Shapes::new(a.shape(), b.shape())?;
    match (a, b) {
        (Value::Floats(a), Value::Floats(b)) => {
            one(rounded(shapes.product.clone(), a.dtype, of_floats(a, b, &shapes)))
        }
        (Value::Other(a), Value::Other(b)) => {
            let data: TensorData = by_type!(a.data(), v => of_numbers(v, [a, b], &shapes)?.into());
            one(whole_value(shapes.product, data)?)
        }
        _ => Ok(None),
    }
}

fn of_floats(a: &Floats, b: &Floats, shapes: &Shapes) -> Vec<f32> {
    let &Shapes { rows, depth, columns, .. } = shapes;
    let mut data = vec![0.0; shapes.starts.len() * rows * columns];
    if depth == 0 || data.is_empty() {
        return data;
    }
    for (&[rows_at, matrix_at], out) in
        shapes.starts.iter().zip(data.chunks_exact_mut(rows * columns))
    {
        let matrix = &b.data[matrix_at..][..depth * columns];
        let packed = Packed::new(depth, columns, &[], |k, c| matrix[k * columns + c]);
        multiply_rows(&a.data[rows_at..][..rows * depth], &packed, out);
    }
    data
}

/// Whole numbers wrap around; doubles are summed in order of depth.
fn of_numbers<T: Element + Number>(
    first: &[T],
    tensors: [&Tensor; 2],
    shapes: &Shapes,
) -> Result<Vec<T>, OperandError> {
    let both =
        alike(first, &tensors).ok_or_else(|| OperandError::new("its operands differ in type"))?;
    let mut products = Vec::with_capacity(shapes.starts.len() * shapes.rows * shapes.columns);
    for &[rows_at, matrix_at] in &shapes.starts {
        for row in 0..shapes.rows {
            for column in 0..shapes.columns {
                let mut sum = Exact::Whole(0);
                for k in 0..shapes.depth {
                    let x = both[0][rows_at + row * shapes.depth + k].exact();
                    let y = both[1][matrix_at + k * shapes.columns + column].exact();
                    sum = add(sum, x, y);
                }
                products.push(T::from_exact(sum));
            }
        }
    }
    Ok(products)
}

fn add(sum: Exact, x: Exact, y: Exact) -> Exact {
    match (sum.whole(), x.whole(), y.whole()) {
        (Some(sum), Some(x), Some(y)) => Exact::wrapped(sum.wrapping_add(x.wrapping_mul(y))),
        _ => Exact::Float(x.double().mul_add(y.double(), sum.double())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_and_vectors() {
        let value = |shape: &[usize], data: Vec<i64>| {
            Value::from_tensor(Tensor::new(shape.to_vec(), data).unwrap())
        };
        let a = value(&[2, 2], vec![1 << 40, 2, 3, 4]);
        let b = value(&[2], vec![1, -1]);
        let answers = product(&[Some(&a), Some(&b)]).unwrap().unwrap();
        let answer = answers[0].as_ref().unwrap();
        assert_eq!((answer.shape(), answer.integers()), (&[2][..], Some(vec![(1 << 40) - 2, -1])));
        let wrong = value(&[3], vec![1, 2, 3]);
        assert!(product(&[Some(&a), Some(&wrong)]).is_err());
    }
}
