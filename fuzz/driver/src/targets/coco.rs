//! Annotations as COCO has them.

use super::with_scratch;
use crate::{FuzzTarget, mutate};
use faultlens_data::DataSet;
use std::fs;

/// `instances.json` of a data set.
pub const TARGET: FuzzTarget = FuzzTarget {
    name: "coco",
    run,
    fixtures: &[("crates/data/tests/fixtures/coco", "instances.json")],
    mutate: mutate::json,
};

const PICTURE: &[u8] = include_bytes!("../../../../crates/data/tests/fixtures/coco/0.png");

/// Opens a data set with these annotations and reads its first cases.
pub fn run(bytes: &[u8]) {
    with_scratch(|folder| {
        let annotations = folder.join("instances.json");
        let picture = folder.join("0.png");
        if !picture.exists() && fs::write(&picture, PICTURE).is_err() {
            return;
        }
        if fs::write(&annotations, bytes).is_err() {
            return;
        }
        if let Ok(set) = DataSet::open(&annotations) {
            for index in 0..set.len().min(4) {
                drop(set.case(index));
            }
        }
    });
}
