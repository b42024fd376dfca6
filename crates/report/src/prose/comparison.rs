//! What to know of a comparison of two runs besides its rows.

use faultlens_analysis::{ComparisonTest, RunComparison};

/// How rows were tested, or why they were not.
pub fn comparison_test(test: ComparisonTest) -> &'static str {
    match test {
        ComparisonTest::Exact => {
            "Holm's correction over all rows; McNemar's exact test of the pairs, Fisher's where \
             there are none"
        }
        ComparisonTest::StopRule => {
            "no p-values, because a stop rule decided the number of trials by their outcomes; \
             intervals of differences are made of both rates' own"
        }
        ComparisonTest::UnlikeTrials => {
            "no p-values, because trials are not alike: places were not drawn as often as they \
             occur, or one permanent fault is behind many trials; rates are corrected for it, and \
             intervals of differences are made of both rates' own"
        }
    }
}

/// What to know before trusting the numbers.
pub fn comparison_warnings(comparison: &RunComparison) -> Vec<String> {
    let mut warnings = Vec::new();
    let names = [("first", &comparison.first), ("second", &comparison.second)];
    for ((which, name), complete) in names.into_iter().zip(comparison.complete) {
        if !complete {
            warnings.push(format!(
                "The {which} run, {name}, is not complete: its rates may still change."
            ));
        }
    }
    if comparison.left_out > 0 {
        warnings.push(format!(
            "Faults that only one run has judged trials of are left out: {} by target and settings.",
            comparison.left_out
        ));
    }
    warnings
}
