//! The campaign file from outside: what it means, what is refused and how, and that the JSON
//! schema says the same.
#![expect(clippy::unwrap_used, reason = "tests")]

mod schema;
mod validator;

use faultlens_core::{OutcomeKind, Setting};
use faultlens_data::Sampling;
use faultlens_spec::{
    Campaign, Method, PRESETS, Quantity, RateKind, Source, TargetSpec, example, schema,
};
use faultlens_targets::PartialDescription;
use faultlens_vision::OutputKind;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use validator::faults_of;

const FULL: &str = r#"
name: signs under bit flips
seed: 7
threads: 2
output: runs/signs
targets:
  - model: world:signs-deep
    name: deep
  - model: models/net.onnx
    input: {size: [32, 32], channels: bgr}
    output: {kind: logits, softmax: true}
    labels: labels.txt
cases:
  data: set
  format: coco
  part: test
  label_column: label
  sample: {count: 100, how: balanced}
faults:
  - fault: bit_flip
    in: weights
    bit: [23, 30, 31]
    operators: [Conv, Gemm]
    trials: 20
  - fault: gaussian_noise
    severity: 1..5
  - preset: exponent_bits
oracle: {name: same_top, k: 2}
guards: [golden_correct]
intervals: {method: clopper_pearson, confidence: 0.9}
requirements:
  - rate: changed
    at_most: 0.05
    where: {fault: bit_flip, target: deep, bit: 30, label: 007}
    name: flips
  - rate: failed
    at_most: 1
pinned: [pins.yaml, more.yaml]
examples: 0
"#;

const LEAST: &str = "targets: [{model: world:steering}]
cases: {data: world:scenes}
faults: [{fault: zero}]
";

fn parse(text: &str) -> Campaign {
    Campaign::parse(text, Path::new("dir/signs.yaml")).unwrap_or_else(|error| panic!("{error}"))
}

fn refused(text: &str) -> String {
    Campaign::parse(text, Path::new("a.yaml")).unwrap_err().to_string()
}

fn instead(from: &str, to: &str) -> String {
    assert!(FULL.contains(from), "{from}");
    FULL.replacen(from, to, 1)
}

fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap()
}

fn source(target: &TargetSpec) -> (&Path, &PartialDescription) {
    match &target.source {
        Source::Model { path, written } => (path, written),
        Source::Service(_) | Source::Own { .. } => panic!("a model"),
    }
}

#[test]
fn every_key_arrives() {
    let campaign = parse(FULL);
    assert_eq!((campaign.name.as_str(), campaign.seed), ("signs under bit flips", 7));
    assert_eq!((campaign.threads, campaign.examples), (Some(2), 0));
    assert_eq!(campaign.output, PathBuf::from("runs/signs"));
    let [deep, net] = &campaign.targets[..] else { panic!("{:?}", campaign.targets) };
    let (model, written) = source(deep);
    assert_eq!((deep.name.as_str(), model), ("deep", Path::new("world:signs-deep")));
    assert_eq!(*written, Default::default());
    let (model, written) = source(net);
    assert_eq!((net.name.as_str(), model), ("net", Path::new("dir/models/net.onnx")));
    assert_eq!(written.labels.as_deref(), Some(Path::new("dir/labels.txt")));
    assert_eq!(written.input.as_ref().unwrap().size, [32, 32]);
    assert_eq!(written.output.as_ref().unwrap().kind, OutputKind::Logits);
    let cases = &campaign.cases;
    assert_eq!((cases.data.as_str(), cases.format.unwrap().name), ("dir/set", "coco"));
    assert_eq!(cases.part.as_deref(), Some("test"));
    assert_eq!(cases.label_column.as_deref(), Some("label"));
    let sample = cases.sample.unwrap();
    assert_eq!((sample.count, sample.how), (100, Sampling::Balanced));
    assert_eq!(campaign.pinned, [Path::new("dir/pins.yaml"), Path::new("dir/more.yaml")]);
    assert_eq!(campaign.text, FULL);
}

