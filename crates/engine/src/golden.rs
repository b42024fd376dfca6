//! A run that kept every value.

use crate::change::{Change, Edit, float_bits};
use crate::error::EngineError;
use crate::gradient::{Values, gradients, ordered, seed};
use crate::graph::ValueId;
use crate::kernels::grid::{Floats, Order};
use crate::model::Model;
use crate::value::{Slot, Value};
use faultlens_core::{DType, Tensor, TensorData};
use std::sync::Arc;

/// The undisturbed run of one model on one input, with every value it computed.
#[derive(Debug)]
pub struct Golden<'m> {
    pub(crate) model: &'m Model,
    pub(crate) values: Vec<Option<Slot>>,
    outputs: Arc<[Tensor]>,
}

impl Model {
    /// Runs the model once and keeps every value.
    pub fn golden(&self, feeds: &[(&str, Tensor)]) -> Result<Golden<'_>, EngineError> {
        let mut values = self.fed(feeds)?;
        self.on_threads(|| self.keep(&mut values))?;
        Golden::new(self, values)
    }
}

impl Change {
    /// Flips one bit of an element; bit 0 is the lowest.
    pub fn flip(
        golden: &Golden<'_>,
        value: ValueId,
        element: usize,
        bit: u32,
    ) -> Result<Self, EngineError> {
        let (_, dtype) = golden.checked_bits(value, element)?;
        let width = dtype.bit_width();
        if bit >= width {
            let why = format!("bit {bit} of a {width}-bit element");
            return Err(golden.refuse(value, why));
        }
        Ok(Self { value, element, edit: Edit::Flip(1 << bit) })
    }
}

impl<'m> Golden<'m> {
    pub(crate) fn new(model: &'m Model, values: Vec<Option<Slot>>) -> Result<Self, EngineError> {
        let outputs = model.graph().outputs().iter().map(|&id| model.output(id, &values));
        let outputs = outputs.collect::<Result<_, _>>()?;
        Ok(Self { model, values, outputs })
    }

    /// The model that ran.
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// What the model answered, in the graph's order.
    pub fn outputs(&self) -> &[Tensor] {
        &self.outputs
    }

    pub(crate) fn shared_outputs(&self) -> Arc<[Tensor]> {
        Arc::clone(&self.outputs)
    }

    pub(crate) fn slot(&self, id: ValueId) -> Option<&Slot> {
        // What follows from weights alone is kept once with the model, not with every run.
        let own = self.values.get(id.index())?.as_ref();
        own.or_else(|| self.model.constants[id.index()].as_ref())
    }

    /// Any value of the run: input, weight or operator's output.
    pub fn value(&self, id: ValueId) -> Option<Tensor> {
        self.slot(id)?.value.to_tensor()
    }

    /// The shape that a value had in the run.
    pub fn shape(&self, id: ValueId) -> Option<&[usize]> {
        Some(self.slot(id)?.value.shape())
    }

    /// The type of a value's elements; `None` for lists of tensors.
    pub fn dtype(&self, id: ValueId) -> Option<DType> {
        self.slot(id)?.value.dtype()
    }

    /// Whether the value follows from the model's weights alone, whatever is fed.
    pub fn is_constant(&self, id: ValueId) -> bool {
        self.model.constants.get(id.index()).is_some_and(Option::is_some)
    }

    /// The gradients of a scalar with respect to the wanted values: inputs, weights, or any float
    /// value between. The scalar is given by its own gradients with respect to some values,
    /// mostly outputs; a scalar that is one element of an output has a one there and zeros
    /// elsewhere.
    ///
    /// A wanted value that the scalar does not depend on has a gradient of zeros.
    pub fn gradients(
        &self,
        scalar: &[(ValueId, Tensor)],
        wanted: &[ValueId],
    ) -> Result<Vec<Tensor>, EngineError> {
        let seeds = scalar.iter().map(|(id, tensor)| {
            let value = self.slot(*id).map(|slot| &slot.value);
            Ok((*id, seed(self.model.graph().value_name(*id), value, tensor)?))
        });
        let seeds = seeds.collect::<Result<Vec<_>, EngineError>>()?;
        for &id in wanted {
            self.float_shape(id)?;
        }
        let values = Values::Kept(&self.values);
        // Nothing was recorded beside the values: the graph itself is the tape.
        let found = self.model.on_threads(|| gradients(self.model, values, seeds, wanted))?;
        let answers = wanted.iter().zip(found).map(|(&id, gradient)| {
            let shape = self.float_shape(id)?;
            let data = match gradient {
                Some(gradient) => ordered(gradient, Order::RowMajor).data,
                None => vec![0.0; shape.iter().product()],
            };
            Tensor::new(shape.to_vec(), data).map_err(|e| self.no_gradient(id, e.to_string()))
        });
        answers.collect()
    }

