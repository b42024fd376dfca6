//! Paths into JSON: keys and list indices, separated by dots.

use super::super::error::ServiceError;
use serde_json::Value;

/// The path of a value, such as `result.items.0.name`; the empty path is the whole document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct JsonPath(Vec<String>);

impl JsonPath {
    /// Parses a path; list indices may also stand in brackets, as in JSONPath.
    pub(super) fn parse(text: &str) -> Result<Self, ServiceError> {
        let plain = text.trim().replace('[', ".").replace(']', "");
        let plain = plain.strip_prefix("$").unwrap_or(&plain);
        let plain = plain.strip_prefix('.').unwrap_or(plain);
        if plain.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let steps: Vec<String> = plain.split('.').map(str::to_owned).collect();
        if steps.iter().any(String::is_empty) {
            return Err(ServiceError::Setting(format!(
                "the path {text:?} has an empty step: separate keys by single dots"
            )));
        }
        Ok(Self(steps))
    }

    /// The value there.
    pub(super) fn find<'a>(&self, whole: &'a Value) -> Option<&'a Value> {
        let mut value = whole;
        for step in &self.0 {
            value = match value {
                Value::Object(entries) => entries.get(step)?,
                Value::Array(list) => list.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(value)
    }

    /// The path as text.
    pub(super) fn text(&self) -> String {
        self.0.join(".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_through_objects_and_lists() {
        let whole = json!({"a": [{"b": 1}, {"b": 2}], "0": "zero"});
        for (path, wanted) in [
            ("a.1.b", Some(json!(2))),
            ("$.a[1].b", Some(json!(2))),
            ("0", Some(json!("zero"))),
            ("", Some(whole.clone())),
            ("a.b", None),
            ("a.7", None),
            ("a.0.b.c", None),
        ] {
            assert_eq!(JsonPath::parse(path).unwrap().find(&whole), wanted.as_ref(), "{path}");
        }
        assert!(JsonPath::parse("a..b").is_err());
    }
}
