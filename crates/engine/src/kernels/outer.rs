//! Sums of products over pixels: what weights of convolutions and matrices have as gradients.
//!
//! Every sum is one chain of fused multiply-adds over the pixels in their given order, whatever
//! the tiles, the vector width and the threads.

#![expect(clippy::needless_range_loop, reason = "indices name registers of a tile")]

#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Isa, Portable, Vector, isa};
use std::marker::PhantomData;

/// Pixels whose values stay in the nearest cache while all tiles use them.
const BLOCK: usize = 128;

/// Pixels of two values that meet. Each is known to hold as many channels as was said at the start.
#[derive(Debug)]
pub(crate) struct RowPairs<'a> {
    left: Vec<*const f32>,
    right: Vec<*const f32>,
    channels: [usize; 2],
    values: PhantomData<&'a [f32]>,
}

// SAFETY: the places are only read, and the values they lie in are borrowed.
unsafe impl Send for RowPairs<'_> {}
// SAFETY: as above.
unsafe impl Sync for RowPairs<'_> {}

impl<'a> RowPairs<'a> {
    /// None yet, between values of so many channels.
    pub(crate) fn new(channels: [usize; 2]) -> Self {
        Self { left: Vec::new(), right: Vec::new(), channels, values: PhantomData }
    }

    /// Lets two pixels meet, given from their first channel on.
    pub(crate) fn push(&mut self, left: &'a [f32], right: &'a [f32]) {
        assert!(left.len() >= self.channels[0] && right.len() >= self.channels[1]);
        self.left.push(left.as_ptr());
        self.right.push(right.as_ptr());
    }

    /// Lets the rows of two matrices meet, which have as many columns as there are channels.
    pub(crate) fn of_rows(left: &'a [f32], right: &'a [f32], channels: [usize; 2]) -> Self {
        let mut pairs = Self::new(channels);
        let [l, r] = channels.map(|n| n.max(1));
        let rows = left.chunks_exact(l).zip(right.chunks_exact(r));
        rows.for_each(|(left, right)| pairs.push(left, right));
        pairs
    }
}

/// A matrix of sums, row by row.
#[derive(Clone, Copy)]
pub(crate) struct Sums {
    pub(crate) to: *mut f32,
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Adds to every sum `[m][n]` the products `left[m] · right[n]` of all pairs, from channel
/// `left` and channel `right` on.
///
/// # Safety
/// The sums must be writable, and nobody else may touch them meanwhile.
pub(crate) unsafe fn outer(pairs: &RowPairs<'_>, [left, right]: [usize; 2], sums: Sums) {
    let [max_left, max_right] = pairs.channels;
    assert!(left + sums.rows <= max_left && right + sums.columns <= max_right);
    // Pixels in blocks: within one, all tiles read the same few kilobytes. Sums rest in memory
    // between blocks, which changes no bit.
    let blocks = pairs.left.chunks(BLOCK).zip(pairs.right.chunks(BLOCK));
    for (l, r) in blocks {
        let block = Block { left: l, right: r, channels: [left, right], sums };
        // SAFETY: pixels hold these channels, the caller vouches for the sums, `isa` for the
        // instructions.
        unsafe {
            match isa() {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => strips::<OnAvx512>(&block),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => strips::<OnAvx2>(&block),
                Isa::Portable => strips::<OnPortable>(&block),
            }
        }
    }
}

struct Block<'a> {
    left: &'a [*const f32],
    right: &'a [*const f32],
    channels: [usize; 2],
    sums: Sums,
}

