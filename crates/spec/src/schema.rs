//! The JSON schema of the campaign file, for editors: made from the types that the file is read
//! with.

use super::written::CampaignFile;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use serde_json::{Value, json};

/// The JSON schema (draft 2020-12) of the campaign file. Types stand where they are used instead of
/// being referred to, since some editors ignore a description beside a reference.
pub fn schema() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let settings = settings.with_transform(RecursiveTransform(as_parsed));
    let schema = settings.into_generator().into_root_schema_for::<CampaignFile>();
    let mut schema = schema.to_value();
    schema["title"] = "Faultlens campaign".into();
    schema
}

/// Makes a schema of a serde type say what the parser takes. Serde's schemas allow null for what is
/// optional, but a key without a value is a mistake here; text may be written as a number, since
/// YAML reads a name such as 495 as one; and `uint32` and the like are no formats of JSON Schema.
fn as_parsed(schema: &mut Schema) {
    schema.remove("format");
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(forms)) = schema.get_mut("anyOf") {
        forms.retain(|form| form["type"] != "null");
        if let [Value::Object(only)] = forms.as_slice() {
            let only = only.clone();
            schema.remove("anyOf");
            // What stands beside a form, such as the description of its key, is nearer.
            let keywords = schema.ensure_object();
            for (keyword, value) in only {
                keywords.entry(keyword).or_insert(value);
            }
        }
    }
    let narrowed = ["const", "enum", "minLength", "pattern"];
    if schema.get("type").is_some_and(|name| name == "string")
        && narrowed.iter().all(|keyword| schema.get(*keyword).is_none())
    {
        schema.insert("type".to_owned(), json!(["string", "number", "boolean"]));
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        // Lines of comments end anywhere.
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    }
}
