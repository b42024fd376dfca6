//! As much of a JSON schema validator as the campaign's schema needs. A keyword that it does not
//! know is a fault, so that nothing passes unread.

use serde_json::Value;

/// What is wrong with a value, in words; empty where it fits.
pub(crate) fn faults_of(schema: &Value, value: &Value) -> Vec<String> {
    let keywords = match schema {
        Value::Bool(true) => return Vec::new(),
        Value::Bool(false) => return vec![format!("{value} is not allowed")],
        schema => schema.as_object().unwrap(),
    };
    keywords.iter().flat_map(|(word, rule)| keyword(word, rule, schema, value)).collect()
}

fn keyword(word: &str, rule: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let number = |compare: fn(f64, f64) -> bool| match value.as_f64() {
        Some(number) => compare(number, rule.as_f64().unwrap()),
        None => true,
    };
    let fits = match word {
        "$schema" | "title" | "description" | "default" => true,
        // Rules for keys that are there.
        "dependentSchemas" => {
            let rules = rule.as_object().unwrap().iter();
            let concerned = rules.filter(|(key, _)| value.get(key.as_str()).is_some());
            return concerned.flat_map(|(_, rule)| faults_of(rule, value)).collect();
        }
        "type" => match rule {
            Value::Array(types) => types.iter().any(|rule| is_type(rule, value)),
            rule => is_type(rule, value),
        },
        "enum" => rule.as_array().unwrap().contains(value),
        "const" => rule == value,
        "minimum" => number(|a, b| a >= b),
        "maximum" => number(|a, b| a <= b),
        "exclusiveMinimum" => number(|a, b| a > b),
        "exclusiveMaximum" => number(|a, b| a < b),
        "minLength" => {
            value.as_str().is_none_or(|text| text.len() as u64 >= rule.as_u64().unwrap())
        }
        "minItems" => {
            value.as_array().is_none_or(|list| list.len() as u64 >= rule.as_u64().unwrap())
        }
        "maxItems" => {
            value.as_array().is_none_or(|list| list.len() as u64 <= rule.as_u64().unwrap())
        }
        // The only pattern is that of ranges.
        "pattern" => value.as_str().is_none_or(|text| {
            text.split_once("..")
                .is_some_and(|(a, b)| a.parse::<i64>().is_ok() && b.parse::<i64>().is_ok())
        }),
        "required" => value.as_object().is_none_or(|map| {
            rule.as_array().unwrap().iter().all(|key| map.contains_key(key.as_str().unwrap()))
        }),
        "anyOf" => matching(rule, value) > 0,
        "oneOf" => matching(rule, value) == 1,
        "items" => {
            let list = value.as_array().into_iter().flatten();
            return list.flat_map(|value| faults_of(rule, value)).collect();
        }
        "properties" => {
            let known = value.as_object().into_iter().flatten();
            return known
                .filter_map(|(key, value)| Some(faults_of(rule.get(key)?, value)))
                .flatten()
                .collect();
        }
        "additionalProperties" => {
            let others = value.as_object().into_iter().flatten();
            let mut others = others.filter(|(key, _)| schema["properties"].get(key).is_none());
            others.all(|(_, value)| rule != false && faults_of(rule, value).is_empty())
        }
        _ => false,
    };
    if fits { Vec::new() } else { vec![format!("{value} breaks {word}: {rule}")] }
}

fn matching(branches: &Value, value: &Value) -> usize {
    let branches = branches.as_array().unwrap().iter();
    branches.filter(|branch| faults_of(branch, value).is_empty()).count()
}

fn is_type(rule: &Value, value: &Value) -> bool {
    match rule.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => false,
    }
}
