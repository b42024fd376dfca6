//! What is measured of predictions.

use faultlens_analysis::Measure;

/// The name of a measure.
pub(crate) fn name(measure: Measure) -> &'static str {
    match measure {
        Measure::ApAgainstClean => "AP against the clean prediction",
        Measure::ConfidenceLost => "score of the clean prediction lost",
        Measure::LettersChanged => "letters changed",
        Measure::ObjectsChanged => "objects lost or new",
    }
}
