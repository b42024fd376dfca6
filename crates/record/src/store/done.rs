//! Which trials are done.

/// A set of numbers of trials, as ranges: most runs are done up to some number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// First and last of each range, in rising order and with gaps between them.
    ranges: Vec<(u64, u64)>,
    count: u64,
}

impl Done {
    /// Adds a number that is higher than all so far; others change nothing.
    pub(super) fn push(&mut self, number: u64) {
        match self.ranges.last_mut() {
            Some((_, last)) if number <= *last => return,
            Some((_, last)) if number - *last == 1 => *last = number,
            _ => self.ranges.push((number, number)),
        }
        self.count += 1;
    }

    /// Whether the trial of that number is done.
    pub fn contains(&self, number: u64) -> bool {
        let after = self.ranges.partition_point(|(first, _)| *first <= number);
        after.checked_sub(1).is_some_and(|at| number <= self.ranges[at].1)
    }

    /// How many trials are done.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// First and last of each unbroken range of trials that are done, in rising order.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// First and last of each range below `planned` that is not done, in rising order.
    pub fn missing(&self, planned: u64) -> Vec<(u64, u64)> {
        let mut missing = Vec::new();
        let mut next = 0;
        for &(first, last) in self.ranges.iter().take_while(|(first, _)| *first < planned) {
            if first > next {
                missing.push((next, first - 1));
            }
            next = last.saturating_add(1);
        }
        if next < planned {
            missing.push((next, planned - 1));
        }
        missing
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;
    use std::collections::BTreeSet;

    #[test]
    fn ranges_say_the_same_as_a_set() {
        let mut stream = Seed::new(3).stream();
        for planned in [0, 1, 2, 7, 40, 64] {
            let set: BTreeSet<u64> = (0..70).filter(|_| stream.chance(0.6)).collect();
            let mut done = Done::default();
            set.iter().for_each(|&number| done.push(number));
            assert_eq!(done.count(), set.len() as u64);
            assert!((0..80).all(|number| done.contains(number) == set.contains(&number)));
            let missing: BTreeSet<u64> =
                done.missing(planned).into_iter().flat_map(|(first, last)| first..=last).collect();
            assert_eq!(missing, (0..planned).filter(|number| !set.contains(number)).collect());
        }
    }

    #[test]
    fn nothing_done_misses_all_and_repeats_do_not_count() {
        let mut done = Done::default();
        assert_eq!(done.missing(5), [(0, 4)]);
        [3, 3, 1, 4].into_iter().for_each(|number| done.push(number));
        assert_eq!((done.ranges(), done.count()), (&[(3, 4)][..], 2));
    }
}