/// How an instruction set cuts the sums into tiles.
trait Tiles {
    const LANES: usize;
    /// Most vectors of columns that one tile takes.
    const VECTORS: usize;
    unsafe fn tile<const N: usize, const R: usize>(block: &Block<'_>, at: [usize; 2]);
}

macro_rules! tiles {
    ($name:ident, $vector:ty, $vectors:literal $(, $features:literal)?) => {
        struct $name;

        impl Tiles for $name {
            const LANES: usize = <$vector as Vector>::LANES;
            const VECTORS: usize = $vectors;

            unsafe fn tile<const N: usize, const R: usize>(block: &Block<'_>, at: [usize; 2]) {
                #[inline(never)]
                $(#[target_feature(enable = $features)])?
                unsafe fn compiled<const N: usize, const R: usize>(
                    block: &Block<'_>,
                    at: [usize; 2],
                ) {
                    // SAFETY: the caller's promise.
                    unsafe { tile::<$vector, N, R>(block, at) }
                }
                // SAFETY: `outer` has checked the instructions.
                unsafe { compiled::<N, R>(block, at) }
            }
        }
    };
}

tiles!(OnPortable, Portable, 2);
#[cfg(target_arch = "x86_64")]
tiles!(OnAvx2, Avx2, 2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
tiles!(OnAvx512, Avx512, 4, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma");

unsafe fn strips<T: Tiles>(block: &Block<'_>) {
    let strip = T::LANES * T::VECTORS;
    for column in (0..block.sums.columns).step_by(strip) {
        let vectors = (block.sums.columns - column).min(strip).div_ceil(T::LANES);
        // SAFETY: the caller's promise; strips stay below the number of columns.
        unsafe {
            match vectors {
                1 => rows::<T, 1, 8>(block, column),
                2 => rows::<T, 2, 6>(block, column),
                3 => rows::<T, 3, 6>(block, column),
                _ => rows::<T, 4, 6>(block, column),
            }
        }
    }
}

unsafe fn rows<T: Tiles, const N: usize, const R: usize>(block: &Block<'_>, column: usize) {
    let mut row = 0;
    // SAFETY: the caller's promise; tiles stay below the number of rows.
    unsafe {
        while row + R <= block.sums.rows {
            T::tile::<N, R>(block, [row, column]);
            row += R;
        }
        while row + 2 <= block.sums.rows {
            T::tile::<N, 2>(block, [row, column]);
            row += 2;
        }
        if row < block.sums.rows {
            T::tile::<N, 1>(block, [row, column]);
        }
    }
}

/// `R` rows times `N` vectors of columns over one block of pixels, all sums in registers.
#[inline(always)]
unsafe fn tile<V: Vector, const N: usize, const R: usize>(
    block: &Block<'_>,
    [row, column]: [usize; 2],
) {
    let Sums { to, columns, .. } = block.sums;
    // Columns of the last vector; the others are whole.
    let last = (columns - column - (N - 1) * V::LANES).min(V::LANES);
    let [left, right] = [block.channels[0] + row, block.channels[1] + column];
    // SAFETY: the tile lies inside the sums, and pixels hold the channels that it reads.
    unsafe {
        let at = |r: usize, n: usize| to.add((row + r) * columns + column + n * V::LANES);
        let mut sums = [[V::splat(0.0); N]; R];
        for r in 0..R {
            for n in 0..N - 1 {
                sums[r][n] = V::load(at(r, n));
            }
            // The last vector may be cut off; the lanes beside it belong to other rows.
            sums[r][N - 1] = V::load_some(at(r, N - 1), last);
        }
        for (l, x) in block.left.iter().zip(block.right) {
            let l = l.add(left);
            let x = x.add(right);
            let mut w = [V::splat(0.0); N];
            for n in 0..N - 1 {
                w[n] = V::load(x.add(n * V::LANES));
            }
            let end = x.add((N - 1) * V::LANES);
            w[N - 1] = if last == V::LANES { V::load(end) } else { V::load_some(end, last) };
            for r in 0..R {
                let x = V::splat(*l.add(r));
                for n in 0..N {
                    sums[r][n] = x.mul_add(w[n], sums[r][n]);
                }
            }
        }
        for r in 0..R {
            for n in 0..N - 1 {
                sums[r][n].store(at(r, n));
            }
            sums[r][N - 1].store_some(at(r, N - 1), last);
        }
    }
}

super::simd::per_isa! {
    /// Adds to every sum `[n]` the products `left[n] · right[n]` of all pairs, from `channel` on.
    fn inner[](pairs: &RowPairs<'_>, channel: usize, sums: &mut [f32]) = {
        const LANES: usize = 32;
        assert!(pairs.channels.iter().all(|&max| channel + sums.len() <= max));
        let mut at = 0;
        while at < sums.len() {
            let count = LANES.min(sums.len() - at);
            let mut lanes = [0.0f32; LANES];
            // Sums stay in registers while all pixels go by.
            lanes[..count].copy_from_slice(&sums[at..at + count]);
            for (l, r) in pairs.left.iter().zip(&pairs.right) {
                // SAFETY: pixels hold all channels up to the last sum's.
                let (l, r) = unsafe {
                    (
                        std::slice::from_raw_parts(l.add(channel + at), count),
                        std::slice::from_raw_parts(r.add(channel + at), count),
                    )
                };
                if count == LANES {
                    for n in 0..LANES {
                        lanes[n] = l[n].mul_add(r[n], lanes[n]);
                    }
                } else {
                    for n in 0..count {
                        lanes[n] = l[n].mul_add(r[n], lanes[n]);
                    }
                }
            }
            sums[at..at + count].copy_from_slice(&lanes[..count]);
            at += count;
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_a_plain_loop() {
        for (pixels, rows, columns) in [(1, 1, 1), (130, 7, 19), (300, 13, 70), (5, 6, 64)] {
            let value = |i: usize| ((i * 37 % 101) as f32 - 50.0) / 16.0;
            let left: Vec<f32> = (0..pixels * rows).map(value).collect();
            let right: Vec<f32> = (0..pixels * columns).map(|i| value(i + 7)).collect();
            let pairs = RowPairs::of_rows(&left, &right, [rows, columns]);
            let mut found = vec![0.5; rows * columns];
            let sums = Sums { to: found.as_mut_ptr(), rows, columns };
            // SAFETY: the sums are this test's own.
            unsafe { outer(&pairs, [0, 0], sums) };
            let mut diagonal = vec![0.5; rows.min(columns)];
            inner(&pairs, 0, &mut diagonal);
            for m in 0..rows {
                for n in 0..columns {
                    let chain = (0..pixels).fold(0.5f32, |sum, p| {
                        left[p * rows + m].mul_add(right[p * columns + n], sum)
                    });
                    assert_eq!(found[m * columns + n], chain);
                    assert!(m != n || diagonal[m] == chain);
                }
            }
        }
    }
}
