//! Gaussian smoothing, separable and in integers: the same on every machine, eight values at a time.
//! Wide Gaussians work on a pyramid level of half the size, since variances of Gaussians add.

use super::edge::Edge;
use super::pixels::{HALF_SCALE, in_65536ths, narrowed, weighed, widened};
use faultlens_core::Image;

/// The largest deviation; wider weights would be too small for 65536ths.
pub(crate) const MAX_DEVIATION: f64 = 200.0;

/// The weight, on either side, that is left out at the ends of a kernel, in 65536ths.
const NEGLIGIBLE: u16 = 16;

/// Kernels up to this radius lose little by cutting products off.
const NARROW: usize = 24;

/// Values that are worked on at once.
const LANES: usize = 8;

/// Gaussians of larger deviations, on images of at least so many pixels a side, need no finer
/// pixels than every other.
const WIDE: f64 = 12.0;
const LARGE: usize = 64;

/// One half of a symmetric kernel, from the centre outwards, in 65536ths.
pub(crate) struct Kernel(Vec<u16>);

impl Kernel {
    /// A Gaussian cut off at a number of deviations.
    pub(crate) fn gaussian(deviation: f64, cut: f64) -> Self {
        let radius = if deviation > 0.0 { (cut * deviation + 0.5) as i32 } else { 0 };
        Self::symmetric((0..=radius).map(|at| density(f64::from(at) / deviation.max(1e-9))))
    }

    /// A Gaussian of a given number of pixels to either side.
    pub(crate) fn gaussian_within(deviation: f64, radius: usize) -> Self {
        Self::symmetric((0..=radius).map(|at| density(at as f64 / deviation.max(1e-9))))
    }

    fn symmetric(half: impl Iterator<Item = f64>) -> Self {
        let half: Vec<f64> = half.collect();
        let both: Vec<f64> = half.iter().skip(1).rev().chain(&half).copied().collect();
        let rounded = in_65536ths(&both);
        let centre = half.len() - 1;
        let mut kernel: Vec<u16> = rounded[centre..].to_vec();
        // Rounding may favour one side: the centre takes what is left over.
        let sides: u32 = kernel[1..].iter().map(|&weight| 2 * u32::from(weight)).sum();
        kernel[0] = (65536 - sides.min(65536)).min(65535) as u16;
        // What can change an eighth of a grey level at most is not worth its time.
        let mut tail = 0;
        while kernel.len() > 1 && tail + kernel[kernel.len() - 1] < NEGLIGIBLE {
            tail += kernel.pop().unwrap_or(0);
        }
        kernel[0] = kernel[0].saturating_add(2 * tail);
        Self(kernel)
    }

    fn radius(&self) -> usize {
        self.0.len() - 1
    }
}

fn density(deviations: f64) -> f64 {
    libm::exp(-0.5 * deviations * deviations)
}

/// The image under a Gaussian that is cut off at four deviations.
pub(crate) fn blurred(image: &Image, deviation: f64, edge: Edge) -> Image {
    let wide = widened(image, HALF_SCALE);
    let gaussian = Gaussian { deviations: [deviation; 2], cut: 4.0, edge };
    narrowed(image, &gaussian.smoothed(wide, image.width(), 3), HALF_SCALE)
}

/// Smoothing by a Gaussian.
pub(crate) struct Gaussian {
    /// Across and down, in pixels.
    pub(crate) deviations: [f64; 2],
    /// How many deviations it reaches.
    pub(crate) cut: f64,
    pub(crate) edge: Edge,
}

impl Gaussian {
    /// Interleaved planes of values up to 32640. Where it is so wide that half the pixels say as
    /// much, it works on half the pixels; where edge pixels repeat, each of them counts.
    pub(crate) fn smoothed(&self, values: Vec<u16>, width: usize, channels: usize) -> Vec<u16> {
        let [across, down] = self.deviations;
        let height = values.len() / (width * channels);
        let small = across.min(down) <= WIDE || width.min(height) < LARGE;
        if small || self.edge != Edge::Reflect {
            let kernels = [across, down].map(|deviation| Kernel::gaussian(deviation, self.cut));
            return smoothed(&values, width, channels, [&kernels[0], &kernels[1]], self.edge);
        }
        let coarse = halved(&values, width, channels);
        // Halving and doubling smooth a little too: by a variance of a quarter and three quarters.
        let deviations =
            self.deviations.map(|deviation| libm::sqrt(deviation * deviation - 1.0) / 2.0);
        let coarser = Self { deviations, ..*self };
        let coarse = coarser.smoothed(coarse, width.div_ceil(2), channels);
        doubled(&coarse, [width, height], channels)
    }
}

