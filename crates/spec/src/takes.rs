//! What a key takes: one description that the check, its errors and the JSON schema all come from.

use super::error::Diagnostic;
use super::tree::{Entry, Node, Value};
use faultlens_core::{ParameterKind, did_you_mean};
use serde_saphyr::Location;

/// A key of the campaign file.
#[derive(Debug)]
pub struct Key {
    /// How it is written.
    pub name: &'static str,
    /// What it means, in a sentence without a full stop.
    pub about: &'static str,
    /// Whether the section needs it.
    pub required: bool,
    /// What may stand behind it.
    pub takes: Takes,
}

/// What a key takes.
#[derive(Debug)]
pub enum Takes {
    /// Text that is not empty.
    Text,
    /// One text or a list of them.
    Texts,
    /// What a parameter of a plugin takes; never swept.
    Plain(ParameterKind),
    /// A number above 0, below `most` or up to it.
    Share {
        /// The end.
        most: f64,
        /// Whether the end may be reached.
        reached: bool,
    },
    /// One of some names, which a registry or a type knows; the first word says of what.
    Name(&'static str, fn() -> Vec<&'static str>),
    /// Keys of its own.
    Section(&'static [Key]),
    /// A list of sections; not empty.
    Sections(&'static [Key]),
    /// Any keys with a scalar each.
    Scalars,
    /// Keys that another type reads.
    Foreign,
    /// A list of what another type reads; not empty.
    List,
    /// Faults and presets, whose keys the registries of faults decide.
    Faults,
    /// An oracle, by name or with parameters.
    Oracle,
    /// A list of guards, each by name or with parameters.
    Guards,
    /// A list of defences, each by name or with parameters.
    Defences,
}

/// Checks a value, and what is inside it as far as no registry decides.
pub fn check(name: &str, node: &Node, takes: &Takes) -> Result<(), Diagnostic> {
    let is_map = matches!(node.value, Value::Map(_));
    let fits = match takes {
        Takes::Text => node.text().is_some_and(|text| !text.trim().is_empty()),
        Takes::Texts => return check_texts(name, node, &words(takes)),
        Takes::Plain(kind) => return check_plain(name, node, kind),
        Takes::Share { most, reached } => node
            .number()
            .is_some_and(|number| 0.0 < number && (number < *most || *reached && number == *most)),
        Takes::Name(what, names) => match node.text() {
            Some(text) => {
                return known(what, text, names()).map_err(|why| Diagnostic::new(node.at, why));
            }
            None => false,
        },
        Takes::Section(keys) if is_map => return check_section(name, node, keys),
        Takes::Sections(keys) if !node.list().is_empty() => {
            let mut sections = node.list().iter();
            return sections.try_for_each(|node| check(name, node, &Takes::Section(keys)));
        }
        Takes::Scalars => is_map && node.entries().iter().all(|entry| is_scalar(&entry.node)),
        Takes::Faults | Takes::Guards | Takes::Defences | Takes::List => !node.list().is_empty(),
        Takes::Oracle => is_map || node.text().is_some(),
        Takes::Foreign => is_map,
        Takes::Section(_) | Takes::Sections(_) => false,
    };
    if fits { Ok(()) } else { Err(unfit(name, node, &words(takes))) }
}

fn is_scalar(node: &Node) -> bool {
    !matches!(node.value, Value::Nothing | Value::List(_) | Value::Map(_))
}

/// Checks one text or a list of them.
fn check_texts(name: &str, node: &Node, wanted: &str) -> Result<(), Diagnostic> {
    match &node.value {
        Value::List(list) if list.is_empty() => Err(unfit(name, node, wanted)),
        Value::List(list) => list.iter().try_for_each(|node| check(name, node, &Takes::Text)),
        Value::Text(_) => check(name, node, &Takes::Text),
        _ => Err(unfit(name, node, wanted)),
    }
}

/// Checks names, which may be numbers, such as those of layers.
fn check_names(name: &str, node: &Node, wanted: &str) -> Result<(), Diagnostic> {
    let fits = |node: &Node| node.name().is_some_and(|text| !text.trim().is_empty());
    match &node.value {
        Value::List(list) if !list.is_empty() => match list.iter().find(|node| !fits(node)) {
            Some(odd) => Err(unfit(name, odd, wanted)),
            None => Ok(()),
        },
        _ if fits(node) => Ok(()),
        _ => Err(unfit(name, node, wanted)),
    }
}

/// Checks a value of a parameter, of one point of a sweep.
pub(super) fn check_plain(name: &str, node: &Node, kind: &ParameterKind) -> Result<(), Diagnostic> {
    let fits = match kind {
        ParameterKind::Whole { min, max } => {
            node.whole().is_some_and(|whole| (*min..=*max).contains(&whole))
        }
        ParameterKind::Number { min, max } => {
            node.number().is_some_and(|number| (*min..=*max).contains(&number))
        }
        ParameterKind::Choice(words) => node.text().is_some_and(|text| words.contains(&text)),
        ParameterKind::Names => return check_names(name, node, &plain_words(kind)),
    };
    if fits {
        return Ok(());
    }
    let mut slip = unfit(name, node, &plain_words(kind));
    if let (ParameterKind::Choice(words), Some(text)) = (kind, node.text())
        && let Some(meant) = did_you_mean(text, words.iter().copied())
    {
        slip.message = format!("{}; did you mean \"{meant}\"?", slip.message);
    }
    Err(slip)
}

/// Checks that a map has the keys that it must have and no others.
fn check_section(name: &str, node: &Node, keys: &'static [Key]) -> Result<(), Diagnostic> {
    for Entry { key, key_at, node } in node.entries() {
        let found = keys.iter().find(|known| known.name == key);
        let found = found.ok_or_else(|| {
            let names = keys.iter().map(|key| key.name).collect();
            unknown_key(*key_at, &format!("{name} has no key"), key, names)
        })?;
        check(key, node, &found.takes)?;
    }
    match keys.iter().find(|key| key.required && node.get(key.name).is_none()) {
        Some(Key { name: missing, about, .. }) => {
            Err(Diagnostic::new(node.at, format!("{name} needs {missing}: {about}")))
        }
        None => Ok(()),
    }
}

/// A key that there is not, with the likely one or all of them.
pub(super) fn unknown_key(at: Location, what: &str, key: &str, known: Vec<&str>) -> Diagnostic {
    Diagnostic::new(at, format!("{what} {key:?}; {}", hint(key, known)))
}

/// Whether a name is known.
pub fn known(what: &str, name: &str, names: Vec<&str>) -> Result<(), String> {
    if names.contains(&name) {
        return Ok(());
    }
    Err(format!("no {what} is called {name:?}; {}", hint(name, names)))
}

/// A longer list helps nobody.
const MOST_HINTS: usize = 30;

fn hint(name: &str, known: Vec<&str>) -> String {
    match did_you_mean(name, known.iter().copied()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None if known.is_empty() => "there is none".to_owned(),
        None if known.len() > MOST_HINTS => format!("known: {}, …", known[..MOST_HINTS].join(", ")),
        None => format!("known: {}", known.join(", ")),
    }
}

/// "outputs or weights".
fn either(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        names => names.concat(),
    }
}

/// A value that a key does not take.
fn unfit(name: &str, node: &Node, wanted: &str) -> Diagnostic {
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

/// What a key takes, in words.
fn words(takes: &Takes) -> String {
    match takes {
        Takes::Text => "text".to_owned(),
        Takes::Texts => "text or a list of texts".to_owned(),
        Takes::Plain(kind) => plain_words(kind),
        Takes::Share { most, reached: true } => format!("a number above 0 and up to {most}"),
        Takes::Share { most, reached: false } => format!("a number between 0 and {most}"),
        Takes::Name(what, names) => format!("a {what}: {}", either(&names())),
        Takes::Section(keys) => format!("keys such as {}", keys.first().map_or("", |k| k.name)),
        Takes::Sections(_) | Takes::List => "a list that has at least one entry".to_owned(),
        Takes::Scalars => "keys with one value each".to_owned(),
        Takes::Foreign => "keys with values".to_owned(),
        Takes::Faults => "a list of faults".to_owned(),
        Takes::Oracle => "a name, or keys with values".to_owned(),
        Takes::Guards => "a list of guards".to_owned(),
        Takes::Defences => "a list of defences".to_owned(),
    }
}

/// What a parameter takes, in words.
pub(super) fn plain_words(kind: &ParameterKind) -> String {
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

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    const KEYS: &[Key] = &[
        Key { name: "size", about: "how big", required: true, takes: SIZE },
        Key { name: "colour", about: "which", required: false, takes: COLOUR },
    ];
    const SIZE: Takes = Takes::Plain(ParameterKind::Whole { min: 1, max: 9 });
    const COLOUR: Takes = Takes::Name("colour", || vec!["red", "green"]);

    fn wrong(text: &str, takes: &Takes) -> String {
        let slip = check("it", &tree::parse(text).unwrap(), takes).unwrap_err();
        assert!(slip.at.line() > 0, "{slip:?}");
        format!("{}:{} {}", slip.at.line(), slip.at.column(), slip.message)
    }

    #[test]
    fn what_does_not_fit_is_told_with_what_would() {
        let number = Takes::Plain(ParameterKind::Number { min: -1.0, max: 1e30 });
        let share = Takes::Share { most: 0.5, reached: false };
        let choice = Takes::Plain(ParameterKind::Choice(&["outputs", "weights"]));
        for (text, takes, wanted) in [
            ("12", &SIZE, "1:1 it takes a whole number from 1 to 9, not 12"),
            ("2.5", &SIZE, "1:1 it takes a whole number from 1 to 9, not 2.5"),
            ("high", &SIZE, "1:1 it takes a whole number from 1 to 9, not \"high\""),
            ("1e31", &number, "1:1 it takes a number from -1.0 to 1e30, not 1e31"),
            ("0.5", &share, "1:1 it takes a number between 0 and 0.5, not 0.5"),
            (
                "weight",
                &choice,
                "1:1 it takes outputs or weights, not \"weight\"; did you mean \"weights\"?",
            ),
            ("[a, 7]", &Takes::Texts, "1:5 it takes text, not 7; put it in quotes"),
            ("[]", &Takes::Faults, "1:1 it takes a list of faults; this is empty"),
            ("gren", &COLOUR, "1:1 no colour is called \"gren\"; did you mean \"green\"?"),
            ("blue", &COLOUR, "1:1 no colour is called \"blue\"; known: red, green"),
            (
                "{size: 1, sise: 2}",
                &Takes::Section(KEYS),
                "1:11 it has no key \"sise\"; did you mean \"size\"?",
            ),
            ("{colour: red}", &Takes::Section(KEYS), "1:1 it needs size: how big"),
            (
                "[{size: 1}, {size: 0}]",
                &Takes::Sections(KEYS),
                "1:20 size takes a whole number from 1 to 9, not 0",
            ),
            (
                "{a: [1]}",
                &Takes::Scalars,
                "1:1 it takes keys with one value each, not keys with values",
            ),
        ] {
            assert_eq!(wrong(text, takes), wanted, "{text}");
        }
        assert!(wrong("size:\n", &Takes::Section(KEYS)).contains("there is nothing"));
    }

    #[test]
    fn what_fits_passes() {
        let share = Takes::Share { most: 1.0, reached: true };
        for (text, takes) in [
            ("9", &SIZE),
            ("3.0", &SIZE),
            ("1", &share),
            ("[a, '7']", &Takes::Texts),
            ("a", &Takes::Texts),
            ("{size: 1, colour: red}", &Takes::Section(KEYS)),
            ("{a: 1, b: x, c: true}", &Takes::Scalars),
        ] {
            check("it", &tree::parse(text).unwrap(), takes).unwrap();
        }
    }
}
