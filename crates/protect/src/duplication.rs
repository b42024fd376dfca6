//! Layers that are computed twice.

use super::tallies::TrialKind;
use super::work::Work;
use super::{Cost, Protection};
use faultlens_core::OutcomeKind;
use std::collections::BTreeSet;

/// # What it does
/// Computes the operators of some layers twice from the same operands, and compares.
/// # What it catches
/// Every transient fault in what they compute. Not one in weights or inputs, which both copies
/// read, and not a permanent one: the same unit makes the same mistake twice.
pub(super) struct Duplication;

impl Protection for Duplication {
    fn name(&self) -> &'static str {
        super::DUPLICATION
    }

    fn about(&self) -> &'static str {
        "computes the layers ranked first twice and compares: catches transient faults in what \
         they compute"
    }

    fn label(&self, layers: usize) -> String {
        format!("duplicating {}", super::layers(layers))
    }

    fn fits(&self, work: &Work, layer: u32) -> bool {
        work.layer(layer).made > 0
    }

    fn reach<'k>(&self, kind: &'k TrialKind) -> &'k [u32] {
        &kind.computed
    }

    fn after(&self, kind: &TrialKind, layers: &BTreeSet<u32>) -> OutcomeKind {
        super::detected(self.reach(kind), kind.before, layers)
    }

    /// The work once more, and one comparison for each element.
    fn cost(&self, work: &Work, layers: &BTreeSet<u32>) -> Cost {
        let own = || layers.iter().map(|&layer| work.layer(layer));
        let operations = own().map(|layer| layer.macs + layer.made).sum();
        work.cost(operations, own().map(|layer| layer.weight_bytes).sum())
    }
}
