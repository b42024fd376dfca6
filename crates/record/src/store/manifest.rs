//! What a run was made with, so that its records can be read without the campaign's files.

use super::directory::{MANIFEST, hex, replace};
use super::error::StoreError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The version of the manifest; raised when a reader of an older one would go wrong.
pub const MANIFEST_VERSION: u32 = 2;

/// The first version that has a checksum; records have checksums since then, too.
pub(super) const CHECKED_MANIFEST: u32 = 2;

/// Before the checksum of the whole file, which counts as noughts for it. No text inside the file
/// has a line break in it.
const CHECKSUM: &str = "\n  \"checksum\": \"";
const CHECKSUM_DIGITS: usize = 64;

/// What a run was made with. Readers skip what they do not know.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// See [`MANIFEST_VERSION`].
    pub version: u32,
    /// The version of faultlens that began the run; [`Session`] has those that went on with it.
    pub faultlens: String,
    /// Tells campaigns apart that plan other trials; runs with the same one can be merged.
    pub fingerprint: String,
    /// The campaign's name.
    pub name: String,
    /// The folder that the campaign's relative paths start from.
    pub base: String,
    /// The campaign's seed.
    pub seed: u64,
    /// When the run began; see [`timestamp`].
    pub created: String,
    /// Where it began: system, processor, cores.
    pub machine: String,
    /// How many threads it used.
    pub threads: usize,
    /// How many trials the whole campaign plans, also where this run is one shard of it.
    pub planned: u64,
    /// Which shard of how many, where the campaign was split.
    pub shard: Option<(u32, u32)>,
    /// Who judges, with settings.
    pub oracle: String,
    /// What bounds the oracle, with settings.
    pub guards: Vec<String>,
    /// The confidence of the intervals.
    pub confidence: f64,
    /// How the intervals are made.
    pub interval: String,
    /// The campaign's requirements in words.
    pub requirements: Vec<String>,
    /// The targets, in the order that records count them in.
    pub targets: Vec<ManifestTarget>,
    /// The data set, as the campaign names it.
    pub data: String,
    /// The data set's classes.
    pub classes: Vec<String>,
    /// How many cases the sample has.
    pub cases: u64,
    /// The fault points, in the order that records count them in.
    pub faults: Vec<ManifestFault>,
    /// The rule that ends the run early, in words.
    pub stop: Option<String>,
    /// What is written in the files with people's tolerances, by the campaign's names for them.
    #[serde(default)]
    pub tolerances: BTreeMap<String, String>,
    /// The digest of the object pool, where objects were put into scenes.
    #[serde(default)]
    pub objects: Option<String>,
}

/// A session of work on a run: a version of faultlens on a machine. Beside models and data, answers
/// may depend on both.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// The version of faultlens.
    pub faultlens: String,
    /// System, processor, cores.
    pub machine: String,
    /// Since when it worked on the run; see [`timestamp`].
    pub from: String,
}

impl Session {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.faultlens, &self.machine) == (&other.faultlens, &other.machine)
    }
}

/// How a run came about. Only the store writes it, into the same file as the manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The sessions, in the order in which they began. Files call them hands.
    #[serde(default, rename = "hands")]
    pub(super) sessions: Vec<Session>,
    /// Whether the run was put together from others.
    #[serde(default)]
    pub(super) merged: bool,
    /// The hash of the campaign file; while it is replaced, that of the new one too.
    #[serde(default)]
    pub(super) campaign_sha256: Vec<String>,
}

/// A target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestTarget {
    /// Its name in the campaign.
    pub name: String,
    /// The model, as the campaign names it.
    pub model: String,
    /// The hash of the model file.
    pub sha256: String,
    /// How an image becomes its input.
    pub input: serde_json::Value,
    /// How its output becomes an answer.
    pub output: serde_json::Value,
    /// Its own list of classes.
    pub classes: Vec<String>,
    /// The traits by which the campaign groups targets.
    #[serde(default)]
    pub traits: BTreeMap<String, String>,
    /// What is done to images before it sees them.
    #[serde(default)]
    pub defences: Vec<String>,
    /// The identity of what answers: two targets that differ in their defences alone share it.
    #[serde(default)]
    pub origin: String,
    /// What it is asked for, where it is a service.
    #[serde(default)]
    pub service: Option<String>,
}

/// A fault point of a run: a fault with one choice of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ManifestFault {
    /// The fault's name.
    pub name: String,
    /// What the campaign calls it.
    pub label: String,
    /// Name and settings as the identity of a trial has them.
    pub spec: String,
    /// The settings by name.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// What the dose is measured on.
    pub axis: Option<String>,
    /// The dose.
    pub amount: Option<f64>,
    /// How many trials of each target and case.
    pub trials: u32,
    /// What it changes.
    pub on: FaultOn,
}

/// What a fault changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultOn {
    /// What the target sees.
    Image,
    /// What the target computes.
    Model,
    /// What the target sees, as a search found it.
    Attack,
    /// What stands in the scene.
    Scene,
}

/// The version alone: a newer manifest must not be taken for a damaged one.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