#[test]
fn faults_judge_and_requirements_arrive() {
    let campaign = parse(FULL);
    let points: Vec<(&str, u32)> =
        campaign.faults.iter().map(|point| (point.label.as_str(), point.trials)).collect();
    assert_eq!(points.len(), 3 + 5 + 16);
    assert_eq!(points[1], ("bit_flip bit=30 in=weights operators=[Conv, Gemm]", 20));
    assert_eq!(points[3], ("gaussian_noise severity=1", 1));
    assert_eq!(campaign.judge.oracle.1.get("k"), Some(&Setting::Number(2.0)));
    assert_eq!(campaign.judge.guards[0].0, "golden_correct");
    assert_eq!(campaign.intervals.method, Method::ClopperPearson);
    assert_eq!(campaign.intervals.level.confidence(), 0.9);
    let [flips, failed] = &campaign.requirements[..] else { panic!("{:?}", campaign.requirements) };
    assert_eq!(flips.quantity, Quantity::Rate(RateKind::Of(OutcomeKind::Changed)));
    let wanted = "flips: changed ≤ 5% where bit = 30 and fault = bit_flip and label = 007 \
                  and target = deep";
    assert_eq!(flips.to_string(), wanted);
    assert_eq!(failed.to_string(), "failed ≤ 100%");
    assert_eq!(failed.max_skipped, 0.05);
    let with = |share: &str| {
        let text =
            format!("{LEAST}requirements: [{{rate: failed, at_most: 1, max_skipped: {share}}}]\n");
        Campaign::parse(&text, Path::new("signs.yaml"))
    };
    for (share, wanted) in [("0", 0.0), ("0.2", 0.2), ("1", 1.0)] {
        assert_eq!(with(share).unwrap().requirements[0].max_skipped, wanted);
    }
    for wrong in ["1.1", "-0.1", "many"] {
        let error = with(wrong).err().unwrap().to_string();
        assert!(error.contains("max_skipped"), "{error}");
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let campaign = parse(LEAST);
    assert_eq!((campaign.name.as_str(), campaign.seed, campaign.threads), ("signs", 1, None));
    assert_eq!((campaign.output.as_path(), campaign.examples), (Path::new("runs/signs"), 3));
    assert_eq!((campaign.targets[0].name.as_str(), campaign.faults[0].trials), ("steering", 1));
    assert_eq!(campaign.cases.data, "world:scenes");
    assert_eq!((campaign.judge.oracle.0, campaign.judge.guards.len()), ("same_top", 0));
    assert_eq!((campaign.intervals.method, campaign.stop), (Method::Wilson, None));
    let stop = parse(&format!("{LEAST}stop: {{half_width: 0.01}}\n"));
    assert_eq!((stop.stop.unwrap().at_most, stop.faults[0].trials), (1000, 1000));
}

#[test]
fn mistakes_are_shown_with_their_line() {
    let shown = "a.yaml:3:18: no fault is called \"bit_flp\"; did you mean \"bit_flip\"?\n  \
                 |\n3 | faults: [{fault: bit_flp}]\n  |                  ^^^^^^^";
    assert_eq!(refused(&LEAST.replace("zero", "bit_flp")), shown);
}

/// What is written instead of what in the full example, and the message's place and words.
#[rustfmt::skip]
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    ("seed:", "seeed:", "3:1:", "a campaign has no key \"seeed\"; did you mean \"seed\"?"),
    ("seed: 7", "seed: -7", "3:7:", "seed takes a whole number of 0 or more, not -7"),
    ("name: signs under bit flips", "name: 12", "2:7:", "name takes text, not 12; put it in quotes"),
    ("labels: labels", "lables: labels", "12:5:", "targets has no key \"lables\"; did you mean \"labels\"?"),
    ("name: deep", "name: net", "9:12:", "two targets are called \"net\"; give one of them another name"),
    ("world:signs-deep", "world:signs-dep", "7:12:", "the embedded world has no model signs-dep; did you mean signs-deep?"),
    ("channels: bgr", "channels: bgt", "10:", "did you mean \"bgr\"?"),
    ("channels: bgr", "chanels: bgr", "10:29:", "did you mean \"channels\"?"),
    ("kind: logits", "kind: values", "11:", "softmax"),
    ("data: set", "data: world:sign", "14:9:", "no set of the embedded world is called \"sign\"; did you mean \"signs\"?"),
    ("data: set", "data: world:signs:0", "14:9:", "world:signs takes a number of pictures from 1 to 200000, such as world:signs:200, not \"0\""),
    ("data: set", "data: world:signs", "15:11:", "the embedded world is no file and has no format; leave it out"),
    ("data: set", "dta: set", "14:3:", "cases has no key \"dta\"; did you mean \"data\"?"),
    ("format: coco", "format: coca", "15:11:", "no format is called \"coca\"; did you mean \"coco\"?"),
    ("how: balanced", "how: even", "18:29:", "how takes random or balanced, not \"even\""),
    ("bit: [23", "bits: [23", "22:5:", "bit_flip has no parameter \"bits\"; did you mean \"bit\"?"),
    ("bit: [23", "bit: [64", "22:11:", "bit takes a whole number from 0 to 63, not 64"),
    ("in: weights", "in: weight", "21:9:", "in takes outputs, layer_outputs, weights or inputs, not \"weight\"; did you mean \"weights\"?"),
    ("operators: [Conv, Gemm]", "operators: []", "23:16:", "operators takes a list of names; this is empty"),
    ("trials: 20", "trials: 0", "24:13:", "trials takes a whole number from 1 to 1000000, not 0"),
    ("severity: 1..5", "severity: high", "26:15:", "severity takes a whole number from 1 to 5, not \"high\""),
    ("    severity: 1..5\n", "    trials: 7\n", "25:5:", "gaussian_noise: set severity (1 to 5), or deviation"),
    ("exponent_bits", "exponent", "27:13:", "no preset is called \"exponent\""),
    ("preset: exponent_bits", "presets: images", "27:5:", "an entry of faults has no key \"presets\"; did you mean \"preset\"?"),
    ("- preset: exponent_bits", "- zero", "27:5:", "an entry of faults reads fault: NAME or preset: NAME, not \"zero\""),
    ("preset: exponent_bits", "fault: gaussian_noise\n    severity: 2", "27:5:", "this fault point is there already: gaussian_noise severity=2"),
    ("preset: exponent_bits", "fault: random_value\n    low: 2", "27:5:", "random_value: low (2) must lie below high (1)"),
    ("k: 2", "k: 0", "28:29:", "k takes a whole number from 1 to 1000, not 0"),
    ("[golden_correct]", "golden_correct", "29:9:", "guards takes a list of guards, not \"golden_correct\""),
    ("confidence: 0.9", "confidence: 95", "30:50:", "confidence takes a number between 0 and 1, not 95"),
    ("rate: changed", "rate: skipped", "32:11:", "no rate is called \"skipped\""),
    ("at_most: 0.05", "at_most: 0", "33:14:", "at_most takes a number above 0 and up to 1, not 0"),
    ("target: deep", "target: depp", "34:38:", "no target of this campaign is called \"depp\"; did you mean \"deep\"?"),
    ("fault: bit_flip, ", "fault: zero, ", "34:20:", "no fault of this campaign is called \"zero\"; known: bit_flip, gaussian_noise"),
    ("examples: 0", "examples: 51", "39:11:", "examples takes a whole number from 0 to 50, not 51"),
    ("examples: 0", "stop: {half_width: 0.1}", "24:5:", "trials and stop exclude each other"),
    ("examples: 0", "stop: {half_width: 0.5}", "39:20:", "half_width takes a number between 0 and 0.5, not 0.5"),
    ("examples: 0", "stop: {at_most: 5}", "39:7:", "stop needs half_width"),
    ("examples: 0", "stop:", "39:", "stop takes keys such as half_width, and there is nothing"),
    ("examples: 0", "seed: 8", "39:1:", "seed is there twice"),
];

