//! What protections of models are worth: the object that `faultlens protect` writes and `--json`
//! prints, and that reports read from the run directory.

use crate::Rate;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The file of a run directory that holds the advice.
pub const ADVICE_FILE: &str = "protection.json";

/// The name of range restriction.
pub const RANGES: &str = "ranges";
/// The name of selective duplication.
pub const DUPLICATION: &str = "duplication";
/// The name of checksums on weights.
pub const CHECKSUMS: &str = "checksums";

/// The version of this object; raised when a reader of an older one would go wrong.
pub const ADVICE_VERSION: u32 = 1;

/// What protections would have done to the trials of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// See [`ADVICE_VERSION`].
    pub version: u32,
    /// The campaign's name.
    pub name: String,
    /// The advice in sentences, the most important first. Has names from models; escape it.
    pub findings: Vec<String>,
    /// How often the intervals cover the truth, such as 0.95.
    pub confidence: f64,
    /// What the intervals are, in words.
    pub interval: String,
    /// By how much ranges were widened on either side, as a share of their width.
    pub margin: f64,
    /// In how many parts the cases were cut: what is evaluated on one part was made from the
    /// others. 1 where there is only one case, so that nothing is kept apart.
    pub folds: u32,
    /// Trials that were on record then; where there are others now, this advice is out of date.
    #[serde(default)]
    pub recorded: u64,
    /// Judged trials that were run again, of all targets.
    pub trials: u64,
    /// By target.
    pub targets: Vec<TargetAdvice>,
    /// Trials on record that protections were not evaluated on, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// What the reader should know before trusting the numbers.
    pub warnings: Vec<String>,
}

/// What protections are worth for one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetAdvice {
    /// Its name in the campaign. From outside; escape it.
    pub name: String,
    /// Multiply-accumulates of one inference: what costs are shares of.
    pub macs: u64,
    /// Bytes of all weights.
    pub weight_bytes: u64,
    /// How often the answer changed without protection.
    pub broken: Rate,
    /// Every protection in every extent, in the order of the registry and by rising extent.
    pub protections: Vec<Evaluated>,
    /// The layers, by falling share of the broken answers.
    pub ranking: Vec<Ranked>,
    /// Between which limits values are clipped, profiled on all cases, in order of execution.
    pub limits: Vec<Limit>,
}

/// A protection in one extent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluated {
    /// The protection's name in the registry.
    pub protection: String,
    /// What was done, in words.
    pub label: String,
    /// The layers that it is put around, first the one that was ranked first; empty where it
    /// concerns the whole model. From outside; escape it.
    pub layers: Vec<String>,
    /// How often the answer deviates with it; without it, see [`TargetAdvice::broken`].
    pub after: Rate,
    /// By how much the rate falls, over the same trials.
    pub gain: Gain,
    /// The share of the broken answers that are repaired or caught.
    pub stopped: Rate,
    /// Answers that were broken and are as good as golden now.
    pub repaired: u64,
    /// Answers that were broken and are given away now.
    pub caught: u64,
    /// Answers that were not broken and are now.
    pub worse: u64,
    /// Those of them that gave the fault away before, such as by an infinity that is clipped now.
    pub hidden: u64,
    /// Answers that were as good as golden and are refused now: the fault did no harm.
    pub needless: u64,
    /// What it costs at every inference.
    pub cost: Cost,
    /// What it does where nothing is wrong; `None` where it cannot do anything then.
    pub false_alarms: Option<FalseAlarms>,
    /// How many trials went from which outcome to which.
    pub moves: Vec<Move>,
}

/// A difference of two rates over the same trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Gain {
    /// The rate before less the rate after; `None` without trials.
    pub value: Option<f64>,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
    /// A sign-flip test over images, by Holm's correction over all protections and extents of the
    /// target; `None` where a stop rule decided the number of trials, or faults are permanent.
    pub p_value: Option<f64>,
}

/// What a protection costs at every inference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Operations that it adds. A multiply-accumulate counts as one; so does clipping, comparing
    /// or summing one element.
    pub operations: f64,
    /// The same as a share of the model's multiply-accumulates; the model's other work counts
    /// nothing, so that this is rather too high than too low.
    pub share: f64,
    /// Bytes of weights that it reads once more.
    pub bytes: f64,
}

/// What a protection does to undisturbed cases that it was not made from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FalseAlarms {
    /// Cases in which it changed any value.
    pub touched: Rate,
    /// Cases whose answer is another one then, by the campaign's oracle; cases that a guard bars
    /// do not count.
    pub changed: Rate,
}

/// Trials with the same outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// The outcome's name without protection.
    pub before: String,
    /// The outcome's name with it.
    pub after: String,
    /// How many trials.
    pub trials: u64,
}

/// A layer, by what faults in it do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ranked {
    /// Its number, from 1; 0 is what comes before the first one.
    pub layer: u32,
    /// The operator that starts it. From outside; escape it.
    pub name: String,
    /// How often the answer changed where a fault changed something in this layer.
    pub rate: Rate,
    /// The share of all broken answers; a fault in several layers counts for each.
    pub share: Rate,
    /// Broken answers from what the layer computes, in one inference only.
    pub computed: u64,
    /// Broken answers from its weights.
    pub stored: u64,
    /// Multiply-accumulates of one inference.
    pub macs: u64,
    /// Bytes of its weights.
    pub weight_bytes: u64,
}

/// Between which numbers a value is clipped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The value's name in the model. From outside; escape it.
    pub value: String,
    /// The least that passes.
    pub low: f64,
    /// The greatest that passes.
    pub high: f64,
}

/// Why advice cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum AdviceError {
    /// The advice cannot be read.
    #[error("cannot read the advice: {source}: {}", path.display())]
    Read {
        /// The error of the system.
        source: io::Error,
        /// The file.
        path: PathBuf,
    },
    /// A newer version has written it.
    #[error("the advice has version {found}, this program knows up to {known}: {}", path.display())]
    Newer {
        /// The version of the file.
        found: u32,
        /// The newest version that is known.
        known: u32,
        /// The file.
        path: PathBuf,
    },
}

/// The version alone, to distinguish newer advice from a damaged file.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The advice that lies in a run directory, if there is any.
pub fn read(dir: &Path) -> Result<Option<Advice>, AdviceError> {
    let path = dir.join(ADVICE_FILE);
    let failed = |source| AdviceError::Read { source, path: path.clone() };
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let damaged = |error: serde_json::Error| failed(error.into());
    let Version { version } = serde_json::from_str(&text).map_err(damaged)?;
    if version > ADVICE_VERSION {
        return Err(AdviceError::Newer { found: version, known: ADVICE_VERSION, path });
    }
    serde_json::from_str(&text).map(Some).map_err(damaged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_found_or_not_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).unwrap().is_none());
        fs::write(dir.path().join(ADVICE_FILE), r#"{"version": 99}"#).unwrap();
        assert!(matches!(read(dir.path()), Err(AdviceError::Newer { found: 99, .. })));
        fs::write(dir.path().join(ADVICE_FILE), r#"{"version": 1}"#).unwrap();
        assert!(matches!(read(dir.path()), Err(AdviceError::Read { .. })));
    }
}
