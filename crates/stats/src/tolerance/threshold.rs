use super::bins::{Bin, Bins};
use super::error::ThresholdError;
use super::monotone::falling;
use super::rule::{Reference, Rule};
use crate::spline::{MIN_POINTS, Smooth, Smoother};

/// A bin below the reference by less chance than this has dropped.
const ALPHA: f64 = 0.05;

/// Half a bin: its answers lie that far below its upper edge on average.
const HALF_BIN: f64 = 0.005;

/// How the search for a drop ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// At a drop.
    Drop,
    /// Without one.
    NoDrop,
    /// Without one, at the last bin but one, which is what the published rule reports.
    EndOfData,
}

/// One kept bin beside the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedBin {
    /// Its answers.
    pub bin: Bin,
    /// The rate on the curve.
    pub fitted: f64,
    /// The standard error of that.
    pub error: f64,
    /// How likely so low a rate is without a drop.
    pub p: f64,
}

impl FittedBin {
    /// Whether so low a rate is too unlikely without a drop.
    #[must_use]
    pub fn has_dropped(&self) -> bool {
        self.p < ALPHA
    }
}

/// A threshold, and what it was read from.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundThreshold {
    /// The largest visual change that is tolerated: the upper edge of the bin that completes the
    /// drop, or where the curve has lost what was stated; 1 without a drop.
    pub value: f64,
    /// The visual change below which nothing has dropped: the lower edge of the drop's first
    /// bin, or of the bin in which a stated drop lies; without a drop the upper edge of the last bin, beyond which nobody was asked; at
    /// [`Ending::EndOfData`] the value itself.
    pub cautious: f64,
    /// How the search ended.
    pub ending: Ending,
    /// What rates were compared with.
    pub reference: Reference,
    /// The rate at which a stated drop lies; `None` for rules of significance.
    pub stated: Option<f64>,
    /// The kept bins, ascending.
    pub bins: Vec<FittedBin>,
    /// The curve through them.
    pub curve: Smooth,
}

impl FoundThreshold {
    /// Where the drop is; `None` without one, also where a rule reports the end of the data.
    #[must_use]
    pub fn drop(&self) -> Option<f64> {
        (self.ending == Ending::Drop).then_some(self.value)
    }
}

/// Bins with the curve through their rates.
pub(super) struct Fit {
    pub(super) bins: Vec<Bin>,
    pub(super) curve: Smooth,
}

impl Fit {
    pub(super) fn new(bins: &Bins) -> Result<Self, ThresholdError> {
        let kept = bins.kept();
        if kept.len() < MIN_POINTS {
            return Err(ThresholdError::TooFewBins { kept: kept.len(), bins: bins.all().len() });
        }
        let places: Vec<f64> = kept.iter().map(Bin::upper).collect();
        let weights: Vec<f64> = kept.iter().map(|bin| bin.n as f64).collect();
        let rates: Vec<f64> = kept.iter().map(Bin::rate).collect();
        let curve = Smoother::new(&places, &weights)?.fit(&rates)?;
        Ok(Self { bins: kept, curve })
    }

    /// The standard error of the curve at each bin, from how far off bins are that it has not
    /// seen.
    pub(super) fn errors(&self) -> Vec<f64> {
        let Smooth { fitted, leverages, .. } = &self.curve;
        let off: Vec<f64> = (self.bins.iter().zip(fitted))
            .zip(leverages)
            .map(|((bin, fitted), leverage)| (bin.rate() - fitted) / (1.0 - leverage))
            .collect();
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        let squares: f64 = off.iter().map(|off| (off - mean) * (off - mean)).sum();
        let deviation = (squares / (off.len() - 1) as f64).sqrt();
        leverages.iter().map(|leverage| deviation * leverage.max(0.0).sqrt()).collect()
    }

    /// How likely each bin's rate on the curve is without a drop.
    fn chances(&self, reference: &Reference) -> Result<Vec<f64>, ThresholdError> {
        self.bins
            .iter()
            .zip(&self.curve.fitted)
            .map(|(bin, fitted)| {
                let hits = (bin.n as f64 * fitted).round().clamp(0.0, bin.n as f64);
                reference.chance(hits as u64, bin.n)
            })
            .collect()
    }

