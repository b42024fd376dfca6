//! Google Cloud Vision: `POST /v1/images:annotate`.

use super::format::{Failure, Format, RETRY_AFTER, Wire, is_key};
use crate::image_rules::{ImageError, ImageRules, from_base64};
use crate::message::{HttpRequest, HttpResponse};
use crate::model::{DetectedObject, ModelView, Prediction};
use crate::query::parameter;
use axum::http::Method;
use faultlens_core::TargetError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Google's limits: 20 MB and 75 million pixels an image, any side.
const RULES: ImageRules = ImageRules {
    max_bytes: 20_000_000,
    min_side: 1,
    max_side: 75_000_000,
    only_png_and_jpeg: false,
};
const MAX_IMAGES: usize = 16;
/// The default number of results of a feature.
const RESULTS: usize = 10;

/// Feature types by their number in the protocol buffers, which clients may send instead.
const TYPES: [(u64, &str); 6] = [
    (1, "FACE_DETECTION"),
    (4, "LABEL_DETECTION"),
    (5, "TEXT_DETECTION"),
    (6, "SAFE_SEARCH_DETECTION"),
    (11, "DOCUMENT_TEXT_DETECTION"),
    (19, "OBJECT_LOCALIZATION"),
];

/// google.rpc.Code
const INVALID_ARGUMENT: u16 = 3;
const INTERNAL: u16 = 13;

#[derive(Deserialize)]
struct Batch<'a> {
    #[serde(borrow, default)]
    requests: Vec<ImageRequest<'a>>,
}

#[derive(Deserialize)]
struct ImageRequest<'a> {
    #[serde(borrow, default)]
    image: Content<'a>,
    #[serde(default)]
    features: Vec<Feature>,
}

#[derive(Deserialize, Default)]
struct Content<'a> {
    #[serde(borrow, default)]
    content: Cow<'a, str>,
    source: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Feature {
    #[serde(default)]
    r#type: Value,
    #[serde(default, alias = "max_results")]
    #[serde(rename = "maxResults")]
    max_results: Option<usize>,
}

/// Google Cloud Vision.
pub(super) const GOOGLE: Format = Format {
    name: "google",
    about: "Google Cloud Vision (labels, objects, text, faces, safe search)",
    wire: &Google,
};

struct Google;

impl Wire for Google {
    fn max_bytes(&self) -> usize {
        10 << 20
    }

    fn admit(&self, http: &HttpRequest, keys: &[String]) -> Result<(), HttpResponse> {
        if let Some(token) = http.bearer() {
            let why =
                "Request had invalid authentication credentials. Expected OAuth 2 access token.";
            return if is_key(keys, token) {
                Ok(())
            } else {
                Err(status(401, "UNAUTHENTICATED", why))
            };
        }
        let header = Some(http.header("x-goog-api-key")).filter(|key| !key.is_empty());
        let key = header.map(str::to_owned).or_else(|| parameter(&http.query, "key"));
        match key {
            Some(key) if is_key(keys, &key) => Ok(()),
            Some(_) => {
                let why = "API key not valid. Please pass a valid API key.";
                Err(status(400, "INVALID_ARGUMENT", why))
            }
            None => {
                let why = "Method doesn't allow unregistered callers. Please use API Key or other \
                    form of API consumer identity to call this API.";
                Err(status(403, "PERMISSION_DENIED", why))
            }
        }
    }

    fn answer(
        &self,
        http: &HttpRequest,
        model: ModelView<'_>,
    ) -> Result<HttpResponse, HttpResponse> {
        let project = http.path.strip_prefix("/v1/projects/");
        let known = http.path == "/v1/images:annotate"
            || project.is_some_and(|rest| rest.ends_with("/images:annotate"));
        if !known || http.method != Method::POST {
            return Err(status(404, "NOT_FOUND", "Method not found."));
        }
        let batch: Batch<'_> = serde_json::from_slice(&http.body)
            .map_err(|error| bad_request(&format!("Invalid JSON payload received. {error}")))?;
        if batch.requests.len() > MAX_IMAGES {
            let why = format!("Too many images per request, at most {MAX_IMAGES}.");
            return Err(bad_request(&why));
        }
        let responses: Vec<Value> = batch.requests.iter().map(|one| annotate(one, model)).collect();
        Ok(HttpResponse::json(200, &json!({ "responses": responses })))
    }

