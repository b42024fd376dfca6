/// The closest curve that only falls, by weighted least squares: pool adjacent violators (Ayer,
/// Brunk, Ewing, Reid and Silverman 1955).
pub(super) fn falling(values: &[f64], weights: &[f64]) -> Vec<f64> {
    // Blocks of equal values: mean, weight, length.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(values.len());
    for (value, weight) in values.iter().zip(weights) {
        let mut last = (*value, *weight, 1);
        while let Some(&(mean, heavy, length)) = blocks.last() {
            if mean >= last.0 {
                break;
            }
            let all = heavy + last.1;
            last = ((mean * heavy + last.0 * last.1) / all, all, length + last.2);
            blocks.pop();
        }
        blocks.push(last);
    }
    blocks.into_iter().flat_map(|(mean, _, length)| std::iter::repeat_n(mean, length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R 4.2: `-isoreg(-c(9, 7, 8, 8, 3, 4, 5, 1))$yf`.
    #[test]
    fn falls_as_isoreg_in_r_does() {
        let values = [9.0, 7.0, 8.0, 8.0, 3.0, 4.0, 5.0, 1.0];
        let found = falling(&values, &[1.0; 8]);
        let wanted = [9.0, 23.0 / 3.0, 23.0 / 3.0, 23.0 / 3.0, 4.0, 4.0, 4.0, 1.0];
        for (found, wanted) in found.iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "{found} {wanted}");
        }
        // A heavy value hardly moves.
        assert_eq!(falling(&[0.0, 4.0], &[3.0, 1.0]), [1.0, 1.0]);
    }
}
