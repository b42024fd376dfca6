//! What a fit says about rows of another table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, ensure};
use faultlens::report::plain;
use faultlens::stats::survival::{Cox, Fit, Fitted};
use faultlens::stats::{Estimate, Level};

use super::rows::Rows;
use super::table::{Cell, Reading, Table};
use super::used::Used;
use crate::command::csv_file::CsvFile;

/// One row that was predicted.
pub(super) struct Predicted {
    /// The line of the file that it starts on.
    pub(super) line: u64,
    /// The chance to last longer than the time asked about.
    pub(super) survival: Estimate,
    /// The median duration.
    pub(super) median: Estimate,
    /// The mean duration; Cox's model has none.
    pub(super) mean: Option<Estimate>,
}

/// All rows that were predicted.
pub(super) struct Predictions {
    pub(super) rows: Vec<Predicted>,
    /// Rows of the table that are left out since a value is missing.
    pub(super) left_out: usize,
}

/// Reads a table that has the columns of the covariates, and asks the fit about each row at `time`.
pub(super) fn predict(
    path: &Path,
    strata: Option<&str>,
    rows: &Rows,
    fit: &Fitted,
    time: f64,
) -> anyhow::Result<Predictions> {
    let file = CsvFile::open(path)?;
    let names = file.names.clone();
    let mut readings = vec![Reading::Skip; names.len()];
    let wanted = rows.design.iter().flat_map(|term| term.readings());
    for (name, reading) in wanted.chain(strata.map(|name| (name, Reading::Levels))) {
        let at = names.iter().position(|known| known == name);
        let at =
            at.with_context(|| format!("it has no column {}, which the model needs", plain(name)))?;
        readings[at] = reading;
    }
    let table = Table::read(file, &readings)?;
    let known = |i: &usize| {
        let read = (0..names.len()).filter(|&at| readings[at] != Reading::Skip);
        read.into_iter().all(|at| table.columns[at].cells[*i] != Cell::Missing)
    };
    let kept: Vec<usize> = (0..table.lines.len()).filter(known).collect();
    ensure!(!kept.is_empty(), "every row has a missing value");
    let left_out = table.lines.len() - kept.len();
    let used = Used { table: &table, names: &names, kept };
    let mut columns = Vec::new();
    for term in &rows.design {
        columns.extend(term.columns(&used)?);
    }
    let strata = strata.map(|name| numbers(name, &used, rows)).transpose()?;
    let mut within = BTreeMap::new();
    if let (Fitted::Cox(cox), Some(strata)) = (fit, &strata) {
        let different: BTreeSet<usize> = strata.iter().copied().collect();
        for stratum in different {
            within.insert(stratum, cox.within(stratum)?);
        }
    }
    let mut out = Vec::with_capacity(used.kept.len());
    for i in 0..used.kept.len() {
        let row: Vec<f64> = columns.iter().map(|(_, values)| values[i]).collect();
        let line = used.line(i);
        let predicted = match fit {
            Fitted::Parametric(fit) => parametric(fit, &row, time, line),
            Fitted::Cox(cox) => {
                let own = strata.as_ref().map(|strata| &within[&strata[i]]);
                proportional(own.unwrap_or(cox), &row, time, line)
            }
        };
        out.push(predicted.with_context(|| format!("line {line}"))?);
    }
    Ok(Predictions { rows: out, left_out })
}

/// The stratum of each row, as the rows of the fit were numbered.
fn numbers(name: &str, used: &Used<'_>, rows: &Rows) -> anyhow::Result<Vec<usize>> {
    let mut out = Vec::new();
    for (i, text) in used.texts(used.find(name)?).iter().enumerate() {
        let place = rows.strata_levels.iter().position(|level| level == text);
        out.push(place.with_context(|| {
            let line = used.line(i);
            let text = plain(text);
            format!("line {line}: {} is \"{text}\", which no row of the fit has", plain(name))
        })?);
    }
    Ok(out)
}

fn parametric(fit: &Fit, row: &[f64], time: f64, line: u64) -> anyhow::Result<Predicted> {
    let predicted = fit.predict(row, Level::default())?;
    Ok(Predicted {
        line,
        survival: predicted.survival(time)?,
        median: predicted.median(),
        mean: Some(predicted.mean()),
    })
}

fn proportional(cox: &Cox, row: &[f64], time: f64, line: u64) -> anyhow::Result<Predicted> {
    let level = Level::default();
    Ok(Predicted {
        line,
        survival: cox.survival(row, time, level)?,
        median: cox.median_interval(row, level)?,
        mean: None,
    })
}
