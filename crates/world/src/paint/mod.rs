//! A small painter: paths, their anti-aliased coverage, and a canvas that takes the colour.
//!
//! Every number here comes from additions, multiplications, divisions and square roots, which are
//! the same on every machine, and from `libm`, so that a seed gives the same picture everywhere.

mod canvas;
mod colour;
mod coverage;
mod glyph;
mod noise;
mod path;
mod point;
mod sprite;
mod transform;

pub use canvas::Canvas;
pub use colour::{Rgb, Shade, hex, mix, scaled};
pub use coverage::Coverage;
pub use glyph::text;
pub(crate) use noise::{Grain, ValueNoise};
pub use path::Path;
pub use point::Point;
pub use sprite::{Layer, Part, Sprite, Stamp};
pub use transform::Transform;
