//! Rows times a matrix in whole numbers: `MatMulInteger`, `QLinearMatMul`, `QGemm`,
//! `MatMulIntegerToFloat` and `DynamicQuantizeMatMul`.

use super::super::{Attributes, Op};
use super::{
    Answers, Bytes, QuantParams, answer, broadcast, integers, linear, operand, required, scales,
    spread, whole_value, zeros,
};
use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::quantised::{Packed, Rows, Sums, multiply, narrow, padded};
use crate::value::Value;
use faultlens_core::DType;
use std::sync::Arc;

/// Which operand is what; the rows always come first.
#[derive(Debug, Clone, Copy, Default)]
struct OperandPlaces {
    rows_scale: Option<usize>,
    rows_zero: Option<usize>,
    matrix: usize,
    matrix_scale: Option<usize>,
    matrix_zero: usize,
    bias: Option<usize>,
    /// Scale of the answer; its zero point is behind it.
    answer: Option<usize>,
}

impl OperandPlaces {
    fn of(op_type: &str) -> Self {
        // The operand lists of ONNX and of ONNX Runtime's contributed operators.
        let linear = Self {
            rows_scale: Some(1),
            rows_zero: Some(2),
            matrix: 3,
            matrix_scale: Some(4),
            matrix_zero: 5,
            ..Self::default()
        };
        match op_type {
            "QLinearMatMul" => Self { answer: Some(6), ..linear },
            "QGemm" => Self { bias: Some(6), answer: Some(7), ..linear },
            "MatMulIntegerToFloat" => Self {
                rows_scale: Some(2),
                rows_zero: Some(4),
                matrix: 1,
                matrix_scale: Some(3),
                matrix_zero: 5,
                bias: Some(6),
                ..Self::default()
            },
            "DynamicQuantizeMatMul" => Self {
                matrix: 1,
                matrix_scale: Some(2),
                matrix_zero: 3,
                bias: Some(4),
                ..Self::default()
            },
            _ => Self { rows_zero: Some(2), matrix: 1, matrix_zero: 3, ..Self::default() },
        }
    }
}

/// The second operand minus its zero points, packed once for each entry of its batch.
struct Matrices {
    outer: Vec<usize>,
    depth: usize,
    columns: usize,
    packed: Vec<Packed>,
}

impl Matrices {
    fn new(value: &Value, zeros: &[i32], transposed: bool) -> Result<Self, OperandError> {
        let shape = value.shape();
        let &[ref outer @ .., first, second] = shape else {
            return Err(OperandError::new(format!("a matrix is wanted, not {shape:?}")));
        };
        let (depth, columns) = if transposed { (second, first) } else { (first, second) };
        if zeros.len() != 1 && zeros.len() != columns {
            return Err(OperandError::new(format!(
                "{} zero points for {columns} columns",
                zeros.len()
            )));
        }
        let data = Bytes::of(value)?.shifted(0);
        let packed = (0..outer.iter().product())
            .map(|matrix| {
                let data = &data[matrix * depth * columns..][..depth * columns];
                Packed::new(1, depth, columns, |_, k, column| {
                    let at = if transposed { column * depth + k } else { k * columns + column };
                    data[at] - zeros[column % zeros.len()] as i16
                })
            })
            .collect();
        Ok(Self { outer: outer.to_vec(), depth, columns, packed })
    }

    /// Sums of all rows times all columns, and their shape.
    fn times(&self, rows: &Operand) -> Result<(Vec<usize>, Vec<i32>), OperandError> {
        let &[ref outer @ .., count, depth] = rows.shape.as_slice() else {
            return Err(OperandError::new(format!("rows are wanted, not {:?}", rows.shape)));
        };
        if depth != self.depth {
            let wanted = self.depth;
            return Err(OperandError::new(format!(
                "rows of {depth} do not fit a matrix of {wanted} rows"
            )));
        }
        let mut shape = broadcast(outer, &self.outer)?;
        let entries =
            |own: &[usize]| spread((0..own.iter().product()).collect::<Vec<usize>>(), own, &shape);
        let from_rows = entries(outer);
        let from_packed = entries(&self.outer);
        shape.extend([count, self.columns]);
        let data = rows.in_pairs(depth);
        let run = padded(depth);
        let mut sums = vec![0; shape.iter().product()];
        let each = (count * self.columns).max(1);
        for (batch, sums) in sums.chunks_exact_mut(each).enumerate() {
            let first = from_rows[batch] * count;
            let starts: Vec<usize> = (first..first + count).map(|row| row * run).collect();
            let mut sums = Sums { data: sums, stride: self.columns, first: 0 };
            multiply(
                Rows { data: &data, starts: &starts },
                &self.packed[from_packed[batch]],
                &mut sums,
            );
        }
        Ok((shape, sums))
    }
}

/// The first operand minus its zero point.
struct Operand {
    shape: Vec<usize>,
    elements: Vec<i16>,
    /// `None` where the answer is the sums themselves.
    scale: Option<f32>,
}

impl Operand {
    fn transposed(self) -> Result<Self, OperandError> {
        let &[rows, columns] = self.shape.as_slice() else {
            return Err(OperandError::new(format!("a matrix is wanted, not {:?}", self.shape)));
        };
        let elements =
            (0..rows * columns).map(|i| self.elements[i % rows * columns + i / rows]).collect();
        Ok(Self { shape: vec![columns, rows], elements, ..self })
    }

