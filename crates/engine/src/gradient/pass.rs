//! The walk back: from the seeds, operator by operator, to the values whose gradients are wanted.

use super::backward::{Backward, ordered};
use super::rule;
use crate::error::{EngineError, OperandError};
use crate::graph::{Graph, Operator, OperatorId, ValueId};
use crate::kernels::elementwise::{Binary, binary};
use crate::kernels::grid::Floats;
use crate::model::{Model, operand_error};
use crate::ops::Attributes;
use crate::value::{Slot, Value};
use faultlens_core::{DType, Tensor};

/// The values that a run kept.
pub(crate) enum Values<'a> {
    /// To be kept further.
    Kept(&'a [Option<Slot>]),
    /// To be given up on the way back, each as soon as no rule needs it any more.
    Spent(&'a mut [Option<Slot>]),
}

impl Values<'_> {
    fn slot<'s>(&'s self, model: &'s Model, id: ValueId) -> Option<&'s Slot> {
        let own = match self {
            Self::Kept(values) => values[id.index()].as_ref(),
            Self::Spent(values) => values[id.index()].as_ref(),
        };
        own.or(model.constants[id.index()].as_ref())
    }

    /// All readers of what the operator made have had their turn.
    fn release(&mut self, model: &Model, id: OperatorId) {
        if let Self::Spent(values) = self {
            for value in model.graph().operator(id).makes() {
                model.recycle(values[value.index()].take());
            }
        }
    }
}

/// The gradients of the wanted values, given those of the seeds; `None` where nothing flows.
pub(crate) fn gradients(
    model: &Model,
    mut values: Values<'_>,
    seeds: Vec<(ValueId, Floats)>,
    wanted: &[ValueId],
) -> Result<Vec<Option<Floats>>, EngineError> {
    let graph = model.graph();
    let mut kept = vec![false; graph.value_count()];
    wanted.iter().for_each(|value| kept[value.index()] = true);
    let varies = varying(graph, wanted);
    let mut found: Vec<Option<Floats>> = (0..graph.value_count()).map(|_| None).collect();
    for (value, seed) in seeds {
        add(&mut found[value.index()], seed);
    }
    // Reverse-mode differentiation: one pass back over the operators, each a vector-Jacobian
    // product.
    for id in graph.operator_ids().rev() {
        step(model, &values, id, &Wanted { varies: &varies, kept: &kept }, &mut found)?;
        values.release(model, id);
    }
    let mut answers = Vec::with_capacity(wanted.len());
    for (at, value) in wanted.iter().enumerate() {
        let gradient = &mut found[value.index()];
        // A value may be wanted twice; only the last one may take its gradient away.
        let again = wanted[at + 1..].contains(value);
        answers.push(if again { gradient.clone() } else { gradient.take() });
    }
    Ok(answers)
}

/// Which gradients matter.
struct Wanted<'a> {
    /// By value, whether it depends on a wanted one.
    varies: &'a [bool],
    /// By value, whether it is a wanted one.
    kept: &'a [bool],
}

/// For each value, whether it depends on a wanted one.
fn varying(graph: &Graph, wanted: &[ValueId]) -> Vec<bool> {
    let mut varies = vec![false; graph.value_count()];
    wanted.iter().for_each(|value| varies[value.index()] = true);
    for operator in graph.operators() {
        if operator.reads().any(|v| varies[v.index()]) {
            operator.makes().for_each(|v| varies[v.index()] = true);
        }
    }
    varies
}

/// Hands the gradients of one operator's results on to its operands.
fn step(
    model: &Model,
    values: &Values<'_>,
    id: OperatorId,
    interest: &Wanted<'_>,
    found: &mut [Option<Floats>],
) -> Result<(), EngineError> {
    let Wanted { varies, kept } = interest;
    let slot = |v: ValueId| values.slot(model, v);
    let graph = model.graph();
    let operator = graph.operator(id);
    // Nothing arrives at this operator, or nothing that is wanted lies behind it.
    let flows = operator.makes().any(|v| found[v.index()].is_some());
    if !flows || !operator.reads().any(|v| varies[v.index()]) {
        return Ok(());
    }
    if let Some(id) = operator.reads().find(|&v| varies[v.index()] && is_double(slot(v))) {
        let why =
            format!("{} is f64, and gradients are computed in f32 only", graph.value_name(id));
        return Err(operand_error(operator, OperandError::new(why)));
    }
    // Only floats that a wanted value reaches get a gradient; indices and shapes have none.
    let mut wanted = Vec::with_capacity(operator.inputs.len());
    for input in &operator.inputs {
        let floats = input.filter(|v| varies[v.index()]).and_then(slot);
        wanted.push(floats.is_some_and(|slot| slot.value.floats().is_some()));
    }
    if !wanted.contains(&true) {
        return Ok(());
    }
    let mut backward = Backward {
        attributes: Attributes::new(operator, graph.opset_of(&operator.domain)),
        incoming: incoming(operator, kept, found),
        operands: operator.inputs.iter().map(|v| v.and_then(&slot)).collect(),
        results: operator.outputs.iter().map(|v| v.and_then(&slot)).collect(),
        wanted,
        threads: model.threads(),
        buffers: model.buffers(),
    };
    let rule = rule(operator).map_err(|e| operand_error(operator, e))?;
    let gradients = rule(&mut backward).map_err(|e| operand_error(operator, e))?;
    for left in backward.incoming.into_iter().flatten() {
        model.buffers().give(left.data);
    }
    for ((input, gradient), wanted) in operator.inputs.iter().zip(gradients).zip(&backward.wanted) {
        if let (Some(input), Some(gradient), true) = (input, gradient, wanted) {
            add(&mut found[input.index()], gradient);
        }
    }
    Ok(())
}

/// The gradients of an operator's results. A wanted value in the middle keeps its own; others hand
/// theirs over.
fn incoming(
    operator: &Operator,
    kept: &[bool],
    found: &mut [Option<Floats>],
) -> Vec<Option<Floats>> {
    operator
        .outputs
        .iter()
        .map(|output| {
            let output = (*output)?;
            let gradient = &mut found[output.index()];
            if kept[output.index()] { gradient.clone() } else { gradient.take() }
        })
        .collect()
}

fn is_double(slot: Option<&Slot>) -> bool {
    slot.is_some_and(|slot| slot.value.dtype() == Some(DType::F64))
}

/// Adds a gradient to what other readers of the value have handed back before.
fn add(to: &mut Option<Floats>, gradient: Floats) {
    match to {
        None => *to = Some(gradient),
        Some(sum) => {
            let gradient = ordered(gradient, sum.order);
            debug_assert_eq!(sum.shape, gradient.shape, "gradients have their value's shape");
            binary(Binary::Add, &mut sum.data, &gradient.data, false);
        }
    }
}

/// A user's gradient of a value, checked against the value itself.
pub(crate) fn seed(
    name: &str,
    value: Option<&Value>,
    gradient: &Tensor,
) -> Result<Floats, EngineError> {
    let refuse = |why: String| EngineError::Gradient { value: name.to_owned(), why };
    let floats = value.and_then(Value::floats);
    let floats = floats.ok_or_else(|| refuse("only floats of the run have gradients".into()))?;
    let taken = Value::fed(gradient).floats().cloned();
    taken.filter(|g| g.shape == floats.shape && g.dtype == DType::F32).ok_or_else(|| {
        let given = gradient.shape();
        let dtype = gradient.dtype().name();
        let wanted = &floats.shape;
        refuse(format!("a seed of f32 {wanted:?} is wanted, not of {dtype} {given:?}"))
    })
}
