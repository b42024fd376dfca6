//! The middle of an image, magnified.

/// Where the pixels of a magnified row or column come from: between `first` and the one after it,
/// `part` of the way.
pub(crate) struct Zoom {
    /// Where the middle part starts, in pixels.
    pub(crate) start: usize,
    /// How many pixels it has.
    pub(crate) count: usize,
    /// For as many pixels as the whole row has, from the start of the middle part.
    pub(crate) steps: Vec<Step>,
}

/// Where one pixel comes from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// From the start of the middle part; all pixels of the row and more where there is nothing.
    pub(crate) first: usize,
    pub(crate) part: f32,
}

impl Zoom {
    /// A row of `n` pixels by a factor of at least one. What sticks out is cut off at the end, as
    /// in the reference.
    pub(crate) fn new(n: usize, factor: f64) -> Self {
        let count = (libm::ceil(n as f64 / factor) as usize).clamp(1, n);
        let magnified = libm::rint(count as f64 * factor).max(1.0);
        let pace = if magnified > 1.0 { (count - 1) as f64 / (magnified - 1.0) } else { 0.0 };
        let mut steps = Vec::with_capacity(n);
        for at in 0..n {
            let place = at as f64 * pace;
            // A hair's breadth beyond the last pixel there is nothing, in the reference too: the
            // last row or column of some magnifications is black.
            if place > (count - 1) as f64 {
                steps.push(Step { first: n, part: 0.0 });
                continue;
            }
            let first = (place as usize).min(count.saturating_sub(2));
            steps.push(Step { first, part: (place - first as f64) as f32 });
        }
        Self { start: (n - count) / 2, count, steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zoom_spans_the_middle() {
        let zoom = Zoom::new(10, 2.0);
        assert_eq!((zoom.start, zoom.count, zoom.steps.len()), (2, 5, 10));
        let last = zoom.steps[9];
        assert_eq!((last.first, last.part), (3, 1.0));
        let third = zoom.steps[3];
        assert!((third.first as f32 + third.part - 12.0 / 9.0).abs() < 1e-6);
        for n in [1, 2, 3] {
            for factor in [1.0, 1.3, 5.0] {
                let zoom = Zoom::new(n, factor);
                let inside =
                    |step: &Step| (step.first < zoom.count || step.first == n) && step.part <= 1.0;
                assert!(zoom.start + zoom.count <= n && zoom.steps.iter().all(inside));
            }
        }
    }
}
