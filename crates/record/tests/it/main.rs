#![expect(clippy::unwrap_used, reason = "tests")]
//! Runs come back as they were written, whatever happens in between.

mod agree;
mod damage;
#[cfg(target_os = "linux")]
mod disk;
mod earlier_format;
mod export;
#[cfg(target_os = "linux")]
mod failing_disk;
mod interrupted;
mod merge;
mod merged_side;
#[cfg(target_os = "linux")]
mod power;
mod round_trip;
mod sample;
