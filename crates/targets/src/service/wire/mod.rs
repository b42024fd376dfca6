//! Wire formats: what a service is sent, and what its answers mean. One file per service.

pub(super) mod azure;
mod form;
pub(super) mod google;
pub(super) mod http;
pub(super) mod ibm;
pub(super) mod kserve;
mod moderation;
mod path;
mod problem;
mod reading;
pub(super) mod rekognition;
mod tensor;

use faultlens_core::{Image, Response, TargetError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a service can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Task {
    /// What an image shows, as labels or tags: a ranking.
    Labels,
    /// Objects with boxes: detections.
    Objects,
    /// What is written: a text.
    Text,
    /// Faces with boxes: detections.
    Faces,
    /// Unsafe content: a ranking.
    Moderation,
    /// Known people: a ranking.
    Celebrities,
    /// Whatever a model's tensors mean.
    Tensors,
}

impl Task {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Objects => "objects",
            Self::Text => "text",
            Self::Faces => "faces",
            Self::Moderation => "moderation",
            Self::Celebrities => "celebrities",
            Self::Tensors => "tensors",
        }
    }
}

/// An image as it is sent.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// The file.
    pub bytes: &'a [u8],
    /// Its media type, such as `image/png`.
    pub media: &'static str,
    /// The pixels that are in it.
    pub image: &'a Image,
}

/// What is sent, before anybody signs it. Holds no secret: answers are filed under its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path and query, from the endpoint.
    pub path: String,
    /// Headers, without those of the transport and of credentials.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Headers by their names in small letters; those that hold secrets are left out.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

/// An answer, understood.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// What the service answered.
    pub response: Response,
    /// The version of the model that answered, where the service says it.
    pub version: Option<String>,
}

/// Why what came back is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Too many calls; to be repeated, after so many seconds where the service says it.
    Throttled(Option<u64>),
    /// The service has a problem of its own; to be repeated.
    Unavailable(String),
    /// The credentials do not open the service, whatever is asked.
    Denied(String),
    /// The service does not take this image.
    Refused(String),
    /// What came back cannot be understood.
    Broken(String),
}

/// A wire format. Both directions are pure, so that answers on disk can be read again.
pub trait Wire: Send + Sync {
    /// What is sent to ask about a picture; refuses one that the service would not take.
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError>;

    /// What came back means; errors of the service are told apart from answers here.
    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem>;
}
