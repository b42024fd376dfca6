//! The words of errors: what a key takes, what is known, and which name was likely meant.

use super::error::Diagnostic;
use super::location::Location;
use super::tree::{Node, Value};
use faultlens_core::{ParameterKind, did_you_mean};

/// A longer list helps nobody.
const MAX_HINTS: usize = 30;

/// Refuses a name that is not among those that are known, with the likely one or all of them.
pub fn known(what: &str, name: &str, names: Vec<&str>) -> Result<(), String> {
    if names.contains(&name) {
        return Ok(());
    }
    Err(format!("no {what} is called {name:?}; {}", hint(name, names)))
}

/// A key that does not exist, with the likely one or all of them.
pub(super) fn unknown_key(at: Location, what: &str, key: &str, known: Vec<&str>) -> Diagnostic {
    Diagnostic::new(at, format!("{what} {key:?}; {}", hint(key, known)))
}

fn hint(name: &str, known: Vec<&str>) -> String {
    match did_you_mean(name, known.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if known.is_empty() => "there is none".to_owned(),
        None if known.len() > MAX_HINTS => format!("known: {}, …", known[..MAX_HINTS].join(", ")),
        None => format!("known: {}", known.join(", ")),
    }
}

/// A value that a key does not take.
pub(super) fn unfit(name: &str, node: &Node, wanted: &str) -> Diagnostic {
    let message = match &node.value {
        Value::Nothing => format!("{name} takes {wanted}, and there is nothing; leave the key out"),
        Value::List(list) if list.is_empty() => format!("{name} takes {wanted}; this is empty"),
        Value::Text(text) if text.trim().is_empty() => {
            format!("{name} takes {wanted}; this is empty")
        }
        Value::Whole(_) | Value::Number(_) | Value::Bool(_) if wanted == "text" => {
            format!("{name} takes text, not {}; put it in quotes", node.value)
        }
        value => format!("{name} takes {wanted}, not {value}"),
    };
    Diagnostic::new(node.at, message)
}

/// A word that is none of those that a key takes.
pub(super) fn unfit_word(name: &str, node: &Node, words: &[&str]) -> Diagnostic {
    let mut diagnostic = unfit(name, node, &either(words));
    if let Some(text) = node.text()
        && let Some(meant) = did_you_mean(text, words.iter().copied())
    {
        diagnostic.message = format!("{}; did you mean \"{meant}\"?", diagnostic.message);
    }
    diagnostic
}

/// "outputs or weights".
pub(super) fn either(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        names => names.concat(),
    }
}

/// What a parameter takes, in words.
pub(super) fn parameter_words(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Whole { min, max: i64::MAX } => {
            format!("a whole number of {min} or more")
        }
        ParameterKind::Whole { min, max } => format!("a whole number from {min} to {max}"),
        ParameterKind::Number { min, max } => format!("a number from {min:?} to {max:?}"),
        ParameterKind::Choice(words) => either(words),
        ParameterKind::Names => "a list of names".to_owned(),
    }
}

/// Checks a value of a parameter, of one point of a sweep.
pub(super) fn check_parameter(
    name: &str,
    node: &Node,
    kind: &ParameterKind,
) -> Result<(), Diagnostic> {
    let fits = match kind {
        ParameterKind::Whole { min, max } => {
            node.whole().is_some_and(|whole| (*min..=*max).contains(&whole))
        }
        ParameterKind::Number { min, max } => {
            node.number().is_some_and(|number| (*min..=*max).contains(&number))
        }
        ParameterKind::Choice(words) => {
            let is_known = node.text().is_some_and(|text| words.contains(&text));
            return if is_known { Ok(()) } else { Err(unfit_word(name, node, words)) };
        }
        ParameterKind::Names => return check_names(name, node, &parameter_words(kind)),
    };
    if fits { Ok(()) } else { Err(unfit(name, node, &parameter_words(kind))) }
}

/// Checks names, which may be numbers, such as those of layers.
fn check_names(name: &str, node: &Node, wanted: &str) -> Result<(), Diagnostic> {
    let names = match &node.value {
        Value::List(list) if !list.is_empty() => list.as_slice(),
        _ => std::slice::from_ref(node),
    };
    for node in names {
        if node.name().is_none_or(|text| text.trim().is_empty()) {
            return Err(unfit(name, node, wanted));
        }
    }
    Ok(())
}