impl Manifest {
    pub(super) fn read(dir: &Path) -> Result<(Self, Origin), StoreError> {
        let path = dir.join(MANIFEST);
        let text = fs::read_to_string(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                StoreError::NotARun { missing: MANIFEST, path: dir.to_path_buf() }
            }
            io::ErrorKind::InvalidData => StoreError::corrupt("it is no text", &path),
            _ => StoreError::io("read the manifest", &path)(source),
        })?;
        let damaged = |error: serde_json::Error| StoreError::corrupt(error.to_string(), &path);
        let Version { version } = serde_json::from_str(&text).map_err(damaged)?;
        if version > MANIFEST_VERSION {
            let found = version.into();
            return Err(StoreError::Newer { found, known: MANIFEST_VERSION.into(), path });
        }
        if version == 0 || version >= CHECKED_MANIFEST && !is_sound(&text) {
            return Err(StoreError::corrupt("its checksum does not fit", &path));
        }
        let manifest: Self = serde_json::from_str(&text).map_err(damaged)?;
        let mut origin: Origin = serde_json::from_str(&text).map_err(damaged)?;
        if origin.sessions.is_empty() {
            origin.sessions.push(manifest.session());
        }
        Ok((manifest, origin))
    }

    pub(super) fn write(&self, origin: &Origin, dir: &Path) -> Result<(), StoreError> {
        let path = dir.join(MANIFEST);
        let mut text = self
            .with(origin)
            .and_then(|both| serde_json::to_string_pretty(&both))
            .map_err(|error| StoreError::io("write the manifest", &path)(error.into()))?;
        text.push('\n');
        let checksum = checksum(&text);
        text = text.replacen(&placeholder(), &format!("{CHECKSUM}{checksum}"), 1);
        replace(&path, text.as_bytes(), "write the manifest")
    }

    /// Both as one object, by name.
    fn with(&self, origin: &Origin) -> serde_json::Result<BTreeMap<String, serde_json::Value>> {
        let mut both: BTreeMap<_, _> = serde_json::from_value(serde_json::to_value(self)?)?;
        both.insert("hands".to_owned(), serde_json::to_value(&origin.sessions)?);
        both.insert("merged".to_owned(), origin.merged.into());
        both.insert("campaign_sha256".to_owned(), origin.campaign_sha256.clone().into());
        both.insert("checksum".to_owned(), "0".repeat(CHECKSUM_DIGITS).into());
        Ok(both)
    }

    /// The session that made this manifest.
    pub(super) fn session(&self) -> Session {
        Session {
            faultlens: self.faultlens.clone(),
            machine: self.machine.clone(),
            from: self.created.clone(),
        }
    }

    /// The manifest as the session that began the run would write it.
    pub(super) fn begun_by(self, Session { faultlens, machine, from }: Session) -> Self {
        Self { faultlens, machine, created: from, ..self }
    }

    /// The campaign in a message.
    pub(super) fn campaign(&self) -> String {
        campaign(&self.name, &self.fingerprint)
    }
}

/// Where the checksum stands in a manifest that has none yet.
fn placeholder() -> String {
    format!("{CHECKSUM}{}", "0".repeat(CHECKSUM_DIGITS))
}

fn checksum(text: &str) -> String {
    hex(&Sha256::digest(text))
}

/// Whether the manifest is, to the byte, what was written.
fn is_sound(text: &str) -> bool {
    let Some(start) = text.find(CHECKSUM).map(|at| at + CHECKSUM.len()) else { return false };
    let Some(found) = text.get(start..start + CHECKSUM_DIGITS) else { return false };
    let mut blank = text.to_owned();
    blank.replace_range(start..start + CHECKSUM_DIGITS, &"0".repeat(CHECKSUM_DIGITS));
    checksum(&blank) == found
}

/// A campaign's name and the start of its fingerprint, to tell campaigns of one name apart.
pub(super) fn campaign(name: &str, fingerprint: &str) -> String {
    let start: String = fingerprint.chars().take(8).collect();
    format!("{name} {start}")
}

/// A time as RFC 3339 in UTC, to the second; a time before 1970 counts as 1970.
pub fn timestamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, date) = civil(seconds / 86_400);
    let hour = seconds / 3600 % 24;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of the month in the Gregorian calendar (Howard Hinnant's `civil_from_days`).
/// Years begin in March here, so that the leap day is the last; an era is a cycle of 400 years.
fn civil(days_since_1970: u64) -> (u64, u64, u64) {
    let day = days_since_1970 + 719_468;
    let era = day / 146_097;
    let day = day % 146_097;
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn times_read_as_date_prints_them() {
        // From `date -u -d @N +%FT%TZ`.
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(timestamp(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }

    #[test]
    fn a_newer_manifest_is_told_from_a_damaged_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(MANIFEST);
        assert!(matches!(Manifest::read(dir.path()), Err(StoreError::NotARun { .. })));
        fs::write(&path, r#"{"version": 3, "other": 1}"#).unwrap();
        assert!(matches!(Manifest::read(dir.path()), Err(StoreError::Newer { found: 3, .. })));
        fs::write(&path, r#"{"version": 1}"#).unwrap();
        assert!(matches!(Manifest::read(dir.path()), Err(StoreError::Corrupt { .. })));
        fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(matches!(Manifest::read(dir.path()), Err(StoreError::Corrupt { .. })));
    }
}
