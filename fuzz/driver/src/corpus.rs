//! Good input to start from: small files of `fuzz/corpus`, and the fixtures of the tests.

use crate::FuzzTarget;
use std::fs;
use std::path::{Path, PathBuf};

/// Larger files make mutations slow and rarely better.
const MAX_BYTES: u64 = 256 << 10;

/// The project's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All inputs of a target with their paths, sorted by path, so that numbers of inputs mean the same
/// everywhere.
pub fn read(target: &FuzzTarget) -> Vec<(PathBuf, Vec<u8>)> {
    let mut paths = Vec::new();
    collect(&root().join("fuzz/corpus").join(target.name), "", &mut paths);
    for (folder, ending) in target.fixtures {
        collect(&root().join(folder), ending, &mut paths);
    }
    paths.sort();
    paths.dedup();
    let mut inputs = Vec::new();
    for path in paths {
        let small = fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_BYTES);
        if let (true, Ok(bytes)) = (small, fs::read(&path)) {
            inputs.push((path, bytes));
        }
    }
    inputs
}

fn collect(folder: &Path, ending: &str, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, ending, paths);
        } else if path.to_string_lossy().ends_with(ending) {
            paths.push(path);
        }
    }
}
