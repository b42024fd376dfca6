//! How rows become records again.

use super::Store;
use super::bits::{flipped, kept, kept_single};
use super::error::StoreError;
use super::interned::Interned;
use super::legacy;
use super::manifest::Manifest;
use super::packed::{unids, unspot};
use super::schema::Format;
use super::sums::{self, RecordSums, RowSum};
use crate::{Cost, Measures, Record, Site};
use rusqlite::types::ValueRef;
use rusqlite::{Params, Row, Transaction};
use serde::de::DeserializeOwned;
use std::sync::Arc;

const TRIALS: &str = "SELECT t.number, t.ids, t.grp, t.case_no, t.repeat, t.place, t.spot, \
    t.before, t.after, t.answer, t.score, t.queries, t.micros, x.json, m.json, t.sum \
    FROM trials t LEFT JOIN extras x ON x.number = t.number \
    LEFT JOIN measures m ON m.number = t.number";

/// The same of a run of format 6, which has no checksums.
const UNCHECKED_TRIALS: &str = "SELECT t.number, t.ids, t.grp, t.case_no, t.repeat, t.place, \
    t.spot, t.before, t.after, t.answer, t.score, t.queries, t.micros, x.json, m.json \
    FROM trials t LEFT JOIN extras x ON x.number = t.number \
    LEFT JOIN measures m ON m.number = t.number";

/// The same of a run of format 5, which has no typed measures.
const LEGACY_TRIALS: &str = "SELECT t.number, t.ids, t.grp, t.case_no, t.repeat, t.place, t.spot, \
    t.before, t.after, t.answer, t.score, t.queries, t.micros, x.json \
    FROM trials t LEFT JOIN extras x ON x.number = t.number";

/// Columns of [`TRIALS`] that hold JSON.
const EXTRA: usize = 13;
const MEASURES: usize = 14;
const SUM: usize = 15;

