//! How far a run is, and whether what is read of it is all that was written.

use super::Store;
use super::done::Done;
use super::error::StoreError;
use super::interned::each;
use super::scan::Read;
use super::seal::{Completion, Seal};
use rusqlite::OptionalExtension;

/// How far a run is, as far as its store knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded {
    /// How many trials are on record.
    pub recorded: u64,
    /// Whether nothing is left to do.
    pub complete: bool,
    /// Whether the stop rule ended the run.
    pub stopped_early: bool,
}

impl Store {
    /// Which trials are on record.
    pub fn done(&self) -> Result<Done, StoreError> {
        let _moment = self.moment()?;
        let mut done = Done::default();
        each(&self.database, "SELECT number FROM trials ORDER BY number", |row| {
            done.push(row.get::<_, i64>(0)?.cast_unsigned());
            Ok(())
        })
        .map_err(StoreError::sql(&self.path))?;
        if let Some(seal) = self.checked_seal()? {
            self.expect_count("trials", done.count(), seal.trials.count)?;
        }
        Ok(done)
    }

    /// How far the run is.
    pub fn progress(&self) -> Result<Recorded, StoreError> {
        let _moment = self.moment()?;
        let recorded = self.count()?;
        let completion = match self.checked_seal()? {
            Some(seal) => {
                self.expect_count("trials", recorded, seal.trials.count)?;
                seal.complete
            }
            None => {
                let completion = self.unchecked_completion()?;
                self.expect_complete(completion, recorded)?;
                completion
            }
        };
        Ok(Recorded {
            recorded,
            complete: completion.is_some(),
            stopped_early: completion == Some(Completion::StoppedEarly),
        })
    }

    /// How many trials the table has.
    pub(super) fn count(&self) -> Result<u64, StoreError> {
        let count = self.database.query_row("SELECT count(*) FROM trials", (), |row| {
            Ok(row.get::<_, i64>(0)?.cast_unsigned())
        });
        count.map_err(StoreError::sql(&self.path))
    }

    /// What the database says about itself, where that does not contradict the manifest; `None` of
    /// runs without checksums.
    pub(super) fn checked_seal(&self) -> Result<Option<Seal>, StoreError> {
        if !self.has_checksums() {
            return Ok(None);
        }
        let seal = Seal::read(&self.database, &self.path)?;
        self.expect_complete(seal.complete, seal.trials.count)?;
        if let Some(digest) = &seal.digest
            && *digest != seal.result_digest(&self.manifest)
        {
            let what = "records and manifest are not of one run, or not as they were written";
            return Err(StoreError::corrupt(what, &self.path));
        }
        Ok(Some(seal))
    }

    /// A shard is complete with its own part of the plan.
    fn expect_complete(
        &self,
        completion: Option<Completion>,
        recorded: u64,
    ) -> Result<(), StoreError> {
        let planned = self.manifest.planned;
        let whole = completion == Some(Completion::AllDone) && self.manifest.shard.is_none();
        if whole && recorded < planned {
            return Err(StoreError::NotComplete { recorded, planned, path: self.path.clone() });
        }
        Ok(())
    }

    fn unchecked_completion(&self) -> Result<Option<Completion>, StoreError> {
        let query = "SELECT value FROM meta WHERE key = 'complete'";
        let how: Option<String> = self
            .database
            .query_row(query, (), |row| row.get(0))
            .optional()
            .map_err(StoreError::sql(&self.path))?;
        Ok(how.map(|how| match how.as_str() {
            "stopped early" => Completion::StoppedEarly,
            _ => Completion::AllDone,
        }))
    }

    /// Compares all records that were read with what was written.
    pub(super) fn expect_all(&self, read: &Read) -> Result<(), StoreError> {
        let Some(seal) = self.checked_seal()? else { return Ok(()) };
        self.expect_count("trials", read.rows.count, seal.trials.count)?;
        if read.rows != seal.trials || read.content != seal.content {
            return Err(StoreError::corrupt(
                "its records are not those that were written",
                &self.path,
            ));
        }
        Ok(())
    }

    pub(super) fn expect_count(
        &self,
        what: &'static str,
        found: u64,
        expected: u64,
    ) -> Result<(), StoreError> {
        if found == expected {
            return Ok(());
        }
        Err(StoreError::Lost { what, found, expected, path: self.path.clone() })
    }

    /// A row that cannot be believed.
    pub(super) fn damaged(&self, row: String, what: impl Into<String>) -> StoreError {
        StoreError::DamagedRow { row, what: what.into(), path: self.path.clone() }
    }
}
