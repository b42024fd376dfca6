//! Google Cloud Vision: one image per request, asked for one feature.

use super::super::credential::google as credential_of;
use super::super::registry::{Opening, Service};
use super::super::{Connector, ServiceError, ServiceSpec};
use super::reading::{self, Limits, Wanted, bounded, broken, json, score};
use super::{Answer, Picture, Problem, Request, Said, Task, Wire, problem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Bounds, Image, Ranking, Response, TargetError};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Google Cloud Vision.
pub(in super::super) const GOOGLE: Service = Service {
    name: "google",
    about: "Google Cloud Vision: labels, objects, text, faces and safe search",
    tasks: &[Task::Labels, Task::Objects, Task::Text, Task::Faces, Task::Moderation],
    endpoint: Some("https://vision.googleapis.com"),
    rate: Some(30.0),
    least_side: 1,
    // A request has 10 MiB, of which base64 takes a third.
    most_bytes: (10 << 20) / 4 * 3 - 1024,
    open,
};

/// As many objects or faces as are asked for.
const MOST_OBJECTS: usize = 100;
/// What safe search is asked about by default.
const VIOLENCE: &[&str] = &["violence"];

/// Google Cloud Vision's wire format.
struct Google {
    task: Task,
    wanted: Wanted,
}

fn open(spec: &ServiceSpec, opening: &Opening<'_>) -> Result<Connector, ServiceError> {
    let endpoint = GOOGLE.endpoint_of(spec, None)?;
    let wanted = match opening.task {
        Task::Moderation => Wanted::among(spec, KINDS, VIOLENCE)?,
        _ => Wanted::new(spec, &[]),
    };
    let wire = Google { task: opening.task, wanted };
    Ok(Connector {
        wire: Box::new(wire),
        credential: credential_of(spec, opening.environment, &endpoint)?,
        endpoint: endpoint.address(),
        task: opening.task,
        rate: None,
        price: None,
    })
}

impl Google {
    /// The feature that is asked for, where its answer stands, and how many are asked for.
    fn feature(&self) -> (&'static str, &'static str, Option<usize>) {
        // Labels that do not count must not crowd out those that do.
        let most = if self.wanted.is_choosy() { MOST_OBJECTS } else { self.wanted.most };
        match self.task {
            Task::Objects => {
                ("OBJECT_LOCALIZATION", "localizedObjectAnnotations", Some(MOST_OBJECTS))
            }
            Task::Text => ("TEXT_DETECTION", "textAnnotations", None),
            Task::Faces => ("FACE_DETECTION", "faceAnnotations", Some(MOST_OBJECTS)),
            Task::Moderation => ("SAFE_SEARCH_DETECTION", "safeSearchAnnotation", None),
            _ => ("LABEL_DETECTION", "labelAnnotations", Some(most)),
        }
    }
}

impl Wire for Google {
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        Limits::of(&GOOGLE).check(picture)?;
        let (feature, _, most) = self.feature();
        let mut feature = json!({ "type": feature });
        if let Some(most) = most {
            feature["maxResults"] = most.into();
        }
        let content = STANDARD.encode(picture.bytes);
        let one = json!({ "image": { "content": content }, "features": [feature] });
        Ok(Request {
            method: "POST",
            path: "/v1/images:annotate".to_owned(),
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: json!({ "requests": [one] }).to_string().into_bytes(),
        })
    }

    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem> {
        if answer.status != 200 {
            return Err(refusal(answer));
        }
        let mut body: Body = json(&answer.body)?;
        if body.responses.len() != 1 {
            return broken(format!("{} answers to one question", body.responses.len()));
        }
        let mut parts = body.responses.swap_remove(0);
        if let Some(error) = parts.remove("error") {
            let error = of_value("error", error)?;
            return Err(error_of_image(&error));
        }
        let (_, key, _) = self.feature();
        let part = parts.remove(key);
        if part.is_none() && !parts.is_empty() {
            return broken(format!("an answer without {key}"));
        }
        let response = match self.task {
            Task::Objects => objects(list(key, part)?, &self.wanted, image)?,
            Task::Text => text(list(key, part)?)?,
            Task::Faces => faces(list(key, part)?, &self.wanted, image)?,
            Task::Moderation => safe_search(part, &self.wanted)?,
            _ => labels(list(key, part)?, &self.wanted)?,
        };
        Ok(Said { response, version: None })
    }
}

#[derive(Deserialize)]
struct Body {
    responses: Vec<Map<String, Value>>,
}

fn of_value<T: DeserializeOwned>(key: &str, value: Value) -> Result<T, Problem> {
    serde_json::from_value(value).or_else(|error| broken(format!("{key} cannot be read: {error}")))
}

/// A list that is left out where it would be empty.
fn list<T: DeserializeOwned>(key: &str, part: Option<Value>) -> Result<Vec<T>, Problem> {
    bounded(part.map_or_else(|| Ok(Vec::new()), |part| of_value(key, part))?)
}

#[derive(Deserialize)]
struct Label {
    description: String,
    score: f64,
}

