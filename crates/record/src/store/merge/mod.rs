//! Shards of one campaign become one run.

mod agree;
mod records;
mod side;

use super::error::StoreError;
use super::manifest::{MANIFEST_VERSION, Manifest, Origin, Session};
use super::{Batch, Store};
use std::path::{Path, PathBuf};

/// The result of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// How many trials are on record now.
    pub records: u64,
    /// How many records were found in a further shard, and left out.
    pub duplicates: u64,
    /// Duplicates that say something else than the record that was kept, in rising order: the
    /// target does not answer the same each time, or the shards ran on other versions.
    pub differing: Vec<u64>,
    /// First and last of each range of planned trials that no shard has, in rising order.
    pub missing: Vec<(u64, u64)>,
}

/// Puts runs of one campaign together into a new run, or into one that an earlier merge left
/// incomplete: what that has stays. Where runs overlap, the first that is named counts. They must
/// have met the same models and data; they stay as they are. Fails where two of them have different
/// results of one trial.
pub fn merge(shards: &[PathBuf], into: &Path) -> Result<Merged, StoreError> {
    merge_with(shards, into, false)
}

/// Like [`merge`]; where two runs have different results of one trial, the first that is named
/// counts.
pub fn merge_keeping_first(shards: &[PathBuf], into: &Path) -> Result<Merged, StoreError> {
    merge_with(shards, into, true)
}

fn merge_with(shards: &[PathBuf], into: &Path, keep_first: bool) -> Result<Merged, StoreError> {
    let begun = begun(into)?;
    let earlier = begun.as_ref().map(|_| Store::read(into)).transpose()?;
    let shards = shards.iter().map(|dir| Store::read(dir)).collect::<Result<Vec<_>, _>>()?;
    let first = shards.first().ok_or(StoreError::NothingToMerge)?;
    // A shard that is still running is merged as it is now.
    let _moments = shards.iter().map(Store::moment).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<&Store> = earlier.iter().chain(&shards).collect();
    agree::check(&all)?;
    let mut run = begin(begun, into, first, sessions(&all))?;
    for shard in &shards {
        let goldens = shard.goldens()?;
        let cases = shard.cases()?;
        run.write(&Batch { goldens: &goldens, cases: &cases, records: &[] })?;
    }
    let (duplicates, differing) = records::merge(earlier.as_ref(), &shards, &mut run, keep_first)?;
    side::merge(&all, &mut run)?;
    // The database is one file again only once nobody else reads it.
    drop(earlier);
    let done = run.done()?;
    let missing = done.missing(run.manifest.planned);
    if missing.is_empty() {
        run.mark_complete(false)?;
    }
    Ok(Merged { records: done.count(), duplicates, differing, missing })
}

/// The run that an earlier merge left incomplete.
fn begun(into: &Path) -> Result<Option<Store>, StoreError> {
    if !Store::exists(into) {
        return Ok(None);
    }
    let run = Store::open(into)?;
    if run.origin.merged && !run.progress()?.complete {
        return Ok(Some(run));
    }
    Err(StoreError::Exists { path: into.to_path_buf() })
}

fn begin(
    begun: Option<Store>,
    into: &Path,
    like: &Store,
    sessions: Vec<Session>,
) -> Result<Store, StoreError> {
    let mut manifest = Manifest { shard: None, version: MANIFEST_VERSION, ..like.manifest.clone() };
    if let Some(first) = sessions.first() {
        manifest = manifest.begun_by(first.clone());
    }
    let origin = Origin { sessions, merged: true, ..Origin::default() };
    let campaign_yaml = like.campaign_yaml()?;
    match begun {
        None => Store::make(into, manifest, origin, &campaign_yaml),
        Some(mut run) => {
            run.describe(manifest, origin, &campaign_yaml)?;
            Ok(run)
        }
    }
}

/// The sessions of all runs, each once, in the order in which they began.
fn sessions(runs: &[&Store]) -> Vec<Session> {
    let mut all: Vec<&Session> = runs.iter().flat_map(|run| &run.origin.sessions).collect();
    all.sort_by_key(|session| &session.from);
    let mut sessions: Vec<Session> = Vec::new();
    for session in all {
        if !sessions.iter().any(|other| other.is_same(session)) {
            sessions.push(session.clone());
        }
    }
    sessions
}
