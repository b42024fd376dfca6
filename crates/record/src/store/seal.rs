//! What a database says about itself: how many rows its tables have, their checksums, and whether
//! the run is complete. It changes in the same transactions as the rows, so that rows that are
//! lost, added or replaced by earlier ones contradict it.

use super::error::StoreError;
use super::manifest::Manifest;
use super::sums::{RowSum, of_text};
use rusqlite::{Connection, OptionalExtension};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The one row of the table `seal`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Seal {
    /// Set where nothing is left to do.
    pub(super) complete: Option<Completion>,
    pub(super) trials: RowSum,
    /// Of the trials without their times.
    pub(super) content: RowSum,
    pub(super) cases: RowSum,
    pub(super) goldens: RowSum,
    pub(super) examples: RowSum,
    pub(super) pictures: RowSum,
    pub(super) shown: RowSum,
    pub(super) pins: RowSum,
    /// Over plan, cases, golden answers and trials of a complete run; see [`Seal::digest`].
    pub(super) digest: Option<String>,
}

/// How a run came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Completion {
    /// Every planned trial is on record.
    AllDone,
    /// The stop rule ended the run.
    StoppedEarly,
}

const READ: &str = "SELECT json, sum FROM seal WHERE id = 0";
const WRITE: &str = "INSERT OR REPLACE INTO seal VALUES (0, ?, ?)";

impl Seal {
    pub(super) fn read(database: &Connection, path: &Path) -> Result<Self, StoreError> {
        let row: Option<(String, i64)> = database
            .prepare_cached(READ)
            .and_then(|mut read| {
                read.query_row((), |row| Ok((row.get(0)?, row.get(1)?))).optional()
            })
            .map_err(StoreError::sql(path))?;
        let Some((json, sum)) = row else {
            return Err(StoreError::corrupt("it does not say what it holds", path));
        };
        if of_text(&json) != sum.cast_unsigned() {
            return Err(StoreError::corrupt("what it says about itself is damaged", path));
        }
        serde_json::from_str(&json).map_err(|error| StoreError::corrupt(error.to_string(), path))
    }

    pub(super) fn write(&self, database: &Connection) -> rusqlite::Result<()> {
        let json = serde_json::to_string(self)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        let sum = of_text(&json).cast_signed();
        database.prepare_cached(WRITE)?.execute((json, sum))?;
        Ok(())
    }

    /// A digest over what a run planned and found. It does not depend on threads, order, shards,
    /// restarts, times and machines: runs with the same digest have the same results.
    pub(super) fn result_digest(&self, manifest: &Manifest) -> String {
        let mut hash = Sha256::new();
        let plan = serde_json::json!({
            "fingerprint": manifest.fingerprint,
            "seed": manifest.seed,
            "planned": manifest.planned,
            "cases": manifest.cases,
            "classes": manifest.classes,
            "objects": manifest.objects,
            "targets": manifest.targets.iter().map(|target| serde_json::json!({
                "sha256": target.sha256,
                "input": target.input,
                "output": target.output,
                "classes": target.classes,
                "defences": target.defences,
            })).collect::<Vec<_>>(),
            "faults": manifest.faults.iter().map(|fault| &fault.spec).collect::<Vec<_>>(),
        });
        hash.update(plan.to_string());
        for sum in [self.cases, self.goldens, self.content] {
            hash.update(sum.bytes());
        }
        super::directory::hex(&hash.finalize())
    }
}
