//! Every format, read and written; files that lie.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

mod binary;
mod coco;
mod docs;
mod hostile;
mod lists;
mod npz;
mod pool;
mod results;
mod round_trip;
mod scratch;
mod yolo;
