//! A campaign, checked.

use super::{
    DefenceSpec, FaultPoint, Intervals, JudgeSpec, Population, Preservation, Requirement, Stop,
};
use faultlens_data::{Format, Sampling};
use faultlens_targets::PartialDescription;
use faultlens_targets::service::{Limits, ServiceSpec};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// The seed of a campaign whose file has none.
pub(crate) const DEFAULT_SEED: u64 = 1;

/// How many examples are kept of each fault where the file does not say it.
pub(crate) const DEFAULT_EXAMPLES: usize = 3;

/// What is disturbed, asked and judged: a campaign file, checked.
#[derive(Debug)]
pub struct Campaign {
    /// What reports call it.
    pub name: String,
    /// What all random numbers come from.
    pub seed: u64,
    /// How many threads work; one per core by default.
    pub threads: Option<usize>,
    /// The run directory, from the current directory.
    pub output: PathBuf,
    /// What is asked; names are unique, and there is at least one.
    pub targets: Vec<TargetSpec>,
    /// What is shown.
    pub cases: CaseSpec,
    /// What is disturbed; no point twice, and there is at least one.
    pub faults: Vec<FaultPoint>,
    /// What is put into scenes: a pool, a data set or `world:KIND`.
    pub objects: Option<String>,
    /// Who judges.
    pub judge: JudgeSpec,
    /// How intervals are made.
    pub intervals: Intervals,
    /// The stratum that tells which images belong together and count as one, where there is one.
    pub cluster: Option<String>,
    /// When there are enough trials; by default after the trials of each point.
    pub stop: Option<Stop>,
    /// Limits on rates.
    pub requirements: Vec<Requirement>,
    /// What must stay under changes that people tolerate.
    pub preserve: Vec<Preservation>,
    /// Whether it is recorded of every trial how much people notice of what was done to an image.
    pub tells_every_change: bool,
    /// The target whose errors under faults in images are what others' are measured by.
    pub reference: Option<String>,
    /// The groups of cases that answers should be as good for.
    pub fairness: Option<Fairness>,
    /// Where raw answers of services are filed, from the current directory; beside the run
    /// directory by default.
    pub answers: Option<PathBuf>,
    /// Files with trials that must stay as good as golden.
    pub pinned: Vec<PathBuf>,
    /// How many examples are kept per fault point.
    pub examples: usize,
    /// The folder that models, data, labels and pins are looked for in: that of the file.
    pub base: PathBuf,
    /// The file as read.
    pub text: String,
    /// What the author of the file should change, such as names of an earlier release.
    pub warnings: Vec<String>,
}

/// Something to ask.
#[derive(Debug, Clone)]
pub struct TargetSpec {
    /// What reports call it.
    pub name: String,
    /// Who answers.
    pub source: Source,
    /// What is done to images before it sees them, in this order.
    pub defences: Vec<DefenceSpec>,
    /// What tells it from the other targets, to group rates by; decides no record.
    pub traits: BTreeMap<String, String>,
}

/// Who answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Source {
    /// A model.
    Model {
        /// An ONNX file or `world:NAME`.
        path: PathBuf,
        /// What the file says about the model's input, output and labels.
        written: Box<PartialDescription>,
    },
    /// A service behind HTTP.
    Service(Box<ServiceSpec>),
    /// A target that a program brings along; no file can name it.
    Own {
        /// What distinguishes its answers from those of other targets.
        key: String,
    },
}

impl Source {
    /// Where the answers come from, in a word or a path.
    pub fn place(&self) -> String {
        match self {
            Self::Model { path, .. } => path.display().to_string(),
            Self::Service(spec) => match &spec.endpoint {
                Some(endpoint) => format!("{} at {endpoint}", spec.provider),
                None => spec.provider.clone(),
            },
            Self::Own { key } => key.clone(),
        }
    }
}

/// The groups of cases that answers should be as good for.
#[derive(Debug, Clone, PartialEq)]
pub struct Fairness {
    /// Strata that say which group a case belongs to.
    pub by: Vec<String>,
    /// Groups that others are set against; of a stratum without one, the largest group is.
    pub privileged: Vec<String>,
    /// The answer that counts; by default the right one.
    pub positive: Option<String>,
}

/// The images to show.
#[derive(Debug, Clone)]
pub struct CaseSpec {
    /// `world:KIND`, `world:KIND:COUNT` or a path.
    pub data: String,
    /// The format, where it is not to be recognised.
    pub format: Option<Format>,
    /// Only this part of a set that has several.
    pub part: Option<String>,
    /// The column that holds labels.
    pub label_column: Option<String>,
    /// Only some cases.
    pub sample: Option<Sample>,
}

