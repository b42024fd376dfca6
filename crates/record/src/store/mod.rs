//! The run directory: what one execution of a campaign leaves on disk, complete enough that every
//! report is made from it alone.
//!
//! | file | what it is |
//! |---|---|
//! | `campaign.yaml` | the campaign as run |
//! | `manifest.json` | what it was run with, see [`Manifest`]; a directory that has one is a run |
//! | `records.sqlite` | records, cases, golden answers, examples, pins |
//! | `artifacts/` | pictures, named by the hash of their bytes |
//! | `lock` | held by the process that works on the run |
//!
//! 1. [`Store::create`] makes a run, [`Store::open`] goes on with one, [`Store::read`] looks at one.
//! 2. [`Store::write`] puts batches of records; whatever was written stays, however the process
//!    ends, and [`Store::done`] says later what that is.
//! 3. [`merge`] puts the shards of a campaign together; [`export_csv`] and [`export_parquet`] session
//!    the records to other tools.

mod bits;
mod directory;
mod done;
mod error;
mod examples;
mod export;
mod interned;
mod kept;
mod legacy;
mod manifest;
mod merge;
mod packed;
mod progress;
mod repair;
mod scan;
mod scene_text;
mod schema;
mod seal;
mod showcase;
mod side;
mod structure;
mod sums;
mod verify;
mod write;

pub(crate) use directory::ACCOUNT;
pub use directory::replace;
pub use done::Done;
pub use error::StoreError;
pub use export::{export_csv, export_csv_file, export_parquet};
pub use kept::{CaseRecord, ExampleRecord, PictureOf, PictureRecord, PinRecord};
pub use manifest::{
    FaultOn, MANIFEST_VERSION, Manifest, ManifestFault, ManifestTarget, Session, timestamp,
};
pub use merge::{Merged, merge, merge_keeping_first};
pub use progress::Recorded;
pub use repair::{Repaired, repair};
pub use showcase::ShownRecord;
pub use showcase::noticeable;
pub use verify::{Verified, verify};
pub use write::Batch;

use interned::Interned;
use manifest::{CHECKED_MANIFEST, Origin};
use rusqlite::Connection;
use schema::Format;
use seal::Seal;
use std::cell::RefCell;
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A run directory, open.
pub struct Store {
    dir: PathBuf,
    /// The database's path, for messages.
    path: PathBuf,
    manifest: Manifest,
    origin: Origin,
    // Dropped before the lock, so that the next process finds the database closed.
    database: Connection,
    format: Format,
    /// What the writer knows to be in the database.
    interned: Option<Interned>,
    /// What a reader found in it, and when.
    found: RefCell<Option<(i64, Arc<Interned>)>>,
    lock: Option<File>,
    /// When what was written before is known to be on the disk.
    synced: Instant,
    /// Whether anything was written since.
    unsynced: bool,
    /// How long that may last.
    sync_after: Duration,
}

impl Store {
    /// Makes a run in a directory that is new or empty, and locks it. Where making one was
    /// interrupted there, it is finished.
    pub fn create(
        dir: &Path,
        manifest: &Manifest,
        campaign_yaml: &str,
    ) -> Result<Self, StoreError> {
        let origin = Origin { sessions: vec![manifest.session()], ..Origin::default() };
        Self::make(dir, manifest.clone(), origin, campaign_yaml)
    }

    fn make(
        dir: &Path,
        manifest: Manifest,
        origin: Origin,
        campaign_yaml: &str,
    ) -> Result<Self, StoreError> {
        let lock = directory::claim(dir)?;
        let database = (schema::create(dir)?, Format::Current);
        let about = (manifest.clone(), origin.clone());
        let mut store = Self::new(dir, about, database, Some(lock));
        if store.count()? > 0 {
            // Someone took the manifest of a run away: its records are not ours to replace.
            let path = dir.to_path_buf();
            return Err(StoreError::NotARun { missing: directory::MANIFEST, path });
        }
        // Another campaign may have begun here and not come to its first record.
        store.in_transaction(|tables, seal| {
            schema::empty(tables)?;
            *seal = Seal::default();
            Ok(())
        })?;
        // Before the manifest, which makes it a run: tables that a power cut takes away would leave
        // one that is damaged.
        schema::checkpoint(&store.database).map_err(StoreError::sql(&store.path))?;
        faultlens_files::sync_folder(dir).map_err(StoreError::writing("make the run", dir))?;
        store.describe(manifest, origin, campaign_yaml)?;
        Ok(store)
    }

    /// Whether a directory holds a run.
    pub fn exists(dir: &Path) -> bool {
        dir.join(directory::MANIFEST).exists()
    }

    /// Replaces what the run says about its campaign, where that plans the same trials: the user
    /// may have changed its requirements. The session that began the run stays; one that goes on
    /// with it is added to [`Self::sessions`].
    pub fn renew(&mut self, manifest: &Manifest, campaign_yaml: &str) -> Result<(), StoreError> {
        let mut origin = self.origin.clone();
        let session = manifest.session();
        if !origin.sessions.last().is_some_and(|last| last.is_same(&session)) {
            origin.sessions.push(session);
        }
        let manifest = manifest.clone().begun_by(self.manifest.session());
        self.describe(manifest, origin, campaign_yaml)
    }

