//! Everything that Faultlens reads from strangers, as functions of bytes. Whatever the bytes are, a
//! function returns: what it found is of no interest, only that it neither panics nor takes all
//! memory or time.
//!
//! The same functions serve cargo-fuzz (`fuzz/fuzz_targets`) and the driver of this package, which
//! needs no nightly compiler.

pub mod corpus;
pub mod mutate;
pub mod targets;

use targets::{campaign, coco, image, npz, onnx, run_directory, service};

/// Something that reads bytes of strangers.
#[derive(Clone, Copy)]
pub struct FuzzTarget {
    /// What it is called on the command line, and its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Reads the bytes.
    pub run: fn(&[u8]),
    /// Files that are good input beside those of `fuzz/corpus`: folders from the project's root,
    /// and how their names end.
    pub fixtures: &'static [(&'static str, &'static str)],
    /// How good input becomes hostile, knowing its format.
    pub mutate: mutate::Mutate,
}

/// Every target, in alphabetical order. Add yours here.
pub const TARGETS: &[FuzzTarget] = &[
    campaign::TARGET,
    coco::TARGET,
    image::TARGET,
    npz::TARGET,
    onnx::TARGET,
    run_directory::TARGET,
    service::TARGET,
];

/// The target of a name.
pub fn find(name: &str) -> Option<&'static FuzzTarget> {
    static TRAP: FuzzTarget = targets::trap::TARGET;
    TARGETS.iter().chain([&TRAP]).find(|target| target.name == name)
}
