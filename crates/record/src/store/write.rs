//! How records become rows.

use super::Store;
use super::bits::{flipped, keep, keep_single};
use super::error::StoreError;
use super::interned::{Answer, Group, Interned};
use super::kept::CaseRecord;
use super::packed::{fits, ids, spot};
use super::scene_text;
use super::schema;
use super::seal::{Completion, Seal};
use super::sums::{self, RecordSums};
use crate::{GoldenRecord, ModelValue, Record, Site};
use faultlens_core::Reason;
use rusqlite::types::Value;
use rusqlite::{
    CachedStatement, Connection, OptionalExtension, Result, Transaction, TransactionBehavior,
    params,
};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What was written is safe against a power cut after this time, unless the user of a store says
/// otherwise.
pub(super) const SYNC_AFTER: Duration = Duration::from_secs(5);

/// What is written in one transaction: all of it is on record afterwards, or nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Batch<'a> {
    /// Trials. In the order of their numbers they are written fastest and take the least space.
    pub records: &'a [Record],
    /// Golden answers; written before the records, which then need not repeat them.
    pub goldens: &'a [GoldenRecord],
    /// Cases.
    pub cases: &'a [CaseRecord],
}

impl Store {
    /// Writes a batch. What is on record already stays as it is, so that a trial that was done
    /// twice changes nothing. A few thousand records at a time are written fastest.
    /// Whoever writes nothing for a while calls it with an empty batch, so that what was written
    /// before is safe against a power cut in time.
    pub fn write(&mut self, batch: &Batch<'_>) -> Result<(), StoreError> {
        if batch.records.is_empty() && batch.goldens.is_empty() && batch.cases.is_empty() {
            let due = self.unsynced && self.synced.elapsed() >= self.sync_after;
            return if due { self.in_synced_transaction(|_, _| Ok(())) } else { Ok(()) };
        }
        self.all_fit(batch.records)?;
        self.found.take();
        // Gone after an error: what is undone in the database must not be known here.
        let mut interned = match self.interned.take() {
            Some(interned) => interned,
            None => Interned::load(&self.database, self.format, &self.path)?,
        };
        self.in_transaction(|transaction, seal| {
            put_cases(transaction, batch.cases, seal)?;
            put_goldens(transaction, batch.goldens, &mut interned, seal)?;
            put_records(transaction, batch.records, &mut interned, seal)
        })?;
        self.interned = Some(interned);
        Ok(())
    }

    fn all_fit(&self, records: &[Record]) -> Result<(), StoreError> {
        for record in records {
            if i64::try_from(record.number).is_err() {
                return Err(self.too_large("trial", record.number));
            }
            if let Some(what) = self.beyond_plan(record) {
                let path = self.dir.clone();
                return Err(StoreError::BeyondPlan { number: record.number, what, path });
            }
        }
        for site in records.iter().filter_map(|record| record.site.as_ref()) {
            if !fits(site) {
                return Err(self.too_large("element", site.element));
            }
        }
        Ok(())
    }

    fn too_large(&self, what: &'static str, number: u64) -> StoreError {
        StoreError::TooLarge { what, number, path: self.dir.clone() }
    }

