//! Points of a drawing.

/// A place in a drawing: x to the right, y down.
pub type Point = [f32; 2];
