//! Many random numbers at once.

use faultlens_core::Stream;

/// The mean of the sum of four bytes, and one over its deviation.
const MIDDLE: f32 = 510.0;
const SCALE: f32 = 1.0 / 147.801;

/// Fills with numbers of mean 0 and deviation 1 that are nearly normal: sums of four bytes.
///
/// Directions need numbers by the million, and a logarithm and a cosine for each would cost more
/// than the target's answers.
pub(super) fn bells(stream: &mut Stream, numbers: &mut [f32]) {
    let mut words = [0u32; 128];
    for part in numbers.chunks_mut(words.len()) {
        let words = &mut words[..part.len()];
        stream.fill_u32(words);
        for (number, word) in part.iter_mut().zip(words) {
            let pairs = (*word & 0x00ff_00ff) + (*word >> 8 & 0x00ff_00ff);
            *number = (((pairs & 0xffff) + (pairs >> 16)) as f32 - MIDDLE) * SCALE;
        }
    }
}

/// Fills with numbers between -1 and 1, all equally likely.
pub(super) fn uniforms(stream: &mut Stream, numbers: &mut [f32]) {
    let mut words = [0u32; 128];
    for part in numbers.chunks_mut(words.len()) {
        let words = &mut words[..part.len()];
        stream.fill_u32(words);
        for (number, word) in part.iter_mut().zip(words) {
            *number = (*word >> 8) as f32 * (2.0 / 16_777_216.0) - 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn numbers_are_nearly_normal() {
        let mut numbers = vec![0.0; 200_000];
        bells(&mut Seed::new(1).stream(), &mut numbers);
        let moment = |power: i32| {
            numbers.iter().map(|n| f64::from(*n).powi(power)).sum::<f64>() / numbers.len() as f64
        };
        assert!(moment(1).abs() < 0.012 && moment(3).abs() < 0.04);
        assert!((moment(2) - 1.0).abs() < 0.015, "{}", moment(2));
        // Of a sum of four uniform numbers: 3 − 1.2 / 4.
        assert!((moment(4) - 2.7).abs() < 0.06, "{}", moment(4));
    }

    #[test]
    fn numbers_are_spread_evenly() {
        let mut numbers = vec![0.0; 100_000];
        uniforms(&mut Seed::new(3).stream(), &mut numbers);
        assert!(numbers.iter().all(|number| (-1.0..1.0).contains(number)));
        for fifth in 0..5 {
            let low = -1.0 + 0.4 * fifth as f32;
            let count = numbers.iter().filter(|n| (low..low + 0.4).contains(*n)).count();
            assert!((count as f64 - 20_000.0).abs() < 650.0, "{fifth}: {count}");
        }
    }

    #[test]
    fn parts_are_the_same_as_the_whole() {
        let mut whole = vec![0.0; 300];
        let mut parts = vec![0.0; 300];
        bells(&mut Seed::new(2).stream(), &mut whole);
        let mut stream = Seed::new(2).stream();
        let (first, second) = parts.split_at_mut(130);
        bells(&mut stream, first);
        bells(&mut stream, second);
        assert_eq!(whole, parts);
    }
}