    /// All of it, or nothing.
    pub(super) fn in_transaction(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &mut Seal) -> Result<()>,
    ) -> Result<(), StoreError> {
        if self.synced.elapsed() >= self.sync_after {
            return self.in_synced_transaction(work);
        }
        self.transaction(work)?;
        self.unsynced = true;
        Ok(())
    }

    /// Sets after which time what was written is safe against a power cut; five seconds unless set.
    /// A sync takes a few milliseconds on most disks.
    pub fn sync_after(&mut self, time: Duration) {
        self.sync_after = time;
    }

    /// All of it, or nothing; safe against a power cut, with all that came before.
    pub(super) fn in_synced_transaction(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &mut Seal) -> Result<()>,
    ) -> Result<(), StoreError> {
        schema::sync_commits(&self.database, true).map_err(StoreError::sql(&self.path))?;
        self.transaction(work)?;
        self.synced = Instant::now();
        self.unsynced = false;
        schema::sync_commits(&self.database, false).map_err(StoreError::sql(&self.path))
    }

    fn transaction(
        &mut self,
        work: impl FnOnce(&Transaction<'_>, &mut Seal) -> Result<()>,
    ) -> Result<(), StoreError> {
        let transaction = self
            .database
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(StoreError::sql(&self.path))?;
        let mut seal = Seal::read(&transaction, &self.path)?;
        work(&transaction, &mut seal)
            .and_then(|()| seal.write(&transaction))
            .and_then(|()| transaction.commit())
            .map_err(StoreError::sql(&self.path))
    }

    /// Says that nothing is left to do; `stopped_early` where the stop rule ended the run.
    pub fn mark_complete(&mut self, stopped_early: bool) -> Result<(), StoreError> {
        let manifest = self.manifest.clone();
        self.in_synced_transaction(|_, seal| {
            let how = if stopped_early { Completion::StoppedEarly } else { Completion::AllDone };
            seal.complete = Some(how);
            seal.digest = Some(seal.result_digest(&manifest));
            Ok(())
        })
    }
}

fn put_cases(database: &Connection, cases: &[CaseRecord], seal: &mut Seal) -> Result<()> {
    let mut put =
        database.prepare_cached("INSERT OR IGNORE INTO cases VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?;
    let mut stratum = database.prepare_cached("INSERT INTO strata VALUES (?, ?, ?)")?;
    for case in cases {
        let digest = case.digest.map(u64::cast_signed);
        let sum = sums::of_case(case);
        let row = params![
            case.case,
            case.name,
            case.label,
            case.width,
            case.height,
            digest,
            case.error,
            sum.cast_signed()
        ];
        if put.execute(row)? == 1 {
            seal.cases.add(sum);
            for (name, value) in &case.strata {
                stratum.execute((case.case, name, value))?;
            }
        }
    }
    Ok(())
}

fn put_goldens(
    database: &Connection,
    goldens: &[GoldenRecord],
    interned: &mut Interned,
    seal: &mut Seal,
) -> Result<()> {
    let mut known = database.prepare_cached(GOLDEN_SUM)?;
    let mut put = database.prepare_cached(PUT_GOLDEN)?;
    for golden in goldens {
        let answer = name(database, golden.answer.as_ref(), interned)?;
        let score = golden.score.map(keep_single);
        let digest = golden.digest.map(u64::cast_signed);
        let truth = name(database, golden.truth.as_ref(), interned)?;
        let scene = golden.scene.as_ref().map(scene_text::write);
        let sum = sums::of_golden(golden, scene.as_deref());
        let row = params![
            golden.target,
            golden.case,
            answer,
            score,
            golden.correct,
            digest,
            golden.error,
            truth,
            golden.positive,
            scene,
            sum.cast_signed()
        ];
        let before: Option<i64> =
            known.query_row((golden.target, golden.case), |row| row.get(0)).optional()?;
        if put.execute(row)? == 1 {
            if let Some(before) = before {
                seal.goldens.remove(before.cast_unsigned());
            }
            seal.goldens.add(sum);
            let answer = golden.answer.clone();
            let known = Answer { answer, score: golden.score, digest: golden.digest };
            interned.goldens.insert((golden.target, golden.case), known);
        }
    }
    Ok(())
}

const GOLDEN_SUM: &str = "SELECT sum FROM goldens WHERE target = ? AND case_no = ?";

/// An answer takes the place of none that came before, and of nothing else.
const PUT_GOLDEN: &str = "INSERT INTO goldens VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
    ON CONFLICT (target, case_no) DO UPDATE SET answer = ?3, score = ?4, correct = ?5, \
    digest = ?6, error = ?7, truth = ?8, positive = ?9, scene = ?10, sum = ?11 \
    WHERE digest IS NULL AND ?6 IS NOT NULL";

const PUT_TRIAL: &str =
    "INSERT OR IGNORE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

fn put_records(
    database: &Connection,
    records: &[Record],
    interned: &mut Interned,
    seal: &mut Seal,
) -> Result<()> {
    let mut put = database.prepare_cached(PUT_TRIAL)?;
    let mut measures = database.prepare_cached("INSERT INTO measures VALUES (?, ?)")?;
    let mut extra = database.prepare_cached("INSERT INTO extras VALUES (?, ?)")?;
    for record in records {
        // Most trials of model faults have neither, and no row then.
        let measured =
            if record.measures.is_empty() { String::new() } else { json(&record.measures)? };
        let besides = if record.extra.is_empty() { String::new() } else { json(&record.extra)? };
        let sums = sums::of_record(record, &measured, &besides).map_err(no_json)?;
        if !put_record(database, &mut put, record, sums, interned)? {
            continue;
        }
        seal.trials.add(sums.row);
        seal.content.add(sums.content);
        if !measured.is_empty() {
            measures.execute((record.number.cast_signed(), measured))?;
        }
        if !besides.is_empty() {
            extra.execute((record.number.cast_signed(), besides))?;
        }
    }
    Ok(())
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(no_json)
}

fn no_json(error: serde_json::Error) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}

