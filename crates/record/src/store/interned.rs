//! What many trials share, kept once: texts, places, groups; and the golden answers, which many
//! trials repeat.

use super::bits::kept_single;
use super::error::StoreError;
use super::legacy;
use super::schema::Format;
use crate::ModelValue;
use faultlens_core::{Outcome, OutcomeKind, Reason};
use rusqlite::{Connection, Result, Row};
use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;
use std::sync::Arc;

/// All that the rows of `trials` point to. The maps are only looked into, never listed.
#[derive(Debug, Default)]
pub(super) struct Interned {
    pub(super) names: Table<str>,
    pub(super) places: Table<ModelValue>,
    pub(super) groups: Table<Group>,
    pub(super) goldens: HashMap<(u32, u32), Answer>,
}

/// Things with their numbers, which count from 0.
#[derive(Debug)]
pub(super) struct Table<T: ?Sized> {
    things: Vec<Arc<T>>,
    numbers: HashMap<Arc<T>, i64>,
}

impl<T: ?Sized> Default for Table<T> {
    fn default() -> Self {
        Self { things: Vec::new(), numbers: HashMap::new() }
    }
}

/// What a trial was of, what became of it, and whether its answer is the golden one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Group {
    pub(super) target: u32,
    pub(super) fault: u32,
    pub(super) outcome: OutcomeKind,
    pub(super) reason: Option<Reason>,
    pub(super) same: bool,
}

/// An answer as records have it.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) answer: Option<Arc<str>>,
    pub(super) score: Option<f32>,
    pub(super) digest: Option<u64>,
}

impl Answer {
    /// Whether it is the same to the bit. Answers that have no digest are not worth the trouble.
    pub(super) fn is(&self, answer: Option<&str>, score: Option<f32>, digest: Option<u64>) -> bool {
        digest.is_some()
            && self.digest == digest
            && self.score.map(f32::to_bits) == score.map(f32::to_bits)
            && self.answer.as_deref() == answer
    }
}

impl Group {
    pub(super) fn new(target: u32, fault: u32, outcome: &Outcome, same: bool) -> Self {
        let reason = outcome.skip_reason();
        Self { target, fault, outcome: outcome.kind(), reason, same }
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        Outcome::recorded(self.outcome, self.reason)
    }

    fn read(row: &Row<'_>, format: Format) -> Result<Self, TableError> {
        let name = row.get_ref(3)?.as_str().map_err(rusqlite::Error::from)?;
        let outcome = match format {
            Format::Current | Format::Unchecked => OutcomeKind::named(name),
            Format::Legacy => legacy::outcome(name),
        };
        let outcome = outcome.ok_or_else(|| TableError::Unknown(name.to_owned()))?;
        let code = row.get_ref(4)?.as_str_or_null().map_err(rusqlite::Error::from)?;
        let mut reason = None;
        if let Some(code) = code {
            let known = match format {
                Format::Current | Format::Unchecked => Reason::from_code(code),
                Format::Legacy => legacy::reason(code),
            };
            reason = Some(known.ok_or_else(|| TableError::Unknown(code.to_owned()))?);
        }
        let group =
            Self { target: row.get(1)?, fault: row.get(2)?, outcome, reason, same: row.get(5)? };
        if group.outcome().is_some() { Ok(group) } else { Err(TableError::Damaged) }
    }
}

/// What can be wrong with the tables.
enum TableError {
    Sql(rusqlite::Error),
    Damaged,
    Unknown(String),
}

impl From<rusqlite::Error> for TableError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl<T: ?Sized + Eq + Hash> Table<T> {
    /// The number of a thing that is known.
    pub(super) fn number(&self, thing: &T) -> Option<i64> {
        self.numbers.get(thing).copied()
    }

    /// Gives the next number to a thing.
    pub(super) fn add(&mut self, thing: Arc<T>) -> i64 {
        let number = self.next();
        self.things.push(Arc::clone(&thing));
        self.numbers.insert(thing, number);
        number
    }

    fn next(&self) -> i64 {
        i64::try_from(self.things.len()).unwrap_or(i64::MAX)
    }

    /// The thing of a number.
    pub(super) fn get(&self, number: i64) -> Option<&Arc<T>> {
        self.things.get(usize::try_from(number).ok()?)
    }

    /// Takes a thing from the database; its number must be the one that is due.
    fn take(&mut self, number: i64, thing: Arc<T>) -> Result<(), TableError> {
        if self.add(thing) == number { Ok(()) } else { Err(TableError::Damaged) }
    }
}

impl Interned {
    pub(super) fn load(
        database: &Connection,
        format: Format,
        path: &Path,
    ) -> Result<Self, StoreError> {
        let mut all = Self::default();
        all.fill(database, format).map_err(|odd| match odd {
            TableError::Sql(error) => StoreError::sql(path)(error),
            TableError::Damaged => StoreError::corrupt("its tables do not fit together", path),
            TableError::Unknown(word) => StoreError::NewerWord { word, path: path.to_path_buf() },
        })?;
        Ok(all)
    }

    fn fill(&mut self, database: &Connection, format: Format) -> Result<(), TableError> {
        each(database, "SELECT id, text FROM names ORDER BY id", |row| {
            self.names.take(row.get(0)?, row.get::<_, String>(1)?.into())
        })?;
        let places = "SELECT id, value, operator, kind, position, layer, layer_name FROM places \
                      ORDER BY id";
        each(database, places, |row| {
            let place = ModelValue {
                value: row.get(1)?,
                operator: row.get(2)?,
                kind: row.get(3)?,
                position: row.get(4)?,
                layer: row.get(5)?,
                layer_name: row.get(6)?,
            };
            self.places.take(row.get(0)?, Arc::new(place))
        })?;
        let groups = "SELECT id, target, fault, outcome, reason, same FROM groups ORDER BY id";
        each(database, groups, |row| {
            self.groups.take(row.get(0)?, Arc::new(Group::read(row, format)?))
        })?;
        each(database, "SELECT target, case_no, answer, score, digest FROM goldens", |row| {
            let name: Option<i64> = row.get(2)?;
            let answer = name.and_then(|name| self.names.get(name)).cloned();
            if name.is_some() != answer.is_some() {
                return Err(TableError::Damaged);
            }
            let score = row.get::<_, Option<i64>>(3)?.map(kept_single).transpose();
            let score = score.map_err(rusqlite::Error::from)?;
            let digest = row.get::<_, Option<i64>>(4)?.map(i64::cast_unsigned);
            self.goldens.insert((row.get(0)?, row.get(1)?), Answer { answer, score, digest });
            Ok(())
        })
    }
}

/// Calls for every row of a query.
pub(super) fn each<E: From<rusqlite::Error>>(
    database: &Connection,
    query: &str,
    mut row: impl FnMut(&Row<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let mut statement = database.prepare_cached(query)?;
    let mut rows = statement.query(())?;
    while let Some(found) = rows.next()? {
        row(found)?;
    }
    Ok(())
}
