//! `faultlens list`: everything that can be named, from the registries.

use clap::ValueEnum;
use faultlens::campaign::analysis::ATTRIBUTES;
use faultlens::campaign::config::PRESETS;
use faultlens::data::FORMATS;
use faultlens::faults::{IMAGE_FAULTS, MODEL_FAULTS};
use faultlens::judge::{GUARDS, ORACLES};
use faultlens::train::architecture::ARCHITECTURES;
use faultlens::world::MODELS;
use faultlens::{Parameter, ParameterKind, Plugin, Unset, exit};
use serde_json::{Value, json};

use crate::args::{ListArgs, Shelf};
use crate::console::Console;

/// Shows the shelves.
pub(crate) fn run(args: &ListArgs, console: &mut Console) -> anyhow::Result<u8> {
    let shelves = Shelf::value_variants().iter().filter(|s| args.shelf.is_none_or(|a| a == **s));
    for (at, shelf) in shelves.enumerate() {
        let entries = entries(*shelf);
        if args.json {
            for entry in &entries {
                console.json(&entry.json(name(*shelf)))?;
            }
            continue;
        }
        let gap = if at == 0 { "" } else { "\n" };
        console.line(format_args!("{gap}{}", name(*shelf)))?;
        entries.iter().try_for_each(|entry| entry.show(console))?;
    }
    Ok(exit::OK)
}

fn name(shelf: Shelf) -> &'static str {
    match shelf {
        Shelf::Faults => "faults",
        Shelf::Oracles => "oracles",
        Shelf::Guards => "guards",
        Shelf::Presets => "presets",
        Shelf::Formats => "formats",
        Shelf::Attributes => "attributes",
        Shelf::Architectures => "architectures",
        Shelf::Models => "models",
    }
}

/// Something that can be named.
struct Entry {
    name: String,
    about: String,
    when: &'static str,
    parameters: &'static [Parameter],
}

fn entries(shelf: Shelf) -> Vec<Entry> {
    match shelf {
        Shelf::Faults => {
            let on = |on: &str, mut entry: Entry| {
                entry.about = format!("{} ({on})", entry.about);
                entry
            };
            let image = IMAGE_FAULTS.iter().map(|plugin| on("image", plugged(plugin)));
            image.chain(MODEL_FAULTS.iter().map(|plugin| on("model", plugged(plugin)))).collect()
        }
        Shelf::Oracles => ORACLES.iter().map(plugged).collect(),
        Shelf::Guards => GUARDS.iter().map(plugged).collect(),
        Shelf::Presets => PRESETS.iter().map(|preset| plain(preset.name, preset.about)).collect(),
        Shelf::Formats => FORMATS.iter().map(|format| plain(format.name, format.about)).collect(),
        Shelf::Attributes => ATTRIBUTES.iter().map(|(name, about)| plain(name, about)).collect(),
        Shelf::Architectures => {
            ARCHITECTURES.iter().map(|network| plain(network.name, network.about)).collect()
        }
        Shelf::Models => {
            MODELS.iter().map(|model| plain(&format!("world:{}", model.name), "")).collect()
        }
    }
}

fn plugged<T: ?Sized>(plugin: &Plugin<T>) -> Entry {
    let Plugin { name, about, when, parameters, .. } = *plugin;
    Entry { when, parameters, ..plain(name, about) }
}

fn plain(name: &str, about: &str) -> Entry {
    Entry { name: name.to_owned(), about: about.to_owned(), when: "", parameters: &[] }
}

impl Entry {
    fn show(&self, console: &mut Console) -> anyhow::Result<()> {
        console.line(format_args!("  {:18} {}", self.name, self.about).to_string().trim_end())?;
        if !self.when.is_empty() {
            console.line(format_args!("  {:18} when: {}", "", self.when))?;
        }
        for parameter in self.parameters {
            let (takes, unset) = (takes(&parameter.kind), unset(&parameter.unset));
            console.line(format_args!("      {:14} {}", parameter.name, parameter.about))?;
            console.line(format_args!("      {:14} {takes}{unset}", ""))?;
        }
        Ok(())
    }

    fn json(&self, shelf: &str) -> Value {
        let parameter = |parameter: &Parameter| {
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
        };
        let parameters: Vec<Value> = self.parameters.iter().map(parameter).collect();
        json!({
            "shelf": shelf,
            "name": self.name,
            "about": self.about,
            "when": self.when,
            "parameters": parameters,
        })
    }
}

fn takes(kind: &ParameterKind) -> String {
    match kind {
        ParameterKind::Whole { least, most } => format!("a whole number from {least} to {most}"),
        ParameterKind::Number { least, most } => format!("a number from {least:e} to {most:e}"),
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
