//! Documentation that is made from the registries, or counts their entries.

use faultlens_faults::{ATTACKS, DEFENCES, IMAGE_FAULTS, MODEL_FAULTS, SCENE_FAULTS, page};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_page_of_faults_is_up_to_date() {
    let written = std::fs::read_to_string(root().join("docs/faults.md")).unwrap();
    assert!(
        written == page(),
        "docs/faults.md is stale: cargo run --release -p faultlens --example fault_pages"
    );
    for fault in IMAGE_FAULTS {
        let picture = root().join(format!("docs/images/faults/{}.jpg", fault.name));
        assert!(picture.exists(), "{}", picture.display());
    }
}

#[test]
fn the_readme_counts_the_entries_of_the_registries() {
    let readme = std::fs::read_to_string(root().join("README.md")).unwrap();
    for (count, what) in [
        (IMAGE_FAULTS.len(), "image faults"),
        (MODEL_FAULTS.len(), "model faults"),
        (ATTACKS.len(), "attacks"),
        (DEFENCES.len(), "defences"),
        (SCENE_FAULTS.len(), "scene faults"),
    ] {
        let wanted = format!("{count} {what}");
        assert!(readme.contains(&wanted), "the README does not say {wanted:?}");
    }
}
