//! `faultlens list`: everything that can be named, from the registries.

use crate::exit;
use clap::ValueEnum;
use faultlens::analysis::ATTRIBUTES;
use faultlens::analysis::format::counted;
use faultlens::data::FORMATS;
use faultlens::faults::{
    ATTACKS, DEFENCES, Domain, IMAGE_FAULTS, MODEL_FAULTS, Range, SCENE_FAULTS, domain, image,
};
use faultlens::judge::tolerance::{Tolerance, Tolerated};
use faultlens::judge::{GUARDS, ORACLES};
use faultlens::report::tolerance_format::edge;
use faultlens::spec::ATTACK_SETTINGS;
use faultlens::spec::PRESETS;
use faultlens::targets::service::SERVICES;
use faultlens::train::architecture::ARCHITECTURES;
use faultlens::world::MODELS;
use faultlens::{Hazard, Parameter, ParameterKind, Plugin, Unset};
use serde_json::{Value, json};

use crate::args::{Category, ListArgs};
use crate::console::Console;

/// Shows the categories.
pub(crate) fn run(args: &ListArgs, console: &mut Console) -> anyhow::Result<u8> {
    let categories =
        Category::value_variants().iter().filter(|s| args.category.is_none_or(|a| a == **s));
    for (at, category) in categories.enumerate() {
        let entries = entries(*category);
        if args.json {
            for entry in &entries {
                console.json(&entry.json(name(*category)))?;
            }
            continue;
        }
        let gap = if at == 0 { "" } else { "\n" };
        console.line(format_args!("{gap}{}", name(*category)))?;
        let common = common(&entries);
        entries.iter().try_for_each(|entry| entry.show(&common, console))?;
        if !common.is_empty() {
            console.line("\n  shared parameters")?;
            common.iter().try_for_each(|parameter| describe(parameter, console))?;
        }
    }
    Ok(exit::OK)
}

fn name(category: Category) -> &'static str {
    match category {
        Category::Faults => "faults",
        Category::Oracles => "oracles",
        Category::Guards => "guards",
        Category::Defences => "defences",
        Category::Services => "services",
        Category::Presets => "presets",
        Category::Formats => "formats",
        Category::Attributes => "attributes",
        Category::Architectures => "architectures",
        Category::Models => "models",
        Category::Tolerances => "tolerances",
    }
}

/// Something that can be named.
struct Entry {
    name: String,
    about: String,
    when: &'static str,
    /// What a fault on images stands for.
    hazard: Option<Hazard>,
    parameters: Vec<&'static Parameter>,
    /// What `within` can draw of a fault.
    strengths: Option<Strengths>,
    /// What people tolerate.
    tolerance: Option<Tolerance>,
}

/// The strengths of a fault that can be drawn.
struct Strengths {
    photo: &'static Domain,
    small: &'static Domain,
}

fn entries(category: Category) -> Vec<Entry> {
    match category {
        Category::Faults => {
            let on = |on: &str, mut entry: Entry| {
                entry.about = format!("{} ({on})", entry.about);
                entry
            };
            let image = IMAGE_FAULTS.iter().map(|plugin| {
                let hazard = image::facts(plugin.name).and_then(|facts| facts.hazard);
                let strengths = Strengths::of(plugin.name);
                on("image", Entry { hazard, strengths, ..plugged(plugin) })
            });
            let model = MODEL_FAULTS.iter().map(|plugin| on("model", plugged(plugin)));
            let attacks = ATTACKS.iter().map(|plugin| {
                let mut entry = on("attack", plugged(plugin));
                entry.parameters.extend(ATTACK_SETTINGS);
                entry
            });
            let scene = SCENE_FAULTS.iter().map(|plugin| on("scene", plugged(plugin)));
            image.chain(model).chain(attacks).chain(scene).collect()
        }
        Category::Oracles => ORACLES.iter().map(plugged).collect(),
        Category::Guards => GUARDS.iter().map(plugged).collect(),
        Category::Defences => DEFENCES.iter().map(plugged).collect(),
        Category::Services => {
            SERVICES.iter().map(|service| plain(service.name, service.about)).collect()
        }
        Category::Presets => {
            PRESETS.iter().map(|preset| plain(preset.name, preset.about)).collect()
        }
        Category::Formats => {
            FORMATS.iter().map(|format| plain(format.name, format.about)).collect()
        }
        Category::Attributes => ATTRIBUTES.iter().map(|(name, about)| plain(name, about)).collect(),
        Category::Architectures => {
            ARCHITECTURES.iter().map(|network| plain(network.name, network.about)).collect()
        }
        Category::Models => {
            MODELS.iter().map(|model| plain(&format!("world:{}", model.name), "")).collect()
        }
        Category::Tolerances => {
            Tolerance::names().filter_map(Tolerance::named).map(people).collect()
        }
    }
}

