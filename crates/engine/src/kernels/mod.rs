//! The hot operators' arithmetic. One summation order each, the same for a whole plane, a window
//! of it and a batch; NaN and infinities as ONNX Runtime treats them.
//!
//! Vector instructions, and rows that several threads or trials write at once, need `unsafe`; it
//! stands here and where rows are handed over. Every kernel computes *spots*, output pixels that may belong
//! to different trials, so full runs and windows share every line.

#![expect(unsafe_code, reason = "vector instructions and disjoint rows written through pointers")]

pub(crate) mod channels;
pub(crate) mod compare;
pub(crate) mod conv;
pub(crate) mod conv_gradient;
mod depthwise;
pub(crate) mod elementwise;
pub(crate) mod gemm;
pub(crate) mod grid;
pub(crate) mod math;
pub(crate) mod matrix;
pub(crate) mod outer;
pub(crate) mod pool;
pub(crate) mod pool_gradient;
pub(crate) mod quantised;
pub(crate) mod resize;
pub(crate) mod share;
pub(crate) mod simd;
pub(crate) mod sum;
pub(crate) mod transposed;
pub(crate) mod window;