    /// The first and the last bin of the first drop.
    fn first_drop(&self, chances: &[f64], rule: Rule) -> Option<(&Bin, &Bin)> {
        let length = rule.in_a_row();
        let mut runs = chances.windows(length);
        let start = runs.position(|run| run.iter().all(|p| *p < ALPHA))?;
        Some((&self.bins[start], &self.bins[start + length - 1]))
    }

    /// Where the drop is, without anything for people to look at.
    pub(super) fn drop(
        &self,
        reference: &Reference,
        rule: Rule,
    ) -> Result<Option<f64>, ThresholdError> {
        if let Some(drop) = rule.stated_drop() {
            return Ok(self.falls_to(reference.rate - drop));
        }
        let chances = self.chances(reference)?;
        Ok(self.first_drop(&chances, rule).map(|(_, last)| last.upper()))
    }

    /// Where the curve comes down to a rate. It is made to fall only: people do not get better with
    /// more change, and the first of several crossings would lie the lower the noisier the curve.
    fn falls_to(&self, rate: f64) -> Option<f64> {
        let weights: Vec<f64> = self.bins.iter().map(|bin| bin.n as f64).collect();
        let curve = falling(&self.curve.fitted, &weights);
        let after = curve.iter().position(|fitted| *fitted <= rate)?;
        let Some(before) = after.checked_sub(1) else { return Some(self.bins[after].lower()) };
        let from = self.bins[before].upper() - HALF_BIN;
        let to = self.bins[after].upper() - HALF_BIN;
        let share = (curve[before] - rate) / (curve[before] - curve[after]);
        Some(from + share * (to - from))
    }

    /// Value, cautious value and ending.
    fn ended(
        &self,
        chances: &[f64],
        reference: &Reference,
        rule: Rule,
    ) -> Result<(f64, f64, Ending), ThresholdError> {
        let end = self.bins.iter().rev().map(Bin::upper).take(2).collect::<Vec<f64>>();
        if rule.stated_drop().is_some() {
            return Ok(match self.drop(reference, rule)? {
                Some(value) => (value, (value * 100.0).floor() / 100.0, Ending::Drop),
                None => (1.0, end[0], Ending::NoDrop),
            });
        }
        Ok(match self.first_drop(chances, rule) {
            Some((first, last)) => (last.upper(), first.lower(), Ending::Drop),
            None if rule == Rule::PublishedImagenet => (end[1], end[1], Ending::EndOfData),
            None => (1.0, end[0], Ending::NoDrop),
        })
    }

