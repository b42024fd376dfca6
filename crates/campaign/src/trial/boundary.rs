//! A search for the lowest bit of an element whose flip breaks the answer.
//!
//! Bisection over bits (as BinFI does; Chen et al., SC'19): where the error of the output grows with
//! the error that is put in, all bits above a critical one are critical too, and the boundary is
//! found with a handful of queries instead of one for every bit. Bits that are set and bits that are
//! not change a number in opposite directions, so that each kind has a boundary of its own; the sign
//! is tried by itself. Since networks need not be monotonic, each search also tries bits that it did
//! not have to, and the record says how often the answer was not the expected one.

use crate::clock::micros;
use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use faultlens_core::{Outcome, Reason, Seed, Stream};
use faultlens_engine::{Change, Edit};
use faultlens_faults::{Candidate, Injection, Sites};
use faultlens_record::{BoundarySearch, Cost, Measures, Site};
use std::time::Instant;

/// Searches one element for each seed, all of them in step, so that each round of queries is one
/// stack.
pub(super) fn search(
    golden: &GoldenCase<'_>,
    injection: &Injection,
    sites: &Sites<'_>,
    seeds: &[u64],
    each: &mut dyn FnMut(Observation),
) {
    let start = Instant::now();
    let mut searches: Vec<Option<Search>> = Vec::with_capacity(seeds.len());
    for &seed in seeds {
        let mut stream = Seed::new(seed).stream();
        let candidate = injection.candidate(sites, &mut stream);
        searches.push(candidate.and_then(|candidate| Search::new(golden, candidate, stream)));
    }
    loop {
        let mut asked: Vec<(&mut Search, u32)> = searches
            .iter_mut()
            .flatten()
            .filter_map(|search| search.next().map(|bit| (search, bit)))
            .collect();
        if asked.is_empty() {
            break;
        }
        let changes: Vec<Vec<Change>> =
            asked.iter().map(|(search, bit)| vec![search.flip(*bit)]).collect();
        let answers = golden.answers(&changes);
        for ((search, bit), answer) in asked.iter_mut().zip(answers) {
            let site = golden.site(&search.flip(*bit));
            let cost = Cost::default();
            let observation = Observation { site, cost, ..Observation::answered(answer) };
            let breaks = golden.judge(&observation) != Outcome::Unchanged;
            search.take(*bit, breaks, observation);
        }
    }
    let micros = micros(start.elapsed()) / seeds.len().max(1) as u64;
    for search in searches {
        let mut observation = match search {
            Some(search) => search.observation(),
            None => Observation::skipped(Reason::NoSite),
        };
        observation.cost.micros = micros;
        each(observation);
    }
}

/// The bits that change a number in one direction, rising; those from the boundary on break the
/// answer.
#[derive(Debug, Default)]
struct Ladder {
    bits: Vec<u32>,
    /// Everything below is known not to break it.
    low: usize,
    /// Everything from here on is known, or taken, to break it.
    high: usize,
    asked: Vec<u32>,
}

impl Ladder {
    fn new(bits: Vec<u32>) -> Self {
        Self { low: 0, high: bits.len(), bits, asked: Vec::new() }
    }

    /// The bit to try next; `None` where the boundary is found.
    fn next(&self) -> Option<u32> {
        (self.low < self.high).then(|| self.bits[self.low.midpoint(self.high)])
    }

    fn take(&mut self, bit: u32, breaks: bool) {
        let Some(at) = self.bits.iter().position(|&other| other == bit) else { return };
        self.asked.push(bit);
        if breaks { self.high = at } else { self.low = at + 1 }
    }

    /// Whether a bit is taken to break the answer.
    fn expects(&self, bit: u32) -> bool {
        self.bits[self.high..].contains(&bit)
    }
}

/// One element under search.
struct Search {
    candidate: Candidate,
    /// Where the element is, also for the record of one that has no critical bit.
    site: Option<Site>,
    ladders: Vec<Ladder>,
    /// Bits to be asked about as a check; drawn when the boundaries are known.
    checks: Option<Vec<u32>>,
    stream: Stream,
    queries: u32,
    checked: u64,
    unexpected: u64,
    /// The lowest bit that was seen to break the answer, and what the target did then.
    lowest: Option<(u32, Observation)>,
}

