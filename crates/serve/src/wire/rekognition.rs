//! Amazon Rekognition: `POST /` with the operation in `X-Amz-Target`.

use super::{RETRY_AFTER, Trouble, Wire};
use crate::exchange::{Answer, Asked};
use crate::model::{Found, Label, Seen, View};
use crate::picture::{Rules, Unfit, from_base64};
use crate::sigv4::{self, Unsigned};
use axum::http::Method;
use faultlens_core::TargetError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

const RULES: Rules =
    Rules { most_bytes: 5 << 20, least_side: 80, most_side: 10_000, only_png_and_jpeg: true };
const TARGET: &str = "RekognitionService.";
const MOST_LABELS: usize = 1000;
/// How many celebrities are told apart in one image.
const MOST_CELEBRITIES: usize = 64;
/// What AWS leaves out where the client does not say.
const LEAST_LABEL: f64 = 55.0;
const LEAST_MODERATION: f64 = 50.0;

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Request<'a> {
    #[serde(borrow)]
    image: Content<'a>,
    max_labels: Option<usize>,
    min_confidence: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Content<'a> {
    #[serde(borrow, default)]
    bytes: Cow<'a, str>,
    #[serde(rename = "S3Object")]
    stored: Option<IgnoredAny>,
}

/// Amazon Rekognition.
pub(super) struct Rekognition;

impl Wire for Rekognition {
    fn most_bytes(&self) -> usize {
        8 << 20
    }

    fn admit(&self, asked: &Asked, keys: &[String]) -> Result<(), Answer> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        sigv4::check(asked, "rekognition", keys, now).map_err(|unsigned| match unsigned {
            Unsigned::Missing => {
                error(400, "MissingAuthenticationTokenException", "Missing Authentication Token")
            }
            Unsigned::Malformed(why) => error(400, "IncompleteSignatureException", &why),
            Unsigned::Stranger => error(
                400,
                "UnrecognizedClientException",
                "The security token included in the request is invalid.",
            ),
            Unsigned::Wrong(why) => error(400, "InvalidSignatureException", &why),
        })
    }

    fn answer(&self, asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
        let operation = asked.header("x-amz-target").strip_prefix(TARGET);
        let unknown = || error(400, "UnknownOperationException", "");
        if asked.method != Method::POST || asked.path != "/" {
            return Err(error(404, "UnknownOperationException", ""));
        }
        let operation = operation.ok_or_else(unknown)?;
        let operation =
            *OPERATIONS.iter().find(|known| known.0 == operation).ok_or_else(unknown)?;
        let request: Request<'_> = serde_json::from_slice(&asked.body).map_err(|why| {
            error(
                400,
                if why.is_data() { "InvalidParameterException" } else { "SerializationException" },
                &why.to_string(),
            )
        })?;
        if request.min_confidence.is_some_and(|least| !(0.0..=100.0).contains(&least)) {
            return Err(invalid("MinConfidence must be from 0 to 100."));
        }
        let seen = look(&request, model)?;
        let answer = (operation.1)(&seen, &request, model.version());
        let unable =
            || invalid(&format!("the model that is served here cannot do {}", operation.0));
        let answer = Answer::json(200, &answer.ok_or_else(unable)?);
        Ok(Answer { content_type: "application/x-amz-json-1.1", ..answer })
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        match trouble {
            Trouble::Throttled => {
                error(400, "ThrottlingException", "Rate exceeded").with("retry-after", RETRY_AFTER)
            }
            Trouble::Broken(503) => error(
                503,
                "ServiceUnavailableException",
                "Service is unavailable. Please try again.",
            ),
            Trouble::Broken(status) => {
                error(status, "InternalServerError", "Internal server error.")
            }
            Trouble::TooLarge => {
                error(400, "ImageTooLargeException", "The request is larger than an image may be.")
            }
            Trouble::Incomplete => {
                error(400, "SerializationException", "The request is incomplete.")
            }
        }
    }
}

