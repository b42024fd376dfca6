//! Who judges: the oracle and the guards of a campaign.

use super::error::Diagnostic;
use super::location::Location;
use super::plugin::{self, Form, named};
use super::section::read;
use super::tree::{Node, Value};
use super::values::Text;
use faultlens_core::{Plugin, Settings};
use faultlens_judge::{GUARDS, Judge, ORACLES};
use std::fmt;
use std::sync::Arc;

/// The oracle where the file names none.
const DEFAULT_ORACLE: &str = "same_top";

/// An oracle and its guards, as written and ready to judge.
#[derive(Clone)]
pub struct JudgeSpec {
    /// The oracle with all its settings.
    pub oracle: (&'static str, Settings),
    /// The guards in the order in which they are asked.
    pub guards: Vec<(&'static str, Settings)>,
    judge: Arc<Judge>,
}

impl JudgeSpec {
    /// The judge, already built; clones share it.
    pub fn build(&self) -> Arc<Judge> {
        Arc::clone(&self.judge)
    }

    /// The oracle of this name with its default settings, without guards; an error in words where
    /// there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        let oracle = Node::placeless(Value::Text(name.to_owned()));
        Self::read(Some(&oracle), &[]).map_err(|error| error.message)
    }

    /// A judge that a program brings along, under the name that records give its oracle.
    pub fn own(name: &'static str, judge: Judge) -> Self {
        Self { oracle: (name, Settings::default()), guards: Vec::new(), judge: Arc::new(judge) }
    }

    /// Names with all settings, without two meanings.
    pub(super) fn spec(&self) -> Vec<String> {
        let all = [&self.oracle].into_iter().chain(&self.guards);
        all.map(|(name, settings)| plugin::spec(name, settings)).collect()
    }

    pub(super) fn read(oracle: Option<&Node>, guards: &[Node]) -> Result<Self, Diagnostic> {
        let usual = Node::placeless(Value::Text(DEFAULT_ORACLE.to_owned()));
        let (oracle_plugin, oracle_settings) = chosen(ORACLES, "oracle", oracle.unwrap_or(&usual))?;
        let built_oracle = build(oracle_plugin, &oracle_settings, oracle)?;
        let mut chosen_guards = Vec::new();
        let mut built_guards = Vec::new();
        for guard in guards {
            let (plugin, settings) = chosen(GUARDS, "guard", guard)?;
            built_guards.push(build(plugin, &settings, Some(guard))?);
            chosen_guards.push((plugin.name, settings));
        }
        Ok(Self {
            oracle: (oracle_plugin.name, oracle_settings),
            guards: chosen_guards,
            judge: Arc::new(Judge::new(built_oracle, built_guards)),
        })
    }
}

/// The entry that is named, plainly or with parameters, and its settings.
pub(super) fn chosen<T: ?Sized>(
    registry: &'static [Plugin<T>],
    what: &str,
    node: &Node,
) -> Result<(&'static Plugin<T>, Settings), Diagnostic> {
    let name = match &node.value {
        Value::Map(_) => node.get("name").ok_or_else(|| {
            Diagnostic::new(node.at, format!("the {what} needs a name, such as {{name: …}}"))
        })?,
        _ => node,
    };
    let Text(text) = read(what, name, "")?;
    let plugin =
        named(registry, what, &text).map_err(|message| Diagnostic::new(name.at, message))?;
    let form = Form {
        name: plugin.name,
        parameters: plugin.parameters.iter().collect(),
        besides: &["name"],
        sweeps: false,
    };
    let settings = form.settings(node.entries(), node.at)?;
    Ok((plugin, settings.into_iter().next().unwrap_or_default()))
}

pub(super) fn build<T: ?Sized>(
    plugin: &Plugin<T>,
    settings: &Settings,
    node: Option<&Node>,
) -> Result<Box<T>, Diagnostic> {
    let at = node.map_or(Location::UNKNOWN, |node| node.at);
    (plugin.build)(settings)
        .map_err(|error| Diagnostic::new(at, format!("{}: {error}", plugin.name)))
}

impl fmt::Debug for JudgeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeSpec")
            .field("oracle", &self.oracle)
            .field("guards", &self.guards)
            .finish_non_exhaustive()
    }
}

/// "same_top (k=1): the best class …; golden_correct: judges only …".
impl fmt::Display for JudgeSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_plugin(f, ORACLES, &self.oracle)?;
        self.guards.iter().try_for_each(|guard| {
            f.write_str("; ")?;
            write_plugin(f, GUARDS, guard)
        })
    }
}

/// A name, its settings and what it is for.
fn write_plugin<T: ?Sized>(
    f: &mut fmt::Formatter<'_>,
    registry: &[Plugin<T>],
    (name, settings): &(&'static str, Settings),
) -> fmt::Result {
    f.write_str(name)?;
    if settings.iter().next().is_some() {
        write!(f, " ({settings})")?;
    }
    match registry.iter().find(|plugin| plugin.name == *name) {
        Some(plugin) => write!(f, ": {}", plugin.about),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree;
    use super::*;

    fn read(text: &str) -> Result<JudgeSpec, Diagnostic> {
        let tree = tree::parse(text).unwrap();
        let guards = tree.get("guards").map(Node::list).unwrap_or_default();
        JudgeSpec::read(tree.get("oracle"), guards)
    }

    #[test]
    fn oracles_and_guards_are_named_plainly_or_with_parameters() {
        let usual = read("{}").unwrap();
        assert_eq!(usual.spec(), [r#"same_top {"k":1}"#]);
        assert_eq!(read("oracle: same_top").unwrap().spec(), usual.spec());
        let judge = read("{oracle: {name: same_top, k: 5}, guards: [golden_correct]}").unwrap();
        assert_eq!(judge.spec(), [r#"same_top {"k":5}"#, "golden_correct {}"]);
        let text = judge.to_string();
        assert!(text.starts_with("same_top (k=5): the top class of"), "{text}");
        assert!(text.contains("; golden_correct: judges only"), "{text}");
    }

    #[test]
    fn mistakes_are_told_in_place() {
        for (text, place, wanted) in [
            (
                "oracle: same_tp",
                (1, 9),
                "no oracle is called \"same_tp\"; did you mean \"same_top\"?",
            ),
            ("oracle: {k: 1}", (1, 9), "the oracle needs a name, such as {name: …}"),
            (
                "oracle: {name: same_top, kk: 1}",
                (1, 26),
                "same_top has no parameter \"kk\"; did you mean \"k\"?",
            ),
            (
                "oracle: {name: same_top, k: [1]}",
                (1, 29),
                "k takes a whole number from 1 to 1000, not a list",
            ),
            (
                "guards: [golden_correct, golden]",
                (1, 26),
                "no guard is called \"golden\"; known: golden_correct, within_tolerance",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!((error.at.line, error.at.column), place, "{text}");
            assert_eq!(error.message, wanted, "{text}");
        }
    }
}
