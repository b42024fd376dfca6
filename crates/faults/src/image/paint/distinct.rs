//! Sampling without replacement, as a mask.

use crate::floyd::floyd;
use faultlens_core::Stream;

/// Which of `total` things are drawn when `count` of them are (all, if there are not so many).
pub(crate) fn distinct(total: usize, count: usize, stream: &mut Stream) -> Vec<bool> {
    let mut drawn = vec![false; total];
    floyd(total, count, stream, |at| !std::mem::replace(&mut drawn[at], true));
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn as_many_as_wanted_and_all_equally_likely() {
        let mut stream = Seed::new(2).stream();
        let mut counts = [0; 5];
        for _ in 0..5000 {
            let drawn = distinct(5, 2, &mut stream);
            assert_eq!(drawn.iter().filter(|&&drawn| drawn).count(), 2);
            drawn.iter().zip(&mut counts).for_each(|(&drawn, count)| *count += usize::from(drawn));
        }
        // Five deviations of 5000 draws with a chance of 0.4.
        assert!(counts.iter().all(|&count| (count as i64 - 2000).abs() < 175), "{counts:?}");
        assert_eq!(distinct(3, 9, &mut stream), [true; 3]);
        assert_eq!(distinct(3, 0, &mut stream), [false; 3]);
    }
}
