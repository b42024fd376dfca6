//! All files together, by fault.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use faultlens::stats::tolerance::{Bins, Changed, Original};

use super::answers::Answers;
use super::columns::Columns;
use super::{names, table};
use crate::args::ToleranceArgs;
use crate::command::csv_file::CsvFile;

/// What a study keeps its answers in.
const IN_DIRECTORY: &str = "answers.csv";

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Input {
    pub(super) originals: Vec<Original>,
    pub(super) faults: BTreeMap<String, OfFault>,
    /// What is odd about it, in sentences.
    pub(super) notes: Vec<String>,
}

/// What is known about one fault.
#[derive(Debug, Default)]
pub(super) struct OfFault {
    /// Single answers.
    pub(super) answers: Vec<Changed>,
    /// A table of right answers.
    pub(super) right: Option<Bins>,
    /// A table of answers as on the original.
    pub(super) same: Option<Bins>,
}

impl Input {
    /// Reads files and directories.
    pub(super) fn read(args: &ToleranceArgs) -> anyhow::Result<Self> {
        let mut input = Self::default();
        let mut answers = Answers::new(&args.labels);
        for path in &args.files {
            let context = || format!("cannot use {}", path.display());
            let path = found(path).with_context(context)?;
            input.one(&path, args, &mut answers).with_context(context)?;
        }
        let read = answers.finish()?;
        input.originals = read.originals;
        for (fault, rows) in read.changed {
            input.faults.entry(fault).or_default().answers = rows;
        }
        input.notes.extend(read.notes);
        input.check()?;
        Ok(input)
    }

    fn one(
        &mut self,
        path: &Path,
        args: &ToleranceArgs,
        answers: &mut Answers,
    ) -> anyhow::Result<()> {
        let file = CsvFile::open(path)?;
        match Columns::new(&file.names)? {
            Columns::Answers(columns) => {
                let shown = path.display().to_string();
                answers.read(file, &columns, args.fault.as_deref(), &shown)
            }
            Columns::Table(columns) => {
                let fault = args.fault.as_deref().map(names::fault);
                let fault = fault.or_else(|| names::of_table(path)).context(
                    "the file's name does not say which fault it is about (as in \
                     imagenet_c_p_frost.csv); give --fault NAME",
                )?;
                let bins = table::read(file, &columns)?;
                let of = self.faults.entry(fault).or_default();
                let kept = if columns.agreement { &mut of.same } else { &mut of.right };
                *kept = Some(kept.as_ref().map_or(bins.clone(), |before| before.with(&bins)));
                Ok(())
            }
        }
    }

    /// Whether what was read fits together.
    fn check(&mut self) -> anyhow::Result<()> {
        for (fault, of) in &self.faults {
            let table = of.right.is_some() || of.same.is_some();
            ensure!(
                of.answers.is_empty() || !table,
                "{} comes as single answers and as a table; use one of them",
                names::displayed(fault)
            );
            self.notes.extend(names::unknown(fault));
        }
        if self.faults.is_empty() {
            bail!("there are no answers on changed images");
        }
        Ok(())
    }
}

/// The file itself, or the answers in a directory.
fn found(path: &Path) -> anyhow::Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let inside = path.join(IN_DIRECTORY);
    ensure!(
        inside.is_file(),
        "the directory has no {IN_DIRECTORY}; name the directory of a study, or the files themselves"
    );
    Ok(inside)
}
