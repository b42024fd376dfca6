#![expect(clippy::unwrap_used, reason = "tests")]
//! Runs come back as they were written, whatever happens in between.

mod agree;
mod damage;
mod earlier_format;
mod export;
mod interrupted;
mod merge;
mod merged_side;
mod round_trip;
mod sample;
