//! Campaign files.

use crate::{FuzzTarget, mutate};
use faultlens_spec::Campaign;
use std::path::Path;

/// Campaign files as users write them.
pub const TARGET: FuzzTarget = FuzzTarget {
    name: "campaign",
    run,
    fixtures: &[("tests/pinned", "campaign.yaml")],
    mutate: mutate::text,
};

/// Checks a campaign file, and shows its mistakes as a user sees them.
pub fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Campaign::parse(&text, Path::new("campaign.yaml")) {
        Ok(campaign) => drop(campaign.fingerprint()),
        Err(error) => drop(error.to_string()),
    }
}
