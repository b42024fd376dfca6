//! An operator's attributes, with ONNX's defaults at the place of use.

use crate::error::OperandError;
use crate::graph::Operator;
use crate::onnx::{self, AttributeProto};
use faultlens_core::Tensor;

/// The attributes of one operator and the version of its definition.
pub(crate) struct Attributes<'a> {
    operator: &'a Operator,
    opset: i64,
}

impl<'a> Attributes<'a> {
    pub(crate) fn new(operator: &'a Operator, opset: i64) -> Self {
        Self { operator, opset }
    }

    pub(crate) fn op_type(&self) -> &'a str {
        &self.operator.op_type
    }

    pub(crate) fn opset(&self) -> i64 {
        self.opset
    }

    /// How many operands and results the operator has, left-out ones at the end not counted.
    pub(crate) fn arity(&self) -> (usize, usize) {
        (self.operator.inputs.len(), self.operator.outputs.iter().flatten().count())
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    pub(crate) fn int(&self, name: &str, default: i64) -> i64 {
        self.find(name).map_or(default, |a| a.i)
    }

    /// A number that stands for yes or no; no where it is left out.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.int(name, 0) != 0
    }

    pub(crate) fn float(&self, name: &str, default: f32) -> f32 {
        self.find(name).map_or(default, |a| a.f)
    }

    pub(crate) fn ints(&self, name: &str) -> Option<&'a [i64]> {
        self.find(name).map(|a| a.ints.as_slice())
    }

    pub(crate) fn floats(&self, name: &str) -> Option<&'a [f32]> {
        self.find(name).map(|a| a.floats.as_slice())
    }

    pub(crate) fn string(&self, name: &str, default: &str) -> String {
        self.find(name).map_or_else(
            || default.to_owned(),
            |a: &AttributeProto| String::from_utf8_lossy(&a.s).into_owned(),
        )
    }

    pub(crate) fn strings(&self, name: &str) -> Vec<String> {
        let texts = self.find(name).map_or(&[][..], |a| a.strings.as_slice());
        texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect()
    }

    pub(crate) fn tensor(&self, name: &str) -> Result<Option<Tensor>, OperandError> {
        let proto = self.find(name).and_then(|a| a.t.as_deref());
        proto.map(onnx::tensor).transpose().map_err(|e| OperandError::new(e.to_string()))
    }

    /// Sizes such as strides: positive, and as many as the kernel has axes.
    pub(crate) fn sizes(
        &self,
        name: &str,
        axes: usize,
        default: usize,
    ) -> Result<Vec<usize>, OperandError> {
        let Some(given) = self.ints(name).filter(|v| !v.is_empty()) else {
            return Ok(vec![default; axes]);
        };
        let sizes: Option<Vec<usize>> =
            given.iter().map(|&v| usize::try_from(v).ok().filter(|&v| v <= 1 << 24)).collect();
        sizes.filter(|v| v.len() == axes && (default == 0 || !v.contains(&0))).ok_or_else(|| {
            OperandError::new(format!("attribute {name} = {given:?} does not fit {axes} axes"))
        })
    }

    fn find(&self, name: &str) -> Option<&'a AttributeProto> {
        self.operator.attributes.iter().find(|a| a.name == name)
    }
}