    fn failure(&self, failure: Failure) -> HttpResponse {
        match failure {
            Failure::Throttled => {
                status(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Requests'.")
                    .with("retry-after", RETRY_AFTER)
            }
            Failure::Broken(500) => status(500, "INTERNAL", "Internal error encountered."),
            Failure::Broken(code) => {
                status(code, "UNAVAILABLE", "The service is currently unavailable.")
            }
            Failure::TooLarge => status(
                400,
                "INVALID_ARGUMENT",
                "Request payload size exceeds the limit: 10485760 bytes.",
            ),
            Failure::Incomplete => status(400, "INVALID_ARGUMENT", "The request is incomplete."),
        }
    }
}

fn bad_request(why: &str) -> HttpResponse {
    status(400, "INVALID_ARGUMENT", why)
}

/// A `google.rpc.Status` for the whole request.
fn status(code: u16, name: &str, message: &str) -> HttpResponse {
    HttpResponse::json(code, &json!({"error": {"code": code, "message": message, "status": name}}))
}

/// The response to one image; its error stands inside, and the other images are answered.
fn annotate(one: &ImageRequest<'_>, model: ModelView<'_>) -> Value {
    let answer = predict(one, model).and_then(|prediction| {
        let mut answer = Map::new();
        for feature in &one.features {
            add(&mut answer, feature, &prediction)?;
        }
        Ok(Value::Object(answer))
    });
    answer.unwrap_or_else(|(code, message)| json!({"error": {"code": code, "message": message}}))
}

fn predict(one: &ImageRequest<'_>, model: ModelView<'_>) -> Result<Prediction, (u16, String)> {
    if one.image.source.is_some() {
        return Err(invalid("We can not access the URL currently. Send the image's content."));
    }
    if one.features.is_empty() {
        return Err(invalid("Request must specify image features."));
    }
    let bytes = Some(&one.image.content).filter(|content| !content.is_empty());
    let bytes = bytes.ok_or_else(|| invalid("Request must specify image content."))?;
    let bytes = from_base64(bytes).ok_or_else(|| invalid("Base64 decoding failed."))?;
    let image = RULES.decode(&bytes).map_err(|rejection| match rejection {
        ImageError::Large(why) | ImageError::Small(why) | ImageError::Format(why) => {
            invalid(&format!("Bad image data: {why}"))
        }
    })?;
    model.ask(&image).map_err(|error| match error {
        TargetError::Rejected(why) => (INVALID_ARGUMENT, why),
        other => (INTERNAL, other.to_string()),
    })
}

fn invalid(why: &str) -> (u16, String) {
    (INVALID_ARGUMENT, why.to_owned())
}

fn add(
    answer: &mut Map<String, Value>,
    feature: &Feature,
    prediction: &Prediction,
) -> Result<(), (u16, String)> {
    let name = match feature.r#type.as_u64() {
        Some(number) => TYPES.iter().find(|known| known.0 == number).map(|known| known.1),
        None => feature.r#type.as_str(),
    };
    let max = feature.max_results.filter(|&max| max > 0).unwrap_or(RESULTS);
    let name = name.unwrap_or("TYPE_UNSPECIFIED");
    let (key, value) = match name {
        "LABEL_DETECTION" => ("labelAnnotations", labels(prediction, max)),
        "OBJECT_LOCALIZATION" => ("localizedObjectAnnotations", objects(prediction, max)),
        "FACE_DETECTION" => ("faceAnnotations", faces(prediction, max)),
        "SAFE_SEARCH_DETECTION" => ("safeSearchAnnotation", safe_search(prediction)),
        "TEXT_DETECTION" | "DOCUMENT_TEXT_DETECTION" => {
            if let Some(text) = prediction.text() {
                answer.insert("fullTextAnnotation".into(), json!({"pages": [], "text": text}));
            }
            ("textAnnotations", texts(prediction))
        }
        _ => ("", None),
    };
    let Some(value) = value else {
        return Err(invalid(&format!("the model that is served here gives no {name}")));
    };
    answer.insert(key.to_owned(), value);
    Ok(())
}

