//! What models are defended with: nothing, something in training, or something around the target.

use faultlens_core::{Parameter, ParameterKind, Setting, Settings, Unset};
use faultlens_spec::DefenceSpec;
use faultlens_spec::file::{
    self, Diagnostic, Entry, Form, Node, Text, Value, defence, defence_names, known, label,
};
use faultlens_train::{Adversarial, Noise};
use std::collections::BTreeSet;

/// A defence with all its settings.
#[derive(Debug, Clone)]
pub struct DefencePoint {
    /// Its name.
    pub name: String,
    /// Its name with the settings that differ from the defaults, for people.
    pub label: String,
    /// Its strength in its own unit: the first number that the file names; 0 where it has none.
    pub strength: f64,
    /// How it works.
    pub means: Means,
}

/// How a defence works.
#[derive(Debug, Clone)]
pub enum Means {
    /// Not at all.
    Control,
    /// The model learns from noisy samples.
    Noise(Noise),
    /// The model learns from samples that are made against it.
    Adversarial(Adversarial),
    /// The target has it around the model.
    Around(DefenceSpec),
}

impl DefencePoint {
    /// Whether it happens in training, so that another model comes of it.
    pub fn trains(&self) -> bool {
        matches!(self.means, Means::Noise(_) | Means::Adversarial(_))
    }

    fn control() -> Self {
        let name = CONTROL.to_owned();
        let label = CONTROL.to_owned();
        Self { name, label, strength: 0.0, means: Means::Control }
    }
}

const CONTROL: &str = "control";
const GAUSS_IN: &str = "gauss_in";
const ADVERSARIAL: &str = "adversarial_training";

const SHARE: Parameter = Parameter {
    name: "share",
    about: "the share of samples that get it",
    kind: ParameterKind::Number { min: 0.001, max: 1.0 },
    unset: Unset::Is(Setting::Number(0.5)),
};

const NOISE: &[Parameter] = &[
    Parameter {
        name: "sigma",
        about: "the noise's deviation, in pixels from 0 to 1",
        kind: ParameterKind::Number { min: 1e-6, max: 10.0 },
        unset: Unset::Required,
    },
    SHARE,
];

const ATTACKED: &[Parameter] = &[
    Parameter {
        name: "epsilon",
        about: "how far each value of an image may move, in pixels from 0 to 1",
        kind: ParameterKind::Number { min: 1e-6, max: 1.0 },
        unset: Unset::Required,
    },
    Parameter {
        name: "steps",
        about: "how many gradients an attack follows; 1 is the fast gradient method",
        kind: ParameterKind::Whole { min: 1, max: 1000 },
        unset: Unset::Is(Setting::Number(1.0)),
    },
    SHARE,
];

/// The points of the sweep's defences; the control alone where there are none.
pub(super) fn read(entries: Option<&[Node]>) -> Result<Vec<DefencePoint>, Diagnostic> {
    let Some(entries) = entries else { return Ok(vec![DefencePoint::control()]) };
    let mut points = Vec::new();
    let mut labels = BTreeSet::new();
    for entry in entries {
        for point in entry_points(entry)? {
            if !labels.insert(point.label.clone()) {
                let what = format!("this defence is there already: {}", point.label);
                return Err(Diagnostic::new(entry.at, what));
            }
            points.push(point);
        }
    }
    Ok(points)
}

fn entry_points(entry: &Node) -> Result<Vec<DefencePoint>, Diagnostic> {
    let name = match &entry.value {
        Value::Map(_) => entry.get("defence").ok_or_else(|| {
            Diagnostic::new(entry.at, "an entry of defences needs defence: NAME, such as gauss_in")
        })?,
        _ => entry,
    };
    let Text(text) = file::read("defence", name, "")?;
    let all = [ADVERSARIAL, CONTROL, GAUSS_IN].into_iter().chain(defence_names());
    known("defence", &text, all.collect()).map_err(|what| Diagnostic::new(name.at, what))?;
    match text.as_str() {
        CONTROL => trained(entry, CONTROL, &[], |_| Means::Control),
        GAUSS_IN => trained(entry, GAUSS_IN, NOISE, |number| {
            Means::Noise(Noise { sigma: number("sigma"), share: number("share") })
        }),
        ADVERSARIAL => trained(entry, ADVERSARIAL, ATTACKED, |number| {
            Means::Adversarial(Adversarial {
                epsilon: number("epsilon"),
                steps: number("steps") as usize,
                share: number("share"),
            })
        }),
        _ => around(entry, name),
    }
}

