//! A table that names an image and its label per line.

use super::{Format, numbered};
use crate::picture::{self, Orient};
use crate::{DataError, DataSet, Options, Source, folder, limits};
use ::csv::{ReaderBuilder, StringRecord};
use faultlens_core::{Case, did_you_mean};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) const FORMAT: Format = Format {
    name: "csv",
    about: "a table with columns file and label, and images beside it; further columns are strata",
    files: "images below the CSV's folder; a column `file` (or `path`, `image`, `filename`) and \
            a column `label` (or `class`, or `--label-column`); other columns become strata",
    classes: "names, sorted; whole numbers are positions",
    has_parts: false,
    has_columns: true,
    recognises,
    open,
};

/// Names of columns as they are found in published tables, in small letters only.
const FILES: [&str; 7] = ["file", "path", "image", "filename", "filepath", "imagepath", "img"];
const LABELS: [&str; 6] = ["label", "class", "classindex", "classid", "category", "target"];

/// `Class_Id`, `class id` and `ClassId` are one name.
fn plain(header: &str) -> String {
    header.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// A folder may hold tables of other things; a file that is named is meant.
fn recognises(path: &Path) -> bool {
    list(path).is_some_and(|list| path.is_file() || Table::open(&list, &Options::default()).is_ok())
}

/// The table itself, or the only one in a folder.
fn list(path: &Path) -> Option<PathBuf> {
    if path.is_file() {
        return folder::has_extension(path, "csv").then(|| path.to_path_buf());
    }
    let mut tables = folder::files(path, |name| folder::has_extension(name.as_ref(), "csv"));
    (tables.len() == 1).then(|| tables.remove(0))
}

fn open(path: &Path, options: &Options) -> Result<DataSet, DataError> {
    let list = list(path).unwrap_or_else(|| path.to_path_buf());
    let mut table = Table::open(&list, options)?;
    let folder = list.parent().unwrap_or(Path::new(""));
    let mut names = BTreeSet::new();
    let mut rows = Vec::new();
    let mut record = StringRecord::new();
    while table.reader.read_record(&mut record).map_err(|error| broken(error, &list))? {
        let line = record.position().map_or(0, |position| position.line());
        let row = table.row(&record, line)?;
        let file = folder::inside(folder, &row.file, || format!("line {line}"), &list)?;
        if !file.is_file() {
            return Err(DataError::MissingImage { of: format!("line {line}"), path: file });
        }
        if !names.insert(row.file.clone()) {
            let what = format!("line {line} names \"{}\" again; keep one line per image", row.file);
            return Err(DataError::malformed(what, &list));
        }
        rows.push(row);
    }
    let (classes, labels) = classes(&rows, &list)?;
    let strata = table.strata.into_iter().map(|(_, name)| name).collect();
    Ok(DataSet::new(classes, Rows { list, rows, labels, strata }))
}

fn broken(error: ::csv::Error, path: &Path) -> DataError {
    DataError::malformed(format!("the table cannot be read ({error})"), path)
}

type Reader = ::csv::Reader<std::io::Cursor<Vec<u8>>>;

struct Table {
    reader: Reader,
    path: PathBuf,
    file: usize,
    label: Option<usize>,
    strata: Vec<(usize, String)>,
}

impl Table {
    /// Reads the first line and finds the columns.
    fn open(path: &Path, options: &Options) -> Result<Self, DataError> {
        let bytes = folder::description(path, "table", limits::CSV_BYTES)?;
        let first = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let delimiter = [b',', b';', b'\t'].into_iter().find(|d| first.contains(d)).unwrap_or(b',');
        let mut reader =
            ReaderBuilder::new().delimiter(delimiter).from_reader(std::io::Cursor::new(bytes));
        let headers = headers(&mut reader, path)?;
        let file = column(&headers, &FILES).ok_or_else(|| {
            let what =
                format!("no column is called {}; name the images' column so", FILES.join(", "));
            DataError::malformed(what, path)
        })?;
        let label = match &options.label_column {
            Some(name) => {
                let found = column(&headers, &[&plain(name)]);
                Some(found.ok_or_else(|| no_column(name, &headers, path))?)
            }
            None => column(&headers, &LABELS),
        };
        let strata = headers
            .into_iter()
            .enumerate()
            .filter(|&(at, _)| at != file && Some(at) != label)
            .collect();
        Ok(Self { reader, path: path.to_path_buf(), file, label, strata })
    }

    fn row(&self, record: &StringRecord, line: u64) -> Result<Row, DataError> {
        let cell = |at: usize| record.get(at).unwrap_or_default().trim().to_owned();
        let label = self.label.map(cell);
        if label.as_ref().is_some_and(String::is_empty) {
            let what = format!("line {line} has no label; add it or remove the line");
            return Err(DataError::malformed(what, &self.path));
        }
        let strata = self.strata.iter().map(|&(at, _)| cell(at)).collect();
        Ok(Row { file: cell(self.file), label, strata })
    }
}

fn headers(reader: &mut Reader, path: &Path) -> Result<Vec<String>, DataError> {
    let headers = reader.headers().map_err(|error| broken(error, path))?;
    let headers: Vec<String> =
        headers.iter().map(|h| h.trim_start_matches('\u{feff}').trim().to_owned()).collect();
    let again = headers.iter().enumerate().find(|&(at, header)| headers[..at].contains(header));
    if let Some((_, header)) = again {
        let what = format!("two columns are called \"{header}\"; rename one");
        return Err(DataError::malformed(what, path));
    }
    Ok(headers)
}

/// The first column with one of these names, in the order of the names.
fn column(headers: &[String], names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| headers.iter().position(|header| plain(header) == *name))
}

