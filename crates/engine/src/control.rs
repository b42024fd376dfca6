//! `If` and `Loop`: their branches and bodies are models of their own, so that every operator in
//! them runs and is measured like any other, and every turn of a loop is counted.

use crate::budget::{Meter, bytes_of};
use crate::error::{EngineError, OperandError};
use crate::graph::Operator;
use crate::onnx::{self, GraphProto, ValueInfoProto};
use crate::ops::{cast_value, joined};
use crate::value::{Slot, Value};
use faultlens_core::{DType, Tensor, TensorData};

/// A branch or a body, ready to run.
pub(crate) trait Body: Send + Sync {
    /// The body's outputs for its inputs and for what its operator captures from outside.
    fn run(
        &self,
        inputs: Vec<Value>,
        captures: &[&Slot],
        meter: &mut Meter,
    ) -> Result<Vec<Value>, EngineError>;
}

/// An operator of control flow.
pub(crate) enum Control {
    /// One of two branches.
    If { then_branch: Box<dyn Body>, else_branch: Box<dyn Body> },
    /// A body that runs again and again.
    Loop {
        body: Box<dyn Body>,
        /// Values that one turn hands to the next.
        carried: usize,
        /// Type and shape of one turn's part of each collected output; free axes have length zero.
        collected: Vec<(DType, Vec<usize>)>,
    },
}

impl Control {
    /// Prepares an operator of control flow; `None` for any other. `prepare` makes a body of a
    /// graph.
    pub(crate) fn new(
        operator: &Operator,
        prepare: impl Fn(&GraphProto) -> Result<Box<dyn Body>, EngineError>,
    ) -> Result<Option<Self>, EngineError> {
        let named = |name: &str| {
            let attribute = operator.attributes.iter().find(|a| a.name == name);
            attribute.and_then(|a| a.g.as_deref()).ok_or_else(|| EngineError::Operator {
                operator: operator.name.clone(),
                op_type: operator.op_type.clone(),
                why: format!("attribute {name} is missing"),
            })
        };
        match operator.op_type.as_str() {
            "If" if operator.domain.is_empty() => Ok(Some(Self::If {
                then_branch: prepare(named("then_branch")?)?,
                else_branch: prepare(named("else_branch")?)?,
            })),
            "Loop" if operator.domain.is_empty() => {
                let graph = named("body")?;
                let carried = operator.inputs.len().saturating_sub(2);
                let collected = graph.output.iter().skip(1 + carried).map(declared).collect();
                Ok(Some(Self::Loop { body: prepare(graph)?, carried, collected }))
            }
            _ => Ok(None),
        }
    }

    /// Runs it; `operands` are its inputs, `captures` what its bodies read from outside.
    pub(crate) fn run(
        &self,
        operands: &[Option<&Value>],
        captures: &[&Slot],
        meter: &mut Meter,
        explain: impl Fn(OperandError) -> EngineError,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        match self {
            Self::If { then_branch, else_branch } => {
                let condition = operands.first().copied().flatten().and_then(truth);
                let branch = match condition {
                    Some(true) => then_branch,
                    Some(false) => else_branch,
                    None => return Err(explain(OperandError::new("it needs one condition"))),
                };
                let answers = branch.run(Vec::new(), captures, meter)?;
                Ok(answers.into_iter().map(Some).collect())
            }
            Self::Loop { body, carried, collected } => {
                let mut turns =
                    Turns::new(operands, *carried, collected.len()).map_err(&explain)?;
                while turns.go_on() {
                    meter.turn().map_err(&explain)?;
                    let inputs = turns.inputs().map_err(&explain)?;
                    let answers = body.run(inputs, captures, meter)?;
                    turns.end(answers, meter).map_err(&explain)?;
                }
                turns.answers(collected, meter).map_err(&explain)
            }
        }
    }
}

/// A loop under way.
struct Turns {
    turn: i64,
    limit: i64,
    condition: bool,
    carried: Vec<Value>,
    /// By output, its parts of all turns.
    parts: Vec<Vec<Value>>,
}

