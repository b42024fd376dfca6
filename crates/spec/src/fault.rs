//! Fault points: faults with all their settings, one for every combination that is swept.

use super::error::Diagnostic;
use super::location::Location;
use super::plugin::{self, Form, MAX_POINTS};
use super::preset::PRESETS;
use super::section::{keys_of, read};
use super::tree::{self, Entry, Node, Value};
use super::values::{NameOf, Names, Text, Whole};
use super::words::{known, unknown_key};
use crate::attack::{self, AttackSpec};
use crate::varied::{VARIED, Varied, is_varied, no_evenly};
use faultlens_core::{Dose, ImageFault, Parameter, Plugin, SettingError, Settings};
use faultlens_faults::{
    ATTACKS, Attack, IMAGE_FAULTS, Injection, MODEL_FAULTS, ModelFault, SCENE_FAULTS, SceneFault,
    SitePlan,
};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A fault with all its settings.
#[derive(Debug)]
pub struct FaultPoint {
    /// The fault's name in its registry.
    pub name: &'static str,
    /// The name with the settings that differ from the defaults or are swept over, for people.
    pub label: String,
    /// All settings.
    pub settings: Settings,
    /// The fault itself.
    pub disturbance: Disturbance,
    /// Trials per case; at most so many where a stop rule decides.
    pub trials: u32,
    /// How much of the fault the target meets, where that has an axis: the one that the campaign
    /// sweeps over, if it sweeps.
    pub dose: Option<Dose>,
}

/// A fault, by what it disturbs.
pub enum Disturbance {
    /// What a target sees.
    Image(Box<dyn ImageFault>),
    /// What a target sees, by as much as is drawn anew for every trial.
    Varied(Box<Varied>),
    /// What a model computes.
    Model(Box<Injection>),
    /// What a target sees, as a search finds it.
    Attack(Box<AttackSpec>),
    /// What stands in the scene.
    Scene(Box<dyn SceneFault>),
}

impl fmt::Debug for Disturbance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Image(_) => "Image",
            Self::Varied(_) => "Varied",
            Self::Model(_) => "Model",
            Self::Attack(_) => "Attack",
            Self::Scene(_) => "Scene",
        })
    }
}

impl Disturbance {
    /// Whether it draws random numbers; where it does not, one trial of a case says all.
    pub fn draws(&self) -> bool {
        match self {
            Self::Image(fault) => fault.draws(),
            Self::Varied(_) | Self::Scene(_) => true,
            Self::Model(injection) => injection.plan() != SitePlan::Exhaustive,
            Self::Attack(assault) => assault.draws(),
        }
    }

    /// How much of the fault a target meets, on every axis that has a meaning.
    fn doses(&self) -> Vec<Dose> {
        match self {
            Self::Image(fault) => vec![fault.dose()],
            Self::Varied(varied) => vec![varied.dose()],
            Self::Model(injection) => injection.doses().collect(),
            Self::Attack(assault) => assault.doses(),
            Self::Scene(_) => Vec::new(),
        }
    }

    /// How often a trial asks, at most.
    pub fn most_questions(&self) -> u64 {
        match self {
            Self::Attack(assault) => assault.most_questions(),
            Self::Scene(fault) => fault.max_queries(),
            _ => 1,
        }
    }

    /// Whether it puts objects into scenes.
    pub fn needs_objects(&self) -> bool {
        matches!(self, Self::Scene(fault) if fault.needs_objects())
    }

    /// Whether every case meets the same faults.
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Model(injection) if injection.is_permanent())
    }

    /// Whether what a target finds decides how many trials there are, up to those planned.
    pub fn follows_objects(&self) -> bool {
        matches!(self, Self::Scene(_))
    }
}

impl FaultPoint {
    /// One point from a fault's name and its settings as JSON values, as files other than a
    /// campaign have them; nothing sweeps. The error says what is wrong, without a place.
    pub fn new(name: &str, settings: &BTreeMap<String, serde_json::Value>) -> Result<Self, String> {
        let kind = Kind::named(name)?;
        let entries: Vec<Entry> = settings
            .iter()
            .map(|(key, value): (&String, &serde_json::Value)| Entry {
                key: key.clone(),
                key_at: Location::UNKNOWN,
                node: Node::from_json(value),
            })
            .collect();
        let form = Form { besides: &[], sweeps: false, ..kind.form() };
        let settings = form.settings(&entries, Location::UNKNOWN).map_err(|error| error.message)?;
        let settings = settings.into_iter().next().unwrap_or_default();
        kind.point(settings, 1).map_err(|error| error.to_string())
    }

    /// Whether a repeat of a trial could end differently.
    pub fn draws(&self) -> bool {
        self.disturbance.draws()
    }

