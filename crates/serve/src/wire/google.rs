//! Google Cloud Vision: `POST /v1/images:annotate`.

use super::{RETRY_AFTER, Trouble, Wire, known};
use crate::exchange::{Answer, Asked};
use crate::model::{Found, Seen, View};
use crate::picture::{Rules, Unfit, from_base64};
use crate::query::parameter;
use axum::http::Method;
use faultlens_core::TargetError;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Google's limits: 20 MB and 75 million pixels an image, any side.
const RULES: Rules = Rules {
    most_bytes: 20_000_000,
    least_side: 1,
    most_side: 75_000_000,
    only_png_and_jpeg: false,
};
const MOST_IMAGES: usize = 16;
/// What a feature gives where the client does not say.
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
    requests: Vec<One<'a>>,
}

#[derive(Deserialize)]
struct One<'a> {
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
    most: Option<usize>,
}

/// Google Cloud Vision.
pub(super) struct Google;

impl Wire for Google {
    fn most_bytes(&self) -> usize {
        10 << 20
    }

    fn admit(&self, asked: &Asked, keys: &[String]) -> Result<(), Answer> {
        if let Some(token) = asked.bearer() {
            let why =
                "Request had invalid authentication credentials. Expected OAuth 2 access token.";
            return if known(keys, token) {
                Ok(())
            } else {
                Err(status(401, "UNAUTHENTICATED", why))
            };
        }
        let header = Some(asked.header("x-goog-api-key")).filter(|key| !key.is_empty());
        let key = header.map(str::to_owned).or_else(|| parameter(&asked.query, "key"));
        match key {
            Some(key) if known(keys, &key) => Ok(()),
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

    fn answer(&self, asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
        let project = asked.path.strip_prefix("/v1/projects/");
        let known = asked.path == "/v1/images:annotate"
            || project.is_some_and(|rest| rest.ends_with("/images:annotate"));
        if !known || asked.method != Method::POST {
            return Err(status(404, "NOT_FOUND", "Method not found."));
        }
        let invalid = |why: String| status(400, "INVALID_ARGUMENT", &why);
        let batch: Batch<'_> = serde_json::from_slice(&asked.body)
            .map_err(|error| invalid(format!("Invalid JSON payload received. {error}")))?;
        if batch.requests.len() > MOST_IMAGES {
            return Err(invalid(format!("Too many images per request, at most {MOST_IMAGES}.")));
        }
        let responses: Vec<Value> =
            batch.requests.iter().map(|one| annotated(one, model)).collect();
        Ok(Answer::json(200, &json!({ "responses": responses })))
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        match trouble {
            Trouble::Throttled => {
                status(429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Requests'.")
                    .with("retry-after", RETRY_AFTER)
            }
            Trouble::Broken(500) => status(500, "INTERNAL", "Internal error encountered."),
            Trouble::Broken(code) => {
                status(code, "UNAVAILABLE", "The service is currently unavailable.")
            }
            Trouble::TooLarge => status(
                400,
                "INVALID_ARGUMENT",
                "Request payload size exceeds the limit: 10485760 bytes.",
            ),
            Trouble::Incomplete => status(400, "INVALID_ARGUMENT", "The request is incomplete."),
        }
    }
}

/// A `google.rpc.Status` for the whole request.
fn status(code: u16, name: &str, message: &str) -> Answer {
    Answer::json(code, &json!({"error": {"code": code, "message": message, "status": name}}))
}

/// One image's answer; what is wrong with it stands inside, and the others are answered.
fn annotated(one: &One<'_>, model: View<'_>) -> Value {
    let answer = look(one, model).and_then(|seen| {
        let mut answer = Map::new();
        for feature in &one.features {
            add(&mut answer, feature, &seen)?;
        }
        Ok(Value::Object(answer))
    });
    answer.unwrap_or_else(|(code, message)| json!({"error": {"code": code, "message": message}}))
}

fn look(one: &One<'_>, model: View<'_>) -> Result<Seen, (u16, String)> {
    let bad = |why: &str| (INVALID_ARGUMENT, why.to_owned());
    if one.image.source.is_some() {
        return Err(bad("We can not access the URL currently. Send the image's content."));
    }
    if one.features.is_empty() {
        return Err(bad("Request must specify image features."));
    }
    let bytes = Some(&one.image.content).filter(|content| !content.is_empty());
    let bytes = bytes.ok_or_else(|| bad("Request must specify image content."))?;
    let bytes = from_base64(bytes).ok_or_else(|| bad("Base64 decoding failed."))?;
    let image = RULES.decode(&bytes).map_err(|unfit| match unfit {
        Unfit::Large(why) | Unfit::Small(why) | Unfit::Format(why) => {
            bad(&format!("Bad image data: {why}"))
        }
    })?;
    model.ask(&image).map_err(|error| match error {
        TargetError::Rejected(why) => (INVALID_ARGUMENT, why),
        other => (INTERNAL, other.to_string()),
    })
}

fn add(
    answer: &mut Map<String, Value>,
    feature: &Feature,
    seen: &Seen,
) -> Result<(), (u16, String)> {
    let numbered = |number| TYPES.iter().find(|known| known.0 == number).map(|known| known.1);
    let name = feature.r#type.as_str().or_else(|| numbered(feature.r#type.as_u64()?));
    let most = feature.most.filter(|&most| most > 0).unwrap_or(RESULTS);
    let name = name.unwrap_or("TYPE_UNSPECIFIED");
    let (key, value) = match name {
        "LABEL_DETECTION" => ("labelAnnotations", labels(seen, most)),
        "OBJECT_LOCALIZATION" => ("localizedObjectAnnotations", objects(seen, most)),
        "FACE_DETECTION" => ("faceAnnotations", faces(seen, most)),
        "SAFE_SEARCH_DETECTION" => ("safeSearchAnnotation", safe_search(seen)),
        "TEXT_DETECTION" | "DOCUMENT_TEXT_DETECTION" => {
            if let Some(text) = seen.text() {
                answer.insert("fullTextAnnotation".into(), json!({"pages": [], "text": text}));
            }
            ("textAnnotations", texts(seen))
        }
        _ => ("", None),
    };
    let unable = || (INVALID_ARGUMENT, format!("the model that is served here gives no {name}"));
    answer.insert(key.to_owned(), value.ok_or_else(unable)?);
    Ok(())
}

fn labels(seen: &Seen, most: usize) -> Option<Value> {
    let labels = seen.labels()?;
    let label = |label: &crate::model::Label| {
        json!({"mid": "", "description": label.name, "score": label.score,
            "topicality": label.score})
    };
    Some(labels.iter().take(most).map(label).collect())
}

fn objects(seen: &Seen, most: usize) -> Option<Value> {
    let object = |found: &Found| {
        let corners: Vec<Value> =
            corners(found).iter().map(|[x, y]| json!({"x": x, "y": y})).collect();
        json!({"mid": "", "name": found.name, "score": found.score,
            "boundingPoly": {"normalizedVertices": corners}})
    };
    Some(seen.objects()?.iter().take(most).map(object).collect())
}

fn faces(seen: &Seen, most: usize) -> Option<Value> {
    let face = |found: &Found| {
        let place = in_pixels(found, seen);
        json!({"boundingPoly": place, "fdBoundingPoly": place, "landmarks": [],
            "detectionConfidence": found.score, "landmarkingConfidence": 0.0,
            "joyLikelihood": "UNKNOWN", "sorrowLikelihood": "UNKNOWN",
            "angerLikelihood": "UNKNOWN", "surpriseLikelihood": "UNKNOWN",
            "underExposedLikelihood": "UNKNOWN", "blurredLikelihood": "UNKNOWN",
            "headwearLikelihood": "UNKNOWN"})
    };
    Some(seen.faces()?.iter().take(most).map(face).collect())
}

/// The whole text first, then its words; the model does not say where they stand.
fn texts(seen: &Seen) -> Option<Value> {
    let text = seen.text()?;
    let (width, height) = seen.size();
    let corners = [[0.0, 0.0], [width, 0.0], [width, height], [0.0, height]];
    let place: Vec<Value> =
        corners.iter().map(|&[x, y]| json!({"x": x as i64, "y": y as i64})).collect();
    let entry = |text: &str| json!({"description": text, "boundingPoly": {"vertices": place}});
    let whole = Some(text.as_str()).filter(|text| !text.is_empty());
    Some(whole.into_iter().chain(text.split_whitespace()).map(entry).collect())
}

/// Likelihoods of the labels that are called as the properties are.
fn safe_search(seen: &Seen) -> Option<Value> {
    let names = ["adult", "spoof", "medical", "violence", "racy"];
    names.iter().any(|name| seen.score_of(name).is_some()).then(|| {
        let property =
            |name: &&str| ((*name).to_owned(), Value::from(likelihood(seen.score_of(name))));
        Value::Object(names.iter().map(property).collect())
    })
}

/// Google says no limits between its words; these are equal fifths.
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

fn corners(found: &Found) -> [[f64; 2]; 4] {
    let Found { left, top, right, bottom, .. } = *found;
    [[left, top], [right, top], [right, bottom], [left, bottom]]
}

/// Whole pixels, as faces are told.
fn in_pixels(found: &Found, seen: &Seen) -> Value {
    let (width, height) = seen.size();
    let whole = |share: f64, side: f64| (share * side).round() as i64;
    let vertex = |[x, y]: &[f64; 2]| json!({"x": whole(*x, width), "y": whole(*y, height)});
    json!({"vertices": corners(found).iter().map(vertex).collect::<Vec<Value>>()})
}
