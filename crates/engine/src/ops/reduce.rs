//! `ReduceSum` and kin: axes that fold into one number.
//!
//! Sums are taken in double precision and in one order, whatever the batch or the axes; they
//! overflow where 32 bits do. A maximum or minimum over NaN is NaN, as in PyTorch, where ONNX
//! Runtime's answer depends on where the NaN stands.

use super::cast::{Exact, Number};
use super::elements::by_type;
use super::operands::{Answers, one, operand, required, rounded, whole_value};
use super::pixelwise::Pixelwise;
use super::places::{Fold, axis};
use super::pool::plane_mean;
use super::{Attributes, Local, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::Order;
use crate::kernels::sum::sum;
use crate::value::Value;
use faultlens_core::TensorData;

/// What becomes of the folded elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reduction {
    L1,
    L2,
    LogSum,
    LogSumExp,
    Max,
    Mean,
    Min,
    Prod,
    Sum,
    SumSquare,
}

/// The parsed operator, from which gradients take the axes too.
#[derive(Debug, Clone)]
pub(crate) struct Reduce {
    pub(crate) kind: Reduction,
    keep: bool,
    /// Whether an empty list of axes folds none, else all.
    none_if_empty: bool,
    /// Axes that the file fixes.
    axes: Option<Vec<i64>>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Reduce::of(attributes))))
}

fn kind_of(op_type: &str) -> Reduction {
    match op_type {
        "ReduceL1" => Reduction::L1,
        "ReduceL2" => Reduction::L2,
        "ReduceLogSum" => Reduction::LogSum,
        "ReduceLogSumExp" => Reduction::LogSumExp,
        "ReduceMax" => Reduction::Max,
        "ReduceMean" => Reduction::Mean,
        "ReduceMin" => Reduction::Min,
        "ReduceProd" => Reduction::Prod,
        "ReduceSum" => Reduction::Sum,
        _ => Reduction::SumSquare,
    }
}

impl Reduce {
    pub(crate) fn of(attributes: &Attributes<'_>) -> Self {
        Self {
            kind: kind_of(attributes.op_type()),
            keep: attributes.int("keepdims", 1) != 0,
            none_if_empty: attributes.int("noop_with_empty_axes", 0) != 0,
            axes: attributes.ints("axes").map(<[i64]>::to_vec),
        }
    }

    /// The axes to fold, which an operand may name.
    pub(crate) fn axes(&self, operand: Option<&Value>, rank: usize) -> Vec<i64> {
        let named = operand.and_then(Value::integers).or_else(|| self.axes.clone());
        match named {
            Some(axes) if !axes.is_empty() => axes,
            _ if self.none_if_empty => Vec::new(),
            _ => (0..rank as i64).collect(),
        }
    }

    /// Whether rows and columns fold into their mean, which is a pool of the plane.
    fn is_plane_mean(&self) -> bool {
        self.kind == Reduction::Mean
            && self.axes.as_ref().is_some_and(|axes: &Vec<i64>| {
                let mut axes: Vec<i64> = axes.iter().map(|a| a.rem_euclid(4)).collect();
                axes.sort_unstable();
                axes == [2, 3]
            })
    }
}

impl Op for Reduce {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 && self.is_plane_mean() { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        let axes = operand(constants, 1).and_then(Value::integers);
        Ok(axes.map(|axes| Box::new(Self { axes: Some(axes), ..self.clone() }) as Box<dyn Op>))
    }

    /// The plane's mean, or rows along the last axis: each pixel on its own.
    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(floats) = required(operands, 0)?.floats() else { return Ok(None) };
        let rank = floats.shape.len();
        if self.is_plane_mean() && rank == 4 {
            return plane_mean(&floats.shape, self.keep);
        }
        let Some([last]) = self.axes.as_deref() else { return Ok(None) };
        if !self.keep || rank == 0 || axis(*last, rank)? + 1 != rank {
            return Ok(None);
        }
        let mut shape = floats.shape.clone();
        shape[rank - 1] = 1;
        let kind = self.kind;
        let function = move |row: &[f32], out: &mut [f32]| out[0] = fold(kind, row, narrow) as f32;
        Ok(Some(Box::new(Pixelwise::new(shape, Order::RowMajor, function))))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let value = required(operands, 0)?;
        let axes = self.axes(operand(operands, 1), value.shape().len());
        let rows = Fold::new(value.shape(), &axes)?;
        let shape = rows.shape(value.shape(), &axes, self.keep);
        match value {
            Value::Floats(floats) => {
                let mut data = Vec::with_capacity(rows.starts.len());
                rows.rows(&floats.data, |row| data.push(fold(self.kind, row, narrow) as f32));
                one(rounded(shape, floats.dtype, data))
            }
            Value::Other(tensor) => one(whole_value(shape, self.of_tensor(tensor.data(), &rows)?)?),
            Value::Sequence(_) => Err(OperandError::new("a tensor is wanted")),
        }
    }
}

