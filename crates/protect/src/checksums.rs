//! Weights that are summed before every inference.

use super::tallies::TrialKind;
use super::work::Work;
use super::{Cost, Protection};
use faultlens_core::OutcomeKind;
use std::collections::BTreeSet;

/// # What it does
/// Sums the weights of some layers before every inference, and compares with the sums of the
/// model as it was shipped.
/// # What it catches
/// Every changed weight in them; that several changes leave the sum as it was is not considered.
/// Not what goes wrong in computing.
pub(super) struct Checksums;

impl Protection for Checksums {
    fn name(&self) -> &'static str {
        super::CHECKSUMS
    }

    fn about(&self) -> &'static str {
        "sums the weights of the layers ranked first before every inference: catches changed weights"
    }

    fn label(&self, layers: usize) -> String {
        format!("checksumming {}", super::layers(layers))
    }

    fn fits(&self, work: &Work, layer: u32) -> bool {
        work.layer(layer).weights > 0
    }

    fn reach<'k>(&self, kind: &'k TrialKind) -> &'k [u32] {
        &kind.stored
    }

    fn after(&self, kind: &TrialKind, layers: &BTreeSet<u32>) -> OutcomeKind {
        super::detected(self.reach(kind), kind.before, layers)
    }

    /// One addition for each weight, and each of its bytes read.
    fn cost(&self, work: &Work, layers: &BTreeSet<u32>) -> Cost {
        let own = || layers.iter().map(|&layer| work.layer(layer));
        let operations = own().map(|layer| layer.weights).sum();
        work.cost(operations, own().map(|layer| layer.weight_bytes).sum())
    }
}
