//! How rows become records again.

use super::Store;
use super::bits::{flipped, kept, kept_single};
use super::done::Done;
use super::error::StoreError;
use super::interned::{Interned, each};
use super::legacy;
use super::packed::{unids, unspot};
use super::schema::Format;
use crate::{Cost, Measures, Record, Site};
use rusqlite::types::ValueRef;
use rusqlite::{Params, Row, Transaction};
use serde::de::DeserializeOwned;
use std::sync::Arc;

const TRIALS: &str = "SELECT t.number, t.ids, t.grp, t.case_no, t.repeat, t.place, t.spot, \
    t.before, t.after, t.answer, t.score, t.queries, t.micros, x.json, m.json \
    FROM trials t LEFT JOIN extras x ON x.number = t.number \
    LEFT JOIN measures m ON m.number = t.number";

/// The same of a run of format 5, which has no typed measures.
const LEGACY_TRIALS: &str = "SELECT t.number, t.ids, t.grp, t.case_no, t.repeat, t.place, t.spot, \
    t.before, t.after, t.answer, t.score, t.queries, t.micros, x.json \
    FROM trials t LEFT JOIN extras x ON x.number = t.number";

/// Columns of [`TRIALS`] that hold JSON.
const EXTRA: usize = 13;
const MEASURES: usize = 14;

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
    /// Calls for every record, in the order of their numbers. Records that a writer adds
    /// meanwhile are not among them.
    pub fn for_each<E: From<StoreError>>(
        &self,
        mut each: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        self.select("ORDER BY t.number", (), &mut each)
    }

    /// The trial with that number, if it is on record.
    pub fn record(&self, number: u64) -> Result<Option<Record>, StoreError> {
        let Ok(number) = i64::try_from(number) else { return Ok(None) };
        let mut found = None;
        self.select("WHERE t.number = ?", [number], &mut |record| {
            found = Some(record);
            Ok::<_, StoreError>(())
        })?;
        Ok(found)
    }

    /// Up to `most` records whose numbers are `from` or more, in the order of their numbers.
    pub(super) fn page(&self, from: u64, most: u32) -> Result<Vec<Record>, StoreError> {
        let Ok(from) = i64::try_from(from) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let which = "WHERE t.number >= ? ORDER BY t.number LIMIT ?";
        self.select(which, (from, most), &mut |record| {
            found.push(record);
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
        self.select(which, (&low[..], &high[..]), &mut |record| {
            found.push(record);
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

    /// Which trials are on record.
    pub fn done(&self) -> Result<Done, StoreError> {
        let mut done = Done::default();
        each(&self.database, "SELECT number FROM trials ORDER BY number", |row| {
            done.push(row.get::<_, i64>(0)?.cast_unsigned());
            Ok(())
        })
        .map_err(StoreError::sql(&self.path))?;
        Ok(done)
    }

    /// How far the run is.
    pub fn progress(&self) -> Result<Recorded, StoreError> {
        let query = "SELECT (SELECT count(*) FROM trials), \
                     (SELECT value FROM meta WHERE key = 'complete')";
        let recorded = self.database.query_row(query, (), |row| {
            let how: Option<String> = row.get(1)?;
            Ok(Recorded {
                recorded: row.get::<_, i64>(0)?.cast_unsigned(),
                complete: how.is_some(),
                stopped_early: how.as_deref() == Some("stopped early"),
            })
        });
        recorded.map_err(StoreError::sql(&self.path))
    }

    /// Calls for the records that a condition selects.
    fn select<E: From<StoreError>>(
        &self,
        which: &str,
        params: impl Params,
        each: &mut dyn FnMut(Record) -> Result<(), E>,
    ) -> Result<(), E> {
        let sql = || StoreError::sql(&self.path);
        // Rows point into the other tables: all must be seen as of one moment.
        let _moment = self.moment()?;
        let interned = self.interned_now()?;
        let trials = match self.format {
            Format::Current => TRIALS,
            Format::Legacy => LEGACY_TRIALS,
        };
        let oracle = legacy::oracle_measure(&self.manifest.oracle);
        let mut statement =
            self.database.prepare_cached(&format!("{trials} {which}")).map_err(sql())?;
        let mut rows = statement.query(params).map_err(sql())?;
        while let Some(row) = rows.next().map_err(sql())? {
            let record = decode(row, &interned).map_err(sql())?;
            let mut record = record
                .ok_or_else(|| StoreError::corrupt("a trial points to nothing", &self.path))?;
            match self.format {
                Format::Current => record.measures = json(row, MEASURES).map_err(sql())?,
                Format::Legacy => {
                    record.measures = legacy::measures_from_fields(&mut record.extra, oracle);
                }
            }
            each(record)?;
        }
        Ok(())
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

/// What a column holds as JSON; nothing where it is null.
fn json<T: Default + DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let Some(json) = row.get_ref(column)?.as_str_or_null()? else { return Ok(T::default()) };
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
