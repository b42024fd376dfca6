//! Rows of whole numbers times packed weights: the loop behind integer convolutions and products.

use crate::kernels::simd::{Isa, isa};

/// Columns that packed weights are padded to: the widest vector of 32-bit sums.
const UNIT: usize = 16;

/// Values that a run of `run` inputs takes, padded so that they come in pairs.
pub(crate) fn padded(run: usize) -> usize {
    run.next_multiple_of(2)
}

/// Weights of `taps · run` inputs per column. Two inputs lie side by side, for the instruction
/// that multiplies and adds pairs: units of [`UNIT`] columns, each pair by pair of inputs.
#[derive(Debug)]
pub(crate) struct Packed {
    taps: usize,
    /// Inputs of one tap, padded to pairs.
    run: usize,
    columns: usize,
    units: Vec<i16>,
}

impl Packed {
    /// Packs `weight(tap, input, column)`.
    pub(crate) fn new(
        taps: usize,
        run: usize,
        columns: usize,
        weight: impl Fn(usize, usize, usize) -> i16,
    ) -> Self {
        let even = padded(run);
        let mut units = vec![0; columns.next_multiple_of(UNIT) * taps * even];
        for (unit, packed) in units.chunks_exact_mut((UNIT * taps * even).max(1)).enumerate() {
            for (k, slots) in packed.chunks_exact_mut(2 * UNIT).enumerate() {
                let tap = 2 * k / even;
                let input = 2 * k % even;
                for (slot, value) in slots.iter_mut().enumerate() {
                    let input = input + slot % 2;
                    let column = unit * UNIT + slot / 2;
                    if input < run && column < columns {
                        *value = weight(tap, input, column);
                    }
                }
            }
        }
        Self { taps, run: even, columns, units }
    }

    /// How many sums one row has.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }
}

/// Rows of inputs: where each of their runs starts in the data.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) data: &'a [i16],
    /// Row by row, the start of each of its runs.
    pub(crate) starts: &'a [usize],
}

/// Sums that are written row by row.
pub(crate) struct Sums<'a> {
    pub(crate) data: &'a mut [i32],
    /// Values from one row to the next.
    pub(crate) stride: usize,
    /// Where in a row the first column goes.
    pub(crate) first: usize,
}

/// Multiplies every row with the weights.
pub(crate) fn multiply(rows: Rows<'_>, weights: &Packed, sums: &mut Sums<'_>) {
    let count = rows.starts.len() / weights.taps.max(1);
    // Compared without sums that could overflow.
    let last_start = rows.data.len().checked_sub(weights.run);
    assert!(rows.starts.iter().all(|&s| Some(s) <= last_start), "runs lie in the data");
    let room = sums.stride.checked_sub(sums.first);
    assert!(Some(weights.columns) <= room, "columns fit a row of sums");
    let wanted = count.checked_mul(sums.stride);
    assert!(wanted.is_some_and(|n| n <= sums.data.len()), "there is a row of sums for each row");
    // SAFETY: the processor has the instructions, `isa` has checked; all that is read and written
    // lies inside the slices, as the assertions say.
    unsafe {
        match isa() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => x86::units_avx512(rows, weights, sums),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => x86::units_avx2(rows, weights, sums),
            Isa::Portable => units::<Portable, 2>(rows, weights, sums),
        }
    }
}

/// A register of 32-bit sums, and of as many pairs of 16-bit inputs or weights.
///
/// # Safety
/// The methods may only be called on a processor that has the instructions, and pointers must be
/// valid for [`Pairs::LANES`] sums or pairs.
unsafe trait Pairs: Copy {
    /// Sums in one register.
    const LANES: usize;
    /// The pair in every lane; zeros where it is zero.
    unsafe fn splat(pair: i32) -> Self;
    /// The pairs at `from`.
    unsafe fn load(from: *const i16) -> Self;
    /// The sums `self`, with the products of both members of each pair added.
    unsafe fn add_products(self, x: Self, w: Self) -> Self;
    /// Writes the sums to `to`.
    unsafe fn store(self, to: *mut i32);
}

/// The portable register, with whatever instructions the compiler may use.
#[derive(Clone, Copy)]
struct Portable([i32; 8]);

