//! What a run keeps beside its records, and how its cases and golden answers are read.

use super::Store;
use super::bits::kept_single;
use super::error::StoreError;
use super::interned::each;
use super::scene_text;
use super::seal::Seal;
use super::sums::{self, RowSum};
use crate::{GoldenRecord, GoldenScene};
use rusqlite::types::Type;
use rusqlite::{Result, Row};
use std::collections::BTreeMap;

/// A case as a run met it, so that reports need not open the data set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseRecord {
    /// Its place in the campaign's sample.
    pub case: u32,
    /// Its name in the data set. From outside; escape it.
    pub name: String,
    /// Its class, where it is known. From outside; escape it.
    pub label: Option<String>,
    /// What it has in common with others, by name of the stratum. From outside; escape it.
    pub strata: BTreeMap<String, String>,
    /// The image's width in pixels; 0 where it cannot be read.
    pub width: u32,
    /// The image's height in pixels; 0 where it cannot be read.
    pub height: u32,
    /// Tells whether another image has the same pixels.
    pub digest: Option<u64>,
    /// Why the image cannot be read.
    pub error: Option<String>,
}

impl CaseRecord {
    /// A number for the cases that count as one: those with the same of a stratum, such as the
    /// frames of a video, or the case alone.
    pub fn cluster(&self, stratum: Option<&str>) -> u64 {
        let Some(group) = stratum.and_then(|name| self.strata.get(name)) else {
            return u64::from(self.case);
        };
        // FNV-1a; the highest bit tells groups from single cases.
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in group.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        hash | 1 << 63
    }
}

/// A trial worth looking at, with all that a report shows of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ExampleRecord {
    /// The trial's place in the plan.
    pub number: u64,
    /// The undisturbed answer, best first: label and score.
    pub golden: Vec<(String, f64)>,
    /// The answer under the fault, best first; a score that is no number is `None`.
    pub observed: Vec<(String, Option<f64>)>,
    /// The image as it was shown undisturbed: a path below the run directory.
    pub before: Option<String>,
    /// The image with the fault: a path below the run directory.
    pub after: Option<String>,
}

/// A picture of what a target sees or answers, for the reports' gallery.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PictureRecord {
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the sample.
    pub case: u32,
    /// What the picture is of.
    pub of: PictureOf,
    /// A path below the run directory, to a PNG.
    pub path: String,
}

/// What a picture is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PictureOf {
    /// The image that was shown.
    Case,
    /// The undisturbed answer.
    Golden,
    /// The undisturbed answer, as a trial of a fault lets it be seen: what is gone stands out.
    Before(u32),
    /// The answer under a fault, by its place among the fault points.
    Fault(u32),
}

impl PictureOf {
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Case => -2,
            Self::Golden => -1,
            Self::Before(fault) => -3 - i64::from(fault),
            Self::Fault(fault) => fault.into(),
        }
    }

    pub(super) fn from_number(number: i64) -> Self {
        match u32::try_from(number) {
            Ok(fault) => Self::Fault(fault),
            Err(_) if number == -1 => Self::Golden,
            Err(_) => match u32::try_from(-3 - number) {
                Ok(fault) => Self::Before(fault),
                Err(_) => Self::Case,
            },
        }
    }
}

/// The checksum that was written with a row, and that of what is read of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct SideSums {
    pub(super) written: u64,
    pub(super) found: u64,
}

impl SideSums {
    pub(super) fn is_sound(self) -> bool {
        self.written == self.found
    }
}

const CHECKSUM: &str = "its checksum does not fit";

/// A pinned trial, replayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinRecord {
    /// The pin's name.
    pub name: String,
    /// Fault, case and target in words.
    pub what: String,
    /// The outcome's name.
    pub outcome: String,
    /// Why it has that outcome, where that needs saying.
    pub reason: Option<String>,
}

impl Store {
    /// The cases, in the order of the sample.
    pub fn cases(&self) -> Result<Vec<CaseRecord>, StoreError> {
        let _moment = self.moment()?;
        let mut sum = RowSum::default();
        let mut cases = Vec::new();
        for case in self.cases_each()? {
            let case = case?;
            sum.add(sums::of_case(&case));
            cases.push(case);
        }
        self.expect_sum("cases", sum, |seal| seal.cases)?;
        Ok(cases)
    }

    /// The cases, with an error for those that are damaged.
    pub(super) fn cases_each(&self) -> Result<Vec<Result<CaseRecord, StoreError>>, StoreError> {
        let mut cases = Vec::new();
        for (case, sums) in self.cases_with_sums()? {
            let sound = sums.is_sound() || !self.has_checksums();
            cases.push(if sound {
                Ok(case)
            } else {
                Err(self.damaged(format!("case {}", case.case), CHECKSUM))
            });
        }
        Ok(cases)
    }

