//! What protections against faults inside a model are worth: the trials of a run, once more.
//!
//! 1. [`protect`] reads the trials of a run, draws the same changes again, and asks what each
//!    protection would have made of them.
//! 2. An [`Advice`] says for each protection how many broken answers it stops, what it costs and
//!    what it does where nothing is wrong.
//! 3. [`read`] gives the advice that lies in a run directory, for reports.
//!
//! Whatever is made from cases, such as ranges of values or the order of layers, is evaluated on
//! other cases. To add a protection: one file, one line in `PROTECTIONS`.
//!
//! ```no_run
//! use faultlens_protect::{Options, protect};
//! use std::path::Path;
//!
//! let advice = protect(Path::new("runs/signs"), &Options::default())?;
//! println!("{} trials run again", advice.trials);
//! # Ok::<(), faultlens_protect::ProtectError>(())
//! ```

mod checksums;
mod duplication;
mod error;
mod evaluate;
mod findings;
mod ranges;
mod shield;
mod tallies;
mod target;
mod trials;
mod work;

pub use error::ProtectError;
pub use faultlens_analysis::protection::{
    ADVICE_FILE, ADVICE_VERSION, Advice, CHECKSUMS, Cost, DUPLICATION, Evaluated, FalseAlarms,
    Gain, Limit, Move, RANGES, Ranked, TargetAdvice, read,
};

use faultlens_analysis::format::counted;
use faultlens_analysis::protection::AdviceError;
use faultlens_campaign::replay::Rerun;
use faultlens_core::OutcomeKind;
use faultlens_record::store::replace;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tallies::TrialKind;
use trials::Trials;
use work::Work;

/// What is evaluated, and how; threads change no result.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// By name, the protections to evaluate, each around so many layers at most; all protections
    /// around any number of layers where this is empty.
    pub asked: BTreeMap<String, usize>,
    /// By how much ranges are widened on either side, as a share of their width.
    pub margin: f64,
    /// How many threads work, instead of one per core.
    pub threads: Option<usize>,
}

/// A way to keep faults from breaking answers.
trait Protection: Sync {
    /// Its name in options and results.
    fn name(&self) -> &'static str;

    /// What it does, in a sentence without a full stop.
    fn about(&self) -> &'static str;

    /// What is done, in words, around so many layers.
    fn label(&self, layers: usize) -> String;

    /// Whether it is put around some layers, which are chosen by what faults in them do.
    fn is_selective(&self) -> bool {
        true
    }

    /// Whether there is anything in the layer that it could be put around.
    fn fits(&self, work: &Work, layer: u32) -> bool;

    /// The layers of which any one suffices to stop a fault.
    fn reach<'k>(&self, kind: &'k TrialKind) -> &'k [u32];

    /// What becomes of a trial with the protection around these layers.
    fn after(&self, kind: &TrialKind, layers: &BTreeSet<u32>) -> OutcomeKind;

    /// What it costs around these layers, at every inference.
    fn cost(&self, work: &Work, layers: &BTreeSet<u32>) -> Cost;
}

/// Every protection, in the order of reports. Add yours here.
const PROTECTIONS: &[&dyn Protection] =
    &[&ranges::Ranges, &duplication::Duplication, &checksums::Checksums];

/// Every protection: its name, and what it does in a sentence without a full stop.
pub fn protections() -> impl Iterator<Item = (&'static str, &'static str)> {
    PROTECTIONS.iter().map(|protection| (protection.name(), protection.about()))
}

/// The outcome where a fault is given away as soon as it reaches one of the layers.
fn detected(reach: &[u32], before: OutcomeKind, layers: &BTreeSet<u32>) -> OutcomeKind {
    if reach.iter().any(|layer| layers.contains(layer)) { OutcomeKind::Detected } else { before }
}

fn layers(number: usize) -> String {
    counted(number as u64, "layer")
}

impl Options {
    /// Around how many layers at most a protection is evaluated; `None` where it is not.
    fn most(&self, name: &str) -> Option<usize> {
        if self.asked.is_empty() { Some(usize::MAX) } else { self.asked.get(name).copied() }
    }

    fn threads(&self) -> usize {
        self.threads
            .unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
            .max(1)
    }
}

/// Evaluates protections on the trials of a run, and writes the advice into its directory.
pub fn protect(dir: &Path, options: &Options) -> Result<Advice, ProtectError> {
    if let Some(unknown) = options
        .asked
        .keys()
        .find(|name| !PROTECTIONS.iter().any(|protection| protection.name() == *name))
    {
        return Err(ProtectError::Unknown(unknown.clone()));
    }
    let rerun = Rerun::open(dir)?;
    let advice = advise(&rerun, options)?;
    let path = dir.join(ADVICE_FILE);
    let failed =
        |error: serde_json::Error| AdviceError::Read { source: error.into(), path: path.clone() };
    let mut text = serde_json::to_string_pretty(&advice).map_err(failed)?;
    text.push('\n');
    replace(&path, text.as_bytes(), "write the advice")?;
    Ok(advice)
}

fn advise(rerun: &Rerun, options: &Options) -> Result<Advice, ProtectError> {
    let Rerun { open, store } = rerun;
    let trials = Trials::read(store, open)?;
    let mut targets = Vec::new();
    for number in 0..open.targets.len() {
        targets.extend(target::advise(open, &trials, number as u32, options)?);
    }
    let campaign = &open.campaign;
    Ok(Advice {
        version: ADVICE_VERSION,
        name: campaign.name.clone(),
        findings: findings::findings(&targets),
        confidence: campaign.intervals.level.confidence(),
        interval: campaign.intervals.to_string(),
        margin: options.margin,
        folds: trials.folds(),
        recorded: store.progress()?.recorded,
        trials: targets.iter().map(|target| target.broken.n).sum(),
        warnings: findings::warnings(&trials, campaign, store.progress()?.complete),
        left_out: trials.left_out,
        targets,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_constants() {
        let names: Vec<&str> = protections().map(|(name, _)| name).collect();
        assert_eq!(names, [RANGES, DUPLICATION, CHECKSUMS]);
    }
}
