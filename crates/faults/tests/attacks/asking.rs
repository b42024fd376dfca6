//! Attacks that only ask, beside their peers on digits.

use crate::{Exam, attack};
use faultlens_faults::attack::Norm;

#[test]
fn hop_skip_jump_comes_closer_than_art_with_no_more_questions() {
    let exam = Exam::of(10);
    let results = exam.results(&*attack("hop_skip_jump", &[]));
    assert_eq!(results.reached(), 1.0);
    let (distance, queries) = (results.mean_distance(Norm::Two), results.mean_queries());
    // ART, all 100 digits: 1.4546.
    assert!(distance < 1.4546, "{distance}");
    assert!(queries < 2500.0, "{queries}");
}
