//! Parts of the campaign file whose keys registries decide: faults, the oracle, guards, defences.
//! They are read as they are, and the registries say what an editor may complete.

use super::fault::{FaultKeys, Kind, PresetKeys};
use super::tree::{Node, Value};
use super::values::ListVisitor;
use faultlens_core::{Parameter, ParameterKind, Plugin, Setting, Unset};
use faultlens_faults::DEFENCES;
use faultlens_judge::{GUARDS, ORACLES};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserialize, Deserializer, Error, Unexpected};
use serde_json::{Map, Value as Json, json};
use std::borrow::Cow;
use std::marker::PhantomData;

/// A registry whose entries a list of the file names.
pub trait Registry {
    /// What errors call the list.
    const LIST: &'static str;

    /// What an entry of the list looks like.
    fn entry(generator: &mut SchemaGenerator) -> Schema;
}

/// Faults of all kinds, and presets.
#[derive(Debug)]
pub struct Faults;

/// The guards.
#[derive(Debug)]
pub(super) struct Guards;

/// What a target can have around it.
#[derive(Debug)]
pub(super) struct Defences;

impl Registry for Faults {
    const LIST: &'static str = "a list of faults";

    fn entry(generator: &mut SchemaGenerator) -> Schema {
        let mut branches: Vec<Json> = Kind::all().map(|kind| fault(kind, generator)).collect();
        branches.push(PresetKeys::json_schema(generator).to_value());
        json_schema!({"oneOf": branches})
    }
}

impl Registry for Guards {
    const LIST: &'static str = "a list of guards";

    fn entry(_: &mut SchemaGenerator) -> Schema {
        named(GUARDS)
    }
}

impl Registry for Defences {
    const LIST: &'static str = "a list of defences";

    fn entry(_: &mut SchemaGenerator) -> Schema {
        named(DEFENCES)
    }
}

/// A list of a registry's entries, as the file has it: the whole list is one node.
#[derive(Debug)]
pub struct ListOf<R> {
    /// The entries; at least one.
    pub entries: Vec<Node>,
    registry: PhantomData<R>,
}

impl<'de, R: Registry> Deserialize<'de> for ListOf<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let visitor = ListVisitor { wanted: R::LIST, item: PhantomData };
        let entries = deserializer.deserialize_any(visitor)?;
        Ok(Self { entries, registry: PhantomData })
    }
}

impl<R: Registry> JsonSchema for ListOf<R> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ListOf".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": R::entry(generator), "minItems": 1})
    }
}

/// An oracle, by name or with parameters.
#[derive(Debug)]
pub(super) struct OracleEntry(pub(super) Node);

impl<'de> Deserialize<'de> for OracleEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let node = Node::deserialize(deserializer)?;
        match node.value {
            Value::Text(_) | Value::Map(_) => Ok(Self(node)),
            _ => {
                let wanted = "a name, or keys with values";
                Err(D::Error::invalid_type(Unexpected::Other("another value"), &wanted))
            }
        }
    }
}

impl JsonSchema for OracleEntry {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "OracleEntry".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        named(ORACLES)
    }
}

/// A fault with its own parameters.
fn fault(kind: Kind, generator: &mut SchemaGenerator) -> Json {
    let mut schema = FaultKeys::json_schema(generator).to_value();
    schema["description"] = kind.about().into();
    schema["properties"]["fault"] = json!({"const": kind.name(), "description": kind.about()});
    add_parameters(&mut schema, kind.parameters(), swept);
    schema
}

/// An oracle, guard or defence: its name, or the name with parameters.
fn named<T: ?Sized>(registry: &[Plugin<T>]) -> Schema {
    let mut branches = Vec::new();
    for plugin in registry {
        let name = json!({"const": plugin.name, "description": plugin.about});
        // Only a name whose parameters can all be left out can stand alone.
        if plugin.parameters.iter().all(|parameter| parameter.unset != Unset::Required) {
            branches.push(name.clone());
        }
        let mut schema = json!({
            "type": "object",
            "description": plugin.about,
            "properties": Map::from_iter([("name".to_owned(), name)]),
            "required": ["name"],
            "additionalProperties": false,
        });
        add_parameters(&mut schema, plugin.parameters.iter().collect(), one_value);
        branches.push(schema);
    }
    json_schema!({"oneOf": branches})
}

/// Adds the parameters of an entry to its keys.
fn add_parameters(
    schema: &mut Json,
    parameters: Vec<&'static Parameter>,
    takes: fn(&ParameterKind) -> Json,
) {
    for parameter in parameters {
        let mut property = takes(&parameter.kind);
        property["description"] = parameter.about.into();
        if let Unset::Is(setting) = &parameter.unset {
            property["default"] = match setting {
                Setting::Number(number) if number.fract() == 0.0 => (*number as i64).into(),
                Setting::Number(number) => (*number).into(),
                Setting::Word(word) => word.to_string().into(),
                Setting::Names(names) => names.clone().into(),
            };
        }
        schema["properties"][parameter.name] = property;
        if parameter.unset == Unset::Required
            && let Some(required) = schema["required"].as_array_mut()
        {
            required.push(parameter.name.into());
        }
    }
}

fn one_value(kind: &ParameterKind) -> Json {
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

/// One value, a list to sweep over, or a range of whole numbers.
fn swept(kind: &ParameterKind) -> Json {
    let value = one_value(kind);
    match kind {
        ParameterKind::Names => value,
        ParameterKind::Whole { .. } => {
            let range = json!({"type": "string", "pattern": r"^ *-?\d+ *\.\. *-?\d+ *$"});
            json!({"anyOf": [value, {"type": "array", "items": value, "minItems": 1}, range]})
        }
        _ => one_or_list(value),
    }
}

fn one_or_list(value: Json) -> Json {
    json!({"anyOf": [value, {"type": "array", "items": value, "minItems": 1}]})
}
