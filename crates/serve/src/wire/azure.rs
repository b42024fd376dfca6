//! Azure AI Vision, image analysis 3.2 and 4.0, and Azure Face.

use super::format::{Failure, Format, RETRY_AFTER, Wire, has_bearer_key, is_key};
use super::multipart;
use crate::image_rules::{ImageError, ImageRules};
use crate::message::{HttpRequest, HttpResponse};
use crate::model::{DetectedObject, Label, ModelView, Prediction};
use crate::query::list;
use axum::http::Method;
use faultlens_core::TargetError;
use serde_json::{Map, Value, json};

const RULES_3: ImageRules = ImageRules { max_bytes: 4 << 20, ..RULES_4 };
const RULES_4: ImageRules =
    ImageRules { max_bytes: 20 << 20, min_side: 50, max_side: 16_000, only_png_and_jpeg: false };
const RULES_FACE: ImageRules = ImageRules { max_bytes: 6 << 20, min_side: 36, ..RULES_4 };

/// Azure AI Vision.
pub(super) const AZURE: Format = Format {
    name: "azure",
    about: "Azure AI Vision 3.2 and 4.0 (tags, objects, read, adult), Face",
    wire: &Azure,
};

struct Azure;

/// What a path asks for.
enum Task {
    /// Image analysis 3.2 with these features.
    Three(Vec<String>),
    /// Image analysis 4.0 with these features.
    Four(Vec<String>),
    Face,
}

impl Wire for Azure {
    fn max_bytes(&self) -> usize {
        21 << 20
    }

    fn admit(&self, http: &HttpRequest, keys: &[String]) -> Result<(), HttpResponse> {
        let key = http.header("ocp-apim-subscription-key");
        if is_key(keys, key) || has_bearer_key(http, keys) {
            return Ok(());
        }
        let why = "Access denied due to invalid subscription key or wrong API endpoint. Make sure \
            to provide a valid key for an active subscription and use a correct regional API \
            endpoint for your resource.";
        Err(gateway_error(401, why))
    }

    fn answer(
        &self,
        http: &HttpRequest,
        model: ModelView<'_>,
    ) -> Result<HttpResponse, HttpResponse> {
        let task = task(http)?;
        let rules = match task {
            Task::Three(_) => &RULES_3,
            Task::Four(_) => &RULES_4,
            Task::Face => &RULES_FACE,
        };
        let prediction = predict(http, rules, model)?;
        let answer = match &task {
            Task::Three(features) => analyse_3(&prediction, features, model)?,
            Task::Four(features) => analyse_4(&prediction, features, model)?,
            Task::Face => {
                let faces = prediction.faces().ok_or_else(|| unable("face detection"))?;
                faces
                    .iter()
                    .map(|found| json!({"faceRectangle": face_rectangle(found, &prediction)}))
                    .collect()
            }
        };
        Ok(HttpResponse::json(200, &answer))
    }

    fn failure(&self, failure: Failure) -> HttpResponse {
        match failure {
            Failure::Throttled => gateway_error(
                429,
                "Requests have exceeded the rate limit of the \
                current pricing tier. Please retry after 1 second.",
            )
            .with("retry-after", RETRY_AFTER),
            Failure::Broken(503) => gateway_error(503, "The service is temporarily unavailable."),
            Failure::Broken(status) => {
                let code = "InternalServerError";
                error(status, code, code, "Failed to process the request.")
            }
            Failure::TooLarge => error(
                413,
                "InvalidRequest",
                "InvalidImageSize",
                "Input image is \
                too large.",
            ),
            Failure::Incomplete => error(
                400,
                "InvalidRequest",
                "BadArgument",
                "The request is \
                incomplete.",
            ),
        }
    }
}

/// An error of the gateway in front of the service, whose code is the status.
fn gateway_error(status: u16, message: &str) -> HttpResponse {
    let error = json!({"code": status.to_string(), "message": message});
    HttpResponse::json(status, &json!({ "error": error }))
}

