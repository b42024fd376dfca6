//! CSV, for spreadsheets and everything else.

use super::columns::{Cell, Sheet};
use super::file::to_file;
use crate::store::{Store, StoreError};
use std::borrow::Cow;
use std::io::{self, Write};
use std::path::Path;

/// Writes all records as CSV with a heading, in the order of their numbers. Numbers that are none
/// are spelled `NaN`, `Inf` and `-Inf`, which pandas, R and DuckDB read as such; what a record does
/// not have is empty.
///
/// Texts stay as they are, also those that begin with `=`, `+`, `-` or `@`, which spreadsheets take
/// for formulas: the file reads back as it was recorded. Names of cases and classes come from
/// outside; import them as text where their source is not trusted.
pub fn export_csv(store: &Store, out: &mut dyn Write) -> Result<(), StoreError> {
    let sheet = Sheet::new(store)?;
    let mut writer = csv::Writer::from_writer(out);
    let names = sheet.columns.iter().map(|column| &column.name);
    writer.write_record(names).map_err(failed)?;
    sheet.for_each(|cells| {
        for cell in cells {
            writer.write_field(spelled(cell).as_bytes()).map_err(failed)?;
        }
        writer.write_record(None::<&[u8]>).map_err(failed)
    })?;
    writer.flush().map_err(StoreError::Export)
}

/// Writes all records as a CSV file, see [`export_csv`]. A file that is there already is replaced
/// once the new one is whole.
pub fn export_csv_file(store: &Store, path: &Path) -> Result<(), StoreError> {
    to_file(path, "write the CSV file", |file| export_csv(store, file))
}

fn failed(error: csv::Error) -> StoreError {
    StoreError::Export(io::Error::from(error))
}

fn spelled(cell: Cell<'_>) -> Cow<'_, str> {
    match cell {
        Cell::Empty => "".into(),
        Cell::Text(text) => text,
        Cell::Whole(number) => number.to_string().into(),
        Cell::Single(number) if number.is_finite() => format!("{number:?}").into(),
        Cell::Single(number) => not_finite(number.into()).into(),
        Cell::Real(number) if number.is_finite() => format!("{number:?}").into(),
        Cell::Real(number) => not_finite(number).into(),
        Cell::Flag(true) => "true".into(),
        Cell::Flag(false) => "false".into(),
    }
}

fn not_finite(number: f64) -> &'static str {
    if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Inf"
    } else {
        "-Inf"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_so_that_they_read_back() {
        for (cell, text) in [
            (Cell::Empty, ""),
            (Cell::Single(0.1), "0.1"),
            (Cell::Real(0.1), "0.1"),
            (Cell::Real(-0.0), "-0.0"),
            (Cell::Real(1e300), "1e300"),
            (Cell::Real(f64::NAN), "NaN"),
            (Cell::Single(f32::NEG_INFINITY), "-Inf"),
            (Cell::Real(f64::INFINITY), "Inf"),
            (Cell::Flag(false), "false"),
            (Cell::Text("=1+1".into()), "=1+1"),
        ] {
            assert_eq!(spelled(cell), text);
        }
    }
}
