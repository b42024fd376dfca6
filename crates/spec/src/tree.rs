//! YAML as a tree in which every key and every value knows its place in the file.

use super::error::Diagnostic;
use super::location::{At, Location, located};
use serde::de::{self, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Error, MessageFormatter, Spanned, UserMessageFormatter};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it is referred to.
    pub at: Location,
    /// The bytes of the file where it is written; elsewhere than `at` for an alias.
    pub(super) written: Range<usize>,
    /// What it is.
    pub value: Value,
}

/// What stands at a place of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A key without a value.
    Nothing,
    /// `true` or `false`.
    Bool(bool),
    /// A number without a fraction.
    Whole(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// Values one after the other.
    List(Vec<Node>),
    /// Keys with values, in the file's order.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub key_at: Location,
    /// Its value.
    pub node: Node,
}

/// Reads YAML; the limits of the library against hostile files hold.
pub fn parse(text: &str) -> Result<Node, Diagnostic> {
    // A label called `no` is a word, as in YAML 1.2.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    match serde_saphyr::from_str_with_options(text, options) {
        Ok(Parsed(node)) => Ok(node),
        Err(error) => Err(diagnostic(&error)),
    }
}

/// The library's error in our form.
fn diagnostic(error: &Error) -> Diagnostic {
    let error = error.without_snippet();
    let message = match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("{key} is there twice"),
        error => UserMessageFormatter.format_message(error).into_owned(),
    };
    Diagnostic::new(error.location().map_or(Location::UNKNOWN, Location::from), message)
}

impl Node {
    /// A value that comes from no file.
    pub(super) fn placeless(value: Value) -> Self {
        Self { at: Location::UNKNOWN, written: 0..0, value }
    }

    /// Another value at the same place.
    pub fn with(&self, value: Value) -> Self {
        Self { at: self.at, written: self.written.clone(), value }
    }

    /// The value of a JSON document, which has no places.
    pub(super) fn from_json(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        Self::placeless(match json {
            Json::Null => Value::Nothing,
            Json::Bool(bool) => Value::Bool(*bool),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Value::Whole(whole),
                None => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(list) => Value::List(list.iter().map(Self::from_json).collect()),
            Json::Object(map) => Value::Map(
                map.iter()
                    .map(|(key, value)| Entry {
                        key: key.clone(),
                        key_at: Location::UNKNOWN,
                        node: Self::from_json(value),
                    })
                    .collect(),
            ),
        })
    }

    /// A text; nothing else is one.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// A text, or a number as the text that it is written as.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match &self.value {
            Value::Text(text) => Some(text.into()),
            Value::Whole(whole) => Some(whole.to_string().into()),
            Value::Number(number) => Some(number.to_string().into()),
            _ => None,
        }
    }

    /// A number, whole or not.
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Whole(whole) => Some(whole as f64),
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// A number without a fraction.
    pub fn whole(&self) -> Option<i64> {
        match self.value {
            Value::Whole(whole) => Some(whole),
            // Beyond 2^53 a number no longer says which whole number is meant.
            Value::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Some(number as i64)
            }
            _ => None,
        }
    }

    /// The elements of a list; none where it is no list.
    pub fn list(&self) -> &[Node] {
        match &self.value {
            Value::List(list) => list,
            _ => &[],
        }
    }

    /// The entries of a map; none where it is no map.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The elements of a list, to be changed; none where it is no list.
    pub(super) fn list_mut(&mut self) -> &mut [Node] {
        match &mut self.value {
            Value::List(list) => list,
            _ => &mut [],
        }
    }

    /// The value of a key, to be changed.
    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        let Value::Map(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|entry| entry.key == key).map(|entry| &mut entry.node)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// A scalar as the file has it, so that the class `007` does not become 7.
    pub(super) fn scalar_text(&self, source: &str) -> Option<String> {
        let written =
            source.get(self.written.clone()).map(str::trim).filter(|text| !text.is_empty());
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Bool(_) | Value::Whole(_) | Value::Number(_) => {
                Some(written.map_or_else(|| self.value.to_string(), str::to_owned))
            }
            Value::Nothing | Value::List(_) | Value::Map(_) => None,
        }
    }
}

/// A value in the words of an error, behind "not".
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => f.write_str("nothing"),
            Self::Bool(bool) => write!(f, "{bool}"),
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(_) => f.write_str("a list"),
            Self::Map(_) => f.write_str("keys with values"),
        }
    }
}

/// What a tree is made from: a YAML file, or a part of another tree. They differ in how
/// values and keys carry their places.
trait Source<'de>: Deserialize<'de> {
    /// A key with its place.
    type Key: Deserialize<'de>;

