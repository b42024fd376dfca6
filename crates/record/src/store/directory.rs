//! The files of a run directory, the lock on it, and its pictures.

use super::error::StoreError;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;

pub(super) const CAMPAIGN: &str = "campaign.yaml";
pub(super) const MANIFEST: &str = "manifest.json";
pub(super) const RECORDS: &str = "records.sqlite";
const ARTIFACTS: &str = "artifacts";
const LOCK: &str = "lock";
/// What a run cost; written beside the store.
pub(crate) const ACCOUNT: &str = "account.json";
/// What SQLite puts behind a file's name while it works on it.
const ENDINGS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Makes the directory, or takes one that is empty or where making a run was interrupted.
pub(super) fn claim(dir: &Path) -> Result<File, StoreError> {
    faultlens_files::create_folders(dir)
        .map_err(StoreError::writing("make the run directory", dir))?;
    let found = listed(dir)?;
    if found.iter().any(|name| name == MANIFEST) {
        return Err(StoreError::Exists { path: dir.to_path_buf() });
    }
    if let Some(other) = found.into_iter().find(|name| !is_ours(name)) {
        return Err(StoreError::NotEmpty { found: other, path: dir.to_path_buf() });
    }
    lock(dir)
}

fn is_ours(name: &str) -> bool {
    let known = [CAMPAIGN, MANIFEST, RECORDS, ARTIFACTS, LOCK]
        .iter()
        .any(|ours| name.strip_prefix(ours).is_some_and(|ending| ENDINGS.contains(&ending)));
    known || is_leftover(name)
}

/// Takes the lock for as long as the file lives; the system frees it however the process ends.
pub(super) fn lock(dir: &Path) -> Result<File, StoreError> {
    let path = dir.join(LOCK);
    let failed = || StoreError::writing("lock the run", &path);
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(failed())?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut text = String::new();
            let pid = file.read_to_string(&mut text).ok().and_then(|_| text.trim().parse().ok());
            return Err(StoreError::Locked { pid, path: dir.to_path_buf() });
        }
        Err(TryLockError::Error(error)) => return Err(failed()(error)),
    }
    file.set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()))
        .map_err(failed())?;
    tidy(dir)?;
    Ok(file)
}

/// Writes a file so that no one ever sees half of it.
pub fn replace(path: &Path, bytes: &[u8], doing: &'static str) -> Result<(), StoreError> {
    faultlens_files::write(path, bytes).map_err(StoreError::writing(doing, path))
}

/// Removes what writers left that were killed; whoever calls this holds the lock.
fn tidy(dir: &Path) -> Result<(), StoreError> {
    for name in listed(dir)?.iter().filter(|name| is_leftover(name)) {
        // It is in nobody's way where it cannot be removed.
        let _ = fs::remove_file(dir.join(name));
    }
    Ok(())
}

/// Whether a file of that name was never finished.
fn is_leftover(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(faultlens_files::UNFINISHED)
}

/// Keeps a picture under the hash of its bytes; the same picture is kept once.
pub(super) fn put_artifact(dir: &Path, bytes: &[u8]) -> Result<String, StoreError> {
    let hash = sha256(bytes);
    let name = format!("{ARTIFACTS}/{}/{hash}.png", &hash[..2]);
    let path = dir.join(&name);
    if path.is_file() {
        return Ok(name);
    }
    if let Some(folder) = path.parent() {
        faultlens_files::create_folders(folder)
            .map_err(StoreError::writing("keep a picture", folder))?;
    }
    replace(&path, bytes, "keep a picture")?;
    Ok(name)
}

/// The bytes of a kept picture.
pub(super) fn artifact(dir: &Path, name: &str) -> Result<Vec<u8>, StoreError> {
    if !is_artifact(name) {
        let path = dir.to_path_buf();
        return Err(StoreError::NotAnArtifact { name: name.to_owned(), path });
    }
    let path = dir.join(name);
    let bytes = fs::read(&path).map_err(StoreError::io("read a picture", &path))?;
    if !name.ends_with(&format!("{}.png", sha256(&bytes))) {
        return Err(StoreError::corrupt("it is not what was kept under this name", &path));
    }
    Ok(bytes)
}

