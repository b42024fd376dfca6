//! What to know before trusting the numbers.

use super::Input;
use crate::document::Block;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let warnings: Vec<String> =
        input.summary.warnings.iter().chain(&input.warnings).cloned().collect();
    (!warnings.is_empty()).then_some(Block::List(warnings))
}
