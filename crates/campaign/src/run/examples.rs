//! Trials worth looking at, run once more to keep their pictures and full answers.

use super::error::RunError;
use crate::annotate::portraits;
use crate::inject::{GoldenCase, Observation};
use crate::setup::OpenCampaign;
use faultlens_core::{Image, OutcomeKind, Ranking, Response};
use faultlens_data::encode_png;
use faultlens_record::Record;
use faultlens_record::store::{ExampleRecord, Store, noticeable};
use std::collections::{BTreeMap, BTreeSet};

/// Places of a ranking that an example shows.
const PLACES: usize = 5;

/// Classes that a picture is kept of, at most.
const MOST_CLASSES: usize = 100;

/// A trial; the smallest is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// How telling, how noticeable, and the number.
    rank: (u8, u64, u64),
    case: u32,
}

/// Trials of each target and fault whose answer changed, or else which were found out or crashed:
/// of changed images those that people notice least of, else the first; of unlike cases, as long as
/// there are any.
#[derive(Default)]
pub(super) struct Candidates {
    wanted: usize,
    /// By target and fault, those of the best cases, the best first.
    best: BTreeMap<(u32, u32), Vec<Vec<Candidate>>>,
    /// By case: the first trial that changed nothing, for a picture of the case's class.
    unchanged: BTreeMap<u32, u64>,
}

impl Candidates {
    pub(super) fn new(wanted: usize) -> Self {
        Self { wanted, best: BTreeMap::new(), unchanged: BTreeMap::new() }
    }

    pub(super) fn add(&mut self, record: &Record) {
        let rank = match record.outcome.kind() {
            OutcomeKind::Changed => 0,
            OutcomeKind::Detected => 1,
            OutcomeKind::Crashed => 2,
            OutcomeKind::Unchanged => {
                let first = self.unchanged.entry(record.case).or_insert(record.number);
                *first = record.number.min(*first);
                return;
            }
            _ => return,
        };
        let rank = (rank, noticeable(record), record.number);
        self.offer((record.target, record.fault), Candidate { rank, case: record.case });
    }

    fn offer(&mut self, of: (u32, u32), candidate: Candidate) {
        let cases = self.best.entry(of).or_default();
        let known = cases.iter().position(|own| own.iter().any(|one| one.case == candidate.case));
        let mut own = known.map(|at| cases.remove(at)).unwrap_or_default();
        own.insert(own.partition_point(|other| *other < candidate), candidate);
        own.truncate(self.wanted);
        // A case that falls out here has as many before it as are wanted.
        cases.insert(cases.partition_point(|other| other.first() < own.first()), own);
        cases.truncate(self.wanted);
    }

    /// The first of every case, then the second ones; the most telling kind before all others.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        self.best.values().flat_map(|cases| {
            let turn = |turn: usize| cases.iter().filter_map(move |own| own.get(turn));
            let mut turns: Vec<&Candidate> = (0..self.wanted).flat_map(turn).collect();
            turns.sort_by_key(|candidate| candidate.rank.0);
            turns.into_iter().take(self.wanted).map(|candidate| candidate.rank.2)
        })
    }

    /// The candidates, and a trial of each class that none of them shows.
    fn with_classes(&self, setup: &OpenCampaign) -> Vec<u64> {
        let label = |number: u64| {
            let spot = setup.plan.spot(number)?;
            setup.cases.set.label(*setup.cases.sample.get(spot.case as usize)?)
        };
        let mut numbers: Vec<u64> = self.numbers().collect();
        let mut shown: BTreeSet<usize> = numbers.iter().filter_map(|n| label(*n)).collect();
        for &number in self.unchanged.values().filter(|_| self.wanted > 0) {
            if shown.len() < MOST_CLASSES && label(number).is_some_and(|own| shown.insert(own)) {
                numbers.push(number);
            }
        }
        numbers
    }
}

/// Runs the candidates once more. Since trials repeat bit for bit, this adds nothing but what was
/// not recorded: pictures and whole answers.
pub(super) fn keep(
    setup: &OpenCampaign,
    store: &Store,
    candidates: &Candidates,
) -> Result<Vec<ExampleRecord>, RunError> {
    let numbers = candidates.with_classes(setup).into_iter();
    let examples = numbers.map(|number| example(setup, store, number));
    examples.filter_map(Result::transpose).collect()
}

