//! How the run was made.

use super::Input;
use crate::document::Block;
use crate::prose::method::method;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    Some(Block::List(method(input.summary)))
}
