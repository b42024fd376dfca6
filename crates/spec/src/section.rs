//! From a node of a tree to a serde type: a deserialiser whose errors have a place.
//!
//! The types name their keys and what they take; this module adds where a mistake stands, which
//! key is likely meant, and, for a key that is missing, its description from the type's schema.

use super::error::Diagnostic;
use super::location::{LOCATED, Location, Place};
use super::tree::{Entry, Node, Value};
use super::words::{either, parameter_words, unfit, unfit_word, unknown_key};
use faultlens_core::ParameterKind;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::value::SeqDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, EnumAccess, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde_json::Value as Json;
use std::fmt;

/// Reads a section that is called `name` in errors; `source` is the text of the whole file, for
/// scalars that mean what is written, such as the class `007`.
pub fn read<T>(name: &str, node: &Node, source: &str) -> Result<T, Diagnostic>
where
    T: DeserializeOwned + JsonSchema,
{
    let file = File { source, schema: schema_with_definitions::<T> };
    let cursor = Cursor { name, node, file: &file };
    T::deserialize(cursor).map_err(|error| cursor.diagnostic(error))
}

/// The keys of a section, in alphabetical order.
pub(super) fn keys_of<T: JsonSchema>() -> Vec<String> {
    let schema = schema_with_definitions::<T>();
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties.map(|(key, _)| key.clone()).collect()
}

/// The schema of a type, in which every type inside it stands in `$defs` under its own name.
fn schema_with_definitions<T: JsonSchema>() -> Json {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

/// What is the same for all nodes of a file.
struct File<'a> {
    source: &'a str,
    schema: fn() -> Json,
}

impl File<'_> {
    /// The keys of a section, by the name of its type, with their schemas. It is made on the way
    /// to an error alone, so that files without mistakes do not pay for it.
    fn properties(&self, section: &str) -> Json {
        let mut schema = (self.schema)();
        if schema["title"] == section {
            return schema["properties"].take();
        }
        schema["$defs"][section]["properties"].take()
    }
}

/// A node that is being read.
#[derive(Clone, Copy)]
struct Cursor<'a> {
    /// What errors call it: the key that it belongs to.
    name: &'a str,
    node: &'a Node,
    file: &'a File<'a>,
}

/// A mistake, first without a place, as serde's types report it; the innermost node that it passes
/// on its way out adds the place.
#[derive(Debug)]
enum SectionError {
    Message(String),
    /// A value that is not what its type takes.
    Takes(String),
    /// A word that is none of those.
    Variant(String, &'static [&'static str]),
    Missing(&'static str),
    UnknownKey(String, &'static [&'static str]),
    Located(Diagnostic),
}

impl std::error::Error for SectionError {}

impl fmt::Display for SectionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(message) => f.write_str(message),
            Self::Takes(wanted) => write!(f, "this takes {wanted}"),
            Self::Variant(word, words) => write!(f, "this takes {}, not {word:?}", either(words)),
            Self::Missing(key) => write!(f, "{key} is missing"),
            Self::UnknownKey(key, _) => write!(f, "there is no key {key:?}"),
            Self::Located(diagnostic) => f.write_str(&diagnostic.message),
        }
    }
}

impl de::Error for SectionError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::Message(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Takes(expected.to_string())
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Takes(expected.to_string())
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Self::Takes(expected.to_string())
    }

    fn unknown_variant(word: &str, expected: &'static [&'static str]) -> Self {
        Self::Variant(word.to_owned(), expected)
    }

    fn unknown_field(key: &str, expected: &'static [&'static str]) -> Self {
        Self::UnknownKey(key.to_owned(), expected)
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Missing(key)
    }
}

impl<'a> Cursor<'a> {
    /// An error with this node's place and name, where it has none yet.
    fn diagnostic(&self, error: SectionError) -> Diagnostic {
        let name = self.name;
        match error {
            SectionError::Located(diagnostic) => diagnostic,
            SectionError::Takes(wanted) => unfit(name, self.node, &wanted),
            SectionError::Variant(word, words) => {
                unfit_word(name, &self.node.with(Value::Text(word)), words)
            }
            SectionError::UnknownKey(key, known) => {
                let entries = self.node.entries();
                let at = entries.iter().find(|entry| entry.key == key);
                let at = at.map_or(self.node.at, |entry| entry.key_at);
                unknown_key(at, &format!("{name} has no key"), &key, known.to_vec())
            }
            SectionError::Missing(key) => {
                Diagnostic::new(self.node.at, format!("{name} needs {key}"))
            }
            SectionError::Message(message) => Diagnostic::new(self.node.at, message),
        }
    }

    fn locate(&self, error: SectionError) -> SectionError {
        SectionError::Located(self.diagnostic(error))
    }

