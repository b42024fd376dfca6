//! Which cases are taken: drawn from a seed, so that a sample can be drawn again.

use crate::DataSet;
use faultlens_core::Seed;
use std::collections::BTreeMap;

/// How a sample is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampling {
    /// Every case is as likely as every other, so that rates hold for the whole set.
    Random,
    /// Every class as often as every other as far as it has cases, so that rare classes are seen.
    Balanced,
}

impl DataSet {
    /// The indices of `n` cases, or of all where there are fewer; none twice.
    ///
    /// The order is random as well, and a smaller sample from the same seed is the beginning of a
    /// larger one, so that a campaign can be extended. In a balanced sample classes take turns;
    /// cases without a label are a class of their own.
    pub fn sample(&self, n: usize, how: Sampling, seed: Seed) -> Vec<usize> {
        let seed = seed.child("sample");
        let mut drawn = match how {
            Sampling::Random => shuffled((0..self.len()).collect(), seed),
            Sampling::Balanced => self.in_turns(seed),
        };
        drawn.truncate(n);
        drawn
    }

    /// Two sets without a common case; the first has about `fraction` of every class, and of the
    /// whole set to the nearest case.
    pub fn split(&self, fraction: f64, seed: Seed) -> (Self, Self) {
        let seed = seed.child("split");
        let mut first = Vec::new();
        let mut second = Vec::new();
        let mut seen = 0;
        for (class, members) in self.by_class() {
            seen += members.len();
            // Rounding the total, not each class, lets rare classes take part as well.
            let due = (seen as f64 * fraction.clamp(0.0, 1.0)).round() as usize;
            let take = due.saturating_sub(first.len()).min(members.len());
            let members = shuffled(members, class_seed(seed, class));
            first.extend_from_slice(&members[..take]);
            second.extend_from_slice(&members[take..]);
        }
        first.sort_unstable();
        second.sort_unstable();
        (self.subset(&first), self.subset(&second))
    }

    fn by_class(&self) -> BTreeMap<Option<usize>, Vec<usize>> {
        let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for index in 0..self.len() {
            classes.entry(self.label(index)).or_default().push(index);
        }
        classes
    }

    fn in_turns(&self, seed: Seed) -> Vec<usize> {
        let classes = self.by_class().into_iter();
        let classes: Vec<Vec<usize>> =
            classes.map(|(class, members)| shuffled(members, class_seed(seed, class))).collect();
        // The last turn may not reach all classes: which it reaches must not depend on their names.
        let mut left = shuffled(classes, seed.child("turns"));
        let mut drawn = Vec::with_capacity(self.len());
        for turn in 0.. {
            left.retain(|members| members.len() > turn);
            if left.is_empty() {
                break;
            }
            drawn.extend(left.iter().map(|members| members[turn]));
        }
        drawn
    }
}

fn class_seed(seed: Seed, class: Option<usize>) -> Seed {
    class.map_or(seed.child("unlabelled"), |class| seed.child("class").at(class as u64))
}

/// A random order of which each beginning is drawn from the whole.
fn shuffled<T>(mut items: Vec<T>, seed: Seed) -> Vec<T> {
    seed.stream().shuffle(&mut items);
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Case, Image};
    use std::collections::BTreeSet;

    /// Classes of the given sizes, interleaved by nothing: class 0 first.
    fn set(sizes: &[usize]) -> DataSet {
        let cases = sizes.iter().enumerate().flat_map(|(class, &size)| {
            (0..size).map(move |_| {
                let image = Image::from_rgb(1, 1, vec![0; 3]).unwrap();
                Case { label: Some(class), ..Case::new("", image) }
            })
        });
        DataSet::new(vec![String::new(); sizes.len()], cases.collect::<Vec<_>>())
    }

    fn counts(set: &DataSet, indices: &[usize], classes: usize) -> Vec<usize> {
        (0..classes)
            .map(|class| indices.iter().filter(|&&i| set.label(i) == Some(class)).count())
            .collect()
    }

    #[test]
    fn samples_are_without_replacement_and_can_be_extended() {
        let set = set(&[50, 3, 20]);
        for how in [Sampling::Random, Sampling::Balanced] {
            let all = set.sample(100, how, Seed::new(1));
            assert_eq!(all.iter().copied().collect::<BTreeSet<_>>().len(), 73);
            assert_eq!(set.sample(10, how, Seed::new(1)), all[..10]);
            assert_ne!(set.sample(10, how, Seed::new(2)), all[..10]);
        }
    }

    #[test]
    fn balanced_classes_are_equal_as_far_as_they_reach() {
        let set = set(&[50, 3, 20]);
        for (n, wanted) in [(9, [3, 3, 3]), (23, [10, 3, 10]), (53, [30, 3, 20])] {
            let drawn = set.sample(n, Sampling::Balanced, Seed::new(5));
            assert_eq!(counts(&set, &drawn, 3), wanted, "{n}");
        }
    }

    #[test]
    fn a_split_is_disjoint_and_has_its_share_of_each_class() {
        let set = set(&[50, 30, 20, 1, 1, 1, 1, 1]);
        let (first, second) = set.split(0.2, Seed::new(3));
        assert_eq!((first.len(), second.len()), (21, 84));
        let all: Vec<usize> = (0..first.len()).collect();
        assert_eq!(counts(&first, &all, 8)[..3], [10, 6, 4]);
        for (fraction, size) in [(0.0, 0), (1.0, 105), (7.0, 105), (f64::NAN, 0)] {
            assert_eq!(set.split(fraction, Seed::new(3)).0.len(), size, "{fraction}");
        }
    }
}
