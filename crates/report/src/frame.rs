//! What all pages have in common: style, script, and the policy that allows nothing else.

use crate::image::base64;
use sha2::{Digest as _, Sha256};

pub(crate) const STYLE: &str = include_str!("../templates/report.css");
pub(crate) const SCRIPT: &str = include_str!("../templates/report.js");

/// The script's hash, so that the page's policy runs no other, whatever a label holds.
pub(crate) fn script_hash() -> String {
    format!("sha256-{}", base64(&Sha256::digest(SCRIPT.as_bytes())))
}
