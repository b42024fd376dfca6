//! How long trials take, measured on a few images, so that a test fits its time.

use std::collections::BTreeMap;

use faultlens::record::store::{Store, StoreError};

use super::Rehearsal;
use super::campaign_file::{self, Facts, SEVERITIES, Scope, TargetText};
use crate::command::threads;
use crate::console::Console;

/// Images of the rehearsal.
const IMAGES: usize = 2;

/// What is kept free for golden runs, examples and the report.
const RESERVE: f64 = 0.3;

/// Fewer images say little about others.
const ENOUGH_IMAGES: usize = 50;

/// More images than a first test needs.
const MAX_IMAGES: usize = 500;

/// Seconds of one thread per image, by kind of fault.
pub(super) struct Costs {
    /// All severities of all image faults.
    images: f64,
    flips: Option<f64>,
    attacks: Option<f64>,
    threads: f64,
}

/// Runs every fault on a few images; `None` where the user interrupted it.
pub(super) fn measure(
    facts: &Facts<'_>,
    target: &TargetText,
    console: &mut Console,
) -> anyhow::Result<Option<Costs>> {
    let count = IMAGES.min(facts.images);
    console.note(format_args!("measuring how long trials take, on {count} images:"))?;
    let text = campaign_file::pilot(facts, target, count);
    let Some(rehearsal) = Rehearsal::run(&text, console)? else { return Ok(None) };
    let store = Store::read(&rehearsal.dir)?;
    let names: Vec<String> =
        store.manifest().faults.iter().map(|fault| fault.name.clone()).collect();
    let mut seconds: BTreeMap<&str, f64> = BTreeMap::new();
    store.for_each(|record| {
        let kind = match names.get(record.fault as usize).map(String::as_str) {
            Some("bit_flip") => "flips",
            Some("pgd" | "random_noise") => "attacks",
            _ => "images",
        };
        *seconds.entry(kind).or_default() += record.cost.micros as f64 / 1e6 / count as f64;
        Ok::<(), StoreError>(())
    })?;
    Ok(Some(Costs {
        images: seconds.get("images").copied().unwrap_or_default(),
        flips: target.is_model.then(|| seconds.get("flips").copied().unwrap_or_default()),
        attacks: target.is_classifier.then(|| seconds.get("attacks").copied().unwrap_or_default()),
        threads: threads(None) as f64,
    }))
}

impl Costs {
    /// The broadest campaign on enough images within so many seconds; the narrowest, on at least
    /// one image, where none fits.
    pub(super) fn scope(&self, seconds: f64, of: usize) -> Scope {
        let wanted = ENOUGH_IMAGES.min(of);
        let mut last = None;
        for severities in SEVERITIES {
            for attacks in [true, false] {
                if attacks && self.attacks.is_none() {
                    continue;
                }
                let scope = self.fill(severities, attacks, seconds, of);
                if scope.images >= wanted {
                    return scope;
                }
                last = Some(scope);
            }
        }
        last.unwrap_or_else(|| self.fill(SEVERITIES[2], false, seconds, of))
    }

    fn fill(&self, severities: &'static [u8], attacks: bool, seconds: f64, of: usize) -> Scope {
        let share = severities.len() as f64 / SEVERITIES[0].len() as f64;
        let mut each = self.images * share + self.flips.unwrap_or_default();
        if attacks {
            each += self.attacks.unwrap_or_default();
        }
        // What is too fast to be measured still takes a microsecond.
        each = (each / self.threads).max(1e-6);
        let fit = (seconds * (1.0 - RESERVE) / each) as usize;
        let images = fit.clamp(1, of.clamp(1, MAX_IMAGES));
        let flips = self.flips.is_some();
        Scope { images, severities, flips, attacks, of, seconds: each * images as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_time_means_fewer_images_then_fewer_faults() {
        let costs = Costs { images: 1.0, flips: Some(0.1), attacks: Some(1.0), threads: 2.0 };
        let ample = costs.scope(1000.0, 300);
        assert_eq!((ample.images, ample.severities.len(), ample.attacks), (300, 5, true));
        let less = costs.scope(100.0, 300);
        assert_eq!((less.images, less.severities.len(), less.attacks), (66, 5, true));
        let scarce = costs.scope(50.0, 300);
        assert_eq!((scarce.severities.len(), scarce.attacks), (5, false));
        let hardly = costs.scope(1.0, 300);
        assert_eq!((hardly.images, hardly.severities, hardly.attacks), (2, &[1, 3][..], false));
    }

    #[test]
    fn a_target_without_attacks_gets_none() {
        let costs = Costs { images: 1.0, flips: None, attacks: None, threads: 1.0 };
        let scope = costs.scope(1e6, 20);
        assert_eq!((scope.images, scope.flips, scope.attacks), (20, false, false));
    }
}
