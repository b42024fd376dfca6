//! The elements of one golden run that a fault may change.

use super::injection::Injection;
use super::pattern::kernel_axis;
use super::selection::Part;
use super::{Anatomy, SiteError};
use faultlens_core::{DType, Stream};
use faultlens_engine::{Golden, Graph, OperatorId, ValueId};
use std::cell::OnceCell;
use std::collections::BTreeSet;

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
    golden: &'g Golden<'g>,
    pub(super) values: Vec<SiteValue>,
    /// Whether they are stored in the model, not computed.
    stored: bool,
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
    range: OnceCell<(f64, f64)>,
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
            let (golden, dtype, id) = (self.golden, self.value.dtype, self.value.id);
            let all = (0..self.value.elements).filter_map(|at| golden.bits(id, at));
            let numbers = all.map(|bits| dtype.number(bits)).filter(|number| number.is_finite());
            numbers.fold((0.0, 0.0), {
                let mut first = true;
                move |(low, high), number| {
                    let one = std::mem::take(&mut first);
                    if one { (number, number) } else { (low.min(number), high.max(number)) }
                }
            })
        })
    }
}

impl<'g> Sites<'g> {
    /// The sites of a golden run on a batch of `images` copies of one image. Only the first one's
    /// answer is read, so that faults in what is computed land in its share of each value.
    pub fn new(
        golden: &'g Golden<'g>,
        anatomy: &Anatomy,
        injection: &Injection,
        images: usize,
    ) -> Self {
        let graph = golden.model().graph();
        let selection = &injection.placement.selection;
        let stored = selection.part == Part::Weights;
        let mut values = Vec::new();
        for (operator, id) in selection.values(graph, anatomy) {
            let Some(dtype) = golden.dtype(id) else { continue };
            let Some(elements) = elements(golden, id, if stored { 1 } else { images }) else {
                continue;
            };
            if injection.fault.fits(dtype) && is_data(graph, id, dtype) {
                let layer = anatomy.layer(operator);
                let range = OnceCell::new();
                values.push(SiteValue { id, operator, layer, dtype, elements, range });
            }
        }
        let mut sites = Self { golden, values, stored, groups: Vec::new() };
        sites.groups = injection.placement.groups(&sites, graph);
        sites
    }

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

/// Checks that a fault has somewhere to land in a golden run.
pub fn check(
    golden: &Golden<'_>,
    anatomy: &Anatomy,
    injection: &Injection,
) -> Result<(), SiteError> {
    let graph = golden.model().graph();
    let part = injection.placement.selection.part;
    let selected = injection.placement.selection.values(graph, anatomy);
    if let Some(layers) = injection.placement.selection.layer_beyond(anatomy) {
        return Err(SiteError::Layer { layers, last: anatomy.last() });
    }
    if part == Part::Weights && graph.initializers().next().is_none() {
        return Err(SiteError::NoWeights);
    }
    let sites = |(_, id): (OperatorId, ValueId)| {
        let dtype = golden.dtype(id)?;
        let any = elements(golden, id, 1).is_some() && is_data(graph, id, dtype);
        any.then_some(dtype)
    };
    let dtypes: BTreeSet<DType> = selected.into_iter().filter_map(sites).collect();
    if dtypes.is_empty() {
        return Err(SiteError::Empty);
    }
    match injection.fault.misfit() {
        Some(what) if !dtypes.iter().any(|&dtype| injection.fault.fits(dtype)) => {
            let list = dtypes
                .iter()
                .map(|dtype| format!("{} (bits 0 to {})", dtype.name(), dtype.bit_width() - 1));
            Err(SiteError::Beyond { what, types: list.collect::<Vec<_>>().join(", ") })
        }
        _ => Ok(()),
    }
}

/// Whether a value is data. Whole numbers are, where they stand for others by a scale; those that
/// give shapes, axes and indices are not.
pub fn is_data(graph: &Graph, id: ValueId, dtype: DType) -> bool {
    let quantised = |id: OperatorId| {
        let kind = graph.operator(id).op_type.as_str();
        QUANTISED.contains(&kind) || kind.starts_with("QLinear") || kind == "QGemm"
    };
    match dtype {
        DType::I8 | DType::U8 | DType::I16 | DType::U16 => true,
        DType::I32 => graph.consumers(id).iter().copied().chain(graph.producer(id)).any(quantised),
        _ => dtype.is_float(),
    }
}

/// How many elements of a value a fault may change; `None` where there are none.
fn elements(golden: &Golden<'_>, id: ValueId, images: usize) -> Option<usize> {
    let shape = golden.shape(id)?;
    let all: usize = shape.iter().product();
    let shared = images > 1 && shape.first() == Some(&images);
    let elements = if shared { all / images } else { all };
    (elements > 0).then_some(elements)
}
