//! Several files that are one set.

use crate::{DataError, Source};
use faultlens_core::Case;

/// The cases of several sources, one behind the other.
pub(super) struct Joined<S> {
    sources: Vec<S>,
    /// The index at which each source ends.
    ends: Vec<usize>,
}

impl<S: Source> Joined<S> {
    pub(super) fn new(sources: Vec<S>) -> Self {
        let ends = sources
            .iter()
            .scan(0, |end: &mut usize, source: &S| {
                *end += source.len();
                Some(*end)
            })
            .collect();
        Self { sources, ends }
    }

    fn find(&self, index: usize) -> (&S, usize) {
        let source = self.ends.partition_point(|&end| end <= index);
        let start = if source == 0 { 0 } else { self.ends[source - 1] };
        (&self.sources[source], index - start)
    }
}

impl<S: Source> Source for Joined<S> {
    fn len(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn label(&self, index: usize) -> Option<usize> {
        let (source, at) = self.find(index);
        source.label(at)
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let (source, at) = self.find(index);
        source.case(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Image;

    #[test]
    fn cases_are_found_across_empty_sources() {
        let case = |name: &str| Case::new(name, Image::from_rgb(1, 1, vec![0; 3]).unwrap());
        let sources = vec![vec![], vec![case("a"), case("b")], vec![], vec![case("c")], vec![]];
        let joined = Joined::new(sources);
        let names: Vec<_> = (0..joined.len()).map(|at| joined.case(at).unwrap().name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }
}