impl Reduce {
    fn of_tensor(&self, data: &TensorData, rows: &Fold) -> Result<TensorData, OperandError> {
        if let TensorData::F64(doubles) = data {
            let mut answers = Vec::with_capacity(rows.starts.len());
            rows.rows(doubles, |row| answers.push(fold(self.kind, row, |x| x)));
            return Ok(answers.into());
        }
        Ok(by_type!(data, v => whole_rows(self.kind, v, rows)?.into()))
    }
}

fn whole_rows<T: Number>(kind: Reduction, data: &[T], rows: &Fold) -> Result<Vec<T>, OperandError> {
    let mut answers = Vec::with_capacity(rows.starts.len());
    rows.rows(data, |row| answers.push(fold_integers(kind, row).map(T::from_exact)));
    let answers: Option<Vec<T>> = answers.into_iter().collect();
    answers.ok_or_else(|| OperandError::new("there is nothing to fold"))
}

/// Whole numbers wrap around; means, roots and logarithms are cut off.
fn fold_integers<T: Number>(kind: Reduction, row: &[T]) -> Option<Exact> {
    if matches!(kind, Reduction::L2 | Reduction::LogSum | Reduction::LogSumExp) {
        let doubles: Vec<f64> = row.iter().map(|x| x.exact().double()).collect();
        return Some(Exact::Float(fold(kind, &doubles, |x| x)));
    }
    let integers: Option<Vec<i128>> = row.iter().map(|x| x.exact().whole()).collect();
    let integers = integers?.into_iter();
    let answer = match kind {
        Reduction::Sum => integers.sum(),
        Reduction::Mean => integers.sum::<i128>().checked_div(row.len() as i128)?,
        Reduction::L1 => integers.map(i128::abs).sum(),
        Reduction::SumSquare => {
            integers.fold(0, |sum: i128, x| sum.wrapping_add(x.wrapping_mul(x)))
        }
        Reduction::Prod => integers.fold(1, i128::wrapping_mul),
        Reduction::Min => integers.min()?,
        _ => integers.max()?,
    };
    Some(Exact::wrapped(answer))
}

/// What 32 bits keep of a sum, infinity where it is too large for them.
fn narrow(x: f64) -> f64 {
    f64::from(x as f32)
}

fn fold<T: Copy + Into<f64>>(kind: Reduction, row: &[T], narrow: fn(f64) -> f64) -> f64 {
    match kind {
        Reduction::Sum => narrow(sum(row, |x| x)),
        Reduction::Mean => narrow(sum(row, |x| x)) / row.len() as f64,
        Reduction::L1 => narrow(sum(row, f64::abs)),
        Reduction::L2 => narrow(sum(row, |x| x * x)).sqrt(),
        Reduction::SumSquare => narrow(sum(row, |x| x * x)),
        Reduction::LogSum => libm::log(narrow(sum(row, |x| x))),
        Reduction::LogSumExp => {
            // The largest is taken out first, so that no exponential overflows.
            let top = largest(row);
            if top.is_finite() { top + libm::log(sum(row, |x| libm::exp(x - top))) } else { top }
        }
        Reduction::Prod => row.iter().fold(1.0, |product, &x| product * x.into()),
        Reduction::Max => largest(row),
        Reduction::Min => row.iter().fold(f64::INFINITY, |min, &x| {
            let x = x.into();
            // A comparison with NaN is false: one that is there stays, and one that comes is taken.
            if min <= x || min.is_nan() { min } else { x }
        }),
    }
}

fn largest<T: Copy + Into<f64>>(row: &[T]) -> f64 {
    row.iter().fold(f64::NEG_INFINITY, |max, &x| {
        let x = x.into();
        if max >= x || max.is_nan() { max } else { x }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_anywhere_shows_in_every_kind() {
        let kinds = [
            Reduction::L1,
            Reduction::L2,
            Reduction::LogSum,
            Reduction::LogSumExp,
            Reduction::Max,
            Reduction::Mean,
            Reduction::Min,
            Reduction::Prod,
            Reduction::Sum,
            Reduction::SumSquare,
        ];
        for kind in kinds {
            for at in 0..20 {
                let mut row = [1.5f32; 20];
                row[at] = f32::NAN;
                assert!(fold(kind, &row, narrow).is_nan(), "{kind:?} at {at}");
            }
        }
    }

    #[test]
    fn sums_overflow_where_32_bits_do() {
        assert_eq!(fold(Reduction::Mean, &[3e38f32; 9], narrow), f64::INFINITY);
        assert_eq!(fold(Reduction::L2, &[1e30f32; 2], narrow), f64::INFINITY);
        assert_eq!(fold(Reduction::LogSumExp, &[f32::NEG_INFINITY; 2], narrow), f64::NEG_INFINITY);
    }

    #[test]
    fn whole_numbers_have_all_their_bits() {
        let fold = |kind, row: &[i64]| fold_integers(kind, row).map(i64::from_exact);
        assert_eq!(fold(Reduction::Prod, &[1 << 40, 3]), Some(3 << 40));
        assert_eq!(fold(Reduction::Mean, &[-7, 0]), Some(-3));
        assert_eq!(fold(Reduction::Max, &[-7, 1 << 50]), Some(1 << 50));
    }
}
