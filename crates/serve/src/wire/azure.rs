//! Azure AI Vision, image analysis 3.2 and 4.0, and Azure Face.

use super::{RETRY_AFTER, Trouble, Wire, known, multipart};
use crate::exchange::{Answer, Asked};
use crate::model::{Found, Label, Seen, View};
use crate::picture::{Rules, Unfit};
use crate::query::list;
use axum::http::Method;
use faultlens_core::TargetError;
use serde_json::{Map, Value, json};

const RULES_3: Rules = Rules { most_bytes: 4 << 20, ..RULES_4 };
const RULES_4: Rules =
    Rules { most_bytes: 20 << 20, least_side: 50, most_side: 16_000, only_png_and_jpeg: false };
const RULES_FACE: Rules = Rules { most_bytes: 6 << 20, least_side: 36, ..RULES_4 };

/// Azure AI Vision.
pub(super) struct Azure;

/// What an address stands for.
enum Task {
    /// Image analysis 3.2 with these features.
    Three(Vec<String>),
    /// Image analysis 4.0 with these features.
    Four(Vec<String>),
    Face,
}

impl Wire for Azure {
    fn most_bytes(&self) -> usize {
        21 << 20
    }

    fn admit(&self, asked: &Asked, keys: &[String]) -> Result<(), Answer> {
        let key = asked.header("ocp-apim-subscription-key");
        if known(keys, key) || asked.bearer().is_some_and(|token| known(keys, token)) {
            return Ok(());
        }
        let why = "Access denied due to invalid subscription key or wrong API endpoint. Make sure \
            to provide a valid key for an active subscription and use a correct regional API \
            endpoint for your resource.";
        Err(Answer::json(401, &json!({"error": {"code": "401", "message": why}})))
    }

    fn answer(&self, asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
        let task = task(asked)?;
        let rules = match task {
            Task::Three(_) => &RULES_3,
            Task::Four(_) => &RULES_4,
            Task::Face => &RULES_FACE,
        };
        let seen = look(asked, rules, model)?;
        let answer = match &task {
            Task::Three(features) => analysed_3(&seen, features, model)?,
            Task::Four(features) => analysed_4(&seen, features, model)?,
            Task::Face => {
                let faces = seen.faces().ok_or_else(|| unable("face detection"))?;
                faces
                    .iter()
                    .map(|found| json!({"faceRectangle": face_place(found, &seen)}))
                    .collect()
            }
        };
        Ok(Answer::json(200, &answer))
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        let plain = |status: u16, message: &str| {
            Answer::json(
                status,
                &json!({"error": {"code": status.to_string(), "message": message}}),
            )
        };
        match trouble {
            Trouble::Throttled => plain(
                429,
                "Requests have exceeded the rate limit of the \
                current pricing tier. Please retry after 1 second.",
            )
            .with("retry-after", RETRY_AFTER),
            Trouble::Broken(503) => plain(503, "The service is temporarily unavailable."),
            Trouble::Broken(status) => {
                let code = "InternalServerError";
                error(status, code, code, "Failed to process the request.")
            }
            Trouble::TooLarge => error(
                413,
                "InvalidRequest",
                "InvalidImageSize",
                "Input image is \
                too large.",
            ),
            Trouble::Incomplete => error(
                400,
                "InvalidRequest",
                "BadArgument",
                "The request is \
                incomplete.",
            ),
        }
    }
}

fn error(status: u16, code: &str, inner: &str, message: &str) -> Answer {
    let inner = json!({"code": inner, "message": message});
    Answer::json(status, &json!({"error": {"code": code, "message": message, "innererror": inner}}))
}

fn refused(inner: &str, message: &str) -> Answer {
    error(400, "InvalidRequest", inner, message)
}

fn unable(feature: &str) -> Answer {
    let why = format!("the model that is served here gives no {feature}");
    refused("NotSupportedVisualFeature", &why)
}

fn task(asked: &Asked) -> Result<Task, Answer> {
    let path = asked.path.as_str();
    let face = path.strip_prefix("/face/v1.").is_some_and(|rest| rest.ends_with("/detect"));
    let task = match path {
        "/vision/v3.2/analyze" => Task::Three(list(&asked.query, "visualFeatures")),
        "/vision/v3.2/tag" => Task::Three(vec!["tags".to_owned()]),
        "/vision/v3.2/detect" => Task::Three(vec!["objects".to_owned()]),
        "/computervision/imageanalysis:analyze" => Task::Four(list(&asked.query, "features")),
        _ if face => Task::Face,
        _ => {
            let missing = json!({"error": {"code": "404", "message": "Resource not found"}});
            return Err(Answer::json(404, &missing));
        }
    };
    if asked.method != Method::POST {
        let wrong = json!({"error": {"code": "405", "message": "Method not allowed"}});
        return Err(Answer::json(405, &wrong).with("allow", "POST"));
    }
    match &task {
        Task::Four(features) if features.is_empty() => {
            Err(refused("BadArgument", "At least one feature must be named."))
        }
        _ => Ok(task),
    }
}

