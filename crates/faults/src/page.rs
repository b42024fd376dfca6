//! The reference page of everything that can disturb or defend a target, made from the registries,
//! so that documentation and program cannot disagree.

use crate::image;
use crate::{DEFENCES, IMAGE_FAULTS, SCENE_FAULTS};
use faultlens_core::{Parameter, ParameterKind, Plugin, Setting, Unset};

const INTRODUCTION: &str = "# Faults, attacks and defences

Everything that `faultlens list faults` and `faultlens list defences` name, with all parameters. This
page is made from the registries: `cargo run --release -p faultlens --example fault_pages`.
";

const IMAGE_FAULTS_INTRODUCTION: &str = "
Each picture shows a scene of the embedded world, undisturbed and under severities 1, 3 and 5.

A fault takes a `severity` from 1 to 5, or its own numbers, which may replace some of those that the
severity stands for. `table: cifar10-c` gives severities the milder numbers that images of about
32×32 pixels need. The same seed gives the same pixels, on every CPU and any number of threads. See
[image-faults.md](image-faults.md) for presets, commands, fidelity and speed.

The hazard is the one of the vision process that a fault stands for, in the terms of CV-HAZOP (Zendel
et al. 2015): where between light source, medium, object and observer something deviates, what
deviates, and how.
";

/// The page in Markdown.
pub fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    page += &format!("\n# {} image faults\n", IMAGE_FAULTS.len());
    page += IMAGE_FAULTS_INTRODUCTION;
    for plugin in IMAGE_FAULTS {
        image_fault(&mut page, plugin.name);
        parameters(&mut page, plugin.parameters);
    }
    #[cfg(feature = "model")]
    section(
        &mut page,
        "model faults",
        "How places are selected is the same for all: [model-faults.md](model-faults.md).",
        crate::MODEL_FAULTS,
    );
    #[cfg(feature = "attack")]
    section(
        &mut page,
        "attacks",
        "Goals, budgets and limits are the same for all: [attacks.md](attacks.md).",
        crate::ATTACKS,
    );
    section(
        &mut page,
        "scene faults",
        "Object pools, oracles and findings are described in [scenes.md](scenes.md).",
        SCENE_FAULTS,
    );
    section(
        &mut page,
        "defences",
        "What a defence is worth under attack is described in [attacks.md](attacks.md).",
        DEFENCES,
    );
    page
}

fn image_fault(page: &mut String, name: &str) {
    let Some(facts) = image::facts(name) else { return };
    let what = facts.what();
    let when = facts.when();
    *page += &format!("\n## {name}\n\n{what}\n\n*When it happens:* {when}.\n\n");
    if let Some(cause) = image::cause(name) {
        *page += &format!("*Cause:* {cause}\n\n");
    }
    if let Some(hazard) = facts.hazard {
        *page += &format!("*Hazard:* {hazard}\n\n");
    }
    if facts.moves {
        *page += "*Moves content:* boxes and masks move along.\n\n";
    }
    *page += &format!("![{name}](images/faults/{name}.jpg)\n");
}

fn section<T: ?Sized>(page: &mut String, title: &str, text: &str, plugins: &[Plugin<T>]) {
    *page += &format!("\n# {} {title}\n\n{text}\n", plugins.len());
    for plugin in plugins {
        let Plugin { name, about, when, .. } = plugin;
        *page += &format!("\n## {name}\n\n{about}.\n\n*When:* {when}.\n");
        parameters(page, plugin.parameters);
    }
}

fn parameters(page: &mut String, parameters: &[Parameter]) {
    if parameters.is_empty() {
        return;
    }
    *page += "\n| parameter | takes | default | meaning |\n|---|---|---|---|\n";
    for Parameter { name, about, kind, unset } in parameters {
        let takes = match kind {
            ParameterKind::Whole { min, max } => format!("{min} to {max}"),
            ParameterKind::Number { min, max } => format!("{min} to {max}"),
            ParameterKind::Choice(words) => words.join(", "),
            ParameterKind::Names => "a list of names".to_owned(),
        };
        let default = match unset {
            Unset::Required => "must be set".to_owned(),
            Unset::Absent => String::new(),
            Unset::Is(Setting::Names(names)) => names.join(", "),
            Unset::Is(setting) => setting.to_string(),
        };
        // A parameter's text may use a vertical bar, which would end the cell.
        let about = about.replace('|', "\\|");
        *page += &format!("| `{name}` | {takes} | {default} | {about} |\n");
    }
}
