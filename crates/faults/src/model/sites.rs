//! The elements of one golden run that a fault may change.

use super::pattern::kernel_axis;
use faultlens_core::{DType, Stream};
use faultlens_engine::{Golden, Graph, OperatorId, ValueId};
use std::cell::OnceCell;

/// Operators that read and make whole numbers which stand for others, by a scale and a zero point.
const QUANTISED: &[&str] = &[
    "ConvInteger",
    "DequantizeLinear",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QuantizeLinear",
];

/// The elements of a golden run that a fault may change.
pub struct Sites<'g> {
    pub(super) golden: &'g Golden<'g>,
    pub(super) values: Vec<SiteValue>,
    /// Whether they are stored in the model, not computed.
    pub(super) stored: bool,
    /// What is hit once each; see [`Unit`].
    pub(super) groups: Vec<Group>,
}

/// A value that can be hit.
pub(super) struct SiteValue {
    pub(super) id: ValueId,
    pub(super) operator: OperatorId,
    pub(super) layer: u32,
    pub(super) dtype: DType,
    pub(super) elements: usize,
    pub(super) range: OnceCell<(f64, f64)>,
}

/// Units of which one is hit.
pub(super) struct Group {
    pub(super) units: Vec<Unit>,
    /// How likely any is hit at all.
    pub(super) rate: f64,
}

/// Values of which one is hit, a large one more likely.
#[derive(Debug, PartialEq)]
pub(super) struct Unit {
    /// By place among the values.
    pub(super) values: Vec<usize>,
    /// How likely it is hit, compared with others of its group.
    pub(super) share: f64,
    /// How many times as often it is hit for the sake of a narrower interval.
    pub(super) weight: f64,
}

/// One element, as a fault sees it.
pub struct Element<'s> {
    golden: &'s Golden<'s>,
    value: &'s SiteValue,
}

impl Element<'_> {
    /// How its bits are read.
    pub fn dtype(&self) -> DType {
        self.value.dtype
    }

    /// The least and the greatest finite number of its tensor in the golden run.
    pub fn range(&self) -> (f64, f64) {
        *self.value.range.get_or_init(|| {
            let mut range: Option<(f64, f64)> = None;
            for at in 0..self.value.elements {
                let Some(bits) = self.golden.bits(self.value.id, at) else { continue };
                let number = self.value.dtype.number(bits);
                if number.is_finite() {
                    let (low, high) = range.unwrap_or((number, number));
                    range = Some((low.min(number), high.max(number)));
                }
            }
            range.unwrap_or((0.0, 0.0))
        })
    }
}

impl Sites<'_> {
    pub(super) fn element(&self, value: usize) -> Element<'_> {
        Element { golden: self.golden, value: &self.values[value] }
    }

    pub(super) fn shape(&self, value: usize) -> &[usize] {
        self.golden.shape(self.values[value].id).unwrap_or(&[])
    }

    /// The axis along which a value's kernels lie.
    pub(super) fn kernels(&self, value: usize) -> usize {
        let operator = self.golden.model().graph().operator(self.values[value].operator);
        kernel_axis(operator, self.stored, self.shape(value).len())
    }

    /// One value of a unit, a large one more likely, and one of its elements.
    pub(super) fn draw(&self, unit: &Unit, stream: &mut Stream) -> Option<(usize, usize)> {
        let all: usize = unit.values.iter().map(|&value| self.values[value].elements).sum();
        let mut at = stream.below(all);
        for &value in &unit.values {
            let elements = self.values[value].elements;
            if at < elements {
                return Some((value, at));
            }
            at -= elements;
        }
        None
    }
}

/// Whether a value is data. Whole numbers are, where they stand for others by a scale; those that
/// give shapes, axes and indices are not.
pub fn is_data(graph: &Graph, id: ValueId, dtype: DType) -> bool {
    match dtype {
        DType::I8 | DType::U8 | DType::I16 | DType::U16 => true,
        DType::I32 => {
            let mut beside = graph.consumers(id).iter().copied().chain(graph.producer(id));
            beside.any(|operator| is_quantised(graph.operator(operator).op_type.as_str()))
        }
        _ => dtype.is_float(),
    }
}

/// Whether the whole numbers of an operator stand for others, by a scale and a zero point.
fn is_quantised(op_type: &str) -> bool {
    QUANTISED.contains(&op_type) || op_type.starts_with("QLinear") || op_type == "QGemm"
}

/// How many elements of a value a fault may change; `None` where there are none.
pub(super) fn elements(golden: &Golden<'_>, id: ValueId, images: usize) -> Option<usize> {
    let shape = golden.shape(id)?;
    let all: usize = shape.iter().product();
    let shared = images > 1 && shape.first() == Some(&images);
    let elements = if shared { all / images } else { all };
    (elements > 0).then_some(elements)
}
