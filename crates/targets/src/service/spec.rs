//! A service as a campaign file describes it.

use super::error::ServiceError;
use super::task::Task;
use faultlens_vision::{InputDescription, OutputDescription};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

/// More labels than any service gives.
const MAX_LABELS: usize = 1000;
/// More calls in flight than any service allows.
const MAX_CONCURRENCY: usize = 256;
/// Seconds that nobody waits longer for one answer.
const MAX_TIMEOUT: f64 = 3600.0;
/// Retries after which it is no longer bad luck.
const MAX_RETRIES: u32 = 100;
/// As good as never giving up.
const MAX_FAILURES: u32 = 1_000_000;

/// Keys of a service that had another name in the first release, old and new. Old keys are still
/// read; whoever reads a campaign file should warn about them.
pub const RENAMED_KEYS: &[(&str, &str)] = &[
    ("of", "provider"),
    ("considered", "labels"),
    ("most", "max_labels"),
    ("least", "min_confidence"),
    ("manners", "limits"),
];

/// A service to ask, and how; what is left out has the service's own default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// Which provider, by its name; faultlens list services shows them.
    #[serde(alias = "of")]
    pub provider: String,
    /// What it is asked for; by default the service's first task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Its address, such as `http://127.0.0.1:8080`; by default the provider's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The provider's region, where it has several; by default as its own tools find it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The version of the interface, where there are several: `4.0` or `3.2` of azure; for kserve,
    /// whether tensors travel as `json` or `binary`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model's name on a server that has several, or `NAME/VERSION`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The name of the input tensor, on a server that takes tensors; by default `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<String>,
    /// The format in which clean and faulty images are sent alike.
    #[serde(default)]
    pub codec: Codec,
    /// A list: the labels that count, all others are discarded. A file: the names of the classes,
    /// for servers that answer with tensors.
    #[serde(default, alias = "considered", skip_serializing_if = "ServiceLabels::is_default")]
    pub labels: ServiceLabels,
    /// How many labels are asked for; objects and faces are never cut.
    #[serde(default = "default_max_labels", alias = "most")]
    #[schemars(range(min = 1, max = MAX_LABELS))]
    pub max_labels: usize,
    /// The least confidence of an answer, from 0 to 1; 0 leaves the choice to the service.
    #[serde(default, alias = "least")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_confidence: f64,
    /// Which entry of the provider's credentials file; by default as its own tools choose. For an
    /// unencrypted endpoint on this machine, an account's keys are sent only if this names one: a
    /// rehearsal gets dummy keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// A file with the certificate of the authority that signed the server's certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// How an endpoint is asked that speaks none of the known formats.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// How images become tensors, for servers that take tensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputDescription>,
    /// What tensors mean, for servers that answer with tensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputDescription>,
    /// Rate limit, timeout, retries and budget.
    #[serde(default, alias = "manners")]
    pub limits: Limits,
}

const fn default_max_labels() -> usize {
    10
}

impl ServiceSpec {
    /// A service with every default.
    pub fn new(provider: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            task: None,
            endpoint: None,
            region: None,
            version: None,
            model: None,
            tensor: None,
            codec: Codec::default(),
            labels: ServiceLabels::default(),
            max_labels: default_max_labels(),
            min_confidence: 0.0,
            profile: None,
            certificate: None,
            template: None,
            input: None,
            output: None,
            limits: Limits::default(),
        }
    }

    /// Reports what is out of range before anything is opened.
    pub fn check(&self) -> Result<(), ServiceError> {
        if !(1..=MAX_LABELS).contains(&self.max_labels) {
            let labels = self.max_labels;
            let why = format!("max_labels is {labels}: it must be 1 to {MAX_LABELS}");
            return Err(ServiceError::Setting(why));
        }
        if !(0.0..=1.0).contains(&self.min_confidence) {
            let confidence = self.min_confidence;
            let why = format!("min_confidence is {confidence}: it must be from 0 to 1");
            return Err(ServiceError::Setting(why));
        }
        if let Codec::Jpeg(quality) = self.codec
            && !(1..=100).contains(&quality)
        {
            let why = format!("codec has the JPEG quality {quality}: it must be 1 to 100");
            return Err(ServiceError::Setting(why));
        }
        self.limits.check()
    }

    /// This spec as JSON under the key names of the first release. The identity of every trial
    /// hashes this text, so it must not change when a key is renamed: recorded runs resume only
    /// with the identities that they were recorded under.
    pub fn to_stable_json(&self) -> Result<Value, ServiceError> {
        let mut json = serde_json::to_value(self)
            .map_err(|error| ServiceError::Setting(format!("the service's settings: {error}")))?;
        let Some(keys) = json.as_object_mut() else { return Ok(json) };
        for &(old, new) in RENAMED_KEYS {
            // A file of class names was called `labels` in the first release too.
            if new == "labels" && matches!(self.labels, ServiceLabels::ClassNames(_)) {
                continue;
            }
            if let Some(value) = keys.remove(new) {
                keys.insert(old.to_owned(), value);
            }
        }
        Ok(json)
    }
}

