use super::bins::Bin;
use super::error::ThresholdError;
use crate::exact::{binomial_lower, fisher_lower};

/// What counts as a drop, and from what.
///
/// Hu et al. look for significance: the first bins that lie below the reference by more than chance.
/// That moves with the number of answers, as any small loss becomes significant with enough of them.
/// A stated drop is a property of people alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Rule {
    /// Significance, the sound form: two bins in a row below the reference, whose own uncertainty
    /// counts.
    #[default]
    Default,
    /// What gives the published values for ImageNet: a reference of the lowest twentieth of the
    /// bins, taken as known; without a drop the end of the data.
    PublishedImagenet,
    /// What gives the published values for CIFAR-10: a reference of the lower half of the
    /// answers, taken as known; one bin below it is a drop.
    PublishedCifar10,
    /// Where people lose so much: the visual change at which the curve, made to fall only, lies that
    /// far below the reference.
    StatedDrop(StatedDrop),
}

/// How much people may lose, as a share; parsed once, so that no rule checks again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatedDrop {
    thousandths: u16,
}

impl StatedDrop {
    /// From a share such as 0.1, which is ten points; to a thousandth.
    ///
    /// # Errors
    /// [`ThresholdError::Rate`] unless it lies between 0.001 and 0.999.
    pub fn new(share: f64) -> Result<Self, ThresholdError> {
        let thousandths = (share * 1000.0).round();
        if !(1.0..=999.0).contains(&thousandths) {
            return Err(ThresholdError::Rate(share));
        }
        Ok(Self { thousandths: thousandths as u16 })
    }

    /// The share.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.thousandths) / 1000.0
    }
}

/// What rates are compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reference {
    /// The rate without a drop.
    pub rate: f64,
    /// The answers that it was counted from, and of them hits; `None` where it is given.
    pub counted: Option<(u64, u64)>,
    /// Whether its own uncertainty is left out of the test.
    pub as_known: bool,
}

impl Rule {
    /// All rules of significance, the default first.
    pub const ALL: [Self; 3] = [Self::Default, Self::PublishedImagenet, Self::PublishedCifar10];

    /// The name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::PublishedImagenet => "published-imagenet",
            Self::PublishedCifar10 => "published-cifar10",
            Self::StatedDrop(_) => "stated-drop",
        }
    }

    /// How often people are right on the originals of the published tables, which do not say.
    #[must_use]
    pub fn published_originals(self) -> Option<f64> {
        match self {
            Self::Default | Self::StatedDrop(_) => None,
            Self::PublishedImagenet => Some(0.970),
            Self::PublishedCifar10 => Some(0.967),
        }
    }

    /// How much people may lose, where the rule states it; `None` for rules of significance.
    #[must_use]
    pub fn stated_drop(self) -> Option<f64> {
        match self {
            Self::StatedDrop(drop) => Some(drop.share()),
            Self::Default | Self::PublishedImagenet | Self::PublishedCifar10 => None,
        }
    }

    /// How many bins in a row make a significant drop.
    pub(super) fn in_a_row(self) -> usize {
        if self == Self::PublishedCifar10 { 1 } else { 2 }
    }

    /// The rate of agreement where images are hardly changed.
    pub(super) fn agreement(self, kept: &[Bin]) -> Reference {
        let lowest = match self {
            Self::Default | Self::StatedDrop(_) => holding(kept, 1, 20),
            Self::PublishedImagenet => kept.len().div_ceil(20),
            Self::PublishedCifar10 => holding(kept, 1, 2),
        };
        let n: u64 = kept[..lowest].iter().map(|bin| bin.n).sum();
        let hits: u64 = kept[..lowest].iter().map(|bin| bin.hits).sum();
        let rate = if n == 0 { 1.0 } else { hits as f64 / n as f64 };
        let as_known = matches!(self, Self::PublishedImagenet | Self::PublishedCifar10);
        Reference { rate, counted: Some((n, hits)), as_known }
    }
}

/// How many of the lowest bins hold at least this part of all answers together.
fn holding(kept: &[Bin], part: u64, whole: u64) -> usize {
    let all: u64 = kept.iter().map(|bin| bin.n).sum();
    let mut so_far = 0;
    let enough = kept.iter().position(|bin| {
        so_far += bin.n;
        so_far * whole >= all * part
    });
    enough.map_or(0, |last| last + 1)
}

impl Reference {
    /// A rate that is taken as known.
    pub(super) fn known(rate: f64, counted: Option<(u64, u64)>) -> Self {
        Self { rate, counted, as_known: true }
    }

    /// How likely so few hits or fewer are, where there is no drop.
    pub(super) fn chance(&self, hits: u64, n: u64) -> Result<f64, ThresholdError> {
        Ok(match self.counted {
            Some((of, reference)) if !self.as_known => fisher_lower(hits, n, reference, of)?,
            _ => binomial_lower(hits, n, self.rate)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bins(counts: &[(u64, u64)]) -> Vec<Bin> {
        (1_u8..).zip(counts).map(|(hundredths, &(n, hits))| Bin { hundredths, n, hits }).collect()
    }

    #[test]
    fn references_are_the_lowest_bins() {
        // 40 bins of 20 answers, of which the lowest are 20, 19, 18, …
        let counts: Vec<(u64, u64)> = (0..40).map(|i| (20, 20 - i / 2)).collect();
        let bins = bins(&counts);
        let of = |rule: Rule| rule.agreement(&bins);
        // 5% of 800 are 40: two bins. ceil(0.05 · 40) = 2 bins. Half are 20 bins.
        assert_eq!(of(Rule::Default).counted, Some((40, 40)));
        assert_eq!(of(Rule::PublishedImagenet).counted, Some((40, 40)));
        assert_eq!(of(Rule::PublishedCifar10).counted, Some((400, 310)));
        assert_eq!(of(Rule::PublishedCifar10).rate, 0.775);
        let as_known = Rule::ALL.map(|rule| of(rule).as_known);
        assert_eq!(as_known, [false, true, true]);
        // A heavy first bin is enough by answers, not by bins.
        let mut heavy = bins.clone();
        heavy[0].n = 2000;
        assert_eq!(Rule::Default.agreement(&heavy).counted, Some((2000, 20)));
        assert_eq!(Rule::PublishedImagenet.agreement(&heavy).counted, Some((2020, 40)));
    }

    /// A reference of 20 answers, all hits: one lost answer of 20 is a sure drop where it is
    /// taken as known, and nothing where its own uncertainty counts.
    #[test]
    fn a_small_reference_is_only_sure_where_it_is_taken_as_known() {
        let counted = Some((20, 20));
        let known = Reference { rate: 1.0, counted, as_known: true };
        let compared = Reference { as_known: false, ..known };
        assert_eq!(known.chance(19, 20), Ok(0.0));
        assert!((compared.chance(19, 20).unwrap() - 0.5).abs() < 1e-12);
    }
}