impl Search {
    fn new(golden: &GoldenCase<'_>, candidate: Candidate, stream: Stream) -> Option<Self> {
        let (before, dtype) = golden.bits(candidate.value, candidate.element)?;
        let sign = dtype.bit_width() - 1;
        let mut set = Vec::new();
        let mut unset = Vec::new();
        let mut signs = Vec::new();
        for &bit in &candidate.bits {
            if bit == sign {
                signs.push(bit);
            } else if before >> bit & 1 == 1 {
                set.push(bit);
            } else {
                unset.push(bit);
            }
        }
        let ladders = [unset, set, signs].map(Ladder::new).into();
        let Candidate { value, element, .. } = candidate;
        Some(Self {
            site: golden.site(&Change { value, element, edit: Edit::Flip(0) }),
            candidate,
            ladders,
            checks: None,
            stream,
            queries: 0,
            checked: 0,
            unexpected: 0,
            lowest: None,
        })
    }

    fn flip(&self, bit: u32) -> Change {
        let Candidate { value, element, .. } = self.candidate;
        Change { value, element, edit: Edit::Flip(1 << bit) }
    }

    /// The bit to try next; `None` where the search is over.
    fn next(&mut self) -> Option<u32> {
        if let Some(bit) = self.ladders.iter().find_map(Ladder::next) {
            return Some(bit);
        }
        if self.checks.is_none() {
            let stream = &mut self.stream;
            let unasked = self.ladders.iter().filter_map(|ladder| {
                let open = ladder.bits.iter().filter(|bit| !ladder.asked.contains(bit));
                stream.pick(&open.copied().collect::<Vec<_>>()).copied()
            });
            self.checks = Some(unasked.collect());
        }
        self.checks.as_mut()?.pop()
    }

    /// Notes whether a bit breaks the answer.
    fn take(&mut self, bit: u32, breaks: bool, observation: Observation) {
        self.queries += 1;
        let Some(ladder) = self.ladders.iter_mut().find(|ladder| ladder.bits.contains(&bit)) else {
            return;
        };
        if self.checks.is_some() {
            self.checked += 1;
            self.unexpected += u64::from(ladder.expects(bit) != breaks);
        } else {
            ladder.take(bit, breaks);
        }
        if breaks && self.lowest.as_ref().is_none_or(|(lowest, _)| bit < *lowest) {
            self.lowest = Some((bit, observation));
        }
    }

    /// The observation of the whole search: the answer under the lowest bit that breaks it, or the
    /// golden one.
    fn observation(self) -> Observation {
        let critical: usize =
            self.ladders.iter().map(|ladder| ladder.bits.len() - ladder.high).sum();
        let searched: usize = self.ladders.iter().map(|ladder| ladder.bits.len()).sum();
        let observation = match self.lowest {
            Some((_, observation)) => observation,
            None => Observation { site: self.site, ..Observation::answered(Ok(None)) },
        };
        let boundary = BoundarySearch {
            critical: critical as u64,
            searched: searched as u64,
            checked: self.checked,
            unexpected: self.unexpected,
        };
        Observation {
            cost: Cost { queries: self.queries, micros: 0 },
            measures: Measures { boundary: Some(boundary), ..Measures::default() },
            ..observation
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bisection finds every boundary, with no more questions than its logarithm.
    #[test]
    fn a_ladder_finds_its_boundary() {
        for length in 0..33u32 {
            for boundary in 0..=length {
                let mut ladder = Ladder::new((0..length).map(|bit| 2 * bit).collect());
                let mut asked = 0;
                while let Some(bit) = ladder.next() {
                    ladder.take(bit, bit >= 2 * boundary);
                    asked += 1;
                }
                assert_eq!(ladder.high, boundary as usize);
                assert!(asked <= 6 && 1u32 << asked <= 2 * (length + 1), "{length}: {asked}");
                assert!((0..length).all(|bit| ladder.expects(2 * bit) == (bit >= boundary)));
            }
        }
    }
}
