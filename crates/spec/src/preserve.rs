//! Requirements on what people cope with: answers must stay as good, or the same, under changes
//! that people tolerate.

use faultlens_judge::tolerance::{Threshold, Tolerated};
use faultlens_judge::{Tolerance, ToleranceError};
use schemars::JsonSchema;
use serde::Deserialize;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// What must stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preserves {
    /// Answers are as good as on the originals.
    Correctness,
    /// Answers are those on the originals.
    Prediction,
}

impl Preserves {
    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Correctness => "correctness",
            Self::Prediction => "prediction",
        }
    }

    /// What people tolerate of a fault in this respect.
    pub fn of(self, threshold: &Threshold) -> Option<&Tolerated> {
        match self {
            Self::Correctness => threshold.correctness.as_ref(),
            Self::Prediction => threshold.prediction.as_ref(),
        }
    }
}

/// How answers are scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Of classes: whether the answer is right, or the one on the original.
    Accuracy,
    /// Of objects: average precision against the truth, or likeness of both sets of objects.
    Ap,
    /// Of areas: the mean intersection over union with the truth, or with the original's answer.
    Iou,
}

impl Metric {
    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Ap => "ap",
            Self::Iou => "iou",
        }
    }
}

/// Which rule decides whether a requirement is met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreserveRule {
    /// The mean difference by image against the margin: a statement about new images.
    Images,
    /// The batch rule of Hu et al. (2022): the distance against its deviation over batches.
    Batches,
}

impl PreserveRule {
    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Images => "images",
            Self::Batches => "batches",
        }
    }

    /// How often "met" may be wrong where a campaign does not say: one end of a 95% interval, or
    /// what the paper has.
    pub fn default_alpha(self) -> f64 {
        match self {
            Self::Images => 0.025,
            Self::Batches => 0.05,
        }
    }

    /// How far scores may stay behind where a campaign does not say. Nobody can show that a model
    /// loses nothing at all, so that a rule for new images needs a margin; the paper has none.
    pub fn default_margin(self) -> f64 {
        match self {
            Self::Images => 0.02,
            Self::Batches => 0.0,
        }
    }
}

/// A requirement on every fault that a tolerance speaks of.
#[derive(Debug, Clone, PartialEq)]
pub struct Preservation {
    /// What the user calls it.
    pub name: Option<String>,
    /// What must stay.
    pub what: Preserves,
    /// Whose tolerance: one that comes with Faultlens, or a file from the campaign's folder.
    pub tolerance: String,
    /// Only these faults; all that the tolerance speaks of where it is empty.
    pub faults: Vec<String>,
    /// Answers count as one of these classes, or as none; each for itself where it is empty.
    pub classes: Vec<String>,
    /// How answers are scored; by default as suits the target.
    pub metric: Option<Metric>,
    /// Which rule decides.
    pub rule: PreserveRule,
    /// How often the verdict may be "met" where the truth is not.
    pub alpha: f64,
    /// How far answers may stay behind.
    pub margin: f64,
    /// Whether the verdict must hold at both ends of the interval of what people tolerate.
    pub both_ends: bool,
    /// How many batches are drawn.
    pub batches: usize,
    /// How many images each has.
    pub batch_size: usize,
    /// The largest share of trials that may be missing before the verdict is inconclusive.
    pub max_skipped: f64,
}

/// Why a tolerance cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ToleranceFileError {
    /// The file cannot be read.
    #[error("cannot be read: {source}; name a file that faultlens tolerance --json wrote, or one of {}: {}", Tolerance::names().collect::<Vec<_>>().join(", "), path.display())]
    Read {
        /// What the system says.
        source: std::io::Error,
        /// The file.
        path: PathBuf,
    },
    /// The file is something else.
    #[error("{source}: {}", path.display())]
    Wrong {
        /// What is wrong.
        source: ToleranceError,
        /// The file.
        path: PathBuf,
    },
}

impl Preservation {
    /// Whether it speaks of a fault.
    pub fn concerns(&self, fault: &str) -> bool {
        self.faults.is_empty() || self.faults.iter().any(|own| own == fault)
    }

    /// The text of the file that the tolerance stands in; `None` for one that comes with
    /// Faultlens.
    pub fn written(&self, base: &Path) -> Result<Option<String>, ToleranceFileError> {
        if Tolerance::named(&self.tolerance).is_some() {
            return Ok(None);
        }
        let path = base.join(&self.tolerance);
        let read = |source| ToleranceFileError::Read { source, path: path.clone() };
        let mut text = String::new();
        // One byte more than is taken shows that there is more.
        let file = std::fs::File::open(&path).map_err(read)?;
        file.take(Tolerance::MAX_BYTES as u64 + 1).read_to_string(&mut text).map_err(read)?;
        Tolerance::from_json(&text).map_err(|source| ToleranceFileError::Wrong { source, path })?;
        Ok(Some(text))
    }
}

/// "correctness preserved as people do (imagenet-car)".
impl fmt::Display for Preservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        write!(f, "{} preserved where people do ({})", self.what.name(), self.tolerance)?;
        if !self.classes.is_empty() {
            write!(f, ", {} or not", self.classes.join(" or "))?;
        }
        if self.margin > 0.0 {
            write!(f, ", within {} points", (1000.0 * self.margin).round() / 10.0)?;
        }
        Ok(())
    }
}