fn plugged<T: ?Sized>(plugin: &Plugin<T>) -> Entry {
    let Plugin { name, about, when, parameters, .. } = *plugin;
    Entry { when, parameters: parameters.iter().collect(), ..plain(name, about) }
}

fn plain(name: &str, about: &str) -> Entry {
    Entry {
        name: name.to_owned(),
        about: about.to_owned(),
        when: "",
        hazard: None,
        parameters: Vec::new(),
        strengths: None,
        tolerance: None,
    }
}

fn people(tolerance: Tolerance) -> Entry {
    let faults = counted(tolerance.thresholds.len() as u64, "fault");
    let about = format!("how much visual change people tolerate, for {faults}");
    Entry { tolerance: Some(tolerance.clone()), ..plain(&tolerance.name, &about) }
}

impl Strengths {
    fn of(fault: &str) -> Option<Self> {
        Some(Self { photo: domain(fault, false)?, small: domain(fault, true)? })
    }

    fn show(&self, console: &mut Console) -> anyhow::Result<()> {
        let Self { photo, small } = self;
        console.line(format_args!("  {:20} within draws: {}", "", drawn(photo)))?;
        if small != photo {
            console.line(format_args!("  {:20} in small images: {}", "", drawn(small)))?;
        }
        Ok(())
    }

    fn json(&self) -> Value {
        let [photo, small] = [self.photo, self.small]
            .map(|domain| domain.ranges.iter().map(|Range { parameter, from, to, whole }: &Range| json!({"parameter": parameter, "from": from, "to": to, "whole": whole})).collect::<Vec<Value>>());
        json!({"together": self.photo.together, "photo": photo, "small": small})
    }
}

/// The ranges of a domain, without those that do not run.
fn drawn(domain: &Domain) -> String {
    let short = |number: f64| (1000.0 * number).round() / 1000.0;
    let range = |Range { parameter, from, to, whole }: &Range| {
        let whole = if *whole { " (whole)" } else { "" };
        format!("{parameter} from {} to {}{whole}", short(*from), short(*to))
    };
    let ranges = domain.ranges.iter().filter(|range| range.from != range.to).map(range);
    let each = if domain.together { "" } else { ", independent of each other" };
    ranges.collect::<Vec<_>>().join(", ") + each
}

fn show_tolerance(of: &Tolerance, console: &mut Console) -> anyhow::Result<()> {
    console.line(format_args!("  {:20} source: {}", "", of.source))?;
    for one in &of.thresholds {
        let [t_c, t_p] = [&one.correctness, &one.prediction].map(with_interval);
        console.line(format_args!("      {:16} t_c {t_c}, t_p {t_p}", one.fault))?;
    }
    Ok(())
}

/// "0.61 [0.47, 0.72]".
fn with_interval(of: &Option<Tolerated>) -> String {
    let Some(of) = of else { return "–".to_owned() };
    match of.interval {
        Some((low, high)) => format!("{} [{}, {}]", edge(of.at_most), edge(low), edge(high)),
        None => edge(of.at_most),
    }
}

fn tolerance_json(of: &Tolerance) -> Value {
    let thresholds = of.thresholds.iter().map(|one| {
        let [t_c, t_p] = [&one.correctness, &one.prediction]
            .map(|of: &Option<Tolerated>| of.as_ref().map(|of| of.at_most));
        let [t_c_interval, t_p_interval] = [&one.correctness, &one.prediction]
            .map(|of: &Option<Tolerated>| of.as_ref().and_then(|of| of.interval));
        let entry = json!({
            "t_c": t_c, "t_c_interval": t_c_interval,
            "t_p": t_p, "t_p_interval": t_p_interval,
        });
        (one.fault.to_string(), entry)
    });
    let thresholds: serde_json::Map<String, Value> = thresholds.collect();
    json!({"source": of.source, "originals_accuracy": of.originals, "thresholds": thresholds})
}

