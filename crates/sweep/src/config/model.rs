//! What is attacked: models that the sweep trains, and models that were trained elsewhere.

use faultlens_core::{Parameter, ParameterKind, Setting, Settings, Unset};
use faultlens_spec::file::{
    self, At, Diagnostic, Form, NameOf, Names, Node, Text, Texts, Value, label,
};
use faultlens_train::architecture::{Spec, find, plan};
use faultlens_train::{DEFAULT_OPTIMISER, OPTIMISERS, Task, optimiser};
use faultlens_vision::{InputDescription, OutputDescription};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A model with everything that distinguishes it from others.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPoint {
    /// What the sweep calls it.
    pub name: String,
    /// The network, or the name of the file.
    pub architecture: String,
    /// How often it sees its training set.
    pub epochs: u32,
    /// How fast it learns; 0 where nobody knows.
    pub learning_rate: f64,
    /// Who trains it.
    pub origin: Origin,
}

/// Who trains a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Origin {
    /// The sweep.
    Here {
        /// Images per step.
        batch: usize,
        /// The rule by which weights follow their gradients.
        optimiser: String,
    },
    /// Somebody else.
    Elsewhere {
        /// The ONNX file.
        path: PathBuf,
        /// Processor seconds of training for each sample, as declared.
        training_seconds: f64,
        /// How many layers with weights it has, where that is not to be counted.
        layers: Option<u32>,
        /// How it is asked, where its own metadata does not contain it: `input`, `output` and `labels`
        /// as a target of a campaign has them.
        asked: BTreeMap<&'static str, Json>,
    },
}

const EPOCHS: ParameterKind = ParameterKind::Whole { min: 1, max: 100_000 };
const RATE: ParameterKind = ParameterKind::Number { min: 1e-12, max: 100.0 };

const HERE: &[Parameter] = &[
    parameter("batch", "images per step", WHOLE, Unset::Is(Setting::Number(32.0))),
    parameter("epochs", "how often it sees its set", EPOCHS, Unset::Is(Setting::Number(10.0))),
    parameter("learning_rate", "how fast it learns", RATE, Unset::Absent),
];

const WHOLE: ParameterKind = ParameterKind::Whole { min: 1, max: 1 << 20 };

const ELSEWHERE: &[Parameter] = &[
    parameter("epochs", "how often it saw its set", EPOCHS, Unset::Required),
    parameter("layers", "how many layers it has", WHOLE, Unset::Absent),
    parameter("learning_rate", "how fast it learned", RATE, Unset::Absent),
    parameter(
        "training_seconds",
        "processor seconds of training for each sample",
        ParameterKind::Number { min: 1e-12, max: 1e9 },
        Unset::Required,
    ),
];

const fn parameter(
    name: &'static str,
    about: &'static str,
    kind: ParameterKind,
    unset: Unset,
) -> Parameter {
    Parameter { name, about, kind, unset }
}

/// The models of the sweep's list.
pub(super) fn read(
    entries: &[Node],
    base: &Path,
    size: Option<[usize; 2]>,
) -> Result<Vec<ModelPoint>, Diagnostic> {
    let mut points = Vec::new();
    let mut names = BTreeSet::new();
    for entry in entries {
        for point in entry_points(entry, base, size)? {
            if !names.insert(point.name.clone()) {
                let what = format!("this model is there already: {}", point.name);
                return Err(Diagnostic::new(entry.at, what));
            }
            points.push(point);
        }
    }
    Ok(points)
}

fn entry_points(
    entry: &Node,
    base: &Path,
    size: Option<[usize; 2]>,
) -> Result<Vec<ModelPoint>, Diagnostic> {
    if !matches!(entry.value, Value::Map(_)) {
        let what = format!(
            "an entry of models reads architecture: NAME or model: FILE.onnx, not {}",
            entry.value
        );
        return Err(Diagnostic::new(entry.at, what));
    }
    match (entry.get("architecture"), entry.get("model")) {
        (Some(architectures), None) => here(entry, architectures, size),
        (None, Some(model)) => Ok(vec![elsewhere(entry, model, base)?]),
        (Some(_), Some(model)) => {
            let what = "a model is trained here (architecture) or elsewhere (model), not both";
            Err(Diagnostic::new(model.at, what))
        }
        (None, None) => {
            let what = "an entry of models needs architecture: NAME or model: FILE.onnx";
            Err(Diagnostic::new(entry.at, what))
        }
    }
}

