//! One file per target.

pub mod campaign;
pub mod coco;
pub mod image;
pub mod npz;
pub mod onnx;
pub mod run_directory;
pub mod service;
pub mod trap;

use std::cell::OnceCell;
use std::path::Path;

thread_local! {
    /// A folder that is gone with the thread.
    static SCRATCH: OnceCell<Option<tempfile::TempDir>> = const { OnceCell::new() };
}

/// Works in a scratch folder; does nothing where there can be none.
fn with_scratch(work: impl FnOnce(&Path)) {
    SCRATCH.with(|scratch| {
        if let Some(folder) = scratch.get_or_init(|| tempfile::tempdir().ok()) {
            work(folder.path());
        }
    });
}
