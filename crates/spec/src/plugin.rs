//! Settings of a registry's entry, from what the campaign file says about it.

use super::error::Diagnostic;
use super::location::Location;
use super::tree::{Entry, Node, Value};
use super::words::{check_parameter, known, parameter_words, unknown_key};
use faultlens_core::{Parameter, ParameterKind, Plugin, Setting, Settings, Unset};
use std::collections::{BTreeMap, BTreeSet};

/// The most fault points of a campaign: each has a row in every report.
pub(super) const MAX_POINTS: usize = 10_000;

/// The registry's entry of that name, or what to say instead.
pub(super) fn named<T: ?Sized>(
    registry: &'static [Plugin<T>],
    what: &str,
    name: &str,
) -> Result<&'static Plugin<T>, String> {
    known(what, name, registry.iter().map(|plugin| plugin.name).collect())?;
    registry
        .iter()
        .find(|plugin| plugin.name == name)
        .ok_or_else(|| format!("no {what} is called {name:?}"))
}

/// What a fault, oracle or guard is called, what can be set and what else it may have beside.
pub struct Form {
    /// What messages call it.
    pub name: &'static str,
    /// What can be set.
    pub parameters: Vec<&'static Parameter>,
    /// Keys that are no parameters.
    pub besides: &'static [&'static str],
    /// Whether lists and ranges sweep.
    pub sweeps: bool,
}

impl Form {
    /// All combinations of the values that `entries` give to the parameters, the last parameter
    /// changing fastest. The order in the file does not matter.
    pub fn settings(&self, entries: &[Entry], at: Location) -> Result<Vec<Settings>, Diagnostic> {
        self.check_keys(entries)?;
        let mut all = vec![Settings::default()];
        for parameter in &self.parameters {
            let values = self.values(parameter, entries, at)?;
            if values.len().saturating_mul(all.len()) > MAX_POINTS {
                return Err(too_many(at));
            }
            if values.is_empty() {
                continue;
            }
            let each = all.iter().flat_map(|settings| {
                values.iter().map(|value| {
                    let mut settings = settings.clone();
                    settings.set(parameter.name, value.clone());
                    settings
                })
            });
            all = each.collect();
        }
        Ok(all)
    }

    fn check_keys(&self, entries: &[Entry]) -> Result<(), Diagnostic> {
        let mut names: Vec<&str> = self.parameters.iter().map(|own| own.name).collect();
        names.extend(self.besides);
        match entries.iter().find(|entry| !names.contains(&entry.key.as_str())) {
            Some(Entry { key, key_at, .. }) => {
                let what = format!("{} has no parameter", self.name);
                Err(unknown_key(*key_at, &what, key, names))
            }
            None => Ok(()),
        }
    }

    /// The values of a parameter; none where it stays unset.
    fn values(
        &self,
        parameter: &Parameter,
        entries: &[Entry],
        at: Location,
    ) -> Result<Vec<Setting>, Diagnostic> {
        let Some(entry) = entries.iter().find(|entry| entry.key == parameter.name) else {
            return match &parameter.unset {
                Unset::Required => {
                    let wanted = parameter_words(&parameter.kind);
                    let name = parameter.name;
                    let about = parameter.about;
                    let what = format!("{} needs {name}, {wanted}: {about}", self.name);
                    Err(Diagnostic::new(at, what))
                }
                Unset::Absent => Ok(Vec::new()),
                Unset::Is(setting) => Ok(vec![setting.clone()]),
            };
        };
        match (&entry.node.value, parameter.kind) {
            (Value::List(list), kind) if self.sweeps && kind != ParameterKind::Names => {
                if list.is_empty() {
                    let what = format!("{} sweeps over a list; this is empty", parameter.name);
                    return Err(Diagnostic::new(entry.node.at, what));
                }
                list.iter().map(|node| setting(parameter, node)).collect()
            }
            (Value::Text(text), ParameterKind::Whole { .. })
                if self.sweeps && text.contains("..") =>
            {
                range(parameter, text, &entry.node)
            }
            _ => Ok(vec![setting(parameter, &entry.node)?]),
        }
    }
}