    /// The elements with rows of an odd length padded by zero.
    fn in_pairs(&self, depth: usize) -> Vec<i16> {
        let mut padded =
            Vec::with_capacity(self.elements.len() + self.elements.len() / depth.max(1));
        for row in self.elements.chunks_exact(depth.max(1)) {
            padded.extend_from_slice(row);
            // The kernel multiplies pairs; a zero beside the last element adds nothing.
            padded.extend((depth % 2 == 1).then_some(0));
        }
        padded
    }
}

#[derive(Clone)]
struct Product {
    places: OperandPlaces,
    transposed_rows: bool,
    transposed_matrix: bool,
    alpha: f32,
    prepacked: Option<Arc<Matrices>>,
}

pub(in crate::ops) fn parse(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Product {
        places: OperandPlaces::of(attributes.op_type()),
        transposed_rows: attributes.int("transA", 0) != 0,
        transposed_matrix: attributes.int("transB", 0) != 0,
        alpha: attributes.float("alpha", 1.0),
        prepacked: None,
    })))
}

impl Product {
    fn matrices(&self, operands: &[Option<&Value>]) -> Result<Matrices, OperandError> {
        let zeros = zeros(operand(operands, self.places.matrix_zero))?;
        Matrices::new(required(operands, self.places.matrix)?, &zeros, self.transposed_matrix)
    }

    fn rows(&self, operands: &[Option<&Value>]) -> Result<Operand, OperandError> {
        let value = required(operands, 0)?;
        let shape = value.shape().to_vec();
        let rows = if let Some(floats) = value.floats() {
            let (code, bits) = linear::quantised(&floats.data)?;
            let elements = Bytes::Unsigned(&bits).shifted(code.zero);
            Operand { shape, elements, scale: Some(code.scale) }
        } else {
            let scale = self.places.rows_scale.map(|at| required(operands, at)).transpose()?;
            let zero = self.places.rows_zero.and_then(|at| operand(operands, at));
            let &[zero] = zeros(zero)?.as_slice() else {
                return Err(OperandError::new("the rows must have one zero point"));
            };
            let elements = Bytes::of(value)?.shifted(zero);
            Operand { shape, elements, scale: scale.map(scales).transpose()?.map(|s| s[0]) }
        };
        if self.transposed_rows { rows.transposed() } else { Ok(rows) }
    }

    /// From sums to real numbers, per column.
    fn factors(
        &self,
        operands: &[Option<&Value>],
        scale: f32,
        columns: usize,
    ) -> Result<Vec<f32>, OperandError> {
        let own = match self.places.matrix_scale {
            Some(at) => scales(required(operands, at)?)?,
            None => &[1.0],
        };
        if own.len() != 1 && own.len() != columns {
            return Err(OperandError::new(format!("{} scales for {columns} columns", own.len())));
        }
        let spread = own.iter().cycle().take(columns);
        Ok(spread.map(|own| self.alpha * scale * own).collect())
    }
}

impl Op for Product {
    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        let prepacked = Some(Arc::new(self.matrices(constants)?));
        Ok(Some(Box::new(Self { prepacked, ..self.clone() })))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let rows = self.rows(operands)?;
        let matrices = match &self.prepacked {
            Some(prepacked) => prepacked.clone(),
            None => Arc::new(self.matrices(operands)?),
        };
        let (shape, mut sums) = matrices.times(&rows)?;
        let Some(scale) = rows.scale else {
            return Ok(Some(vec![Some(whole_value(shape, sums)?)]));
        };
        let bias = self.places.bias.and_then(|at| operand(operands, at));
        if let Some(bias) = bias.filter(|bias| bias.floats().is_none()) {
            if broadcast(bias.shape(), &shape)? != shape {
                return Err(OperandError::new(format!(
                    "a bias of {:?} for {shape:?}",
                    bias.shape()
                )));
            }
            let spread = spread(integers(bias)?, bias.shape(), &shape);
            sums.iter_mut().zip(spread).for_each(|(sum, bias)| *sum = sum.wrapping_add(bias));
        }
        let factors = self.factors(operands, scale, matrices.columns)?;
        match self.places.answer.filter(|&at| operand(operands, at).is_some()) {
            Some(at) => narrowed(
                QuantParams::of(operands, at, required(operands, 0)?)?,
                shape,
                &sums,
                factors,
            ),
            None => real(shape, &sums, &factors, bias.and_then(Value::floats)),
        }
    }
}

/// The answer in eight bits.
fn narrowed(to: QuantParams, shape: Vec<usize>, sums: &[i32], factors: Vec<f32>) -> Answers {
    let factors: Vec<f32> = factors.into_iter().map(|factor| factor / to.scale).collect();
    let mut bits = vec![0; sums.len()];
    narrow(sums, &vec![0; factors.len()], &factors, to.range()?, &mut bits);
    answer(shape, to.dtype, bits)
}

/// The answer in floats, with a bias per column where there is one.
fn real(shape: Vec<usize>, sums: &[i32], factors: &[f32], bias: Option<&Floats>) -> Answers {
    let bias = bias.map_or_else(|| vec![0.0; factors.len()], |bias| bias.data.clone());
    if bias.len() != factors.len() {
        return Err(OperandError::new(format!(
            "{} biases for {} columns",
            bias.len(),
            factors.len()
        )));
    }
    let columns = factors.iter().zip(&bias).cycle();
    let data = sums.iter().zip(columns).map(|(&sum, (factor, bias))| sum as f32 * factor + bias);
    let floats = Floats { shape, order: Order::RowMajor, dtype: DType::F32, data: data.collect() };
    Ok(Some(vec![Some(Value::Floats(floats))]))
}
