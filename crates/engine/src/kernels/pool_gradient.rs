//! Pools over channels-last planes on the way back: what a window answered goes to its pixels.
//!
//! One image at a time, output pixels in row-major order, so that every sum has one order.

use super::pool::{Pool, add, divide};
use super::simd::per_isa;
use super::window::Window;

/// One image as the pool read and answered it. The values matter to maxima only.
pub(crate) struct Image<'a> {
    pub(crate) input: &'a [f32],
    pub(crate) output: &'a [f32],
    /// The output's gradient.
    pub(crate) gradient: &'a [f32],
    pub(crate) channels: usize,
}

/// Adds the input's gradient to `to`.
pub(crate) fn pool_back(pool: Pool, window: &Window, image: &Image<'_>, to: &mut [f32]) {
    let Image { input, output, gradient, channels } = *image;
    let start = |[_, row, column]: [usize; 3]| (row * window.columns.input + column) * channels;
    let mut rest = vec![0.0; channels];
    for (pixel, gradient) in gradient.chunks_exact(channels).enumerate() {
        let at = [0, pixel / window.columns.output, pixel % window.columns.output];
        rest.copy_from_slice(gradient);
        if pool == Pool::Max {
            let kept = &output[pixel * channels..][..channels];
            for start in window.under(at).map(start) {
                let input = &input[start..][..channels];
                hand_over(&mut to[start..][..channels], &mut rest, input, kept);
            }
        } else {
            // A mean hands each of its pixels the same share.
            divide(&mut rest, pool.counted(window, at) as f32);
            window.under(at).map(start).for_each(|start| add(&mut to[start..][..channels], &rest));
        }
    }
}

/// Whether a maximum is this element. NaN is the maximum of any window that holds it.
#[inline(always)]
pub(crate) fn is_kept(element: f32, kept: f32) -> bool {
    element == kept || (element.is_nan() && kept.is_nan())
}

per_isa! {
    /// Where the pixel is what the window kept, it takes the gradient that is left; so the first
    /// of equals takes all of it.
    fn hand_over[](to: &mut [f32], rest: &mut [f32], pixel: &[f32], kept: &[f32]) = {
        for (((to, rest), &x), &y) in to.iter_mut().zip(rest.iter_mut()).zip(pixel).zip(kept) {
            let taken = is_kept(x, y);
            *to += if taken { *rest } else { 0.0 };
            *rest = if taken { 0.0 } else { *rest };
        }
    };
}
