//! Amazon Rekognition: `POST /` with the operation in `X-Amz-Target`.

use super::format::{Failure, Format, RETRY_AFTER, Wire};
use crate::image_rules::{ImageError, ImageRules, from_base64};
use crate::message::{HttpRequest, HttpResponse};
use crate::model::{DetectedObject, Label, ModelView, Prediction};
use crate::sigv4::{self, SignatureError};
use axum::http::Method;
use faultlens_core::TargetError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

const RULES: ImageRules =
    ImageRules { max_bytes: 5 << 20, min_side: 80, max_side: 10_000, only_png_and_jpeg: true };
const TARGET: &str = "RekognitionService.";
const MAX_LABELS: usize = 1000;
/// The maximum number of celebrities in one response.
const MAX_CELEBRITIES: usize = 64;
/// The default confidences below which AWS leaves labels out.
const MIN_LABEL: f64 = 55.0;
const MIN_MODERATION: f64 = 50.0;

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
pub(super) const REKOGNITION: Format = Format {
    name: "rekognition",
    about: "Amazon Rekognition (labels, text, faces, moderation, celebrities)",
    wire: &Rekognition,
};

struct Rekognition;

impl Wire for Rekognition {
    fn max_bytes(&self) -> usize {
        8 << 20
    }

    fn admit(&self, http: &HttpRequest, keys: &[String]) -> Result<(), HttpResponse> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let now = i64::try_from(now).unwrap_or(i64::MAX);
        sigv4::check(http, "rekognition", keys, now).map_err(|unsigned| match unsigned {
            SignatureError::Missing => {
                error(400, "MissingAuthenticationTokenException", "Missing Authentication Token")
            }
            SignatureError::Malformed(why) => error(400, "IncompleteSignatureException", &why),
            SignatureError::UnknownKey => error(
                400,
                "UnrecognizedClientException",
                "The security token included in the request is invalid.",
            ),
            SignatureError::Wrong(why) => error(400, "InvalidSignatureException", &why),
        })
    }

    fn answer(
        &self,
        http: &HttpRequest,
        model: ModelView<'_>,
    ) -> Result<HttpResponse, HttpResponse> {
        let operation = http.header("x-amz-target").strip_prefix(TARGET);
        if http.method != Method::POST || http.path != "/" {
            return Err(error(404, "UnknownOperationException", ""));
        }
        let operation = OPERATIONS.iter().find(|known| Some(known.0) == operation);
        let Some((name, operation)) = operation else {
            return Err(error(400, "UnknownOperationException", ""));
        };
        let request: Request<'_> = serde_json::from_slice(&http.body).map_err(|why| {
            error(
                400,
                if why.is_data() { "InvalidParameterException" } else { "SerializationException" },
                &why.to_string(),
            )
        })?;
        if request.min_confidence.is_some_and(|confidence| !(0.0..=100.0).contains(&confidence)) {
            return Err(invalid("MinConfidence must be from 0 to 100."));
        }
        let prediction = predict(&request, model)?;
        let Some(answer) = operation(&prediction, &request, model.version()) else {
            return Err(invalid(&format!("the model that is served here cannot do {name}")));
        };
        let answer = HttpResponse::json(200, &answer);
        Ok(HttpResponse { content_type: "application/x-amz-json-1.1", ..answer })
    }

    fn failure(&self, failure: Failure) -> HttpResponse {
        match failure {
            Failure::Throttled => {
                error(400, "ThrottlingException", "Rate exceeded").with("retry-after", RETRY_AFTER)
            }
            Failure::Broken(503) => error(
                503,
                "ServiceUnavailableException",
                "Service is unavailable. Please try again.",
            ),
            Failure::Broken(status) => {
                error(status, "InternalServerError", "Internal server error.")
            }
            Failure::TooLarge => {
                error(400, "ImageTooLargeException", "The request is larger than an image may be.")
            }
            Failure::Incomplete => {
                error(400, "SerializationException", "The request is incomplete.")
            }
        }
    }
}

