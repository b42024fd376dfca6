//! What models learn.

use serde::{Deserialize, Serialize};

/// What a model learns to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// The class of the image.
    Classify,
    /// The class of every pixel.
    Segment,
    /// Numbers, such as a steering angle.
    Regress,
    /// Objects and their boxes.
    Detect,
    /// The image itself.
    Reconstruct,
}

impl Task {
    /// Whether the data set must name classes.
    pub fn has_classes(self) -> bool {
        !matches!(self, Self::Regress | Self::Reconstruct)
    }

    /// Whether images may be augmented: for other tasks, boxes and areas would have to move along.
    pub(crate) fn is_augmented(self) -> bool {
        matches!(self, Self::Classify | Self::Reconstruct)
    }

    /// The name in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Classify => "classify",
            Self::Segment => "segment",
            Self::Regress => "regress",
            Self::Detect => "detect",
            Self::Reconstruct => "reconstruct",
        }
    }
}
