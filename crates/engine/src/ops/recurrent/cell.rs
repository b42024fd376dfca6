//! One step of a recurrent layer, for all rows of a batch at once.

use super::Kind;
use crate::kernels::elementwise::{Unary, unary};
use crate::kernels::gemm::Packed;
use crate::ops::matmul::multiply_rows;

/// What a step carries to the next: a state and, in an LSTM, a cell per row of the batch.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) hidden: Vec<f32>,
    pub(super) cell: Vec<f32>,
}

/// A layer's step in one direction.
pub(super) struct Cell<'a> {
    pub(super) kind: Kind,
    /// From the state to each gate, with biases.
    pub(super) recurrence: Vec<Packed>,
    /// LSTM: from the cell to the input, output and forget gates, one behind the other.
    pub(super) peepholes: Option<&'a [f32]>,
    pub(super) activations: &'a [Unary],
    /// What goes into an activation is kept between minus this and this.
    pub(super) clip: Option<f32>,
}

impl Cell<'_> {
    /// The next state. `inputs` holds what the step's input adds to each gate.
    pub(super) fn step(&self, inputs: Vec<Vec<f32>>, state: &State) -> State {
        match self.kind {
            Kind::Rnn => self.rnn(inputs, state),
            Kind::Gru { linear_before_reset } => self.gru(inputs, state, linear_before_reset),
            Kind::Lstm { input_forget } => self.lstm(inputs, state, input_forget),
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

    fn rnn(&self, inputs: Vec<Vec<f32>>, state: &State) -> State {
        let sum = added(&inputs[0], &self.recur(0, &state.hidden));
        State { hidden: self.activated(0, sum), cell: Vec::new() }
    }

    /// Gates in ONNX's order: update, reset, and the state that may come.
    fn gru(&self, inputs: Vec<Vec<f32>>, state: &State, linear_before_reset: bool) -> State {
        let gate =
            |at: usize| self.activated(0, added(&inputs[at], &self.recur(at, &state.hidden)));
        let (update, reset) = (gate(0), gate(1));
        let recurrent = if linear_before_reset {
            multiplied(&reset, &self.recur(2, &state.hidden))
        } else {
            self.recur(2, &multiplied(&reset, &state.hidden))
        };
        let coming = self.activated(1, added(&inputs[2], &recurrent));
        let mix = |(i, &z): (usize, &f32)| (1.0 - z) * coming[i] + z * state.hidden[i];
        State { hidden: update.iter().enumerate().map(mix).collect(), cell: Vec::new() }
    }

    /// Gates in ONNX's order: input, output, forget, and the cell that may come.
    fn lstm(&self, inputs: Vec<Vec<f32>>, state: &State, input_forget: bool) -> State {
        let sum = |at: usize| added(&inputs[at], &self.recur(at, &state.hidden));
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
        State { hidden: multiplied(&output, &shown), cell }
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

fn multiplied(a: &[f32], b: &[f32]) -> Vec<f32> {
    a.iter().zip(b).map(|(x, y)| x * y).collect()
}
