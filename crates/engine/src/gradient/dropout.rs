//! Dropout while a model learns: the same elements fall out on the way back.

use super::{Backward, Gradients};
use crate::error::OperandError;
use crate::ops::Dropout;

pub(super) fn random_dropout(backward: &mut Backward<'_>) -> Gradients {
    let dropout = Dropout::new(&backward.attributes)?;
    let missing = || OperandError::new("its operands are missing");
    let order = backward.operand(0).and_then(|v| v.floats()).ok_or_else(missing)?.order;
    let number = backward.operand(1).ok_or_else(missing)?;
    let mut gradient = backward.gradient_in(order)?;
    dropout.apply(&mut gradient, number)?;
    Ok(backward.only(0, gradient))
}
