//! Other tools read what was recorded.

use crate::sample::*;
use faultlens_record::store::{Store, export_csv, export_parquet};
use faultlens_record::{Measures, NamedValue, Record};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use std::collections::BTreeMap;
use std::fs::File;

fn number(text: &str) -> Option<f64> {
    (!text.is_empty()).then(|| text.parse().unwrap())
}

/// Equal as numbers, and NaN as itself.
fn same(a: Option<f64>, b: Option<f64>) -> bool {
    a == b || a.zip(b).is_some_and(|(a, b)| a.is_nan() && b.is_nan())
}

/// The columns whose meaning can be told from the record and the sample alone.
fn check(record: &Record, column: &BTreeMap<&str, String>) {
    let site = record.site.as_ref();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let golden = golden(record.target, record.case);
    assert_eq!(column["trial"], record.trial.to_string());
    assert_eq!(column["target"], ["small", "large"][record.target as usize]);
    assert_eq!(column["case"], case(record.case).name);
    assert_eq!(column["stratum.light"], case(record.case).strata["light"]);
    assert_eq!(column["outcome"], record.outcome.kind().name());
    assert_eq!(column["operator"], text(site.map(|site| &*site.place.operator)));
    assert_eq!(column["answer"], text(record.answer.as_deref()));
    assert_eq!(column["golden"], text(golden.answer.as_deref()));
    let digest = record.digest.map(|digest| format!("{digest:016x}"));
    assert_eq!(column["digest"], digest.unwrap_or_default());
    assert_eq!(column["queries"], record.cost.queries.to_string());
    assert!(same(number(&column["before"]), site.map(|site| site.before)));
    assert!(same(number(&column["after"]), site.map(|site| site.after)));
    assert!(same(number(&column["score"]), record.score.map(|s| s.to_string().parse().unwrap())));
    let severity = [Some(3.0), Some(0.5)].get(record.fault as usize).copied().flatten();
    assert_eq!(number(&column["setting.severity"]), severity);
    assert_eq!(number(&column["dose"]), severity);
}

/// `deviation` is a strength of gaussian_noise, and what the oracle same_values measures.
#[test]
fn a_strength_named_like_the_measure_of_the_oracle_is_exported_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = written(dir.path(), []);
    let named = |value| NamedValue { name: "deviation".into(), value };
    let measures =
        Measures { strengths: vec![named(12.5)], oracle: Some(named(0.25)), ..Measures::default() };
    put(&mut store, &[Record { measures, ..record(0) }]);
    let mut bytes = Vec::new();
    export_csv(&store, &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let column = reader.headers().unwrap().iter().position(|name| name == "extra").unwrap();
    let row = reader.records().next().unwrap().unwrap();
    let extra: BTreeMap<String, String> = serde_json::from_str(&row[column]).unwrap();
    assert_eq!(extra["deviation"], "0.25");
    assert_eq!(extra["strength.deviation"], "12.5");
}

#[test]
fn csv_has_every_record_in_its_columns() {
    let dir = tempfile::tempdir().unwrap();
    let store = written(dir.path(), 0..500);
    let mut bytes = Vec::new();
    export_csv(&store, &mut bytes).unwrap();
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let names = reader.headers().unwrap().clone();
    let mut rows = 0;
    for (at, row) in (0..).zip(reader.records()) {
        let row = row.unwrap();
        check(&record(at), &names.iter().zip(row.iter().map(str::to_owned)).collect());
        rows += 1;
    }
    assert_eq!(rows, 500);
}

fn spelled(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Float(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(flag) => flag.to_string(),
        other => panic!("a column holds {other:?}"),
    }
}

#[test]
fn parquet_has_every_record_in_its_columns() {
    let dir = tempfile::tempdir().unwrap();
    let store = written(&dir.path().join("run"), 0..500);
    let path = dir.path().join("records.parquet");
    export_parquet(&store, &path).unwrap();
    export_parquet(&store, &path).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    let mut rows = 0;
    for (at, row) in (0..).zip(reader.get_row_iter(None).unwrap()) {
        let row: Row = row.unwrap();
        let columns = row.get_column_iter();
        let columns = columns.map(|(name, field)| (name.as_str(), spelled(field))).collect();
        check(&record(at), &columns);
        rows += 1;
    }
    assert_eq!(rows, 500);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "nothing is left of the writing");
}

#[test]
fn an_empty_run_exports_its_columns() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(&dir.path().join("run"), &manifest(), "").unwrap();
    let mut bytes = Vec::new();
    export_csv(&store, &mut bytes).unwrap();
    assert!(String::from_utf8(bytes).unwrap().starts_with("number,trial,target,case,label,fault,"));
    let path = dir.path().join("records.parquet");
    export_parquet(&store, &path).unwrap();
    let reader = SerializedFileReader::new(File::open(&path).unwrap()).unwrap();
    assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn the_view_for_people_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    drop(written(dir.path(), 0..500));
    let database = rusqlite::Connection::open(dir.path().join("records.sqlite")).unwrap();
    let query = "SELECT trial, target, case_name, outcome, answer, digest, before, after, score \
                 FROM records WHERE number = ?";
    for at in 0..500 {
        let expected = record(at);
        let read = |row: &rusqlite::Row<'_>| {
            let text = |at| row.get::<_, Option<String>>(at);
            let number = |at| {
                use rusqlite::types::Value;
                Ok::<_, rusqlite::Error>(match row.get(at)? {
                    Value::Real(number) => Some(number),
                    Value::Text(nan) if nan == "nan" => Some(f64::NAN),
                    Value::Null => None,
                    other => panic!("column {at} holds {other:?}"),
                })
            };
            assert_eq!(text(0)?, Some(expected.trial.to_string()));
            assert_eq!(text(2)?, Some(case(expected.case).name));
            assert_eq!(text(3)?.as_deref(), Some(expected.outcome.kind().name()));
            assert_eq!(text(4)?.as_deref(), expected.answer.as_deref());
            assert_eq!(text(5)?, expected.digest.map(|digest| format!("{digest:016x}")));
            let site = expected.site.as_ref();
            assert!(same(number(6)?, site.map(|site| site.before)));
            assert!(same(number(7)?, site.map(|site| site.after)), "{expected:?}");
            assert!(same(number(8)?, expected.score.map(f64::from)));
            Ok(())
        };
        let key = i64::try_from(at).unwrap();
        database.query_row(query, [key], read).unwrap();
    }
}
