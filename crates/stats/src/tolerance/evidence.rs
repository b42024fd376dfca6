use super::answers::{Changed, Images, Originals};
use super::bins::{Bins, Redraw};
use super::error::ThresholdError;
use super::reuse::{Reuse, pair};
use super::rule::{Reference, Rule};
use super::threshold::{Fit, FoundThreshold};
use crate::bootstrap::index_below;

/// What people answered about one fault, for one of two questions: whether they are right
/// (*t_c*), or whether they answer as on the original (*t_p*).
#[derive(Debug, Clone)]
pub struct Evidence {
    source: Source,
    compared: Compared,
    bins: Bins,
}

/// What is redrawn.
#[derive(Debug, Clone)]
enum Source {
    Images(Images),
    Table(Redraw),
}

/// Where the rate without a drop comes from.
#[derive(Debug, Clone)]
enum Compared {
    /// It is given.
    Known(f64),
    /// Right answers and all answers on each original.
    Originals(Vec<(u64, u64)>),
    /// The answers on images that are hardly changed.
    Lowest,
}

impl Evidence {
    /// Whether answers are right, compared with answers on the originals.
    ///
    /// # Errors
    /// A visual change outside 0 to 1, or no original of known truth.
    pub fn correctness(answers: &[Changed], originals: &Originals) -> Result<Self, ThresholdError> {
        let by_image = originals.by_image();
        if by_image.is_empty() {
            return Err(ThresholdError::NoOriginals);
        }
        Ok(Self::of_images(Images::correctness(answers)?, Compared::Originals(by_image)))
    }

    /// Whether answers are right, compared with a rate on the originals that is known.
    ///
    /// # Errors
    /// A visual change or a rate outside 0 to 1.
    pub fn correctness_against(answers: &[Changed], rate: f64) -> Result<Self, ThresholdError> {
        Ok(Self::of_images(Images::correctness(answers)?, known(rate)?))
    }

    /// Whether answers are as most on the original.
    ///
    /// # Errors
    /// A visual change outside 0 to 1, or no originals at all.
    pub fn prediction(answers: &[Changed], originals: &Originals) -> Result<Self, ThresholdError> {
        if originals.is_empty() {
            return Err(ThresholdError::NoOriginals);
        }
        Ok(Self::of_images(Images::prediction(answers, originals)?, Compared::Lowest))
    }

    /// A table of right answers, compared with a known rate on the originals.
    ///
    /// # Errors
    /// A rate outside 0 to 1.
    pub fn correctness_table(bins: Bins, rate: f64) -> Result<Self, ThresholdError> {
        Ok(Self::of_table(bins, known(rate)?))
    }

    /// A table of answers as on the original.
    #[must_use]
    pub fn prediction_table(bins: Bins) -> Self {
        Self::of_table(bins, Compared::Lowest)
    }

    fn of_images(images: Images, compared: Compared) -> Self {
        let bins = images.bins();
        Self { source: Source::Images(images), compared, bins }
    }

    fn of_table(bins: Bins, compared: Compared) -> Self {
        Self { source: Source::Table(Redraw::new(&bins)), compared, bins }
    }

    /// The answers by visual change.
    #[must_use]
    pub fn bins(&self) -> &Bins {
        &self.bins
    }

    /// Whether there are single answers, by image. A table has lost which of its answers belong
    /// to one image, so that its intervals are too narrow.
    #[must_use]
    pub fn has_images(&self) -> bool {
        matches!(self.source, Source::Images(_))
    }

    /// The threshold that a rule finds.
    ///
    /// # Errors
    /// [`ThresholdError::TooFewBins`] where answers are too few for a curve.
    pub fn threshold(&self, rule: Rule) -> Result<FoundThreshold, ThresholdError> {
        let fit = Fit::new(&self.bins)?;
        let reference = match &self.compared {
            Compared::Known(rate) => Reference::known(*rate, None),
            Compared::Originals(images) => accuracy(images),
            Compared::Lowest => rule.agreement(&fit.bins),
        };
        fit.found(reference, rule)
    }

    /// Where the drop is in answers drawn once more: images with all their answers, and the
    /// originals; of a table, hits in each bin. `None` where there is none, which is also what
    /// answers tell that are too few for a curve.
    ///
    /// # Errors
    /// A test that cannot be made, such as of more than 10¹⁰ answers.
    pub fn again(
        &self,
        rule: Rule,
        draw: &mut dyn FnMut() -> u64,
    ) -> Result<Option<f64>, ThresholdError> {
        let bins = match &self.source {
            Source::Images(images) => images.redraw(draw),
            Source::Table(redraw) => redraw.draw(draw),
        };
        let fit = match Fit::new(&bins) {
            Err(ThresholdError::TooFewBins { .. }) => return Ok(None),
            fit => fit?,
        };
        let reference = match &self.compared {
            Compared::Known(rate) => Reference::known(*rate, None),
            Compared::Originals(images) => {
                let n = images.len();
                accuracy(&(0..n).map(|_| images[index_below(n, draw())]).collect::<Vec<_>>())
            }
            Compared::Lowest => rule.agreement(&fit.bins),
        };
        fit.drop(&reference, rule)
    }

    /// Whether two random parts of the answers, 60% of each bin, tell the same story: the paper's
    /// check that a threshold holds for other images of the same kind. `None` where a part has
    /// too few answers for a curve.
    ///
    /// # Errors
    /// Bins that determine no curve.
    pub fn reuse(&self, draw: &mut dyn FnMut() -> u64) -> Result<Option<Reuse>, ThresholdError> {
        pair(&self.bins, draw)
    }
}

fn known(rate: f64) -> Result<Compared, ThresholdError> {
    if !(0.0..=1.0).contains(&rate) {
        return Err(ThresholdError::Rate(rate));
    }
    Ok(Compared::Known(rate))
}

fn accuracy(images: &[(u64, u64)]) -> Reference {
    let right: u64 = images.iter().map(|(right, _)| right).sum();
    let n: u64 = images.iter().map(|(_, n)| n).sum();
    Reference::known(right as f64 / n as f64, Some((n, right)))
}
