//! The campaign of a test, as the file that users find and edit.

use std::path::Path;

use faultlens::spec::quoted;
use faultlens::targets::Description;
use faultlens::vision::{InputDescription, OutputKind};

use crate::command::init::flow;

/// Clean images that ways of feeding are compared on.
const CHECKED: usize = 60;

/// Trials of each kind of bit flip per image.
const FLIPS: u32 = 5;

/// Image faults that have strengths of their own for small images.
const WITH_TABLES: &[&str] = &[
    "gaussian_noise",
    "motion_blur",
    "defocus_blur",
    "fog",
    "brightness",
    "contrast",
    "jpeg_compression",
    "pixelate",
];

/// Image faults with one range of strengths.
const PLAIN: &[&str] = &["dirt", "dead_lines", "rotation"];

/// What is known of the data set.
pub(super) struct Facts<'a> {
    pub(super) name: &'a str,
    pub(super) data: &'a str,
    pub(super) images: usize,
    pub(super) labelled: bool,
    pub(super) objects: bool,
    /// Whether images are about as small as CIFAR's.
    pub(super) small: bool,
}

impl Facts<'_> {
    pub(super) fn about(&self) -> String {
        let known = match (self.labelled, self.objects) {
            (_, true) => "with labelled objects",
            (true, false) => "with a class each",
            (false, false) => "without labels: answers under faults are compared with clean ones",
        };
        format!("{} images, {known}", self.images)
    }
}

/// A target as the file has it.
pub(super) struct TargetText {
    /// Its keys but for `input`, each on a line of its own.
    lines: Vec<String>,
    input: Option<String>,
    oracle: &'static str,
    /// Whether faults can be injected into it.
    pub(super) is_model: bool,
    /// Whether it ranks classes, which is what attacks are made for.
    pub(super) is_classifier: bool,
    is_detector: bool,
}

impl TargetText {
    pub(super) fn model(
        model: &str,
        description: &Description,
        labels: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let mut lines = vec![format!("model: {}", quoted(model))];
        lines.push(format!("output: {}", flow(&description.output)?));
        if let Some(labels) = labels {
            lines.push(format!("labels: {}", quoted(&labels.to_string_lossy())));
        }
        let kind = description.output.kind;
        Ok(Self {
            lines,
            input: Some(flow(&description.input)?),
            oracle: oracle(kind),
            is_model: true,
            is_classifier: matches!(kind, OutputKind::Logits | OutputKind::Probabilities),
            is_detector: kind == OutputKind::Detections,
        })
    }

    pub(super) fn service(
        provider: &str,
        task: Option<&str>,
        endpoint: Option<&str>,
        calls: u64,
    ) -> Self {
        let task = task.map(|task| format!(", task: {}", quoted(task))).unwrap_or_default();
        let endpoint =
            endpoint.map(|url| format!(", endpoint: {}", quoted(url))).unwrap_or_default();
        let lines = vec![format!(
            "service: {{provider: {provider}{task}{endpoint}, limits: {{calls: {calls}}}}}"
        )];
        // What a provider's first task answers; the campaign's check says where it does not fit.
        let oracle = match task.as_str() {
            ", task: objects" | ", task: faces" => oracle(OutputKind::Detections),
            ", task: text" => oracle(OutputKind::Text),
            _ if provider == "ibm" => oracle(OutputKind::Detections),
            _ => oracle(OutputKind::Logits),
        };
        let is_detector = oracle.contains("same_detections");
        Self { lines, input: None, oracle, is_model: false, is_classifier: false, is_detector }
    }

    pub(super) fn set_input(&mut self, input: &InputDescription) -> anyhow::Result<()> {
        self.input = Some(flow(input)?);
        Ok(())
    }

    /// The target as an entry of a list, under a name of its own where there is one.
    fn entry(&self, name: Option<&str>, input: Option<&str>) -> String {
        let mut lines = self.lines.clone();
        if let Some(input) = input {
            lines.push(format!("input: {input}"));
        }
        if let Some(name) = name {
            lines.push(format!("name: {name}"));
        }
        format!("  - {}\n", lines.join("\n    "))
    }
}

fn oracle(kind: OutputKind) -> &'static str {
    match kind {
        OutputKind::Logits | OutputKind::Probabilities => "{name: same_top, k: 1}",
        OutputKind::Values => "{name: same_values, tolerance: 0.1}",
        OutputKind::Detections => "{name: same_detections, iou: 0.5}",
        OutputKind::Segments => "{name: same_segments, iou: 0.9}",
        OutputKind::Picture => "{name: same_picture, psnr: 30}",
        OutputKind::Text => "{name: same_text, edits: 0}",
    }
}

/// How much is tested.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scope {
    pub(super) images: usize,
    pub(super) severities: &'static [u8],
    /// Faults inside the model.
    pub(super) flips: bool,
    pub(super) attacks: bool,
    /// How many images there are in all.
    pub(super) of: usize,
    pub(super) seconds: f64,
}

/// From the broadest down; severity 1 and 3 have requirements.
pub(super) const SEVERITIES: &[&[u8]] = &[&[1, 2, 3, 4, 5], &[1, 3, 5], &[1, 3]];

impl Scope {
    /// As many images as the calls allow.
    pub(super) fn for_calls(calls: u64, of: usize) -> Self {
        let severities = SEVERITIES[2];
        let each = 1 + severities.len() * (WITH_TABLES.len() + PLAIN.len());
        // A tenth stays for control requests and retries.
        let images = ((calls - calls / 10) as usize / each).clamp(1, of.max(1));
        Self { images, severities, flips: false, attacks: false, of, seconds: 0.0 }
    }

