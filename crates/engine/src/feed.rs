//! What a model is fed: checked against what its file declares, and taken in.

use crate::error::EngineError;
use crate::graph::ValueId;
use crate::model::Model;
use crate::onnx::Dim;
use crate::value::{Slot, Value};
use faultlens_core::{Tensor, did_you_mean};

impl Model {
    /// Checks the feeds against the declared inputs and takes them in.
    pub(crate) fn fed(&self, feeds: &[(&str, Tensor)]) -> Result<Vec<Option<Slot>>, EngineError> {
        let mut values = self.empty_values();
        self.feed(&mut values, feeds)?;
        Ok(values)
    }

    pub(crate) fn empty_values(&self) -> Vec<Option<Slot>> {
        (0..self.graph().value_count()).map(|_| None).collect()
    }

    /// Takes the feeds in, beside inputs that are there already.
    pub(crate) fn feed(
        &self,
        values: &mut [Option<Slot>],
        feeds: &[(&str, Tensor)],
    ) -> Result<(), EngineError> {
        for (name, tensor) in feeds {
            let id = self.input_named(name)?;
            self.check_feed(id, tensor)?;
            values[id.index()] = Some(Slot::new(Value::fed(tensor)));
        }
        for &id in self.graph().inputs() {
            if values[id.index()].is_none() {
                let input = self.graph().value_name(id).to_owned();
                return Err(EngineError::Feed { input, why: "it was not fed".into() });
            }
        }
        Ok(())
    }

    fn input_named(&self, name: &str) -> Result<ValueId, EngineError> {
        let inputs = self.graph().inputs();
        inputs.iter().copied().find(|&id| self.graph().value_name(id) == name).ok_or_else(|| {
            let names: Vec<&str> = inputs.iter().map(|&id| self.graph().value_name(id)).collect();
            let hint = match did_you_mean(name, names.iter().copied()) {
                Some(near) => format!("; did you mean {near}?"),
                None => format!("; its inputs are {}", names.join(", ")),
            };
            EngineError::Feed { input: name.to_owned(), why: format!("the model has none{hint}") }
        })
    }

    fn wrong_feed(&self, id: ValueId, why: String) -> EngineError {
        EngineError::Feed { input: self.graph().value_name(id).to_owned(), why }
    }

    fn check_feed(&self, id: ValueId, tensor: &Tensor) -> Result<(), EngineError> {
        if let Some(dtype) = self.graph().declared_dtype(id)
            && dtype != tensor.dtype()
        {
            let why = format!("{} is wanted, not {}", dtype.name(), tensor.dtype().name());
            return Err(self.wrong_feed(id, why));
        }
        let Some(declared) = self.graph().declared_shape(id) else { return Ok(()) };
        let shape = tensor.shape();
        if declared.len() != shape.len()
            || !declared.iter().zip(shape).all(|(dim, &length)| match dim {
                Dim::Fixed(n) => *n == length,
                Dim::Free(_) => true,
            })
        {
            let wanted: Vec<String> = declared
                .iter()
                .map(|dim| match dim {
                    Dim::Fixed(n) => n.to_string(),
                    Dim::Free(name) if name.is_empty() => "any".to_owned(),
                    Dim::Free(name) => name.clone(),
                })
                .collect();
            let why = format!("shape [{}] is wanted, not {shape:?}", wanted.join(", "));
            return Err(self.wrong_feed(id, why));
        }
        Ok(())
    }
}
