//! What a model computes and stores, layer by layer: what protections are paid in.

use super::Cost;
use faultlens_core::Tensor;
use faultlens_engine::{Golden, ValueId};
use faultlens_faults::Anatomy;

/// What one inference of a model takes.
#[derive(Debug, Clone, Default)]
pub(super) struct Work {
    /// By number, from layer 0.
    layers: Vec<LayerWork>,
    /// Elements that range restriction clips.
    pub(super) clipped: u64,
}

/// What one layer takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LayerWork {
    pub(super) macs: u64,
    /// Elements that its operators make.
    pub(super) made: u64,
    /// Weights, and the bytes that they take.
    pub(super) weights: u64,
    pub(super) weight_bytes: u64,
}

impl Work {
    /// Measures a run; `clipped` are the values that range restriction clips.
    pub(super) fn of(golden: &Golden<'_>, anatomy: &Anatomy, clipped: &[ValueId]) -> Self {
        let graph = golden.model().graph();
        let mut layers = vec![LayerWork::default(); anatomy.last() as usize + 1];
        for id in graph.operator_ids() {
            let layer = &mut layers[anatomy.layer(id) as usize];
            layer.macs += golden.macs(id);
            let made = graph.operator(id).makes().filter(|&value| !golden.is_constant(value));
            layer.made += made.map(|value| golden.elements(value)).sum::<u64>();
        }
        for (value, tensor) in graph.initializers() {
            let layer = &mut layers[anatomy.layer_of_value(graph, value) as usize];
            layer.weights += tensor.len() as u64;
            layer.weight_bytes += bytes(tensor);
        }
        let clipped = clipped.iter().map(|&value| golden.elements(value)).sum();
        Self { layers, clipped }
    }

    pub(super) fn layer(&self, number: u32) -> LayerWork {
        self.layers.get(number as usize).copied().unwrap_or_default()
    }

    /// Numbers of all layers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        0..self.layers.len() as u32
    }

    pub(super) fn macs(&self) -> u64 {
        self.layers.iter().map(|layer| layer.macs).sum()
    }

    pub(super) fn weight_bytes(&self) -> u64 {
        self.layers.iter().map(|layer| layer.weight_bytes).sum()
    }

    pub(super) fn cost(&self, operations: u64, bytes: u64) -> Cost {
        let share = operations as f64 / self.macs().max(1) as f64;
        Cost { operations: operations as f64, share, bytes: bytes as f64 }
    }
}

fn bytes(tensor: &Tensor) -> u64 {
    (tensor.len() * tensor.dtype().size()) as u64
}
