//! A CSV file with a header, as users save it.

use std::fs::File;
use std::io::{Cursor, Read};
use std::path::Path;

use anyhow::{anyhow, ensure};
use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

/// Larger files are refused before they fill the memory.
const MAX_BYTES: u64 = 2 << 30;
const MAX_COLUMNS: usize = 4096;

/// A file whose header has been read.
pub(crate) struct CsvFile {
    reader: csv::Reader<Cursor<Vec<u8>>>,
    /// The names of the columns.
    pub(crate) names: Vec<String>,
}

impl CsvFile {
    /// Opens a file with commas, semicolons or tabs between columns.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Self::new(bytes(path)?)
    }

    /// Reads the header.
    pub(crate) fn new(mut bytes: Vec<u8>) -> anyhow::Result<Self> {
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
            reader.headers().map_err(csv_error)?.iter().map(str::to_owned).collect();
        ensure!(names.iter().any(|name| !name.is_empty()), "it has no header");
        ensure!(names.len() <= MAX_COLUMNS, "it has more than {MAX_COLUMNS} columns");
        Ok(Self { reader, names })
    }

    /// Reads the next row, and says on which line it starts; `None` at the end.
    pub(crate) fn next(&mut self, row: &mut StringRecord) -> anyhow::Result<Option<u64>> {
        let more = self.reader.read_record(row).map_err(csv_error)?;
        Ok(more.then(|| row.position().map_or(0, csv::Position::line)))
    }
}

fn bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= MAX_BYTES, "it is larger than {} GiB", MAX_BYTES >> 30);
    Ok(bytes)
}

/// The delimiter: the character that occurs most often between the names of the header.
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

/// An error in the file, with its line.
fn csv_error(error: csv::Error) -> anyhow::Error {
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

    #[test]
    fn what_is_no_table_is_said() {
        let read = |text: &[u8]| {
            let mut file = CsvFile::new(text.to_vec())?;
            let mut row = StringRecord::new();
            while file.next(&mut row)?.is_some() {}
            anyhow::Ok(file.names)
        };
        assert_eq!(read(b"\xef\xbb\xbfT\tE\n").unwrap(), ["T", "E"]);
        for (text, wanted) in [
            (&b""[..], "no header"),
            (b"a,b\n1,2\n3\n", "line 3 has 1 values, the header 2"),
            (b"a,b\n1,\xff\n", "line 2 is not UTF-8"),
            (b"\xff\xfea\0", "UTF-16"),
        ] {
            let error = read(text).err().unwrap().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