    fn into_node(self) -> Node;

    fn split(key: Self::Key) -> (String, Location);
}

/// A node of a YAML file.
struct Parsed(Node);

impl<'de> Deserialize<'de> for Parsed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned: Spanned<ParsedValue> = Spanned::deserialize(deserializer)?;
        let span = spanned.defined.span();
        let start = span.byte_offset().and_then(|start| usize::try_from(start).ok());
        let length = span.byte_len().and_then(|length| usize::try_from(length).ok());
        let written = match start.zip(length) {
            Some((start, length)) => start..start.saturating_add(length),
            None => 0..0,
        };
        Ok(Self(Node { at: spanned.referenced.into(), written, value: spanned.value.0 }))
    }
}

impl<'de> Source<'de> for Parsed {
    type Key = Spanned<String>;

    fn into_node(self) -> Node {
        self.0
    }

    fn split(key: Spanned<String>) -> (String, Location) {
        (key.value, key.referenced.into())
    }
}

struct ParsedValue(Value);

impl<'de> Deserialize<'de> for ParsedValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor::<Parsed>(PhantomData)).map(Self)
    }
}

/// A part of a tree as it is: what registries decide is read from it.
impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ([line, column, width, start, end], value) = located(deserializer)?;
        Ok(Self { at: Location { line, column, width }, written: start..end, value })
    }
}

impl<'de> Source<'de> for Node {
    type Key = At<String>;

    fn into_node(self) -> Node {
        self
    }

    fn split(key: At<String>) -> (String, Location) {
        (key.value, key.at)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor::<Node>(PhantomData))
    }
}

struct ValueVisitor<S>(PhantomData<S>);

impl<'de, S: Source<'de>> Visitor<'de> for ValueVisitor<S> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Nothing)
    }

    fn visit_bool<E: de::Error>(self, bool: bool) -> Result<Value, E> {
        Ok(Value::Bool(bool))
    }

    fn visit_i64<E: de::Error>(self, whole: i64) -> Result<Value, E> {
        Ok(Value::Whole(whole))
    }

    fn visit_u64<E: de::Error>(self, whole: u64) -> Result<Value, E> {
        Ok(i64::try_from(whole).map_or(Value::Number(whole as f64), Value::Whole))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(source) = access.next_element::<S>()? {
            list.push(source.into_node());
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = access.next_key()? {
            let (key, key_at) = S::split(key);
            let node = access.next_value::<S>()?.into_node();
            entries.push(Entry { key, key_at, node });
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(location: Location) -> (usize, usize) {
        (location.line, location.column)
    }

    #[test]
    fn every_key_and_value_knows_its_place() {
        let tree = parse("a: 1\nlist:\n  - {b: 2.5, c: no}\n  - 'x'\n").unwrap();
        let entries = tree.entries();
        assert_eq!(place(entries[0].key_at), (1, 1));
        assert_eq!((place(entries[0].node.at), entries[0].node.whole()), ((1, 4), Some(1)));
        let [first, second] = entries[1].node.list() else { panic!("{tree:?}") };
        assert_eq!(place(first.entries()[1].key_at), (3, 14));
        assert_eq!(place(first.get("c").unwrap().at), (3, 17));
        assert_eq!(first.get("b").unwrap().number(), Some(2.5));
        assert_eq!(first.get("c").unwrap().text(), Some("no"));
        assert_eq!((place(second.at), second.text()), ((4, 5), Some("x")));
    }

    #[test]
    fn scalars_keep_their_writing() {
        let source = "ö: ä\na: 007\nb: 1.50\nc: true\nd: \"a b\"\ne: []\n";
        let tree = parse(source).unwrap();
        let texts = ["a", "b", "c", "d", "e"].map(|key| tree.get(key).unwrap().scalar_text(source));
        let wanted = [Some("007"), Some("1.50"), Some("true"), Some("a b"), None];
        assert_eq!(texts, wanted.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn files_that_are_no_yaml_or_hostile_are_refused_in_place() {
        let error = parse("a: 1\nb: [1, 2\n").unwrap_err();
        assert!(error.at.line >= 2, "{error:?}");
        assert!(!error.message.contains("line"), "{error:?}");
        assert!(parse("a: 1\na: 2\n").is_err());
        assert!(parse(&"[".repeat(5000)).is_err());
        let laughs: String = (1..12)
            .map(|n| {
                let last = format!("*l{}, ", n - 1).repeat(10);
                format!("l{n}: &l{n} [{last}]\n")
            })
            .collect();
        assert!(parse(&format!("l0: &l0 lol\n{laughs}")).is_err());
    }
}
