//! What keys take, each as a type that checks, says in errors what it wants, and has a schema.

use super::location::At;
use super::tree::Node;
use super::words::{either, known, parameter_words};
use faultlens_core::ParameterKind;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde_json::json;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

/// A value that is not what its type takes: `wanted` is what errors say behind "takes".
fn refused<E: Error>(wanted: &str) -> E {
    E::invalid_value(Unexpected::Other("another value"), &wanted)
}

/// Text that is not empty. A number is not text: it would lose its leading zeros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text(pub String);

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let text = node.text().filter(|text| !text.trim().is_empty());
        text.map(|text| Self(text.to_owned())).ok_or_else(|| refused("text"))
    }
}

/// One text or a list of them, which is not empty; none where the key is absent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Texts(pub Vec<At<String>>);

impl Texts {
    /// The texts without their places.
    pub fn into_strings(self) -> Vec<String> {
        self.0.into_iter().map(|text| text.value).collect()
    }
}

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let At { at, value } = At::<OneOrMore>::deserialize(deserializer)?;
        Ok(Self(match value {
            OneOrMore::One(text) => vec![At { at, value: text }],
            OneOrMore::More(texts) => texts,
        }))
    }
}

/// What [`Texts`] stand as in a file.
enum OneOrMore {
    One(String),
    More(Vec<At<String>>),
}

impl<'de> Deserialize<'de> for OneOrMore {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrMoreVisitor)
    }
}

struct OneOrMoreVisitor;

impl<'de> Visitor<'de> for OneOrMoreVisitor {
    type Value = OneOrMore;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("text or a list of texts")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMore, E> {
        if text.trim().is_empty() {
            return Err(refused("text"));
        }
        Ok(OneOrMore::One(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMore, A::Error> {
        let mut texts = Vec::new();
        while let Some(At { at, value: Text(value) }) = list.next_element()? {
            texts.push(At { at, value });
        }
        if texts.is_empty() {
            return Err(A::Error::invalid_length(0, &self));
        }
        Ok(OneOrMore::More(texts))
    }
}

/// A whole number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole<const MIN: i64, const MAX: i64>(i64);

impl<const MIN: i64, const MAX: i64> Whole<MIN, MAX> {
    /// The number, where the type can hold it.
    pub fn get<T: TryFrom<i64>>(self) -> Option<T> {
        T::try_from(self.0).ok()
    }
}

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Whole<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let whole = Node::deserialize(deserializer)?.whole();
        let whole = whole.filter(|whole| (MIN..=MAX).contains(whole));
        let words = || parameter_words(&ParameterKind::Whole { min: MIN, max: MAX });
        whole.map(Self).ok_or_else(|| refused(&words()))
    }
}

/// A number from `MIN` to `MAX`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Between<const MIN: i64, const MAX: i64>(pub(super) f64);

impl<'de, const MIN: i64, const MAX: i64> Deserialize<'de> for Between<MIN, MAX> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Node::deserialize(deserializer)?.number();
        let min = MIN as f64;
        let max = MAX as f64;
        let number = number.filter(|number| (min..=max).contains(number));
        let words = || parameter_words(&ParameterKind::Number { min, max });
        number.map(Self).ok_or_else(|| refused(&words()))
    }
}

/// A number above 0 and below so many percent, or up to them where they may be `REACHED`.
/// Numbers that are no integers cannot be parameters of types, hence percent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Share<const PERCENT: u64, const REACHED: bool>(pub(super) f64);

impl<const PERCENT: u64, const REACHED: bool> Share<PERCENT, REACHED> {
    const MAX: f64 = PERCENT as f64 / 100.0;

    /// The share, where the number is one.
    pub(super) fn new(number: f64) -> Option<Self> {
        let fits = number > 0.0 && (number < Self::MAX || REACHED && number == Self::MAX);
        fits.then_some(Self(number))
    }

    /// What it is, in words.
    pub(super) fn words() -> String {
        let max = Self::MAX;
        if REACHED {
            format!("a number above 0 and up to {max}")
        } else {
            format!("a number between 0 and {max}")
        }
    }
}

