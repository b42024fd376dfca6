//! What is damaged is dropped, so that the campaign does it again.

use super::Store;
use super::error::StoreError;
use super::seal::Seal;
use super::sums::RowSum;
use crate::Record;
use faultlens_core::{Outcome, Reason};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;

/// What was dropped from a run directory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Trials that are damaged, or whose case or golden answer is.
    pub trials: u64,
    /// Trials that were recorded and are not there any more.
    pub lost: u64,
    /// Cases.
    pub cases: u64,
    /// Golden answers.
    pub goldens: u64,
    /// Whether examples and pictures were dropped; a run that comes to its end makes them anew.
    pub examples: bool,
    /// Whether the campaign is to be run again.
    pub incomplete: bool,
}

/// Rows that belong to lost ones.
const ORPHANS: &str = "DELETE FROM measures WHERE number NOT IN (SELECT number FROM trials);
    DELETE FROM extras WHERE number NOT IN (SELECT number FROM trials);
    DELETE FROM strata WHERE case_no NOT IN (SELECT case_no FROM cases);";

/// What of a run is sound, and what is not.
#[derive(Default)]
struct Found {
    seal: Seal,
    bad_trials: Vec<u64>,
    bad_cases: BTreeSet<u32>,
    /// Those that are sound.
    cases: BTreeSet<u32>,
    bad_goldens: BTreeSet<(u32, u32)>,
    /// Those that are sound.
    goldens: BTreeSet<(u32, u32)>,
    /// Whether fewer golden answers are there than were written.
    lost_goldens: bool,
}

/// Drops every row that is damaged, with all that rests on it; the campaign's `run` does it again.
/// Fails where the damage is not in single rows: then nothing is changed.
pub fn repair(dir: &Path) -> Result<Repaired, StoreError> {
    let mut store = Store::open(dir)?;
    let before = Seal::read(&store.database, &store.path).unwrap_or_default();
    let found = Found::of(&store, &before)?;
    let pins = store.pins().is_ok();
    let lost = before.trials.count.saturating_sub(found.seal.trials.count);
    let mut repaired = Repaired {
        trials: found.bad_trials.len() as u64,
        cases: found.bad_cases.len() as u64,
        goldens: found.bad_goldens.len() as u64,
        lost: lost.saturating_sub(found.bad_trials.len() as u64),
        ..Repaired::default()
    };
    let sound = store.examples().and(store.pictures()).and(store.shown()).is_ok();
    repaired.examples = !sound || !found.bad_trials.is_empty();
    let mut seal = found.seal.clone();
    seal.complete = before.complete;
    // Pins are replayed by every run; without them a verdict could be better than it was.
    let same = seal.trials == before.trials && !repaired.examples && pins;
    if !same || store.checked_seal().is_err() {
        repaired.incomplete = true;
        seal.complete = None;
    }
    seal.digest = seal.complete.and(before.digest.clone());
    if !repaired.examples {
        seal.examples = before.examples;
        seal.pictures = before.pictures;
        seal.shown = before.shown;
    }
    if pins {
        seal.pins = before.pins;
    }
    store.rewrite(&found, &seal, repaired.examples, !pins)?;
    Ok(repaired)
}

impl Found {
    fn of(store: &Store, before: &Seal) -> Result<Self, StoreError> {
        let mut found = Self::default();
        for (case, sums) in store.cases_with_sums()? {
            if sums.is_sound() {
                found.seal.cases.add(sums.found);
                found.cases.insert(case.case);
            } else {
                found.bad_cases.insert(case.case);
            }
        }
        for (golden, sums) in store.goldens_with_sums()? {
            let key = (golden.target, golden.case);
            if sums.is_sound() && !found.bad_cases.contains(&golden.case) {
                found.seal.goldens.add(sums.found);
                found.goldens.insert(key);
            } else {
                found.bad_goldens.insert(key);
            }
        }
        let goldens = (found.goldens.len() + found.bad_goldens.len()) as u64;
        found.lost_goldens = goldens < before.goldens.count;
        let mut trials = RowSum::default();
        let mut content = RowSum::default();
        let mut bad = Vec::new();
        store.select_each(&mut |number, row| {
            match row.ok().filter(|row| found.rests(&row.record)) {
                Some(row) => {
                    trials.add(row.sums.row);
                    content.add(row.sums.content);
                }
                None => bad.push(number),
            }
            Ok(())
        })?;
        found.seal.trials = trials;
        found.seal.content = content;
        found.bad_trials = bad;
        Ok(found)
    }

    /// Whether case and golden answer of a trial are sound. Of a case that cannot be read there is
    /// no golden answer.
    fn rests(&self, record: &Record) -> bool {
        let key = (record.target, record.case);
        if !self.cases.contains(&record.case) || self.bad_goldens.contains(&key) {
            return false;
        }
        let unreadable = record.outcome == Outcome::Skipped(Reason::CaseUnreadable);
        !self.lost_goldens || unreadable || self.goldens.contains(&key)
    }
}

impl Store {
    fn rewrite(
        &mut self,
        found: &Found,
        seal: &Seal,
        examples: bool,
        pins: bool,
    ) -> Result<(), StoreError> {
        in_transaction(&mut self.database, |database| {
            for table in ["trials", "measures", "extras"] {
                let query = format!("DELETE FROM {table} WHERE number = ?");
                let mut delete = database.prepare(&query)?;
                for number in &found.bad_trials {
                    delete.execute([number.cast_signed()])?;
                }
            }
            for case in &found.bad_cases {
                database.execute("DELETE FROM cases WHERE case_no = ?", [case])?;
                database.execute("DELETE FROM strata WHERE case_no = ?", [case])?;
            }
            for key in &found.bad_goldens {
                database.execute("DELETE FROM goldens WHERE target = ? AND case_no = ?", *key)?;
            }
            database.execute_batch(ORPHANS)?;
            if examples {
                for table in ["examples", "example_answers", "pictures", "shown"] {
                    database.execute_batch(&format!("DELETE FROM {table}"))?;
                }
            }
            if pins {
                database.execute_batch("DELETE FROM pins")?;
            }
            seal.write(database)
        })
        .map_err(StoreError::sql(&self.path))?;
        self.interned = None;
        self.found.take();
        Ok(())
    }
}

/// Transactions of a sound run begin by reading what may be damaged here.
fn in_transaction(
    database: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    super::schema::sync_commits(database, true)?;
    let transaction = database.transaction()?;
    work(&transaction)?;
    transaction.commit()
}
