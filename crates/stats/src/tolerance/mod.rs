//! How much visual change people tolerate: up to which the rate of their right answers, or of
//! answers as on the original, does not drop.
//!
//! After Hu et al. (2022), "If a Human Can See It, So Should Your System". From answers to a
//! threshold with its interval:
//!
//! 1. [`Originals`]: answers on undisturbed images; how often they are right, and what most say,
//! 2. [`Evidence`]: answers on changed images of one fault, for one question; or a [`Bins`] table,
//! 3. [`Evidence::threshold`]: bins of visual change, a smoothing spline through their rates, and
//!    the first drop below the reference that a [`Rule`] accepts: one that is significant (Hu et
//!    al.), or one of stated size,
//! 4. [`Evidence::again`] and [`Interval`]: the same on redrawn images, many times,
//! 5. [`Evidence::reuse`]: whether parts of the answers tell the same story.
//!
//! ```
//! use faultlens_stats::tolerance::{Bin, Bins, Evidence, Rule};
//!
//! // From half of the visual change on, 70% of the answers are right instead of 97%.
//! let bin = |h: u8| Bin { hundredths: h, n: 100, hits: if h <= 50 { 97 } else { 70 } };
//! let evidence = Evidence::correctness_table(Bins::new((1..=90).map(bin))?, 0.97)?;
//! let found = evidence.threshold(Rule::Default)?;
//! assert!((found.value - 0.51).abs() < 0.03);
//! # Ok::<(), faultlens_stats::tolerance::ThresholdError>(())
//! ```

mod answers;
mod bins;
mod error;
mod evidence;
mod interval;
mod monotone;
mod reuse;
mod rule;
mod threshold;

pub use answers::{Changed, Original, Originals};
pub use bins::{Bin, Bins};
pub use error::{MORE_THAN, ThresholdError};
pub use evidence::Evidence;
pub use interval::Interval;
pub use reuse::Reuse;
pub use rule::{Reference, Rule, StatedDrop};
pub use threshold::{Ending, FittedBin, FoundThreshold};

#[cfg(test)]
mod tests {
    /// SplitMix64, for tests that draw.
    pub(super) fn random() -> impl FnMut() -> u64 {
        let mut state = 0_u64;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }
}
