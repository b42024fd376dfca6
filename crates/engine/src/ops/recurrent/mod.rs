//! `RNN`, `GRU` and `LSTM`.
//!
//! Every row of a batch is multiplied on its own and in one order, so its answer does not depend
//! on the others. NaN stays NaN in all gates, as in PyTorch; ONNX Runtime turns it into a number
//! where the layer has biases, and only there.

pub(crate) mod cell;

use super::operands::{Answers, floats, operand, required, rounded};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::kernels::elementwise::Unary;
use crate::kernels::gemm::{Packed, multiply_rows};
use crate::value::Value;
use cell::{Cell, State, Step};

/// Which layer, with what only that one has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LayerKind {
    Rnn,
    Gru {
        /// Whether the reset gate acts on the product, else on the state before it.
        linear_before_reset: bool,
    },
    Lstm {
        /// Whether the forget gate is what the input gate leaves.
        input_forget: bool,
    },
}

impl LayerKind {
    pub(crate) fn gates(self) -> usize {
        match self {
            Self::Rnn => 1,
            Self::Gru { .. } => 3,
            Self::Lstm { .. } => 4,
        }
    }

    /// ONNX's default activations of one direction.
    fn activations(self) -> &'static [Unary] {
        match self {
            Self::Rnn => &[Unary::Tanh],
            Self::Gru { .. } => &[Unary::Sigmoid, Unary::Tanh],
            Self::Lstm { .. } => &[Unary::Sigmoid, Unary::Tanh, Unary::Tanh],
        }
    }
}

pub(crate) struct Recurrent {
    pub(crate) kind: LayerKind,
    /// Per direction, whether it walks from the last step to the first.
    pub(crate) reversed: Vec<bool>,
    /// Direction by direction.
    activations: Vec<Unary>,
    clip: Option<f32>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Recurrent::new(attributes)?)))
}

impl Recurrent {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let kind = match attributes.op_type() {
            "RNN" => LayerKind::Rnn,
            "GRU" => LayerKind::Gru { linear_before_reset: attributes.flag("linear_before_reset") },
            _ => LayerKind::Lstm { input_forget: attributes.flag("input_forget") },
        };
        let reversed = match attributes.string("direction", "forward").as_str() {
            "forward" => vec![false],
            "reverse" => vec![true],
            "bidirectional" => vec![false, true],
            other => return Err(OperandError::new(format!("there is no direction {other}"))),
        };
        if attributes.flag("layout") {
            return Err(OperandError::new(
                "layout 1 (batch first) is not supported; export with layout 0",
            ));
        }
        let activations = activations(attributes, kind, reversed.len())?;
        let clip = attributes.has("clip").then(|| attributes.float("clip", 0.0));
        Ok(Self { kind, reversed, activations, clip })
    }
}

fn activations(
    attributes: &Attributes<'_>,
    kind: LayerKind,
    directions: usize,
) -> Result<Vec<Unary>, OperandError> {
    let names = attributes.strings("activations");
    let wanted = kind.activations().len() * directions;
    if names.is_empty() {
        return Ok(kind.activations().repeat(directions));
    }
    if names.len() != wanted {
        return Err(OperandError::new(format!(
            "{} activations where {wanted} are wanted",
            names.len()
        )));
    }
    // Parameters stand in the order of the activations that take one.
    let mut alphas = attributes.floats("activation_alpha").unwrap_or(&[]).iter().copied();
    let mut betas = attributes.floats("activation_beta").unwrap_or(&[]).iter().copied();
    let named = names.iter().map(|name| {
        let mut alpha = |default: f32| alphas.next().unwrap_or(default);
        Ok(match name.as_str() {
            "Sigmoid" => Unary::Sigmoid,
            "Tanh" => Unary::Tanh,
            "Relu" => Unary::Relu,
            "Softsign" => Unary::Softsign,
            "Softplus" => Unary::Softplus,
            "LeakyRelu" => Unary::LeakyRelu(alpha(0.01)),
            "ThresholdedRelu" => Unary::ThresholdedRelu(alpha(1.0)),
            "Elu" => Unary::Elu(alpha(1.0)),
            "HardSigmoid" => Unary::HardSigmoid(alpha(0.2), betas.next().unwrap_or(0.5)),
            other => return Err(OperandError::new(format!("activation {other} is not supported"))),
        })
    });
    named.collect()
}

