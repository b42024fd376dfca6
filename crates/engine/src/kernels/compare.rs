//! Comparing values bit for bit.

use super::simd::per_isa;

/// Bit for bit, but any NaN equals any NaN: its payload depends on the order of operands, and says
/// nothing of the arithmetic.
#[inline(always)]
pub(crate) fn same_float(x: f32, y: f32) -> bool {
    x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan())
}

/// Whether all pairs have the same bits; any NaN equals any NaN, since its payload depends on the
/// order of operands.
pub(crate) fn same(a: &[f32], b: &[f32]) -> bool {
    a.chunks(256).zip(b.chunks(256)).all(|(a, b)| {
        let mut equal = true;
        same_chunk(a, b, &mut equal);
        equal
    })
}

per_isa! {
    /// Compares a chunk without leaving early, so that it runs in vectors.
    fn same_chunk[](a: &[f32], b: &[f32], equal: &mut bool) = {
        let mut all = true;
        for (&x, &y) in a.iter().zip(b) {
            all &= same_float(x, y);
        }
        *equal = all;
    };
}
