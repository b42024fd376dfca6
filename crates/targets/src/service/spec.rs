//! A service as a campaign file describes it.

use super::ServiceError;
use super::wire::Task;
use faultlens_vision::{InputDescription, OutputDescription};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// More labels than any service gives.
const MOST_LABELS: usize = 1000;
/// More calls under way than any service allows.
const MOST_AT_ONCE: usize = 256;
/// Seconds that nobody waits longer for one answer.
const LONGEST: f64 = 3600.0;
/// Repeats after which it is no bad luck.
const MOST_RETRIES: u32 = 100;

/// A service to ask, and how; what is left out has the service's own default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSpec {
    /// Which service, by its name in the registry.
    pub of: String,
    /// What it is asked for; by default the service's first task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Where it is, such as `http://127.0.0.1:8080`; by default the provider's own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The provider's region, where it has several; by default from the usual places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The version of the interface, where there are several: `4.0` or `3.2` of azure; `json` or
    /// `binary` of kserve, as tensors shall travel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The model's name on a server that has several, or `NAME/VERSION`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The name of the tensor that takes the image, on a server that takes tensors; by default
    /// `input`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor: Option<String>,
    /// The format that clean and faulty images are sent in alike.
    #[serde(default)]
    pub codec: Codec,
    /// Labels that count; answers of others are discarded. By default all, or those of the task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub considered: Vec<String>,
    /// How many labels are asked for; objects and faces are never cut.
    #[serde(default = "usual_labels")]
    pub most: usize,
    /// The least confidence of an answer, from 0 to 1; 0 leaves the choice to the service.
    #[serde(default)]
    pub least: f64,
    /// Which entry of the provider's credentials file; by default as its own tools choose. Where
    /// this machine itself is asked in the clear, an account's keys are sent only if this names
    /// one: a rehearsal gets keys that mean nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// A file with the certificate that the server's one is signed with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// How an endpoint that speaks none of the known formats is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<Template>,
    /// How images become tensors, for servers that take tensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<InputDescription>,
    /// What tensors mean, for servers that answer tensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputDescription>,
    /// A file that names the classes, for servers that answer tensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<PathBuf>,
    /// How fast, how long and how often it is asked.
    #[serde(default)]
    pub manners: Manners,
}

const fn usual_labels() -> usize {
    10
}

impl ServiceSpec {
    /// A service with every default.
    pub fn new(of: &str) -> Self {
        Self {
            of: of.to_owned(),
            task: None,
            endpoint: None,
            region: None,
            version: None,
            model: None,
            tensor: None,
            codec: Codec::default(),
            considered: Vec::new(),
            most: usual_labels(),
            least: 0.0,
            profile: None,
            certificate: None,
            template: None,
            input: None,
            output: None,
            labels: None,
            manners: Manners::default(),
        }
    }

    /// Says what is out of range before anything is opened.
    pub fn check(&self) -> Result<(), ServiceError> {
        let wrong = |why: String| Err(ServiceError::Setting(why));
        if !(1..=MOST_LABELS).contains(&self.most) {
            return wrong(format!("most is {}: it must be 1 to {MOST_LABELS}", self.most));
        }
        if !(0.0..=1.0).contains(&self.least) {
            return wrong(format!("least is {}: it must be a part from 0 to 1", self.least));
        }
        match self.codec {
            Codec::Jpeg(quality) if !(1..=100).contains(&quality) => {
                wrong(format!("codec has the JPEG quality {quality}: it must be 1 to 100"))
            }
            _ => self.manners.check(),
        }
    }
}

impl Manners {
    fn check(&self) -> Result<(), ServiceError> {
        let positive = |number: f64| number.is_finite() && number > 0.0;
        let fits = [
            ("rate", self.rate.is_none_or(positive), "more than 0"),
            ("concurrency", (1..=MOST_AT_ONCE).contains(&self.concurrency), "1 to 256"),
            (
                "timeout",
                positive(self.timeout) && self.timeout <= LONGEST,
                "more than 0, at most 3600",
            ),
            ("retries", self.retries <= MOST_RETRIES, "100 at most"),
            ("lost_retries", self.lost_retries <= MOST_RETRIES, "100 at most"),
            ("money", self.money.is_none_or(|sum| sum.is_finite() && sum >= 0.0), "0 or more"),
            ("price", self.price.is_none_or(|sum| sum.is_finite() && sum >= 0.0), "0 or more"),
        ];
        match fits.iter().find(|(_, fits, _)| !fits) {
            Some((key, _, wanted)) => Err(ServiceError::Setting(format!(
                "manners.{key} is out of range: it must be {wanted}"
            ))),
            None => Ok(()),
        }
    }
}

/// The format that images are sent in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Codec {
    /// Without loss.
    #[default]
    Png,
    /// JPEG of this quality, from 1 to 100; the loss is in clean images too.
    Jpeg(u8),
}

/// How any HTTP endpoint is asked, and where its answer says what.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Template {
    /// The path and query, such as `/predict?top=5`.
    #[serde(default = "root")]
    pub path: String,
    /// Headers; `${NAME}` in a value is the environment's variable.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body: JSON text in which `${image}` is the picture in base64; without it, the picture
    /// itself is the body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// The name of a form's field that holds the picture; then the body is a form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub form: Option<String>,
    /// Where the list of answers is, as a path such as `result.items`; nothing: the whole.
    #[serde(default)]
    pub answers: String,
    /// Where an answer says its label, from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Where an answer says its score, from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<String>,
    /// Where an answer says its text, from the answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Where an answer says its box: four paths, or one to a list of four numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<String>,
    /// What the four numbers are.
    #[serde(default)]
    pub corners: Corners,
    /// Where the answer says the model's version, from the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_version: Option<String>,
}

fn root() -> String {
    "/".to_owned()
}

/// What the four numbers of a box are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Corners {
    /// Left, top, right, bottom in pixels.
    #[default]
    Pixels,
    /// Left, top, width, height in pixels.
    PixelsWithSize,
    /// Left, top, right, bottom as shares of the image.
    Shares,
    /// Left, top, width, height as shares of the image.
    SharesWithSize,
}

/// How fast, how long and how often a service is asked. None of it decides an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Manners {
    /// Calls per second, at most; by default what the provider allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// Calls under way at once, at most.
    pub concurrency: usize,
    /// Seconds until a call counts as not answered.
    pub timeout: f64,
    /// How often a call is repeated that was throttled or met an error of the server.
    pub retries: u32,
    /// How often a call is repeated whose answer got lost on the way; each may be paid for.
    pub lost_retries: u32,
    /// Calls of the whole campaign, at most, repeats included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Money of the whole campaign, at most, in the currency of `price`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// What a call costs; by default from the table of prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
    /// Cases that are asked again at the end, to notice a service that has changed meanwhile.
    pub control: usize,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            rate: None,
            concurrency: 4,
            timeout: 30.0,
            retries: 8,
            lost_retries: 0,
            calls: None,
            money: None,
            price: None,
            control: 3,
        }
    }
}
