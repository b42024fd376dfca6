//! Where and with what the run was made.

use super::Input;
use crate::document::Block;
use crate::prose::method::provenance;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    Some(Block::Facts(provenance(&input.summary.provenance)))
}
