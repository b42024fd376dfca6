//! What a run keeps beside its records: cases, golden answers, examples, pictures, pins.

use super::Store;
use super::bits::{keep, kept, kept_single};
use super::error::StoreError;
use super::interned::each;
use super::legacy;
use super::scene_text;
use super::schema::{Format, SHOWN};
use super::showcase::ShownRecord;
use crate::{GoldenRecord, GoldenScene};
use rusqlite::types::{Type, Value, ValueRef};
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
    fn number(self) -> i64 {
        match self {
            Self::Case => -2,
            Self::Golden => -1,
            Self::Before(fault) => -3 - i64::from(fault),
            Self::Fault(fault) => fault.into(),
        }
    }

    fn from_number(number: i64) -> Self {
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
    /// Keeps these examples instead of those that were kept.
    pub fn put_examples(&mut self, examples: &[ExampleRecord]) -> Result<(), StoreError> {
        if let Some(number) = examples.iter().map(|example| example.number).max()
            && i64::try_from(number).is_err()
        {
            return Err(StoreError::TooLarge { what: "trial", number, path: self.dir.clone() });
        }
        self.in_transaction(|transaction| {
            transaction.execute_batch("DELETE FROM examples; DELETE FROM example_answers")?;
            let mut put = transaction.prepare("INSERT OR IGNORE INTO examples VALUES (?, ?, ?)")?;
            let mut answer = transaction
                .prepare("INSERT OR IGNORE INTO example_answers VALUES (?, ?, ?, ?, ?)")?;
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
        })
    }

    /// Keeps these pictures, and the trials that they are of, instead of those that were kept.
    pub fn put_pictures(
        &mut self,
        pictures: &[PictureRecord],
        shown: &[ShownRecord],
    ) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
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
            Ok(())
        })
    }

    /// The trials that pictures are of, by target, case and fault; none in runs that were made
    /// before trials were chosen.
    pub fn shown(&self) -> Result<Vec<ShownRecord>, StoreError> {
        let mut shown = Vec::new();
        let mut known = false;
        self.each("SELECT 1 FROM sqlite_master WHERE name = 'shown'", |_| {
            known = true;
            Ok(())
        })?;
        if !known {
            return Ok(shown);
        }
        let query = "SELECT target, case_no, fault, number FROM shown \
                     ORDER BY target, case_no, fault";
        self.each(query, |row| {
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

    /// The pictures, by target, case and what they are of.
    pub fn pictures(&self) -> Result<Vec<PictureRecord>, StoreError> {
        let mut pictures = Vec::new();
        let query = "SELECT target, case_no, fault, path FROM pictures \
                     ORDER BY target, case_no, fault";
        self.each(query, |row| {
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

    /// Keeps these pins instead of those that were kept.
    pub fn put_pins(&mut self, pins: &[PinRecord]) -> Result<(), StoreError> {
        self.in_transaction(|transaction| {
            transaction.execute("DELETE FROM pins", ())?;
            let mut put = transaction
                .prepare("INSERT INTO pins(name, what, outcome, reason) VALUES (?, ?, ?, ?)")?;
            for pin in pins {
                put.execute((&pin.name, &pin.what, &pin.outcome, &pin.reason))?;
            }
            Ok(())
        })
    }

    /// The cases, in the order of the sample.
    pub fn cases(&self) -> Result<Vec<CaseRecord>, StoreError> {
        let _moment = self.moment()?;
        let mut strata: BTreeMap<u32, BTreeMap<String, String>> = BTreeMap::new();
        self.each("SELECT case_no, name, value FROM strata", |row| {
            strata.entry(row.get(0)?).or_default().insert(row.get(1)?, row.get(2)?);
            Ok(())
        })?;
        let mut cases = Vec::new();
        let query = "SELECT case_no, name, label, width, height, digest, error FROM cases \
                     ORDER BY case_no";
        self.each(query, |row| {
            let case = row.get(0)?;
            cases.push(CaseRecord {
                case,
                name: row.get(1)?,
                label: row.get(2)?,
                strata: strata.remove(&case).unwrap_or_default(),
                width: row.get(3)?,
                height: row.get(4)?,
                digest: row.get::<_, Option<i64>>(5)?.map(i64::cast_unsigned),
                error: row.get(6)?,
            });
            Ok(())
        })?;
        Ok(cases)
    }

    /// The golden answers, by target and then by case.
    pub fn goldens(&self) -> Result<Vec<GoldenRecord>, StoreError> {
        let _moment = self.moment()?;
        let known = self.interned_now()?;
        let mut goldens = Vec::new();
        let query = "SELECT target, case_no, answer, score, correct, digest, error, truth, \
                     positive, scene FROM goldens ORDER BY target, case_no";
        self.each(query, |row| {
            let name = |at: usize| {
                let name: Option<i64> = row.get(at)?;
                Ok::<_, rusqlite::Error>(name.and_then(|name| known.names.get(name)).cloned())
            };
            goldens.push(GoldenRecord {
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
            });
            Ok(())
        })?;
        Ok(goldens)
    }

    /// The examples, in the order of their trials.
    pub fn examples(&self) -> Result<Vec<ExampleRecord>, StoreError> {
        let _moment = self.moment()?;
        let mut examples: BTreeMap<i64, ExampleRecord> = BTreeMap::new();
        self.each("SELECT number, before, after FROM examples", |row| {
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
        self.each(query, |row| {
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

    /// The pins, in the order in which they were put.
    pub fn pins(&self) -> Result<Vec<PinRecord>, StoreError> {
        let mut pins = Vec::new();
        self.each("SELECT name, what, outcome, reason FROM pins ORDER BY id", |row| {
            let mut outcome: String = row.get(2)?;
            if self.format == Format::Legacy
                && let Some(kind) = legacy::outcome(&outcome)
            {
                kind.name().clone_into(&mut outcome);
            }
            pins.push(PinRecord {
                name: row.get(0)?,
                what: row.get(1)?,
                outcome,
                reason: row.get(3)?,
            });
            Ok(())
        })?;
        Ok(pins)
    }

    fn each(&self, query: &str, row: impl FnMut(&Row<'_>) -> Result<()>) -> Result<(), StoreError> {
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

fn score(value: ValueRef<'_>) -> Result<Option<f64>> {
    match value {
        ValueRef::Null => Ok(None),
        value => Ok(Some(kept(value)?)),
    }
}