impl Turns {
    fn new(
        operands: &[Option<&Value>],
        carried: usize,
        collected: usize,
    ) -> Result<Self, OperandError> {
        let operand = |at: usize| operands.get(at).copied().flatten();
        let limit = operand(0).map(|value| value.integers().and_then(|n| n.first().copied()));
        let limit = match limit {
            None => i64::MAX,
            Some(Some(limit)) => limit,
            Some(None) => return Err(OperandError::new("its number of turns must be an integer")),
        };
        let condition = match operand(1) {
            None => true,
            Some(value) => {
                truth(value).ok_or_else(|| OperandError::new("it needs one condition"))?
            }
        };
        let start: Option<Vec<Value>> = (0..carried).map(|at| operand(2 + at).cloned()).collect();
        let carried = start.ok_or_else(|| OperandError::new("a carried value is left out"))?;
        Ok(Self { turn: 0, limit, condition, carried, parts: vec![Vec::new(); collected] })
    }

    fn go_on(&self) -> bool {
        self.condition && self.turn < self.limit
    }

    /// The number of the turn, the condition, and what the last turn has handed on.
    fn inputs(&mut self) -> Result<Vec<Value>, OperandError> {
        let mut inputs = vec![scalar(vec![self.turn])?, scalar(vec![self.condition])?];
        inputs.append(&mut self.carried);
        Ok(inputs)
    }

    fn end(&mut self, answers: Vec<Value>, meter: &mut Meter) -> Result<(), OperandError> {
        let mut answers = answers.into_iter();
        let condition = answers.next().as_ref().and_then(truth);
        self.condition =
            condition.ok_or_else(|| OperandError::new("its body answers no condition"))?;
        self.turn += 1;
        let mut rest: Vec<Value> = answers.collect();
        let carried = rest.len().checked_sub(self.parts.len());
        let carried = carried.ok_or_else(|| OperandError::new("its body answers too little"))?;
        for (part, parts) in rest.drain(carried..).zip(&mut self.parts) {
            meter.hold(&part)?;
            parts.push(part);
        }
        self.carried = rest;
        Ok(())
    }

    fn answers(
        self,
        collected: &[(DType, Vec<usize>)],
        meter: &mut Meter,
    ) -> Result<Vec<Option<Value>>, OperandError> {
        let mut answers: Vec<Option<Value>> = self.carried.into_iter().map(Some).collect();
        for (parts, (dtype, part)) in self.parts.into_iter().zip(collected) {
            let all: f64 = parts.iter().map(bytes_of).sum();
            // All parts, and their elements one behind the other.
            meter.admit(all / 4.0, 4.0, 0.0)?;
            let value = match parts.first() {
                Some(first) => {
                    let mut shape = vec![parts.len()];
                    shape.extend(first.shape());
                    joined(&parts, shape)?
                }
                None => {
                    // An axis without a fixed length is empty where the loop never turned.
                    let mut shape = vec![0];
                    shape.extend(part);
                    let empty = Tensor::new(shape, Vec::<bool>::new())
                        .map_err(|e| OperandError::new(e.to_string()))?;
                    cast_value(&Value::Other(empty), *dtype)?
                }
            };
            for part in &parts {
                meter.release(part);
            }
            answers.push(Some(value));
        }
        Ok(answers)
    }
}

fn scalar(data: impl Into<TensorData>) -> Result<Value, OperandError> {
    let tensor = Tensor::new(Vec::new(), data);
    tensor.map(Value::Other).map_err(|e| OperandError::new(e.to_string()))
}

/// The condition that a value of one element is.
fn truth(value: &Value) -> Option<bool> {
    match value.tensor()?.data() {
        TensorData::Bool(v) if v.len() == 1 => v.first().copied(),
        _ => None,
    }
}

fn declared(output: &ValueInfoProto) -> (DType, Vec<usize>) {
    let tensor = output.r#type.as_ref().and_then(|t| t.tensor_type.as_ref());
    let dtype = tensor.and_then(|t| onnx::dtype(t.elem_type)).unwrap_or(DType::F32);
    let axes = tensor.and_then(|t| t.shape.as_ref()).map_or(&[][..], |shape| &shape.dim);
    let lengths = axes
        .iter()
        .map(|axis| axis.dim_value.and_then(|length| usize::try_from(length).ok()).unwrap_or(0));
    (dtype, lengths.collect())
}