    /// The settings as JSON values, from which [`FaultPoint::new`] makes the same point.
    pub fn settings_json(&self) -> BTreeMap<String, serde_json::Value> {
        plugin::json(&self.settings)
    }

    /// Whether a text names this point: by its label, or by the settings that differ from the defaults
    /// alone.
    pub(super) fn is_called(&self, text: &str) -> bool {
        self.label == text
            || Self::new(self.name, &self.settings_json()).is_ok_and(|alone| alone.label == text)
    }

    /// The name with all settings: what a trial's identity is made from. Two points that differ
    /// have different specs, and the same point always has the same.
    pub fn spec(&self) -> String {
        plugin::spec(self.name, &self.settings)
    }
}

/// An entry of one of the registries of faults.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Image(&'static Plugin<dyn ImageFault>),
    Model(&'static Plugin<dyn ModelFault>),
    Attack(&'static Plugin<dyn Attack>),
    Scene(&'static Plugin<dyn SceneFault>),
}

impl Kind {
    /// Every fault, image faults first.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let plain = IMAGE_FAULTS.iter().map(Self::Image);
        let others = MODEL_FAULTS.iter().map(Self::Model).chain(ATTACKS.iter().map(Self::Attack));
        plain.chain(others).chain(SCENE_FAULTS.iter().map(Self::Scene))
    }

    fn named(name: &str) -> Result<Self, String> {
        known("fault", name, Self::all().map(Self::name).collect())?;
        let found = Self::all().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("no fault is called {name:?}"))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Image(plugin) => plugin.name,
            Self::Model(plugin) => plugin.name,
            Self::Attack(plugin) => plugin.name,
            Self::Scene(plugin) => plugin.name,
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Image(plugin) => plugin.about,
            Self::Model(plugin) => plugin.about,
            Self::Attack(plugin) => plugin.about,
            Self::Scene(plugin) => plugin.about,
        }
    }

    /// All that can be set: what the fault has of its own, and how its strength is drawn.
    pub(super) fn parameters(self) -> Vec<&'static Parameter> {
        match self {
            Self::Image(plugin) if Varied::can_be(plugin.name) => {
                plugin.parameters.iter().chain(VARIED).collect()
            }
            Self::Image(plugin) => plugin.parameters.iter().collect(),
            Self::Model(plugin) => plugin.parameters.iter().collect(),
            Self::Scene(plugin) => plugin.parameters.iter().collect(),
            Self::Attack(plugin) => {
                plugin.parameters.iter().chain(attack::ATTACK_SETTINGS).collect()
            }
        }
    }

    fn form(self) -> Form {
        let name = self.name();
        let parameters = self.parameters();
        Form { name, parameters, besides: &["fault", "trials"], sweeps: true }
    }

    fn point(self, settings: Settings, trials: u32) -> Result<FaultPoint, SettingError> {
        let disturbance = match self {
            Self::Image(plugin) if is_varied(&settings) => {
                Disturbance::Varied(Box::new(Varied::new(plugin, &settings)?))
            }
            Self::Image(plugin) => {
                no_evenly(&settings)?;
                Disturbance::Image((plugin.build)(&settings)?)
            }
            Self::Model(plugin) => {
                Disturbance::Model(Box::new(Injection::build(plugin, &settings)?))
            }
            Self::Attack(plugin) => {
                Disturbance::Attack(Box::new(AttackSpec::build(plugin, &settings)?))
            }
            Self::Scene(plugin) => Disturbance::Scene((plugin.build)(&settings)?),
        };
        Ok(FaultPoint {
            name: self.name(),
            label: plugin::label(self.name(), &settings, &self.parameters()),
            trials: if disturbance.draws() { trials } else { 1 },
            dose: disturbance.doses().first().copied(),
            disturbance,
            settings,
        })
    }
}

/// How many trials a case has.
pub(super) type Trials = Whole<1, 1_000_000>;

/// The keys of a fault entry that are no parameters of the fault.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the fault's parameters stand among these keys; only the schema is made"
)]
pub(super) struct FaultKeys {
    /// The fault's name; faultlens list shows them.
    fault: Text,
    /// How many trials per case and fault point; 1 by default, and always 1 for a fault that draws
    /// nothing; not together with stop.
    trials: Option<Trials>,
}

/// The keys of an entry that stands for several faults.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PresetKeys {
    /// A collection of faults.
    preset: NameOf<Presets>,
    /// How many trials per case and fault point; by default as the preset has it; not together
    /// with stop.
    #[expect(dead_code, reason = "read before it is known whether an entry is a preset")]
    trials: Option<Trials>,
}

/// The collections of faults that have a name.
pub(super) struct Presets;

impl Names for Presets {
    const WHAT: &'static str = "preset";

    fn all() -> Vec<(&'static str, &'static str)> {
        PRESETS.iter().map(|preset| (preset.name, preset.about)).collect()
    }
}

