//! Sums and affine maps per channel over channels-last rows: batch normalisation, bias gradients.

use super::elementwise::affine;
use super::simd::per_isa;
use rayon::prelude::*;

/// Rows that are summed in single precision before they join the sums in double precision.
const BLOCK: usize = 64;
/// Values that one thread works on at a time. Sums depend on it, so it is the same for all.
const CHUNK: usize = 1 << 15;

per_isa! {
    /// Adds the sums of `a - shift` and of `(a - shift)²` of each channel.
    fn add_moments[](rows: &[f32], shift: &[f32], sums: &mut [f32], squares: &mut [f32]) = {
        for row in rows.chunks_exact(shift.len()) {
            for (((&x, &s), sum), square) in row.iter().zip(shift).zip(&mut *sums).zip(&mut *squares) {
                let d = x - s;
                *sum += d;
                *square = d.mul_add(d, *square);
            }
        }
    };
}

per_isa! {
    /// Adds the sums of `a` and of `a · (b - shift)` of each channel.
    fn add_products[](a: &[f32], b: &[f32], shift: &[f32], sums: &mut [f32], products: &mut [f32]) = {
        for (a, b) in a.chunks_exact(shift.len()).zip(b.chunks_exact(shift.len())) {
            let channels = a.iter().zip(b).zip(shift).zip(&mut *sums).zip(&mut *products);
            for ((((&a, &b), &s), sum), product) in channels {
                *sum += a;
                *product = a.mul_add(b - s, *product);
            }
        }
    };
}

per_isa! {
    /// `gradient = factor · gradient + (slope · value + offset)`, per channel.
    fn blend[](gradient: &mut [f32], value: &[f32], factor: &[f32], slope: &[f32], offset: &[f32]) = {
        let n = factor.len();
        for (g, x) in gradient.chunks_exact_mut(n).zip(value.chunks_exact(n)) {
            let channels = g.iter_mut().zip(x).zip(factor).zip(slope).zip(offset);
            for ((((g, &x), &f), &s), &o) in channels {
                *g = f.mul_add(*g, s.mul_add(x, o));
            }
        }
    };
}

/// Two sums per channel.
type ChannelSums = [Vec<f64>; 2];

/// Sums over chunks of whole rows, the chunks in order; how they are shared out changes no bit.
fn by_chunk(
    length: usize,
    channels: usize,
    threads: usize,
    block: impl Fn(std::ops::Range<usize>, &mut [f32], &mut [f32]) + Sync,
) -> ChannelSums {
    let chunk = (CHUNK / channels.max(1)).max(1) * channels.max(1);
    let one = |at: usize| {
        let end = (at * chunk + chunk).min(length);
        let mut both: ChannelSums = std::array::from_fn(|_| vec![0.0; channels]);
        // Short stretches in single precision, which runs in vectors; their sums in double.
        let mut singles = [vec![0.0f32; channels], vec![0.0f32; channels]];
        for start in (at * chunk..end).step_by(BLOCK * channels.max(1)) {
            let [a, b] = &mut singles;
            a.fill(0.0);
            b.fill(0.0);
            block(start..(start + BLOCK * channels).min(end), a, b);
            add(&mut both, &singles);
        }
        both
    };
    let chunks = length.div_ceil(chunk);
    let parts: Vec<ChannelSums> = if threads > 1 && chunks > 1 {
        (0..chunks).into_par_iter().map(one).collect()
    } else {
        (0..chunks).map(one).collect()
    };
    let zeros = std::array::from_fn(|_| vec![0.0; channels]);
    // Always in the order of the chunks, whoever summed them.
    parts.into_iter().fold(zeros, |mut sum, part| {
        add(&mut sum, &part);
        sum
    })
}

fn add<T: Copy + Into<f64>>(to: &mut ChannelSums, from: &[Vec<T>; 2]) {
    for (to, from) in to.iter_mut().zip(from) {
        to.iter_mut().zip(from).for_each(|(to, &from)| *to += from.into());
    }
}

