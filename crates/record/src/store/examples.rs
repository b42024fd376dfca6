//! How examples, pictures and pins are written and read.

use super::Store;
use super::bits::{keep, kept};
use super::error::StoreError;
use super::interned::each;
use super::kept::{ExampleRecord, PictureOf, PictureRecord, PinRecord};
use super::legacy;
use super::schema::{Format, SHOWN};
use super::showcase::ShownRecord;
use super::sums::{self, RowSum};
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Result};
use std::collections::BTreeMap;

impl Store {
    /// Keeps these examples instead of those that were kept.
    pub fn put_examples(&mut self, examples: &[ExampleRecord]) -> Result<(), StoreError> {
        if let Some(number) = examples.iter().map(|example| example.number).max()
            && i64::try_from(number).is_err()
        {
            return Err(StoreError::TooLarge { what: "trial", number, path: self.dir.clone() });
        }
        self.in_transaction(|transaction, seal| {
            transaction.execute_batch("DELETE FROM examples; DELETE FROM example_answers")?;
            write_examples(transaction, examples)?;
            seal.examples = sum_examples(&read_examples(transaction)?);
            Ok(())
        })
    }

    /// The examples, in the order of their trials.
    pub fn examples(&self) -> Result<Vec<ExampleRecord>, StoreError> {
        let _moment = self.moment()?;
        let examples = read_examples(&self.database).map_err(StoreError::sql(&self.path))?;
        self.expect_sum("examples", sum_examples(&examples), |seal| seal.examples)?;
        Ok(examples)
    }

    /// Keeps these pictures, and the trials that they are of, instead of those that were kept.
    pub fn put_pictures(
        &mut self,
        pictures: &[PictureRecord],
        shown: &[ShownRecord],
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction, seal| {
            transaction.execute_batch(SHOWN)?;
            transaction.execute_batch("DELETE FROM pictures; DELETE FROM shown")?;
            let mut put =
                transaction.prepare("INSERT OR IGNORE INTO pictures VALUES (?, ?, ?, ?)")?;
            for PictureRecord { target, case, of, path } in pictures {
                put.execute((target, case, of.number(), path))?;
            }
            let mut put = transaction.prepare("INSERT OR IGNORE INTO shown VALUES (?, ?, ?, ?)")?;
            for ShownRecord { target, case, fault, number } in shown {
                put.execute((target, case, fault, number.cast_signed()))?;
            }
            seal.pictures = sum_pictures(&read_pictures(transaction)?);
            seal.shown = sum_shown(&read_shown(transaction)?);
            Ok(())
        })
    }

    /// The trials that pictures are of, by target, case and fault; none in runs that were made
    /// before trials were chosen.
    pub fn shown(&self) -> Result<Vec<ShownRecord>, StoreError> {
        let _moment = self.moment()?;
        let shown = read_shown(&self.database).map_err(StoreError::sql(&self.path))?;
        self.expect_sum("trials to show", sum_shown(&shown), |seal| seal.shown)?;
        Ok(shown)
    }

    /// The pictures, by target, case and what they are of.
    pub fn pictures(&self) -> Result<Vec<PictureRecord>, StoreError> {
        let _moment = self.moment()?;
        let pictures = read_pictures(&self.database).map_err(StoreError::sql(&self.path))?;
        self.expect_sum("pictures", sum_pictures(&pictures), |seal| seal.pictures)?;
        Ok(pictures)
    }

    /// Keeps these pins instead of those that were kept.
    pub fn put_pins(&mut self, pins: &[PinRecord]) -> Result<(), StoreError> {
        self.in_transaction(|transaction, seal| {
            transaction.execute("DELETE FROM pins", ())?;
            let mut put = transaction
                .prepare("INSERT INTO pins(name, what, outcome, reason) VALUES (?, ?, ?, ?)")?;
            for pin in pins {
                put.execute((&pin.name, &pin.what, &pin.outcome, &pin.reason))?;
            }
            seal.pins = sum_pins(&read_pins(transaction, Format::Current)?);
            Ok(())
        })
    }

    /// The pins, in the order in which they were put.
    pub fn pins(&self) -> Result<Vec<PinRecord>, StoreError> {
        let _moment = self.moment()?;
        let pins = read_pins(&self.database, self.format).map_err(StoreError::sql(&self.path))?;
        self.expect_sum("pins", sum_pins(&pins), |seal| seal.pins)?;
        Ok(pins)
    }
}

fn sum_examples(examples: &[ExampleRecord]) -> RowSum {
    RowSum::of(examples.iter().map(sums::of_example))
}