/// Which labels count, or how classes are called.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ServiceLabels {
    /// The task's own choice, which is nearly always every label.
    #[default]
    Default,
    /// These labels count, all others are discarded.
    Only(Vec<String>),
    /// A file that names the classes, or a built-in list such as `coco`, for servers that answer
    /// with tensors.
    ClassNames(PathBuf),
}

impl ServiceLabels {
    fn is_default(&self) -> bool {
        *self == Self::Default
    }

    /// The file of class names, where there is one.
    pub fn class_names(&self) -> Option<&Path> {
        match self {
            Self::ClassNames(path) => Some(path),
            Self::Default | Self::Only(_) => None,
        }
    }
}

impl JsonSchema for ServiceLabels {
    fn schema_name() -> Cow<'static, str> {
        "ServiceLabels".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // In a list, a number is a label as it is written.
        let label = json!({"type": ["string", "number", "boolean"], "minLength": 1});
        let file = json!({"type": "string", "minLength": 1});
        json_schema!({"anyOf": [file, {"type": "array", "items": label}]})
    }
}

impl Serialize for ServiceLabels {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Default => serializer.collect_seq([""; 0]),
            Self::Only(labels) => labels.serialize(serializer),
            Self::ClassNames(path) => path.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ServiceLabels {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LabelsVisitor)
    }
}

struct LabelsVisitor;

impl<'de> Visitor<'de> for LabelsVisitor {
    type Value = ServiceLabels;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of labels, or a file of class names")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<ServiceLabels, E> {
        if text.trim().is_empty() {
            return Err(E::custom("labels must name a file, or be a list"));
        }
        Ok(ServiceLabels::ClassNames(PathBuf::from(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<ServiceLabels, A::Error> {
        let labels = Vec::<String>::deserialize(SeqAccessDeserializer::new(list))?;
        if labels.iter().any(|label| label.trim().is_empty()) {
            return Err(A::Error::custom("a label is empty"));
        }
        if labels.is_empty() {
            return Ok(ServiceLabels::Default);
        }
        Ok(ServiceLabels::Only(labels))
    }
}

/// The format that images are sent in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Codec {
    /// Lossless.
    #[default]
    Png,
    /// JPEG of this quality, from 1 to 100; the loss is in clean images too.
    Jpeg(#[schemars(range(min = 1, max = 100))] u8),
}

/// How any HTTP endpoint is asked, and where its response holds what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The path and query, such as `/predict?top=5`.
    #[serde(default = "root")]
    pub path: String,
    /// Headers; `${NAME}` in a value is replaced by the environment variable.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body: JSON text in which `${image}` is the image in base64; without it, the image file
    /// itself is the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The name of a form field that holds the image; then the body is a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// The path of the list of answers, such as `result.items`; empty: the whole response.
    #[serde(default)]
    pub answers: String,
    /// The path of the label, relative to an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The path of the score, relative to an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
    /// The path of the text, relative to an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The box, relative to an answer: four paths, or one to a list of four numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<String>,
    /// What the four numbers are.
    #[serde(default)]
    pub corners: Corners,
    /// The path of the model's version, from the whole response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
}

fn root() -> String {
    "/".to_owned()
}

impl Template {
    /// The task that a template is for where the spec does not say: that which it has paths for.
    pub(super) fn task(&self) -> Task {
        match (self.bounds.is_empty(), &self.label, &self.text) {
            (false, Some(_), _) => Task::Objects,
            (false, None, _) => Task::Faces,
            (true, None, Some(_)) => Task::Text,
            (true, ..) => Task::Labels,
        }
    }
}

/// What the four numbers of a box are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Corners {
    /// Left, top, right, bottom in pixels.
    #[default]
    Pixels,
    /// Left, top, width, height in pixels.
    PixelsWithSize,
    /// Left, top, right, bottom as fractions of the image.
    Shares,
    /// Left, top, width, height as fractions of the image.
    SharesWithSize,
}

/// How fast, how long and how often a service is asked. None of it changes an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Calls per second, at most; by default the provider's quota.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub rate: Option<f64>,
    /// Calls in flight at once, at most.
    #[schemars(range(min = 1, max = MAX_CONCURRENCY))]
    pub concurrency: usize,
    /// Seconds until a call counts as timed out.
    #[schemars(extend("exclusiveMinimum" = 0.0, "maximum" = MAX_TIMEOUT))]
    pub timeout: f64,
    /// Retries of a call that was throttled or met a server error.
    #[schemars(range(max = MAX_RETRIES))]
    pub retries: u32,
    /// Retries of a call whose answer was lost on the way; each may be billed.
    #[schemars(range(max = MAX_RETRIES))]
    pub lost_retries: u32,
    /// Queries in a row without a reply, each after its retries, until the service counts as down
    /// and is not asked any more in this run. Their trials and all others stay open.
    #[schemars(range(min = 1, max = MAX_FAILURES))]
    pub give_up_after: u32,
    /// Calls of the whole campaign, at most, retries included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Money of the whole campaign, at most, in the currency of `price`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub money: Option<f64>,
    /// The price of a call; by default the provider's list price.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub price: Option<f64>,
    /// Cases that are asked again at the end, to notice a service that has changed meanwhile.
    pub control: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            rate: None,
            concurrency: 4,
            timeout: 30.0,
            retries: 8,
            lost_retries: 0,
            give_up_after: 5,
            calls: None,
            money: None,
            price: None,
            control: 3,
        }
    }
}

