//! A table of answers by visual change, as it was published.

use anyhow::{Context, ensure};
use csv::StringRecord;
use faultlens::report::plain;
use faultlens::stats::tolerance::{Bin, Bins};

use super::columns::TableColumns;
use crate::command::csv_file::CsvFile;

/// How far an edge may lie from its hundredth, and a rate from its counts: digits that were
/// rounded away.
const ROUNDED: f64 = 1e-4;
/// More answers in one bin are a mistake in the file.
const MAX_ANSWERS: u64 = 1_000_000;

/// Reads all bins.
pub(super) fn read(mut file: CsvFile, columns: &TableColumns) -> anyhow::Result<Bins> {
    let mut bins = Vec::new();
    let mut row = StringRecord::new();
    while let Some(line) = file.next(&mut row)? {
        bins.push(bin(&row, columns).with_context(|| format!("line {line}"))?);
    }
    ensure!(!bins.is_empty(), "the table has a header but no rows");
    Ok(Bins::new(bins)?)
}

fn bin(row: &StringRecord, columns: &TableColumns) -> anyhow::Result<Bin> {
    let text = |at: usize| row.get(at).unwrap_or_default();
    let count = |what: &str, at: usize| {
        let number: Option<u64> = text(at).parse().ok().filter(|n| *n <= MAX_ANSWERS);
        number.with_context(|| {
            format!(
                "{what} is \"{}\", but a whole number up to {MAX_ANSWERS} is needed",
                plain(text(at))
            )
        })
    };
    let edge: Option<f64> = text(columns.edge).parse().ok();
    let hundredths = edge
        .map(|edge| edge * 100.0)
        .filter(|of| (0.0..=100.0).contains(of) && (of - of.round()).abs() < 100.0 * ROUNDED);
    let hundredths = hundredths.with_context(|| {
        let edge = plain(text(columns.edge));
        format!(
            "the visual change is \"{edge}\", but 0, 0.01, … or 1 is needed: a bin's upper edge"
        )
    })?;
    let n = count("the number of answers", columns.n)?;
    let hits = count("the hits", columns.hits)?;
    ensure!(hits <= n, "{hits} hits were counted in only {n} answers");
    if let Some(at) = columns.rate {
        let rate: Option<f64> = text(at).parse().ok();
        let fits =
            rate.is_some_and(|rate| (rate * n as f64 - hits as f64).abs() <= n as f64 * ROUNDED);
        ensure!(fits, "the rate is \"{}\", which is not {hits} of {n}", plain(text(at)));
    }
    Ok(Bin { hundredths: hundredths.round() as u8, n, hits })
}

#[cfg(test)]
mod tests {
    use super::super::columns::Columns;
    use super::*;

    fn read_text(rows: &str) -> anyhow::Result<Bins> {
        let text = format!("IQA,Accuracy,Count,Num_Accs\n{rows}");
        let file = CsvFile::new(text.into_bytes())?;
        let Columns::Table(columns) = Columns::new(&file.names)? else { panic!() };
        read(file, &columns)
    }

    #[test]
    fn bins_are_read_as_published() {
        let bins = read_text("0.29,0.9655172413793104,29,28\n0.07,1.0,39,39\n").unwrap();
        let bin = |hundredths, n, hits| Bin { hundredths, n, hits };
        assert_eq!(bins.all(), [bin(7, 39, 39), bin(29, 29, 28)]);
    }

    #[test]
    fn what_cannot_be_is_refused_with_its_line() {
        for (rows, wanted) in [
            ("", "no rows"),
            ("0.01,1,12,12\n1.01,1,12,12\n", "line 3: the visual change is \"1.01\""),
            ("0.015,1,12,12\n", "a bin's upper edge"),
            ("nan,1,12,12\n", "line 2: the visual change is \"nan\""),
            ("0.01,1,-12,12\n", "the number of answers is \"-12\""),
            ("0.01,1,9999999,12\n", "a whole number up to 1000000 is needed"),
            ("0.01,1,12,13\n", "13 hits were counted in only 12"),
            ("0.01,0.5,12,11\n", "the rate is \"0.5\", which is not 11 of 12"),
            ("0.01,1,12,12\n0.01,1,13,13\n", "comes twice"),
        ] {
            let error = format!("{:#}", read_text(rows).err().unwrap());
            assert!(error.contains(wanted), "{rows}: {error}");
        }
    }
}
