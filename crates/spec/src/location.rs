//! Where something stands in a file.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A place in a file, and how much of its line is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    /// The line, from 1; 0 where something comes from no file.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// How many characters are meant.
    pub width: usize,
}

impl Location {
    /// The place of what comes from no file.
    pub const UNKNOWN: Self = Self { line: 0, column: 0, width: 0 };
}

impl From<serde_saphyr::Location> for Location {
    fn from(at: serde_saphyr::Location) -> Self {
        let [line, column, width] = [at.line(), at.column(), at.span().len()]
            .map(|number| usize::try_from(number).unwrap_or(0));
        Self { line, column, width }
    }
}

/// The name of the tuple struct that [`At`] and a tree's nodes ask a deserialiser for. Serde has
/// no notion of places, so they travel as a first element before the value; only the deserialiser
/// of this crate answers.
pub(super) const LOCATED: &str = "$faultlens::Located";

/// A place as it travels: line, column, width, and the bytes of the file where it is written.
pub(super) type Place = [usize; 5];

/// A value of a section, and where it stands in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct At<T> {
    /// Where it stands.
    pub at: Location,
    /// What stands there.
    pub value: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (place, value) = located(deserializer)?;
        let [line, column, width, ..] = place;
        Ok(Self { at: Location { line, column, width }, value })
    }
}

/// A value with its place.
pub(super) fn located<'de, T, D>(deserializer: D) -> Result<(Place, T), D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    deserializer.deserialize_tuple_struct(LOCATED, 2, LocatedVisitor(PhantomData))
}

struct LocatedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for LocatedVisitor<T> {
    type Value = (Place, T);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value with its place")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let place = access.next_element()?;
        let value = access.next_element()?;
        place.zip(value).ok_or_else(|| A::Error::invalid_length(0, &self))
    }
}
