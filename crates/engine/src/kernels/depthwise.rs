//! One filter per channel: the inner loop of depthwise convolution.

#![expect(clippy::needless_range_loop, reason = "indices name registers of a tile")]

#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Isa, Portable, Vector, isa};

/// Pixels that share one load of the weights.
const PIXELS: usize = 4;
/// Vectors of channels that one tile sums.
const VECTORS: usize = 2;

/// Sums each channel over its taps, from the bias on. `inputs` holds, row by row, a pointer per
/// tap; `weights` holds, tap by tap, a weight per channel.
///
/// # Panics
/// If there is not a pointer per output and tap, or not a weight per tap and bias.
///
/// # Safety
/// Inputs must be readable and outputs writable for as many values as there are biases.
pub(crate) unsafe fn depthwise(
    inputs: &[*const f32],
    outputs: &[*mut f32],
    weights: &[f32],
    bias: &[f32],
) {
    let taps = weights.len() / bias.len();
    assert_eq!(weights.len(), taps * bias.len(), "every tap has a weight per channel");
    assert_eq!(inputs.len(), taps * outputs.len(), "every output has a pointer per tap");
    // SAFETY: the caller vouches for the pointers, `isa` for the instructions; the counts that the
    // tiles rely on were just checked.
    unsafe {
        match isa() {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => on_avx512(inputs, outputs, weights, bias),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => on_avx2(inputs, outputs, weights, bias),
            Isa::Portable => rows::<Portable>(inputs, outputs, weights, bias),
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma")]
unsafe fn on_avx512(inputs: &[*const f32], outputs: &[*mut f32], weights: &[f32], bias: &[f32]) {
    // SAFETY: the caller's promise.
    unsafe { rows::<Avx512>(inputs, outputs, weights, bias) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
unsafe fn on_avx2(inputs: &[*const f32], outputs: &[*mut f32], weights: &[f32], bias: &[f32]) {
    // SAFETY: the caller's promise.
    unsafe { rows::<Avx2>(inputs, outputs, weights, bias) }
}

#[inline(always)]
unsafe fn rows<V: Vector>(
    inputs: &[*const f32],
    outputs: &[*mut f32],
    weights: &[f32],
    bias: &[f32],
) {
    let taps = weights.len() / bias.len();
    let mut pixel = 0;
    // SAFETY: the caller's promise; tiles stay inside the rows.
    unsafe {
        while pixel + PIXELS <= outputs.len() {
            let inputs = inputs.as_ptr().add(pixel * taps);
            channels::<V, PIXELS>(inputs, &outputs[pixel..], weights, bias);
            pixel += PIXELS;
        }
        while pixel < outputs.len() {
            let inputs = inputs.as_ptr().add(pixel * taps);
            channels::<V, 1>(inputs, &outputs[pixel..], weights, bias);
            pixel += 1;
        }
    }
}

#[inline(always)]
unsafe fn channels<V: Vector, const P: usize>(
    inputs: *const *const f32,
    outputs: &[*mut f32],
    weights: &[f32],
    bias: &[f32],
) {
    let mut channel = 0;
    // SAFETY: strips stay below the number of channels.
    unsafe {
        // Wide tiles first, then single vectors, then the channels that fill none.
        while channel + VECTORS * V::LANES <= bias.len() {
            tile::<V, P, VECTORS>(inputs, outputs, weights, bias, channel);
            channel += VECTORS * V::LANES;
        }
        while channel + V::LANES <= bias.len() {
            tile::<V, P, 1>(inputs, outputs, weights, bias, channel);
            channel += V::LANES;
        }
        while channel < bias.len() {
            single::<P>(inputs, outputs, weights, bias, channel);
            channel += 1;
        }
    }
}

#[inline(always)]
unsafe fn tile<V: Vector, const P: usize, const N: usize>(
    inputs: *const *const f32,
    outputs: &[*mut f32],
    weights: &[f32],
    bias: &[f32],
    channel: usize,
) {
    let taps = weights.len() / bias.len();
    // SAFETY: the caller lets the tile's vectors end at or before the last channel; pointers lead to
    // as many values as there are biases.
    unsafe {
        let mut sums = [[V::splat(0.0); N]; P];
        for p in 0..P {
            for n in 0..N {
                sums[p][n] = V::load(bias.as_ptr().add(channel + n * V::LANES));
            }
        }
        for tap in 0..taps {
            // No channel meets another, so that each lane is a chain of its own: bias, then taps
            // in order.
            let w = weights.as_ptr().add(tap * bias.len() + channel);
            for p in 0..P {
                let x = (*inputs.add(p * taps + tap)).add(channel);
                for n in 0..N {
                    let weight = V::load(w.add(n * V::LANES));
                    sums[p][n] = V::load(x.add(n * V::LANES)).mul_add(weight, sums[p][n]);
                }
            }
        }
        for p in 0..P {
            for n in 0..N {
                sums[p][n].store(outputs[p].add(channel + n * V::LANES));
            }
        }
    }
}

#[inline(always)]
unsafe fn single<const P: usize>(
    inputs: *const *const f32,
    outputs: &[*mut f32],
    weights: &[f32],
    bias: &[f32],
    channel: usize,
) {
    let taps = weights.len() / bias.len();
    for (p, &output) in outputs[..P].iter().enumerate() {
        let mut sum = bias[channel];
        for tap in 0..taps {
            // SAFETY: the caller's promise.
            let x = unsafe { *(*inputs.add(p * taps + tap)).add(channel) };
            sum = x.mul_add(weights[tap * bias.len() + channel], sum);
        }
        // SAFETY: the caller's promise.
        unsafe { *output.add(channel) = sum };
    }
}