impl<'de, const PERCENT: u64, const REACHED: bool> Deserialize<'de> for Share<PERCENT, REACHED> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = Node::deserialize(deserializer)?.number();
        number.and_then(Self::new).ok_or_else(|| refused(&Self::words()))
    }
}

/// Names that a registry knows.
pub trait Names {
    /// What they are names of, in errors.
    const WHAT: &'static str;

    /// All of them, each with what it stands for, or with nothing.
    fn all() -> Vec<(&'static str, &'static str)>;
}

/// One of the names of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NameOf<N> {
    /// The name.
    pub name: String,
    registry: PhantomData<N>,
}

impl<'de, N: Names> Deserialize<'de> for NameOf<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        let names: Vec<&str> = N::all().into_iter().map(|(name, _)| name).collect();
        let Some(text) = node.text() else {
            return Err(refused(&format!("a {}: {}", N::WHAT, either(&names))));
        };
        known(N::WHAT, text, names).map_err(D::Error::custom)?;
        Ok(Self { name: text.to_owned(), registry: PhantomData })
    }
}

/// A list with at least one entry.
#[derive(Debug, Clone, PartialEq)]
pub struct NonEmpty<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NonEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor =
            ListVisitor { wanted: "a list that has at least one entry", item: PhantomData };
        deserializer.deserialize_any(visitor).map(Self)
    }
}

/// Reads a list that is not empty.
pub(super) struct ListVisitor<T> {
    pub(super) wanted: &'static str,
    pub(super) item: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ListVisitor<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.wanted)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = access.next_element()? {
            list.push(item);
        }
        if list.is_empty() { Err(refused(self.wanted)) } else { Ok(list) }
    }
}

/// Any keys with one value each, as the file has it: the class `007` does not become 7.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Scalars(pub(super) BTreeMap<String, At<String>>);

impl Scalars {
    /// The values without their places.
    pub(super) fn into_strings(self) -> BTreeMap<String, String> {
        self.0.into_iter().map(|(key, value)| (key, value.value)).collect()
    }
}

impl<'de> Deserialize<'de> for Scalars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarsVisitor)
    }
}

struct ScalarsVisitor;

impl<'de> Visitor<'de> for ScalarsVisitor {
    type Value = Scalars;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys with one value each")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Scalars, A::Error> {
        let mut scalars = BTreeMap::new();
        while let Some((key, value)) = access.next_entry()? {
            scalars.insert(key, value);
        }
        Ok(Scalars(scalars))
    }
}

/// Schemas stand where they are used: none of these types is worth a name of its own there.
macro_rules! schemas {
    ($([$($generics:tt)*] $type:ty, $name:literal: $schema:expr;)*) => {$(
        impl<$($generics)*> JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $name.into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let schema: fn(&mut SchemaGenerator) -> Schema = $schema;
                schema(generator)
            }
        }
    )*};
}

schemas! {
    [T: JsonSchema] At<T>, "At": |generator| generator.subschema_for::<T>();
    [] Node, "Node": |_| json_schema!(true);
    [] Text, "Text": |_| json_schema!({"type": "string", "minLength": 1});
    [] Texts, "Texts": |generator| {
        let text = generator.subschema_for::<Text>();
        json_schema!({"anyOf": [text, {"type": "array", "items": text, "minItems": 1}]})
    };
    [const MIN: i64, const MAX: i64] Whole<MIN, MAX>, "Whole": |_| {
        json_schema!({"type": "integer", "minimum": MIN, "maximum": MAX})
    };
    [const MIN: i64, const MAX: i64] Between<MIN, MAX>, "Between": |_| {
        json_schema!({"type": "number", "minimum": MIN, "maximum": MAX})
    };
    [const PERCENT: u64, const REACHED: bool] Share<PERCENT, REACHED>, "Share": |_| {
        let end = if REACHED { "maximum" } else { "exclusiveMaximum" };
        json_schema!({"type": "number", "exclusiveMinimum": 0, end: Self::MAX})
    };
    [N: Names] NameOf<N>, "NameOf": |_| {
        let names: Vec<_> = N::all().into_iter().map(|(name, about)| match about {
            "" => json!({"const": name}),
            about => json!({"const": name, "description": about}),
        }).collect();
        json_schema!({"oneOf": names})
    };
    [T: JsonSchema] NonEmpty<T>, "NonEmpty": |generator| {
        json_schema!({"type": "array", "items": generator.subschema_for::<T>(), "minItems": 1})
    };
    [] Scalars, "Scalars": |_| {
        let scalar = json!({"type": ["string", "number", "boolean"]});
        json_schema!({"type": "object", "additionalProperties": scalar})
    };
}

