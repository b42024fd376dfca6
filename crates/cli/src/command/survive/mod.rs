//! `faultlens survive`: how long until something fails, from a table.

mod analysis;
mod closer;
mod curves;
mod design;
mod formula;
mod object;
mod page;
mod plots;
mod predict;
mod refuse;
mod roles;
mod rows;
mod table;
mod used;
mod words;

use std::path::Path;

use crate::exit;
use anyhow::{Context, ensure};

use crate::args::SurviveArgs;
use crate::command::csv_file::CsvFile;
use crate::command::write;
use crate::console::Console;
use analysis::{Asked, Findings, Question, findings};
use curves::Curves;
use object::Object;
use predict::{Predictions, predict};
use refuse::refuse;
use roles::Roles;
use rows::Rows;
use table::Table;

/// Robust errors need about so many clusters.
const FEW_CLUSTERS: usize = 30;

/// Reads the table, fits what is asked for and shows it.
pub(crate) fn run(args: &SurviveArgs, console: &mut Console) -> anyhow::Result<u8> {
    let question = Question::new(args)?;
    if let Some(page) = &args.output {
        ensure!(ending(page) == "html", "the page is an .html file: -o FILE.html");
    }
    let (rows, strata) = read(args, !matches!(question, Question::Curve))
        .with_context(|| format!("cannot use {}", args.data.display()))?;
    for note in &rows.notes {
        console.note(format_args!("note: {note}"))?;
    }
    match question {
        Question::Curve => curve(args, &rows, console)?,
        Question::Fit(asked) => fit(args, asked, &rows, strata.as_deref(), console)?,
    }
    Ok(exit::OK)
}

fn curve(args: &SurviveArgs, rows: &Rows, console: &mut Console) -> anyhow::Result<()> {
    let curves = Curves::new(rows)?;
    if let Some(path) = &args.output {
        write(path, page::of_curves(args, rows, &curves)?)?;
    }
    if args.json {
        return console.json(&Object::of_curves(&curves, rows));
    }
    words::curves(&curves, rows, console)
}

fn fit(
    args: &SurviveArgs,
    asked: Asked,
    rows: &Rows,
    strata: Option<&str>,
    console: &mut Console,
) -> anyhow::Result<()> {
    let found = findings(args, asked, rows)?;
    tell_gaps(&found, console)?;
    let predictions = args.predict.as_ref().map(|path| {
        predict(path, strata, rows, &found.worth.fit, found.time)
            .with_context(|| format!("cannot predict {}", path.display()))
    });
    let predictions = predictions.transpose()?;
    if let Some(Predictions { left_out: left_out @ 1.., .. }) = &predictions {
        console.note(format_args!("note: {left_out} rows not predicted for missing values"))?;
    }
    if let Some(path) = &args.output {
        write(path, page::of_fit(args, rows, &found)?)?;
    }
    if args.json {
        return console.json(&Object::of_fit(&found, rows, predictions.as_ref()));
    }
    words::fit(&found, rows, console)?;
    match predictions {
        Some(predictions) => words::predictions(&predictions, found.time, console),
        None => Ok(()),
    }
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

/// The rows of the table, and the column of their strata.
fn read(args: &SurviveArgs, covariates: bool) -> anyhow::Result<(Rows, Option<String>)> {
    let file = CsvFile::open(&args.data)?;
    let names = file.names.clone();
    let roles = Roles::new(args, &names, covariates)?;
    let table = Table::read(file, roles.readings())?;
    refuse(&table, &names, args.mixed_machines)?;
    let strata = roles.strata.map(|at| names[at].clone());
    Ok((Rows::new(&table, &roles, &names)?, strata))
}

/// Says why a measure or a model is missing from the result.
fn tell_gaps(found: &Findings, console: &mut Console) -> anyhow::Result<()> {
    for one in found.comparison.iter().flat_map(|comparison| &comparison.models) {
        if let Err(why) = &one.outcome {
            console.note(format_args!("note: {} has no fit: {why}", one.model.name()))?;
        }
    }
    let parts = [("", Some(&found.worth.train)), ("test rows: ", found.worth.test.as_ref())];
    for (of, assessment) in parts.into_iter().filter_map(|(of, part)| Some((of, part?))) {
        if let Err(why) = &assessment.concordance {
            console.note(format_args!("note: {of}no concordance: {why}"))?;
        }
        if let Err(why) = &assessment.calibration {
            console.note(format_args!("note: {of}no calibration: {why}"))?;
        }
    }
    let closer = [("", Some(&found.closer)), ("test rows: ", found.closer_test.as_ref())];
    for (of, closer) in closer.into_iter().filter_map(|(of, closer)| Some((of, closer?))) {
        if let Some(Err(why)) = &closer.interval {
            console.note(format_args!("note: {of}no interval of the calibration: {why}"))?;
        }
        if let Err(why) = &closer.brier {
            console.note(format_args!("note: {of}no Brier score: {why}"))?;
        }
    }
    if let Some(clusters) = found.clusters.filter(|clusters| *clusters < FEW_CLUSTERS) {
        console.note(format_args!(
            "note: {clusters} clusters; with fewer than {FEW_CLUSTERS} robust errors are too small"
        ))?;
    }
    Ok(())
}
