//! Checksums: of every row, and of all rows of a table whatever their order.
//!
//! XXH3 with 64 bits is faster than the disk and finds any flipped bit; it is no protection against
//! somebody who wants to deceive. Checksums are of what a reader gets, not of the bytes in the
//! file: a record's covers every row of every table that it is put together from.

use super::kept::{CaseRecord, ExampleRecord, PictureRecord, PinRecord};
use super::showcase::ShownRecord;
use crate::{GoldenRecord, ModelValue, Record, Site};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

/// How many rows there are, and the sum of their checksums. A sum does not depend on the order, so
/// that threads, shards and restarts change nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RowSum {
    pub(super) count: u64,
    sum: u64,
}

impl RowSum {
    /// Adds a row.
    pub(super) fn add(&mut self, checksum: u64) {
        self.count = self.count.wrapping_add(1);
        self.sum = self.sum.wrapping_add(checksum);
    }

    /// Takes a row out.
    pub(super) fn remove(&mut self, checksum: u64) {
        self.count = self.count.wrapping_sub(1);
        self.sum = self.sum.wrapping_sub(checksum);
    }

    /// The sum over rows with these checksums.
    pub(super) fn of(checksums: impl Iterator<Item = u64>) -> Self {
        let mut sum = Self::default();
        checksums.for_each(|checksum| sum.add(checksum));
        sum
    }

    /// Both numbers, for a digest over several sums.
    pub(super) fn bytes(&self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.count.to_le_bytes());
        bytes[8..].copy_from_slice(&self.sum.to_le_bytes());
        bytes
    }
}

/// The checksums of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RecordSums {
    /// Of what is the same whenever and wherever the trial runs.
    pub(super) content: u64,
    /// Of all of it, times included.
    pub(super) row: u64,
}

/// The checksums of a record whose measures and extra texts are kept as these; empty where none is
/// kept.
pub(super) fn of_record(
    record: &Record,
    measures: &str,
    extra: &str,
) -> serde_json::Result<RecordSums> {
    let mut bytes = Bytes::new("trial");
    bytes.number(record.number);
    bytes.raw(&record.trial.0);
    for number in [record.target, record.case, record.fault, record.repeat] {
        bytes.number(number.into());
    }
    bytes.text(record.outcome.kind().name());
    bytes.optional(record.outcome.skip_reason().map(|reason| reason.code()));
    bytes.site(record.site.as_ref());
    bytes.optional(record.answer.as_deref());
    bytes.maybe(record.score.map(|score| score.to_bits().into()));
    bytes.number(record.cost.queries.into());
    bytes.maybe(record.digest);
    bytes.text(extra);
    if record.measures.attack.is_some() {
        bytes.text(&serde_json::to_string(&record.measures.clone().without_times())?);
    } else {
        bytes.text(measures);
    }
    let content = bytes.checksum();
    let mut bytes = Bytes::new("row");
    bytes.number(content);
    bytes.number(record.cost.micros);
    bytes.text(measures);
    Ok(RecordSums { content, row: bytes.checksum() })
}

pub(super) fn of_case(case: &CaseRecord) -> u64 {
    let mut bytes = Bytes::new("case");
    bytes.number(case.case.into());
    bytes.text(&case.name);
    bytes.optional(case.label.as_deref());
    bytes.number(case.strata.len() as u64);
    for (name, value) in &case.strata {
        bytes.text(name);
        bytes.text(value);
    }
    bytes.number(case.width.into());
    bytes.number(case.height.into());
    bytes.maybe(case.digest);
    bytes.optional(case.error.as_deref());
    bytes.checksum()
}

/// The checksum of a golden answer whose scene is kept as this text.
pub(super) fn of_golden(golden: &GoldenRecord, scene: Option<&str>) -> u64 {
    let mut bytes = Bytes::new("golden");
    bytes.number(golden.target.into());
    bytes.number(golden.case.into());
    bytes.optional(golden.answer.as_deref());
    bytes.maybe(golden.score.map(|score| score.to_bits().into()));
    bytes.maybe(golden.correct.map(u64::from));
    bytes.maybe(golden.positive.map(u64::from));
    bytes.optional(golden.truth.as_deref());
    bytes.maybe(golden.digest);
    bytes.optional(scene);
    bytes.optional(golden.error.as_deref());
    bytes.checksum()
}

