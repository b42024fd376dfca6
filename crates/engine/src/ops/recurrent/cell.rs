//! One step of a recurrent layer, for all rows of a batch at once.

use super::LayerKind;
use crate::kernels::elementwise::{Unary, unary};
use crate::kernels::gemm::Packed;
use crate::kernels::gemm::multiply_rows;

/// What a step carries to the next: a state and, in an LSTM, a cell per row of the batch.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) hidden: Vec<f32>,
    pub(crate) cell: Vec<f32>,
}

/// A layer's step in one direction.
pub(crate) struct Cell<'a> {
    pub(crate) kind: LayerKind,
    /// From the state to each gate, with biases.
    pub(crate) recurrence: Vec<Packed>,
    /// LSTM: from the cell to the input, output and forget gates, one behind the other.
    pub(crate) peepholes: Option<&'a [f32]>,
    pub(crate) activations: &'a [Unary],
    /// What goes into an activation is kept between minus this and this.
    pub(crate) clip: Option<f32>,
}

/// What a step computes on its way to the next state.
pub(crate) struct Step {
    pub(crate) state: State,
    /// The activated gates, in ONNX's order.
    pub(crate) gates: Vec<Vec<f32>>,
    /// GRU whose reset comes last: what the recurrence makes of the state for the last gate.
    pub(crate) product: Vec<f32>,
    /// LSTM: the activated cell.
    pub(crate) shown: Vec<f32>,
}

impl Cell<'_> {
    /// The next state. `inputs` holds what the step's input adds to each gate.
    pub(crate) fn step(&self, inputs: Vec<Vec<f32>>, state: &State) -> Step {
        match self.kind {
            LayerKind::Rnn => self.rnn(inputs, state),
            LayerKind::Gru { linear_before_reset } => self.gru(inputs, state, linear_before_reset),
            LayerKind::Lstm { input_forget } => self.lstm(inputs, state, input_forget),
        }
    }

    /// What a state adds to a gate.
    fn recur(&self, gate: usize, state: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; state.len()];
        multiply_rows(state, &self.recurrence[gate], &mut out);
        out
    }

    fn activated(&self, activation: usize, mut gate: Vec<f32>) -> Vec<f32> {
        if let Some(clip) = self.clip {
            unary(Unary::Clip(-clip, clip), &mut gate);
        }
        unary(self.activations[activation], &mut gate);
        gate
    }

    fn rnn(&self, inputs: Vec<Vec<f32>>, state: &State) -> Step {
        let sum = added(&inputs[0], &self.recur(0, &state.hidden));
        let hidden = self.activated(0, sum);
        let gates = vec![hidden.clone()];
        let state = State { hidden, cell: Vec::new() };
        Step { state, gates, product: Vec::new(), shown: Vec::new() }
    }

    /// Gates in ONNX's order: update, reset, and the state that may come.
    fn gru(&self, inputs: Vec<Vec<f32>>, state: &State, linear_before_reset: bool) -> Step {
        let gate =
            |at: usize| self.activated(0, added(&inputs[at], &self.recur(at, &state.hidden)));
        // GRU (Cho et al., 2014); ONNX orders the gates update, reset, hidden.
        let update = gate(0);
        let reset = gate(1);
        let (product, recurrent) = if linear_before_reset {
            let product = self.recur(2, &state.hidden);
            let recurrent = multiplied(&reset, &product);
            (product, recurrent)
        } else {
            (Vec::new(), self.recur(2, &multiplied(&reset, &state.hidden)))
        };
        let coming = self.activated(1, added(&inputs[2], &recurrent));
        // The update gate says how much of the old state stays.
        let hidden = update
            .iter()
            .enumerate()
            .map(|(i, &z)| (1.0 - z) * coming[i] + z * state.hidden[i])
            .collect();
        let state = State { hidden, cell: Vec::new() };
        Step { state, gates: vec![update, reset, coming], product, shown: Vec::new() }
    }

    /// Gates in ONNX's order: input, output, forget, and the cell that may come.
    fn lstm(&self, inputs: Vec<Vec<f32>>, state: &State, input_forget: bool) -> Step {
        let sum = |at: usize| added(&inputs[at], &self.recur(at, &state.hidden));
        // LSTM (Hochreiter and Schmidhuber, 1997), with the peepholes of Gers and Schmidhuber
        // (2000).
        let input = self.activated(0, self.peeped(0, sum(0), &state.cell));
        let forget = if input_forget {
            input.iter().map(|i| 1.0 - i).collect()
        } else {
            self.activated(0, self.peeped(2, sum(2), &state.cell))
        };
        let coming = self.activated(1, sum(3));
        let kept = multiplied(&forget, &state.cell);
        let cell = added(&kept, &multiplied(&input, &coming));
        let output = self.activated(0, self.peeped(1, sum(1), &cell));
        let mut shown = cell.clone();
        unary(self.activations[2], &mut shown);
        let state = State { hidden: multiplied(&output, &shown), cell };
        let gates = vec![input, output, forget, coming];
        Step { state, gates, product: Vec::new(), shown }
    }

    /// Adds what a gate sees of the cell.
    fn peeped(&self, gate: usize, mut sum: Vec<f32>, cell: &[f32]) -> Vec<f32> {
        if let Some(peepholes) = self.peepholes {
            let each = peepholes.len() / 3;
            let weights = peepholes[gate * each..][..each].iter().cycle();
            for ((x, c), w) in sum.iter_mut().zip(cell).zip(weights) {
                *x += c * w;
            }
        }
        sum
    }
}

fn added(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(x, y)| x + y).collect()
}

pub(crate) fn multiplied(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(x, y)| x * y).collect()
}
