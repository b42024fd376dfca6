//! The rank that the golden answer and the right one have in an answer, and how precise the answer
//! is.

use faultlens_core::{Detection, Object, Response, Truth};
use faultlens_judge::{confidence, mean_average_precision, rank_of, same_letters, top_class};
use faultlens_record::keys::{AP, BELIEF, RANK, TRUTH_RANK};
use std::collections::BTreeMap;

/// The rank of the golden best class where another one is best now (0 where it is not in the
/// answer), and the confidence that the target still has in it.
pub(super) fn of_golden(golden: &Response, observed: &Response) -> BTreeMap<String, String> {
    let mut extra = BTreeMap::new();
    let rank = match (golden, observed) {
        (Response::Text(golden), Response::Text(observed)) => {
            let golden = golden.text();
            let observed = observed.text();
            match golden.lines().next() {
                Some(first) => observed.lines().position(|line| line == first).map(|at| at + 1),
                // Where nothing was read before, only reading nothing again is the same.
                None => observed.is_empty().then_some(1),
            }
        }
        _ => {
            let Some(best) = top_class(golden) else { return extra };
            if let Some(confidence) = confidence(observed, best) {
                extra.insert(BELIEF.to_owned(), confidence.to_string());
            }
            rank_of(observed, best)
        }
    };
    match rank {
        Some(1) => BTreeMap::new(),
        rank => {
            extra.insert(RANK.to_owned(), rank.unwrap_or(0).to_string());
            extra
        }
    }
}

/// The average precision of the objects found, averaged over classes, at an overlap of one half;
/// the golden objects count as the truth.
pub(super) fn precision(golden: &Response, observed: &Response) -> Option<(String, String)> {
    let (Response::Detections(golden), Response::Detections(observed)) = (golden, observed) else {
        return None;
    };
    let known: Vec<Object> = golden
        .found
        .iter()
        .map(|&Detection { class, bounds, .. }| Object { class, bounds, mask: None, crowd: false })
        .collect();
    // Without any true object, every detection is false; without detections, too, there is nothing
    // to measure.
    let ap = match (known.is_empty(), observed.found.is_empty()) {
        (true, true) => return None,
        (true, false) => 0.0,
        _ => mean_average_precision(&[(observed.found.clone(), known)], 0.5)?,
    };
    Some((AP.to_owned(), ap.to_string()))
}

/// Whether an answer contains this name: as its best class, as one of its objects, as its text.
pub(super) fn names(answer: &Response, name: &str) -> bool {
    match answer {
        Response::Detections(detections) => {
            let mut names = detections.found.iter().map(|found| detections.name(found.class));
            names.any(|found| found.eq_ignore_ascii_case(name))
        }
        answer => same_letters(&answer.headline().0, name),
    }
}

/// The rank of the right answer, 0 where it is not in the answer; `None` where it is the first.
pub(super) fn of_truth(answer: &Response, truth: Truth<'_>) -> Option<(String, String)> {
    let place = match (answer, truth) {
        (Response::Text(text), Truth { label: Some(label), .. }) => {
            let text = text.text();
            text.lines().position(|line| same_letters(line, label)).map_or(0, |at| at + 1)
        }
        (_, Truth { class: Some(class), .. }) => {
            top_class(answer).and(rank_of(answer, class)).unwrap_or(0)
        }
        _ => return None,
    };
    (place != 1).then(|| (TRUTH_RANK.to_owned(), place.to_string()))
}