/// The mean of every four pixels; the last row and column count twice where they are alone.
fn halved(values: &[u16], width: usize, channels: usize) -> Vec<u16> {
    let stride = width * channels;
    let mut out = Vec::with_capacity(values.len() / 4 + stride);
    for rows in values.chunks(2 * stride) {
        let (upper, lower) = rows.split_at(stride);
        let lower = if lower.is_empty() { upper } else { lower };
        for x in (0..width).step_by(2) {
            let [left, right] = [x, (x + 1).min(width - 1)].map(|x| x * channels);
            for at in 0..channels {
                let above = u32::from(upper[left + at]) + u32::from(upper[right + at]);
                let below = u32::from(lower[left + at]) + u32::from(lower[right + at]);
                out.push(((above + below + 2) >> 2) as u16);
            }
        }
    }
    out
}

/// Twice as many pixels, each a quarter of the way to the next.
fn doubled(values: &[u16], [width, height]: [usize; 2], channels: usize) -> Vec<u16> {
    let half = width.div_ceil(2);
    let stride = half * channels;
    let mut between = vec![0; stride + 2 * channels];
    let mut out = Vec::with_capacity(width * height * channels);
    for y in 0..height {
        let step = if y % 2 == 0 { -1 } else { 1 };
        let far = Edge::Repeat.index((y / 2) as isize + step, height.div_ceil(2));
        let near = &values[y / 2 * stride..][..stride];
        let far = &values[far * stride..][..stride];
        for ((out, &near), &far) in between[channels..].iter_mut().zip(near).zip(far) {
            *out = quarter(near, far);
        }
        Edge::Repeat.pad(&mut between, 1, channels);
        for x in 0..width {
            let near = (x / 2 + 1) * channels;
            let far = if x % 2 == 0 { near - channels } else { near + channels };
            out.extend((0..channels).map(|at| quarter(between[near + at], between[far + at])));
        }
    }
    out
}

/// Three parts of the nearer value and one of the farther, rounded.
#[inline(always)]
fn quarter(near: u16, far: u16) -> u16 {
    ((3 * u32::from(near) + u32::from(far) + 2) >> 2) as u16
}

/// Interleaved planes of values up to 32640, under one kernel across and one down.
pub(crate) fn smoothed(
    values: &[u16],
    width: usize,
    channels: usize,
    [across, down]: [&Kernel; 2],
    edge: Edge,
) -> Vec<u16> {
    let stride = width * channels;
    let height = values.len() / stride;
    let border = across.radius();
    let mut padded = vec![0; stride + 2 * border * channels];
    let mut out = vec![0; values.len()];
    for (y, out) in out.chunks_exact_mut(stride).enumerate() {
        summed(&mut padded[border * channels..][..stride], down, |at| {
            let y = edge.index(y as isize + at, height);
            &values[y * stride..][..stride]
        });
        edge.pad(&mut padded, border, channels);
        summed(out, across, |at| &padded[(border as isize + at) as usize * channels..][..stride]);
    }
    out
}

/// Adds up rows with the kernel's weights.
fn summed<'a>(out: &mut [u16], kernel: &Kernel, row: impl Fn(isize) -> &'a [u16]) {
    let n = out.len();
    let side = |at: usize| [-(at as isize), at as isize].map(|at| &row(at)[..n]);
    if kernel.radius() > NARROW {
        summed_exactly(out, kernel, row(0), side);
    } else {
        summed_quickly(out, kernel, row(0), side);
    }
}

/// Cuts every product off at the unit.
fn summed_quickly<'a>(
    out: &mut [u16],
    Kernel(weights): &Kernel,
    centre: &[u16],
    side: impl Fn(usize) -> [&'a [u16]; 2],
) {
    // What cutting off costs on average.
    let loss = weights.len().div_ceil(2) as u16;
    out.fill(loss);
    // The centre is a pair of rows, of which one is nothing.
    add_pair(out, [centre, &vec![0; centre.len()]], weights[0]);
    // Three weights at a time: the sums are read and written less often.
    let (threes, rest) = weights[1..].as_chunks::<3>();
    for (three, &weights) in threes.iter().enumerate() {
        add_three(out, [1, 2, 3].map(|at| side(3 * three + at)), weights);
    }
    for (at, &weight) in rest.iter().enumerate() {
        add_pair(out, side(weights.len() - rest.len() + at), weight);
    }
}

/// Adds three pairs of rows, each with its weight. Apart from its caller, so that the compiler
/// knows the rows to be distinct; weights are spread over all values that are worked on at once
/// here, because it would do so again and again.
#[inline(never)]
fn add_three(out: &mut [u16], pairs: [[&[u16]; 2]; 3], weights: [u16; 3]) {
    let [p, q, r] = weights.map(|weight| [weight; LANES]);
    let [[a, b], [c, d], [e, f]] = pairs.map(|pair| pair.map(|row| row.as_chunks::<LANES>().0));
    let (eights, rest) = out.as_chunks_mut::<LANES>();
    let done = eights.len() * LANES;
    let rows = a.iter().zip(b).zip(c.iter().zip(d)).zip(e.iter().zip(f));
    for (out, (((a, b), (c, d)), (e, f))) in eights.iter_mut().zip(rows) {
        let mut sum = *out;
        for i in 0..LANES {
            sum[i] += weighed(a[i] + b[i], p[i]);
            sum[i] += weighed(c[i] + d[i], q[i]);
            sum[i] += weighed(e[i] + f[i], r[i]);
        }
        *out = sum;
    }
    for (at, out) in rest.iter_mut().enumerate() {
        for ([one, other], &weight) in pairs.iter().zip(&weights) {
            *out += weighed(one[done + at] + other[done + at], weight);
        }
    }
}