/// The lengths that the operands agree on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) steps: usize,
    pub(crate) batch: usize,
    pub(crate) input: usize,
    pub(crate) hidden: usize,
}

/// One direction: its step, and what the inputs of all steps add to its gates.
pub(crate) struct Direction<'a> {
    pub(crate) cell: Cell<'a>,
    /// Step by step, row by row, gate by gate.
    inputs: Vec<f32>,
    start: State,
    reversed: bool,
}

impl Recurrent {
    /// Whether its activations are ONNX's defaults, and nothing is clipped before them.
    pub(crate) fn is_plain(&self) -> bool {
        let default = self.kind.activations().repeat(self.reversed.len());
        self.clip.is_none() && self.activations == default
    }

    pub(crate) fn sizes(&self, operands: &[Option<&Value>]) -> Result<Sizes, OperandError> {
        let [x, w, r] = [0, 1, 2].map(|at| operand(operands, at).map_or(&[][..], Value::shape));
        let misfit = format!("input {x:?}, weights {w:?} and recurrence {r:?} do not fit");
        let (&[steps, batch, input], &[_, _, hidden]) = (x, r) else {
            return Err(OperandError::new(misfit));
        };
        let directions = self.reversed.len();
        let rows = self.kind.gates() * hidden;
        let fits = w == [directions, rows, input] && r == [directions, rows, hidden];
        let sizes = Sizes { steps, batch, input, hidden };
        if fits && input * hidden > 0 { Ok(sizes) } else { Err(OperandError::new(misfit)) }
    }

    pub(crate) fn direction<'a>(
        &'a self,
        sizes: Sizes,
        at: usize,
        operands: &[Option<&'a Value>],
    ) -> Result<Direction<'a>, OperandError> {
        let Sizes { steps, batch, input, hidden } = sizes;
        let part = |operand: usize, each: usize| part(operands, operand, at, each);
        let rows = self.kind.gates() * hidden;
        let weights = part(1, rows * input)?;
        let (own, recurrent) = part(3, 2 * rows)?.split_at_checked(rows).unwrap_or_default();
        // What the inputs add to the gates does not depend on the state: one product for all
        // steps.
        let packed = Packed::new(input, rows, own, |k, row| weights[row * input + k]);
        let mut inputs = vec![0.0; steps * batch * rows];
        let data = required(operands, 0)?.floats().map_or(&[][..], |f| &f.data);
        multiply_rows(data, &packed, &mut inputs);
        let lstm = matches!(self.kind, LayerKind::Lstm { .. });
        let peepholes = if lstm { part(7, 3 * hidden)? } else { &[] };
        let each = self.kind.activations().len();
        let cell = Cell {
            kind: self.kind,
            recurrence: gates(part(2, rows * hidden)?, recurrent, hidden),
            peepholes: (!peepholes.is_empty()).then_some(peepholes),
            activations: &self.activations[at * each..][..each],
            clip: self.clip,
        };
        let state = |operand: usize| -> Result<Vec<f32>, OperandError> {
            let given = part(operand, batch * hidden)?;
            Ok(if given.is_empty() { vec![0.0; batch * hidden] } else { given.to_vec() })
        };
        let start = State { hidden: state(5)?, cell: if lstm { state(6)? } else { Vec::new() } };
        Ok(Direction { cell, inputs, start, reversed: self.reversed[at] })
    }
}

/// One direction's part of an operand; empty where that is left out.
pub(crate) fn part<'a>(
    operands: &[Option<&'a Value>],
    operand: usize,
    at: usize,
    each: usize,
) -> Result<&'a [f32], OperandError> {
    let Some(floats) = floats(operands, operand)? else { return Ok(&[]) };
    let part = floats.data.get(at * each..(at + 1) * each);
    part.ok_or_else(|| OperandError::new(format!("operand {operand} is too short")))
}

