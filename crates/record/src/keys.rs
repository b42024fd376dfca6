//! Names of the measures that records keep as text.

/// What a record calls the number of changed elements, where it is not one.
pub const HITS: &str = "hits";

/// What a record calls how much a trial counts, where that is not one.
pub const WEIGHT: &str = "weight";

/// What a record calls whether the answer is what fairness counts.
pub const POSITIVE: &str = "positive";

/// What a record calls the mean average precision as PASCAL VOC has it, golden's objects for the
/// truth, where it is not 1.
pub const VOC_AP: &str = "voc_ap";

/// What a record calls the number of objects that are gone.
pub const MISSED: &str = "missed";

/// What a record calls the number of objects that were not there before.
pub const SPURIOUS: &str = "spurious";

/// What a record calls the number of objects that are called otherwise.
pub const RELABELLED: &str = "relabelled";

/// What a record calls the number of objects whose box has moved too far.
pub const MISPLACED: &str = "misplaced";

/// What a record calls all of them, one by one.
pub const CHANGES: &str = "changes";

/// What a record calls how good the answer is: average precision of objects, mean intersection
/// over union of areas, against the truth.
pub const QUALITY: &str = "truth_score";

/// What a record calls how good golden is.
pub const QUALITY_BEFORE: &str = "truth_score_before";

/// What a record calls how like golden the answer is: shared objects over all, or the mean
/// intersection over union of areas.
pub const LIKENESS: &str = "likeness";

/// What a record calls the place of golden's best answer, where that is not the first.
pub const RANK: &str = "rank";

/// What a record calls how strongly the target believes in golden's best answer, where that is
/// not the best any more.
pub const BELIEF: &str = "belief";

/// What a record calls the place of the right answer, where that is not the first.
pub const TRUTH_RANK: &str = "truth_rank";

/// What a record calls the average precision of the objects found, with golden's for the truth.
pub const AP: &str = "ap";

/// What a record calls how much people notice of what was shown.
pub const VISUAL_CHANGE: &str = "visual_change";

/// What a record calls how many strengths were tried, where that is not one.
pub const TRIED: &str = "tried";

/// What records call the number of bits that break the answer.
pub const CRITICAL: &str = "critical";

/// What records call the number of bits that were searched.
pub const SEARCHED: &str = "searched";

/// What records call the number of bits that were asked about to check the others.
pub const CHECKED: &str = "checked";

/// What records call the number of those that were not as expected.
pub const UNEXPECTED: &str = "unexpected";

/// What a record says of an attack that differs from run to run: times.
pub const TIMED: &[&str] =
    &["cpu_seconds", "wall_seconds", "first_cpu_seconds", "first_wall_seconds"];

/// The undisturbed scores of the objects that are gone, from what a record calls [`CHANGES`].
pub fn lost(changes: &str) -> impl Iterator<Item = f64> {
    let gone = changes.split("; ").filter_map(|change| change.strip_prefix("missed "));
    gone.filter_map(|object| object.rsplit_once(" at ")?.0.rsplit(' ').next()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_of_what_is_gone_are_read_again() {
        let told = "missed look at 2 0.31 at 1.0 2.0 3.0 4.0; spurious dog 0.90 at 1.0 2.0 3.0 4.0; \
                    missed car 0.85 at 5.0 6.0 7.0 8.0; 3 more";
        assert_eq!(lost(told).collect::<Vec<_>>(), [0.31, 0.85]);
    }
}