/// Adds one pair of rows, likewise.
#[inline(never)]
fn add_pair(out: &mut [u16], [one, other]: [&[u16]; 2], weight: u16) {
    let spread = [weight; LANES];
    let (eights, rest) = out.as_chunks_mut::<LANES>();
    let done = eights.len() * LANES;
    let rows = one.as_chunks::<LANES>().0.iter().zip(other.as_chunks::<LANES>().0);
    for (out, (one, other)) in eights.iter_mut().zip(rows) {
        let mut sum = *out;
        for i in 0..LANES {
            sum[i] += weighed(one[i] + other[i], spread[i]);
        }
        *out = sum;
    }
    for (at, out) in rest.iter_mut().enumerate() {
        *out += weighed(one[done + at] + other[done + at], weight);
    }
}

/// For kernels so wide that what is cut off would add up to a grey level.
fn summed_exactly<'a>(
    out: &mut [u16],
    Kernel(weights): &Kernel,
    centre: &[u16],
    side: impl Fn(usize) -> [&'a [u16]; 2],
) {
    let first = u32::from(weights[0]);
    let mut sums: Vec<u32> =
        centre.iter().map(|&centre| u32::from(centre) * first + (1 << 15)).collect();
    for (at, &weight) in weights.iter().enumerate().skip(1) {
        let [a, b] = side(at);
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += u32::from(a + b) * u32::from(weight);
        }
    }
    out.iter_mut().zip(&sums).for_each(|(out, sum)| *out = (sum >> 16) as u16);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum that the integers stand for, along one direction.
    fn plain(values: &[f64], deviation: f64, edge: Edge) -> Vec<f64> {
        let radius = (4.0 * deviation + 0.5) as isize;
        let weight = |at: isize| density(at as f64 / deviation);
        let total: f64 = (-radius..=radius).map(weight).sum();
        let sum = |at: usize| {
            let value = |by: isize| values[edge.index(at as isize + by, values.len())];
            (-radius..=radius).map(|by| weight(by) * value(by)).sum::<f64>() / total
        };
        (0..values.len()).map(sum).collect()
    }

    fn plain_in_both(values: &[u16], width: usize, deviation: f64, edge: Edge) -> Vec<f64> {
        let values: Vec<f64> = values.iter().map(|&value| f64::from(value)).collect();
        let rows: Vec<f64> =
            values.chunks(width).flat_map(|row| plain(row, deviation, edge)).collect();
        let column = |x: usize| rows.iter().skip(x).step_by(width).copied().collect::<Vec<f64>>();
        let columns: Vec<Vec<f64>> =
            (0..width).map(|x| plain(&column(x), deviation, edge)).collect();
        (0..values.len()).map(|at| columns[at % width][at / width]).collect()
    }

    #[test]
    fn integers_are_as_good_as_the_plain_sum() {
        let cases = [
            (11, 7, 0.4, Edge::Repeat),
            (11, 7, 1.0, Edge::Reflect),
            (11, 7, 3.0, Edge::Mirror),
            (11, 7, 20.0, Edge::Repeat),
            (130, 71, 6.0, Edge::Repeat),
            (130, 72, 13.0, Edge::Repeat),
            (131, 72, 13.0, Edge::Reflect),
            (130, 140, 40.0, Edge::Reflect),
        ];
        for (width, height, deviation, edge) in cases {
            // Blocks of noise, so that something is left when they are smoothed.
            let block = |at: usize| (at % width / 40 + 5 * (at / width / 40)) * 7919 % 256;
            let values: Vec<u16> = (0..width * height)
                .map(|at| ((block(at) + at * 617 % 256) / 2 * 128) as u16)
                .collect();
            let gaussian = Gaussian { deviations: [deviation; 2], cut: 4.0, edge };
            let got = gaussian.smoothed(values.clone(), width, 1);
            for (got, wanted) in got.iter().zip(plain_in_both(&values, width, deviation, edge)) {
                // Half a grey level.
                let off = (f64::from(*got) - wanted).abs();
                assert!(off < 64.0, "{got}, not {wanted} at {deviation}");
            }
        }
    }

    #[test]
    fn flat_areas_keep_their_level() {
        for level in [0, 1, 100, 254, 255] {
            let image = Image::from_rgb(5, 3, vec![level; 45]).unwrap();
            for deviation in [0.0, 0.05, 0.4, 3.0, 17.0, MAX_DEVIATION] {
                assert_eq!(blurred(&image, deviation, Edge::Repeat), image, "{level} {deviation}");
            }
        }
    }
}
