//! The JSON schema of the campaign file, for editors; made from what the parser itself checks with.

use super::fault::Kind;
use super::keys::{CAMPAIGN, FAULT, PRESET};
use super::preset::PRESETS;
use super::takes::{Key, Takes};
use faultlens_core::{Parameter, ParameterKind, Plugin, Setting, Unset};
use faultlens_faults::DEFENCES;
use faultlens_judge::{GUARDS, ORACLES};
use serde_json::{Map, Value, json};

/// The JSON schema (draft 2020-12) of the campaign file.
pub fn schema() -> Value {
    let mut schema = section(CAMPAIGN);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Faultlens campaign".into();
    schema
}

fn section(keys: &[Key]) -> Value {
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    object(properties, required)
}

fn object(properties: Map<String, Value>, required: Vec<&str>) -> Value {
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Value {
    described(takes(&key.takes), key.about)
}

fn described(mut schema: Value, about: &str) -> Value {
    schema["description"] = about.into();
    schema
}

fn takes(takes: &Takes) -> Value {
    match takes {
        Takes::Text => text(),
        Takes::Texts => one_or_list(text()),
        Takes::Plain(kind) => plain(kind),
        Takes::Share { most, reached } => {
            let end = if *reached { "maximum" } else { "exclusiveMaximum" };
            json!({"type": "number", "exclusiveMinimum": 0, end: most})
        }
        Takes::Name(_, names) => json!({"enum": names()}),
        Takes::Section(keys) => section(keys),
        Takes::Sections(keys) => list(section(keys)),
        Takes::Scalars => json!({
            "type": "object",
            "additionalProperties": {"type": ["string", "number", "boolean"]},
        }),
        Takes::Foreign => json!({"type": "object"}),
        Takes::List => list(json!({})),
        Takes::Faults => list(faults()),
        Takes::Oracle => chosen(ORACLES),
        Takes::Guards => list(chosen(GUARDS)),
        Takes::Defences => list(chosen(DEFENCES)),
    }
}

fn text() -> Value {
    json!({"type": "string", "minLength": 1})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items, "minItems": 1})
}

fn one_or_list(schema: Value) -> Value {
    json!({"anyOf": [schema.clone(), list(schema)]})
}

fn plain(kind: &ParameterKind) -> Value {
    match kind {
        ParameterKind::Whole { min, max } => {
            json!({"type": "integer", "minimum": min, "maximum": max})
        }
        ParameterKind::Number { min, max } => {
            json!({"type": "number", "minimum": min, "maximum": max})
        }
        ParameterKind::Choice(words) => json!({"enum": words}),
        ParameterKind::Names => one_or_list(json!({"type": ["string", "number"]})),
    }
}

/// A fault with its own parameters, or a preset.
fn faults() -> Value {
    let mut branches: Vec<Value> = Kind::all().map(fault).collect();
    let mut preset = section(PRESET);
    let about: Vec<String> =
        PRESETS.iter().map(|preset| format!("{}: {}", preset.name, preset.about)).collect();
    preset["properties"]["preset"]["description"] = about.join("; ").into();
    branches.push(preset);
    json!({"oneOf": branches})
}

fn fault(kind: Kind) -> Value {
    let mut schema = section(FAULT);
    schema["properties"]["fault"] = json!({"const": kind.name(), "description": kind.about()});
    for parameter in kind.parameters() {
        schema["properties"][parameter.name] = set_to(parameter, swept(&parameter.kind));
        require(&mut schema, parameter);
    }
    described(schema, kind.about())
}

/// One value, a list to sweep over, or a range of whole numbers.
fn swept(kind: &ParameterKind) -> Value {
    let mut schema = match kind {
        ParameterKind::Names => return plain(kind),
        kind => one_or_list(plain(kind)),
    };
    if let (ParameterKind::Whole { .. }, Some(forms)) = (kind, schema["anyOf"].as_array_mut()) {
        forms.push(json!({"type": "string", "pattern": r"^ *-?\d+ *\.\. *-?\d+ *$"}));
    }
    schema
}

fn set_to(parameter: &Parameter, schema: Value) -> Value {
    let mut schema = described(schema, parameter.about);
    if let Unset::Is(setting) = &parameter.unset {
        schema["default"] = match setting {
            Setting::Number(number) if number.fract() == 0.0 => (*number as i64).into(),
            Setting::Number(number) => (*number).into(),
            Setting::Word(word) => word.to_string().into(),
            Setting::Names(names) => names.clone().into(),
        };
    }
    schema
}

fn require(schema: &mut Value, parameter: &Parameter) {
    if let (Unset::Required, Some(required)) = (&parameter.unset, schema["required"].as_array_mut())
    {
        required.push(parameter.name.into());
    }
}

/// An oracle or guard: its name, or the name with parameters.
fn chosen<T: ?Sized>(registry: &[Plugin<T>]) -> Value {
    // Only a name whose parameters can all be left out can stand alone.
    let alone = registry.iter().filter(|plugin| {
        !plugin.parameters.iter().any(|parameter| parameter.unset == Unset::Required)
    });
    let alone: Vec<&str> = alone.map(|plugin| plugin.name).collect();
    let mut branches = vec![json!({"enum": alone})];
    branches.extend(registry.iter().map(|plugin| {
        let name = json!({"const": plugin.name, "description": plugin.about});
        let properties = Map::from_iter([("name".to_owned(), name)]);
        let mut schema = object(properties, vec!["name"]);
        for parameter in plugin.parameters {
            schema["properties"][parameter.name] = set_to(parameter, plain(&parameter.kind));
            require(&mut schema, parameter);
        }
        described(schema, plugin.about)
    }));
    json!({"oneOf": branches})
}