fn look(asked: &Asked, rules: &Rules, model: View<'_>) -> Result<Seen, Answer> {
    let kind = asked.header("content-type");
    if kind.starts_with("application/json") {
        let parsed: Result<Value, _> = serde_json::from_slice(&asked.body);
        let parsed =
            parsed.map_err(|why| refused("BadArgument", &format!("JSON format error: {why}")))?;
        let why = if parsed["url"].is_string() {
            "Image URL is not accessible. Send the image's bytes."
        } else {
            "Image URL is badly formatted."
        };
        return Err(refused("InvalidImageUrl", why));
    }
    let bytes = match kind.starts_with("multipart/form-data") {
        true => multipart::file(kind, &asked.body, None).unwrap_or_default(),
        false => &asked.body,
    };
    let image = rules.decode(bytes).map_err(|unfit| match unfit {
        Unfit::Large(why) | Unfit::Small(why) => refused("InvalidImageSize", &why),
        Unfit::Format(why) => refused("InvalidImageFormat", &why),
    })?;
    model.ask(&image).map_err(|failed| match failed {
        TargetError::Rejected(why) => refused("NotSupportedImage", &why),
        other => error(500, "InternalServerError", "FailedToProcess", &other.to_string()),
    })
}

fn analysed_3(seen: &Seen, features: &[String], model: View<'_>) -> Result<Value, Answer> {
    let mut answer = Map::new();
    for feature in features {
        let value = match feature.as_str() {
            "tags" => tags(seen),
            "objects" => objects_3(seen),
            "adult" => adult(seen),
            _ => None,
        };
        answer.insert(feature.clone(), value.ok_or_else(|| unable(feature))?);
    }
    finish(&mut answer, seen, model);
    Ok(answer.into())
}

fn analysed_4(seen: &Seen, features: &[String], model: View<'_>) -> Result<Value, Answer> {
    let mut answer = Map::new();
    for feature in features {
        let values = match feature.as_str() {
            "tags" => tags(seen).map(|tags| json!({"values": tags})),
            "objects" => seen.objects().map(|found| located(seen, &found, true)),
            "people" => seen.objects().map(|mut found| {
                found.retain(|object| object.name.eq_ignore_ascii_case("person"));
                located(seen, &found, false)
            }),
            "read" => read(seen),
            _ => None,
        };
        answer.insert(format!("{feature}Result"), values.ok_or_else(|| unable(feature))?);
    }
    finish(&mut answer, seen, model);
    Ok(answer.into())
}

fn finish(answer: &mut Map<String, Value>, seen: &Seen, model: View<'_>) {
    let (width, height) = seen.size();
    answer.insert("modelVersion".into(), model.version().into());
    answer.insert("metadata".into(), json!({"width": width as u64, "height": height as u64}));
}

fn tags(seen: &Seen) -> Option<Value> {
    let tag = |label: &Label| json!({"name": label.name, "confidence": label.score});
    Some(seen.labels()?.iter().map(tag).collect())
}

fn objects_3(seen: &Seen) -> Option<Value> {
    let object = |found: &Found| {
        json!({"rectangle": place(found, seen), "object": found.name,
            "confidence": found.score})
    };
    Some(seen.objects()?.iter().map(object).collect())
}

/// Objects with their one tag, or people without.
fn located(seen: &Seen, found: &[Found], tagged: bool) -> Value {
    let object = |found: &Found| match tagged {
        true => json!({"boundingBox": place(found, seen),
            "tags": [{"name": found.name, "confidence": found.score}]}),
        false => json!({"boundingBox": place(found, seen), "confidence": found.score}),
    };
    json!({"values": found.iter().map(object).collect::<Vec<Value>>()})
}

/// Scores of the labels that are called as the properties are.
fn adult(seen: &Seen) -> Option<Value> {
    let mut answer = Map::new();
    for (name, flag, score) in [
        ("adult", "isAdultContent", "adultScore"),
        ("racy", "isRacyContent", "racyScore"),
        ("gore", "isGoryContent", "goreScore"),
    ] {
        let found = seen.score_of(name);
        answer.insert(flag.to_owned(), found.is_some_and(|score| score >= 0.5).into());
        answer.insert(score.to_owned(), found.unwrap_or(0.0).into());
    }
    ["adult", "racy", "gore"]
        .iter()
        .any(|name| seen.score_of(name).is_some())
        .then(|| answer.into())
}

/// One line that fills the image, for the model does not say where it stands; nor how sure it
/// is.
fn read(seen: &Seen) -> Option<Value> {
    let text = seen.text()?;
    if text.is_empty() {
        return Some(json!({"blocks": []}));
    }
    let (width, height) = seen.size();
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

/// Left, top, width and height in whole pixels, as Azure tells them.
fn rectangle(found: &Found, seen: &Seen) -> [i64; 4] {
    let (width, height) = seen.size();
    let [left, right] = [found.left, found.right].map(|x| (x * width).round() as i64);
    let [top, bottom] = [found.top, found.bottom].map(|y| (y * height).round() as i64);
    [left, top, right - left, bottom - top]
}

fn place(found: &Found, seen: &Seen) -> Value {
    let [x, y, w, h] = rectangle(found, seen);
    json!({"x": x, "y": y, "w": w, "h": h})
}

fn face_place(found: &Found, seen: &Seen) -> Value {
    let [left, top, width, height] = rectangle(found, seen);
    json!({"top": top, "left": left, "width": width, "height": height})
}
