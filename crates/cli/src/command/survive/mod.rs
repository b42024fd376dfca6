//! `faultlens survive`: how long until something fails, from a table.

mod analysis;
mod curves;
mod object;
mod page;
mod plots;
mod refuse;
mod roles;
mod rows;
mod table;
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
use refuse::refuse;
use roles::Roles;
use rows::Rows;
use table::Table;

/// Reads the table, fits what is asked for and shows it.
pub(crate) fn run(args: &SurviveArgs, console: &mut Console) -> anyhow::Result<u8> {
    let question = Question::new(args)?;
    if let Some(page) = &args.output {
        ensure!(ending(page) == "html", "the page is an .html file: -o FILE.html");
    }
    let rows = read(args, !matches!(question, Question::Curve))
        .with_context(|| format!("cannot use {}", args.data.display()))?;
    for note in &rows.notes {
        console.note(format_args!("note: {note}"))?;
    }
    match question {
        Question::Curve => curve(args, &rows, console)?,
        Question::Fit(asked) => fit(args, asked, &rows, console)?,
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

fn fit(args: &SurviveArgs, asked: Asked, rows: &Rows, console: &mut Console) -> anyhow::Result<()> {
    let found = findings(args, asked, rows)?;
    tell_gaps(&found, console)?;
    if let Some(path) = &args.output {
        write(path, page::of_fit(args, rows, &found)?)?;
    }
    if args.json {
        return console.json(&Object::of_fit(&found, rows));
    }
    words::fit(&found, rows, console)
}

fn ending(path: &Path) -> &str {
    path.extension().and_then(|ending| ending.to_str()).unwrap_or_default()
}

fn read(args: &SurviveArgs, covariates: bool) -> anyhow::Result<Rows> {
    let file = CsvFile::open(&args.data)?;
    let names = file.names.clone();
    let roles = Roles::new(args, &names, covariates)?;
    let table = Table::read(file, roles.readings())?;
    refuse(&table, &names, args.mixed_machines)?;
    Rows::new(&table, &roles, &names)
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
    Ok(())
}