#[test]
fn every_mistake_has_its_place_and_its_words() {
    for (from, to, place, wanted) in MISTAKES {
        let error = refused(&instead(from, to));
        let first = error.lines().next().unwrap();
        assert!(first.starts_with(&format!("a.yaml:{place}")), "{to}: {error}");
        assert!(first.contains(wanted), "{to}: {error}");
        assert!(error.ends_with('^'), "{to}: {error}");
    }
}

#[test]
fn files_without_the_needed_are_refused() {
    let with = |key: &str| format!("targets: [{{model: a.onnx}}]\ncases: {{data: a}}\n{key}");
    for (text, wanted) in [
        ("".to_owned(), "this file is empty; faultlens init writes one to start from"),
        ("# only this\n".to_owned(), "this file is empty"),
        ("just words".to_owned(), "a campaign takes keys such as name, not \"just words\""),
        (LEAST.replace("targets", "#"), "a campaign needs targets"),
        (LEAST.replace("[{model: world:steering}]", "[]"), "targets takes a list that has"),
        (with("faults: []"), "faults takes a list of faults; this is empty"),
        (with("faults: [\n"), "a.yaml:"),
        (LEAST.replace("world:steering", "'..'"), "model takes an ONNX file or world:NAME"),
    ] {
        let error = refused(&text);
        assert!(error.contains(wanted), "{text}: {error}");
    }
}

