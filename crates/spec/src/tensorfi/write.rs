//! The text of the campaign that a TensorFI file becomes.

use super::super::example::quoted;
use super::{Asked, Judged};
use faultlens_targets::PartialDescription;

/// An entry of the campaign's faults.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FaultText {
    /// Keys with their values as YAML, in the order in which they are written.
    keys: Vec<(&'static str, String)>,
}

impl FaultText {
    pub(super) fn new(fault: &'static str) -> Self {
        Self { keys: vec![("fault", fault.to_owned())] }
    }

    pub(super) fn set(&mut self, key: &'static str, value: impl ToString) {
        self.keys.push((key, value.to_string()));
    }

    /// Sets a list; one that is empty stays unsaid.
    pub(super) fn list(&mut self, key: &'static str, names: &[String]) {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            self.set(key, format!("[{}]", names.join(", ")));
        }
    }
}

/// What a campaign is written from.
pub(super) struct Parts<'p> {
    /// The file that it comes from, in words.
    pub(super) origin: String,
    pub(super) notes: &'p [String],
    pub(super) seed: Option<i64>,
    pub(super) fault: FaultText,
}

impl Parts<'_> {
    /// The campaign's text.
    pub(super) fn text(&self, asked: &Asked<'_>) -> String {
        let mut lines = vec![
            format!("# A Faultlens campaign, from {}.", comment(&self.origin)),
            "# Run it with: faultlens run THIS-FILE. Paths start from the folder of this file."
                .to_owned(),
        ];
        lines.extend(self.notes.iter().map(|note| format!("# Note: {}.", comment(note))));
        lines.push(String::new());
        lines.extend(self.seed.map(|seed| format!("seed: {seed}")));
        lines.push(format!("targets:\n  - model: {}", quoted(asked.model)));
        lines.extend(described(asked.written));
        lines.push(format!("cases:\n  data: {}", quoted(asked.data)));
        lines.extend(asked.sample.map(|count| format!("  sample: {{count: {count}}}")));
        lines.push("faults:".to_owned());
        let trials = ("trials", asked.trials.to_string());
        for (at, (key, value)) in self.fault.keys.iter().chain([&trials]).enumerate() {
            let start = if at == 0 { "  - " } else { "    " };
            lines.push(format!("{start}{key}: {value}"));
        }
        lines.push(judge(asked.judged));
        lines.join("\n") + "\n"
    }
}

/// What the user says about the model; JSON reads as YAML.
fn described(written: &PartialDescription) -> impl Iterator<Item = String> {
    let line = |key: &str, value: Option<serde_json::Value>| {
        value.map(|value| format!("    {key}: {}", spaced(&value.to_string())))
    };
    // What cannot be written is left out, and opening the model then tells what is missing.
    let input = written.input.as_ref().and_then(|input| serde_json::to_value(input).ok());
    let output = written.output.as_ref().and_then(|output| serde_json::to_value(output).ok());
    let labels = written.labels.as_ref().map(|path| quoted(&path.to_string_lossy()));
    let labels = labels.map(|path| format!("    labels: {path}"));
    [line("input", input), line("output", output), labels].into_iter().flatten()
}

/// JSON with the spaces that YAML likes.
fn spaced(json: &str) -> String {
    json.replace("\":", "\": ").replace(",\"", ", \"")
}

fn judge(judged: Judged) -> String {
    let text = match judged {
        Judged::Labelled => {
            "oracle: {name: same_top, k: 1}\n\
             # Cases whose undisturbed answer is wrong already do not count, as in TensorFI's \
             experiments.\n\
             guards: [golden_correct]"
        }
        Judged::Unlabelled => {
            "# The labels of the cases are not known, so that undisturbed answers which are wrong \
             count too.\n\
             oracle: {name: same_top, k: 1}"
        }
        Judged::Values => {
            "# The model answers with numbers. TensorFI's experiments count steering that is off by\n\
             # more than 15, 30, 60 or 120 degrees; set what matters for this model.\n\
             oracle: {name: same_values, tolerance: 0.1}"
        }
        Judged::By(oracle) => return format!("oracle: {oracle}"),
    };
    text.to_owned()
}

/// Text that stays in its line.
fn comment(text: &str) -> String {
    text.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}
