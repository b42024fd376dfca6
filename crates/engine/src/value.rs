//! Values while a model runs, and their passage to and from the users' tensors.

use crate::kernels::compare::same_float;
use crate::kernels::grid::{Floats, Order};
use faultlens_core::{DType, Tensor, TensorData};
use half::{bf16, f16};
use std::sync::OnceLock;

/// A value of a running model.
#[derive(Debug, Clone)]
pub(crate) enum Value {
    /// Floats of any precision, in either order: what the kernels work on.
    Floats(Floats),
    /// Everything else, as ONNX counts elements.
    Other(Tensor),
    /// A list of tensors, which only fallback operators make and read.
    Sequence(rten::Sequence),
}

impl Value {
    /// Takes a tensor in; floats are widened to 32 bits and remember their type.
    pub(crate) fn from_tensor(tensor: Tensor) -> Self {
        let (shape, data) = tensor.into_parts();
        let (dtype, data) = match data {
            TensorData::F32(v) => (DType::F32, v),
            // Widening is exact, so that kernels know one type; results are rounded back.
            TensorData::F16(v) => (DType::F16, v.into_iter().map(f16::to_f32).collect()),
            TensorData::BF16(v) => (DType::BF16, v.into_iter().map(bf16::to_f32).collect()),
            other => match Tensor::new(shape, other) {
                Ok(tensor) => return Self::Other(tensor),
                Err(_) => unreachable!("a tensor's own parts fit together"),
            },
        };
        Self::Floats(Floats { shape, order: Order::RowMajor, dtype, data })
    }

    /// Takes a fed tensor in; planes are put channels last, as the kernels want them.
    pub(crate) fn fed(tensor: &Tensor) -> Self {
        match (tensor.as_f32(), tensor.shape()) {
            // Most models are fed images: turned round once here, instead of before every
            // operator.
            (Some(data), &[_, _, _, _]) => {
                Self::Floats(Floats::channels_last(tensor.shape(), DType::F32, data))
            }
            _ => match Self::from_tensor(tensor.clone()) {
                Self::Floats(floats) if floats.shape.len() == 4 => {
                    Self::Floats(floats.in_order(Order::ChannelsLast))
                }
                other => other,
            },
        }
    }

    /// Hands the value out as ONNX counts elements; `None` for lists of tensors.
    pub(crate) fn to_tensor(&self) -> Option<Tensor> {
        let floats = match self {
            Self::Other(tensor) => return Some(tensor.clone()),
            Self::Sequence(_) => return None,
            Self::Floats(floats) => floats.in_order(Order::RowMajor),
        };
        let data: TensorData = match floats.dtype {
            DType::F16 => floats.data.into_iter().map(f16::from_f32).collect::<Vec<_>>().into(),
            DType::BF16 => floats.data.into_iter().map(bf16::from_f32).collect::<Vec<_>>().into(),
            _ => floats.data.into(),
        };
        Tensor::new(floats.shape, data).ok()
    }

    /// The same value as ONNX counts elements: how constants are kept.
    pub(crate) fn row_major(self) -> Self {
        match self {
            Self::Floats(floats) => Self::Floats(floats.in_order(Order::RowMajor)),
            other => other,
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Self::Floats(floats) => &floats.shape,
            Self::Other(tensor) => tensor.shape(),
            Self::Sequence(_) => &[],
        }
    }

    pub(crate) fn dtype(&self) -> Option<DType> {
        match self {
            Self::Floats(floats) => Some(floats.dtype),
            Self::Other(tensor) => Some(tensor.dtype()),
            Self::Sequence(_) => None,
        }
    }

    pub(crate) fn floats(&self) -> Option<&Floats> {
        match self {
            Self::Floats(floats) => Some(floats),
            _ => None,
        }
    }

    /// The tensor of anything but floats.
    pub(crate) fn tensor(&self) -> Option<&Tensor> {
        match self {
            Self::Other(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// Whole numbers of an operand such as a shape or axes.
    pub(crate) fn integers(&self) -> Option<Vec<i64>> {
        match self {
            Self::Other(tensor) => match tensor.data() {
                TensorData::I64(v) => Some(v.clone()),
                TensorData::I32(v) => Some(v.iter().map(|&x| i64::from(x)).collect()),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether both hold the same bits, NaN counting as equal to NaN, whatever their order.
    pub(crate) fn same_bits(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Floats(a), Self::Floats(b)) => {
                a.shape == b.shape && same_floats(&a.data, &b.in_order(a.order).data)
            }
            (Self::Other(a), Self::Other(b)) => same_doubles(a, b).unwrap_or_else(|| a == b),
            _ => false,
        }
    }
}

/// Bit for bit, but any NaN equals any NaN: its payload depends on the order of operands.
pub(crate) fn same_floats(a: &[f32], b: &[f32]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| same_float(*x, *y))
}

/// Doubles are compared by their bits, which tell zeros apart; `None` for other types.
fn same_doubles(a: &Tensor, b: &Tensor) -> Option<bool> {
    let (TensorData::F64(x), TensorData::F64(y)) = (a.data(), b.data()) else { return None };
    Some(
        a.shape() == b.shape()
            && x.iter()
                .zip(y)
                .all(|(x, y)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())),
    )
}

/// A value that is kept, with its other order made once when somebody asks.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) value: Value,
    reordered: OnceLock<Value>,
}

impl Slot {
    pub(crate) fn new(value: Value) -> Self {
        Self { value, reordered: OnceLock::new() }
    }

    /// The value in the wanted order. A shape of lower rank is widened to rank 4 at the front, as
    /// broadcasting does, before its channels are put last.
    pub(crate) fn in_order(&self, order: Order) -> &Value {
        match &self.value {
            Value::Floats(floats) if floats.order != order && floats.shape.len() <= 4 => {
                self.reordered.get_or_init(|| Value::Floats(reorder(floats, order)))
            }
            value => value,
        }
    }
}

fn reorder(floats: &Floats, order: Order) -> Floats {
    let mut widened = floats.clone();
    while widened.shape.len() < 4 {
        widened.shape.insert(0, 1);
    }
    widened.in_order(order)
}