pub(super) fn too_many(at: Location) -> Diagnostic {
    Diagnostic::new(
        at,
        format!("the sweeps make more than {MAX_POINTS} fault points; sweep over less"),
    )
}

/// One value.
fn setting(parameter: &Parameter, node: &Node) -> Result<Setting, Diagnostic> {
    check_parameter(parameter.name, node, &parameter.kind)?;
    let text = |node: &Node| node.name().unwrap_or_default().into_owned();
    Ok(match (parameter.kind, &node.value) {
        (ParameterKind::Names, Value::List(list)) => {
            Setting::Names(list.iter().map(text).collect())
        }
        (ParameterKind::Names, _) => Setting::Names(vec![text(node)]),
        (ParameterKind::Choice(_), _) => Setting::Word(text(node).into()),
        // Adding nothing turns -0 into 0, which means the same and must read the same.
        _ => Setting::Number(node.number().unwrap_or_default() + 0.0),
    })
}

/// The whole numbers of `1..5`, both ends included.
fn range(parameter: &Parameter, text: &str, node: &Node) -> Result<Vec<Setting>, Diagnostic> {
    let wrong = |what: String| Diagnostic::new(node.at, what);
    let ends = text.split_once("..").and_then(|(first, last)| {
        Some((first.trim().parse::<i64>().ok()?, last.trim().parse::<i64>().ok()?))
    });
    let Some((first, last)) = ends else {
        return Err(wrong(format!(
            "{} takes a range such as 1..5, whole numbers with both ends included, not {text:?}",
            parameter.name
        )));
    };
    if first > last {
        return Err(wrong(format!("the range {text} runs backwards; write {last}..{first}")));
    }
    for end in [first, last] {
        let end = node.with(Value::Whole(end));
        check_parameter(parameter.name, &end, &parameter.kind)?;
    }
    if last.abs_diff(first) >= MAX_POINTS as u64 {
        return Err(too_many(node.at));
    }
    Ok((first..=last).map(|whole| Setting::Number(whole as f64)).collect())
}

/// Settings as JSON, which reads back as the same settings.
pub fn json(settings: &Settings) -> BTreeMap<String, serde_json::Value> {
    settings
        .iter()
        .map(|(name, setting)| {
            (
                name.to_owned(),
                match setting {
                    Setting::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                        (*number as i64).into()
                    }
                    Setting::Number(number) => (*number).into(),
                    Setting::Word(word) => word.to_string().into(),
                    Setting::Names(names) => names.clone().into(),
                },
            )
        })
        .collect()
}

/// A name with all its settings, without two meanings: what identities are made from.
pub(super) fn spec(name: &str, settings: &Settings) -> String {
    let json: serde_json::Map<_, _> = json(settings).into_iter().collect();
    format!("{name} {}", serde_json::Value::Object(json))
}

/// The names of what differs between settings.
pub(super) fn swept<'s>(all: impl Iterator<Item = &'s Settings> + Clone) -> BTreeSet<&'static str> {
    let Some(first) = all.clone().next() else { return BTreeSet::new() };
    all.flat_map(|own: &'s Settings| own.iter().filter(|(name, own)| first.get(name) != Some(own)))
        .map(|(name, _)| name)
        .collect()
}

/// A name with the settings that differ from the defaults, for people.
pub fn label(name: &str, settings: &Settings, parameters: &[&Parameter]) -> String {
    label_in_sweep(name, settings, parameters, &BTreeSet::new())
}

