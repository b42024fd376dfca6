//! What to do about the findings.

use super::Input;
use crate::document::Block;
use crate::prose::recommendations;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let sentences = recommendations(input.summary);
    (!sentences.is_empty()).then_some(Block::List(sentences))
}