fn example(
    setup: &OpenCampaign,
    store: &Store,
    number: u64,
) -> Result<Option<ExampleRecord>, RunError> {
    let Some(spot) = setup.plan.spot(number) else { return Ok(None) };
    let Ok(case) = setup.cases.set.case(setup.cases.sample[spot.case as usize]) else {
        return Ok(None);
    };
    let Ok(stage) = GoldenCase::open(setup, spot.target, case) else { return Ok(None) };
    let turn = setup.turn(spot, &stage.key);
    let Some(observed) = stage.once(setup.fault(spot), turn) else { return Ok(None) };
    let picture = |image| match encode_png(image) {
        Some(png) => store.put_artifact(&png).map(Some),
        None => Ok(None),
    };
    let drawn = drawn(&stage, &observed);
    let [before, after] = match &drawn {
        Some([before, after]) => [Some(before), Some(after)],
        None => [Some(&stage.case.image), observed.image.as_ref()],
    };
    let before = before.map(picture).transpose()?.flatten();
    let after = after.map(picture).transpose()?.flatten();
    let answer = observed.answer.as_ref().ok();
    let answer = answer.map(|answer| answer.as_ref().unwrap_or(&stage.answer));
    let golden = places(&stage.answer).into_iter();
    let golden = golden.filter_map(|(label, score)| Some((label, score?))).collect();
    let observed = answer.map(places).unwrap_or_default();
    Ok(Some(ExampleRecord { number, golden, observed, before, after }))
}

/// Both answers drawn on what was shown, where they are objects.
pub(super) fn drawn(stage: &GoldenCase<'_>, observed: &Observation) -> Option<[Image; 2]> {
    let answer = observed.answer.as_ref().ok()?.as_ref().unwrap_or(&stage.answer);
    let before = &stage.case.image;
    let after = observed.image.as_ref().unwrap_or(before);
    let expected = observed.moved.as_deref().unwrap_or(&stage.answer);
    portraits(
        (before, &stage.answer),
        expected,
        (after, answer),
        observed.touched,
        stage.setup.judge.overlap(),
    )
}

/// The best places of an answer, with scores where they are numbers.
pub(crate) fn places(answer: &Response) -> Vec<(String, Option<f64>)> {
    let number = |score: f32| score.is_finite().then(|| f64::from(score));
    match answer {
        Response::Scores(scores) => ranked(&scores.ranking()),
        Response::Ranking(ranking) => ranked(ranking),
        Response::Values(values) => {
            let named = values.iter().take(PLACES).enumerate();
            named.map(|(at, value)| (format!("value {at}"), number(*value))).collect()
        }
        Response::Detections(detections) => {
            let found = detections.found.iter().take(PLACES);
            found.map(|one| (detections.name(one.class), number(one.score))).collect()
        }
        Response::Segments(segments) => {
            let shares = segments.shares().into_iter().take(PLACES);
            shares.map(|(class, share)| (segments.name(class), Some(share))).collect()
        }
        Response::Picture(_) | Response::Text(_) => {
            let (text, score) = answer.headline();
            vec![(text, score.and_then(number))]
        }
    }
}

fn ranked(ranking: &Ranking) -> Vec<(String, Option<f64>)> {
    let number = |score: f32| score.is_finite().then(|| f64::from(score));
    let places = ranking.places().iter().take(PLACES);
    places.map(|place| (place.label.clone(), number(place.score))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(trials: &[(u64, u32)]) -> Vec<u64> {
        let mut candidates = Candidates::new(3);
        for &(number, case) in trials {
            candidates.offer((0, 0), Candidate { rank: (0, 0, number), case });
        }
        candidates.numbers().collect()
    }

    #[test]
    fn unlike_cases_come_first_in_whatever_order_trials_come() {
        let one = [(0, 0), (1, 0), (2, 0), (3, 0)];
        let two = [(0, 0), (1, 0), (2, 0), (10, 1), (11, 1)];
        let many = [(0, 0), (1, 0), (10, 1), (20, 2), (30, 3), (31, 3)];
        for (trials, wanted) in [(&one[..], [0, 1, 2]), (&two, [0, 10, 1]), (&many, [0, 10, 20])] {
            assert_eq!(chosen(trials), wanted);
            let back: Vec<_> = trials.iter().rev().copied().collect();
            assert_eq!(chosen(&back), wanted);
        }
        assert!(chosen(&[]).is_empty());
        let mut none = Candidates::new(0);
        none.offer((0, 0), Candidate { rank: (0, 0, 1), case: 0 });
        assert_eq!(none.numbers().count(), 0);
    }
}