pub(super) fn of_example(example: &ExampleRecord) -> u64 {
    let mut bytes = Bytes::new("example");
    bytes.number(example.number);
    bytes.number(example.golden.len() as u64);
    for (label, score) in &example.golden {
        bytes.text(label);
        bytes.number(score.to_bits());
    }
    bytes.number(example.observed.len() as u64);
    for (label, score) in &example.observed {
        bytes.text(label);
        bytes.maybe(score.map(f64::to_bits));
    }
    bytes.optional(example.before.as_deref());
    bytes.optional(example.after.as_deref());
    bytes.checksum()
}

pub(super) fn of_picture(picture: &PictureRecord) -> u64 {
    let mut bytes = Bytes::new("picture");
    bytes.number(picture.target.into());
    bytes.number(picture.case.into());
    bytes.number(picture.of.number().cast_unsigned());
    bytes.text(&picture.path);
    bytes.checksum()
}

pub(super) fn of_shown(shown: &ShownRecord) -> u64 {
    let mut bytes = Bytes::new("shown");
    for number in [shown.target, shown.case, shown.fault] {
        bytes.number(number.into());
    }
    bytes.number(shown.number);
    bytes.checksum()
}

/// The checksum of a pin at its place among the pins, since their order counts.
pub(super) fn of_pin(place: usize, pin: &PinRecord) -> u64 {
    let mut bytes = Bytes::new("pin");
    bytes.number(place as u64);
    bytes.text(&pin.name);
    bytes.text(&pin.what);
    bytes.text(&pin.outcome);
    bytes.optional(pin.reason.as_deref());
    bytes.checksum()
}

pub(super) fn of_text(text: &str) -> u64 {
    XxHash3_64::oneshot(text.as_bytes())
}

/// What a checksum is made of. Texts have their length before them, so that no two lists of parts
/// give the same bytes.
struct Bytes(Vec<u8>);

impl Bytes {
    fn new(kind: &str) -> Self {
        let mut bytes = Self(Vec::with_capacity(256));
        bytes.text(kind);
        bytes
    }

    fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, number: u64) {
        self.raw(&number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.raw(text.as_bytes());
    }

    fn maybe(&mut self, number: Option<u64>) {
        self.0.push(number.is_some().into());
        self.number(number.unwrap_or(0));
    }

    fn optional(&mut self, text: Option<&str>) {
        self.0.push(text.is_some().into());
        self.text(text.unwrap_or(""));
    }

    fn site(&mut self, site: Option<&Site>) {
        self.0.push(site.is_some().into());
        let Some(Site { place, element, bit, before, after }) = site else { return };
        let ModelValue { value, operator, kind, position, layer, layer_name } = &**place;
        for text in [value, operator, kind, layer_name] {
            self.text(text);
        }
        for number in [(*position).into(), (*layer).into(), *element] {
            self.number(number);
        }
        self.maybe(bit.map(u64::from));
        self.number(before.to_bits());
        self.number(after.to_bits());
    }

    fn checksum(&self) -> u64 {
        XxHash3_64::oneshot(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_published_one() {
        // XXH3 with 64 bits of nothing and of "abc", as published.
        assert_eq!(of_text(""), 0x2d06_8005_38d3_94c2);
        assert_eq!(of_text("abc"), 0x78af_5f94_892f_3950);
    }

    #[test]
    fn a_sum_does_not_depend_on_order_and_a_row_can_leave_it() {
        let sum = RowSum::of([1, u64::MAX, 7].into_iter());
        assert_eq!(sum, RowSum::of([7, 1, u64::MAX].into_iter()));
        assert_ne!(sum, RowSum::of([7, 1].into_iter()));
        let mut less = sum;
        less.remove(u64::MAX);
        assert_eq!(less, RowSum::of([1, 7].into_iter()));
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let pin = |name: &str, what: &str| PinRecord {
            name: name.to_owned(),
            what: what.to_owned(),
            outcome: String::new(),
            reason: None,
        };
        assert_ne!(of_pin(0, &pin("ab", "c")), of_pin(0, &pin("a", "bc")));
        assert_ne!(of_pin(0, &pin("a", "b")), of_pin(1, &pin("a", "b")));
        let reason = PinRecord { reason: Some(String::new()), ..pin("a", "b") };
        assert_ne!(of_pin(0, &pin("a", "b")), of_pin(0, &reason));
    }
}