fn sum_pictures(pictures: &[PictureRecord]) -> RowSum {
    RowSum::of(pictures.iter().map(sums::of_picture))
}

fn sum_shown(shown: &[ShownRecord]) -> RowSum {
    RowSum::of(shown.iter().map(sums::of_shown))
}

fn sum_pins(pins: &[PinRecord]) -> RowSum {
    RowSum::of(pins.iter().enumerate().map(|(at, pin)| sums::of_pin(at, pin)))
}

fn write_examples(database: &Connection, examples: &[ExampleRecord]) -> Result<()> {
    let mut put = database.prepare("INSERT OR IGNORE INTO examples VALUES (?, ?, ?)")?;
    let mut answer =
        database.prepare("INSERT OR IGNORE INTO example_answers VALUES (?, ?, ?, ?, ?)")?;
    for example in examples {
        let number = example.number.cast_signed();
        put.execute((number, &example.before, &example.after))?;
        for (rank, (label, score)) in (0_i64..).zip(&example.golden) {
            answer.execute((number, false, rank, label, keep(*score)))?;
        }
        for (rank, (label, score)) in (0_i64..).zip(&example.observed) {
            let score = score.map_or(Value::Null, keep);
            answer.execute((number, true, rank, label, score))?;
        }
    }
    Ok(())
}

fn read_examples(database: &Connection) -> Result<Vec<ExampleRecord>> {
    let mut examples: BTreeMap<i64, ExampleRecord> = BTreeMap::new();
    each::<rusqlite::Error>(database, "SELECT number, before, after FROM examples", |row| {
        let key: i64 = row.get(0)?;
        let example = ExampleRecord {
            number: key.cast_unsigned(),
            golden: Vec::new(),
            observed: Vec::new(),
            before: row.get(1)?,
            after: row.get(2)?,
        };
        examples.insert(key, example);
        Ok(())
    })?;
    let query = "SELECT number, observed, label, score FROM example_answers \
                 ORDER BY number, observed, rank";
    each::<rusqlite::Error>(database, query, |row| {
        let Some(example) = examples.get_mut(&row.get(0)?) else { return Ok(()) };
        if row.get(1)? {
            example.observed.push((row.get(2)?, score(row.get_ref(3)?)?));
        } else {
            example.golden.push((row.get(2)?, kept(row.get_ref(3)?)?));
        }
        Ok(())
    })?;
    Ok(examples.into_values().collect())
}

fn score(value: ValueRef<'_>) -> Result<Option<f64>> {
    match value {
        ValueRef::Null => Ok(None),
        value => Ok(Some(kept(value)?)),
    }
}

fn read_shown(database: &Connection) -> Result<Vec<ShownRecord>> {
    let mut shown = Vec::new();
    let mut known = false;
    let query = "SELECT 1 FROM sqlite_master WHERE name = 'shown'";
    each::<rusqlite::Error>(database, query, |_| {
        known = true;
        Ok(())
    })?;
    if !known {
        return Ok(shown);
    }
    let query = "SELECT target, case_no, fault, number FROM shown ORDER BY target, case_no, fault";
    each::<rusqlite::Error>(database, query, |row| {
        let number: i64 = row.get(3)?;
        shown.push(ShownRecord {
            target: row.get(0)?,
            case: row.get(1)?,
            fault: row.get(2)?,
            number: number.cast_unsigned(),
        });
        Ok(())
    })?;
    Ok(shown)
}

fn read_pictures(database: &Connection) -> Result<Vec<PictureRecord>> {
    let mut pictures = Vec::new();
    let query = "SELECT target, case_no, fault, path FROM pictures \
                 ORDER BY target, case_no, fault";
    each::<rusqlite::Error>(database, query, |row| {
        pictures.push(PictureRecord {
            target: row.get(0)?,
            case: row.get(1)?,
            of: PictureOf::from_number(row.get(2)?),
            path: row.get(3)?,
        });
        Ok(())
    })?;
    Ok(pictures)
}

fn read_pins(database: &Connection, format: Format) -> Result<Vec<PinRecord>> {
    let mut pins = Vec::new();
    let query = "SELECT name, what, outcome, reason FROM pins ORDER BY id";
    each::<rusqlite::Error>(database, query, |row| {
        let mut outcome: String = row.get(2)?;
        if format == Format::Legacy
            && let Some(kind) = legacy::outcome(&outcome)
        {
            kind.name().clone_into(&mut outcome);
        }
        pins.push(PinRecord { name: row.get(0)?, what: row.get(1)?, outcome, reason: row.get(3)? });
        Ok(())
    })?;
    Ok(pins)
}
