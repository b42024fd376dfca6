//! How the run was made.

use super::Input;
use crate::document::Block;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let method = &input.summary.method;
    (!method.is_empty()).then(|| Block::List(method.clone()))
}
