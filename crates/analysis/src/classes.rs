//! Which classes hold out, and which do not.

use super::{Class, Classes, GroupRow, Summary};

/// Classes that are shown at either end.
const SHOWN: usize = 5;

/// The classes at both ends, from the groups by label; `None` where there are too few to tell.
pub(super) fn classes(summary: &Summary) -> Option<Classes> {
    let grouping = summary.groupings.iter().find(|grouping| grouping.attribute == "label")?;
    let mut rows: Vec<&GroupRow> =
        grouping.rows.iter().filter(|row| row.tally.rate.value.is_some()).collect();
    if rows.len() < 3 {
        return None;
    }
    let value = |row: &GroupRow| row.tally.rate.value.unwrap_or(0.0);
    rows.sort_by(|a, b| value(b).total_cmp(&value(a)).then_with(|| a.key.cmp(&b.key)));
    // With few classes none is at both ends.
    let shown = SHOWN.min(rows.len() / 2);
    let class = |row: &&GroupRow| Class {
        label: row.key.clone(),
        rate: row.tally.rate,
        image: image(summary, &row.key),
    };
    Some(Classes {
        of: rows.len() as u64,
        worst: rows.iter().take(shown).map(class).collect(),
        best: rows.iter().rev().take(shown).map(class).collect(),
    })
}

/// An undisturbed image of the class, from the trials whose pictures were kept.
fn image(summary: &Summary, label: &str) -> Option<String> {
    let is = |truth: &str| truth == label || truth.split_once(", ").is_some_and(|t| t.0 == label);
    let mut kept = summary.examples.iter();
    kept.find(|one| one.before.is_some() && one.truth.as_deref().is_some_and(is))?.before.clone()
}