/// Checks that what a run cost can be read, where that is known.
pub(super) fn check_account(dir: &Path) -> Result<(), StoreError> {
    let path = dir.join(ACCOUNT);
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.map_err(StoreError::io("read the account", &path))?,
    };
    let json: Result<serde_json::Value, _> = serde_json::from_slice(&text);
    json.map(|_| ()).map_err(|error| StoreError::corrupt(error.to_string(), &path))
}

/// The names of all kept pictures, in order. What is no picture of a run is left out.
pub(super) fn artifacts(dir: &Path) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    for folder in listed(&dir.join(ARTIFACTS))? {
        for file in listed(&dir.join(ARTIFACTS).join(&folder))? {
            let name = format!("{ARTIFACTS}/{folder}/{file}");
            if is_artifact(&name) {
                names.push(name);
            }
        }
    }
    Ok(names)
}

/// What is in a folder, in order; nothing where there is none.
fn listed(folder: &Path) -> Result<Vec<String>, StoreError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let reading = || StoreError::io("look into the folder", folder);
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(reading())? {
        names.push(entry.map_err(reading())?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Whether a name is one that [`put_artifact`] gives, and so stays below the run directory.
fn is_artifact(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let [folder, start, file] = parts[..] else { return false };
    let Some(hash) = file.strip_suffix(".png") else { return false };
    let hexadecimal = hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    folder == ARTIFACTS && hash.len() == 64 && hexadecimal && hash.get(..2) == Some(start)
}

pub(super) fn read_campaign(dir: &Path) -> Result<String, StoreError> {
    let path = dir.join(CAMPAIGN);
    fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            StoreError::NotARun { missing: CAMPAIGN, path: dir.to_path_buf() }
        }
        _ => StoreError::io("read the campaign", &path)(error),
    })
}

/// The hash of a file's bytes, as hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing into a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_kept_once_under_its_hash() {
        let dir = tempfile::tempdir().unwrap();
        let name = put_artifact(dir.path(), b"abc").unwrap();
        // From `printf abc | sha256sum`.
        let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(name, format!("artifacts/ba/{hash}.png"));
        assert_eq!(put_artifact(dir.path(), b"abc").unwrap(), name);
        assert_eq!(artifact(dir.path(), &name).unwrap(), b"abc");
        let files = fs::read_dir(dir.path().join("artifacts/ba")).unwrap().count();
        assert_eq!(files, 1, "nothing is left of the writing");
        fs::write(dir.path().join(&name), b"abd").unwrap();
        assert!(matches!(artifact(dir.path(), &name), Err(StoreError::Corrupt { .. })));
    }

    #[test]
    fn no_name_leads_out_of_the_directory() {
        let hash = "a".repeat(64);
        assert!(is_artifact(&format!("artifacts/aa/{hash}.png")));
        for name in [
            "../../etc/passwd".to_owned(),
            "/etc/passwd".to_owned(),
            format!("artifacts/../{hash}.png"),
            format!("artifacts/ab/{hash}.png"),
            format!("artifacts/aa/../{hash}.png"),
            format!("artifacts/aa/{}.png", "A".repeat(64)),
            "artifacts/aa/aa.png".to_owned(),
        ] {
            assert!(!is_artifact(&name), "{name}");
        }
    }

    #[test]
    fn a_directory_with_other_files_is_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        drop(claim(dir.path()).unwrap());
        drop(claim(dir.path()).unwrap());
        fs::write(dir.path().join("thesis.tex"), "").unwrap();
        let error = claim(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::NotEmpty { found, .. } if found == "thesis.tex"));
    }

    #[test]
    fn a_lock_holds_against_the_same_process_too() {
        let dir = tempfile::tempdir().unwrap();
        let held = lock(dir.path()).unwrap();
        let own = Some(std::process::id());
        let error = lock(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::Locked { pid, .. } if pid == own));
        drop(held);
        lock(dir.path()).unwrap();
    }
}
