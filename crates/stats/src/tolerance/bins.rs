use super::error::{MORE_THAN, ThresholdError};
use crate::exact::binomial;

/// Upper edges from 0 to 1 in hundredths.
pub(super) const EDGES: usize = 101;
/// The last digits of a share such as 0.07 · 100 must not push it into the next bin.
const SLACK: f64 = 1e-9;

/// The answers at about the same visual change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bin {
    /// The upper edge, which belongs to the bin, in hundredths; the lower one is the hundredth
    /// below and does not.
    pub hundredths: u8,
    /// How many answers there are.
    pub n: u64,
    /// Of them those that are right, or as on the original.
    pub hits: u64,
}

impl Bin {
    /// The upper edge.
    #[must_use]
    pub fn upper(&self) -> f64 {
        f64::from(self.hundredths) / 100.0
    }

    /// The lower edge; 0 for the bin of unchanged images.
    #[must_use]
    pub fn lower(&self) -> f64 {
        f64::from(self.hundredths.saturating_sub(1)) / 100.0
    }

    /// The share of hits.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.hits as f64 / self.n as f64
    }
}

/// The bin of a visual change, by its upper edge in hundredths.
pub(super) fn place(visual_change: f64) -> Result<u8, ThresholdError> {
    if !(0.0..=1.0).contains(&visual_change) {
        return Err(ThresholdError::VisualChange(visual_change));
    }
    Ok((visual_change * 100.0 - SLACK).ceil().max(0.0) as u8)
}

/// Answers sorted into bins of visual change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bins {
    /// Ascending; none is empty.
    bins: Vec<Bin>,
}

impl Bins {
    /// Takes bins in any order; empty ones are left out.
    ///
    /// # Errors
    /// A bin beyond 1, one that comes twice, or one with more hits than answers.
    pub fn new(bins: impl IntoIterator<Item = Bin>) -> Result<Self, ThresholdError> {
        let mut bins: Vec<Bin> = bins.into_iter().filter(|bin| bin.n > 0 || bin.hits > 0).collect();
        bins.sort_by_key(|bin| bin.hundredths);
        for &Bin { hundredths, n, hits } in &bins {
            if usize::from(hundredths) >= EDGES {
                let why = "lies beyond a visual change of 1";
                return Err(ThresholdError::Bin { hundredths, why });
            }
            if hits > n {
                return Err(ThresholdError::Bin { hundredths, why: "has more hits than answers" });
            }
        }
        match bins.windows(2).find(|pair| pair[0].hundredths == pair[1].hundredths) {
            Some(pair) => {
                Err(ThresholdError::Bin { hundredths: pair[0].hundredths, why: "comes twice" })
            }
            None => Ok(Self { bins }),
        }
    }

    /// All bins with answers, ascending.
    #[must_use]
    pub fn all(&self) -> &[Bin] {
        &self.bins
    }

    /// The bins with more than ten answers, ascending: the others say too little.
    #[must_use]
    pub fn kept(&self) -> Vec<Bin> {
        self.bins.iter().copied().filter(|bin| bin.n > MORE_THAN).collect()
    }

    /// How many answers all bins have.
    #[must_use]
    pub fn answers(&self) -> u64 {
        self.bins.iter().map(|bin| bin.n).sum()
    }

    /// The same with the answers of another table, bin by bin.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut count = Count::default();
        for bin in self.bins.iter().chain(&other.bins) {
            count.add(bin.hundredths, bin.n, bin.hits);
        }
        count.bins()
    }
}

/// Answers being counted, by the upper edge of their bin.
pub(super) struct Count([(u64, u64); EDGES]);

impl Default for Count {
    fn default() -> Self {
        Self([(0, 0); EDGES])
    }
}

impl Count {
    /// Counts answers in a bin that [`place`] gave or that [`Bins`] has.
    pub(super) fn add(&mut self, hundredths: u8, n: u64, hits: u64) {
        let (answers, all_hits) = &mut self.0[usize::from(hundredths)];
        *answers += n;
        *all_hits += hits;
    }

    pub(super) fn bins(&self) -> Bins {
        let counted = (0_u8..).zip(self.0).filter(|(_, (n, _))| *n > 0);
        Bins { bins: counted.map(|(hundredths, (n, hits))| Bin { hundredths, n, hits }).collect() }
    }
}

/// Hits that are drawn for each bin by its rate.
#[derive(Debug, Clone)]
pub(super) struct Redraw {
    /// Each bin with its possible hits and the chance of at most so many.
    bins: Vec<(Bin, Vec<(u64, f64)>)>,
}

