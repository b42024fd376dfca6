//! Every metric beside the program that it follows; the generators of the values stand beside
//! the fixtures.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod average_precision;
mod detection;
mod docs;
mod hog;
mod visual;
