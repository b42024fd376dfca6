//! Changes of JSON that leave it JSON, mostly.

use super::{bytes, tempting};
use faultlens_core::Stream;
use serde_json::{Value, json as value};

/// Another value somewhere in a document; sometimes only bytes.
pub fn json(input: &mut Vec<u8>, others: &[&[u8]], stream: &mut Stream) {
    let parsed: Option<Value> = serde_json::from_slice(input).ok();
    let Some(mut document) = parsed.filter(|_| stream.chance(0.7)) else {
        return bytes(input, others, stream);
    };
    change(&mut document, stream);
    *input = document.to_string().into_bytes();
}

/// Walks down to a random place and changes what is there.
fn change(place: &mut Value, stream: &mut Stream) {
    let deeper = stream.chance(0.85);
    match place {
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = stream.below(items.len());
            match stream.below(8) {
                0 => drop(items.remove(at)),
                1 if items.len() < 1000 => items.push(items[at].clone()),
                _ => change(&mut items[at], stream),
            }
        }
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let names: Vec<String> = fields.keys().cloned().collect();
            let name = stream.pick(&names).cloned().unwrap_or_default();
            match stream.below(8) {
                0 => drop(fields.remove(&name)),
                1 => {
                    let other = stream.pick(&names).cloned().unwrap_or_default();
                    let moved = fields.get(&other).cloned().unwrap_or_default();
                    fields.insert(name, moved);
                }
                _ => {
                    if let Some(field) = fields.get_mut(&name) {
                        change(field, stream);
                    }
                }
            }
        }
        place => *place = hostile(place, stream),
    }
}

fn hostile(old: &Value, stream: &mut Stream) -> Value {
    match stream.below(10) {
        0 => Value::Null,
        1 => value!([]),
        2 => value!({}),
        3 => value!(""),
        4 => value!(true),
        5 => value!("a".repeat(1 + stream.below(5000))),
        6 => value!([1e308, -1e308, 0.1, 1e-320]),
        7 => value!([old, old]),
        8 => value!(stream.between(-1e3, 1e3)),
        _ => value!(tempting(stream)),
    }
}