    /// What the time allows, and what it does not.
    pub(super) fn notes(&self, minutes: f64) -> Vec<String> {
        let mut left_out = Vec::new();
        if !self.attacks {
            left_out.push("attacks");
        }
        if self.severities.len() < 5 {
            left_out.push("some severities");
        }
        let mut all = vec![format!(
            "planned: {} of {} images, about {:.0} s of {minutes} min",
            self.images, self.of, self.seconds
        )];
        if !left_out.is_empty() {
            all.push(format!("left out: {}; --minutes allows more", left_out.join(", ")));
        }
        all
    }
}

/// A campaign that only says which cases there are.
pub(super) fn cases_only(data: &str) -> String {
    format!(
        "targets: [{{model: world:signs-shallow}}]\ncases: {{data: {}}}\nfaults: [{{fault: unchanged}}]\n",
        quoted(data)
    )
}

/// The same model fed in several ways, on clean images.
pub(super) fn clean_check(
    facts: &Facts<'_>,
    target: &TargetText,
    inputs: &[&InputDescription],
) -> anyhow::Result<String> {
    let mut targets = String::new();
    for (at, input) in inputs.iter().enumerate() {
        targets.push_str(&target.entry(Some(&format!("way-{at}")), Some(&flow(input)?)));
    }
    let count = CHECKED.min(facts.images);
    Ok(format!(
        "output: runs/test-{}.rehearsal\nexamples: 0\nvisual_change: needed\ntargets:\n{targets}{}\
         faults: [{{fault: unchanged}}]\noracle: {}\n",
        facts.name,
        cases(facts.data, count),
        target.oracle
    ))
}

/// The broadest campaign on very few images.
pub(super) fn pilot(facts: &Facts<'_>, target: &TargetText, images: usize) -> String {
    let scope = Scope {
        images,
        severities: SEVERITIES[0],
        flips: target.is_model,
        attacks: target.is_classifier,
        of: facts.images,
        seconds: 0.0,
    };
    format!(
        "output: runs/test-{}.rehearsal\nexamples: 0\ntargets:\n{}{}faults:\n{}oracle: {}\n",
        facts.name,
        target.entry(None, target.input.as_deref()),
        cases(facts.data, scope.images),
        faults(facts, &scope),
        target.oracle
    )
}

/// The campaign that is run and left to edit.
pub(super) fn text(facts: &Facts<'_>, target: &TargetText, scope: &Scope) -> String {
    format!(
        "# Written by faultlens test. Edit it, then: faultlens run THIS-FILE\n\
         # docs/campaign.md says what else can be set; faultlens init writes a file with all of it.\n\
         name: {}\nseed: 1\noutput: runs/test-{0}\n\n\
         targets:\n{}\n{}\nfaults:\n{}\noracle: {}\n\n\
         # Limits to start from: what is good enough depends on where the model is used.\n\
         requirements:\n{}",
        facts.name,
        target.entry(None, target.input.as_deref()),
        cases(facts.data, scope.images),
        faults(facts, scope),
        target.oracle,
        requirements(facts, target, scope)
    )
}

fn cases(data: &str, count: usize) -> String {
    format!("cases:\n  data: {}\n  sample: {{count: {count}, how: random}}\n", quoted(data))
}

fn faults(facts: &Facts<'_>, scope: &Scope) -> String {
    let severities: Vec<String> = scope.severities.iter().map(u8::to_string).collect();
    let severities = severities.join(", ");
    let table = if facts.small { ", table: cifar10-c" } else { "" };
    let mut text = String::new();
    for fault in WITH_TABLES {
        text.push_str(&format!("  - {{fault: {fault}, severity: [{severities}]{table}}}\n"));
    }
    for fault in PLAIN {
        text.push_str(&format!("  - {{fault: {fault}, severity: [{severities}]}}\n"));
    }
    if scope.flips {
        text.push_str(&format!(
            "  - {{fault: bit_flip, in: [outputs, weights], trials: {FLIPS}}}\n"
        ));
    }
    if scope.attacks {
        text.push_str("  - {fault: pgd, epsilon: [0.003, 0.01]}\n");
        text.push_str("  - {fault: random_noise, epsilon: [0.003, 0.01]}\n");
    }
    text
}

fn requirements(facts: &Facts<'_>, target: &TargetText, scope: &Scope) -> String {
    let mut text = String::new();
    if target.is_classifier && facts.labelled {
        text.push_str(
            "  - {metric: accuracy_drop, at_most: 0.05, where: {severity: 1}, \
             name: hardly visible faults cost at most 5 points of accuracy}\n  \
             - {metric: accuracy_drop, at_most: 0.2, where: {severity: 3}, \
             name: clearly visible faults cost at most 20 points of accuracy}\n",
        );
    } else if target.is_detector && facts.objects {
        text.push_str(
            "  - {metric: rpc, at_least: 0.6, \
             name: under image faults at least 60% of the average precision remains}\n",
        );
    } else {
        text.push_str(
            "  - {rate: changed, at_most: 0.1, where: {severity: 1}, \
             name: hardly visible faults change at most 10% of the answers}\n  \
             - {rate: changed, at_most: 0.3, where: {severity: 3}, \
             name: clearly visible faults change at most 30% of the answers}\n",
        );
    }
    if scope.flips {
        text.push_str(
            "  - {rate: failed, at_most: 0.1, where: {fault: bit_flip}, \
             name: a flipped bit spoils at most 10% of the answers}\n",
        );
    }
    text
}