/// The points of the campaign's fault entries. With a stop rule every point may have `at_most`
/// trials per case, and entries must not say how many.
pub(super) fn points(
    entries: &[Node],
    at_most: Option<u32>,
) -> Result<Vec<FaultPoint>, Diagnostic> {
    let mut points = Vec::new();
    let mut specs = BTreeSet::new();
    for entry in entries {
        let new = entry_points(entry, at_most)?;
        if points.len() + new.len() > MAX_POINTS {
            return Err(plugin::too_many(entry.at));
        }
        // Trials of equal points would be the same trials.
        if let Some(twice) = new.iter().find(|point| !specs.insert(point.spec())) {
            let what = format!("this fault point is there already: {}", twice.label);
            return Err(Diagnostic::new(entry.at, what));
        }
        points.extend(new);
    }
    Ok(points)
}

fn entry_points(entry: &Node, at_most: Option<u32>) -> Result<Vec<FaultPoint>, Diagnostic> {
    if !matches!(entry.value, Value::Map(_)) {
        let what =
            format!("an entry of faults reads fault: NAME or preset: NAME, not {}", entry.value);
        return Err(Diagnostic::new(entry.at, what));
    }
    let trials = trials_of(entry, at_most)?;
    if entry.get("preset").is_some() {
        return preset_points(entry, trials);
    }
    let Some(name) = entry.get("fault") else {
        let keys = [keys_of::<FaultKeys>(), keys_of::<PresetKeys>()].concat();
        return Err(match entry.entries() {
            // A lone key that is no known one is likely a misspelt `fault` or `preset`.
            [only] => {
                let keys = keys.iter().map(String::as_str).collect();
                unknown_key(only.key_at, "an entry of faults has no key", &only.key, keys)
            }
            _ => Diagnostic::new(entry.at, "an entry of faults needs fault: NAME or preset: NAME"),
        });
    };
    let Text(text) = read("fault", name, "")?;
    let kind = Kind::named(&text).map_err(|what| Diagnostic::new(name.at, what))?;
    let settings = kind.form().settings(entry.entries(), entry.at)?;
    let mut points = Vec::new();
    for settings in settings {
        let point = kind.point(settings, trials.unwrap_or(1)).map_err(|error: SettingError| {
            Diagnostic::new(entry.at, format!("{}: {error}", kind.name()))
        })?;
        points.push(point);
    }
    let swept = plugin::swept(points.iter().map(|point| &point.settings));
    for point in &mut points {
        let parameters = kind.parameters();
        point.label = plugin::label_in_sweep(point.name, &point.settings, &parameters, &swept);
    }
    over_what_is_swept(&mut points);
    Ok(points)
}

/// Where the first axis is the same for all points of an entry and another one is not, that is
/// what a curve should be drawn over.
fn over_what_is_swept(points: &mut [FaultPoint]) {
    let doses: Vec<Vec<Dose>> = points.iter().map(|point| point.disturbance.doses()).collect();
    let axes = doses.first().map_or(0, Vec::len);
    let swept = (0..axes).find(|&at| doses.iter().any(|own| own.get(at) != doses[0].get(at)));
    for (point, own) in points.iter_mut().zip(&doses).filter(|_| swept.is_some()) {
        point.dose = swept.and_then(|at| own.get(at).copied());
    }
}

/// How many trials an entry asks for, or the stop rule instead of it.
fn trials_of(entry: &Node, at_most: Option<u32>) -> Result<Option<u32>, Diagnostic> {
    let Some(written) = entry.entries().iter().find(|entry| entry.key == "trials") else {
        return Ok(at_most);
    };
    if at_most.is_some() {
        let what = "trials and stop exclude each other: the stop rule decides how many trials \
                    there are, and its at_most is the most per case";
        return Err(Diagnostic::new(written.key_at, what));
    }
    let trials: Trials = read("trials", &written.node, "")?;
    Ok(trials.get())
}

