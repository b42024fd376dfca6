//! Estimates with intervals: how sure a campaign may be of a rate it measured.
//!
//! Every rate that Faultlens shows carries its sample size and an interval. From plan to report:
//!
//! 1. [`sample_size()`]: how many faults to draw before the campaign starts, or
//! 2. [`StopRule`]: look after every trial and stop once the interval is narrow enough,
//! 3. [`wilson`] (default) or [`clopper_pearson`] (never below its level): a rate measured with a
//!    sample size fixed beforehand,
//! 4. [`newcombe`], [`newcombe_paired`]: how far two rates lie apart,
//! 5. [`Weighted`]: a rate whose trials count differently, since some were drawn more often than
//!    they occur, and [`Mean`]: a quantity that is no rate,
//! 6. [`Clustered`], [`Crossed`]: a rate among images nobody has seen yet, where many trials share
//!    an image, [`clustered_difference`], [`clustered_test`]: whether such rates differ, and
//!    [`Stratified`]: the rate on the images that were shown, whose draws alone are chance,
//! 7. [`Bootstrap`]: any statistic that is not a plain rate,
//! 8. [`fisher_exact`], [`mcnemar_exact`], [`binomial_lower`], [`fisher_lower`]: whether a
//!    difference can be chance,
//! 9. [`holm`], [`benjamini_hochberg`]: when many comparisons are made at once,
//! 10. [`survival`]: how long until something fails, when some trials end before it does,
//! 11. [`Smoother`]: a curve through scattered rates, and [`tolerance`]: where the answers of
//!     people drop along it,
//! 12. [`difference_by_image`], [`reliability()`], [`compare_with_humans`]: whether answers stay as
//!     good where people's do.
//!
//! ```
//! use faultlens_stats::{Level, wilson};
//!
//! let rate = wilson(15, 148, Level::default())?;
//! assert_eq!(rate.n, 148);
//! assert!(rate.low > 0.062 && rate.high < 0.161);
//! # Ok::<(), faultlens_stats::StatsError>(())
//! ```
//!
//! The crate knows nothing of faults, models or random generators: counts come in, intervals go
//! out, and randomness is a function the caller gives.

mod bootstrap;
mod bounded;
mod clustered;
mod clustered_difference;
mod crossed;
mod difference;
mod error;
mod estimate;
mod exact;
mod image_difference;
mod mean;
mod multiple;
mod permutation;
mod preservation;
mod proportion;
mod sample_size;
mod sequential;
mod special;
mod spline;
mod stratified;
pub mod survival;
pub mod tolerance;
mod weighted;

pub use bootstrap::Bootstrap;
pub use clustered::{ClusterSums, Clustered, Formula, MIN_IMAGES};
pub use clustered_difference::{clustered_difference, clustered_test, crossed_difference};
pub use crossed::Crossed;
pub use difference::{PairedCounts, newcombe, newcombe_paired};
pub use error::StatsError;
pub use estimate::{Estimate, Level};
pub use exact::{binomial_lower, fisher_exact, fisher_lower, mcnemar_exact};
pub use image_difference::{ImageDifference, difference_by_image};
pub use mean::{Mean, Range};
pub use multiple::{benjamini_hochberg, holm};
pub use permutation::{permutation, sign_flip};
pub use preservation::{
    Batches, HumanComparison, Reliability, Required, ScoreSegment, Spread, Version, Versions,
    compare_with_humans, reliability,
};
pub use proportion::{clopper_pearson, wilson};
pub use sample_size::sample_size;
pub use sequential::{Look, StopRule, confidence_sequence};
pub use spline::{MIN_POINTS, Smooth, Smoother, SplineError};
pub use stratified::Stratified;
pub use weighted::Weighted;