impl Store {
    /// Calls for every record, in the order of their numbers. Records that a writer adds
    /// meanwhile are not among them.
    pub fn for_each<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        // The end is compared with what was written, so both must be of one moment.
        let _moment = self.moment()?;
        let mut read = Read::default();
        self.select("ORDER BY t.number", (), &mut |row| each(read.add(row?)))?;
        Ok(self.expect_all(&read)?)
    }

    /// The trial with that number, if it is on record.
    pub fn record(&self, number: u64) -> Result<Option<Record>, StoreError> {
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        let mut found = None;
        self.select("WHERE t.number = ?", [number], &mut |row| {
            found = Some(row?.record);
            Ok::<_, StoreError>(())
        })?;
        Ok(found)
    }

    /// Up to `most` records whose numbers are `from` or more, in the order of their numbers; they
    /// count as read.
    pub(super) fn page(
        &self,
        from: u64,
        most: u32,
        read: &mut Read,
    ) -> Result<Vec<Record>, StoreError> {
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let which = "WHERE t.number >= ? ORDER BY t.number LIMIT ?";
        self.select(which, (from, most), &mut |row| {
            found.push(read.add(row?));
            Ok::<_, StoreError>(())
        })?;
        Ok(found)
    }

    /// The trial that a user names by its number, or by at least four digits that its identity
    /// begins with. A number goes first where both fit.
    pub fn find(&self, text: &str) -> Result<Record, StoreError> {
        if let Ok(number) = text.parse()
            && let Some(record) = self.record(number)?
        {
            return Ok(record);
        }
        let missing = || StoreError::NoSuchTrial { text: text.to_owned(), path: self.dir.clone() };
        let (low, high) = bounds(text).ok_or_else(missing)?;
        let mut found: Vec<Record> = Vec::new();
        let which = "WHERE t.ids BETWEEN ? AND ? ORDER BY t.number LIMIT 5";
        self.select(which, (&low[..], &high[..]), &mut |row| {
            found.push(row?.record);
            Ok::<_, StoreError>(())
        })?;
        if found.len() > 1 {
            let mut trials = Vec::new();
            for record in &found {
                trials.push(format!("{} ({})", record.number, record.trial));
            }
            let path = self.dir.clone();
            return Err(StoreError::AmbiguousTrial { text: text.to_owned(), trials, path });
        }
        found.pop().ok_or_else(missing)
    }

    /// Calls for the records that a condition selects; with an error for those that are damaged.
    pub(super) fn select<E: From<StoreError>>(
        &self,
        which: &str,
        params: impl Params,
        each: &mut dyn FnMut(Result<CheckedRecord, StoreError>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.select_numbered(which, params, &mut |_, row| each(row))
    }

    fn select_numbered<E: From<StoreError>>(
        &self,
        which: &str,
        params: impl Params,
        each: &mut dyn FnMut(u64, Result<CheckedRecord, StoreError>) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = || StoreError::sql(&self.path);
        // Rows point into the other tables: all must be seen as of one moment.
        let _moment = self.moment()?;
        let interned = self.interned_now()?;
        let trials = match self.format {
            Format::Current => TRIALS,
            Format::Unchecked => UNCHECKED_TRIALS,
            Format::Legacy => LEGACY_TRIALS,
        };
        let oracle = legacy::oracle_measure(&self.manifest.oracle);
        let mut statement =
            self.database.prepare_cached(&format!("{trials} {which}")).map_err(sql())?;
        let mut rows = statement.query(params).map_err(sql())?;
        while let Some(row) = rows.next().map_err(sql())? {
            let number = row.get::<_, i64>(0).map_err(sql())?.cast_unsigned();
            let read = self.read_row(row, &interned, oracle);
            each(number, read.map_err(|what| self.damaged(format!("trial {number}"), what)))?;
        }
        Ok(())
    }

    /// Calls for every row, with its number; what is damaged comes as an error.
    pub(super) fn select_each(
        &self,
        each: &mut dyn FnMut(u64, Result<CheckedRecord, StoreError>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.select_numbered("ORDER BY t.number", (), each)
    }

    /// The record in a row, or what is wrong with it.
    fn read_row(
        &self,
        row: &Row<'_>,
        interned: &Interned,
        oracle: Option<&str>,
    ) -> Result<CheckedRecord, String> {
        let text = |error: rusqlite::Error| error.to_string();
        let record = decode(row, interned).map_err(text)?;
        let mut record = record.ok_or("it points to nothing")?;
        match self.format {
            Format::Current | Format::Unchecked => {
                record.measures = json(row, MEASURES).map_err(text)?;
            }
            Format::Legacy => {
                record.measures = legacy::measures_from_fields(&mut record.extra, oracle);
            }
        }
        if let Some(what) = self.beyond_plan(&record) {
            return Err(what);
        }
        let mut sums = RecordSums { content: 0, row: 0 };
        if self.format == Format::Current {
            let measures = text_at(row, MEASURES).map_err(text)?;
            let extra = text_at(row, EXTRA).map_err(text)?;
            sums = sums::of_record(&record, measures, extra).map_err(|error| error.to_string())?;
            if row.get::<_, i64>(SUM).map_err(text)?.cast_unsigned() != sums.row {
                return Err("its checksum does not fit".to_owned());
            }
        }
        Ok(CheckedRecord { record, sums })
    }

    /// What of a record the campaign does not have.
    pub(super) fn beyond_plan(&self, record: &Record) -> Option<String> {
        let Manifest { planned, targets, faults, cases, .. } = &self.manifest;
        let bounds = [
            ("trials", record.number, *planned),
            ("targets", record.target.into(), targets.len() as u64),
            ("faults", record.fault.into(), faults.len() as u64),
            ("cases", record.case.into(), *cases),
        ];
        for (what, number, end) in bounds {
            if number >= end {
                return Some(format!("{number} is beyond the campaign's {end} {what}"));
            }
        }
        None
    }

    /// What rows point to, at the moment that is held. Loading it takes longer than reading a
    /// record, so it is kept until a writer changes the database.
    pub(super) fn interned_now(&self) -> Result<Arc<Interned>, StoreError> {
        let version: i64 = self
            .database
            .pragma_query_value(None, "data_version", |row| row.get(0))
            .map_err(StoreError::sql(&self.path))?;
        if let Some((at, interned)) = &*self.found.borrow()
            && *at == version
        {
            return Ok(Arc::clone(interned));
        }
        let interned = Arc::new(Interned::load(&self.database, self.format, &self.path)?);
        self.found.replace(Some((version, Arc::clone(&interned))));
        Ok(interned)
    }

    /// Holds the database as it is for reading, where it is not held already.
    pub(super) fn moment(&self) -> Result<Option<Transaction<'_>>, StoreError> {
        if !self.database.is_autocommit() {
            return Ok(None);
        }
        self.database.unchecked_transaction().map(Some).map_err(StoreError::sql(&self.path))
    }
}

/// A record, with the checksums of what was read.
pub(super) struct CheckedRecord {
    pub(super) record: Record,
    pub(super) sums: RecordSums,
}

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) rows: RowSum,
    pub(super) content: RowSum,
}

