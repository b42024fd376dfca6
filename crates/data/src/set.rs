//! A data set: classes, and cases that are decoded when they are asked for.

use crate::DataError;
use faultlens_core::Case;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// Where a set's cases come from: the one trait behind all formats, also for sets that a program
/// makes itself.
///
/// `case` is called from many threads and must answer the same whenever it is asked.
pub trait Source: Send + Sync {
    /// How many cases there are.
    fn len(&self) -> usize;

    /// Whether there is no case at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The class of a case, known without decoding its image. `index` is below `len`.
    fn label(&self, index: usize) -> Option<usize>;

    /// Whether somebody has labelled objects in any case, known without decoding images.
    fn has_objects(&self) -> bool {
        false
    }

    /// One case with its image. `index` is below `len`.
    fn case(&self, index: usize) -> Result<Case, DataError>;
}

/// Cases in memory, such as those that a program has drawn.
impl Source for Vec<Case> {
    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn label(&self, index: usize) -> Option<usize> {
        self[index].label
    }

    fn has_objects(&self) -> bool {
        self.iter().any(|case| !case.objects.is_empty())
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        Ok(self[index].clone())
    }
}

/// Cases of known classes. Cheap to clone: clones and subsets share what was read.
#[derive(Clone)]
pub struct DataSet {
    /// The classes' names; labels are positions in this list. Files without names have numbers
    /// here, which callers may replace.
    pub classes: Vec<String>,
    /// The classes' numbers in the file, where it has numbers.
    numbers: Option<Arc<[i64]>>,
    source: Arc<dyn Source>,
    members: Arc<[usize]>,
}

impl DataSet {
    /// A set from any source of cases.
    pub fn new(classes: Vec<String>, source: impl Source + 'static) -> Self {
        let members = (0..source.len()).collect();
        Self { classes, numbers: None, source: Arc::new(source), members }
    }

    /// The same set with the numbers that its file gives the classes, in their order.
    #[must_use]
    pub(crate) fn numbered(self, numbers: Vec<i64>) -> Self {
        Self { numbers: Some(numbers.into()), ..self }
    }

    /// The numbers that the set's file gives its classes, in their order; `None` for formats
    /// without.
    pub fn class_numbers(&self) -> Option<&[i64]> {
        self.numbers.as_deref()
    }

    /// How many cases there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no case at all.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// One case with its image, which is decoded now.
    pub fn case(&self, index: usize) -> Result<Case, DataError> {
        match self.members.get(index) {
            Some(&member) => self.source.case(member),
            None => Err(DataError::NoSuchCase { index, len: self.len() }),
        }
    }

    /// The class of a case, without decoding its image.
    pub fn label(&self, index: usize) -> Option<usize> {
        self.source.label(*self.members.get(index)?)
    }

    /// Whether somebody has labelled objects in any case of the source: then a case without objects
    /// shows none.
    pub fn has_objects(&self) -> bool {
        self.source.has_objects()
    }

    /// The cases at these indices, in their order; indices beyond the set are left out.
    pub fn subset(&self, indices: &[usize]) -> Self {
        let members = indices.iter().filter_map(|&index| self.members.get(index).copied());
        Self { members: members.collect(), ..self.clone() }
    }

    /// Tries every case: the set without those that cannot be read, and what is wrong with these,
    /// so that a caller can stop, or skip them and say so.
    pub fn readable(&self) -> (Self, Vec<(usize, DataError)>) {
        let broken: Vec<(usize, DataError)> = (0..self.len())
            .into_par_iter()
            .filter_map(|index| self.case(index).err().map(|error| (index, error)))
            .collect();
        let bad: BTreeSet<usize> = broken.iter().map(|(index, _)| *index).collect();
        let good: Vec<usize> = (0..self.len()).filter(|index| !bad.contains(index)).collect();
        (self.subset(&good), broken)
    }
}

impl fmt::Debug for DataSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataSet")
            .field("classes", &self.classes.len())
            .field("cases", &self.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Image;
    use std::path::Path;

    /// Five cases, the second and the fourth of which cannot be read.
    struct Holes;

    impl Source for Holes {
        fn len(&self) -> usize {
            5
        }

        fn label(&self, index: usize) -> Option<usize> {
            Some(index)
        }

        fn case(&self, index: usize) -> Result<Case, DataError> {
            if index % 2 == 1 {
                return Err(DataError::image("the file is empty", Path::new("hole.png")));
            }
            let image = Image::from_rgb(1, 1, vec![index as u8; 3]).unwrap();
            Ok(Case::new(index.to_string(), image))
        }
    }

    #[test]
    fn unreadable_cases_are_listed_and_left_out() {
        let (good, broken) = DataSet::new(vec![], Holes).readable();
        assert_eq!(broken.iter().map(|(index, _)| *index).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(broken[0].1.to_string(), "the file is empty: hole.png");
        let names: Vec<String> = (0..3).map(|index| good.case(index).unwrap().name).collect();
        assert_eq!(names, ["0", "2", "4"]);
        assert!(good.readable().1.is_empty());
    }

    #[test]
    fn subsets_of_subsets_keep_their_cases() {
        let set = DataSet::new(vec![], Holes).subset(&[4, 2, 9, 0]).subset(&[1, 0]);
        assert_eq!(
            (set.len(), set.label(0), set.label(1), set.label(2)),
            (2, Some(2), Some(4), None)
        );
        let error = set.case(2).unwrap_err().to_string();
        assert_eq!(error, "there is no case 2; the data set has 2");
    }

    #[test]
    fn a_set_can_be_sent_and_shared() {
        fn check<T: Send + Sync + Clone>(_: &T) {}
        check(&DataSet::new(vec![], Vec::new()));
    }
}
