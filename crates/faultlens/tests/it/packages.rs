//! What a crate includes when it is compiled is in its package, since a package is compiled alone.

use std::fs;
use std::path::{Component, Path, PathBuf};

#[test]
fn packages_hold_every_file_that_their_code_includes() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    let mut wrong = Vec::new();
    for entry in fs::read_dir(crates).unwrap() {
        let root = entry.unwrap().path();
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        let mut sources = Vec::new();
        rust_files(&root.join("src"), &mut sources);
        for source in sources {
            let folder = source.parent().unwrap().strip_prefix(&root).unwrap();
            for name in included(&fs::read_to_string(&source).unwrap()) {
                let path = resolved(&folder.join(name));
                let first = path.components().next().unwrap().as_os_str().to_string_lossy();
                seen += 1;
                if !manifest.contains(&format!("\"/{first}/**\"")) {
                    wrong.push(format!("{} includes {}", source.display(), path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "not in the package:\n{}", wrong.join("\n"));
    assert!(seen > 5, "only {seen} included files were found");
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The files that a source includes by name, without those of its tests, which are not packaged.
fn included(source: &str) -> Vec<&str> {
    let product = source.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let mut names = Vec::new();
    for start in ["include!(\"", "include_str!(\"", "include_bytes!(\""] {
        for rest in product.split(start).skip(1) {
            names.extend(rest.split('"').next());
        }
    }
    names
}

/// A relative path without its `..`.
fn resolved(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(out.pop(), "leaves the crate: {}", path.display()),
            part => out.push(part),
        }
    }
    out
}
