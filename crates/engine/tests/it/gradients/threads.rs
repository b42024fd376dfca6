//! The same bits on any number of threads.

use super::differences::Probe;

#[test]
fn threads_do_not_change_gradients() {
    // Large enough to be shared out.
    let probes: [fn() -> Probe; 12] = [
        || Probe::new("Mul").operand(&[4, 24, 30, 31]).operand(&[4, 24, 1, 1]),
        || Probe::new("Add").operand(&[4, 24, 30, 31]).operand(&[24, 1, 1]),
        || Probe::new("Add").operand(&[9, 70, 64]).operand(&[64]),
        || Probe::new("Div").operand(&[9, 70, 64]).operand(&[70, 1]),
        || Probe::new("Max").operand(&[4, 24, 30, 31]).operand(&[24, 30, 31]),
        || Probe::new("Softmax").operand(&[9, 70, 64]),
        || Probe::new("LayerNormalization").operand(&[9, 70, 64]).operand(&[64]).operand(&[64]),
        || Probe::new("Conv").operand(&[3, 20, 19, 21]).operand(&[70, 20, 3, 3]).operand(&[70]),
        || {
            let probe = Probe::new("Conv").operand(&[3, 40, 19, 21]).operand(&[40, 1, 3, 3]);
            probe.with(|node| {
                node.attr_i("group", 40).attr_ints("strides", &[2, 2]);
            })
        },
        || Probe::new("ConvTranspose").operand(&[3, 20, 9, 11]).operand(&[20, 18, 3, 3]),
        || Probe::new("Gemm").operand(&[300, 65]).operand(&[65, 130]).operand(&[130]),
        || {
            let probe = Probe::new("TrainingBatchNormalization").operand(&[8, 24, 40, 41]);
            let probe = probe.operand(&[24]).operand(&[24]);
            let stored = probe.constant(&[24], vec![0.0f32; 24]).constant(&[24], vec![1.0f32; 24]);
            stored.with(|node| {
                node.domain("faultlens");
            })
        },
    ];
    for probe in probes {
        let feeds = probe().feeds();
        let alone = probe().gradients(&feeds).unwrap();
        for threads in [2, 3] {
            let shared = probe().threads(threads).gradients(&feeds).unwrap();
            for (alone, shared) in alone.iter().zip(&shared) {
                let bits = |values: &[f32]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(alone.as_f32().unwrap()), bits(shared.as_f32().unwrap()));
            }
        }
    }
}
