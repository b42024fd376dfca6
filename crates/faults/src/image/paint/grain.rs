//! Random planes: many numbers at once, several from one random word. Normal numbers are looked up in a
//! table of 4096 quantiles (inverse transform sampling).

use faultlens_core::{Seed, Stream};
use std::sync::LazyLock;

/// What stands for the mean in [`normals`].
pub(crate) const MEAN: u16 = 1 << 14;

/// What stands for one deviation in [`normals`].
pub(crate) const DEVIATION: u16 = 1 << 12;

/// Random bytes, in number.
pub(crate) fn bytes(n: usize, stream: &mut Stream) -> Vec<u8> {
    let seed = Seed::new(stream.next_u64());
    let mut bytes = Vec::with_capacity(n.next_multiple_of(16));
    for block in 0..n.div_ceil(16) as u64 {
        for word in seed.block(block) {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
    }
    bytes.truncate(n);
    bytes
}

/// Random numbers from 0 up to but without `below`, in number.
pub(crate) fn levels(n: usize, below: u16, stream: &mut Stream) -> Vec<u16> {
    mapped(n, stream, |word| ((u32::from(word) * u32::from(below)) >> 16) as u16)
}

/// Two numbers from every random word.
fn mapped(n: usize, stream: &mut Stream, number: impl Fn(u16) -> u16) -> Vec<u16> {
    let seed = Seed::new(stream.next_u64());
    let mut out = vec![0; n.next_multiple_of(8)];
    let (eights, _) = out.as_chunks_mut::<8>();
    for (block, out) in eights.iter_mut().enumerate() {
        let [a, b, c, d] = seed.block(block as u64);
        let words = [a, a >> 16, b, b >> 16, c, c >> 16, d, d >> 16];
        for (out, word) in out.iter_mut().zip(words) {
            *out = number(word as u16);
        }
    }
    out.truncate(n);
    out
}

/// Normally distributed numbers around [`MEAN`].
pub(crate) fn normals(n: usize, stream: &mut Stream) -> Vec<u16> {
    let quantiles = &**QUANTILES;
    mapped(n, stream, |word| quantiles[usize::from(word & 4095)])
}

/// The middles of 4096 equally likely parts of the normal distribution. Wherever it is used, the
/// tails beyond, one in 4096, are cut off or averaged away.
static QUANTILES: LazyLock<Box<[u16; 4096]>> = LazyLock::new(|| {
    let mut quantiles = Box::new([0; 4096]);
    let mut deviations = 0.0;
    for at in 0..2048 {
        let share = 0.5 + (f64::from(at as u32) + 0.5) / 4096.0;
        // Newton's method, from the quantile before: the distribution is concave here, so it
        // never overshoots.
        for _ in 0..6 {
            let below = 1.0 - 0.5 * libm::erfc(deviations / std::f64::consts::SQRT_2);
            let density = 0.398_942_280_401_432_7 * libm::exp(-0.5 * deviations * deviations);
            deviations += (share - below) / density;
        }
        let off = libm::rint(deviations * f64::from(DEVIATION)) as u16;
        quantiles[2048 + at] = MEAN + off;
        quantiles[2047 - at] = MEAN - off;
    }
    quantiles
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normals_are_normal() {
        let mut stream = Seed::new(2).stream();
        let n = 100_000;
        let off = |level: u16| (f64::from(level) - f64::from(MEAN)) / f64::from(DEVIATION);
        let normals: Vec<f64> = normals(n, &mut stream).into_iter().map(off).collect();
        let moment = |power: i32| normals.iter().map(|x| x.powi(power)).sum::<f64>() / n as f64;
        // Five standard deviations of each statistic, and what the tails cost.
        assert!(moment(1).abs() < 5.0 / 316.0);
        assert!((moment(2) - 1.0).abs() < 5.0 * 1.42 / 316.0);
        assert!((moment(4) - 3.0).abs() < 0.15);
        let above = normals.iter().filter(|&&x| x > 1.644_85).count() as f64 / n as f64;
        assert!((above - 0.05).abs() < 0.0035, "{above}");
    }

    #[test]
    fn as_many_as_wanted() {
        for n in [0, 1, 15, 16, 17, 100] {
            let mut stream = Seed::new(n).stream();
            let n = n as usize;
            assert_eq!(bytes(n, &mut stream).len(), n);
            assert!(levels(n, 9, &mut stream).iter().all(|&level| level < 9));
            assert_eq!(normals(n, &mut stream).len(), n);
        }
    }
}