    fn float_shape(&self, id: ValueId) -> Result<&[usize], EngineError> {
        let floats = self.slot(id).and_then(|slot| slot.value.floats());
        Ok(&floats
            .ok_or_else(|| self.no_gradient(id, "only floats of the run have gradients".into()))?
            .shape)
    }

    fn no_gradient(&self, id: ValueId, why: String) -> EngineError {
        EngineError::Gradient { value: self.model.graph().value_name(id).to_owned(), why }
    }

    /// The bits of one element, in the value's own type.
    pub fn bits(&self, id: ValueId, element: usize) -> Option<u64> {
        self.slot(id)?.value.bits(element)
    }

    pub(crate) fn checked_bits(
        &self,
        id: ValueId,
        element: usize,
    ) -> Result<(u64, DType), EngineError> {
        let bits = self.bits(id, element).zip(self.dtype(id));
        bits.ok_or_else(|| {
            let shape = self.shape(id).unwrap_or(&[]);
            self.refuse(id, format!("a value of shape {shape:?} has no element {element}"))
        })
    }

    /// Refuses an element that does not exist and bits that it cannot hold.
    fn check_change(&self, id: ValueId, change: &Change) -> Result<(), EngineError> {
        let (_, dtype) = self.checked_bits(id, change.element)?;
        match change.edit.beyond(dtype) {
            None => Ok(()),
            Some(bits) => {
                let width = dtype.bit_width();
                let why = format!("{bits:#x} does not fit into a {width}-bit element");
                Err(self.refuse(id, why))
            }
        }
    }

    pub(crate) fn refuse(&self, id: ValueId, why: String) -> EngineError {
        let value = self.model.graph().value_name(id).to_owned();
        EngineError::Change { value, why }
    }

    /// The changes by place in memory, after checking that they exist.
    pub(crate) fn float_changes(
        &self,
        id: ValueId,
        floats: &Floats,
        changes: &[Change],
    ) -> Result<Vec<(usize, Edit)>, EngineError> {
        changes
            .iter()
            .map(|change| {
                self.check_change(id, change)?;
                Ok((floats.position(change.element), change.edit))
            })
            .collect()
    }

    /// A tensor of another type with the changes made.
    pub(crate) fn changed_tensor(
        &self,
        id: ValueId,
        tensor: &Tensor,
        changes: &[Change],
    ) -> Result<Tensor, EngineError> {
        let mut changed = tensor.clone();
        for change in changes {
            self.check_change(id, change)?;
            if change.element >= changed.len() {
                let why = "another change of the trial has shortened it";
                return Err(self.refuse(id, why.into()));
            }
            let dtype = changed.dtype();
            let bits = element_bits(changed.data(), change.element).unwrap_or_default();
            set_bits(changed.data_mut(), change.element, change.edit.of(bits, dtype));
        }
        Ok(changed)
    }
}

impl Value {
    /// The bits of one element, in the value's own type.
    pub(crate) fn bits(&self, element: usize) -> Option<u64> {
        match self {
            Self::Floats(floats) => {
                // Floats lie in 32 bits; the fault meets the type that the model stores.
                let x = *floats.data.get(floats.position_checked(element)?)?;
                Some(float_bits(x, floats.dtype))
            }
            Self::Other(tensor) => element_bits(tensor.data(), element),
            Self::Sequence(_) => None,
        }
    }
}

impl Floats {
    fn position_checked(&self, element: usize) -> Option<usize> {
        (element < self.data.len()).then(|| match self.order {
            Order::RowMajor => element,
            Order::ChannelsLast => self.position(element),
        })
    }
}

macro_rules! integers {
    ($($variant:ident: $bits:ty),+) => {
        fn element_bits(data: &TensorData, element: usize) -> Option<u64> {
            match data {
                $(TensorData::$variant(v) => v.get(element).map(|&x| u64::from(x as $bits)),)+
                TensorData::F64(v) => v.get(element).map(|x| x.to_bits()),
                TensorData::Bool(v) => v.get(element).map(|&x| u64::from(x)),
                TensorData::F32(_) | TensorData::F16(_) | TensorData::BF16(_) => None,
            }
        }

        fn set_bits(data: &mut TensorData, element: usize, bits: u64) {
            match data {
                $(TensorData::$variant(v) => v[element] = bits as $bits as _,)+
                TensorData::F64(v) => v[element] = f64::from_bits(bits),
                TensorData::Bool(v) => v[element] = bits & 1 != 0,
                TensorData::F32(_) | TensorData::F16(_) | TensorData::BF16(_) => {}
            }
        }
    };
}

integers!(I8: u8, U8: u8, I16: u16, U16: u16, I32: u32, U32: u32, I64: u64, U64: u64);
