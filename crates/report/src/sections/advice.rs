//! What to do about the findings.

use super::Input;
use crate::document::Block;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let advice = &input.summary.advice;
    (!advice.is_empty()).then(|| Block::List(advice.clone()))
}