/// Mean and variance of each channel.
pub(crate) fn moments(values: &[f32], channels: usize, threads: usize) -> ChannelSums {
    let n = (values.len() / channels) as f64;
    // Sums of differences from one of the values lose nothing where the mean is far from zero.
    let shift = &values[..channels.min(values.len())];
    let [mut mean, mut variance] = by_chunk(values.len(), channels, threads, |range, a, b| {
        add_moments(&values[range], shift, a, b);
    });
    for ((mean, variance), &shift) in mean.iter_mut().zip(&mut variance).zip(shift) {
        *mean /= n;
        let spread = *variance / n - *mean * *mean;
        // Rounding can leave a little less than nothing; what is no number stays so.
        *variance = if spread < 0.0 { 0.0 } else { spread };
        *mean += f64::from(shift);
    }
    [mean, variance]
}

/// For each channel, the sums of `a` and of `a · (b - shift)`.
pub(crate) fn products(a: &[f32], b: &[f32], shift: &[f32], threads: usize) -> ChannelSums {
    by_chunk(a.len(), shift.len(), threads, |range, sums, products| {
        add_products(&a[range.clone()], &b[range], shift, sums, products);
    })
}

/// The sum of each channel.
pub(crate) fn sums(values: &[f32], channels: usize, threads: usize) -> Vec<f32> {
    let zeros = vec![0.0; channels];
    let [sums, _] = by_chunk(values.len(), channels, threads, |range, a, b| {
        add_moments(&values[range], &zeros, a, b);
    });
    sums.into_iter().map(|sum| sum as f32).collect()
}

/// `to = from · factor + offset`, per channel.
pub(crate) fn mapped(from: &[f32], to: &mut [f32], [factor, offset]: [&[f32]; 2], threads: usize) {
    let chunk = chunk_of(factor.len());
    let one = |(from, to): (&[f32], &mut [f32])| {
        to.copy_from_slice(from);
        affine(to, factor, offset);
    };
    if threads > 1 {
        from.par_chunks(chunk).zip(to.par_chunks_mut(chunk)).for_each(one);
    } else {
        from.chunks(chunk).zip(to.chunks_mut(chunk)).for_each(one);
    }
}

/// `gradient = factor · gradient + slope · value + offset`, per channel.
pub(crate) fn blended(
    gradient: &mut [f32],
    value: &[f32],
    [factor, slope, offset]: [&[f32]; 3],
    threads: usize,
) {
    let chunk = chunk_of(factor.len());
    let one = |(g, x): (&mut [f32], &[f32])| blend(g, x, factor, slope, offset);
    if threads > 1 {
        gradient.par_chunks_mut(chunk).zip(value.par_chunks(chunk)).for_each(one);
    } else {
        gradient.chunks_mut(chunk).zip(value.chunks(chunk)).for_each(one);
    }
}

/// Whole rows that stay in the nearest cache.
fn chunk_of(channels: usize) -> usize {
    ((1 << 12) / channels.max(1)).max(1) * channels.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_far_from_zero_are_exact_enough() {
        let rows = 10_000;
        let channels = 3;
        let values: Vec<f32> = (0..rows * channels)
            .map(|i| 1000.0 * (i % channels) as f32 + ((i / channels) % 100) as f32 * 0.01)
            .collect();
        let [mean, variance] = moments(&values, channels, 1);
        for channel in 0..channels {
            let of: Vec<f64> =
                values.iter().skip(channel).step_by(channels).map(|&x| f64::from(x)).collect();
            let exact = of.iter().sum::<f64>() / rows as f64;
            let spread = of.iter().map(|x| (x - exact).powi(2)).sum::<f64>() / rows as f64;
            assert!((mean[channel] - exact).abs() < 1e-5 * exact.abs().max(1.0));
            assert!((variance[channel] - spread).abs() < 1e-4 * spread, "{variance:?} {spread}");
        }
    }
}
