//! What the classes of an answer are called.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What the classes of an answer are called.
#[derive(Debug, Clone)]
pub enum Names {
    /// The target's own list: a class is a place in it, and one beyond it has its number for a
    /// name.
    Listed(Arc<[String]>),
    /// The names in the answer of a target without a list: a class is the number of its name, see
    /// [`class_called`].
    Reported(Arc<BTreeMap<usize, String>>),
    /// A class is the code point of a character.
    Letters,
}

impl Names {
    /// The names that an answer reports, by class.
    pub fn reported<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self::Reported(Arc::new(
            names.into_iter().map(|name| (class_called(name), name.to_owned())).collect(),
        ))
    }

    /// The class's name, or its number where it has none.
    pub fn name(&self, class: usize) -> String {
        self.known(class).unwrap_or_else(|| class.to_string())
    }

    /// The class's name, where it has one.
    pub fn known(&self, class: usize) -> Option<String> {
        match self {
            Self::Listed(names) => names.get(class).cloned(),
            Self::Reported(names) => names.get(&class).cloned(),
            Self::Letters => {
                let letter = u32::try_from(class).ok().and_then(char::from_u32);
                letter.map(|letter| letter.to_string())
            }
        }
    }
}

impl From<Arc<[String]>> for Names {
    fn from(names: Arc<[String]>) -> Self {
        Self::Listed(names)
    }
}

/// The class of a name that is in no list of classes: a hash of its lower-case letters, so that all
/// services agree on it. The highest bit keeps it apart from positions in lists.
pub fn class_called(name: &str) -> usize {
    let letters = name.trim().chars().flat_map(char::to_lowercase);
    super::hash(letters.map(u64::from)) as usize | 1 << (usize::BITS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_same_class_whoever_says_it() {
        assert_eq!(class_called("Stop sign"), class_called(" stop SIGN"));
        assert_ne!(class_called("stop"), class_called("sign"));
        let names = Names::reported(["Stop sign", "Car"]);
        assert_eq!(names.name(class_called("car")), "Car");
        assert_eq!(names.known(class_called("bus")), None);
    }

    #[test]
    fn letters_are_their_own_names() {
        assert_eq!(Names::Letters.name('ß' as usize), "ß");
        assert_eq!(Names::Letters.name(0xd800), "55296");
        let listed = Names::from(Arc::from(["a".to_owned()]));
        assert_eq!((listed.name(0), listed.name(7)), ("a".to_owned(), "7".to_owned()));
    }
}