    fn located<T>(&self, result: Result<T, SectionError>) -> Result<T, SectionError> {
        result.map_err(|error| self.locate(error))
    }

    /// This node is not what its type takes.
    fn takes<T>(&self, wanted: impl Into<String>) -> Result<T, SectionError> {
        Err(self.locate(SectionError::Takes(wanted.into())))
    }

    /// A whole number within the limits of an integer type.
    fn whole(&self, min: i64, max: i64) -> Result<i64, SectionError> {
        match self.node.whole() {
            Some(whole) if (min..=max).contains(&whole) => Ok(whole),
            _ => self.takes(parameter_words(&ParameterKind::Whole { min, max })),
        }
    }

    fn place(&self) -> Place {
        let Location { line, column, width } = self.node.at;
        [line, column, width, self.node.written.start, self.node.written.end]
    }

    /// "a campaign needs cases: the images that are shown".
    fn missing(&self, section: &str, key: &str) -> Diagnostic {
        let properties = self.file.properties(section);
        let about = properties[key]["description"].as_str().unwrap_or_default();
        let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut letters = about.trim_end_matches('.').chars();
        let message = match letters.next() {
            Some(first) => {
                let about = first.to_lowercase().chain(letters).collect::<String>();
                format!("{} needs {key}: {about}", self.name)
            }
            None => format!("{} needs {key}", self.name),
        };
        Diagnostic::new(self.node.at, message)
    }
}

/// Methods for integer types: numbers outside of the type's limits are refused in words.
macro_rules! integers {
    ($($method:ident $visit:ident $type:ty: $min:expr, $max:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
            let whole = self.whole($min, $max)?;
            self.located(visitor.$visit(whole as $type))
        }
    )*};
}

