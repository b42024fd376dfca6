//! How near one picture is to another.

/// What stands for pictures that do not differ at all, in decibels: more than 8 or 16 bits per
/// channel can tell.
pub const MAX_PSNR: f64 = 100.0;

/// The peak signal-to-noise ratio of two pictures with values from 0 to 1, in decibels, at most
/// [`MAX_PSNR`]; `None` where one has more values, or neither has any.
pub fn psnr(a: &[f32], b: &[f32]) -> Option<f64> {
    if a.len() != b.len() || a.is_empty() {
        return None;
    }
    let squares = a.iter().zip(b).map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
    let mean = squares.sum::<f64>() / a.len() as f64;
    // Of no difference at all the logarithm is infinite.
    Some((-10.0 * mean.log10()).min(MAX_PSNR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_by_hand() {
        // A mean square of 0.01 is 20 dB.
        for (a, b, wanted) in [
            (&[0.0, 1.0][..], &[0.0, 1.0][..], Some(100.0)),
            (&[0.0, 0.0], &[1.0, 1.0], Some(0.0)),
            (&[0.5, 0.5], &[0.4, 0.6], Some(20.0)),
            (&[0.0; 4], &[0.2, 0.0, 0.0, 0.0], Some(20.0)),
            (&[0.0], &[1e-7], Some(100.0)),
            (&[0.0], &[0.0, 0.0], None),
            (&[], &[], None),
        ] {
            let got = psnr(a, b);
            assert!(
                got.zip(wanted).map_or(got == wanted, |(a, b): (f64, f64)| (a - b).abs() < 1e-5),
                "{a:?} {b:?}: {got:?}"
            );
        }
    }
}