fn here(
    entry: &Node,
    architectures: &Node,
    size: Option<[usize; 2]>,
) -> Result<Vec<ModelPoint>, Diagnostic> {
    let orders: Texts = file::read("architecture", architectures, "")?;
    let rule = optimiser_of(entry)?;
    let parameters: Vec<&Parameter> = HERE.iter().collect();
    let besides = &["architecture", "optimiser"];
    let form = Form { name: "a model", parameters: parameters.clone(), besides, sweeps: true };
    let all = form.settings(entry.entries(), entry.at)?;
    let mut points = Vec::new();
    for At { at, value: order } in &orders.0 {
        check_order(order, size).map_err(|what| Diagnostic::new(*at, what))?;
        points.extend(all.iter().map(|settings: &Settings| {
            let usual = optimiser(&rule).map_or(0.0, |rule| rule.usual().learning_rate);
            let name = label(order, settings, &parameters);
            let learning_rate = settings.number_if_set("learning_rate").unwrap_or(usual);
            ModelPoint {
                name: if rule == DEFAULT_OPTIMISER { name } else { format!("{name} {rule}") },
                architecture: order.to_owned(),
                epochs: whole(settings, "epochs"),
                learning_rate,
                origin: Origin::Here {
                    batch: whole(settings, "batch") as usize,
                    optimiser: rule.clone(),
                },
            }
        }));
    }
    Ok(points)
}

fn optimiser_of(entry: &Node) -> Result<String, Diagnostic> {
    let Some(node) = entry.get("optimiser") else { return Ok(DEFAULT_OPTIMISER.to_owned()) };
    let NameOf { name, .. }: NameOf<Optimisers> = file::read("optimiser", node, "")?;
    Ok(name)
}

/// The rules by which weights follow their gradients.
struct Optimisers;

impl Names for Optimisers {
    const WHAT: &'static str = "optimiser";

    fn all() -> Vec<(&'static str, &'static str)> {
        OPTIMISERS.iter().map(|rule| (rule.name(), "")).collect()
    }
}

/// Refuses architectures that cannot be built or are no classifiers; the number of classes comes
/// from the data.
fn check_order(order: &str, size: Option<[usize; 2]>) -> Result<(), String> {
    let architecture = find(order).map_err(|error| error.to_string())?;
    if architecture.task != Some(Task::Classify) {
        return Err(format!("{order} does not tell classes, and a sweep attacks such models only"));
    }
    let [height, width] = size.unwrap_or([64, 64]);
    plan(order, &Spec::new([3, height, width], 10)).map_err(|error| error.to_string())?;
    Ok(())
}

fn elsewhere(entry: &Node, model: &Node, base: &Path) -> Result<ModelPoint, Diagnostic> {
    let Text(text) = file::read("model", model, "")?;
    let path = base.join(text);
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = stem.filter(|_| path.is_file()).ok_or_else(|| {
        let what = format!("there is no such file; model takes an ONNX file: {}", path.display());
        Diagnostic::new(model.at, what)
    })?;
    let parameters = ELSEWHERE.iter().collect();
    let besides = &["model", "input", "output", "labels"];
    let form = Form { name: "a model trained elsewhere", parameters, besides, sweeps: false };
    let settings = form.settings(entry.entries(), entry.at)?;
    let settings = settings.into_iter().next().unwrap_or_default();
    Ok(ModelPoint {
        name: name.clone(),
        architecture: name,
        epochs: whole(&settings, "epochs"),
        learning_rate: settings.number_if_set("learning_rate").unwrap_or_default(),
        origin: Origin::Elsewhere {
            path,
            training_seconds: settings.number_if_set("training_seconds").unwrap_or_default(),
            layers: settings.number_if_set("layers").map(|layers| layers as u32),
            asked: asked(entry, base)?,
        },
    })
}

