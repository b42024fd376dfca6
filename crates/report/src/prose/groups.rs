//! Titles of groupings, and how their groups were tested.

use faultlens_analysis::format::{count, counted};
use faultlens_analysis::{GroupTest, Grouping, PermutedUnit};

/// The heading of the rates by an attribute.
pub(crate) fn title(attribute: &str) -> String {
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
        GroupTest::Fisher => format!(
            "Fisher's exact test of each of {groups} groups against all others, Holm's correction"
        ),
        GroupTest::Permutation { unit, units, permutations } => {
            let unit = match unit {
                PermutedUnit::Case => "case",
                PermutedUnit::CleanPrediction => "undisturbed answer",
                PermutedUnit::PermanentFault => "permanent fault",
            };
            format!(
                "Permutation test over {} ({} permutations) of each of {groups} groups' mean rate \
                 against that of all others, since trials of one {unit} are not independent; \
                 Holm's correction",
                counted(units, unit),
                count(permutations.into())
            )
        }
    })
}