/// The same for one of several whose settings differ in what is `swept`: that is always said.
pub(super) fn label_in_sweep(
    name: &str,
    settings: &Settings,
    parameters: &[&Parameter],
    swept: &BTreeSet<&str>,
) -> String {
    let mut label = name.to_owned();
    for (name, setting) in settings.iter() {
        let is_default = parameters.iter().any(|parameter| {
            parameter.name == name && parameter.unset == Unset::Is(setting.clone())
        });
        if swept.contains(name) || !is_default {
            label = format!("{label} {name}={setting}");
        }
    }
    label
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    const PARAMETERS: &[Parameter] = &[
        parameter("bit", ParameterKind::Whole { min: 0, max: 63 }, Unset::Absent),
        parameter("names", ParameterKind::Names, Unset::Absent),
        parameter("rate", ParameterKind::Number { min: -1.0, max: 1.0 }, Unset::Required),
        parameter("wide", ParameterKind::Whole { min: 0, max: i64::MAX }, Unset::Absent),
    ];

    const fn parameter(name: &'static str, kind: ParameterKind, unset: Unset) -> Parameter {
        Parameter { name, about: "what it is", kind, unset }
    }

    fn settings(text: &str, sweeps: bool) -> Result<Vec<Settings>, Diagnostic> {
        let tree = tree::parse(text).unwrap();
        let form = Form {
            name: "it",
            parameters: PARAMETERS.iter().collect(),
            besides: &["trials"],
            sweeps,
        };
        form.settings(tree.entries(), tree.at)
    }

    #[test]
    fn lists_and_ranges_sweep_in_the_order_of_the_parameters() {
        let all = settings("{rate: [0.5, -0.0], bit: 3..4, names: [b, a]}", true).unwrap();
        let texts: Vec<String> = all.iter().map(Settings::to_string).collect();
        let wanted = [
            "bit=3, names=[b, a], rate=0.5",
            "bit=3, names=[b, a], rate=0",
            "bit=4, names=[b, a], rate=0.5",
            "bit=4, names=[b, a], rate=0",
        ];
        assert_eq!(texts, wanted);
    }

    #[test]
    fn mistakes_are_reported() {
        for (text, sweeps, wanted) in [
            ("{bit: 1}", true, "it needs rate, a number from -1.0 to 1.0: what it is"),
            ("{rate: 0, bits: 1}", true, "it has no parameter \"bits\"; did you mean \"bit\"?"),
            ("{rate: 0, bit: 4..3}", true, "the range 4..3 runs backwards; write 3..4"),
            ("{rate: 0, bit: 4..64}", true, "bit takes a whole number from 0 to 63, not 64"),
            ("{rate: 0, bit: []}", true, "bit sweeps over a list; this is empty"),
            ("{rate: 0, bit: [1, x]}", true, "bit takes a whole number from 0 to 63, not \"x\""),
            ("{rate: [0, 1]}", false, "rate takes a number from -1.0 to 1.0, not a list"),
            (
                "{rate: 0, wide: 1..10001}",
                true,
                "the sweeps make more than 10000 fault points; sweep over less",
            ),
            (
                "{rate: 0, wide: 1..9000, bit: [1, 2]}",
                true,
                "the sweeps make more than 10000 fault points; sweep over less",
            ),
        ] {
            assert_eq!(settings(text, sweeps).unwrap_err().message, wanted, "{text}");
        }
        let wrong = settings("{rate: 0, bit: 1..x}", true).unwrap_err().message;
        assert!(wrong.starts_with("bit takes a range such as 1..5"), "{wrong}");
    }

    #[test]
    fn no_two_settings_have_the_same_spec() {
        let texts = ["[a, b]", "['a, b']", "['a\", \"b']", "[a]"];
        let specs = texts.map(|names| {
            let all = settings(&format!("{{rate: 1, names: {names}}}"), true).unwrap();
            spec("it", &all[0])
        });
        assert_eq!(specs[0], r#"it {"names":["a","b"],"rate":1}"#);
        for (at, spec) in specs.iter().enumerate() {
            assert!(!specs[at + 1..].contains(spec), "{spec}");
        }
    }
}
