//! The batch rule of Hu et al. (2022, section 6).

use super::{BatchMean, BatchNumbers, BatchRule, Distance};
use crate::verdict::Verdict;
use faultlens_core::Seed;
use faultlens_spec::{Preservation, PreserveRule};
use faultlens_stats::{Batches, Reliability, Required, Spread, StatsError, Versions, reliability};

/// Two draws agree where their distances differ by no more than this.
const AGREE: f64 = 0.02;

/// The suggested number of batches makes two draws agree to this.
const SETTLED_TO: f64 = 0.01;

/// Draws batches of images and compares. Where it does not decide it is the rule as published,
/// without a margin and at 5%.
pub(super) fn batch_rule(
    one: &Preservation,
    images: &[Versions],
    required: Required,
    seed: Seed,
) -> Result<BatchRule, StatsError> {
    let decides = one.rule == PreserveRule::Batches;
    let published = PreserveRule::Batches;
    let alpha = if decides { one.alpha } else { published.default_alpha() };
    let margin = if decides { one.margin } else { published.default_margin() };
    let batches = Batches { number: one.batches, size: one.batch_size };
    let mut first = seed.at(0).stream();
    let found = reliability(images, required, batches, move || first.next_u64())?;
    // A second draw shows whether there are enough batches.
    let mut second = seed.at(1).stream();
    let again = reliability(images, required, batches, move || second.next_u64())?;
    let distance = distance(&found, &again, alpha);
    let verdict = if distance.high <= margin {
        Verdict::Met
    } else if distance.low > margin {
        Verdict::NotMet
    } else {
        Verdict::Inconclusive
    };
    Ok(BatchRule {
        required: spread(found.required),
        reached: spread(found.reached),
        distance,
        alpha,
        margin,
        batches: BatchNumbers {
            number: one.batches as u64,
            size: one.batch_size as u64,
            suggested: found.batches_for(SETTLED_TO),
        },
        verdict,
    })
}

fn spread(Spread { mean, deviation }: Spread) -> BatchMean {
    BatchMean { mean, deviation }
}

fn distance(found: &Reliability, again: &Reliability, alpha: f64) -> Distance {
    Distance {
        value: found.distance(),
        deviation: found.deviation(),
        low: found.at_least(alpha),
        high: found.at_most(alpha),
        again: again.distance(),
        settled: (found.distance() - again.distance()).abs() <= AGREE,
    }
}