impl Entry {
    fn show(&self, common: &[&Parameter], console: &mut Console) -> anyhow::Result<()> {
        console.line(format_args!("  {:20} {}", self.name, self.about).to_string().trim_end())?;
        if !self.when.is_empty() {
            console.line(format_args!("  {:20} when: {}", "", self.when))?;
        }
        if let Some(hazard) = self.hazard {
            console.line(format_args!("  {:20} hazard: {hazard}", ""))?;
        }
        if let Some(strengths) = &self.strengths {
            strengths.show(console)?;
        }
        if let Some(tolerance) = &self.tolerance {
            show_tolerance(tolerance, console)?;
        }
        let (shared, own): (Vec<&Parameter>, Vec<&Parameter>) = self
            .parameters
            .iter()
            .copied()
            .partition(|one| common.iter().any(|other| is_same(one, other)));
        own.iter().try_for_each(|parameter| describe(parameter, console))?;
        if !shared.is_empty() {
            let names: Vec<&str> = shared.iter().map(|parameter| parameter.name).collect();
            let besides = if own.is_empty() { "takes" } else { "and" };
            console.line(format_args!("      {besides} {}", names.join(", ")))?;
        }
        Ok(())
    }

    fn json(&self, category: &str) -> Value {
        let parameters: Vec<Value> = self
            .parameters
            .iter()
            .copied()
            .map(|parameter: &Parameter| {
                json!({
                    "name": parameter.name,
                    "about": parameter.about,
                    "takes": takes(&parameter.kind),
                    "required": parameter.unset == Unset::Required,
                    "default": match &parameter.unset {
                        Unset::Is(setting) => Some(setting.to_string()),
                        Unset::Required | Unset::Absent => None,
                    },
                })
            })
            .collect();
        json!({
            "category": category,
            "name": self.name,
            "about": self.about,
            "when": self.when,
            "hazard": self.hazard.map(|hazard| json!({
                "place": hazard.place.to_string(),
                "parameter": hazard.parameter,
                "guide_word": hazard.guide_word,
            })),
            "parameters": parameters,
            "strengths": self.strengths.as_ref().map(Strengths::json),
            "tolerance": self.tolerance.as_ref().map(tolerance_json),
        })
    }
}

/// Parameters that several entries share are described once, below them.
const SEVERAL: usize = 3;

fn common(entries: &[Entry]) -> Vec<&'static Parameter> {
    let all = || entries.iter().flat_map(|entry| entry.parameters.iter().copied());
    let mut common: Vec<&'static Parameter> = Vec::new();
    for parameter in all() {
        let several = all().filter(|other| is_same(parameter, other)).count() >= SEVERAL;
        if several && !common.iter().any(|other| is_same(parameter, other)) {
            common.push(parameter);
        }
    }
    common
}

fn is_same(a: &Parameter, b: &Parameter) -> bool {
    (a.name, a.about, a.kind, &a.unset) == (b.name, b.about, b.kind, &b.unset)
}

fn describe(parameter: &Parameter, console: &mut Console) -> anyhow::Result<()> {
    let takes = takes(&parameter.kind);
    let unset = unset(&parameter.unset);
    console.line(format_args!("      {:14} {}", parameter.name, parameter.about))?;
    Ok(console.line(format_args!("      {:14} {takes}{unset}", ""))?)
}

/// A number as people write it, however large.
fn written(number: f64) -> String {
    if number.abs() < 1e6 { number.to_string() } else { format!("{number:e}") }
}

fn takes(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Whole { min, max } => format!("a whole number from {min} to {max}"),
        ParameterKind::Number { min, max } => {
            format!("a number from {} to {}", written(*min), written(*max))
        }
        ParameterKind::Choice(words) => format!("one of {}", words.join(", ")),
        ParameterKind::Names => "a list of names".to_owned(),
    }
}

fn unset(unset: &Unset) -> String {
    match unset {
        Unset::Required => "; must be set".to_owned(),
        Unset::Absent => String::new(),
        Unset::Is(setting) => format!("; by default {setting}"),
    }
}
