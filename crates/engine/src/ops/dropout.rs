//! Dropout while a model learns: which elements fall out follows from a number that is fed.
//!
//! ONNX's own `Dropout` draws at random in training mode; here the same number drops the same
//! elements, on the way back too. The operator never reaches a file.

use super::operands::{Answers, one, required};
use super::{Attributes, Op, Wants};
use crate::error::OperandError;
use crate::kernels::grid::Floats;
use crate::value::Value;
use faultlens_core::Seed;

/// The operator's name in the project's own domain.
pub(crate) const RANDOM_DROPOUT: &str = "RandomDropout";

/// Which elements fall out, and by how much the others grow.
pub(crate) struct Dropout {
    ratio: f64,
    /// Tells the dropouts of one model apart.
    place: u64,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Dropout::new(attributes)?)))
}

impl Dropout {
    pub(crate) fn new(attributes: &Attributes<'_>) -> Result<Self, OperandError> {
        let ratio = f64::from(attributes.float("ratio", 0.5));
        if !(0.0..1.0).contains(&ratio) {
            return Err(OperandError::new(format!(
                "a ratio of {ratio} is not from 0 up to below 1"
            )));
        }
        Ok(Self { ratio, place: attributes.int("place", 0) as u64 })
    }

    /// Drops elements of a value, or of its gradient, in the order in which they lie.
    pub(crate) fn apply(&self, floats: &mut Floats, number: &Value) -> Result<(), OperandError> {
        let number = number.integers().and_then(|n| n.first().copied());
        let number =
            number.ok_or_else(|| OperandError::new("it needs a whole number to draw from"))?;
        let seed = Seed::new(number as u64).at(self.place);
        let below = (self.ratio * 2f64.powi(32)) as u32;
        let factor = (1.0 / (1.0 - self.ratio)) as f32;
        for (at, four) in floats.data.chunks_mut(4).enumerate() {
            for (x, word) in four.iter_mut().zip(seed.block(at as u64)) {
                *x = if word < below { 0.0 } else { *x * factor };
            }
        }
        crate::step::round(floats);
        Ok(())
    }
}

impl Op for Dropout {
    fn wants(&self, _operand: usize) -> Wants {
        Wants::Alike
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let mut kept = input.clone();
        self.apply(&mut kept, required(operands, 1)?)?;
        one(Value::Floats(kept))
    }
}