fn error(status: u16, code: &str, inner: &str, message: &str) -> HttpResponse {
    let inner = json!({"code": inner, "message": message});
    HttpResponse::json(
        status,
        &json!({"error": {"code": code, "message": message, "innererror": inner}}),
    )
}

fn refused(inner: &str, message: &str) -> HttpResponse {
    error(400, "InvalidRequest", inner, message)
}

fn unable(feature: &str) -> HttpResponse {
    let why = format!("the model that is served here gives no {feature}");
    refused("NotSupportedVisualFeature", &why)
}

fn task(http: &HttpRequest) -> Result<Task, HttpResponse> {
    let path = http.path.as_str();
    let face = path.strip_prefix("/face/v1.").is_some_and(|rest| rest.ends_with("/detect"));
    let task = match path {
        "/vision/v3.2/analyze" => Task::Three(list(&http.query, "visualFeatures")),
        "/vision/v3.2/tag" => Task::Three(vec!["tags".to_owned()]),
        "/vision/v3.2/detect" => Task::Three(vec!["objects".to_owned()]),
        "/computervision/imageanalysis:analyze" => Task::Four(list(&http.query, "features")),
        _ if face => Task::Face,
        _ => {
            return Err(gateway_error(404, "Resource not found"));
        }
    };
    if http.method != Method::POST {
        return Err(gateway_error(405, "Method not allowed").with("allow", "POST"));
    }
    match &task {
        Task::Four(features) if features.is_empty() => {
            Err(refused("BadArgument", "At least one feature must be named."))
        }
        _ => Ok(task),
    }
}

fn predict(
    http: &HttpRequest,
    rules: &ImageRules,
    model: ModelView<'_>,
) -> Result<Prediction, HttpResponse> {
    let kind = http.header("content-type");
    if kind.starts_with("application/json") {
        let parsed: Result<Value, _> = serde_json::from_slice(&http.body);
        let parsed =
            parsed.map_err(|why| refused("BadArgument", &format!("JSON format error: {why}")))?;
        let why = if parsed["url"].is_string() {
            "Image URL is not accessible. Send the image's bytes."
        } else {
            "Image URL is badly formatted."
        };
        return Err(refused("InvalidImageUrl", why));
    }
    let bytes = if kind.starts_with("multipart/form-data") {
        multipart::file(kind, &http.body, None).unwrap_or_default()
    } else {
        &http.body
    };
    let image = rules.decode(bytes).map_err(|rejection| match rejection {
        ImageError::Large(why) | ImageError::Small(why) => refused("InvalidImageSize", &why),
        ImageError::Format(why) => refused("InvalidImageFormat", &why),
    })?;
    model.ask(&image).map_err(|failed| match failed {
        TargetError::Rejected(why) => refused("NotSupportedImage", &why),
        other => error(500, "InternalServerError", "FailedToProcess", &other.to_string()),
    })
}

fn analyse_3(
    prediction: &Prediction,
    features: &[String],
    model: ModelView<'_>,
) -> Result<Value, HttpResponse> {
    let mut answer = Map::new();
    for feature in features {
        let value = match feature.as_str() {
            "tags" => tags(prediction),
            "objects" => objects_3(prediction),
            "adult" => adult(prediction),
            _ => None,
        };
        answer.insert(feature.clone(), value.ok_or_else(|| unable(feature))?);
    }
    finish(&mut answer, prediction, model);
    Ok(answer.into())
}

fn analyse_4(
    prediction: &Prediction,
    features: &[String],
    model: ModelView<'_>,
) -> Result<Value, HttpResponse> {
    let mut answer = Map::new();
    for feature in features {
        let values = match feature.as_str() {
            "tags" => tags(prediction).map(|tags| json!({"values": tags})),
            "objects" => prediction.objects().map(|found| located(prediction, &found, true)),
            "people" => prediction.objects().map(|mut found| {
                found.retain(|object| object.name.eq_ignore_ascii_case("person"));
                located(prediction, &found, false)
            }),
            "read" => read(prediction),
            _ => None,
        };
        answer.insert(format!("{feature}Result"), values.ok_or_else(|| unable(feature))?);
    }
    finish(&mut answer, prediction, model);
    Ok(answer.into())
}

