//! What can be named, and what is made from the command line's own description.

use std::collections::BTreeSet;

use faultlens::faults::{ATTACKS, IMAGE_FAULTS, MODEL_FAULTS, SCENE_FAULTS, image};
use faultlens::judge::{GUARDS, ORACLES, Tolerance};
use faultlens::spec::PRESETS;
use faultlens::{data, train, world};
use serde_json::Value;

use super::small::{assert_keys, done, object};
use crate::folder::{Folder, json};

#[test]
fn every_entry_of_every_registry_is_listed() {
    let folder = Folder::new("campaign_list");
    let listed = json(&done(&folder, "list --json").stdout);
    let mut wanted = BTreeSet::new();
    let mut category = |category: &str, names: Vec<String>| {
        wanted.extend(names.into_iter().map(|name| (category.to_owned(), name)));
    };
    category("faults", IMAGE_FAULTS.iter().map(|plugin| plugin.name.to_owned()).collect());
    category("faults", MODEL_FAULTS.iter().map(|plugin| plugin.name.to_owned()).collect());
    category("faults", ATTACKS.iter().map(|plugin| plugin.name.to_owned()).collect());
    category("faults", SCENE_FAULTS.iter().map(|plugin| plugin.name.to_owned()).collect());
    category("oracles", ORACLES.iter().map(|plugin| plugin.name.to_owned()).collect());
    category("guards", GUARDS.iter().map(|plugin| plugin.name.to_owned()).collect());
    category("presets", PRESETS.iter().map(|preset| preset.name.to_owned()).collect());
    category("formats", data::FORMATS.iter().map(|format| format.name.to_owned()).collect());
    let networks = train::architecture::ARCHITECTURES.iter();
    category("architectures", networks.map(|network| network.name.to_owned()).collect());
    let models = world::MODELS.iter().map(|model| format!("world:{}", model.name));
    category("models", models.collect());
    category("tolerances", Tolerance::names().map(str::to_owned).collect());
    let found: BTreeSet<(String, String)> = listed
        .iter()
        .map(|entry| {
            let keys = [
                "category",
                "name",
                "about",
                "when",
                "hazard",
                "parameters",
                "strengths",
                "tolerance",
            ];
            assert_keys(entry, &keys);
            let text = |key: &str| entry[key].as_str().unwrap().to_owned();
            (text("category"), text("name"))
        })
        .collect();
    let missing: Vec<_> = wanted.difference(&found).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(found.len(), listed.len(), "no entry twice");
    let plain = done(&folder, "list").stdout;
    assert!(found.iter().all(|(_, name)| plain.contains(name)));
    let faults = json(&done(&folder, "list faults --json").stdout);
    let inside = MODEL_FAULTS.len() + ATTACKS.len() + SCENE_FAULTS.len();
    assert_eq!(faults.len(), IMAGE_FAULTS.len() + inside);
    let hazard = |name: &str| &faults.iter().find(|fault| fault["name"] == name).unwrap()["hazard"];
    let fog = hazard("fog");
    assert_keys(fog, &["place", "parameter", "guide_word"]);
    assert_eq!((&fog["place"], hazard("unchanged")), (&"medium".into(), &Value::Null));
    assert!(plain.contains("hazard: medium, particles: as well as"), "{plain}");
}