/// Some cases of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    /// How many.
    pub count: usize,
    /// How they are drawn.
    pub how: Sampling,
}

impl CaseSpec {
    /// All cases of a data set, as it comes.
    pub fn plain(data: &str) -> Self {
        let format = None;
        let part = None;
        let label_column = None;
        let sample = None;
        Self { data: data.to_owned(), format, part, label_column, sample }
    }
}

impl Campaign {
    /// A campaign without targets, cases and faults, for programs that bring their own. All else is
    /// as in a file that does not mention it.
    pub fn empty(name: &str, judge: JudgeSpec) -> Self {
        Self {
            name: name.to_owned(),
            seed: DEFAULT_SEED,
            threads: None,
            output: Path::new("runs").join(name),
            targets: Vec::new(),
            cases: CaseSpec::plain(""),
            faults: Vec::new(),
            objects: None,
            judge,
            intervals: Intervals::default(),
            cluster: None,
            stop: None,
            requirements: Vec::new(),
            preserve: Vec::new(),
            tells_every_change: true,
            reference: None,
            fairness: None,
            answers: None,
            pinned: Vec::new(),
            examples: DEFAULT_EXAMPLES,
            base: PathBuf::new(),
            text: String::new(),
            warnings: Vec::new(),
        }
    }

    /// The SHA-256, in hexadecimal, of all that decides the records: two files with the same one
    /// mean the same trials, judged the same. Names of the campaign, directories, threads, limits,
    /// pins, examples and comments do not decide them.
    pub fn fingerprint(&self) -> String {
        let hash = Sha256::digest(self.meaning().to_string());
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn meaning(&self) -> Value {
        let faults = self.faults.iter().map(|point| json!([point.spec(), point.trials]));
        let stop = self.stop.map(|stop| {
            let confidence = self.intervals.level.confidence();
            match stop.population {
                Population::TheseImages => json!([stop.half_width, stop.at_most, confidence]),
                Population::NewImages => {
                    json!([stop.half_width, stop.at_most, confidence, "new_images", self.cluster])
                }
            }
        });
        let mut meaning = json!({
            "seed": self.seed,
            "targets": self.targets.iter().map(|target| self.target_meaning(target)).collect::<Value>(),
            "cases": {
                "data": self.inside(Path::new(&self.cases.data)),
                "format": self.cases.format.map(|format| format.name),
                "part": self.cases.part,
                "label_column": self.cases.label_column,
                "sample": self.cases.sample.map(|Sample { count, how }| json!([count, how_name(how)])),
            },
            "faults": faults.collect::<Value>(),
            "judge": self.judge.spec(),
            "stop": stop,
            // Records say how much people notice.
            "visual_change": (!self.tells_every_change).then_some("needed"),
            // Records say which answers are positive.
            "positive": self.fairness.as_ref().map(|fairness| &fairness.positive),
        });
        if let Some(objects) = &self.objects {
            meaning["objects"] = json!(self.inside(Path::new(objects)));
        }
        meaning
    }

    fn target_meaning(&self, target: &TargetSpec) -> Value {
        let defences: Vec<String> = target.defences.iter().map(DefenceSpec::spec).collect();
        let mut meaning = match &target.source {
            Source::Model { path, written } => json!({
                "name": target.name,
                "model": self.inside(path),
                "input": written.input,
                "output": written.output,
                "labels": written.labels.as_deref().map(|path| self.inside(path)),
            }),
            // Rate limits and budgets decide no answer.
            Source::Service(spec) => json!({
                "name": target.name,
                "service": ServiceSpec { limits: Limits::default(), ..(**spec).clone() }.to_stable_json().ok(),
            }),
            Source::Own { key } => json!({ "name": target.name, "own": key }),
        };
        if !defences.is_empty() {
            meaning["defences"] = json!(defences);
        }
        meaning
    }

    /// A path as the file has it: from where the campaign is started must not matter.
    fn inside(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.base).unwrap_or(path);
        let parts = path.components().filter(|part| *part != Component::CurDir);
        parts.collect::<PathBuf>().to_string_lossy().into_owned()
    }
}

fn how_name(how: Sampling) -> &'static str {
    match how {
        Sampling::Random => "random",
        Sampling::Balanced => "balanced",
    }
}