fn preset_points(entry: &Node, trials: Option<u32>) -> Result<Vec<FaultPoint>, Diagnostic> {
    let PresetKeys { preset: NameOf { name, .. }, .. } = read("a preset", entry, "")?;
    let preset = PRESETS.iter().find(|preset| preset.name == name);
    let preset = preset.ok_or_else(|| Diagnostic::new(entry.at, "no preset has this name"))?;
    // Places inside the preset mean nothing in the user's file.
    let here = |error: Diagnostic| Diagnostic::new(entry.at, error.message);
    let mut points = Vec::new();
    for inner in tree::parse(preset.yaml).map_err(here)?.list() {
        points.extend(entry_points(inner, None).map_err(here)?);
    }
    for point in points.iter_mut().filter(|point| point.disturbance.draws()) {
        point.trials = trials.unwrap_or(point.trials);
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, at_most: Option<u32>) -> Result<Vec<FaultPoint>, Diagnostic> {
        points(tree::parse(text).unwrap().list(), at_most)
    }

    #[test]
    fn every_fault_comes_back_from_its_json() {
        let text =
            "[{fault: bit_flip, bit: [0, 63], in: [weights, outputs], operators: [Conv, 'a, b']},
                     {fault: random_value, low: -0.25, high: 1e20, draw: element},
                     {fault: zero}, {preset: images}]";
        let all = read(text, None).unwrap();
        assert_eq!(all.len(), 4 + 1 + 1 + 10);
        for point in all {
            let again = FaultPoint::new(point.name, &point.settings_json()).unwrap();
            assert_eq!(again.settings, point.settings);
            assert_eq!(again.spec(), point.spec());
            assert!(point.is_called(&point.label) && point.is_called(&again.label));
            assert_eq!(again.dose, point.dose);
            let json = serde_json::to_string(&point.settings_json()).unwrap();
            let read = serde_json::from_str(&json).unwrap();
            assert_eq!(FaultPoint::new(point.name, &read).unwrap().settings, point.settings);
        }
    }

    #[test]
    fn labels_say_what_differs_from_the_defaults_and_what_is_swept() {
        let all = read("[{fault: bit_flip, bit: 30, in: [outputs, weights]}]", None).unwrap();
        let labels: Vec<&str> = all.iter().map(|point| point.label.as_str()).collect();
        assert_eq!(labels, ["bit_flip bit=30 in=outputs", "bit_flip bit=30 in=weights"]);
        let swept =
            read("[{fault: pgd, epsilon: [0.01, 0.03]}, {fault: pgd, norm: '2'}]", None).unwrap();
        let labels: Vec<&str> = swept.iter().map(|point| point.label.as_str()).collect();
        assert_eq!(labels, ["pgd epsilon=0.01", "pgd epsilon=0.03", "pgd norm=2"]);
        let calls =
            |text: &str| swept.iter().map(|point| point.is_called(text)).collect::<Vec<_>>();
        assert_eq!(calls("pgd"), [false, true, false]);
        assert_eq!(calls("pgd epsilon=0.03"), [false, true, false]);
        assert!(
            all[0].spec().starts_with(r#"bit_flip {"bit":30,"bit_count":1,"draw":"operator","#)
        );
        assert!(all[0].spec().contains(r#","in":"outputs","#));
        assert_eq!(all[0].dose, Some(Dose { axis: "bit", amount: 30.0 }));
    }

    #[test]
    fn the_swept_axis_is_the_dose() {
        let axes = |text: &str| {
            let doses = read(text, None).unwrap().into_iter().map(|point| point.dose.unwrap());
            doses.map(|dose| (dose.axis, dose.amount)).collect::<Vec<_>>()
        };
        assert_eq!(
            axes("[{fault: bit_flip, amount: 5, bit: [3, 30]}]"),
            [("bit", 3.0), ("bit", 30.0)]
        );
        assert_eq!(
            axes("[{fault: bit_flip, amount: [1, 5], bit: 3}]"),
            [("amount", 1.0), ("amount", 5.0)]
        );
        assert_eq!(axes("[{fault: bit_flip, amount: 5, bit: 3}]"), [("amount", 5.0)]);
    }

    #[test]
    fn a_fault_that_draws_nothing_has_one_trial() {
        let text = "[{fault: brightness, severity: 2, trials: 9}, {fault: zero, trials: 9},
                     {preset: exponent_bits, trials: 4}]";
        let all = read(text, None).unwrap();
        assert_eq!((all[0].trials, all[1].trials), (1, 9));
        assert!(all[2..].iter().all(|point| point.trials == 4));
        let all =
            read("[{fault: brightness, severity: 2}, {preset: bit_flips}]", Some(77)).unwrap();
        assert_eq!(all.iter().map(|point| point.trials).collect::<Vec<_>>(), [1, 77, 77]);
    }

    #[test]
    fn a_point_from_elsewhere_is_checked_too() {
        let new = |name: &str, json: &str| {
            FaultPoint::new(name, &serde_json::from_str(json).unwrap()).unwrap_err()
        };
        assert_eq!(new("zeros", "{}"), "no fault is called \"zeros\"; did you mean \"zero\"?");
        let list = new("bit_flip", r#"{"bit": [1, 2]}"#);
        assert_eq!(list, "bit takes a whole number from 0 to 63, not a list");
        let range = new("bit_flip", r#"{"bit": "1..2"}"#);
        assert_eq!(range, "bit takes a whole number from 0 to 63, not \"1..2\"");
        assert!(new("zero", r#"{"trials": 2}"#).starts_with("zero has no parameter \"trials\""));
    }
}
