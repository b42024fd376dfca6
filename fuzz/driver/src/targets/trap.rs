//! A target that does harm on purpose: what finds harm is tested with it.

use crate::{FuzzTarget, mutate};
use std::time::Duration;

/// Not among the targets that are fuzzed.
pub const TARGET: FuzzTarget =
    FuzzTarget { name: "trap", run, fixtures: &[], mutate: mutate::bytes };

/// Panics, hangs or takes all memory, as the first bytes say.
pub fn run(bytes: &[u8]) {
    match bytes {
        [b'p', ..] => panic!("as told"),
        [b'h', ..] => std::thread::sleep(Duration::from_secs(3600)),
        [b'm', ..] => drop(std::hint::black_box(vec![1u8; 3 << 30])),
        [b'a', ..] => std::process::abort(),
        _ => {}
    }
}
