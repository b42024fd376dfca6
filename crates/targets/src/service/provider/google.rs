//! Google Cloud Vision (`images:annotate`, v1): one image per request, asked for one feature.

use super::super::connector::Connector;
use super::super::credential::google as credential_of;
use super::super::definition::{OpenContext, Prices, Service};
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::super::spec::ServiceSpec;
use super::super::task::Task;
use super::super::wire_format::{EncodedImage, Prediction, Wire, WireError};
use super::filter::LabelFilter;
use super::http_error::{describe_body, first_line, from_status, retry_after, with_status};
use super::image_limits::ImageLimits;
use super::parse::{self, bounded, json, malformed, score};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Bounds, Image, Ranking, Response, TargetError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Google Cloud Vision.
pub(super) const GOOGLE: Service = Service {
    name: "google",
    about: "Google Cloud Vision: labels, objects, text, faces and safe search",
    tasks: &[Task::Labels, Task::Objects, Task::Text, Task::Faces, Task::Moderation],
    endpoint: Some("https://vision.googleapis.com"),
    rate: Some(30.0),
    prices: Some(Prices {
        source: "https://cloud.google.com/vision/pricing",
        usual: 0.001_5,
        by_task: &[(Task::Objects, 0.002_25)],
    }),
    min_side: 1,
    // A request may have 10 MiB, and base64 makes a third more of an image.
    max_bytes: (10 << 20) / 4 * 3 - 1024,
    open,
};

/// How many objects or faces are asked for.
const MAX_OBJECTS: usize = 100;
/// The kind of content that counts by default.
const VIOLENCE: &[&str] = &["violence"];

/// Google Cloud Vision's wire format.
struct Google {
    task: Task,
    filter: LabelFilter,
}

fn open(spec: &ServiceSpec, context: &OpenContext<'_>) -> Result<Connector, ServiceError> {
    let endpoint = GOOGLE.endpoint_of(spec, None)?;
    let filter = match context.task {
        Task::Moderation => LabelFilter::among(spec, KINDS, VIOLENCE)?,
        _ => LabelFilter::new(spec, &[])?,
    };
    let wire = Google { task: context.task, filter };
    Ok(Connector {
        wire: Box::new(wire),
        credential: credential_of(spec, context.environment, &endpoint)?,
        endpoint: endpoint.address(),
        task: context.task,
        rate: None,
        price: None,
    })
}

impl Google {
    /// The feature that is asked for, its key in the response, and how many results are asked for.
    fn feature(&self) -> (&'static str, &'static str, Option<usize>) {
        // Labels that do not count must not crowd out those that do.
        let max_labels =
            if self.filter.is_restricted() { MAX_OBJECTS } else { self.filter.max_labels };
        match self.task {
            Task::Objects => {
                ("OBJECT_LOCALIZATION", "localizedObjectAnnotations", Some(MAX_OBJECTS))
            }
            Task::Text => ("TEXT_DETECTION", "textAnnotations", None),
            Task::Faces => ("FACE_DETECTION", "faceAnnotations", Some(MAX_OBJECTS)),
            Task::Moderation => ("SAFE_SEARCH_DETECTION", "safeSearchAnnotation", None),
            _ => ("LABEL_DETECTION", "labelAnnotations", Some(max_labels)),
        }
    }
}

impl Wire for Google {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        ImageLimits::of(&GOOGLE).check(encoded)?;
        let (feature, _, max_results) = self.feature();
        let mut feature = json!({ "type": feature });
        if let Some(max_results) = max_results {
            feature["maxResults"] = max_results.into();
        }
        let content = STANDARD.encode(encoded.bytes);
        let one = json!({ "image": { "content": content }, "features": [feature] });
        Ok(Request {
            method: "POST",
            path: "/v1/images:annotate".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: json!({ "requests": [one] }).to_string().into_bytes(),
        })
    }

    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError> {
        if response.status != 200 {
            return Err(request_error(response));
        }
        let mut body: BatchResponse = json(&response.body)?;
        if body.responses.len() != 1 {
            return malformed(format!("{} responses to one request", body.responses.len()));
        }
        let mut parts = body.responses.swap_remove(0);
        if let Some(error) = parts.remove("error") {
            let error = from_value("error", error)?;
            return Err(image_error(&error));
        }
        let (_, key, _) = self.feature();
        let part = parts.remove(key);
        if part.is_none() && !parts.is_empty() {
            return malformed(format!("a response without {key}"));
        }
        let response = match self.task {
            Task::Objects => objects(list(key, part)?, &self.filter, image)?,
            Task::Text => text(list(key, part)?)?,
            Task::Faces => faces(list(key, part)?, &self.filter, image)?,
            Task::Moderation => safe_search(part, &self.filter)?,
            _ => labels(list(key, part)?, &self.filter)?,
        };
        Ok(Prediction { response, version: None })
    }
}

#[derive(Deserialize)]
struct BatchResponse {
    responses: Vec<Map<String, Value>>,
}

fn from_value<T: DeserializeOwned>(key: &str, value: Value) -> Result<T, WireError> {
    serde_json::from_value(value)
        .or_else(|error| malformed(format!("{key} cannot be read: {error}")))
}

/// A list, which Google leaves out where it would be empty.
fn list<T: DeserializeOwned>(key: &str, part: Option<Value>) -> Result<Vec<T>, WireError> {
    bounded(part.map_or_else(|| Ok(Vec::new()), |part| from_value(key, part))?)
}

#[derive(Deserialize)]
struct Label {
    description: String,
    score: f64,
}

