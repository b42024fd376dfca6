//! Numbers and the bits that elements of each type hold them in.

use faultlens_core::DType;
use half::{bf16, f16};

/// How many bits an element has; a truth value has one, whatever it takes in memory.
pub(super) fn bit_width(dtype: DType) -> u32 {
    if dtype == DType::Bool { 1 } else { dtype.size() as u32 * 8 }
}

/// The number that an element's bits stand for.
pub fn number_of(bits: u64, dtype: DType) -> f64 {
    match dtype {
        DType::F32 => f64::from(f32::from_bits(bits as u32)),
        DType::F64 => f64::from_bits(bits),
        DType::F16 => f16::from_bits(bits as u16).to_f64(),
        DType::BF16 => bf16::from_bits(bits as u16).to_f64(),
        DType::I8 => f64::from(bits as u8 as i8),
        DType::I16 => f64::from(bits as u16 as i16),
        DType::I32 => f64::from(bits as u32 as i32),
        DType::I64 => bits as i64 as f64,
        DType::U8 | DType::U16 | DType::U32 | DType::U64 | DType::Bool => bits as f64,
    }
}

/// The bits of the element that comes nearest to a number.
pub(super) fn bits_of(number: f64, dtype: DType) -> u64 {
    match dtype {
        DType::F32 => u64::from((number as f32).to_bits()),
        DType::F64 => number.to_bits(),
        DType::F16 => u64::from(f16::from_f64(number).to_bits()),
        DType::BF16 => u64::from(bf16::from_f64(number).to_bits()),
        DType::I8 => u64::from(number.round() as i8 as u8),
        DType::I16 => u64::from(number.round() as i16 as u16),
        DType::I32 => u64::from(number.round() as i32 as u32),
        DType::I64 => number.round() as i64 as u64,
        DType::U8 => u64::from(number.round() as u8),
        DType::U16 => u64::from(number.round() as u16),
        DType::U32 => u64::from(number.round() as u32),
        DType::U64 => number.round() as u64,
        DType::Bool => u64::from(number != 0.0),
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
                assert_eq!(number_of(bits_of(number, dtype), dtype), number, "{dtype:?}");
            }
            assert!(bit_width(dtype) == 64 || bits_of(-2.0, dtype) >> bit_width(dtype) == 0);
        }
        assert_eq!(number_of(bits_of(3.0, U8), U8), 3.0);
        assert_eq!((bits_of(0.3, Bool), bit_width(Bool)), (1, 1));
    }
}
