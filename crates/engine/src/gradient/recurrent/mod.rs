//! `RNN`, `GRU` and `LSTM`: back through time.
//!
//! The layer is walked once forward to learn its gates, then back. What enters the gates has its
//! gradients collected for all steps, so that each weight's gradient is one product at the end.

mod step;

use super::backward::gradient;
use super::{Backward, Gradients, ordered};
use crate::error::OperandError;
use crate::kernels::gemm::Packed;
use crate::kernels::gemm::multiply_rows;
use crate::kernels::grid::{Floats, Order};
use crate::ops::recurrent::cell::{State, multiplied};
use crate::ops::recurrent::{Direction, LayerKind, Recurrent, Sizes, lengths, part};
use step::{StepBack, StepGradients};

/// Operands of all three layers.
const X: usize = 0;
const W: usize = 1;
const R: usize = 2;
const B: usize = 3;
const LENGTHS: usize = 4;
const INITIAL_H: usize = 5;
const INITIAL_C: usize = 6;
const P: usize = 7;

pub(super) fn recurrent(backward: &mut Backward<'_>) -> Gradients {
    let layer = Recurrent::new(&backward.attributes)?;
    if !layer.is_plain() {
        return Err(OperandError::new(
            "gradients go back through the default activations only (Sigmoid for gates, Tanh for \
             states), and through no clip",
        ));
    }
    let sizes = layer.sizes(&backward.values())?;
    let lengths = lengths(backward.operand(LENGTHS), sizes)?;
    let incoming =
        [0, 1, 2].map(|result| backward.gradient(result).map(|g| ordered(g, Order::RowMajor)));
    let mut gradients: Vec<Option<Floats>> = Vec::new();
    for at in 0..backward.operands.len() {
        gradients.push(
            backward
                .wants(at)
                .then(|| {
                    backward.shape(at).map(|shape| {
                        gradient(shape, Order::RowMajor, backward.zeros(shape.iter().product()))
                    })
                })
                .transpose()?,
        );
    }
    for at in 0..layer.reversed.len() {
        let direction = layer.direction(sizes, at, &backward.values())?;
        let weights = part(&backward.values(), R, at, layer.kind.gates() * sizes.hidden.pow(2))?;
        let walk =
            DirectionBackward { kind: layer.kind, sizes, lengths: &lengths, direction: &direction };
        let walked = walk.back(weights, [at, layer.reversed.len()], &incoming);
        share_out(backward, &walked, at, &mut gradients)?;
    }
    Ok(gradients)
}

/// One direction of a layer.
struct DirectionBackward<'a> {
    kind: LayerKind,
    sizes: Sizes,
    lengths: &'a [usize],
    direction: &'a Direction<'a>,
}

/// What the walk back has collected, rows in the order of the input: step by step, row by row.
struct DirectionGradients {
    kind: LayerKind,
    sizes: Sizes,
    /// The gradients of what the inputs add to the gates.
    sums: Vec<f32>,
    /// The gradients of what the recurrence adds to the gates.
    products: Vec<f32>,
    /// The states that the recurrence multiplied.
    states: Vec<f32>,
    /// GRU whose reset comes first: what it multiplied for the last gate.
    resets: Vec<f32>,
    peepholes: Vec<f32>,
    start: State,
}

impl DirectionBackward<'_> {
    /// `incoming` holds the gradients of all states, the last states and the last cells; this
    /// direction is number `at` of `directions`.
    fn back(
        &self,
        weights: &[f32],
        [at, directions]: [usize; 2],
        incoming: &[Option<Floats>; 3],
    ) -> DirectionGradients {
        let Sizes { steps, batch, hidden, .. } = self.sizes;
        let mut turns = Vec::with_capacity(steps);
        self.direction.walk(self.sizes, self.lengths, |_, before, step| {
            turns.push((before.clone(), step));
        });
        let step_back = StepBack::new(&self.direction.cell, weights, hidden);
        let last = |gradient: &Option<Floats>| match gradient {
            Some(gradient) => gradient.data[at * batch * hidden..][..batch * hidden].to_vec(),
            None => vec![0.0; batch * hidden],
        };
        let mut walked = self.nothing();
        let mut behind = State { hidden: last(&incoming[1]), cell: last(&incoming[2]) };
        // Back-propagation through time: from the last turn to the first, the state's gradient
        // handed on.
        for (turn, (before, step)) in turns.iter().enumerate().rev() {
            for (row, time) in self.rows(turn) {
                let start = ((time * directions + at) * batch + row) * hidden;
                let seen = incoming[0].iter().flat_map(|g| &g.data[start..][..hidden]);
                let to = &mut behind.hidden[row * hidden..][..hidden];
                to.iter_mut().zip(seen).for_each(|(x, g)| *x += g);
            }
            let back = step_back.back(before, step, &behind);
            for (row, time) in self.rows(turn) {
                walked.take(&back, time * batch + row, row);
                walked.remember(before, &step.gates, time * batch + row, row);
                walked.peep(&back, [&before.cell, &step.state.cell], row);
                let range = row * hidden..(row + 1) * hidden;
                behind.hidden[range.clone()].copy_from_slice(&back.state.hidden[range.clone()]);
                if !back.state.cell.is_empty() {
                    behind.cell[range.clone()].copy_from_slice(&back.state.cell[range]);
                }
            }
        }
        walked.start = behind;
        walked
    }

    /// The rows that have not ended by a turn, and the step of each.
    fn rows(&self, turn: usize) -> impl Iterator<Item = (usize, usize)> {
        let rows = self.lengths.iter().enumerate().filter(move |&(_, &length)| turn < length);
        rows.map(move |(row, &length)| (row, self.direction.time(turn, length)))
    }

    fn nothing(&self) -> DirectionGradients {
        let Sizes { steps, batch, hidden, .. } = self.sizes;
        let gates = vec![0.0; steps * batch * self.kind.gates() * hidden];
        let states = vec![0.0; steps * batch * hidden];
        let resets_first = self.kind == LayerKind::Gru { linear_before_reset: false };
        DirectionGradients {
            kind: self.kind,
            sizes: self.sizes,
            sums: gates.clone(),
            products: gates,
            resets: if resets_first { states.clone() } else { Vec::new() },
            states,
            peepholes: vec![0.0; 3 * hidden],
            start: State { hidden: Vec::new(), cell: Vec::new() },
        }
    }
}

