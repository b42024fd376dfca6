//! Makes an input small that still does the same harm.

use crate::worker::{keep_panics, panics};
use anyhow::{Context as _, Result, bail};
use faultlens_fuzz::FuzzTarget;
use std::fs;
use std::path::Path;

/// Cuts pieces out of the file as long as the target panics at the same place.
pub(crate) fn minimise(target: &FuzzTarget, file: &Path) -> Result<()> {
    keep_panics();
    let mut bytes = fs::read(file).with_context(|| format!("{}", file.display()))?;
    let place = |said: String| said.split(": ").next().unwrap_or_default().to_owned();
    let Some(wanted) = panics(target, &bytes).map(place) else {
        bail!("the target does not panic on it: {}", file.display());
    };
    let mut piece = bytes.len().next_power_of_two() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < bytes.len() {
            let mut shorter = bytes.clone();
            shorter.drain(at..(at + piece).min(bytes.len()));
            if panics(target, &shorter).map(place).as_ref() == Some(&wanted) {
                bytes = shorter;
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    fs::write(file, &bytes).with_context(|| format!("{}", file.display()))
}
