//! A CSV file as columns of numbers and levels.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use csv::StringRecord;
use faultlens::report::plain;

use crate::command::csv_file::CsvFile;

/// Different texts in one column; a column with more is no set of levels.
pub(super) const MAX_LEVELS: usize = 64;
/// What stands for "not known", in any case. Not `none`, which is a level: no defence, no attack.
const MISSING: [&str; 5] = ["", "na", "n/a", "nan", "null"];

/// What to make of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Nothing.
    Skip,
    /// Numbers and nothing else.
    Number,
    /// Numbers where they are numbers, else levels.
    Guess,
    /// Levels, even where they look like numbers.
    Levels,
    /// The same, as many as there are: what tells clusters apart.
    Names,
}

/// One value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Cell {
    /// Not known.
    Missing,
    /// A number, perhaps infinite.
    Number(f64),
    /// A text: its place in [`Column::levels`].
    Level(u32),
}

/// One column that was read.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// One per row.
    pub(super) cells: Vec<Cell>,
    /// The texts, in the order in which they were met.
    pub(super) levels: Vec<String>,
    places: BTreeMap<String, u32>,
}

/// The rows of a file.
#[derive(Debug)]
pub(super) struct Table {
    /// One per column of the file; empty where it was skipped.
    pub(super) columns: Vec<Column>,
    /// The line on which each row starts.
    pub(super) lines: Vec<u64>,
}

impl Table {
    /// Reads all rows.
    pub(super) fn read(mut file: CsvFile, readings: &[Reading]) -> anyhow::Result<Self> {
        let columns = file.names.iter().map(|_| Column::default()).collect();
        let mut table = Self { columns, lines: Vec::new() };
        let mut record = StringRecord::new();
        while let Some(line) = file.next(&mut record)? {
            table.lines.push(line);
            for (at, text) in record.iter().enumerate() {
                match readings.get(at) {
                    None | Some(Reading::Skip) => {}
                    Some(reading) => table.columns[at]
                        .push(text, *reading)
                        .with_context(|| unusable(&file.names[at], line, text, *reading))?,
                }
            }
        }
        ensure!(!table.lines.is_empty(), "the table has a header but no rows");
        Ok(table)
    }
}

impl Column {
    /// `None` for a text among numbers, or for too many levels.
    fn push(&mut self, text: &str, reading: Reading) -> Option<()> {
        let as_text = matches!(reading, Reading::Levels | Reading::Names);
        let number = || text.parse().ok().filter(|_| !as_text).map(Cell::Number);
        let cell = if MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing)) {
            Cell::Missing
        } else if let Some(number) = number() {
            number
        } else if reading == Reading::Number {
            return None;
        } else {
            let max = if reading == Reading::Names { u32::MAX as usize } else { MAX_LEVELS };
            Cell::Level(self.level(text, max)?)
        };
        self.cells.push(cell);
        Some(())
    }

    fn level(&mut self, text: &str, max: usize) -> Option<u32> {
        if let Some(place) = self.places.get(text) {
            return Some(*place);
        }
        let place = u32::try_from(self.levels.len()).ok().filter(|n| (*n as usize) < max)?;
        self.levels.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        Some(place)
    }
}

fn unusable(name: &str, line: u64, text: &str, reading: Reading) -> String {
    let name = plain(name);
    let text = plain(text);
    if reading == Reading::Number {
        return format!("line {line}: {name} is \"{text}\", but a number is needed");
    }
    format!(
        "{name} holds more than {MAX_LEVELS} different texts (line {line}: \"{text}\"), too many \
         for levels; leave it out with --drop {name}, or mend what should be numbers"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> anyhow::Result<Table> {
        let file = CsvFile::new(text.to_vec())?;
        let readings = vec![Reading::Guess; file.names.len()];
        Table::read(file, &readings)
    }

    #[test]
    fn quotes_marks_and_separators() {
        let table =
            read(b"\xef\xbb\xbf\"a, b\"; c\n\"1\";\"x;\n\"\"y\"\"\"\n NA ; 2.5e3\n").unwrap();
        assert_eq!(table.columns[0].cells, [Cell::Number(1.0), Cell::Missing]);
        assert_eq!(table.columns[1].cells, [Cell::Level(0), Cell::Number(2500.0)]);
        assert_eq!(table.columns[1].levels, ["x;\n\"y\""]);
        assert_eq!(table.lines, [2, 4]);
    }

    #[test]
    fn a_table_without_rows_is_refused() {
        assert!(read(b"a,b\n").err().unwrap().to_string().contains("no rows"));
    }

    #[test]
    fn texts_are_levels_up_to_a_limit() {
        let rows = |n: usize| (0..n).fold("a\n".to_owned(), |all, i| format!("{all}t{i}\n"));
        assert!(read(rows(MAX_LEVELS).as_bytes()).is_ok());
        let error = read(rows(MAX_LEVELS + 1).as_bytes()).err().unwrap();
        assert!(error.to_string().contains("--drop a"), "{error}");
        let file = CsvFile::new(b"a\n1\n01\n".to_vec()).unwrap();
        let levels = Table::read(file, &[Reading::Levels]).unwrap();
        assert_eq!(levels.columns[0].levels, ["1", "01"]);
    }
}