/// Methods that treat a value as another method does.
macro_rules! same_as {
    ($($method:ident: $other:ident;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
            self.$other(visitor)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Cursor<'_> {
    type Error = SectionError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        self.located(match &self.node.value {
            Value::Nothing => visitor.visit_unit(),
            Value::Bool(bool) => visitor.visit_bool(*bool),
            Value::Whole(whole) => visitor.visit_i64(*whole),
            Value::Number(number) => visitor.visit_f64(*number),
            Value::Text(text) => visitor.visit_str(text),
            Value::List(list) => visitor.visit_seq(Elements { cursor: self, rest: list.iter() }),
            Value::Map(entries) => visitor.visit_map(Entries::new(self, entries, None)),
        })
    }

    integers! {
        deserialize_i8 visit_i8 i8: i8::MIN.into(), i8::MAX.into();
        deserialize_i16 visit_i16 i16: i16::MIN.into(), i16::MAX.into();
        deserialize_i32 visit_i32 i32: i32::MIN.into(), i32::MAX.into();
        deserialize_i64 visit_i64 i64: i64::MIN, i64::MAX;
        deserialize_u8 visit_u8 u8: 0, u8::MAX.into();
        deserialize_u16 visit_u16 u16: 0, u16::MAX.into();
        deserialize_u32 visit_u32 u32: 0, u32::MAX.into();
        deserialize_u64 visit_u64 u64: 0, i64::MAX;
    }

    same_as! {
        deserialize_char: deserialize_string;
        deserialize_str: deserialize_string;
        deserialize_identifier: deserialize_string;
        deserialize_bytes: deserialize_any;
        deserialize_byte_buf: deserialize_any;
        deserialize_unit: deserialize_any;
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        match self.node.value {
            Value::Bool(bool) => self.located(visitor.visit_bool(bool)),
            _ => self.takes("true or false"),
        }
    }

    /// The number nearest to what is written: a detour over 64 bits could round twice.
    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        let written = self.node.scalar_text(self.file.source);
        let nearest = written.and_then(|text| text.parse::<f32>().ok());
        match nearest.filter(|_| self.node.number().is_some()) {
            Some(number) => self.located(visitor.visit_f32(number)),
            None => self.deserialize_f64(visitor),
        }
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        match self.node.number() {
            Some(number) => self.located(visitor.visit_f64(number)),
            None => self.takes("a number"),
        }
    }

    /// A number is text as it is written: a tensor may be called 495, and a version 4.0. Types
    /// that mean text alone look at any value and take text only.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        match self.node.scalar_text(self.file.source) {
            Some(text) => self.located(visitor.visit_string(text)),
            None => self.takes("text"),
        }
    }

    /// A key without a value is a mistake, not an absent key, so that there is always something.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        visitor.visit_some(self)
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        self.located(visitor.visit_newtype_struct(self))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        match &self.node.value {
            Value::List(_) => self.deserialize_any(visitor),
            _ => self.takes("a list"),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        match &self.node.value {
            Value::List(list) if list.len() == length => self.deserialize_any(visitor),
            Value::List(list) => {
                let given = list.len();
                let what = format!("{} takes a list of {length} values, not of {given}", self.name);
                Err(self.locate(SectionError::Message(what)))
            }
            _ => self.takes(format!("a list of {length} values")),
        }
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        if name != LOCATED {
            return self.deserialize_tuple(length, visitor);
        }
        let pair = Located { place: Some(self.place()), value: Some(self) };
        self.located(visitor.visit_seq(pair))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        match &self.node.value {
            Value::Map(_) => self.deserialize_any(visitor),
            _ => self.takes("keys with values"),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        section: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        let Value::Map(entries) = &self.node.value else {
            return self.takes(format!("keys such as {}", keys.first().unwrap_or(&"")));
        };
        let entries = Entries::new(self, entries, Some((section, keys)));
        visitor.visit_map(entries).map_err(|error| match error {
            SectionError::Missing(key) => SectionError::Located(self.missing(section, key)),
            other => self.locate(other),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        self.located(match &self.node.value {
            Value::Text(word) => visitor.visit_enum(Variant { word, content: None }),
            Value::Map(entries) => match entries.as_slice() {
                [Entry { key, node, .. }] => {
                    let content = Some(Cursor { name: key, node, ..self });
                    visitor.visit_enum(Variant { word: key, content })
                }
                _ => Err(SectionError::Takes(either(variants))),
            },
            _ => Err(SectionError::Takes(either(variants))),
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(
        self,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        visitor.visit_unit()
    }
}

/// The elements of a list; in errors they have the list's name.
struct Elements<'a> {
    cursor: Cursor<'a>,
    rest: std::slice::Iter<'a, Node>,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = SectionError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SectionError> {
        let Some(node) = self.rest.next() else { return Ok(None) };
        let cursor = Cursor { node, ..self.cursor };
        cursor.located(seed.deserialize(cursor)).map(Some)
    }
}

/// The entries of a map, in the file's order.
struct Entries<'a> {
    cursor: Cursor<'a>,
    rest: std::slice::Iter<'a, Entry>,
    /// The entry whose value comes next.
    current: Option<&'a Entry>,
    /// The type of a section and its keys; any keys where there is none.
    section: Option<(&'static str, &'static [&'static str])>,
}

impl<'a> Entries<'a> {
    fn new(
        cursor: Cursor<'a>,
        entries: &'a [Entry],
        section: Option<(&'static str, &'static [&'static str])>,
    ) -> Self {
        Self { cursor, rest: entries.iter(), current: None, section }
    }

    /// Refuses a key that the section does not have. Serde's list of keys has former names too;
    /// the schema does not, and they are not recommended.
    fn check_key(&self, entry: &Entry) -> Result<(), SectionError> {
        let Some((section, keys)) = self.section else { return Ok(()) };
        if keys.contains(&entry.key.as_str()) {
            return Ok(());
        }
        let properties = self.cursor.file.properties(section);
        let is_current = |key: &&str| properties.is_null() || properties.get(key).is_some();
        let known = keys.iter().copied().filter(is_current).collect();
        let what = format!("{} has no key", self.cursor.name);
        Err(SectionError::Located(unknown_key(entry.key_at, &what, &entry.key, known)))
    }
}

impl<'de> MapAccess<'de> for Entries<'_> {
    type Error = SectionError;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, SectionError> {
        self.current = self.rest.next();
        let Some(entry) = self.current else { return Ok(None) };
        self.check_key(entry)?;
        seed.deserialize(Key(entry)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, SectionError> {
        let Some(Entry { key, node, .. }) = self.current else {
            return Err(de::Error::custom("a value was asked for before its key"));
        };
        let cursor = Cursor { name: key, node, ..self.cursor };
        cursor.located(seed.deserialize(cursor))
    }
}

/// A key, as text or with its place.
struct Key<'a>(&'a Entry);

impl<'de> de::Deserializer<'de> for Key<'_> {
    type Error = SectionError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, SectionError> {
        visitor.visit_str(&self.0.key)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        let Location { line, column, width } = self.0.key_at;
        visitor.visit_seq(Located { place: Some([line, column, width, 0, 0]), value: Some(self) })
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple map struct enum identifier ignored_any
    }
}

/// A place, then the value that stands there.
struct Located<D> {
    place: Option<Place>,
    value: Option<D>,
}

impl<'de, D> SeqAccess<'de> for Located<D>
where
    D: de::Deserializer<'de, Error = SectionError>,
{
    type Error = SectionError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, SectionError> {
        if let Some(place) = self.place.take() {
            return seed.deserialize(SeqDeserializer::new(place.into_iter())).map(Some);
        }
        self.value.take().map(|value| seed.deserialize(value)).transpose()
    }
}

/// A variant of an enum: a word alone, or the only key of a map with what stands behind it.
struct Variant<'a> {
    word: &'a str,
    content: Option<Cursor<'a>>,
}

impl Variant<'_> {
    fn content(&self) -> Result<Cursor<'_>, SectionError> {
        let needs = || de::Error::custom(format!("{0} needs a value, as in {{{0}: …}}", self.word));
        self.content.ok_or_else(needs)
    }
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = SectionError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), SectionError> {
        Ok((seed.deserialize(self.word.into_deserializer())?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = SectionError;

    fn unit_variant(self) -> Result<(), SectionError> {
        match self.content {
            Some(_) => Err(de::Error::custom(format!("{} takes no value", self.word))),
            None => Ok(()),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, SectionError> {
        seed.deserialize(self.content()?)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        de::Deserializer::deserialize_tuple(self.content()?, length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, SectionError> {
        de::Deserializer::deserialize_map(self.content()?, visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::location::At;
    use super::super::tree::parse;
    use super::super::values::{Text, Whole};
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Box {
        /// How big it is.
        size: At<Whole<1, 9>>,
        colour: Option<Colour>,
        #[serde(alias = "older")]
        label: Option<String>,
        inner: Option<Node>,
        #[serde(default)]
        parts: Vec<Part>,
        corners: Option<[u8; 2]>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Colour {
        Red,
        Mixed { share: f64 },
        Grey(u8),
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Part {
        /// What it is
        /// called.
        name: Text,
    }

    fn wrong(text: &str) -> String {
        let error = read::<Box>("a box", &parse(text).unwrap(), text).unwrap_err();
        format!("{}:{} {}", error.at.line, error.at.column, error.message)
    }

    #[test]
    fn sections_arrive_with_their_places() {
        let text = "size: 3\nlabel: 007\nparts: [{name: a}]\ncorners: [0, 255]\n\
                    inner: {a: [1, b]}\ncolour: {mixed: {share: 0.5}}\n";
        let tree = parse(text).unwrap();
        let read: Box = read("a box", &tree, text).unwrap();
        assert_eq!((read.size.at.line, read.size.at.column), (1, 7));
        assert_eq!(read.size.value.get::<u8>(), Some(3));
        // A scalar is text as it is written.
        assert_eq!(read.label.as_deref(), Some("007"));
        assert_eq!(read.parts[0].name.0, "a");
        assert_eq!(read.corners, Some([0, 255]));
        assert_eq!(read.colour, Some(Colour::Mixed { share: 0.5 }));
        assert_eq!(read.inner.as_ref(), tree.get("inner"));
    }

    #[test]
    fn mistakes_have_their_place_and_the_likely_name() {
        for (text, wanted) in [
            ("7", "1:1 a box takes keys such as size, not 7"),
            ("{size: 1, sise: 2}", "1:11 a box has no key \"sise\"; did you mean \"size\"?"),
            // Former names work and are not recommended.
            (
                "{oldr: 2}",
                "1:2 a box has no key \"oldr\"; known: size, colour, label, inner, parts, corners",
            ),
            ("{label: a}", "1:1 a box needs size: how big it is"),
            ("{size: 1, parts: [{}]}", "1:19 parts needs name: what it is called"),
            ("{size: 1, parts: 7}", "1:18 parts takes a list, not 7"),
            ("size: 1\nlabel:\n", "2:6 label takes text, and there is nothing; leave the key out"),
            (
                "{size: 1, colour: rad}",
                "1:19 colour takes red, mixed or grey, not \"rad\"; did you mean \"red\"?",
            ),
            ("{size: 1, colour: [red]}", "1:19 colour takes red, mixed or grey, not a list"),
            ("{size: 1, colour: grey}", "1:19 grey needs a value, as in {grey: …}"),
            ("{size: 1, colour: {red: 1}}", "1:19 red takes no value"),
            (
                "{size: 1, colour: {grey: 256}}",
                "1:26 grey takes a whole number from 0 to 255, not 256",
            ),
            ("{size: 1, colour: {mixed: {}}}", "1:27 mixed needs share"),
            ("{size: 1, corners: [1]}", "1:20 corners takes a list of 2 values, not of 1"),
            ("{size: 1, corners: 1}", "1:20 corners takes a list of 2 values, not 1"),
        ] {
            assert_eq!(wrong(text), wanted, "{text}");
        }
    }

    #[test]
    fn keys_come_from_the_type() {
        assert_eq!(keys_of::<Part>(), ["name"]);
    }
}