#[test]
fn sweeps_have_a_limit_in_all() {
    let entry = |from: u32| format!("{{fault: bit_flip, bit: 0..63, operators: [op{from}]}}");
    let entries = |n| (0..n).map(entry).collect::<Vec<_>>().join(", ");
    let text = |n| LEAST.replace("{fault: zero}", &entries(n));
    assert_eq!(parse(&text(156)).faults.len(), 9984);
    assert!(refused(&text(157)).contains("the sweeps make more than 10000 fault points"));
}

/// Whatever a slip of the hand makes of a file, it is read or refused in words.
#[test]
fn no_text_is_too_odd() {
    let odd = ["", "\t", "\0", "\n", ":", "[", "'", "&a *a", "ü"];
    for (at, _) in FULL.char_indices() {
        let before = &FULL[..at];
        let behind = &FULL[at + 1..];
        let changed = [before.to_owned(), [before, odd[at % odd.len()], behind].concat()];
        for text in changed {
            if let Err(error) = Campaign::parse(&text, Path::new("a.yaml")) {
                assert!(error.to_string().starts_with("a.yaml:"), "{error}");
            }
        }
    }
}

#[test]
fn files_are_read_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.yaml");
    fs::write(&path, LEAST).unwrap();
    assert_eq!(Campaign::load(&path).unwrap().name, "c");
    let load = || Campaign::load(&path).unwrap_err().to_string();
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(load().starts_with("a campaign file is UTF-8 text, and this is not: "));
    fs::write(&path, "# ".repeat(1 << 20)).unwrap();
    assert!(load().starts_with("a campaign file has at most 1 MB"));
    fs::remove_file(&path).unwrap();
    assert!(load().starts_with("cannot read the campaign file: "));
    let error = Campaign::load(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("a campaign is a file, and this is none: "), "{error}");
}

