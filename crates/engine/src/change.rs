//! What is done to single elements of a run.

use crate::graph::ValueId;
use faultlens_core::DType;
use half::{bf16, f16};

/// One element of a value, changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// An input, an operator's output or a weight.
    pub value: ValueId,
    /// Which element, in ONNX's row-major count.
    pub element: usize,
    /// What is done to it.
    pub edit: Edit,
}

/// What a change met in a disturbed run, as bits in the value's own type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Met {
    /// The element just before the change; earlier changes may have moved it away from golden's.
    pub before: u64,
    /// The element just after it.
    pub after: u64,
}

/// What is done to an element. It meets the element as it stands there in the disturbed run,
/// which an earlier change may have made another one than golden's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edit {
    /// These bits, in the value's own type, whatever stood there.
    Set(u64),
    /// These bits turned over.
    Flip(u64),
    /// These bits at one.
    Raise(u64),
    /// These bits at zero.
    Clear(u64),
    /// The number times this.
    Scale(f64),
    /// The number plus this.
    Add(f64),
}

impl Edit {
    /// The bits of an element after the edit.
    pub fn of(self, bits: u64, dtype: DType) -> u64 {
        match self {
            Self::Set(new) => new,
            Self::Flip(mask) => bits ^ mask,
            Self::Raise(mask) => bits | mask,
            Self::Clear(mask) => bits & !mask,
            Self::Scale(factor) => dtype.bits(dtype.number(bits) * factor),
            Self::Add(term) => dtype.bits(dtype.number(bits) + term),
        }
    }

    /// The same for a float as the engine keeps it.
    pub(crate) fn of_float(self, x: f32, dtype: DType) -> f32 {
        let bits = self.of(float_bits(x, dtype), dtype);
        match dtype {
            DType::F16 => f16::from_bits(bits as u16).to_f32(),
            DType::BF16 => bf16::from_bits(bits as u16).to_f32(),
            _ => f32::from_bits(bits as u32),
        }
    }

    /// The edit's bits, where an element of this type cannot hold them all.
    pub(crate) fn beyond(self, dtype: DType) -> Option<u64> {
        match self {
            Self::Set(bits) | Self::Flip(bits) | Self::Raise(bits) | Self::Clear(bits) => {
                // A shift by all 64 bits leaves nothing, which `checked_shr` says by `None`.
                (bits.checked_shr(dtype.bit_width()).unwrap_or(0) != 0).then_some(bits)
            }
            Self::Scale(_) | Self::Add(_) => None,
        }
    }
}

/// The bits of a float in the type that it is stored in.
pub(crate) fn float_bits(x: f32, dtype: DType) -> u64 {
    match dtype {
        DType::F16 => u64::from(f16::from_f32(x).to_bits()),
        DType::BF16 => u64::from(bf16::from_f32(x).to_bits()),
        _ => u64::from(x.to_bits()),
    }
}

impl Change {
    /// Sets an `f32` element.
    pub fn f32(value: ValueId, element: usize, to: f32) -> Self {
        Self { value, element, edit: Edit::Set(u64::from(to.to_bits())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_work_on_the_stored_type() {
        let one = |dtype: DType| dtype.bits(1.0);
        for (edit, dtype, wanted) in [
            (Edit::Set(0), DType::F32, 0.0),
            (Edit::Flip(1 << 31), DType::F32, -1.0),
            (Edit::Flip(1 << 15), DType::F16, -1.0),
            (Edit::Flip(1 << 10), DType::F16, 0.5),
            (Edit::Flip(1 << 7), DType::I8, -127.0),
            (Edit::Raise(1 << 1), DType::I8, 3.0),
            (Edit::Clear(1), DType::I8, 0.0),
            (Edit::Scale(-4.0), DType::BF16, -4.0),
            (Edit::Scale(1e9), DType::I8, 127.0),
            (Edit::Add(0.5), DType::F64, 1.5),
        ] {
            assert_eq!(dtype.number(edit.of(one(dtype), dtype)), wanted, "{edit:?} {dtype:?}");
        }
        assert_eq!(Edit::Flip(1 << 15).of_float(1.5, DType::F16), -1.5);
        assert_eq!(Edit::Flip(1 << 9).beyond(DType::I8), Some(1 << 9));
        assert_eq!(Edit::Flip(1 << 63).beyond(DType::F64), None);
    }
}
