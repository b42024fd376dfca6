//! The object detector of IBM's Model Asset eXchange: `POST /model/predict`.

use super::format::{Failure, Format, RETRY_AFTER, Wire, has_bearer_key};
use super::multipart;
use crate::image_rules::{ImageError, ImageRules};
use crate::message::{HttpRequest, HttpResponse};
use crate::model::ModelView;
use crate::query::parameter;
use axum::http::Method;
use faultlens_core::TargetError;
use serde_json::json;

const RULES: ImageRules =
    ImageRules { max_bytes: 16 << 20, min_side: 1, max_side: 65_535, only_png_and_jpeg: false };
/// The default threshold of scores.
const THRESHOLD: f64 = 0.7;

/// IBM MAX object detector.
pub(super) const IBM: Format = Format { name: "ibm", about: "IBM MAX object detector", wire: &Ibm };

struct Ibm;

impl Wire for Ibm {
    fn max_bytes(&self) -> usize {
        17 << 20
    }

    /// The original lets everybody in; behind a gateway it asks for a bearer token.
    fn admit(&self, http: &HttpRequest, keys: &[String]) -> Result<(), HttpResponse> {
        if has_bearer_key(http, keys) { Ok(()) } else { Err(error(401, "Unauthorized")) }
    }

    fn answer(
        &self,
        http: &HttpRequest,
        model: ModelView<'_>,
    ) -> Result<HttpResponse, HttpResponse> {
        let post = http.method == Method::POST;
        match (http.path.as_str(), post) {
            ("/model/predict", true) => predict(http, model),
            ("/model/metadata", false) => {
                let name = model.served.name();
                let version = model.version();
                let about = json!({"id": format!("{name}-{version}"), "name": name,
                    "description": "a local model, served by Faultlens", "type": "Object Detection",
                    "source": "", "license": ""});
                Ok(HttpResponse::json(200, &about))
            }
            ("/model/predict" | "/model/metadata", _) => {
                Err(error(405, "The method is not allowed for the requested URL."))
            }
            _ => Err(error(404, "The requested URL was not found on the server.")),
        }
    }

    fn failure(&self, failure: Failure) -> HttpResponse {
        match failure {
            Failure::Throttled => error(429, "Too Many Requests").with("retry-after", RETRY_AFTER),
            Failure::Broken(503) => error(503, "Service Unavailable"),
            Failure::Broken(status) => error(status, "Internal Server Error"),
            Failure::TooLarge => {
                error(413, "The data value transmitted exceeds the capacity limit.")
            }
            Failure::Incomplete => error(400, "The request is incomplete."),
        }
    }
}

fn error(status: u16, message: &str) -> HttpResponse {
    HttpResponse::json(status, &json!({"status": "error", "message": message}))
}

fn predict(http: &HttpRequest, model: ModelView<'_>) -> Result<HttpResponse, HttpResponse> {
    let threshold = threshold(parameter(&http.query, "threshold"))
        .map_err(|why| error(400, &format!("threshold: {why}")))?;
    let bytes = multipart::file(http.header("content-type"), &http.body, Some("image"));
    let Some(bytes) = bytes else {
        let why = "Input payload validation failed: image: Missing required parameter in an \
                   uploaded file";
        return Err(error(400, why));
    };
    let image = RULES.decode(bytes).map_err(|rejection| match rejection {
        ImageError::Large(why) | ImageError::Small(why) | ImageError::Format(why) => {
            error(400, &why)
        }
    })?;
    let prediction = model.ask(&image).map_err(|failed| match failed {
        TargetError::Rejected(why) => error(400, &why),
        other => error(500, &other.to_string()),
    })?;
    let objects = prediction.objects();
    let objects =
        objects.ok_or_else(|| error(400, "the model that is served here finds no objects"))?;
    let mut predictions = Vec::new();
    for found in objects.iter().filter(|found| found.score >= threshold) {
        predictions.push(json!({"label_id": found.class.to_string(), "label": found.name,
            "probability": found.score,
            "detection_box": [found.top, found.left, found.bottom, found.right]}));
    }
    Ok(HttpResponse::json(200, &json!({"status": "ok", "predictions": predictions})))
}

/// The minimum score that a client asks for.
fn threshold(text: Option<String>) -> Result<f64, String> {
    let Some(text) = text else { return Ok(THRESHOLD) };
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is not a number"))
}