/// The response of an operation; `None` where the model cannot do it.
type Operation = fn(&Prediction, &Request<'_>, &str) -> Option<Value>;

const OPERATIONS: [(&str, Operation); 5] = [
    ("DetectFaces", faces),
    ("DetectLabels", labels),
    ("DetectModerationLabels", moderation),
    ("DetectText", texts),
    ("RecognizeCelebrities", celebrities),
];

fn error(status: u16, kind: &str, message: &str) -> HttpResponse {
    let answer = HttpResponse::json(status, &json!({"__type": kind, "message": message}));
    HttpResponse { content_type: "application/x-amz-json-1.1", ..answer }
        .with("x-amzn-errortype", kind)
}

fn invalid(why: &str) -> HttpResponse {
    error(400, "InvalidParameterException", why)
}

fn predict(request: &Request<'_>, model: ModelView<'_>) -> Result<Prediction, HttpResponse> {
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
        bytes.ok_or_else(|| error(400, "SerializationException", "Image.Bytes is not base64"))?;
    let image = RULES.decode(&bytes).map_err(|rejection| match rejection {
        ImageError::Large(why) => error(400, "ImageTooLargeException", &why),
        ImageError::Small(why) => invalid(&why),
        ImageError::Format(why) => error(400, "InvalidImageFormatException", &why),
    })?;
    model.ask(&image).map_err(|failed| match failed {
        TargetError::Rejected(why) => invalid(&why),
        other => error(500, "InternalServerError", &other.to_string()),
    })
}

fn labels(prediction: &Prediction, request: &Request<'_>, version: &str) -> Option<Value> {
    let confident = confident(prediction.labels()?, request.min_confidence.unwrap_or(MIN_LABEL));
    let mut labels = Vec::new();
    for label in confident.take(request.max_labels.unwrap_or(MAX_LABELS)) {
        let mut instances = Vec::new();
        for found in &label.instances {
            let confidence = found.score * 100.0;
            instances.push(json!({"BoundingBox": bounding_box(found), "Confidence": confidence}));
        }
        labels.push(json!({"Name": label.name, "Confidence": label.score * 100.0,
            "Instances": instances, "Parents": [], "Aliases": [], "Categories": []}));
    }
    Some(json!({"Labels": labels, "LabelModelVersion": version}))
}

fn confident(labels: Vec<Label>, min_confidence: f64) -> impl Iterator<Item = Label> {
    labels.into_iter().filter(move |label| label.score * 100.0 >= min_confidence)
}

/// A classifier's labels, as if all of them were moderation labels.
fn moderation(prediction: &Prediction, request: &Request<'_>, version: &str) -> Option<Value> {
    let min_confidence = request.min_confidence.unwrap_or(MIN_MODERATION);
    let mut labels = Vec::new();
    for label in confident(prediction.labels()?, min_confidence) {
        labels.push(json!({"Name": label.name, "ParentName": "", "TaxonomyLevel": 1,
            "Confidence": label.score * 100.0}));
    }
    Some(json!({"ModerationLabels": labels, "ModerationModelVersion": version}))
}

/// A classifier's labels as if each were a person whose face fills the image.
fn celebrities(prediction: &Prediction, _: &Request<'_>, _: &str) -> Option<Value> {
    let whole = json!({"Left": 0.0, "Top": 0.0, "Width": 1.0, "Height": 1.0});
    let mut faces = Vec::new();
    for label in prediction.labels()?.iter().take(MAX_CELEBRITIES) {
        let bounds = label.instances.first().map_or_else(|| whole.clone(), bounding_box);
        faces.push(json!({"Name": label.name, "Id": label.name, "Urls": [],
            "MatchConfidence": label.score * 100.0,
            "Face": {"BoundingBox": bounds, "Confidence": label.score * 100.0, "Landmarks": []}}));
    }
    Some(json!({"CelebrityFaces": faces, "UnrecognizedFaces": []}))
}

fn faces(prediction: &Prediction, _: &Request<'_>, _: &str) -> Option<Value> {
    let mut faces = Vec::new();
    for found in prediction.faces()? {
        faces.push(json!({"BoundingBox": bounding_box(&found), "Confidence": found.score * 100.0,
            "Landmarks": [], "Pose": {"Roll": 0.0, "Yaw": 0.0, "Pitch": 0.0},
            "Quality": {"Brightness": 0.0, "Sharpness": 0.0}}));
    }
    Some(json!({"FaceDetails": faces}))
}

/// One line and its words. The model reports neither confidences nor positions: each gets 100 and
/// the whole image.
fn texts(prediction: &Prediction, _: &Request<'_>, version: &str) -> Option<Value> {
    let text = prediction.text()?;
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

fn bounding_box(found: &DetectedObject) -> Value {
    json!({"Left": found.left, "Top": found.top, "Width": found.right - found.left,
        "Height": found.bottom - found.top})
}