// SAFETY: no instructions beyond the compiler's own target are used.
unsafe impl Pairs for Portable {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(pair: i32) -> Self {
        Self([pair; 8])
    }

    #[inline(always)]
    unsafe fn load(from: *const i16) -> Self {
        // SAFETY: the caller vouches for the pointer and the instructions.
        Self(unsafe { from.cast::<[i32; 8]>().read_unaligned() })
    }

    #[inline(always)]
    unsafe fn add_products(self, x: Self, w: Self) -> Self {
        Self(std::array::from_fn(|i| {
            // A pair is two 16-bit numbers in one register lane, as `madd` takes them.
            let [x, w] = [x.0[i], w.0[i]];
            let first = i32::from(x as i16) * i32::from(w as i16);
            let second = (x >> 16) * (w >> 16);
            self.0[i].wrapping_add(second + first)
        }))
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i32) {
        // SAFETY: the caller vouches for the pointer and the instructions.
        unsafe { to.cast::<[i32; 8]>().write_unaligned(self.0) }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Packed, Pairs, Rows, Sums, units};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
    pub(super) unsafe fn units_avx512(rows: Rows<'_>, weights: &Packed, sums: &mut Sums<'_>) {
        // SAFETY: the caller vouches for the instructions, `multiply` for the slices.
        unsafe { units::<Avx512, 8>(rows, weights, sums) }
    }

    #[target_feature(enable = "avx2,fma")]
    pub(super) unsafe fn units_avx2(rows: Rows<'_>, weights: &Packed, sums: &mut Sums<'_>) {
        // SAFETY: the caller vouches for the instructions, `multiply` for the slices.
        unsafe { units::<Avx2, 4>(rows, weights, sums) }
    }

    #[derive(Clone, Copy)]
    struct Avx2(__m256i);

    // SAFETY: all methods compute with Avx2's instructions alone, as the trait allows.
    unsafe impl Pairs for Avx2 {
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn splat(pair: i32) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm256_set1_epi32(pair) })
        }

        #[inline(always)]
        unsafe fn load(from: *const i16) -> Self {
            // SAFETY: the caller vouches for the pointer and the instructions.
            Self(unsafe { _mm256_loadu_si256(from.cast()) })
        }

        #[inline(always)]
        unsafe fn add_products(self, x: Self, w: Self) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm256_add_epi32(self.0, _mm256_madd_epi16(x.0, w.0)) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: the caller vouches for the pointer and the instructions.
            unsafe { _mm256_storeu_si256(to.cast(), self.0) }
        }
    }

    #[derive(Clone, Copy)]
    struct Avx512(__m512i);

    // SAFETY: all methods compute with Avx512's instructions alone, as the trait allows.
    unsafe impl Pairs for Avx512 {
        const LANES: usize = 16;

        #[inline(always)]
        unsafe fn splat(pair: i32) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm512_set1_epi32(pair) })
        }

        #[inline(always)]
        unsafe fn load(from: *const i16) -> Self {
            // SAFETY: the caller vouches for the pointer and the instructions.
            Self(unsafe { _mm512_loadu_si512(from.cast()) })
        }

        #[inline(always)]
        unsafe fn add_products(self, x: Self, w: Self) -> Self {
            // SAFETY: the caller vouches for the instructions.
            Self(unsafe { _mm512_add_epi32(self.0, _mm512_madd_epi16(x.0, w.0)) })
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut i32) {
            // SAFETY: the caller vouches for the pointer and the instructions.
            unsafe { _mm512_storeu_si512(to.cast(), self.0) }
        }
    }
}

/// All rows times all columns, in tiles of `R` rows and two registers of columns.
#[inline(always)]
unsafe fn units<V: Pairs, const R: usize>(rows: Rows<'_>, weights: &Packed, sums: &mut Sums<'_>) {
    let count = rows.starts.len() / weights.taps.max(1);
    for column in (0..weights.columns).step_by(2 * V::LANES) {
        let both = column + V::LANES < weights.columns;
        let mut row = 0;
        while row < count {
            // SAFETY: `row` and `column` lie inside.
            row += unsafe {
                match (both, row + R <= count) {
                    (true, true) => tile::<V, 2, R>(rows, weights, sums, row, column),
                    (true, false) => tile::<V, 2, 1>(rows, weights, sums, row, column),
                    (false, true) => tile::<V, 1, R>(rows, weights, sums, row, column),
                    (false, false) => tile::<V, 1, 1>(rows, weights, sums, row, column),
                }
            };
        }
    }
}