fn no_column(name: &str, headers: &[String], path: &Path) -> DataError {
    let hint = did_you_mean(name, headers.iter().map(String::as_str));
    let hint = hint.map_or_else(
        || format!("there are {}", headers.join(", ")),
        |near| format!("did you mean \"{near}\"?"),
    );
    DataError::malformed(format!("no column is called \"{name}\"; {hint}"), path)
}

struct Row {
    file: String,
    label: Option<String>,
    strata: Vec<String>,
}

/// Labels that are all numbers are positions of classes, as models answer them; others are names,
/// and classes are in their order.
fn classes(rows: &[Row], list: &Path) -> Result<(Vec<String>, Vec<Option<usize>>), DataError> {
    let texts: Vec<&str> = rows.iter().filter_map(|row| row.label.as_deref()).collect();
    if texts.iter().all(|text| text.parse::<usize>().is_ok()) {
        let labels: Vec<Option<usize>> =
            rows.iter().map(|row| row.label.as_deref()?.parse().ok()).collect();
        let largest = labels.iter().enumerate().max_by_key(|&(_, label)| label);
        let (row, &largest) = largest.unwrap_or((0, &None));
        let classes = largest.map_or(0, |label| label.saturating_add(1));
        if classes > limits::CLASSES {
            return Err(DataError::LabelOutOfRange {
                label: (classes - 1).to_string(),
                of: rows[row].file.clone(),
                classes: limits::CLASSES,
                path: list.to_path_buf(),
            });
        }
        return Ok((numbered(classes), labels));
    }
    let names: BTreeSet<&str> = texts.into_iter().collect();
    let places: BTreeMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let labels = rows.iter().map(|row| places.get(row.label.as_deref()?).copied()).collect();
    Ok((names.into_iter().map(str::to_owned).collect(), labels))
}

struct Rows {
    list: PathBuf,
    rows: Vec<Row>,
    labels: Vec<Option<usize>>,
    strata: Vec<String>,
}

impl Source for Rows {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn label(&self, index: usize) -> Option<usize> {
        self.labels[index]
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let row = &self.rows[index];
        let folder = self.list.parent().unwrap_or(Path::new(""));
        let file = folder::inside(folder, &row.file, || "a line".into(), &self.list)?;
        let mut case = Case::new(row.file.clone(), picture::read(&file, Orient::Upright)?);
        case.label = self.labels[index];
        case.strata = self.strata.iter().cloned().zip(row.strata.iter().cloned()).collect();
        Ok(case)
    }
}
