//! YAML as a tree in which every key and every value knows its place in the file.

use super::error::Diagnostic;
use faultlens_core::did_you_mean;
use serde::de::{self, DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_saphyr::{Error, Location, MessageFormatter, Spanned, UserMessageFormatter};
use std::borrow::Cow;
use std::fmt;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it is referred to.
    pub at: Location,
    /// Where it is written; elsewhere than `at` for an alias.
    written: Location,
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
    read(text)
}

/// Reads YAML into any type.
pub(super) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Diagnostic> {
    // A label called `no` is a word, as in YAML 1.2.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| slip(&error))
}

/// The library's error in our form, with the likely name.
fn slip(error: &Error) -> Diagnostic {
    let error = error.without_snippet();
    let meant = match error {
        Error::SerdeUnknownField { field, expected, .. } => did_you_mean(field, expected.to_vec()),
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            did_you_mean(variant, expected.to_vec())
        }
        _ => None,
    };
    let message = match (error, meant) {
        (Error::DuplicateMappingKey { key: Some(key), .. }, _) => format!("{key} is there twice"),
        (error, Some(name)) => {
            format!("{}; did you mean \"{name}\"?", UserMessageFormatter.format_message(error))
        }
        (error, None) => UserMessageFormatter.format_message(error).into_owned(),
    };
    Diagnostic::new(error.location().unwrap_or(Location::UNKNOWN), message)
}

impl Node {
    /// A value that comes from no file.
    pub(super) fn placeless(value: Value) -> Self {
        Self { at: Location::UNKNOWN, written: Location::UNKNOWN, value }
    }

    /// Another value at the same place.
    pub fn with(&self, value: Value) -> Self {
        Self { value, ..*self }
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
        let span = self.written.span();
        let bytes = || {
            let start = usize::try_from(span.byte_offset()?).ok()?;
            let length = usize::try_from(span.byte_len()?).ok()?;
            source.get(start..start.checked_add(length)?).map(|text| text.trim().to_owned())
        };
        match &self.value {
            Value::Text(text) => Some(text.clone()),
            Value::Bool(bool) => bytes().or_else(|| Some(bool.to_string())),
            Value::Whole(whole) => bytes().or_else(|| Some(whole.to_string())),
            Value::Number(number) => bytes().or_else(|| Some(number.to_string())),
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

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Spanned { value, referenced, defined } = Spanned::deserialize(deserializer)?;
        Ok(Self { at: referenced, written: defined, value })
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
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
        while let Some(node) = access.next_element()? {
            list.push(node);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(Spanned { value: key, referenced: key_at, .. }) = access.next_key()? {
            entries.push(Entry { key, key_at, node: access.next_value()? });
        }
        Ok(Value::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(location: Location) -> (u64, u64) {
        (location.line(), location.column())
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
        assert!(error.at.line() >= 2, "{error:?}");
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
