//! Paths into JSON: keys and places in lists, with dots between.

use super::super::ServiceError;
use serde_json::Value;

/// Where something stands in an answer, such as `result.items.0.name`; nothing is the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Path(Vec<String>);

impl Path {
    /// Reads a path; places in lists may also stand in brackets.
    pub(super) fn parse(text: &str) -> Result<Self, ServiceError> {
        let plain = text.trim().replace('[', ".").replace(']', "");
        let plain = plain.strip_prefix("$").unwrap_or(&plain);
        let plain = plain.strip_prefix('.').unwrap_or(plain);
        if plain.is_empty() {
            return Ok(Self(Vec::new()));
        }
        let steps: Vec<String> = plain.split('.').map(str::to_owned).collect();
        match steps.iter().any(String::is_empty) {
            true => Err(ServiceError::Setting(format!(
                "the path {text:?} has an empty step: write keys with single dots between"
            ))),
            false => Ok(Self(steps)),
        }
    }

    /// What stands there.
    pub(super) fn find<'a>(&self, whole: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(whole, |value, step| match value {
            Value::Object(entries) => entries.get(step),
            Value::Array(list) => list.get(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// As it was written.
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
            assert_eq!(Path::parse(path).unwrap().find(&whole), wanted.as_ref(), "{path}");
        }
        assert!(Path::parse("a..b").is_err());
    }
}
