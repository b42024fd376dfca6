//! `Gemm` and `MatMul`: rows times a matrix.

use super::matmul_batched::product;
use super::operands::operand;
use super::{Attributes, Edit, Local, Op, Repacked, Wants, channels_around};
use crate::error::OperandError;
use crate::kernels::gemm::{PANEL, Packed, Rows, multiply};
use crate::kernels::grid::{Floats, Order, Region, Spot};
use crate::value::Value;
use faultlens_core::DType;
use std::ops::Range;
use std::sync::Arc;

/// Rows of the first operand times a matrix, plus a bias per column.
#[derive(Clone)]
struct Product {
    /// Whether the matrix is stored column by column.
    transposed: bool,
    /// Factor on the product.
    alpha: f32,
    /// Factor on the bias.
    beta: f32,
    /// Whether one bias serves all columns.
    spread_bias: bool,
    prepacked: Option<Arc<Packed>>,
}

pub(super) fn parse(_attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let alpha = 1.0;
    let beta = 1.0;
    let product = Product { transposed: false, alpha, beta, spread_bias: false, prepacked: None };
    Ok(Some(Box::new(product)))
}

pub(super) fn parse_gemm(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let product = Product {
        transposed: attributes.int("transB", 0) != 0,
        alpha: attributes.float("alpha", 1.0),
        beta: attributes.float("beta", 1.0),
        spread_bias: false,
        prepacked: None,
    };
    Ok(Some(Box::new(Gemm { transposed_rows: attributes.int("transA", 0) != 0, product })))
}

/// A matrix of floats, with the axes of the product: depth and columns.
struct Matrix<'a> {
    data: &'a [f32],
    depth: usize,
    columns: usize,
    transposed: bool,
    alpha: f32,
}

impl Matrix<'_> {
    fn at(&self, k: usize, column: usize) -> f32 {
        let index =
            if self.transposed { column * self.depth + k } else { k * self.columns + column };
        scaled(self.data[index], self.alpha)
    }

    fn pack(&self, bias: &[f32]) -> Packed {
        Packed::new(self.depth, self.columns, bias, |k, column| self.at(k, column))
    }
}

impl Product {
    fn matrix<'a>(&self, value: &'a Value) -> Option<Matrix<'a>> {
        let floats = value.floats()?;
        let &[first, second] = floats.shape.as_slice() else { return None };
        let (depth, columns) = if self.transposed { (second, first) } else { (first, second) };
        let transposed = self.transposed;
        let alpha = self.alpha;
        (depth * columns > 0).then_some(Matrix {
            data: &floats.data,
            depth,
            columns,
            transposed,
            alpha,
        })
    }

    /// The bias spread over the columns; `None` where it varies by row.
    fn bias(&self, value: Option<&Value>, columns: usize) -> Option<Vec<f32>> {
        // A factor of zero leaves the bias out, even one that is not a number.
        let Some(value) = value.filter(|_| self.beta != 0.0) else { return Some(Vec::new()) };
        let floats = value.floats()?;
        let by_row = floats.shape.len() > 1 && floats.shape[..floats.shape.len() - 1] != [1];
        let spread = match floats.data.as_slice() {
            [one] => vec![*one; columns],
            many if many.len() == columns && !by_row => many.to_vec(),
            _ => return None,
        };
        Some(spread.into_iter().map(|b| scaled(b, self.beta)).collect())
    }

    fn pack(&self, matrix: Option<&Value>, bias: Option<&Value>) -> Option<Packed> {
        let matrix = self.matrix(matrix?)?;
        let bias = self.bias(bias, matrix.columns)?;
        Some(matrix.pack(&bias))
    }

    /// The same product with its matrix packed, if its operands allow.
    fn prepacked(&self, constants: &[Option<&Value>]) -> Option<Self> {
        let bias = operand(constants, 2);
        let packed = self.pack(operand(constants, 1), bias)?;
        let spread_bias = bias.is_some_and(|b| b.shape().iter().product::<usize>() == 1);
        Some(Self { spread_bias, prepacked: Some(Arc::new(packed)), ..self.clone() })
    }
}

/// The value times a factor. A factor of one must leave every bit alone, NaN and infinities included.
fn scaled(value: f32, by: f32) -> f32 {
    if by == 1.0 { value } else { by * value }
}