/// What an operation answers; nothing where the model cannot do it.
type Operation = fn(&Seen, &Request<'_>, &str) -> Option<Value>;

const OPERATIONS: [(&str, Operation); 5] = [
    ("DetectFaces", faces),
    ("DetectLabels", labels),
    ("DetectModerationLabels", moderation),
    ("DetectText", texts),
    ("RecognizeCelebrities", celebrities),
];

fn error(status: u16, kind: &str, message: &str) -> Answer {
    let answer = Answer::json(status, &json!({"__type": kind, "message": message}));
    Answer { content_type: "application/x-amz-json-1.1", ..answer }.with("x-amzn-errortype", kind)
}

fn invalid(why: &str) -> Answer {
    error(400, "InvalidParameterException", why)
}

fn look(request: &Request<'_>, model: View<'_>) -> Result<Seen, Answer> {
    if request.image.stored.is_some() {
        return Err(error(
            400,
            "InvalidS3ObjectException",
            "Unable to get object metadata from S3. Send the image's bytes.",
        ));
    }
    if request.image.bytes.is_empty() {
        return Err(invalid("Request has invalid parameters: Image.Bytes is empty"));
    }
    let bytes = from_base64(&request.image.bytes);
    let bytes =
        bytes.ok_or_else(|| error(400, "SerializationException", "Image.Bytes is no base64"))?;
    let image = RULES.decode(&bytes).map_err(|unfit| match unfit {
        Unfit::Large(why) => error(400, "ImageTooLargeException", &why),
        Unfit::Small(why) => invalid(&why),
        Unfit::Format(why) => error(400, "InvalidImageFormatException", &why),
    })?;
    model.ask(&image).map_err(|failed| match failed {
        TargetError::Rejected(why) => invalid(&why),
        other => error(500, "InternalServerError", &other.to_string()),
    })
}

fn labels(seen: &Seen, request: &Request<'_>, version: &str) -> Option<Value> {
    let label = |label: &Label| {
        let instances: Vec<Value> = label
            .instances
            .iter()
            .map(|found| json!({"BoundingBox": place(found), "Confidence": found.score * 100.0}))
            .collect();
        json!({"Name": label.name, "Confidence": label.score * 100.0, "Instances": instances,
            "Parents": [], "Aliases": [], "Categories": []})
    };
    let labels = sure(seen.labels()?, request.min_confidence.unwrap_or(LEAST_LABEL));
    let labels = labels.take(request.max_labels.unwrap_or(MOST_LABELS));
    let labels: Vec<Value> = labels.map(|one| label(&one)).collect();
    Some(json!({"Labels": labels, "LabelModelVersion": version}))
}

fn sure(labels: Vec<Label>, least: f64) -> impl Iterator<Item = Label> {
    labels.into_iter().filter(move |label| label.score * 100.0 >= least)
}

/// A classifier's labels as if all of them were to be moderated.
fn moderation(seen: &Seen, request: &Request<'_>, version: &str) -> Option<Value> {
    let label = |label: Label| {
        json!({"Name": label.name, "ParentName": "", "TaxonomyLevel": 1,
            "Confidence": label.score * 100.0})
    };
    let labels = sure(seen.labels()?, request.min_confidence.unwrap_or(LEAST_MODERATION));
    let labels: Vec<Value> = labels.map(label).collect();
    Some(json!({"ModerationLabels": labels, "ModerationModelVersion": version}))
}

/// A classifier's labels as if each were a person whose face fills the image.
fn celebrities(seen: &Seen, _: &Request<'_>, _: &str) -> Option<Value> {
    let whole = json!({"Left": 0.0, "Top": 0.0, "Width": 1.0, "Height": 1.0});
    let known = |label: &Label| {
        let box_ = label.instances.first().map_or_else(|| whole.clone(), place);
        json!({"Name": label.name, "Id": label.name, "Urls": [],
            "MatchConfidence": label.score * 100.0,
            "Face": {"BoundingBox": box_, "Confidence": label.score * 100.0, "Landmarks": []}})
    };
    let faces: Vec<Value> = seen.labels()?.iter().take(MOST_CELEBRITIES).map(known).collect();
    Some(json!({"CelebrityFaces": faces, "UnrecognizedFaces": []}))
}

fn faces(seen: &Seen, _: &Request<'_>, _: &str) -> Option<Value> {
    let face = |found: &Found| {
        json!({"BoundingBox": place(found), "Confidence": found.score * 100.0, "Landmarks": [],
            "Pose": {"Roll": 0.0, "Yaw": 0.0, "Pitch": 0.0},
            "Quality": {"Brightness": 0.0, "Sharpness": 0.0}})
    };
    let faces: Vec<Value> = seen.faces()?.iter().map(face).collect();
    Some(json!({"FaceDetails": faces}))
}

/// One line and its words. The model says neither how sure it is nor where they stand: they are
/// told as sure and all over the image.
fn texts(seen: &Seen, _: &Request<'_>, version: &str) -> Option<Value> {
    let text = seen.text()?;
    let corners = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let polygon: Vec<Value> = corners.iter().map(|[x, y]| json!({"X": x, "Y": y})).collect();
    let geometry = json!({"BoundingBox": {"Left": 0.0, "Top": 0.0, "Width": 1.0, "Height": 1.0},
        "Polygon": polygon});
    let line = Some(text.as_str()).filter(|text| !text.is_empty());
    let line = line.map(|line| {
        json!({"DetectedText": line, "Type": "LINE", "Id": 0, "Confidence": 100.0,
            "Geometry": geometry})
    });
    let words = text.split_whitespace().enumerate().map(|(at, word)| {
        json!({"DetectedText": word, "Type": "WORD", "Id": at + 1, "ParentId": 0,
            "Confidence": 100.0, "Geometry": geometry})
    });
    let all: Vec<Value> = line.into_iter().chain(words).collect();
    Some(json!({"TextDetections": all, "TextModelVersion": version}))
}

fn place(found: &Found) -> Value {
    json!({"Left": found.left, "Top": found.top, "Width": found.right - found.left,
        "Height": found.bottom - found.top})
}