#[cfg(test)]
mod tests {
    use super::super::section::read;
    use super::super::tree::parse;
    use super::*;
    use serde::de::DeserializeOwned;

    /// The place and the words of an error.
    fn wrong<T: DeserializeOwned + JsonSchema>(text: &str) -> String {
        match read::<T>("it", &parse(text).unwrap(), text) {
            Ok(_) => panic!("{text}"),
            Err(error) => format!("{}:{} {}", error.at.line, error.at.column, error.message),
        }
    }

    fn fits<T: DeserializeOwned + JsonSchema>(text: &str) -> T {
        read("it", &parse(text).unwrap(), text).unwrap()
    }

    #[derive(Debug, PartialEq, Eq)]
    struct Colours;

    impl Names for Colours {
        const WHAT: &'static str = "colour";

        fn all() -> Vec<(&'static str, &'static str)> {
            vec![("red", "of blood"), ("green", "")]
        }
    }

    type Digit = Whole<1, 9>;

    #[test]
    fn what_does_not_fit_is_reported_with_what_would() {
        assert_eq!(wrong::<Digit>("12"), "1:1 it takes a whole number from 1 to 9, not 12");
        assert_eq!(wrong::<Digit>("2.5"), "1:1 it takes a whole number from 1 to 9, not 2.5");
        let wanted = "1:1 it takes a whole number from 1 to 9, not \"high\"";
        assert_eq!(wrong::<Digit>("high"), wanted);
        let wanted = "1:1 it takes a number from -1.0 to 7.0, not 1e31";
        assert_eq!(wrong::<Between<-1, 7>>("1e31"), wanted);
        let wanted = "1:1 it takes a number between 0 and 0.5, not 0.5";
        assert_eq!(wrong::<Share<50, false>>("0.5"), wanted);
        let wanted = "1:1 it takes a number above 0 and up to 1, not 1.1";
        assert_eq!(wrong::<Share<100, true>>("1.1"), wanted);
        assert_eq!(wrong::<Texts>("[a, 7]"), "1:5 it takes text, not 7; put it in quotes");
        assert_eq!(wrong::<Texts>("[]"), "1:1 it takes text or a list of texts; this is empty");
        assert_eq!(wrong::<Text>("' '"), "1:1 it takes text; this is empty");
        let wanted = "1:1 it takes a list that has at least one entry; this is empty";
        assert_eq!(wrong::<NonEmpty<Digit>>("[]"), wanted);
        let wanted = "1:1 no colour is called \"gren\"; did you mean \"green\"?";
        assert_eq!(wrong::<NameOf<Colours>>("gren"), wanted);
        let wanted = "1:1 no colour is called \"blue\"; known: red, green";
        assert_eq!(wrong::<NameOf<Colours>>("blue"), wanted);
        assert_eq!(wrong::<NameOf<Colours>>("7"), "1:1 it takes a colour: red or green, not 7");
        assert_eq!(wrong::<Scalars>("7"), "1:1 it takes keys with one value each, not 7");
        assert_eq!(wrong::<Scalars>("{a: [1]}"), "1:5 a takes text, not a list");
    }

    #[test]
    fn what_fits_passes() {
        assert_eq!(fits::<Digit>("9").get::<u32>(), Some(9));
        assert_eq!(fits::<Digit>("3.0").get::<usize>(), Some(3));
        assert_eq!(fits::<Share<100, true>>("1"), Share(1.0));
        assert_eq!(fits::<Texts>("[a, '7']").into_strings(), ["a", "7"]);
        assert_eq!(fits::<Texts>("a").into_strings(), ["a"]);
        assert_eq!(fits::<NonEmpty<Digit>>("[1]").0.len(), 1);
        let scalars = fits::<Scalars>("{a: 007, b: x, c: true}").into_strings();
        assert_eq!(scalars.into_values().collect::<Vec<_>>(), ["007", "x", "true"]);
    }
}
