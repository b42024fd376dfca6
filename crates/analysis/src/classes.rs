//! The most and the least robust classes.

use crate::estimate::Rate;
use crate::example::Example;
use crate::group::{GroupRow, Grouping};
use serde::Serialize;

/// The most and the least robust classes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Classes {
    /// How many classes have trials.
    pub of: u64,
    /// The least robust, the worst first.
    pub worst: Vec<Class>,
    /// The most robust, the best first.
    pub best: Vec<Class>,
}

/// A class with its rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Class {
    /// Its label. From outside; escape it.
    pub label: String,
    /// How often the prediction changed.
    pub rate: Rate,
    /// A clean image of it, where one was kept: a path below the run directory, to a PNG.
    pub image: Option<String>,
}

/// How many classes are shown at either end.
const SHOWN: usize = 5;

impl Classes {
    /// The classes at both ends, from the groups by label; `None` where there are too few to rank.
    pub(crate) fn of(groupings: &[Grouping], examples: &[Example]) -> Option<Self> {
        let grouping = groupings.iter().find(|grouping| grouping.attribute == "label")?;
        let mut rows: Vec<(f64, &GroupRow)> = Vec::new();
        for row in &grouping.rows {
            rows.extend(row.tally.rate.value.map(|value| (value, row)));
        }
        if rows.len() < 3 {
            return None;
        }
        rows.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.key.cmp(&other.key)));
        // With few classes none is at both ends.
        let shown = SHOWN.min(rows.len() / 2);
        let class = |(_, row): &(f64, &GroupRow)| Class {
            label: row.key.clone(),
            rate: row.tally.rate,
            image: image(examples, &row.key),
        };
        Some(Self {
            of: rows.len() as u64,
            worst: rows.iter().take(shown).map(class).collect(),
            best: rows.iter().rev().take(shown).map(class).collect(),
        })
    }
}

/// A clean image of the class, from the trials whose pictures were kept.
fn image(examples: &[Example], label: &str) -> Option<String> {
    for example in examples {
        let Some(truth) = &example.truth else { continue };
        // The truth of a data set with numbered classes is "14, stop".
        let number = truth.split_once(", ").map(|(number, _)| number);
        if example.before.is_some() && (truth == label || number == Some(label)) {
            return example.before.clone();
        }
    }
    None
}
