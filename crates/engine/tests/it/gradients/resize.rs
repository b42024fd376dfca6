//! `Resize` and `Upsample`.

use super::differences::{Probe, check, check_threads};

/// A plane of 4 × 5 resized to `sizes`.
fn sized(sizes: [i64; 2], attributes: &[(&'static str, &'static str)]) -> Probe {
    let attributes = attributes.to_vec();
    let probe = Probe::new("Resize").opset(18).operand(&[2, 3, 4, 5]).absent().absent();
    probe.constant(&[4], vec![2, 3, sizes[0], sizes[1]]).with(move |node| {
        attributes.iter().fold(node, |node, (name, value)| node.attr_s(name, value));
    })
}

const COORDINATES: [&str; 5] =
    ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"];

#[test]
fn nearest_in_every_mode() {
    for coordinates in COORDINATES {
        for nearest in ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"] {
            for sizes in [[8, 10], [7, 3], [2, 13]] {
                check(sized(
                    sizes,
                    &[
                        ("mode", "nearest"),
                        ("coordinate_transformation_mode", coordinates),
                        ("nearest_mode", nearest),
                    ],
                ));
            }
        }
    }
}

#[test]
fn linear_and_cubic() {
    for mode in ["linear", "cubic"] {
        for coordinates in COORDINATES {
            for sizes in [[8, 10], [7, 3], [1, 6]] {
                let attributes = [("mode", mode), ("coordinate_transformation_mode", coordinates)];
                check(sized(sizes, &attributes));
                check(sized(sizes, &attributes).flat());
            }
        }
        let probe = Probe::new("Resize").opset(18).operand(&[1, 2, 9, 7]).absent().absent();
        let probe = probe.constant(&[4], vec![1i64, 2, 4, 3]);
        check(probe.with(move |node| {
            let smooth = node.attr_i("antialias", 1).attr_i("exclude_outside", 1);
            smooth.attr_s("mode", mode);
        }));
    }
}

#[test]
fn other_axes_and_older_operators() {
    let scaled = |op_type, opset, shape: &[usize], scales: Vec<f32>| {
        let probe = Probe::new(op_type).opset(opset).operand(shape);
        let probe = if op_type == "Resize" && opset > 10 { probe.absent() } else { probe };
        probe.constant(&[scales.len()], scales)
    };
    check(scaled("Upsample", 9, &[2, 3, 3, 4], vec![1.0, 1.0, 2.0, 2.0]));
    check(scaled("Upsample", 9, &[1, 2, 3, 3], vec![1.0, 1.0, 2.0, 3.0]).flat());
    check(scaled("Upsample", 9, &[1, 2, 3, 3], vec![1.0, 1.0, 2.0, 2.0]).with(|n| {
        n.attr_s("mode", "linear");
    }));
    check(scaled("Resize", 10, &[1, 2, 4, 4], vec![1.0, 1.0, 0.5, 0.7]));
    check(scaled("Resize", 17, &[2, 3, 5], vec![1.0, 1.0, 1.7]));
    check(scaled("Resize", 17, &[2, 3, 5], vec![1.0, 2.0, 1.5]).with(|n| {
        n.attr_s("mode", "linear");
    }));
    check(scaled("Resize", 17, &[1, 2, 3, 3, 2], vec![1.0, 1.0, 2.0, 2.0, 2.0]));
    check(
        Probe::new("Resize")
            .operand(&[1, 2, 5, 4])
            .constant(&[8], vec![0.0f32, 0.0, 0.2, -0.1, 1.0, 1.0, 0.9, 1.2])
            .absent()
            .constant(&[4], vec![1i64, 2, 4, 6])
            .with(|n| {
                n.attr_s("mode", "linear")
                    .attr_s("coordinate_transformation_mode", "tf_crop_and_resize");
            }),
    );
}

#[test]
fn threads_change_nothing() {
    check_threads(|| {
        let probe = Probe::new("Upsample").opset(9).operand(&[3, 24, 20, 21]);
        probe.constant(&[4], vec![1.0f32, 1.0, 2.0, 2.0])
    });
    check_threads(|| {
        let probe = Probe::new("Upsample").opset(9).operand(&[3, 24, 20, 21]);
        let probe = probe.constant(&[4], vec![1.0f32, 1.0, 2.0, 2.0]);
        probe.with(|n| {
            n.attr_s("mode", "linear");
        })
    });
}
