//! Importance sampling: how much more often some bits or layers are drawn.

use faultlens_core::SettingError;

/// How much more often things are drawn, by their number. Estimates divide by it again, so that
/// rates stay unbiased.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Weights(Vec<Entry>);

/// The weight of a range of numbers, both ends included.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    first: u32,
    last: u32,
    weight: f64,
}

impl Weights {
    /// From entries such as `30=16` and `23..29=4`.
    pub(super) fn read(entries: &[String]) -> Result<Self, SettingError> {
        let mut weights = Vec::with_capacity(entries.len());
        for text in entries {
            let entry = entry(text).ok_or_else(|| {
                SettingError(format!("weights read 30=16 or 23..29=4, above zero, not {text:?}"))
            })?;
            weights.push(entry);
        }
        Ok(Self(weights))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The weight of a number; the last entry that has it counts, and 1 where none does.
    pub(super) fn of(&self, number: u32) -> f64 {
        let own = self.0.iter().rfind(|entry| (entry.first..=entry.last).contains(&number));
        own.map_or(1.0, |entry| entry.weight)
    }
}

fn entry(text: &str) -> Option<Entry> {
    let (numbers, weight) = text.split_once('=')?;
    let (first, last) = numbers.split_once("..").unwrap_or((numbers, numbers));
    let first = first.trim().parse().ok()?;
    let last = last.trim().parse().ok()?;
    let weight: f64 = weight.trim().parse().ok()?;
    let sensible = weight > 0.0 && weight <= 1e6 && first <= last;
    sensible.then_some(Entry { first, last, weight })
}