    pub(super) fn found(
        self,
        reference: Reference,
        rule: Rule,
    ) -> Result<FoundThreshold, ThresholdError> {
        let chances = self.chances(&reference)?;
        let (value, cautious, ending) = self.ended(&chances, &reference, rule)?;
        let stated = rule.stated_drop().map(|drop| reference.rate - drop);
        let bins = (self.bins.iter().zip(self.errors()))
            .zip(self.curve.fitted.iter().zip(chances))
            .map(|((bin, error), (&fitted, p))| FittedBin { bin: *bin, fitted, error, p })
            .collect();
        Ok(FoundThreshold { value, cautious, ending, reference, stated, bins, curve: self.curve })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::StatedDrop;

    /// 30 bins of 40 answers, with so many hits from some bins on.
    fn fit(drops: &[(u8, u64)]) -> Fit {
        let hits = |h: u8| drops.iter().rev().find(|(from, _)| h >= *from).map_or(40, |d| d.1);
        Fit::new(
            &Bins::new((1..=30).map(|h| Bin { hundredths: 3 * h, n: 40, hits: hits(3 * h) }))
                .unwrap(),
        )
        .unwrap()
    }

    #[test]
    fn a_drop_is_named_by_its_last_bin_and_the_caution_by_its_first() {
        let known = Reference::known(0.97, None);
        let fit = || fit(&[(45, 20)]);
        let found = fit().found(known, Rule::Default).unwrap();
        assert_eq!(found.ending, Ending::Drop);
        let dropped: Vec<&FittedBin> = found.bins.iter().filter(|bin| bin.has_dropped()).collect();
        assert_eq!(found.value, dropped[1].bin.upper());
        assert_eq!(found.cautious, dropped[0].bin.lower());
        // Neighbours are three hundredths apart, and bins one hundredth wide.
        assert!((found.value - found.cautious - 0.04).abs() < 1e-12);
        let single = fit().found(known, Rule::PublishedCifar10).unwrap();
        assert_eq!(single.value, dropped[0].bin.upper());
        assert_eq!(fit().drop(&known, Rule::Default), Ok(found.drop()));
    }

    #[test]
    fn without_a_drop_the_whole_range_is_tolerated() {
        let known = Reference::known(0.97, None);
        let of = |rule: Rule| fit(&[]).found(known, rule).unwrap();
        let default = of(Rule::Default);
        let imagenet = of(Rule::PublishedImagenet);
        assert_eq!((default.value, default.cautious), (1.0, 0.9));
        assert_eq!((default.ending, default.drop()), (Ending::NoDrop, None));
        assert_eq!((imagenet.value, imagenet.ending), (0.87, Ending::EndOfData));
        assert_eq!(imagenet.drop(), None);
        assert_eq!(of(Rule::PublishedCifar10).value, 1.0);
    }

    /// Rates of 38 in 40 that fall by one from bin to bin after 0.45, so by a thirtieth a hundredth.
    #[test]
    fn a_stated_drop_lies_on_the_curve_between_bins() {
        let hits = |h: u8| 38 - u64::from(h.saturating_sub(15).min(10));
        let bins = (1..=30).map(|h| Bin { hundredths: 3 * h, n: 40, hits: hits(h) });
        let known = Reference::known(0.95, None);
        let fit = || Fit::new(&Bins::new(bins.clone()).unwrap()).unwrap();
        for (share, wanted) in [(0.1, 0.57 - HALF_BIN), (0.0625, 0.525 - HALF_BIN)] {
            let rule = Rule::StatedDrop(StatedDrop::new(share).unwrap());
            let found = fit().found(known, rule).unwrap();
            assert!((found.value - wanted).abs() < 0.004, "{share}: {}", found.value);
            assert!(found.cautious <= found.value && found.value < found.cautious + 0.01);
            assert_eq!(
                (found.ending, found.stated),
                (Ending::Drop, Some(0.95 - rule.stated_drop().unwrap()))
            );
            assert_eq!(fit().drop(&known, rule), Ok(Some(found.value)));
        }
        let all = Rule::StatedDrop(StatedDrop::new(0.5).unwrap());
        let found = fit().found(known, all).unwrap();
        assert_eq!((found.value, found.cautious, found.ending), (1.0, 0.9, Ending::NoDrop));
        let low = Reference::known(0.99, None);
        let start = fit().drop(&low, Rule::StatedDrop(StatedDrop::new(0.03).unwrap()));
        assert_eq!(start, Ok(Some(0.02)));
        assert!(StatedDrop::new(0.0).is_err() && StatedDrop::new(1.0).is_err());
    }

    #[test]
    fn the_band_is_wider_where_less_is_known() {
        let fit = fit(&[(20, 37), (40, 38), (60, 33), (80, 30)]);
        let errors = fit.errors();
        assert!(errors.iter().all(|error| error.is_finite() && *error > 0.0));
        assert!(errors[0] > errors[15] && errors[29] > errors[15], "{errors:?}");
    }

    #[test]
    fn thin_bins_make_no_curve() {
        let bins = Bins::new((1..=50).map(|h| Bin { hundredths: h, n: 10, hits: 9 })).unwrap();
        let error = Fit::new(&bins).err().unwrap();
        assert_eq!(error, ThresholdError::TooFewBins { kept: 0, bins: 50 });
        assert!(error.to_string().starts_with("0 of 50 bins of visual change hold more than 10"));
    }
}