#[test]
fn strengths_that_can_be_drawn_are_listed() {
    let folder = Folder::new("campaign_list_strengths");
    let faults = json(&done(&folder, "list faults --json").stdout);
    let of = |name: &str| &faults.iter().find(|fault| fault["name"] == name).unwrap()["strengths"];
    let drawn = faults.iter().filter(|fault| fault["strengths"].is_object()).count();
    let wanted = image::all_facts().filter(|facts| facts.domain.is_some()).count();
    assert_eq!((drawn, of("black"), of("bit_flip")), (wanted, &Value::Null, &Value::Null));
    let blur = of("defocus_blur");
    assert_keys(blur, &["together", "photo", "small"]);
    let radius = |from: f64| serde_json::json!({"parameter": "radius", "from": from, "to": 10.0, "whole": false});
    assert_eq!((&blur["photo"][0], &blur["small"][0]), (&radius(1.0), &radius(0.0)));
    assert_eq!(of("jpeg_compression")["photo"][0]["whole"], true);
    assert_eq!(of("rgb_shift")["together"], false);
    let text = done(&folder, "list faults").stdout;
    for wanted in [
        "within draws: quality from 100 to 1 (whole)\n",
        "within draws: radius from 1 to 10, softness from 0 to 1\n",
        "in small images: radius from 0 to 10, softness from 0 to 1\n",
        "red from 0.588 to 1.569, green from 0.588 to 1.569, blue from 0.588 to 1.569, independent of each other",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn tolerances_are_listed_with_their_source_and_thresholds() {
    let folder = Folder::new("campaign_list_tolerances");
    let listed = json(&done(&folder, "list tolerances --json").stdout);
    let imagenet = &listed.iter().find(|one| one["name"] == "imagenet-car").unwrap()["tolerance"];
    assert_keys(imagenet, &["source", "originals_accuracy", "thresholds"]);
    assert!(imagenet["source"].as_str().unwrap().contains("doi:10.1145/3510003.3510109"));
    let frost = serde_json::json!({
        "t_c": 0.84, "t_c_interval": [0.79, 0.86],
        "t_p": 0.91, "t_p_interval": [0.87, 0.94],
    });
    assert_eq!(imagenet["thresholds"]["frost"], frost);
    let text = done(&folder, "list tolerances").stdout;
    assert!(
        text.contains("source: Hu et al.")
            && text.contains("frost            t_c 0.84 [0.79, 0.86], t_p 0.91 [0.87, 0.94]")
    );
}

#[test]
fn every_fault_that_is_listed_can_be_planned() {
    let folder = Folder::new("campaign_list_plan");
    for fault in json(&done(&folder, "list faults --json").stdout) {
        let name = fault["name"].as_str().unwrap();
        let mut settings = String::new();
        for parameter in fault["parameters"].as_array().unwrap() {
            let parameter_name = parameter["name"].as_str().unwrap();
            // A severity stands for the numbers that an image fault needs.
            if parameter["required"] == true || parameter_name == "severity" {
                settings += &format!(", {parameter_name}: 1");
            }
        }
        let scene = SCENE_FAULTS.iter().any(|plugin| plugin.name == name);
        let objects = if scene { "objects: world:scenes:2\n" } else { "" };
        let campaign = format!(
            "targets: [{{model: world:signs-shallow}}]\ncases: {{data: 'world:signs:1'}}\n{objects}faults: [{{fault: {name}{settings}}}]\n"
        );
        folder.text("c.yaml", &campaign);
        let plan = object(&done(&folder, "plan c.yaml --json"));
        assert!(plan["trials"].as_u64().unwrap() >= 1, "{campaign}");
        assert_eq!(plan["faults"][0]["at_most"], scene, "{campaign}");
    }
}

#[test]
fn the_schema_names_every_fault_and_key() {
    let folder = Folder::new("campaign_schema");
    let text = done(&folder, "schema").stdout;
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert!(schema["$schema"].as_str().unwrap().contains("json-schema.org"));
    for key in ["targets", "cases", "faults", "requirements", "pinned", "stop", "oracle"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
    for name in IMAGE_FAULTS.iter().map(|p| p.name).chain(MODEL_FAULTS.iter().map(|p| p.name)) {
        assert!(text.contains(&format!("\"{name}\"")), "{name}");
    }
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let folder = Folder::new("campaign_man");
    let help = done(&folder, "--help").stdout;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    let commands: Vec<&str> = list
        .lines()
        .map_while(|line| line.split_whitespace().next())
        .filter(|c| *c != "help")
        .collect();
    assert!(commands.contains(&"run") && commands.len() > 15, "{commands:?}");
    for shell in ["bash", "zsh", "fish"] {
        let script = done(&folder, &format!("completions {shell}")).stdout;
        assert!(commands.iter().all(|command| script.contains(command)), "{shell}");
    }
    let page = done(&folder, "man").stdout;
    assert!(page.contains(".TH faultlens 1"), "{page}");
    done(&folder, "man pages");
    for command in commands {
        assert!(page.contains(command), "{command}");
        let own = std::fs::read_to_string(folder.path(&format!("pages/faultlens-{command}.1")));
        assert!(own.unwrap().contains(".SH SYNOPSIS"), "{command}");
    }
}

#[test]
fn the_demo_needs_no_file_and_ends_with_a_report() {
    let folder = Folder::new("campaign_demo");
    let run = done(&folder, "demo --output shown");
    assert!(run.stdout.ends_with("report: shown/report.html\n"), "{}", run.stdout);
    let html = std::fs::read_to_string(folder.path("shown/report.html")).unwrap();
    assert!(html.contains("signs under faults") && html.trim_end().ends_with("</html>"));
    let scenes = std::fs::read_to_string(folder.path("shown/scenes/report.html")).unwrap();
    assert!(scenes.contains("a detector in changed scenes"));
    // The same command again has nothing to do but to tell.
    let again = done(&folder, "demo --output shown --json");
    assert!(again.stderr.contains("complete: 0 trials"), "{}", again.stderr);
    let summary = object(&again);
    assert!(summary["findings"].as_array().unwrap().len() > 2, "{}", summary["findings"]);
    assert_eq!(summary["targets"].as_array().unwrap().len(), 3);
    assert_eq!(summary["requirements"].as_array().unwrap().len(), 3);
    assert!(folder.path("shown/protection.json").is_file());
    assert_eq!(summary["progress"]["complete"], true);
}
