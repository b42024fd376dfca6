//! The object detector of IBM's Model Asset eXchange: `POST /model/predict`.

use super::{RETRY_AFTER, Trouble, Wire, known, multipart};
use crate::exchange::{Answer, Asked};
use crate::model::{Found, View};
use crate::picture::{Rules, Unfit};
use crate::query::parameter;
use axum::http::Method;
use faultlens_core::TargetError;
use serde_json::{Value, json};

const RULES: Rules =
    Rules { most_bytes: 16 << 20, least_side: 1, most_side: 65_535, only_png_and_jpeg: false };
/// What the model leaves out where the client does not say.
const THRESHOLD: f64 = 0.7;

/// IBM MAX object detector.
pub(super) struct Ibm;

impl Wire for Ibm {
    fn most_bytes(&self) -> usize {
        17 << 20
    }

    /// The original lets everybody in; behind a gateway it asks for a bearer token.
    fn admit(&self, asked: &Asked, keys: &[String]) -> Result<(), Answer> {
        match asked.bearer() {
            Some(token) if known(keys, token) => Ok(()),
            _ => Err(error(401, "Unauthorized")),
        }
    }

    fn answer(&self, asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
        let post = asked.method == Method::POST;
        match (asked.path.as_str(), post) {
            ("/model/predict", true) => predicted(asked, model),
            ("/model/metadata", false) => {
                let (name, version) = (model.served.name(), model.version());
                let about = json!({"id": format!("{name}-{version}"), "name": name,
                    "description": "a local model, served by Faultlens", "type": "Object Detection",
                    "source": "", "license": ""});
                Ok(Answer::json(200, &about))
            }
            ("/model/predict" | "/model/metadata", _) => {
                Err(error(405, "The method is not allowed for the requested URL."))
            }
            _ => Err(error(404, "The requested URL was not found on the server.")),
        }
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        match trouble {
            Trouble::Throttled => error(429, "Too Many Requests").with("retry-after", RETRY_AFTER),
            Trouble::Broken(503) => error(503, "Service Unavailable"),
            Trouble::Broken(status) => error(status, "Internal Server Error"),
            Trouble::TooLarge => {
                error(413, "The data value transmitted exceeds the capacity limit.")
            }
            Trouble::Incomplete => error(400, "The request is incomplete."),
        }
    }
}

fn error(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({"status": "error", "message": message}))
}

fn predicted(asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
    let threshold = least(parameter(&asked.query, "threshold"))
        .map_err(|why| error(400, &format!("threshold: {why}")))?;
    let bytes = multipart::file(asked.header("content-type"), &asked.body, Some("image"));
    let missing = || {
        error(
            400,
            "Input payload validation failed: image: Missing required parameter in an uploaded \
                file",
        )
    };
    let image = RULES.decode(bytes.ok_or_else(missing)?).map_err(|unfit| match unfit {
        Unfit::Large(why) | Unfit::Small(why) | Unfit::Format(why) => error(400, &why),
    })?;
    let seen = model.ask(&image).map_err(|failed| match failed {
        TargetError::Rejected(why) => error(400, &why),
        other => error(500, &other.to_string()),
    })?;
    let objects = seen.objects();
    let objects =
        objects.ok_or_else(|| error(400, "the model that is served here finds no objects"))?;
    let prediction = |found: &Found| {
        json!({"label_id": found.class.to_string(), "label": found.name,
            "probability": found.score,
            "detection_box": [found.top, found.left, found.bottom, found.right]})
    };
    let sure = objects.iter().filter(|found| found.score >= threshold);
    let predictions: Vec<Value> = sure.map(prediction).collect();
    Ok(Answer::json(200, &json!({"status": "ok", "predictions": predictions})))
}

/// The least score that a client asks for.
fn least(text: Option<String>) -> Result<f64, String> {
    let Some(text) = text else { return Ok(THRESHOLD) };
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| format!("`{text}` is no number"))
}