/// Labels come in the order of their topicality, which need not be that of their scores.
fn labels(labels: Vec<Label>, filter: &LabelFilter) -> Result<Response, WireError> {
    let mut named = Vec::new();
    for label in labels {
        named.push((parse::name(label.description)?, score(label.score, 1.0)?));
    }
    Ok(filter.ranking_in_order(named))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    name: String,
    score: f64,
    bounding_poly: Polygon,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Polygon {
    #[serde(default)]
    vertices: Vec<Vertex>,
    #[serde(default)]
    normalized_vertices: Vec<Vertex>,
}

/// A corner; coordinates of 0 are left out of the response.
#[derive(Deserialize)]
struct Vertex {
    #[serde(default)]
    x: f64,
    #[serde(default)]
    y: f64,
}

impl Polygon {
    fn bounds(&self, image: &Image) -> Result<Bounds, WireError> {
        match (enclosing(&self.normalized_vertices), enclosing(&self.vertices)) {
            (Some(fractions), _) => parse::bounds(fractions, image),
            (None, Some(pixels)) => parse::bounds_of_pixels(pixels, image),
            (None, None) => malformed("a box without corners"),
        }
    }
}

/// Left, top, right and bottom of at least two corners.
fn enclosing(corners: &[Vertex]) -> Option<[f64; 4]> {
    let [first, others @ ..] = corners else { return None };
    if others.is_empty() {
        return None;
    }
    let mut sides = [first.x, first.y, first.x, first.y];
    for corner in others {
        sides[0] = sides[0].min(corner.x);
        sides[1] = sides[1].min(corner.y);
        sides[2] = sides[2].max(corner.x);
        sides[3] = sides[3].max(corner.y);
    }
    Some(sides)
}

fn objects(
    objects: Vec<Object>,
    filter: &LabelFilter,
    image: &Image,
) -> Result<Response, WireError> {
    let mut found = Vec::new();
    for object in objects {
        let bounds = object.bounding_poly.bounds(image)?;
        found.push((parse::name(object.name)?, score(object.score, 1.0)?, bounds));
    }
    Ok(filter.detections(found))
}

#[derive(Deserialize)]
struct TextPart {
    description: String,
}

/// The first entry is the whole text, the others its words.
fn text(parts: Vec<TextPart>) -> Result<Response, WireError> {
    parse::text(parts.first().map_or("", |whole| &whole.description))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Face {
    bounding_poly: Polygon,
    detection_confidence: f64,
}

fn faces(faces: Vec<Face>, filter: &LabelFilter, image: &Image) -> Result<Response, WireError> {
    let mut found = Vec::new();
    for face in faces {
        let bounds = face.bounding_poly.bounds(image)?;
        found.push((parse::FACE.to_owned(), score(face.detection_confidence, 1.0)?, bounds));
    }
    Ok(filter.detections(found))
}

/// Kinds of content, in the order of the documentation.
const KINDS: &[&str] = &["adult", "spoof", "medical", "violence", "racy"];

/// Likelihoods in two groups, positive first: a step between neighbouring likelihoods is no change
/// of the answer. Google gives no scores here, so that both groups get 1.
fn safe_search(part: Option<Value>, filter: &LabelFilter) -> Result<Response, WireError> {
    let Some(part) = part else { return malformed("a response without safeSearchAnnotation") };
    let likelihoods: Map<String, Value> = from_value("safeSearchAnnotation", part)?;
    let mut labels = Vec::new();
    for kind in KINDS.iter().filter(|kind| filter.accepts(kind)) {
        // Enum values of 0, here UNKNOWN, are left out of the response.
        let likelihood = likelihoods.get(*kind).map_or(Some("UNKNOWN"), Value::as_str);
        let is_likely = match likelihood {
            Some("UNKNOWN" | "VERY_UNLIKELY" | "UNLIKELY") => false,
            Some("POSSIBLE" | "LIKELY" | "VERY_LIKELY") => true,
            _ => return malformed(format!("no likelihood of {kind}")),
        };
        labels.push((is_likely, kind));
    }
    labels.sort_by_key(|(is_likely, _)| !is_likely);
    let labels = labels.into_iter().map(|(is_likely, kind)| {
        let group = if is_likely { "positive" } else { "negative" };
        (format!("{kind}: {group}"), 1.0)
    });
    Ok(Response::Ranking(Ranking::of_names(labels)))
}

#[derive(Deserialize, Default)]
struct ErrorBody {
    error: Status,
}

#[derive(Deserialize, Default)]
struct Status {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
    #[serde(default)]
    status: String,
}

/// The error of one image inside a response, whose codes are those of gRPC (`google.rpc.Code`).
fn image_error(error: &Status) -> WireError {
    let described = format!("error {}: {}", error.code, first_line(&error.message));
    match error.code {
        8 => WireError::Throttled(None),
        // Cancelled, unknown, deadline exceeded, aborted, internal, unavailable.
        1 | 2 | 4 | 10 | 13 | 14 => WireError::Unavailable(described),
        7 | 16 => WireError::Denied(described),
        3 | 9 | 11 => WireError::Rejected(described),
        _ => WireError::Malformed(described),
    }
}

/// The error of the whole request, whose codes are those of HTTP.
fn request_error(response: &HttpResponse) -> WireError {
    let Ok(ErrorBody { error }) = serde_json::from_slice(&response.body) else {
        return from_status(response, &describe_body(&response.body));
    };
    let described = with_status(response.status, &error.message);
    match error.status.as_str() {
        "RESOURCE_EXHAUSTED" => WireError::Throttled(retry_after(response)),
        // An invalid key is reported as an invalid argument.
        "INVALID_ARGUMENT" if error.message.to_lowercase().contains("api key") => {
            WireError::Denied(described)
        }
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => WireError::Denied(described),
        _ => from_status(response, &error.message),
    }
}
