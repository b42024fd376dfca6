//! What to know before trusting the numbers.

use super::Input;
use crate::document::Block;
use crate::prose::warnings;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let mut sentences = warnings(input.summary);
    sentences.extend(input.warnings.iter().cloned());
    (!sentences.is_empty()).then_some(Block::List(sentences))
}
