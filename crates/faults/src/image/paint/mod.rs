//! What image faults are painted with: noise, blurs, clouds, strokes, transforms and codecs.

pub(crate) mod by_value;
pub(crate) mod byte_noise;
pub(crate) mod channels;
pub(crate) mod cosine;
pub(crate) mod cover;
pub(crate) mod crystals;
pub(crate) mod distinct;
pub(crate) mod edge;
pub(crate) mod grain;
pub(crate) mod jpeg;
pub(crate) mod lanczos;
pub(crate) mod pixels;
pub(crate) mod plasma;
pub(crate) mod resample;
pub(crate) mod rim;
pub(crate) mod round;
pub(crate) mod smooth;
pub(crate) mod streak;
pub(crate) mod stroke;
pub(crate) mod vectors;
pub(crate) mod zoom;