#[test]
fn the_fingerprint_ignores_what_decides_no_record() {
    let one = parse(FULL).fingerprint();
    assert_eq!(one.len(), 64);
    let sorted = "bit:\n    - 23\n    - 0x1e\n    - 31.0\n    in: weights";
    for (from, to) in [
        ("name: signs under", "# a comment\nname: other"),
        ("threads: 2", "threads: 1"),
        ("runs/signs", "runs/other"),
        ("in: weights\n    bit: [23, 30, 31]", sorted),
        ("severity: 1..5", "severity: [1, 2, 3, 4, 5]"),
        ("at_most: 0.05", "at_most: 0.06"),
        ("clopper_pearson, confidence: 0.9", "wilson, confidence: 0.8"),
        ("pinned: [pins.yaml, more.yaml]", ""),
        ("examples: 0", "examples: 9"),
        ("channels: bgr", "channels: bgr, layout: nchw"),
    ] {
        assert_eq!(parse(&instead(from, to)).fingerprint(), one, "{to}");
    }
    let dotted = instead("models/net.onnx", "./models/net.onnx");
    for path in ["/far/away.yaml", "here.yaml", "./here.yaml", "../there.yaml"] {
        for text in [FULL, &dotted] {
            let campaign = Campaign::parse(text, Path::new(path)).unwrap();
            assert_eq!(campaign.fingerprint(), one, "{path}");
        }
    }
}

#[test]
fn the_fingerprint_follows_what_decides_records() {
    let one = parse(FULL).fingerprint();
    for (from, to) in [
        ("seed: 7", "seed: 8"),
        ("models/net.onnx", "net.onnx"),
        ("channels: bgr", "channels: rgb"),
        ("labels.txt", "names.txt"),
        ("data: set", "data: sets"),
        ("format: coco", "format: csv"),
        ("part: test", "part: val"),
        ("how: balanced", "how: random"),
        ("count: 100", "count: 101"),
        ("trials: 20", "trials: 21"),
        ("bit: [23, 30, 31]", "bit: [23, 30]"),
        ("k: 2", "k: 3"),
        ("guards: [golden_correct]", ""),
    ] {
        assert_ne!(parse(&instead(from, to)).fingerprint(), one, "{to}");
    }
    let print = |text: &str| parse(&format!("{LEAST}{text}")).fingerprint();
    assert_ne!(print("stop: {half_width: 0.1}"), print(""));
    let surer = print("stop: {half_width: 0.1}\nintervals: {confidence: 0.9}");
    assert_ne!(print("stop: {half_width: 0.1}"), surer);
    assert_eq!(print("intervals: {confidence: 0.9}"), print(""));
}

#[test]
fn the_example_reads_for_any_paths() {
    for (model, data) in [
        ("world:signs-deep", "world:signs:200"),
        ("my model.onnx", "a: b #c"),
        ("{data}", "\"{model}\"\\ü"),
        ("no", "12"),
    ] {
        let text = example(model, data);
        let campaign = Campaign::parse(&text, Path::new("c.yaml"));
        let campaign = campaign.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(source(&campaign.targets[0]).0, Path::new(model));
        assert_eq!(campaign.cases.data, data);
        assert_eq!(faults_of(&schema(), &yaml(&text)), Vec::<String>::new());
    }
}

/// What is commented out is right as well: without the marks the example has every key, but for
/// `stop`, which excludes `trials`.
#[test]
fn what_the_example_comments_out_reads_too() {
    let text = example("models/a.onnx", "set");
    let bare = |line: &str| match line.trim_start().strip_prefix("# ") {
        Some(code) if is_yaml(code) => line.replacen("# ", "", 1),
        _ => line.to_owned(),
    };
    let all: Vec<String> = text.lines().map(bare).filter(|l| !l.starts_with("stop:")).collect();
    let all = all.join("\n");
    let campaign = Campaign::parse(&all, Path::new("c.yaml")).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(campaign.faults.len(), 1 + 3 + 5 + 1 + 16);
    assert_eq!(campaign.preserve.len(), 1);
    assert_eq!((campaign.requirements.len(), campaign.pinned.len()), (1, 1));
    assert!(source(&campaign.targets[0]).1.input.is_some());
    assert_eq!(faults_of(&schema(), &yaml(&all)), Vec::<String>::new());
    let stopped = text.replace("    trials: 10\n", "").replace("# stop:", "stop:");
    assert!(Campaign::parse(&stopped, Path::new("c.yaml")).unwrap().stop.is_some());
    for key in schema()["properties"].as_object().unwrap().keys() {
        let written = [format!("\n{key}:"), format!("\n# {key}:")];
        assert!(written.iter().any(|key| text.contains(key)), "{key}");
    }
}

