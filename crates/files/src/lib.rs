//! Files that are whole or not there, however a process ends and whenever the power goes.
//!
//! A file is written under another name in the same folder, synced, renamed, and its folder synced.
//! Readers see the old file or the new one. What fails leaves the old file as it was, and nothing
//! beside it.
//!
//! 1. [`write()`] replaces a file, [`write_with`] one that is written piece by piece, [`write_new`]
//!    refuses to replace one.
//! 2. [`write_in_bulk`] is for one of many files, [`rename`] for a folder that was filled under
//!    another name.
//!
//! ```
//! let folder = tempfile::tempdir()?;
//! faultlens_files::write(&folder.path().join("summary.json"), b"{}")?;
//! # Ok::<(), std::io::Error>(())
//! ```

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// What names of files end in until they are whole.
pub const UNFINISHED: &str = ".new";

/// Writes a file, in the place of one that may be there.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes a file piece by piece, in the place of one that may be there. Where `fill` fails, the old
/// file stays.
pub fn write_with<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
) -> Result<(), E> {
    if !is_replaceable(path) {
        let mut file = BufWriter::new(OpenOptions::new().write(true).open(path)?);
        fill(&mut file)?;
        return Ok(file.flush()?);
    }
    let path = &followed(path);
    let unfinished = Unfinished::create(path)?;
    unfinished.fill(fill)?;
    keep_permissions(path, &unfinished.path)?;
    fs::rename(&unfinished.path, path)?;
    unfinished.keep();
    Ok(sync_folder_of(path)?)
}

/// Writes a file that is not there; one that is there is an error of the kind
/// [`AlreadyExists`](ErrorKind::AlreadyExists).
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Asked first, so that a file that is there costs nothing. The link below fails where another
    // process was quicker.
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let unfinished = Unfinished::create(path)?;
    unfinished.fill(|file| file.write_all(bytes))?;
    match fs::hard_link(&unfinished.path, path) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // Some file systems have no links.
        Err(_) => {
            fs::rename(&unfinished.path, path)?;
            unfinished.keep();
            return sync_folder_of(path);
        }
    }
    drop(unfinished);
    sync_folder_of(path)
}

/// Writes one of many files, in the place of one that may be there. It is whole or not there, too,
/// but a power cut may take it away again until its folder is synced, as [`write()`] does beside it.
pub fn write_in_bulk(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if !is_replaceable(path) {
        return write(path, bytes);
    }
    let path = &followed(path);
    let unfinished = Unfinished::create(path)?;
    unfinished.fill(|file| file.write_all(bytes))?;
    keep_permissions(path, &unfinished.path)?;
    fs::rename(&unfinished.path, path)?;
    unfinished.keep();
    Ok(())
}

/// Renames a file or a folder, and comes back when the disk has the new name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    fs::rename(from, to)?;
    sync_folder_of(to)?;
    if from.parent() == to.parent() { Ok(()) } else { sync_folder_of(from) }
}

/// Makes a folder and those that it lies in, as far as they are not there, and comes back when the
/// disk has their names.
pub fn create_folders(path: &Path) -> io::Result<()> {
    let mut missing = Vec::new();
    for folder in path.ancestors() {
        if folder.as_os_str().is_empty() || folder.is_dir() {
            break;
        }
        missing.push(folder);
    }
    fs::create_dir_all(path)?;
    missing.into_iter().try_for_each(sync_folder_of)
}

/// Comes back when the disk has the names of a folder's files.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Elsewhere folders cannot be opened as files, and names are durable without it.
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder)?.sync_all() {
        // Some network file systems know no such thing.
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            Ok(())
        }
        synced => synced,
    }
}

fn sync_folder_of(path: &Path) -> io::Result<()> {
    sync_folder(folder_of(path))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Whether a path names a plain file, or none yet: devices and pipes, such as `/dev/stdout`, are
/// written to as they are.
fn is_replaceable(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |about| about.is_file() || about.is_dir())
}

/// The file that a link leads to, so that the link stays.
fn followed(path: &Path) -> PathBuf {
    let linked = path.symlink_metadata().is_ok_and(|about| about.is_symlink());
    let target = if linked { fs::canonicalize(path).ok() } else { None };
    target.unwrap_or_else(|| path.to_path_buf())
}

/// A file that is replaced may be readable to its owner alone.
fn keep_permissions(old: &Path, new: &Path) -> io::Result<()> {
    match fs::metadata(old) {
        Ok(about) if about.is_file() => fs::set_permissions(new, about.permissions()),
        _ => Ok(()),
    }
}

/// A file under another name, which is removed unless it becomes whole.
struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    fn create(path: &Path) -> io::Result<Self> {
        static WRITES: AtomicU64 = AtomicU64::new(0);
        let Some(name) = path.file_name() else {
            return Err(io::Error::new(ErrorKind::InvalidInput, "this names no file"));
        };
        let mut unfinished = OsString::from(".");
        unfinished.push(name);
        let count = WRITES.fetch_add(1, Ordering::Relaxed);
        unfinished.push(format!(".{}-{count}{UNFINISHED}", process::id()));
        Ok(Self { path: path.with_file_name(unfinished) })
    }

    fn fill<E: From<io::Error>>(
        &self,
        fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut file = BufWriter::new(File::create(&self.path)?);
        fill(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(file.sync_all()?)
    }

    /// It has its name, and stays.
    fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It may not even exist; the error that led here says more.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        write_in_bulk(&folder.path().join("b.txt"), b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(names(folder.path()), ["a.txt", "b.txt"]);
    }

    #[test]
    fn what_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"old").unwrap();
        let failed: Result<(), io::Error> = write_with(&path, |file| {
            file.write_all(b"half of the ne")?;
            Err(ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names(folder.path()), ["a.txt"]);
        assert!(write(&folder.path().join("gone/a.txt"), b"").is_err());
        assert!(write(folder.path(), b"").is_err(), "a folder is not replaced");
        assert!(write(Path::new("/"), b"").is_err());
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn a_new_file_replaces_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_new(&path, b"one").unwrap();
        let again = write_new(&path, b"two").unwrap_err();
        assert_eq!(again.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn folders_are_made_as_far_as_they_are_missing() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/b/c");
        create_folders(&deep).unwrap();
        create_folders(&deep).unwrap();
        assert!(deep.is_dir());
        write(&deep.join("file"), b"").unwrap();
        assert!(create_folders(&deep.join("file/d")).is_err());
    }

    #[test]
    fn a_folder_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("filled");
        fs::create_dir(&from).unwrap();
        rename(&from, &folder.path().join("whole")).unwrap();
        assert_eq!(names(folder.path()), ["whole"]);
        assert!(rename(&from, &folder.path().join("whole")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_permissions_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"one").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let link = folder.path().join("link");
        symlink("a.txt", &link).unwrap();
        write(&link, b"two").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        write(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!Path::new("/dev/null").metadata().unwrap().is_file());
    }
}
