//! The library as a whole.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up should stop")]

mod packages;
mod structure;