/// Labels stand in the order of their importance, which need not be that of their scores.
fn labels(labels: Vec<Label>, wanted: &Wanted) -> Result<Response, Problem> {
    let one = |label: Label| Ok((reading::name(label.description)?, score(label.score, 1.0)?));
    let labels = labels.into_iter().map(one).collect::<Result<_, Problem>>()?;
    Ok(wanted.ranking_in_order(labels))
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

/// What is 0 is left out.
#[derive(Deserialize)]
struct Vertex {
    #[serde(default)]
    x: f64,
    #[serde(default)]
    y: f64,
}

impl Polygon {
    fn bounds(&self, image: &Image) -> Result<Bounds, Problem> {
        match (around(&self.normalized_vertices), around(&self.vertices)) {
            (Some(shares), _) => reading::bounds(shares, image),
            (None, Some(pixels)) => reading::bounds_of_pixels(pixels, image),
            (None, None) => broken("a box without corners"),
        }
    }
}

/// Left, top, right and bottom of at least two corners.
fn around(corners: &[Vertex]) -> Option<[f64; 4]> {
    let [first, _, ..] = corners else { return None };
    let start = [first.x, first.y, first.x, first.y];
    Some(corners.iter().fold(start, |[left, top, right, bottom], corner| {
        [left.min(corner.x), top.min(corner.y), right.max(corner.x), bottom.max(corner.y)]
    }))
}

fn objects(objects: Vec<Object>, wanted: &Wanted, image: &Image) -> Result<Response, Problem> {
    let one = |object: Object| {
        let bounds = object.bounding_poly.bounds(image)?;
        Ok((reading::name(object.name)?, score(object.score, 1.0)?, bounds))
    };
    Ok(wanted.detections(objects.into_iter().map(one).collect::<Result<_, Problem>>()?))
}

#[derive(Deserialize)]
struct Written {
    description: String,
}

/// The first entry is the whole text, the others its words.
fn text(parts: Vec<Written>) -> Result<Response, Problem> {
    reading::text(parts.first().map_or("", |whole| &whole.description))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Face {
    bounding_poly: Polygon,
    detection_confidence: f64,
}

fn faces(faces: Vec<Face>, wanted: &Wanted, image: &Image) -> Result<Response, Problem> {
    let one = |face: Face| {
        let bounds = face.bounding_poly.bounds(image)?;
        Ok((reading::FACE.to_owned(), score(face.detection_confidence, 1.0)?, bounds))
    };
    Ok(wanted.detections(faces.into_iter().map(one).collect::<Result<_, Problem>>()?))
}

/// Kinds of content, in the order of the answer's documentation.
const KINDS: &[&str] = &["adult", "spoof", "medical", "violence", "racy"];

/// Likelihoods in two groups, since neighbours within one would pass for another answer; what is
/// likely comes first. The service names no score, and both are said with all conviction.
fn safe_search(part: Option<Value>, wanted: &Wanted) -> Result<Response, Problem> {
    let Some(part) = part else { return broken("an answer without safeSearchAnnotation") };
    let said: Map<String, Value> = of_value("safeSearchAnnotation", part)?;
    let mut labels = Vec::new();
    for kind in KINDS.iter().filter(|kind| wanted.counts(kind)) {
        // What is UNKNOWN, the first of the likelihoods, is left out.
        let likelihood = said.get(*kind).map_or(Some("UNKNOWN"), Value::as_str);
        let is_likely = match likelihood {
            Some("UNKNOWN" | "VERY_UNLIKELY" | "UNLIKELY") => false,
            Some("POSSIBLE" | "LIKELY" | "VERY_LIKELY") => true,
            _ => return broken(format!("no likelihood of {kind}")),
        };
        labels.push((is_likely, kind));
    }
    labels.sort_by_key(|(is_likely, _)| !is_likely);
    let group = |is_likely| if is_likely { "positive" } else { "negative" };
    let labels =
        labels.iter().map(|(is_likely, kind)| (format!("{kind}: {}", group(*is_likely)), 1.0));
    Ok(Response::Ranking(Ranking::of_names(labels)))
}

#[derive(Deserialize, Default)]
struct Refusal {
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

/// The problem of one image, inside an answer: its codes are those of gRPC.
fn error_of_image(error: &Status) -> Problem {
    let told = format!("error {}: {}", error.code, problem::first_line(&error.message));
    match error.code {
        8 => Problem::Throttled(None),
        // Cancelled, unknown, deadline exceeded, aborted, internal, unavailable.
        1 | 2 | 4 | 10 | 13 | 14 => Problem::Unavailable(told),
        7 | 16 => Problem::Denied(told),
        3 | 9 | 11 => Problem::Refused(told),
        _ => Problem::Broken(told),
    }
}

/// The problem of the whole request: its codes are those of HTTP.
fn refusal(answer: &Answer) -> Problem {
    let Ok(Refusal { error }) = serde_json::from_slice(&answer.body) else {
        return problem::of_status(answer, &problem::of_body(&answer.body));
    };
    let told = problem::told(answer.status, &error.message);
    match error.status.as_str() {
        "RESOURCE_EXHAUSTED" => Problem::Throttled(problem::retry_after(answer)),
        // A key that is none is told as a wrong argument.
        "INVALID_ARGUMENT" if error.message.to_lowercase().contains("api key") => {
            Problem::Denied(told)
        }
        "UNAUTHENTICATED" | "PERMISSION_DENIED" => Problem::Denied(told),
        _ => problem::of_status(answer, &error.message),
    }
}
