//! Batch normalisation with stored statistics and with those of the batch.

use super::differences::{Probe, check};

#[test]
fn stored_statistics() {
    for shape in [&[2, 3, 4, 5][..], &[4, 3], &[2, 3, 6]] {
        let probe = Probe::new("BatchNormalization").operand(shape).operand(&[3]).operand(&[3]);
        check(probe.operand(&[3]).between(&[3], 0.5, 2.0));
    }
}

#[test]
fn statistics_of_the_batch() {
    for shape in [&[2, 3, 4, 5][..], &[6, 3], &[2, 3, 6]] {
        let probe = Probe::new("TrainingBatchNormalization").operand(shape);
        let probe = probe.operand(&[3]).operand(&[3]);
        let stored = probe.constant(&[3], vec![0.1f32, 0.2, 0.3]).constant(&[3], vec![1.0f32; 3]);
        check(stored.with(|node| {
            node.domain("faultlens").attr_f("epsilon", 1e-3);
        }));
    }
}
