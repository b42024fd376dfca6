//! Objects that a target found.

use super::Names;
use crate::Bounds;

/// Names that a headline has room for.
const MAX_NAMES: usize = 8;

/// One object that a target found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Detection {
    /// The class, by its position in the target's output.
    pub class: usize,
    /// How sure the target is.
    pub score: f32,
    /// Where it is.
    pub bounds: Bounds,
}

/// Every object that a target found in an image, each once.
#[derive(Debug, Clone)]
pub struct Detections {
    /// The objects, highest score first, in pixels of the image.
    pub found: Vec<Detection>,
    /// The classes' names.
    pub names: Names,
    /// Whether every number that they were decoded from is finite. NaN scores find nothing, and the
    /// answer would pass for an image without objects.
    pub finite: bool,
    /// The lowest score that the target reports, where it is known: an object just above it may
    /// come and go with the smallest change.
    pub min_score: Option<f32>,
}

/// Names and the lowest score are the target's, not the answer's.
impl PartialEq for Detections {
    fn eq(&self, other: &Self) -> bool {
        (&self.found, self.finite) == (&other.found, other.finite)
    }
}

impl Detections {
    /// The class's name.
    pub fn name(&self, class: usize) -> String {
        self.names.name(class)
    }

    /// How many objects of which classes, in the order of classes so that scores do not change
    /// it, and the highest score.
    pub(super) fn headline(&self) -> (String, Option<f32>) {
        let mut classes: Vec<usize> = self.found.iter().map(|found| found.class).collect();
        classes.sort_unstable();
        let mut names: Vec<String> =
            classes.iter().take(MAX_NAMES).map(|&class| self.name(class)).collect();
        if classes.len() > MAX_NAMES {
            names.push("…".to_owned());
        }
        let text = match classes.len() {
            0 => "no object".to_owned(),
            1 => format!("1 object: {}", names.concat()),
            count => format!("{count} objects: {}", names.join(", ")),
        };
        (text, self.found.iter().map(|found| found.score).reduce(f32::max))
    }
}
