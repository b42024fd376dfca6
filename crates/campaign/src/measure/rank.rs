//! The ranks that the golden answer and the right one have in an answer.

use faultlens_core::{Response, Truth};
use faultlens_judge::{confidence, rank_of, same_letters, top_class};
use faultlens_record::Measures;

/// Measures the rank of the golden best class where another one is best now (0 where it is not in
/// the answer), and the confidence that the target still has in it.
pub(super) fn measure_golden(measures: &mut Measures, golden: &Response, observed: &Response) {
    let mut golden_confidence = None;
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
            let Some(best) = top_class(golden) else { return };
            golden_confidence = confidence(observed, best);
            rank_of(observed, best)
        }
    };
    if rank != Some(1) {
        measures.rank = Some(rank.unwrap_or(0) as u64);
        measures.confidence = golden_confidence;
    }
}

/// The rank of the right answer, 0 where it is not in the answer; `None` where it is the first, or
/// not known.
pub(super) fn of_truth(answer: &Response, truth: Truth<'_>) -> Option<u64> {
    let rank = match (answer, truth) {
        (Response::Text(text), Truth { label: Some(label), .. }) => {
            let text = text.text();
            text.lines().position(|line| same_letters(line, label)).map_or(0, |at| at + 1)
        }
        (_, Truth { class: Some(class), .. }) => {
            top_class(answer).and(rank_of(answer, class)).unwrap_or(0)
        }
        _ => return None,
    };
    (rank != 1).then_some(rank as u64)
}