/// From the state to each gate, with biases if there are any.
fn gates(recurrence: &[f32], biases: &[f32], hidden: usize) -> Vec<Packed> {
    recurrence
        .chunks_exact(hidden * hidden)
        .enumerate()
        .map(|(gate, weights)| {
            let bias = biases.get(gate * hidden..(gate + 1) * hidden).unwrap_or(&[]);
            Packed::new(hidden, hidden, bias, |k, row| weights[row * hidden + k])
        })
        .collect()
}

impl Direction<'_> {
    /// Which step of its sequence a row takes on a turn.
    pub(crate) fn time(&self, turn: usize, length: usize) -> usize {
        if self.reversed { length.saturating_sub(turn + 1) } else { turn }
    }

    /// Walks all steps, hands each turn to `each` (turn, state before, step), and answers the last
    /// state. A row that ends early keeps its state from there on.
    pub(crate) fn walk(
        &self,
        sizes: Sizes,
        lengths: &[usize],
        mut each: impl FnMut(usize, &State, Step),
    ) -> State {
        let Sizes { steps, batch, hidden, .. } = sizes;
        let gates = self.cell.recurrence.len();
        let mut state = self.start.clone();
        for turn in 0..steps {
            // Rows of a batch may differ in length, so that a reversed row starts at its own end.
            let mut inputs = vec![Vec::with_capacity(batch * hidden); gates];
            for (gate, inputs) in inputs.iter_mut().enumerate() {
                for (row, &length) in lengths.iter().enumerate() {
                    let time = self.time(turn, length);
                    let start = ((time * batch + row) * gates + gate) * hidden;
                    inputs.extend_from_slice(&self.inputs[start..][..hidden]);
                }
            }
            let step = self.cell.step(inputs, &state);
            let mut next = state.clone();
            for row in (0..batch).filter(|&row| turn < lengths[row]) {
                let range = row * hidden..(row + 1) * hidden;
                next.hidden[range.clone()].copy_from_slice(&step.state.hidden[range.clone()]);
                if !next.cell.is_empty() {
                    next.cell[range.clone()].copy_from_slice(&step.state.cell[range]);
                }
            }
            each(turn, &state, step);
            state = next;
        }
        state
    }
}

impl Op for Recurrent {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let sizes = self.sizes(operands)?;
        let Sizes { steps, batch, hidden, .. } = sizes;
        let lengths = lengths(operand(operands, 4), sizes)?;
        let directions = self.reversed.len();
        let mut states = vec![0.0; steps * directions * batch * hidden];
        let mut last = Vec::new();
        let mut cells = Vec::new();
        for at in 0..directions {
            let direction = self.direction(sizes, at, operands)?;
            let end = direction.walk(sizes, &lengths, |turn, _, step| {
                for row in (0..batch).filter(|&row| turn < lengths[row]) {
                    let time = direction.time(turn, lengths[row]);
                    let start = ((time * directions + at) * batch + row) * hidden;
                    let state = &step.state.hidden[row * hidden..][..hidden];
                    states[start..][..hidden].copy_from_slice(state);
                }
            });
            last.extend(end.hidden);
            cells.extend(end.cell);
        }
        let answer = |shape: Vec<usize>, data: Vec<f32>| Some(rounded(shape, input.dtype, data));
        let end = vec![directions, batch, hidden];
        let mut answers =
            vec![answer(vec![steps, directions, batch, hidden], states), answer(end.clone(), last)];
        if matches!(self.kind, LayerKind::Lstm { .. }) {
            answers.push(answer(end, cells));
        }
        Ok(Some(answers))
    }
}

/// How many steps each row has; all of them unless an operand says otherwise.
pub(crate) fn lengths(given: Option<&Value>, sizes: Sizes) -> Result<Vec<usize>, OperandError> {
    let Some(given) = given else { return Ok(vec![sizes.steps; sizes.batch]) };
    let lengths = given.integers().unwrap_or_default();
    let checked: Option<Vec<usize>> =
        lengths.iter().map(|&n| usize::try_from(n).ok().filter(|&n| n <= sizes.steps)).collect();
    checked.filter(|v| v.len() == sizes.batch).ok_or_else(|| {
        let steps = sizes.steps;
        let batch = sizes.batch;
        OperandError::new(format!(
            "sequence lengths {lengths:?} do not fit {batch} rows of {steps} steps"
        ))
    })
}