impl Limits {
    fn check(&self) -> Result<(), ServiceError> {
        let ranges = [
            ("rate", self.rate.is_none_or(is_positive), "more than 0"),
            ("concurrency", (1..=MAX_CONCURRENCY).contains(&self.concurrency), "1 to 256"),
            (
                "timeout",
                is_positive(self.timeout) && self.timeout <= MAX_TIMEOUT,
                "more than 0, at most 3600",
            ),
            ("retries", self.retries <= MAX_RETRIES, "100 at most"),
            ("lost_retries", self.lost_retries <= MAX_RETRIES, "100 at most"),
            ("give_up_after", (1..=MAX_FAILURES).contains(&self.give_up_after), "1 to 1000000"),
            ("money", self.money.is_none_or(is_amount), "0 or more"),
            ("price", self.price.is_none_or(is_amount), "0 or more"),
        ];
        for (key, is_in_range, range) in ranges {
            if !is_in_range {
                let why = format!("limits.{key} is out of range: it must be {range}");
                return Err(ServiceError::Setting(why));
            }
        }
        Ok(())
    }
}

fn is_positive(number: f64) -> bool {
    number.is_finite() && number > 0.0
}

fn is_amount(sum: f64) -> bool {
    sum.is_finite() && sum >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_keys_are_read_as_the_new_ones() {
        let old = json!({"of": "google", "considered": ["Adult"], "most": 3, "least": 0.25,
            "manners": {"rate": 3.0}});
        let new = json!({"provider": "google", "labels": ["Adult"], "max_labels": 3,
            "min_confidence": 0.25, "limits": {"rate": 3.0}});
        let read: ServiceSpec = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(read, serde_json::from_value(new).unwrap());
        assert_eq!(read.labels, ServiceLabels::Only(vec!["Adult".to_owned()]));
        // Stable JSON has every old key, and reads as the same spec.
        let stable = read.to_stable_json().unwrap();
        for &(old_key, new_key) in RENAMED_KEYS {
            assert!(old.get(old_key).is_some(), "{old_key}");
            assert!(stable.get(old_key).is_some() && stable.get(new_key).is_none(), "{stable}");
        }
        assert_eq!(read, serde_json::from_value(stable).unwrap());
    }

    #[test]
    fn labels_are_a_list_or_a_file() {
        let spec = |labels: Value| -> Result<ServiceSpec, _> {
            serde_json::from_value(json!({"provider": "kserve", "labels": labels}))
        };
        assert_eq!(spec(json!("coco")).unwrap().labels.class_names(), Some(Path::new("coco")));
        assert_eq!(spec(json!([])).unwrap().labels, ServiceLabels::Default);
        let file = spec(json!("names.txt")).unwrap().to_stable_json().unwrap();
        assert_eq!(file["labels"], "names.txt");
        for wrong in [json!(7), json!([7]), json!(""), json!([" "])] {
            assert!(spec(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