/// Whether the record was new.
fn put_record(
    database: &Connection,
    put: &mut CachedStatement<'_>,
    record: &Record,
    sums: RecordSums,
    interned: &mut Interned,
) -> Result<bool> {
    let golden = interned.goldens.get(&(record.target, record.case));
    let same = golden
        .is_some_and(|golden| golden.is(record.answer.as_deref(), record.score, record.digest));
    let group =
        group(database, Group::new(record.target, record.fault, &record.outcome, same), interned)?;
    let answer = if same { None } else { name(database, record.answer.as_ref(), interned)? };
    let score = record.score.filter(|_| !same).map(keep_single);
    let (ids, length) = ids(record.trial, record.digest.filter(|_| !same));
    let place = place(database, record.site.as_ref(), interned)?;
    let site = record.site.as_ref();
    let written = put.execute(params![
        record.number.cast_signed(),
        &ids[..length],
        group,
        record.case,
        record.repeat,
        place,
        site.map(spot),
        site.map_or(Value::Null, |site| keep(site.before)),
        site.map_or(Value::Null, after),
        answer,
        score,
        record.cost.queries,
        record.cost.micros.cast_signed(),
        sums.row.cast_signed(),
    ])?;
    Ok(written == 1)
}

/// The number under the fault; null where it follows from the number before and the flipped bit.
fn after(site: &Site) -> Value {
    let flipped = flipped(site.before, site.bit);
    if flipped.is_some_and(|flipped| flipped.to_bits() == site.after.to_bits()) {
        return Value::Null;
    }
    keep(site.after)
}

fn name(
    database: &Connection,
    text: Option<&Arc<str>>,
    known: &mut Interned,
) -> Result<Option<i64>> {
    let Some(text) = text else { return Ok(None) };
    if let Some(number) = known.names.number(text) {
        return Ok(Some(number));
    }
    let number = known.names.add(Arc::clone(text));
    database.prepare_cached("INSERT INTO names VALUES (?, ?)")?.execute((number, &**text))?;
    Ok(Some(number))
}

fn place(database: &Connection, site: Option<&Site>, known: &mut Interned) -> Result<Option<i64>> {
    let Some(Site { place, .. }) = site else { return Ok(None) };
    if let Some(number) = known.places.number(place) {
        return Ok(Some(number));
    }
    let number = known.places.add(Arc::clone(place));
    let ModelValue { value, operator, kind, position, layer, layer_name } = &**place;
    let row = (number, value, operator, kind, position, layer, layer_name);
    database.prepare_cached("INSERT INTO places VALUES (?, ?, ?, ?, ?, ?, ?)")?.execute(row)?;
    Ok(Some(number))
}

fn group(database: &Connection, group: Group, known: &mut Interned) -> Result<i64> {
    if let Some(number) = known.groups.number(&group) {
        return Ok(number);
    }
    let reason = group.reason.map(Reason::code);
    let row = (group.target, group.fault, group.outcome.name(), reason, group.same);
    let number = known.groups.add(Arc::new(group.clone()));
    let mut put = database.prepare_cached("INSERT INTO groups VALUES (?, ?, ?, ?, ?, ?)")?;
    put.execute((number, row.0, row.1, row.2, row.3, row.4))?;
    Ok(number)
}