impl DirectionGradients {
    /// The gradient of the weights between states.
    fn recurrence(&self) -> Vec<f32> {
        let hidden = self.sizes.hidden;
        let rows = self.kind.gates() * hidden;
        let mut values = weight_gradient(&self.products, &self.states, rows);
        if !self.resets.is_empty() {
            let of_resets = weight_gradient(&self.products, &self.resets, rows);
            values.truncate(2 * hidden * hidden);
            values.extend_from_slice(&of_resets[2 * hidden * hidden..]);
        }
        values
    }

    /// Takes one row's gradients of what enters the gates to place `at`.
    fn take(&mut self, back: &StepGradients, at: usize, row: usize) {
        let hidden = self.sizes.hidden;
        for (gate, gradient) in back.gates.iter().enumerate() {
            let product = back.product.as_ref().filter(|_| gate == 2).unwrap_or(gradient);
            let start = (at * back.gates.len() + gate) * hidden;
            self.sums[start..][..hidden].copy_from_slice(&gradient[row * hidden..][..hidden]);
            self.products[start..][..hidden].copy_from_slice(&product[row * hidden..][..hidden]);
        }
    }

    /// Remembers what the recurrence multiplied for one row.
    fn remember(&mut self, before: &State, gates: &[Vec<f32>], at: usize, row: usize) {
        let hidden = self.sizes.hidden;
        let state = &before.hidden[row * hidden..][..hidden];
        self.states[at * hidden..][..hidden].copy_from_slice(state);
        if !self.resets.is_empty() {
            let reset = multiplied(state, &gates[1][row * hidden..][..hidden]);
            self.resets[at * hidden..][..hidden].copy_from_slice(&reset);
        }
    }

    /// Sums what one row's gates hand back to the weights with which they see the cell, as it was
    /// before the step (input and forget gates) or is behind it (output gate).
    fn peep(&mut self, back: &StepGradients, [before, behind]: [&[f32]; 2], row: usize) {
        if !matches!(self.kind, LayerKind::Lstm { .. }) {
            return;
        }
        let hidden = self.sizes.hidden;
        for (gate, cell) in [before, behind, before].into_iter().enumerate() {
            for at in 0..hidden {
                let seen = back.gates[gate][row * hidden + at] * cell[row * hidden + at];
                self.peepholes[gate * hidden + at] += seen;
            }
        }
    }
}

/// Adds what one direction hands back to the operands' gradients.
fn share_out(
    backward: &Backward<'_>,
    walked: &DirectionGradients,
    at: usize,
    gradients: &mut [Option<Floats>],
) -> Result<(), OperandError> {
    let Sizes { input, hidden, .. } = walked.sizes;
    let rows = walked.kind.gates() * hidden;
    // Without steps nothing entered the gates; the first states are the last ones all the same.
    let walks = !walked.sums.is_empty();
    let mut add = |operand: usize, from: usize, values: &[f32]| {
        if let Some(Some(to)) = gradients.get_mut(operand) {
            to.data[from..][..values.len()].iter_mut().zip(values).for_each(|(x, y)| *x += y);
        }
    };
    if walks && backward.wants(X) {
        let weights = part(&backward.values(), W, at, rows * input)?;
        let packed = Packed::new(rows, input, &[], |k, column| weights[k * input + column]);
        let mut values = vec![0.0; walked.sums.len() / rows * input];
        multiply_rows(&walked.sums, &packed, &mut values);
        add(X, 0, &values);
    }
    if walks && backward.wants(W) {
        let values =
            weight_gradient(&walked.sums, &backward.floats(X, Order::RowMajor)?.data, rows);
        add(W, at * rows * input, &values);
    }
    if walks && backward.wants(R) {
        add(R, at * rows * hidden, &walked.recurrence());
    }
    add(B, at * 2 * rows, &column_sums(&walked.sums, rows));
    add(B, (at * 2 + 1) * rows, &column_sums(&walked.products, rows));
    let start = at * walked.start.hidden.len();
    add(INITIAL_H, start, &walked.start.hidden);
    add(INITIAL_C, start, &walked.start.cell);
    add(P, at * 3 * hidden, &walked.peepholes);
    Ok(())
}

/// The gradient of weights of `columns` outputs, given the gradients of all their answers and what
/// they multiplied: one chain per weight, from the first row to the last.
fn weight_gradient(answers: &[f32], multiplied: &[f32], columns: usize) -> Vec<f32> {
    let rows = answers.len() / columns;
    let width = multiplied.len() / rows;
    // Answersᵀ · inputs as one product of rows and packed columns.
    let mut transposed = vec![0.0; answers.len()];
    for (row, answers) in answers.chunks_exact(columns).enumerate() {
        answers.iter().enumerate().for_each(|(column, &g)| transposed[column * rows + row] = g);
    }
    let packed = Packed::new(rows, width, &[], |row, column| multiplied[row * width + column]);
    let mut out = vec![0.0; columns * width];
    multiply_rows(&transposed, &packed, &mut out);
    out
}

fn column_sums(rows: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0; columns];
    for row in rows.chunks_exact(columns) {
        sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    sums
}
