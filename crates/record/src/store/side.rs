//! How cases and golden answers are read.

use super::Store;
use super::bits::kept_single;
use super::error::StoreError;
use super::interned::each;
use super::kept::CaseRecord;
use super::scene_text;
use super::seal::Seal;
use super::sums::{self, RowSum};
use crate::{GoldenRecord, GoldenScene};
use rusqlite::types::Type;
use rusqlite::{Result, Row};
use std::collections::BTreeMap;

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
