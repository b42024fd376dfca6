//! Guesses, where they are safe, with their reasons: how images go into a model ([`guess_input`]),
//! what its output means ([`guess_output`]), what its classes are called ([`guess_labels`]).

mod detector;
mod input;
mod labels;
mod output;

pub use input::guess_input;
pub use labels::{guess_instance_labels, guess_labels};
pub use output::guess_output;

/// A description that was not written by the user, with the reasons to show: a guess in silence
/// would be a trap.
#[derive(Debug, Clone, PartialEq)]
pub struct Guess<T> {
    /// What was guessed.
    pub description: T,
    /// One sentence per decision.
    pub reasons: Vec<String>,
}

/// Operators that move numbers without changing what they mean.
pub(super) const TRANSPARENT: &[&str] = &[
    "Cast",
    "DequantizeLinear",
    "Dropout",
    "Flatten",
    "Identity",
    "QuantizeLinear",
    "Reshape",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
];
