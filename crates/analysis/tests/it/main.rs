//! What runs say, from records made by hand, so that every number can be counted here.
#![expect(clippy::unwrap_used, reason = "tests")]

mod compared;
mod coverage;
mod detected;
mod inside;
mod required;
mod robust;
mod sample;
mod scenes;
mod summed;
mod sweep;
