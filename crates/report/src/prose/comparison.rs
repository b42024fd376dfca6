//! What to know of a comparison of two runs besides its rows.

use faultlens_analysis::{ComparisonTest, RunComparison};

/// How rows were tested, or why they were not.
pub fn comparison_test(test: ComparisonTest) -> &'static str {
    match test {
        ComparisonTest::ByImage => {
            "Differences and p-values hold for new images: sign-flip test of the differences image \
             by image, a permutation test of images where the runs have none in common; Holm's \
             correction over all rows"
        }
        ComparisonTest::PermanentFaults => {
            "No p-values, because one permanent fault is behind trials of many images; intervals of \
             differences are made of both rates' own"
        }
        ComparisonTest::FewImages => {
            "No p-values, because fewer than 10 images say nothing about new images"
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