/// `R` rows times `N` registers of columns, all sums in registers; answers `R`.
#[inline(always)]
unsafe fn tile<V: Pairs, const N: usize, const R: usize>(
    rows: Rows<'_>,
    weights: &Packed,
    sums: &mut Sums<'_>,
    row: usize,
    column: usize,
) -> usize {
    let Packed { taps, run, columns, .. } = *weights;
    // SAFETY: units are whole, so a register's columns lie in one; `multiply` has checked the rest.
    unsafe {
        let mut at: [*const i16; N] = std::array::from_fn(|n| {
            let first = column + n * V::LANES;
            let unit = first / UNIT;
            let lane = first % UNIT;
            weights.units.as_ptr().add(unit * UNIT * taps * run + 2 * lane)
        });
        let mut tile = [[V::splat(0); N]; R];
        for tap in 0..taps {
            let inputs: [*const i16; R] = std::array::from_fn(|r| {
                rows.data.as_ptr().add(*rows.starts.get_unchecked((row + r) * taps + tap))
            });
            for k in (0..run).step_by(2) {
                let w: [V; N] = std::array::from_fn(|n| V::load(at[n]));
                for r in 0..R {
                    let x = V::splat(inputs[r].add(k).cast::<i32>().read_unaligned());
                    for n in 0..N {
                        tile[r][n] = tile[r][n].add_products(x, w[n]);
                    }
                }
                at = at.map(|p| p.wrapping_add(2 * UNIT));
            }
        }
        for (r, registers) in tile.iter().enumerate() {
            let mut side = [0; 2 * UNIT];
            for (n, register) in registers.iter().enumerate() {
                register.store(side.as_mut_ptr().add(n * V::LANES));
            }
            let real = (columns - column).min(N * V::LANES);
            let to = (row + r) * sums.stride + sums.first + column;
            sums.data[to..to + real].copy_from_slice(&side[..real]);
        }
    }
    R
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every difference of eight bits, the largest ones included.
    fn element(i: usize) -> i16 {
        (i * 7919 % 511) as i16 - 255
    }

    fn weight(tap: usize, input: usize, column: usize) -> i16 {
        element(3 * tap + 5 * input + 11 * column + 1)
    }

    #[test]
    fn every_instruction_set_gives_the_plain_sums() {
        for (taps, run, columns, count) in
            [(1, 2, 1, 1), (9, 3, 16, 9), (1, 31, 45, 17), (4, 8, 33, 8)]
        {
            let even = padded(run);
            let mut data: Vec<i16> = (0..count * taps * even).map(element).collect();
            data.iter_mut().skip(run).step_by(even).for_each(|x| {
                if run < even {
                    *x = 0
                }
            });
            let starts: Vec<usize> = (0..count * taps).rev().map(|i| i * even).collect();
            let packed = Packed::new(taps, run, columns, weight);
            let sum = |row: usize, column: usize| -> i32 {
                let inputs = (0..taps).flat_map(|tap| (0..run).map(move |k| (tap, k)));
                inputs
                    .map(|(tap, k)| {
                        let x = data[starts[row * taps + tap] + k];
                        i32::from(x) * i32::from(weight(tap, k, column))
                    })
                    .sum()
            };
            let plain: Vec<i32> =
                (0..count * columns).map(|i| sum(i / columns, i % columns)).collect();
            let rows = Rows { data: &data, starts: &starts };
            let mut sums = vec![0; count * columns];
            multiply(rows, &packed, &mut Sums { data: &mut sums, stride: columns, first: 0 });
            assert_eq!(sums, plain, "{taps} taps of {run}, {columns} columns");
            sums.fill(0);
            let mut portable = Sums { data: &mut sums, stride: columns, first: 0 };
            // SAFETY: the same slices, which `multiply` has checked.
            unsafe { units::<Portable, 2>(rows, &packed, &mut portable) };
            assert_eq!(sums, plain, "{taps} taps of {run}, {columns} columns");
        }
    }
}
