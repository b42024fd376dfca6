//! A CSV file as columns of numbers and levels.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use anyhow::{Context, anyhow, ensure};
use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};
use faultlens::report::plain;

/// Larger files are refused before they fill the memory.
const MOST_BYTES: u64 = 2 << 30;
const MOST_COLUMNS: usize = 4096;
/// Different texts in one column; a column with more is no set of levels.
pub(super) const MOST_LEVELS: usize = 64;
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

/// A file whose header has been read.
pub(super) struct Source {
    reader: csv::Reader<Cursor<Vec<u8>>>,
    /// The names of the columns.
    pub(super) names: Vec<String>,
}

impl Source {
    /// Opens a file with commas, semicolons or tabs between columns.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::new(bytes(path)?)
    }

    fn new(mut bytes: Vec<u8>) -> anyhow::Result<Self> {
        ensure!(
            !bytes.starts_with(&[0xff, 0xfe]) && !bytes.starts_with(&[0xfe, 0xff]),
            "it is in UTF-16; save it as UTF-8"
        );
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let mut reader = ReaderBuilder::new()
            .delimiter(delimiter(&bytes))
            .trim(Trim::All)
            .from_reader(Cursor::new(bytes));
        let names: Vec<String> =
            reader.headers().map_err(told)?.iter().map(str::to_owned).collect();
        ensure!(names.iter().any(|name| !name.is_empty()), "it has no header");
        ensure!(names.len() <= MOST_COLUMNS, "it has more than {MOST_COLUMNS} columns");
        Ok(Self { reader, names })
    }

    /// Reads all rows.
    pub(super) fn read(mut self, readings: &[Reading]) -> anyhow::Result<Table> {
        let columns = self.names.iter().map(|_| Column::default()).collect();
        let mut table = Table { columns, lines: Vec::new() };
        let mut record = StringRecord::new();
        while self.reader.read_record(&mut record).map_err(told)? {
            let line = record.position().map_or(0, csv::Position::line);
            table.lines.push(line);
            for (at, text) in record.iter().enumerate() {
                match readings.get(at) {
                    None | Some(Reading::Skip) => {}
                    Some(reading) => table.columns[at]
                        .push(text, *reading)
                        .with_context(|| unusable(&self.names[at], line, text, *reading))?,
                }
            }
        }
        ensure!(!table.lines.is_empty(), "the table has a header and no rows");
        Ok(table)
    }
}

impl Column {
    /// `None` for a text among numbers, or for too many levels.
    fn push(&mut self, text: &str, reading: Reading) -> Option<()> {
        let number = || text.parse().ok().filter(|_| reading != Reading::Levels).map(Cell::Number);
        let cell = if MISSING.iter().any(|missing| text.eq_ignore_ascii_case(missing)) {
            Cell::Missing
        } else if let Some(number) = number() {
            number
        } else if reading == Reading::Number {
            return None;
        } else {
            Cell::Level(self.level(text)?)
        };
        self.cells.push(cell);
        Some(())
    }

    fn level(&mut self, text: &str) -> Option<u32> {
        if let Some(place) = self.places.get(text) {
            return Some(*place);
        }
        let place =
            u32::try_from(self.levels.len()).ok().filter(|n| (*n as usize) < MOST_LEVELS)?;
        self.levels.push(text.to_owned());
        self.places.insert(text.to_owned(), place);
        Some(place)
    }
}

fn unusable(name: &str, line: u64, text: &str, reading: Reading) -> String {
    let (name, text) = (plain(name), plain(text));
    if reading == Reading::Number {
        return format!("line {line}: {name} is \"{text}\", and a number is needed");
    }
    format!(
        "{name} holds more than {MOST_LEVELS} different texts (line {line}: \"{text}\"), too many \
         for levels; leave it out with --drop {name}, or mend what should be numbers"
    )
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= MOST_BYTES, "it is larger than {} GiB", MOST_BYTES >> 30);
    Ok(bytes)
}

/// What stands most often between the names of the header.
fn delimiter(bytes: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b'\t', 0), (b';', 0), (b',', 0)];
    for byte in bytes.iter().take_while(|byte| **byte != b'\n') {
        quoted ^= *byte == b'"';
        if let Some((_, count)) = counts.iter_mut().find(|(d, _)| d == byte && !quoted) {
            *count += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| delimiter)
}

/// What is wrong with the file, by line.
fn told(error: csv::Error) -> anyhow::Error {
    let at = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            anyhow!("line {at} has {len} values, the header {expected_len}")
        }
        ErrorKind::Utf8 { .. } => anyhow!("line {at} is not UTF-8; save the table as UTF-8"),
        _ => anyhow!("it cannot be read ({error})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> anyhow::Result<Table> {
        let source = Source::new(text.to_vec())?;
        let readings = vec![Reading::Guess; source.names.len()];
        source.read(&readings)
    }

    #[test]
    fn quotes_marks_and_separators() {
        let table =
            read(b"\xef\xbb\xbf\"a, b\"; c\n\"1\";\"x;\n\"\"y\"\"\"\n NA ; 2.5e3\n").unwrap();
        assert_eq!(table.columns[0].cells, [Cell::Number(1.0), Cell::Missing]);
        assert_eq!(table.columns[1].cells, [Cell::Level(0), Cell::Number(2500.0)]);
        assert_eq!(table.columns[1].levels, ["x;\n\"y\""]);
        assert_eq!(table.lines, [2, 4]);
        assert_eq!(Source::new(b"\xef\xbb\xbfT\tE\n".to_vec()).unwrap().names, ["T", "E"]);
    }

    #[test]
    fn what_is_no_table_is_said() {
        for (text, wanted) in [
            (&b""[..], "no header"),
            (b"a,b\n", "no rows"),
            (b"a,b\n1,2\n3\n", "line 3 has 1 values, the header 2"),
            (b"a,b\n1,\xff\n", "line 2 is not UTF-8"),
            (b"\xff\xfea\0", "UTF-16"),
        ] {
            let error = read(text).err().unwrap().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }

    #[test]
    fn texts_are_levels_up_to_a_limit() {
        let rows = |n: usize| (0..n).fold("a\n".to_owned(), |all, i| format!("{all}t{i}\n"));
        assert!(read(rows(MOST_LEVELS).as_bytes()).is_ok());
        let error = read(rows(MOST_LEVELS + 1).as_bytes()).err().unwrap();
        assert!(error.to_string().contains("--drop a"), "{error}");
        let source = Source::new(b"a\n1\n01\n".to_vec()).unwrap();
        let levels = source.read(&[Reading::Levels]).unwrap();
        assert_eq!(levels.columns[0].levels, ["1", "01"]);
    }
}