    /// The cases, each with its checksums.
    pub(super) fn cases_with_sums(&self) -> Result<Vec<(CaseRecord, SideSums)>, StoreError> {
        let _moment = self.moment()?;
        let mut strata: BTreeMap<u32, BTreeMap<String, String>> = BTreeMap::new();
        self.each("SELECT case_no, name, value FROM strata", |row| {
            strata.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
            Ok(())
        })?;
        let mut cases = Vec::new();
        let query = "SELECT case_no, name, label, width, height, digest, error, SUM FROM cases \
                     ORDER BY case_no";
        self.each(&self.with_sum(query), |row| {
            let case = row.get(0)?;
            let record = CaseRecord {
                case,
                name: row.get(1)?,
                label: row.get(2)?,
                strata: strata.remove(&case).unwrap_or_default(),
                width: row.get(3)?,
                height: row.get(4)?,
                digest: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
                error: row.get(6)?,
            };
            let written = row.get::<_, i64>(7)?.cast_unsigned();
            let found = sums::of_case(&record);
            cases.push((record, SideSums { written, found }));
            Ok(())
        })?;
        Ok(cases)
    }

    /// The golden answers, by target and then by case.
    pub fn goldens(&self) -> Result<Vec<GoldenRecord>, StoreError> {
        let _moment = self.moment()?;
        let mut sum = RowSum::default();
        let mut goldens = Vec::new();
        for (golden, sums) in self.goldens_with_sums()? {
            sum.add(sums.found);
            goldens.push(self.sound_golden(golden, sums)?);
        }
        self.expect_sum("golden answers", sum, |seal| seal.goldens)?;
        Ok(goldens)
    }

    /// The golden answers, with an error for those that are damaged.
    pub(super) fn goldens_each(&self) -> Result<Vec<Result<GoldenRecord, StoreError>>, StoreError> {
        let mut goldens = Vec::new();
        for (golden, sums) in self.goldens_with_sums()? {
            goldens.push(self.sound_golden(golden, sums));
        }
        Ok(goldens)
    }

    fn sound_golden(
        &self,
        golden: GoldenRecord,
        sums: SideSums,
    ) -> Result<GoldenRecord, StoreError> {
        if sums.is_sound() || !self.has_checksums() {
            return Ok(golden);
        }
        let row = format!("target {}'s golden answer to case {}", golden.target, golden.case);
        Err(self.damaged(row, CHECKSUM))
    }

    /// The golden answers, each with its checksums.
    pub(super) fn goldens_with_sums(&self) -> Result<Vec<(GoldenRecord, SideSums)>, StoreError> {
        let _moment = self.moment()?;
        let known = self.interned_now()?;
        let mut goldens = Vec::new();
        let query = "SELECT target, case_no, answer, score, correct, digest, error, truth, \
                     positive, scene, SUM FROM goldens ORDER BY target, case_no";
        self.each(&self.with_sum(query), |row| {
            let name = |at: usize| {
                let name: Option<i64> = row.get(at)?;
                Ok::<_, rusqlite::Error>(name.and_then(|name| known.names.get(name)).cloned())
            };
            let golden = GoldenRecord {
                target: row.get(0)?,
                case: row.get(1)?,
                answer: name(2)?,
                score: row.get::<_, Option<i64>>(3)?.map(kept_single).transpose()?,
                correct: row.get(4)?,
                positive: row.get(8)?,
                digest: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
                error: row.get(6)?,
                truth: name(7)?,
                scene: golden_scene(row)?,
            };
            let written = row.get::<_, i64>(10)?.cast_unsigned();
            let found = sums::of_golden(&golden, row.get_ref(9)?.as_str_or_null()?);
            goldens.push((golden, SideSums { written, found }));
            Ok(())
        })?;
        Ok(goldens)
    }

    /// A query with the column of checksums in the place of `SUM`; runs without them have noughts.
    fn with_sum(&self, query: &str) -> String {
        query.replace("SUM", if self.has_checksums() { "sum" } else { "0" })
    }

    /// Compares the rows of a table with what was written.
    pub(super) fn expect_sum(
        &self,
        what: &'static str,
        found: RowSum,
        written: impl FnOnce(&Seal) -> RowSum,
    ) -> Result<(), StoreError> {
        let Some(seal) = self.checked_seal()? else { return Ok(()) };
        let written = written(&seal);
        self.expect_count(what, found.count, written.count)?;
        if found != written {
            let what = format!("its {what} are not those that were written");
            return Err(StoreError::corrupt(what, &self.path));
        }
        Ok(())
    }

    pub(super) fn each(
        &self,
        query: &str,
        row: impl FnMut(&Row<'_>) -> Result<()>,
    ) -> Result<(), StoreError> {
        each(&self.database, query, row).map_err(StoreError::sql(&self.path))
    }
}

/// The objects of an undisturbed case; `None` where none is known.
fn golden_scene(row: &Row<'_>) -> Result<Option<GoldenScene>> {
    let Some(text) = row.get_ref(9)?.as_str_or_null()? else { return Ok(None) };
    let unreadable = || {
        let reason = format!("{text:?} is no list of objects");
        rusqlite::Error::FromSqlConversionFailure(9, Type::Text, reason.into())
    };
    scene_text::read(text).ok_or_else(unreadable).map(Some)
}
