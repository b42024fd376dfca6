//! Products of matrices.

use super::differences::{Probe, check};

#[test]
fn gemm() {
    for (a, b, c, turned) in [
        ([3, 5], [5, 4], &[4][..], [0, 0]),
        ([3, 5], [4, 5], &[3, 4], [0, 1]),
        ([5, 3], [5, 4], &[3, 1], [1, 0]),
        ([5, 3], [4, 5], &[1, 4], [1, 1]),
        ([2, 40], [40, 70], &[1], [0, 0]),
    ] {
        let probe = Probe::new("Gemm").operand(&a).operand(&b).operand(c);
        check(probe.with(move |node| {
            node.attr_i("transA", turned[0])
                .attr_i("transB", turned[1])
                .attr_f("alpha", 0.75)
                .attr_f("beta", -1.5);
        }));
    }
}

#[test]
fn matmul() {
    for (a, b) in [
        (&[3, 5][..], &[5, 4][..]),
        (&[2, 3, 5], &[5, 4]),
        (&[2, 3, 5], &[2, 5, 4]),
        (&[2, 1, 3, 5], &[3, 5, 4]),
        (&[5], &[5, 4]),
        (&[2, 3, 5], &[5]),
        (&[5], &[5]),
        (&[3, 5], &[2, 5, 4]),
    ] {
        check(Probe::new("MatMul").operand(a).operand(b));
    }
}