impl Redraw {
    pub(super) fn new(bins: &Bins) -> Self {
        Self { bins: bins.kept().into_iter().map(|bin| (bin, cumulative(&bin))).collect() }
    }

    /// A table whose bins have as many answers, and hits by chance.
    pub(super) fn draw(&self, draw: &mut dyn FnMut() -> u64) -> Bins {
        Bins {
            bins: self
                .bins
                .iter()
                .map(|(bin, hits)| {
                    let at = uniform(draw());
                    let place =
                        hits.partition_point(|(_, at_most)| *at_most <= at).min(hits.len() - 1);
                    Bin { hits: hits[place].0, ..*bin }
                })
                .collect(),
        }
    }
}

/// A number from 0 to below 1.
fn uniform(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

fn cumulative(bin: &Bin) -> Vec<(u64, f64)> {
    let mut chances = binomial(bin.n, bin.rate());
    chances.sort_by_key(|(hits, _)| *hits);
    let all: f64 = chances.iter().map(|(_, chance)| chance).sum();
    let mut so_far = 0.0;
    for (_, chance) in &mut chances {
        so_far += *chance / all;
        *chance = so_far;
    }
    chances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tolerance::tests::random;

    fn bin(hundredths: u8, n: u64, hits: u64) -> Bin {
        Bin { hundredths, n, hits }
    }

    #[test]
    fn edges_belong_to_the_bin_below() {
        for hundredths in 0..=100_u8 {
            let edge = f64::from(hundredths) / 100.0;
            assert_eq!(place(edge), Ok(hundredths));
            // As VIF, which is what most files hold.
            assert_eq!(place(1.0 - (1.0 - edge)), Ok(hundredths));
            if hundredths < 100 {
                assert_eq!(place(edge + 1e-6), Ok(hundredths + 1));
            }
        }
        for wrong in [-0.001, 1.001, f64::NAN, f64::INFINITY] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bins_are_checked_sorted_and_kept() {
        let bins =
            Bins::new([bin(9, 11, 11), bin(3, 10, 0), bin(0, 12, 6), bin(50, 0, 0)]).unwrap();
        assert_eq!(bins.all(), [bin(0, 12, 6), bin(3, 10, 0), bin(9, 11, 11)]);
        assert_eq!(bins.kept(), [bin(0, 12, 6), bin(9, 11, 11)]);
        assert_eq!(bins.answers(), 33);
        assert_eq!(bins.with(&bins).all()[1], bin(3, 20, 0));
        assert_eq!((bin(9, 1, 1).lower(), bin(0, 1, 1).lower()), (0.08, 0.0));
        for wrong in [vec![bin(101, 1, 1)], vec![bin(1, 1, 2)], vec![bin(1, 1, 1), bin(1, 2, 1)]] {
            assert!(matches!(Bins::new(wrong), Err(ThresholdError::Bin { .. })));
        }
    }

    /// Means and variances of the drawn hits against those of the binomial distribution.
    #[test]
    fn redrawn_hits_are_binomial() {
        let bins = Bins::new([
            Bin { hundredths: 1, n: 40, hits: 36 },
            Bin { hundredths: 2, n: 5000, hits: 100 },
            Bin { hundredths: 3, n: 11, hits: 11 },
            Bin { hundredths: 4, n: 12, hits: 0 },
        ]);
        let redraw = Redraw::new(&bins.unwrap());
        let rounds = 20_000;
        let mut draw = random();
        let mut sums = [(0.0, 0.0); 4];
        for _ in 0..rounds {
            for (sum, bin) in sums.iter_mut().zip(redraw.draw(&mut draw).all()) {
                let hits = bin.hits as f64;
                *sum = (sum.0 + hits, sum.1 + hits * hits);
            }
        }
        for ((sum, squares), (n, rate)) in
            sums.into_iter().zip([(40.0, 0.9), (5000.0, 0.02), (11.0, 1.0), (12.0, 0.0)])
        {
            let mean = sum / f64::from(rounds);
            let variance = squares / f64::from(rounds) - mean * mean;
            let wanted: f64 = n * rate * (1.0 - rate);
            let error = (wanted / f64::from(rounds)).sqrt();
            assert!((mean - n * rate).abs() <= 4.0 * error, "{n} {rate}: {mean}");
            assert!((variance - wanted).abs() <= 0.05 * wanted, "{n} {rate}: {variance}");
        }
    }
}
