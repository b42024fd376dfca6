//! What a run cost: time by what it was spent on, and every call to a service.

use crate::store::{ACCOUNT, StoreError, replace};
use faultlens_targets::service::CallStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// An account is small; what is larger is something else.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What a run cost, from its first start to its last end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spending {
    /// Seconds from start to end.
    pub wall: f64,
    /// Seconds of all threads together.
    pub threads: f64,
    /// Seconds in which images were disturbed, of all threads together.
    pub faults: f64,
    /// Seconds in which targets were asked, of all threads together.
    pub target: f64,
    /// The services, in the campaign's order.
    #[serde(default)]
    pub services: Vec<ServiceAccount>,
}

/// The calls to one service.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ServiceAccount {
    /// The target's name in the campaign.
    pub target: String,
    /// Calls by what came of them.
    pub account: CallStats,
    /// The versions of the model that answered, as far as the service says them.
    pub versions: BTreeSet<String>,
    /// Cases that were asked again at the end.
    pub control: u64,
    /// Those of them that were answered otherwise: the service has changed meanwhile.
    pub drifted: u64,
}

impl Spending {
    /// What a run cost so far; `None` where there is no account.
    pub fn read(dir: &Path) -> Option<Self> {
        let path = dir.join(ACCOUNT);
        let fits = fs::metadata(&path).is_ok_and(|about| about.len() <= MAX_FILE_BYTES);
        let text = fits.then(|| fs::read_to_string(&path).ok()).flatten();
        // A damaged account counts as none: no record depends on it.
        text.and_then(|text| serde_json::from_str(&text).ok())
    }

    /// Writes it into a run directory.
    pub fn write(&self, dir: &Path) -> Result<(), StoreError> {
        let text = serde_json::to_vec_pretty(self).unwrap_or_default();
        replace(&dir.join(ACCOUNT), &text, "write the account")
    }
}
