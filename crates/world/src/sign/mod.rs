//! Traffic signs: their table, their drawings, and crops that show one each.

mod art;
mod backdrop;
mod crop;

pub use art::{SIGN_CLASSES, plate, posted};
pub use crop::{Conditions, SIGN_SIZE, sign, sign_of, signs};
