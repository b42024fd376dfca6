use std::collections::BTreeMap;

use super::bins::{Bin, Bins};
use super::error::ThresholdError;
use super::threshold::Fit;
use crate::bootstrap::index_below;

/// The share of the answers in a part, in tenths: 60%.
const TENTHS: u64 = 6;
/// 83% bands: where two of them do not overlap, the curves differ at about 5%.
const WIDE: f64 = 1.39;

/// Two parts of the answers beside each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reuse {
    /// Bins that both curves have.
    pub compared: usize,
    /// Of them those where the bands do not overlap.
    pub apart: usize,
}

impl Reuse {
    /// Whether the bands overlap everywhere.
    #[must_use]
    pub fn similar(&self) -> bool {
        self.apart == 0
    }
}

/// Compares two random parts; `None` where one has too few answers for a curve.
pub(super) fn pair(
    bins: &Bins,
    draw: &mut dyn FnMut() -> u64,
) -> Result<Option<Reuse>, ThresholdError> {
    let mut curves = Vec::with_capacity(2);
    for _ in 0..2 {
        match Fit::new(&part(bins, draw)?) {
            Err(ThresholdError::TooFewBins { .. }) => return Ok(None),
            fit => curves.push(banded(&fit?)),
        }
    }
    let first = &curves[0];
    let second = &curves[1];
    let both = first.iter().filter_map(|(at, band)| Some((band, second.get(at)?)));
    let apart = both.clone().filter(|(a, b)| a.0 > b.1 || b.0 > a.1).count();
    Ok(Some(Reuse { compared: both.count(), apart }))
}

/// The band of a curve, by bin.
fn banded(fit: &Fit) -> BTreeMap<u8, (f64, f64)> {
    fit.bins
        .iter()
        .zip(fit.curve.fitted.iter().zip(fit.errors()))
        .map(|(bin, (fitted, error))| {
            (bin.hundredths, (fitted - WIDE * error, fitted + WIDE * error))
        })
        .collect()
}

/// 60% of the answers of each bin, drawn without replacement.
fn part(bins: &Bins, draw: &mut dyn FnMut() -> u64) -> Result<Bins, ThresholdError> {
    Bins::new(bins.all().iter().map(|bin| {
        let n = (bin.n * TENTHS + 5) / 10;
        Bin { n, hits: without_replacement(bin.n, bin.hits, n, draw), ..*bin }
    }))
}

/// Hits among `take` of `n` answers, of which `hits` are.
fn without_replacement(n: u64, hits: u64, take: u64, draw: &mut dyn FnMut() -> u64) -> u64 {
    // One after the other from an urn, as the hypergeometric distribution has it.
    let mut left = hits;
    for of in (n - take + 1..=n).rev() {
        left -= u64::from((index_below(of as usize, draw()) as u64) < left);
    }
    hits - left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::tests::random;

    #[test]
    fn parts_are_drawn_without_replacement() {
        let mut draw = random();
        let mut sum = 0;
        for _ in 0..4000 {
            let hits = without_replacement(20, 15, 12, &mut draw);
            assert!((7..=12).contains(&hits), "{hits}");
            sum += hits;
        }
        assert!((sum as f64 / 4000.0 - 9.0).abs() < 0.1, "{sum}");
        assert_eq!(without_replacement(7, 7, 4, &mut draw), 4);
        assert_eq!(without_replacement(7, 3, 7, &mut draw), 3);
        assert_eq!(without_replacement(7, 0, 4, &mut draw), 0);
    }

    #[test]
    fn parts_that_are_too_thin_say_nothing() {
        let bins = |n: u64| {
            Bins::new((1..=60).map(move |h| Bin { hundredths: h, n, hits: n - u64::from(h) / 15 }))
                .unwrap()
        };
        // 60% of 18 are 11, of 17 are 10.
        assert_eq!(pair(&bins(17), &mut random()), Ok(None));
        let reuse = pair(&bins(18), &mut random()).unwrap().unwrap();
        assert_eq!(reuse.compared, 60);
        assert!(reuse.similar() && !Reuse { apart: 1, ..reuse }.similar());
    }
}