/// Whether a comment is an entry and not prose: a lower-case key before a colon, and no sentence.
fn is_yaml(code: &str) -> bool {
    let key = code.trim_start().trim_start_matches("- ").split_once(':').map(|(key, _)| key);
    key.is_some_and(|key| key.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        && !code.ends_with('.')
}

#[test]
fn the_schema_accepts_what_the_parser_accepts() {
    let stop = format!("{LEAST}stop: {{half_width: 0.01, at_most: 3}}\noracle: same_values\n");
    for text in [FULL, LEAST, &stop] {
        parse(text);
        assert_eq!(faults_of(&schema(), &yaml(text)), Vec::<String>::new());
    }
    for preset in PRESETS {
        let text = LEAST.replace("[{fault: zero}]", preset.yaml) + "objects: world:scenes\n";
        parse(&text);
        assert_eq!(faults_of(&schema(), &yaml(&text)), Vec::<String>::new(), "{}", preset.name);
    }
}

/// What only the parser can see: names and numbers within texts, what the engine reads, and keys
/// and points that exclude or repeat each other.
const BEYOND_SCHEMA: &[&str] = &[
    "name: net",
    "world:",
    "kind: values",
    "low: 2",
    "severity: 2",
    "trials: 7",
    "target: depp",
    "fault: zero, ",
    "half_width: 0.1",
    "seed: 8",
];

#[test]
fn the_schema_refuses_what_the_parser_refuses() {
    let mut refused = 0;
    for (from, to, ..) in MISTAKES {
        if BEYOND_SCHEMA.iter().any(|beyond| to.contains(beyond)) {
            continue;
        }
        let text = instead(from, to);
        assert_ne!(faults_of(&schema(), &yaml(&text)), Vec::<String>::new(), "{to}");
        refused += 1;
    }
    assert!(refused > 20, "{refused}");
}

/// The parser, asked for a key that there is not, names exactly the keys of the schema.
#[test]
fn schema_and_parser_have_the_same_keys() {
    let keys = |schema: &Value| {
        schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
    };
    let named = |error: String| {
        let (_, list) = error.lines().next().unwrap().split_once("known: ").unwrap();
        let mut names: Vec<String> = list.split(", ").map(str::to_owned).collect();
        names.sort();
        names
    };
    let schema = schema();
    assert_eq!(named(refused("qqqqqqqqq: 1")), keys(&schema));
    for fault in schema["properties"]["faults"]["items"]["oneOf"].as_array().unwrap() {
        let Some(name) = fault["properties"]["fault"]["const"].as_str() else { continue };
        let entry = format!("{{fault: {name}, qqqqqqqqq: 1}}");
        assert_eq!(named(refused(&LEAST.replace("{fault: zero}", &entry))), keys(fault));
    }
}

/// The documentation's examples are campaigns, and its table of presets is the registry's.
#[test]
fn the_documentation_is_true() {
    let docs = include_str!("../../../../docs/campaign.md");
    let blocks: Vec<&str> =
        docs.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(blocks.len(), 4);
    assert_eq!(parse(blocks[0]).faults.len(), 3 + 5);
    let with = |block: &str| LEAST.replace("faults: [{fault: zero}]\n", block);
    assert_eq!(parse(&with(blocks[1])).faults.len(), 2 * 8 + 10);
    assert_eq!(parse(&with(blocks[2])).faults.len(), 3);
    assert_eq!(parse(&format!("{LEAST}{}", blocks[3])).fingerprint().len(), 64);
    let mistake = docs.split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next());
    let text = blocks[0].replace("bit_flip", "bit_flp");
    let error = Campaign::parse(&text, Path::new("campaign.yaml")).unwrap_err();
    assert_eq!(Some(error.to_string().as_str()), mistake);
    for preset in PRESETS {
        assert!(docs.contains(&format!("| `{}` | {} |", preset.name, preset.about)));
    }
}
