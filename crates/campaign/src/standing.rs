//! What a record says of an answer beside what became of the trial: where golden's best answer and
//! the right one stand in it, and how precise it is.

use faultlens_core::{Detection, Object, Response, Truth};
use faultlens_judge::{confidence, mean_average_precision, rank_of, same_letters, top_class};
use faultlens_record::keys::{AP, BELIEF, RANK, TRUTH_RANK};
use std::collections::BTreeMap;

/// What a record says of golden's best answer where another one is best now: which place it has,
/// 0 for none, and how strongly the target still believes in it.
pub(crate) fn standing(golden: &Response, observed: &Response) -> BTreeMap<String, String> {
    let mut extra = BTreeMap::new();
    let rank = match (golden, observed) {
        (Response::Text(golden), Response::Text(observed)) => {
            let (golden, observed) = (golden.text(), observed.text());
            match golden.lines().next() {
                Some(first) => observed.lines().position(|line| line == first).map(|at| at + 1),
                // What reads nothing has nothing to lose, but for nothing itself.
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

/// The average precision of the objects found, averaged over classes, at an overlap of one half.
pub(crate) fn precision(golden: &Response, observed: &Response) -> Option<(String, String)> {
    let (Response::Detections(golden), Response::Detections(observed)) = (golden, observed) else {
        return None;
    };
    let object = |found: &Detection| {
        let &Detection { class, bounds, .. } = found;
        Object { class, bounds, mask: None, crowd: false }
    };
    let known: Vec<Object> = golden.found.iter().map(object).collect();
    // Objects from nowhere are as wrong as can be; nothing where nothing was says nothing.
    let ap = match (known.is_empty(), observed.found.is_empty()) {
        (true, true) => return None,
        (true, false) => 0.0,
        _ => mean_average_precision(&[(observed.found.clone(), known)], 0.5)?,
    };
    Some((AP.to_owned(), ap.to_string()))
}

/// Whether an answer says this name: as its best class, as one of its objects, as its text.
pub(crate) fn says(answer: &Response, name: &str) -> bool {
    match answer {
        Response::Detections(detections) => {
            let mut names = detections.found.iter().map(|found| detections.name(found.class));
            names.any(|found| found.eq_ignore_ascii_case(name))
        }
        answer => same_letters(&answer.headline().0, name),
    }
}

/// Which place the right answer has, 0 for none; nothing where it is the first.
pub(crate) fn standing_of_truth(answer: &Response, truth: Truth<'_>) -> Option<(String, String)> {
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