fn labels(prediction: &Prediction, max: usize) -> Option<Value> {
    let mut labels = Vec::new();
    for label in prediction.labels()?.iter().take(max) {
        labels.push(json!({"mid": "", "description": label.name, "score": label.score,
            "topicality": label.score}));
    }
    Some(labels.into())
}

fn objects(prediction: &Prediction, max: usize) -> Option<Value> {
    let mut objects = Vec::new();
    for found in prediction.objects()?.iter().take(max) {
        let corners = corners(found).map(|[x, y]| json!({"x": x, "y": y}));
        objects.push(json!({"mid": "", "name": found.name, "score": found.score,
            "boundingPoly": {"normalizedVertices": corners}}));
    }
    Some(objects.into())
}

fn faces(prediction: &Prediction, max: usize) -> Option<Value> {
    let mut faces = Vec::new();
    for found in prediction.faces()?.iter().take(max) {
        let polygon = in_pixels(found, prediction);
        faces.push(json!({"boundingPoly": polygon, "fdBoundingPoly": polygon, "landmarks": [],
            "detectionConfidence": found.score, "landmarkingConfidence": 0.0,
            "joyLikelihood": "UNKNOWN", "sorrowLikelihood": "UNKNOWN",
            "angerLikelihood": "UNKNOWN", "surpriseLikelihood": "UNKNOWN",
            "underExposedLikelihood": "UNKNOWN", "blurredLikelihood": "UNKNOWN",
            "headwearLikelihood": "UNKNOWN"}));
    }
    Some(faces.into())
}

/// The whole text first, then its words; the model does not report where they are.
fn texts(prediction: &Prediction) -> Option<Value> {
    let text = prediction.text()?;
    let (width, height) = prediction.size();
    let corners = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
    let vertices = corners.map(|[x, y]| json!({"x": x as i64, "y": y as i64}));
    let mut parts = Vec::new();
    if !text.is_empty() {
        parts.push(text.as_str());
    }
    parts.extend(text.split_whitespace());
    let parts = parts
        .into_iter()
        .map(|part| json!({"description": part, "boundingPoly": {"vertices": vertices}}));
    Some(parts.collect())
}

/// Likelihoods of the labels that have the names of the properties.
fn safe_search(prediction: &Prediction) -> Option<Value> {
    let names = ["adult", "spoof", "medical", "violence", "racy"];
    if names.iter().all(|name| prediction.score_of(name).is_none()) {
        return None;
    }
    let mut properties = Map::new();
    for name in names {
        properties.insert(name.to_owned(), likelihood(prediction.score_of(name)).into());
    }
    Some(properties.into())
}

/// Google does not document the limits between likelihoods; these are equal fifths.
fn likelihood(score: Option<f64>) -> &'static str {
    match score {
        None => "UNKNOWN",
        Some(score) if score < 0.2 => "VERY_UNLIKELY",
        Some(score) if score < 0.4 => "UNLIKELY",
        Some(score) if score < 0.6 => "POSSIBLE",
        Some(score) if score < 0.8 => "LIKELY",
        Some(_) => "VERY_LIKELY",
    }
}

fn corners(found: &DetectedObject) -> [[f64; 2]; 4] {
    let DetectedObject { left, top, right, bottom, .. } = *found;
    [[left, top], [right, top], [right, bottom], [left, bottom]]
}

/// Whole pixels, as faces are reported.
fn in_pixels(found: &DetectedObject, prediction: &Prediction) -> Value {
    let (width, height) = prediction.size();
    let vertices = corners(found)
        .map(|[x, y]| json!({"x": (x * width).round() as i64, "y": (y * height).round() as i64}));
    json!({ "vertices": vertices })
}
