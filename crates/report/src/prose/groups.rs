//! Titles of groupings, and how their groups were tested.

use super::family_name;
use faultlens_analysis::format::{count, counted};
use faultlens_analysis::{GroupTest, Grouping, PermutedUnit};

/// The heading of a grouping: `By layer, in execution order, of eye (image faults)`.
pub(crate) fn title(grouping: &Grouping) -> String {
    let mut title = by(&grouping.attribute);
    if let Some(target) = &grouping.target {
        title += &format!(", of {target}");
    }
    if let Some(family) = grouping.family {
        title += &format!(" ({})", family_name(family).to_lowercase());
    }
    title
}

/// What rates are by.
fn by(attribute: &str) -> String {
    let title = match attribute {
        "answer" => "By prediction under the fault",
        "golden" => "By clean prediction",
        "kind" => "By operator type",
        "label" => "By true class",
        "duration" => "By fault duration",
        "in" => "By fault location",
        "layer" => "By layer, in execution order",
        "mode" => "By fault mode",
        "pattern" => "By fault pattern",
        "position" => "By operator, in execution order",
        "point" => "By fault and settings",
        other => return format!("By {}", other.replace('_', " ")),
    };
    title.to_owned()
}

/// How groups were compared with all others together; `None` where they were not.
pub(crate) fn test(grouping: &Grouping) -> Option<String> {
    let groups = grouping.rows.len();
    Some(match grouping.test? {
        GroupTest::WithinImages { images } => format!(
            "below 0.05, a group differs from the others, also for new images. Groups are compared \
             within each of {}, and p-values are adjusted for {groups} comparisons (sign-flip test, \
             Holm)",
            counted(images, "image")
        ),
        GroupTest::Permutation { unit, units, permutations } => {
            let unit = match unit {
                PermutedUnit::Case => "image",
                PermutedUnit::CleanPrediction => "clean prediction",
                PermutedUnit::PermanentFault => "permanent fault",
            };
            format!(
                "below 0.05, a group differs from the others. Each of {} counts once, and p-values \
                 are adjusted for {groups} comparisons (permutation test with {} permutations, \
                 Holm)",
                counted(units, unit),
                count(permutations.into())
            )
        }
    })
}