fn finish(answer: &mut Map<String, Value>, prediction: &Prediction, model: ModelView<'_>) {
    let (width, height) = prediction.size();
    answer.insert("modelVersion".into(), model.version().into());
    answer.insert("metadata".into(), json!({"width": width as u64, "height": height as u64}));
}

fn tags(prediction: &Prediction) -> Option<Value> {
    let labels = prediction.labels()?;
    let tags =
        labels.iter().map(|Label { name, score, .. }| json!({"name": name, "confidence": score}));
    Some(tags.collect())
}

fn objects_3(prediction: &Prediction) -> Option<Value> {
    let mut objects = Vec::new();
    for found in prediction.objects()? {
        objects.push(json!({"rectangle": rectangle_3(&found, prediction), "object": found.name,
            "confidence": found.score}));
    }
    Some(objects.into())
}

/// Objects with their one tag, or people without.
fn located(prediction: &Prediction, found: &[DetectedObject], tagged: bool) -> Value {
    let mut values = Vec::new();
    for found in found {
        let bounds = rectangle_3(found, prediction);
        values.push(if tagged {
            json!({"boundingBox": bounds, "tags": [{"name": found.name, "confidence": found.score}]})
        } else {
            json!({"boundingBox": bounds, "confidence": found.score})
        });
    }
    json!({ "values": values })
}

/// Scores of the labels that have the names of the properties.
fn adult(prediction: &Prediction) -> Option<Value> {
    let mut answer = Map::new();
    for (name, flag, score) in [
        ("adult", "isAdultContent", "adultScore"),
        ("racy", "isRacyContent", "racyScore"),
        ("gore", "isGoryContent", "goreScore"),
    ] {
        let found = prediction.score_of(name);
        answer.insert(flag.to_owned(), found.is_some_and(|score| score >= 0.5).into());
        answer.insert(score.to_owned(), found.unwrap_or(0.0).into());
    }
    ["adult", "racy", "gore"]
        .iter()
        .any(|name| prediction.score_of(name).is_some())
        .then(|| answer.into())
}

/// One line that fills the image: the model reports neither positions nor confidences.
fn read(prediction: &Prediction) -> Option<Value> {
    let text = prediction.text()?;
    if text.is_empty() {
        return Some(json!({"blocks": []}));
    }
    let (width, height) = prediction.size();
    let corners = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
    let polygon: Vec<Value> =
        corners.iter().map(|&[x, y]| json!({"x": x as i64, "y": y as i64})).collect();
    let words: Vec<Value> = text
        .split_whitespace()
        .map(|word| json!({"text": word, "boundingPolygon": polygon, "confidence": 1.0}))
        .collect();
    let line = json!({"text": text, "boundingPolygon": polygon, "words": words});
    Some(json!({"blocks": [{"lines": [line]}]}))
}

/// Left, top, width and height in whole pixels, as Azure reports them.
fn rectangle(found: &DetectedObject, prediction: &Prediction) -> [i64; 4] {
    let (width, height) = prediction.size();
    let [left, right] = [found.left, found.right].map(|x| (x * width).round() as i64);
    let [top, bottom] = [found.top, found.bottom].map(|y| (y * height).round() as i64);
    [left, top, right - left, bottom - top]
}

fn rectangle_3(found: &DetectedObject, prediction: &Prediction) -> Value {
    let [x, y, w, h] = rectangle(found, prediction);
    json!({"x": x, "y": y, "w": w, "h": h})
}

fn face_rectangle(found: &DetectedObject, prediction: &Prediction) -> Value {
    let [left, top, width, height] = rectangle(found, prediction);
    json!({"top": top, "left": left, "width": width, "height": height})
}
