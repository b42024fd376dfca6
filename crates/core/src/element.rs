//! Numbers, and the bits that elements of each type hold them in.

use crate::DType;
use half::{bf16, f16};

impl DType {
    /// How many bits an element has; a truth value has one, whatever it takes in memory.
    pub fn bit_width(self) -> u32 {
        if self == Self::Bool { 1 } else { self.size() as u32 * 8 }
    }

    /// Whether its elements have a sign, an exponent and a fraction.
    pub fn is_float(self) -> bool {
        matches!(self, Self::F32 | Self::F64 | Self::F16 | Self::BF16)
    }

    /// The number that an element's bits stand for.
    pub fn number(self, bits: u64) -> f64 {
        match self {
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
            Self::F16 => f16::from_bits(bits as u16).to_f64(),
            Self::BF16 => bf16::from_bits(bits as u16).to_f64(),
            Self::I8 => f64::from(bits as u8 as i8),
            Self::I16 => f64::from(bits as u16 as i16),
            Self::I32 => f64::from(bits as u32 as i32),
            Self::I64 => bits as i64 as f64,
            Self::U8 | Self::U16 | Self::U32 | Self::U64 | Self::Bool => bits as f64,
        }
    }

    /// The bits of the element that comes nearest to a number; a whole-numbered type holds what
    /// lies beyond its range as its smallest or largest value, and NaN as zero.
    pub fn bits(self, number: f64) -> u64 {
        match self {
            Self::F32 => u64::from((number as f32).to_bits()),
            Self::F64 => number.to_bits(),
            Self::F16 => u64::from(f16::from_f64(number).to_bits()),
            Self::BF16 => u64::from(bf16::from_f64(number).to_bits()),
            Self::I8 => u64::from(number.round() as i8 as u8),
            Self::I16 => u64::from(number.round() as i16 as u16),
            Self::I32 => u64::from(number.round() as i32 as u32),
            Self::I64 => number.round() as i64 as u64,
            Self::U8 => u64::from(number.round() as u8),
            Self::U16 => u64::from(number.round() as u16),
            Self::U32 => u64::from(number.round() as u32),
            Self::U64 => number.round() as u64,
            Self::Bool => u64::from(number != 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_survive_their_bits() {
        use DType::*;
        for dtype in [F32, F64, F16, BF16, I8, I16, I32, I64] {
            for number in [0.0, 1.0, -2.0, 100.0] {
                assert_eq!(dtype.number(dtype.bits(number)), number, "{dtype:?}");
            }
            assert!(dtype.bit_width() == 64 || dtype.bits(-2.0) >> dtype.bit_width() == 0);
        }
        assert_eq!(U8.number(U8.bits(3.0)), 3.0);
        assert_eq!((Bool.bits(0.3), Bool.bit_width()), (1, 1));
        assert_eq!((I8.number(I8.bits(1e9)), U8.number(U8.bits(-7.0))), (127.0, 0.0));
    }
}
