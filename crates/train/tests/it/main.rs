//! Integration tests of the crate, in one program.

#![expect(clippy::unwrap_used, reason = "tests")]

mod against_torch;
mod training;
