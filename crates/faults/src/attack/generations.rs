//! What searches by generations have in common: the space they search, and how they are asked.

use faultlens_core::Stream;

/// The values that are searched: where they may be, where to begin, and how widely to look there.
pub(super) struct Space {
    /// The smallest and the largest value of each.
    pub(super) bounds: Vec<(f64, f64)>,
    /// Where to begin, for a search that begins somewhere.
    pub(super) start: Vec<f64>,
    /// How widely to look around the start.
    pub(super) width: f64,
}

/// A search by generations: candidates out, costs in.
pub(super) trait Generations {
    /// The next candidates, all within the bounds.
    fn propose(&mut self, stream: &mut Stream) -> Vec<Vec<f64>>;

    /// What they cost, in their order.
    fn learn(&mut self, costs: &[f64]);
}