impl Read {
    pub(super) fn add(&mut self, CheckedRecord { record, sums }: CheckedRecord) -> Record {
        self.rows.add(sums.row);
        self.content.add(sums.content);
        record
    }
}

/// The record in a row of [`TRIALS`]; `None` where it points to what is not there.
fn decode(row: &Row<'_>, known: &Interned) -> rusqlite::Result<Option<Record>> {
    let number = row.get::<_, i64>(0)?.cast_unsigned();
    let case = row.get(3)?;
    let Some(group) = known.groups.get(row.get(2)?) else { return Ok(None) };
    let Some(outcome) = group.outcome() else { return Ok(None) };
    let Some((trial, digest)) = unids(row.get_ref(1)?.as_blob()?) else { return Ok(None) };
    let (answer, score, digest) = if group.same {
        let Some(golden) = known.goldens.get(&(group.target, case)) else { return Ok(None) };
        (golden.answer.clone(), golden.score, golden.digest)
    } else {
        let name: Option<i64> = row.get(9)?;
        let answer = name.and_then(|name| known.names.get(name)).cloned();
        if answer.is_some() != name.is_some() {
            return Ok(None);
        }
        let score = row.get::<_, Option<i64>>(10)?.map(kept_single).transpose()?;
        (answer, score, digest)
    };
    let Some(site) = site(row, known)? else { return Ok(None) };
    Ok(Some(Record {
        number,
        trial,
        target: group.target,
        case,
        fault: group.fault,
        repeat: row.get(4)?,
        outcome,
        site,
        answer,
        score,
        cost: Cost { queries: row.get(11)?, micros: row.get::<_, i64>(12)?.cast_unsigned() },
        digest,
        measures: Measures::default(),
        extra: json(row, EXTRA)?,
    }))
}

/// The site, if the trial has one; the outer `None` where it points to what is not there.
fn site(row: &Row<'_>, known: &Interned) -> rusqlite::Result<Option<Option<Site>>> {
    let Some(place) = row.get::<_, Option<i64>>(5)? else { return Ok(Some(None)) };
    let (element, bit) = unspot(row.get(6)?);
    let before = kept(row.get_ref(7)?)?;
    let after = match row.get_ref(8)? {
        ValueRef::Null => flipped(before, bit),
        value => Some(kept(value)?),
    };
    Ok(known
        .places
        .get(place)
        .zip(after)
        .map(|(place, after)| Some(Site { place: Arc::clone(place), element, bit, before, after })))
}

/// What a column holds as text; nothing where it is null.
fn text_at<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<&'a str> {
    Ok(row.get_ref(column)?.as_str_or_null()?.unwrap_or_default())
}

/// What a column holds as JSON; nothing where it is null.
fn json<T: Default + DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let json = text_at(row, column)?;
    if json.is_empty() {
        return Ok(T::default());
    }
    serde_json::from_str(json).map_err(|error| {
        let text = rusqlite::types::Type::Text;
        rusqlite::Error::FromSqlConversionFailure(column, text, error.into())
    })
}

/// The lowest and the highest identity that begin with these digits, with any digest behind it.
fn bounds(digits: &str) -> Option<([u8; 16], [u8; 24])> {
    let fits = (4..=32).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_hexdigit());
    let filled = |fill: &str| {
        let text = format!("{digits}{}", fill.repeat(32 - digits.len()));
        u128::from_str_radix(&text, 16).ok().map(u128::to_be_bytes)
    };
    if !fits {
        return None;
    }
    let mut high = [0xff; 24];
    high[..16].copy_from_slice(&filled("f")?);
    Some((filled("0")?, high))
}

#[cfg(test)]
mod tests {
    use super::super::directory::hex;
    use super::*;

    #[test]
    fn digits_bound_the_identities_that_begin_with_them() {
        let (low, high) = bounds("aBc12").unwrap();
        assert_eq!(hex(&low), format!("abc12{}", "0".repeat(27)));
        assert_eq!(hex(&high), format!("abc12{}", "f".repeat(43)));
        let whole = "0123456789abcdef0123456789abcdef";
        let (low, high) = bounds(whole).unwrap();
        assert_eq!((hex(&low), hex(&high[..16])), (whole.to_owned(), whole.to_owned()));
        for text in ["abc", "", "abcg", "+abc", "abcé", &"a".repeat(33)] {
            assert_eq!(bounds(text), None, "{text}");
        }
    }
}
