//! Everything in a run directory, checked.

use super::directory::{self, MANIFEST};
use super::error::StoreError;
use super::scan::Read;
use super::{Store, structure};
use std::collections::BTreeSet;
use std::path::Path;

/// What was checked of a run directory, and what is wrong with it.
#[derive(Debug, Default)]
pub struct Verified {
    /// Trials that are sound.
    pub trials: u64,
    /// Cases that are sound.
    pub cases: u64,
    /// Golden answers that are sound.
    pub goldens: u64,
    /// Examples that are sound.
    pub examples: u64,
    /// Pins that are sound.
    pub pins: u64,
    /// Pictures in files whose bytes are those that were kept.
    pub artifacts: u64,
    /// Whether the run has checksums; without them damage that leaves valid rows goes unnoticed.
    pub has_checksums: bool,
    /// Whether the run is complete, as far as it says so.
    pub complete: bool,
    /// The digest over what a complete run planned and found: runs with the same one have the same
    /// results, whatever threads, shards, restarts and machines.
    pub digest: Option<String>,
    /// All that is wrong.
    pub damage: Vec<StoreError>,
}

/// Checks a run directory: the structure of its files, every checksum, numbers against the
/// campaign's, and the files that records name. Fails only where there is no run to check.
pub fn verify(dir: &Path) -> Result<Verified, StoreError> {
    let mut verified = Verified::default();
    let store = match Store::read(dir) {
        Ok(store) => store,
        Err(
            error @ (StoreError::NotARun { missing: MANIFEST, .. }
            | StoreError::Io { .. }
            | StoreError::Older { .. }
            | StoreError::Unsettled { .. }
            | StoreError::Busy { .. }),
        ) => return Err(error),
        Err(error) => {
            verified.damage.push(error);
            return Ok(verified);
        }
    };
    verified.has_checksums = store.has_checksums();
    let moment = store.moment()?;
    verified.structure(&store);
    verified.rows(&store);
    verified.side(&store);
    verified.files(&store);
    drop(moment);
    Ok(verified)
}

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty()
    }

    /// Keeps what is wrong, and goes on with what is not.
    fn note<T>(&mut self, found: Result<T, StoreError>) -> Option<T> {
        match found {
            Ok(value) => Some(value),
            Err(error) => {
                self.damage.push(error);
                None
            }
        }
    }

    fn structure(&mut self, store: &Store) {
        self.note(structure::check_file(&store.database, &store.path));
        if store.has_checksums() {
            self.note(structure::check_tables(&store.database, &store.manifest, &store.path));
        }
        self.note(store.campaign_yaml());
        if let Some(progress) = self.note(store.progress()) {
            self.complete = progress.complete;
        }
        if let Some(Some(seal)) = self.note(store.checked_seal()) {
            self.digest = seal.digest;
        }
    }

    /// Names every row that is damaged, not only the first.
    fn rows(&mut self, store: &Store) {
        let mut known = BTreeSet::new();
        for case in self.note(store.cases_each()).unwrap_or_default() {
            if let Some(case) = self.note(case) {
                self.cases += 1;
                known.insert(case.case);
            }
        }
        for golden in self.note(store.goldens_each()).unwrap_or_default() {
            self.goldens += u64::from(self.note(golden).is_some());
        }
        let mut read = Read::default();
        let mut without_case = BTreeSet::new();
        let scanned = store.select::<StoreError>("ORDER BY t.number", (), &mut |row| {
            if let Some(row) = self.note(row) {
                let record = read.add(row);
                self.trials += 1;
                if !known.contains(&record.case) {
                    without_case.insert(record.case);
                }
            }
            Ok(())
        });
        let whole = self.note(scanned).is_some();
        for case in without_case {
            self.damage.push(store.damaged(format!("case {case}"), "it is not on record"));
        }
        // Rows that are damaged are named already; that they do not count is no news.
        if whole && self.is_sound() {
            self.note(store.expect_all(&read));
        }
    }

    fn side(&mut self, store: &Store) {
        self.note(store.cases());
        self.note(store.goldens());
        let examples = self.note(store.examples()).unwrap_or_default();
        for example in &examples {
            match store.record(example.number) {
                Ok(Some(_)) => self.examples += 1,
                Ok(None) => {
                    let row = format!("the example of trial {}", example.number);
                    self.damage.push(store.damaged(row, "the trial is not on record"));
                }
                // Said already, with all trials.
                Err(_) => {}
            }
        }
        let pictures = self.note(store.pictures()).unwrap_or_default();
        self.note(store.shown());
        self.pins = self.note(store.pins()).map_or(0, |pins| pins.len() as u64);
        let mut named: BTreeSet<String> = pictures.into_iter().map(|one| one.path).collect();
        for example in examples {
            named.extend([example.before, example.after].into_iter().flatten());
        }
        for path in named {
            self.note(store.artifact(&path));
        }
    }

    fn files(&mut self, store: &Store) {
        for name in self.note(directory::artifacts(&store.dir)).unwrap_or_default() {
            if self.note(store.artifact(&name)).is_some() {
                self.artifacts += 1;
            }
        }
        self.note(directory::check_account(&store.dir));
        // A picture that a record names is looked at twice, and said once.
        let mut said = BTreeSet::new();
        self.damage.retain(|error| said.insert(error.to_string()));
    }
}
