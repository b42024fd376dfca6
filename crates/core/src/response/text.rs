//! What a target reads.

use super::Names;

/// Classes in the order in which a target reads them: letters, or whole words.
#[derive(Debug, Clone)]
pub struct Text {
    /// The classes.
    pub classes: Vec<usize>,
    /// The classes' names.
    pub names: Names,
    /// Whether every score that the classes were read from is a number.
    pub finite: bool,
}

/// Names are the target's, not the answer's.
impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        (&self.classes, self.finite) == (&other.classes, other.finite)
    }
}

impl Text {
    /// The text: letters without a gap; words, and classes without a name, with one.
    pub fn text(&self) -> String {
        let names: Vec<String> = self.classes.iter().map(|&class| self.names.name(class)).collect();
        let all_letters = self
            .classes
            .iter()
            .all(|&class| self.names.known(class).is_some_and(|name| name.chars().count() < 2));
        names.join(if all_letters { "" } else { " " })
    }
}