/// Points of a defence whose settings stand here.
fn trained(
    entry: &Node,
    name: &'static str,
    parameters: &'static [Parameter],
    means: impl Fn(&dyn Fn(&str) -> f64) -> Means,
) -> Result<Vec<DefencePoint>, Diagnostic> {
    let parameters: Vec<&Parameter> = parameters.iter().collect();
    let form = Form { name, parameters: parameters.clone(), besides: &["defence"], sweeps: true };
    let all = form.settings(entry.entries(), entry.at)?;
    Ok(all
        .into_iter()
        .map(|settings: Settings| DefencePoint {
            name: name.to_owned(),
            label: label(name, &settings, &parameters),
            strength: parameters.first().map_or(0.0, |first| number(&settings, first.name)),
            means: means(&|name| number(&settings, name)),
        })
        .collect())
}

fn number(settings: &Settings, name: &str) -> f64 {
    settings.number_if_set(name).unwrap_or_default()
}

/// Points of a defence that a target has around it, read as a campaign reads it.
fn around(entry: &Node, name: &Node) -> Result<Vec<DefencePoint>, Diagnostic> {
    let mut all = vec![Vec::new()];
    for written in entry.entries().iter().filter(|written| written.key != "defence") {
        let one = std::slice::from_ref(&written.node);
        let values = if written.node.list().is_empty() { one } else { written.node.list() };
        // Every combination so far, with each value of this key.
        let mut grown = Vec::new();
        for entries in &all {
            for value in values {
                let mut entries: Vec<Entry> = entries.clone();
                entries.push(Entry { node: value.clone(), ..written.clone() });
                grown.push(entries);
            }
        }
        all = grown;
    }
    let named = Entry { key: "name".to_owned(), key_at: name.at, node: name.clone() };
    all.into_iter()
        .map(|settings: Vec<Entry>| {
            let strength = settings.iter().find_map(|entry| entry.node.number());
            let entries = [vec![named.clone()], settings].concat();
            let spec = defence(&entry.with(Value::Map(entries)))?;
            Ok(DefencePoint {
                name: spec.name.to_owned(),
                label: spec.to_string(),
                strength: strength
                    .or_else(|| {
                        spec.settings.iter().find_map(|(name, _)| spec.settings.number_if_set(name))
                    })
                    .unwrap_or_default(),
                means: Means::Around(spec),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_spec::file::parse;

    fn points(text: &str) -> Result<Vec<DefencePoint>, Diagnostic> {
        read(Some(parse(text).unwrap().list()))
    }

    #[test]
    fn lists_sweep_and_strengths_are_told() {
        let all = points(
            "[control, {defence: gauss_in, sigma: [0.1, 0.3]},
              {defence: adversarial_training, epsilon: 0.03, steps: [1, 7]},
              {defence: bit_depth_reduction, bits: [2, 4]}, median_filter]",
        )
        .unwrap();
        let found: Vec<(&str, f64)> = all.iter().map(|p| (p.label.as_str(), p.strength)).collect();
        let wanted = [
            ("control", 0.0),
            ("gauss_in sigma=0.1", 0.1),
            ("gauss_in sigma=0.3", 0.3),
            ("adversarial_training epsilon=0.03", 0.03),
            ("adversarial_training epsilon=0.03 steps=7", 0.03),
            ("bit_depth_reduction (bits=2)", 2.0),
            ("bit_depth_reduction (bits=4)", 4.0),
        ];
        assert_eq!(found[..7], wanted);
        assert_eq!(found[7].0, "median_filter (radius=1)");
        assert!(matches!(all[1].means, Means::Noise(Noise { sigma: 0.1, share: 0.5 })));
        assert_eq!(all.iter().filter(|point| point.trains()).count(), 4);
        assert_eq!(read(None).unwrap().len(), 1);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, place, wanted) in [
            ("[gaus_in]", 2, "no defence is called \"gaus_in\"; did you mean \"gauss_in\"?"),
            ("[gauss_in]", 2, "gauss_in needs sigma"),
            ("[control, control]", 11, "this defence is there already: control"),
            ("[{defence: gauss_in, sigma: 0}]", 29, "sigma takes a number from 1e-6 to 10.0"),
            ("[{defence: gauss_in, sgma: 1}]", 22, "did you mean \"sigma\"?"),
            ("[{sigma: 1}]", 2, "an entry of defences needs defence: NAME"),
            ("[{defence: bit_depth_reduction, bits: [2, 99]}]", 43, "bits takes"),
            ("[3]", 2, "defence takes text, not 3"),
        ] {
            let slip = points(text).unwrap_err();
            assert!(slip.message.contains(wanted), "{text}: {}", slip.message);
            assert_eq!(slip.at.column, place, "{text}: {}", slip.message);
        }
    }
}
