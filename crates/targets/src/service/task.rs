//! What a service can be asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a service can be asked for.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// What an image shows, as labels or tags: a ranking.
    Labels,
    /// Objects with boxes: detections.
    Objects,
    /// Optical character recognition: a text.
    Text,
    /// Faces with boxes: detections.
    Faces,
    /// Unsafe content: a ranking.
    Moderation,
    /// Known people: a ranking.
    Celebrities,
    /// The raw tensors of a model, interpreted as the spec describes them.
    Tensors,
}

impl Task {
    /// Its name in campaign files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Objects => "objects",
            Self::Text => "text",
            Self::Faces => "faces",
            Self::Moderation => "moderation",
            Self::Celebrities => "celebrities",
            Self::Tensors => "tensors",
        }
    }
}