fn asked(entry: &Node, base: &Path) -> Result<BTreeMap<&'static str, Json>, Diagnostic> {
    let mut all = BTreeMap::new();
    if let Some(node) = entry.get("input") {
        all.insert("input", checked::<InputDescription>("input", node)?);
    }
    if let Some(node) = entry.get("output") {
        all.insert("output", checked::<OutputDescription>("output", node)?);
    }
    if let Some(node) = entry.get("labels") {
        let Text(text) = file::read("labels", node, "")?;
        let path = std::path::absolute(base.join(text));
        let path = path.map_err(|error| Diagnostic::new(node.at, error.to_string()))?;
        all.insert("labels", Json::from(path.to_string_lossy().into_owned()));
    }
    Ok(all)
}

/// A section as JSON, refused where the type that reads it later would refuse it.
fn checked<T>(name: &str, node: &Node) -> Result<Json, Diagnostic>
where
    T: DeserializeOwned + JsonSchema,
{
    file::read::<T>(name, node, "")?;
    Ok(json(node))
}

fn json(node: &Node) -> Json {
    match &node.value {
        Value::Nothing => Json::Null,
        Value::Bool(bool) => (*bool).into(),
        Value::Whole(whole) => (*whole).into(),
        Value::Number(number) => (*number).into(),
        Value::Text(text) => text.clone().into(),
        Value::List(list) => list.iter().map(json).collect(),
        Value::Map(entries) => {
            entries.iter().map(|entry| (entry.key.clone(), json(&entry.node))).collect()
        }
    }
}

/// A whole number that the form has checked.
fn whole(settings: &Settings, name: &str) -> u32 {
    settings.number_if_set(name).unwrap_or_default() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::file::parse;

    fn points(text: &str) -> Result<Vec<ModelPoint>, Diagnostic> {
        read(parse(text).unwrap().list(), Path::new(""), None)
    }

    #[test]
    fn lists_sweep() {
        let text = "[{architecture: [lenet, 'mlp:8x1'], epochs: [2, 5], learning_rate: 0.1},
                     {architecture: lenet, optimiser: adam}]";
        let all = points(text).unwrap();
        let names: Vec<&str> = all.iter().map(|point| point.name.as_str()).collect();
        let wanted = [
            "lenet epochs=2 learning_rate=0.1",
            "lenet epochs=5 learning_rate=0.1",
            "mlp:8x1 epochs=2 learning_rate=0.1",
            "mlp:8x1 epochs=5 learning_rate=0.1",
            "lenet adam",
        ];
        assert_eq!(names, wanted);
        assert_eq!((all[1].epochs, all[1].learning_rate), (5, 0.1));
        assert_eq!((all[4].epochs, all[4].learning_rate), (10, 0.001));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, place, wanted) in [
            ("[{architecture: lenett}]", 17, "lenet"),
            ("[{architecture: 'mlp:0x1'}]", 17, "mlp"),
            ("[{architecture: unet}]", 17, "does not tell classes"),
            ("[{architecture: lenet, epochs: 0}]", 32, "whole number from 1 to 100000, not 0"),
            ("[{architecture: lenet, epoch: 1}]", 24, "did you mean \"epochs\"?"),
            ("[{architecture: lenet, optimiser: adm}]", 35, "did you mean \"adam\"?"),
            ("[{model: no.onnx, epochs: 1, training_seconds: 1}]", 10, "there is no such file"),
            ("[{model: a.onnx, architecture: lenet}]", 10, "not both"),
            ("[{epochs: 3}]", 2, "needs architecture"),
            ("[lenet]", 2, "an entry of models reads"),
            ("[{architecture: lenet}, {architecture: lenet}]", 25, "there already: lenet"),
        ] {
            let slip = points(text).unwrap_err();
            assert!(slip.message.contains(wanted), "{text}: {}", slip.message);
            assert_eq!(slip.at.column, place, "{text}: {}", slip.message);
        }
    }
}
