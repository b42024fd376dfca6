//! Where and with what the run was made.

use super::Input;
use crate::document::Block;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let provenance = &input.summary.provenance;
    (!provenance.is_empty()).then(|| Block::Facts(provenance.clone()))
}
