//! One step of a recurrent layer on the way back, for all rows of a batch at once.

use crate::kernels::gemm::Packed;
use crate::kernels::gemm::multiply_rows;
use crate::ops::recurrent::LayerKind;
use crate::ops::recurrent::cell::{Cell, State, Step, multiplied};

/// What a step hands back.
pub(super) struct StepGradients {
    /// The gradients of what enters each gate, before its activation.
    pub(super) gates: Vec<Vec<f32>>,
    /// GRU whose reset comes last: the gradient of the recurrence's product for the last gate,
    /// which is not what enters the gate.
    pub(super) product: Option<Vec<f32>>,
    /// The gradients of the state before.
    pub(super) state: State,
}

/// A step of one direction.
pub(super) struct StepBack<'a> {
    cell: &'a Cell<'a>,
    /// From each gate back to the state.
    recurrence: Vec<Packed>,
}

/// The slope of the logistic function, given its answer.
fn sigmoid_slope(y: f32) -> f32 {
    y * (1.0 - y)
}

fn tanh_slope(y: f32) -> f32 {
    1.0 - y * y
}

fn each(count: usize, f: impl Fn(usize) -> f32) -> Vec<f32> {
    (0..count).map(f).collect()
}

fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(x, y)| *x += y);
}

impl<'a> StepBack<'a> {
    /// The step of a cell with these weights between states.
    pub(super) fn new(cell: &'a Cell<'a>, weights: &[f32], hidden: usize) -> Self {
        Self {
            cell,
            recurrence: weights
                .chunks_exact(hidden * hidden)
                .map(|w| Packed::new(hidden, hidden, &[], |k, c| w[k * hidden + c]))
                .collect(),
        }
    }

    /// From the gradients of the state behind a step to those of the state before it.
    pub(super) fn back(&self, before: &State, step: &Step, behind: &State) -> StepGradients {
        match self.cell.kind {
            LayerKind::Rnn => {
                let answer = &step.gates[0];
                let to = &behind.hidden;
                let gates = vec![each(to.len(), |i| to[i] * tanh_slope(answer[i]))];
                let hidden = self.to_state(0, &gates[0]);
                StepGradients { gates, product: None, state: State { hidden, cell: Vec::new() } }
            }
            LayerKind::Gru { .. } => self.gru(before, step, &behind.hidden),
            LayerKind::Lstm { input_forget } => self.lstm(before, step, behind, input_forget),
        }
    }

    /// What a gate hands back to the state that the recurrence multiplied for it.
    fn to_state(&self, gate: usize, gradient: &[f32]) -> Vec<f32> {
        let mut out = vec![0.0; gradient.len()];
        multiply_rows(gradient, &self.recurrence[gate], &mut out);
        out
    }

    fn gru(&self, before: &State, step: &Step, to: &[f32]) -> StepGradients {
        let [update, reset, coming] = [&step.gates[0], &step.gates[1], &step.gates[2]];
        let count = to.len();
        let old = &before.hidden;
        // h = (1 - z) · n + z · h₀, with update z, reset r and coming n = tanh(x + R(r · h₀)), or
        // tanh(x + r · (R h₀)) where the reset comes last.
        let of_update = each(count, |i| to[i] * (old[i] - coming[i]) * sigmoid_slope(update[i]));
        let of_coming = each(count, |i| to[i] * (1.0 - update[i]) * tanh_slope(coming[i]));
        let mut hidden = multiplied(to, update);
        let (resets, product) = if step.product.is_empty() {
            let of_both = self.to_state(2, &of_coming);
            add(&mut hidden, &multiplied(&of_both, reset));
            (multiplied(&of_both, old), None)
        } else {
            let of_product = multiplied(&of_coming, reset);
            add(&mut hidden, &self.to_state(2, &of_product));
            (multiplied(&of_coming, &step.product), Some(of_product))
        };
        let of_reset = each(count, |i| resets[i] * sigmoid_slope(reset[i]));
        add(&mut hidden, &self.to_state(0, &of_update));
        add(&mut hidden, &self.to_state(1, &of_reset));
        let gates = vec![of_update, of_reset, of_coming];
        StepGradients { gates, product, state: State { hidden, cell: Vec::new() } }
    }

    fn lstm(
        &self,
        before: &State,
        step: &Step,
        behind: &State,
        input_forget: bool,
    ) -> StepGradients {
        let [input, output, forget, coming] = [0, 1, 2, 3].map(|gate| &step.gates[gate]);
        let shown = &step.shown;
        let to = &behind.hidden;
        let count = behind.hidden.len();
        // h = o · tanh(c), c = f · c₀ + i · n; gates that peep also see the cell.
        let of_output = each(count, |i| to[i] * shown[i] * sigmoid_slope(output[i]));
        let cell = each(count, |i| {
            let seen = to[i] * output[i] * tanh_slope(shown[i]);
            behind.cell[i] + seen + self.peephole(1, i) * of_output[i]
        });
        let of_coming = each(count, |i| cell[i] * input[i] * tanh_slope(coming[i]));
        let forgets = multiplied(&cell, &before.cell);
        let of_forget = if input_forget {
            vec![0.0; count]
        } else {
            each(count, |i| forgets[i] * sigmoid_slope(forget[i]))
        };
        let of_input = each(count, |i| {
            // With coupled gates f = 1 - i, so that what the forget gate would get goes to the
            // input gate, negated.
            let shared = if input_forget { forgets[i] } else { 0.0 };
            (cell[i] * coming[i] - shared) * sigmoid_slope(input[i])
        });
        let old = each(count, |i| {
            let seen = self.peephole(0, i) * of_input[i] + self.peephole(2, i) * of_forget[i];
            cell[i] * forget[i] + seen
        });
        let gates = vec![of_input, of_output, of_forget, of_coming];
        let mut hidden = vec![0.0; count];
        for (gate, gradient) in gates.iter().enumerate() {
            add(&mut hidden, &self.to_state(gate, gradient));
        }
        StepGradients { gates, product: None, state: State { hidden, cell: old } }
    }

    /// The weight with which a gate sees element `at` of the cell.
    fn peephole(&self, gate: usize, at: usize) -> f32 {
        self.cell.peepholes.map_or(0.0, |weights| {
            let each = weights.len() / 3;
            weights[gate * each + at % each]
        })
    }
}
