//! One file per command.

pub(crate) mod ask;
mod canvas;
pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod convert;
mod csv_file;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod fault;
pub(crate) mod findings;
pub(crate) mod init;
pub(crate) mod inspect;
mod letters;
pub(crate) mod list;
pub(crate) mod man;
pub(crate) mod merge;
mod numbers;
pub(crate) mod objects;
pub(crate) mod people;
pub(crate) mod plan;
pub(crate) mod preview;
pub(crate) mod promote;
pub(crate) mod protect;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod retrain;
pub(crate) mod run;
pub(crate) mod score;
pub(crate) mod serve;
pub(crate) mod survive;
mod sweep;
pub(crate) mod test;
pub(crate) mod tolerance;
pub(crate) mod train;
pub(crate) mod verify;
pub(crate) mod world;

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, bail};
use faultlens::serve::Stopper;

use crate::{exit, signals};

/// All cores, unless the user says otherwise.
fn threads(asked: Option<usize>) -> usize {
    asked.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Stops a server at the first signal, so that requests in flight are answered; the second signal
/// ends the process at once.
fn stop_on_signal(stopper: Stopper) -> anyhow::Result<()> {
    signals::listen(exit::INTERRUPTED, move || stopper.stop())
}

/// What tells run directories apart: their own names where these differ, else their paths.
fn run_names(dirs: &[&Path]) -> Vec<String> {
    let own = |dir: &Path| match dir.file_name() {
        Some(name) => name.to_string_lossy().into_owned(),
        None => dir.display().to_string(),
    };
    let names: Vec<String> = dirs.iter().map(|dir| own(dir)).collect();
    let unique: BTreeSet<&String> = names.iter().collect();
    if unique.len() == names.len() {
        return names;
    }
    dirs.iter().map(|dir| dir.display().to_string()).collect()
}

/// Names as data sets hold them.
fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// Writes a file that the user asked for.
fn write(path: &Path, text: impl AsRef<[u8]>) -> anyhow::Result<()> {
    faultlens_files::write(path, text.as_ref())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Writes a file that must not replace another; `hint` says what to do where one is there.
fn write_new(path: &Path, text: &str, hint: &str) -> anyhow::Result<()> {
    match faultlens_files::write_new(path, text.as_bytes()) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("the file exists already; {hint}: {}", path.display())
        }
        written => written.with_context(|| format!("cannot write {}", path.display())),
    }
}
