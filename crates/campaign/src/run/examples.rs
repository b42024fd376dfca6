//! Trials worth looking at, run once more to keep their pictures and full answers.

use crate::annotate::annotate_both;
use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use crate::open::OpenCampaign;
use crate::run_error::RunError;
use crate::trial::run_one;
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

/// The most telling trials of each target and fault: those whose answer changed, else detected or
/// crashed ones; of changed images those that people notice least, else the first; of different
/// cases, as long as there are any.
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
            let mut in_turn: Vec<&Candidate> = Vec::new();
            for round in 0..self.wanted {
                in_turn.extend(cases.iter().filter_map(|own| own.get(round)));
            }
            in_turn.sort_by_key(|candidate| candidate.rank.0);
            in_turn.into_iter().take(self.wanted).map(|candidate| candidate.rank.2)
        })
    }

    /// The candidates, and a trial of each class that none of them shows.
    fn with_classes(&self, open: &OpenCampaign) -> Vec<u64> {
        let label = |number: u64| {
            let key = open.plan.key(number)?;
            open.cases.set.label(*open.cases.sample.get(key.case as usize)?)
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
    open: &OpenCampaign,
    store: &Store,
    candidates: &Candidates,
) -> Result<Vec<ExampleRecord>, RunError> {
    let mut examples = Vec::new();
    for number in candidates.with_classes(open) {
        examples.extend(example(open, store, number)?);
    }
    Ok(examples)
}

fn example(
    open: &OpenCampaign,
    store: &Store,
    number: u64,
) -> Result<Option<ExampleRecord>, RunError> {
    let Some(key) = open.plan.key(number) else { return Ok(None) };
    let Ok(case) = open.cases.set.case(open.cases.sample[key.case as usize]) else {
        return Ok(None);
    };
    let Ok(golden) = open.golden_case(key.target, case) else { return Ok(None) };
    let seed = open.trial_seed(key, &golden.key);
    let observation = run_one(open.fault(key), &golden, seed);
    let picture = |image| match encode_png(image) {
        Some(png) => store.put_artifact(&png).map(Some),
        None => Ok(None),
    };
    let drawn = drawn(&golden, &observation);
    let [before, after] = match &drawn {
        Some([before, after]) => [Some(before), Some(after)],
        None => [Some(&golden.case.image), observation.image()],
    };
    let before = before.map(picture).transpose()?.flatten();
    let after = after.map(picture).transpose()?.flatten();
    let expected = top_answers(&golden.answer).into_iter();
    Ok(Some(ExampleRecord {
        number,
        golden: expected.filter_map(|(label, score)| Some((label, score?))).collect(),
        observed: match &observation.answer {
            Ok(answer) => top_answers(answer.as_ref().unwrap_or(&golden.answer)),
            Err(_) => Vec::new(),
        },
        before,
        after,
    }))
}

/// Both answers drawn on what was shown, where they are objects.
pub(super) fn drawn(golden: &GoldenCase<'_>, observation: &Observation) -> Option<[Image; 2]> {
    let answer = observation.answer.as_ref().ok()?.as_ref().unwrap_or(&golden.answer);
    let before = &golden.case.image;
    annotate_both(
        (before, &golden.answer),
        observation.expected().unwrap_or(&golden.answer),
        (observation.image().unwrap_or(before), answer),
        observation.shown.as_ref().and_then(|shown| shown.touched),
        golden.context.judge.overlap(),
    )
}

/// The best places of an answer, with scores where they are numbers.
pub(crate) fn top_answers(answer: &Response) -> Vec<(String, Option<f64>)> {
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
    let places = ranking.places().iter().take(PLACES);
    places.map(|place| (place.label.clone(), number(place.score))).collect()
}

/// A score as a number; `None` where it is none.
fn number(score: f32) -> Option<f64> {
    score.is_finite().then(|| f64::from(score))
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
