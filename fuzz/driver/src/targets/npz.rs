//! Arrays of NumPy.

use super::with_scratch;
use crate::{FuzzTarget, mutate};
use faultlens_data::DataSet;
use std::fs;

/// A data set in an `.npz` file.
pub const TARGET: FuzzTarget = FuzzTarget {
    name: "npz",
    run,
    fixtures: &[("crates/data/tests/fixtures", ".npz")],
    mutate: mutate::bytes,
};

/// Opens the arrays as a data set and reads its first cases.
pub fn run(bytes: &[u8]) {
    with_scratch(|folder| {
        let path = folder.join("set.npz");
        if fs::write(&path, bytes).is_err() {
            return;
        }
        if let Ok(set) = DataSet::open(&path) {
            for index in 0..set.len().min(4) {
                drop(set.case(index));
            }
        }
    });
}