    /// Writes what the run says about its campaign, in all places that say it.
    fn describe(
        &mut self,
        manifest: Manifest,
        mut origin: Origin,
        campaign_yaml: &str,
    ) -> Result<(), StoreError> {
        self.in_synced_transaction(|tables, seal| {
            // What the digest is over stays the same, whatever else changes in a campaign file.
            if seal.digest.is_some() {
                seal.digest = Some(seal.result_digest(&manifest));
            }
            schema::describe(tables, &manifest)
        })?;
        self.write_campaign(campaign_yaml)?;
        // Last, since a directory with a manifest is a run.
        origin.campaign_sha256 = vec![directory::sha256(campaign_yaml.as_bytes())];
        manifest.write(&origin, &self.dir)?;
        self.manifest = manifest;
        self.origin = origin;
        Ok(())
    }

    /// Replaces the campaign file. A run that has a manifest says first that it will have another
    /// file, so that both fit each other at any moment.
    fn write_campaign(&mut self, campaign_yaml: &str) -> Result<(), StoreError> {
        let sha256 = directory::sha256(campaign_yaml.as_bytes());
        if Self::exists(&self.dir) && !self.origin.campaign_sha256.contains(&sha256) {
            self.origin.campaign_sha256.push(sha256);
            self.manifest.write(&self.origin, &self.dir)?;
        }
        let campaign = self.dir.join(directory::CAMPAIGN);
        directory::replace(&campaign, campaign_yaml.as_bytes(), "write the campaign")
    }

    /// Opens a run to go on with it, and locks it.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let about = Manifest::read(dir)?;
        let lock = directory::lock(dir)?;
        let database = (schema::open(dir)?, Format::Current);
        expect_format(about.0.version, database.1, dir)?;
        Ok(Self::new(dir, about, database, Some(lock)))
    }

    /// Opens a run to look at it: beside a process that works on it, and where nothing can be
    /// written. Makes no file.
    pub fn read(dir: &Path) -> Result<Self, StoreError> {
        let about = Manifest::read(dir)?;
        let database = schema::read(dir)?;
        expect_format(about.0.version, database.1, dir)?;
        Ok(Self::new(dir, about, database, None))
    }

    fn new(
        dir: &Path,
        (manifest, origin): (Manifest, Origin),
        (database, format): (Connection, Format),
        lock: Option<File>,
    ) -> Self {
        Self {
            dir: dir.to_path_buf(),
            path: dir.join(directory::RECORDS),
            manifest,
            origin,
            database,
            format,
            interned: None,
            found: RefCell::default(),
            lock,
            synced: Instant::now(),
            unsynced: false,
            sync_after: write::SYNC_AFTER,
        }
    }

    /// The run directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the run was made with.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Whether the run has checksums; runs of older versions have none.
    pub fn has_checksums(&self) -> bool {
        self.format == Format::Current
    }

    /// The sessions that worked on the run, in the order in which they began; the first began it.
    pub fn sessions(&self) -> &[Session] {
        &self.origin.sessions
    }

    /// The campaign file as run.
    pub fn campaign_yaml(&self) -> Result<String, StoreError> {
        let text = directory::read_campaign(&self.dir)?;
        let known = &self.origin.campaign_sha256;
        // Older runs do not say what the file was.
        if self.has_checksums() && !known.contains(&directory::sha256(text.as_bytes())) {
            let path = self.dir.join(directory::CAMPAIGN);
            return Err(StoreError::corrupt("it is not the campaign that was run", &path));
        }
        Ok(text)
    }

    /// Checks that the run is of the campaign with this name and fingerprint.
    pub fn expect_campaign(&self, name: &str, fingerprint: &str) -> Result<(), StoreError> {
        if self.manifest.fingerprint == fingerprint {
            return Ok(());
        }
        let found = self.manifest.campaign();
        let wanted = manifest::campaign(name, fingerprint);
        Err(StoreError::OtherCampaign { found, wanted, path: self.dir.clone() })
    }

    /// Keeps a PNG file, the same one only once; its path below the run directory.
    pub fn put_artifact(&self, bytes: &[u8]) -> Result<String, StoreError> {
        directory::put_artifact(&self.dir, bytes)
    }

    /// The bytes of a kept PNG file, by its path below the run directory.
    pub fn artifact(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        directory::artifact(&self.dir, path)
    }
}

/// Manifests have checksums since records have them. One file with and one without are not of one
/// run, or a flipped bit makes one of them look old.
fn expect_format(manifest: u32, format: Format, dir: &Path) -> Result<(), StoreError> {
    if (manifest >= CHECKED_MANIFEST) == (format == Format::Current) {
        return Ok(());
    }
    let what = "its format does not fit that of the manifest";
    Err(StoreError::corrupt(what, &dir.join(directory::RECORDS)))
}

impl Drop for Store {
    fn drop(&mut self) {
        if self.lock.is_some() {
            // A reader may be in the way; then the log stays beside the database, and both are
            // as good together.
            let _ = schema::settle(&self.database);
            // SQLite does not wait until the disk knows that a log is gone.
            let _ = faultlens_files::sync_folder(&self.dir);
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("dir", &self.dir).finish_non_exhaustive()
    }
}