impl Op for Product {
    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        Ok(self.prepacked(constants).map(|product| Box::new(product) as Box<dyn Op>))
    }

    fn repack(&self, edits: &[Edit<'_>]) -> Option<Repacked> {
        let mut packed = Packed::clone(self.prepacked.as_ref()?);
        let depth = packed.depth();
        let columns = packed.columns();
        let mut touched = Vec::new();
        for edit in edits {
            // An element of the matrix is one entry of one packed panel.
            if edit.operand == 1 {
                let entries: Vec<(usize, usize, f32)> = edit
                    .elements
                    .iter()
                    .map(|&(at, value)| {
                        let (k, column) = if self.transposed {
                            (at % depth, at / depth)
                        } else {
                            (at / columns, at % columns)
                        };
                        (k, column, scaled(value, self.alpha))
                    })
                    .collect();
                touched.extend(entries.iter().map(|e| e.1));
                packed = packed.with_entries(&entries);
            } else if self.spread_bias || self.beta == 0.0 {
                return None;
            } else {
                let biases: Vec<(usize, f32)> = edit
                    .elements
                    .iter()
                    .map(|&(at, value)| (at, scaled(value, self.beta)))
                    .collect();
                touched.extend(biases.iter().map(|b| b.0));
                packed = packed.with_biases(&biases);
            }
        }
        let op = Box::new(Self { prepacked: Some(Arc::new(packed)), ..self.clone() });
        Some(Repacked { op, channels: channels_around(touched.into_iter()) })
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let (Some(rows), Some(matrix)) = (operands[0], operands[1]) else {
            return Err(OperandError::new("it needs two operands"));
        };
        if rows.floats().is_none() || rows.shape().len() < 2 {
            return Ok(None);
        }
        let packed = match &self.prepacked {
            Some(packed) => packed.clone(),
            None => match self.pack(Some(matrix), operands.get(2).copied().flatten()) {
                Some(packed) => Arc::new(packed),
                None => return Ok(None),
            },
        };
        let mut shape = rows.shape().to_vec();
        let depth = shape.last().copied().unwrap_or(0);
        if depth != packed.depth() {
            let rows = rows.shape();
            let wanted = packed.depth();
            return Err(OperandError::new(format!(
                "rows of {rows:?} do not fit a matrix of {wanted} rows"
            )));
        }
        if let Some(last) = shape.last_mut() {
            *last = packed.columns();
        }
        Ok(Some(Box::new(BoundProduct { shape, packed })))
    }

    fn whole(
        &self,
        operands: &[Option<&Value>],
    ) -> Result<Option<Vec<Option<Value>>>, OperandError> {
        product(operands)
    }
}

struct BoundProduct {
    shape: Vec<usize>,
    packed: Arc<Packed>,
}

impl Local for BoundProduct {
    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn order(&self) -> Order {
        Order::RowMajor
    }

    fn reach(&self, _source: usize, region: Region) -> Region {
        region
    }

    #[expect(unsafe_code, reason = "rows are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], channels: Range<usize>) {
        let inputs: Vec<*const f32> =
            spots.iter().map(|s| s.sources[0].pixel(s.at).as_ptr()).collect();
        let outputs: Vec<*mut f32> = spots.iter().map(|s| s.out).collect();
        let rows = Rows { inputs: &inputs, taps: 1, run: self.packed.depth(), outputs: &outputs };
        // SAFETY: pixels hold the depth, outputs all columns.
        unsafe { multiply(&rows, &self.packed, channels.start, channels.end) }
    }

    fn channel_step(&self) -> Option<usize> {
        Some(PANEL)
    }
}

/// `Gemm`: a product whose rows may be stored transposed, and whose bias may vary by row.
#[derive(Clone)]
struct Gemm {
    transposed_rows: bool,
    product: Product,
}

impl Op for Gemm {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::RowMajor
    }

    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        let product = self.product.prepacked(constants);
        Ok(product.map(|product| Box::new(Self { product, ..self.clone() }) as Box<dyn Op>))
    }

    fn repack(&self, edits: &[Edit<'_>]) -> Option<Repacked> {
        if self.transposed_rows { None } else { self.product.repack(edits) }
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        if self.transposed_rows { Ok(None) } else { self.product.local(operands) }
    }

    /// The rare cases: transposed rows, or a bias that varies by row and is added last.
    fn whole(
        &self,
        operands: &[Option<&Value>],
    ) -> Result<Option<Vec<Option<Value>>>, OperandError> {
        let (Some(a), Some(b)) =
            (operands[0].and_then(Value::floats), operands[1].and_then(Value::floats))
        else {
            return Ok(None);
        };
        let rows = if self.transposed_rows { transposed(a)? } else { a.clone() };
        let matrix = Value::Floats(b.clone());
        let plain = Product { prepacked: None, ..self.product.clone() };
        let rows = Value::Floats(rows);
        let Some(product) = crate::step::run_alone(&plain, &[Some(&rows), Some(&matrix)])? else {
            return Ok(None);
        };
        let bias = operands.get(2).copied().flatten().filter(|_| self.product.beta != 0.0);
        let Some(bias) = bias else {
            return Ok(Some(vec![Some(product)]));
        };
        let mut scaled = bias.clone();
        if let (Value::Floats(floats), true) = (&mut scaled, self.product.beta != 1.0) {
            floats.data.iter_mut().for_each(|b| *b *= self.product.beta);
        }
        let add = super::Elementwise {
            function: super::Function::Binary(crate::kernels::elementwise::Binary::Add),
        };
        Ok(crate::step::run_alone(&add, &[Some(&product), Some(&scaled)])?.map(|v| vec![Some(v)]))
    }
}

fn transposed(a: &Floats) -> Result<Floats, OperandError> {
    let &[rows, columns] = a.shape.as_slice() else {
        return Err(OperandError::new(format!("a matrix is wanted, not {:?}", a.shape)));
    };
    let data = (0..rows * columns).map(|i| a.data[i % rows * columns + i / rows]).collect();
    let dtype: DType = a.dtype;
    Ok(Floats { shape: vec![columns, rows], order: Order::RowMajor, dtype, data })
}
