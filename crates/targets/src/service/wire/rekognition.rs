//! Amazon Rekognition: JSON in both directions, signed with Signature Version 4.

use super::super::credential::{SigV4, aws_keys, aws_region, is_rehearsal};
use super::super::endpoint::Endpoint;
use super::super::registry::{Opening, Service};
use super::super::{Connector, ServiceError, ServiceSpec};
use super::reading::{self, Limits, Wanted, bounded, json, score};
use super::{Answer, Picture, Problem, Request, Said, Task, Wire, moderation, problem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Bounds, Image, Response, TargetError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Amazon Rekognition.
pub(in super::super) const REKOGNITION: Service = Service {
    name: "rekognition",
    about: "Amazon Rekognition: labels, objects, text, faces, moderation and celebrities",
    tasks: &[
        Task::Labels,
        Task::Objects,
        Task::Text,
        Task::Faces,
        Task::Moderation,
        Task::Celebrities,
    ],
    endpoint: Some("https://rekognition.{region}.amazonaws.com"),
    // The least of all regions.
    rate: Some(5.0),
    least_side: 80,
    most_bytes: 5 << 20,
    open,
};

/// What counts as violence by default.
const VIOLENCE: &[&str] = &["Violence", "Visually Disturbing"];
/// As many labels as objects may belong to.
const MOST_LABELS: usize = 1000;
/// Scores are percentages.
const WHOLE: f64 = 100.0;

/// Amazon Rekognition's wire format.
struct Rekognition {
    task: Task,
    wanted: Wanted,
    limits: Limits,
}

fn open(spec: &ServiceSpec, opening: &Opening<'_>) -> Result<Connector, ServiceError> {
    let given = spec.endpoint.as_deref().map(Endpoint::parse).transpose()?;
    let rehearsal = given.as_ref().is_some_and(is_rehearsal);
    let region = aws_region(spec, opening.environment, rehearsal)?;
    let usual = REKOGNITION.endpoint.map(|usual| usual.replace("{region}", &region));
    let endpoint = REKOGNITION.endpoint_of(spec, usual)?;
    let keys = aws_keys(spec, opening.environment, rehearsal)?;
    let usual: &[&str] = if opening.task == Task::Moderation { VIOLENCE } else { &[] };
    let wire = Rekognition {
        task: opening.task,
        wanted: Wanted::new(spec, usual),
        limits: Limits::of(&REKOGNITION),
    };
    Ok(Connector {
        wire: Box::new(wire),
        credential: Box::new(SigV4::new(keys, &region, "rekognition")),
        endpoint: endpoint.address(),
        task: opening.task,
        rate: None,
        price: None,
    })
}

impl Rekognition {
    /// The operation, and what it is told beside the image.
    fn operation(&self) -> (&'static str, Value) {
        let (operation, mut told) = match self.task {
            Task::Text => ("DetectText", json!({})),
            Task::Faces => ("DetectFaces", json!({})),
            Task::Moderation => ("DetectModerationLabels", json!({})),
            Task::Celebrities => ("RecognizeCelebrities", json!({})),
            Task::Objects => ("DetectLabels", json!({ "MaxLabels": MOST_LABELS })),
            Task::Labels | Task::Tensors => {
                // Labels that do not count must not crowd out those that do.
                let most = if self.wanted.is_choosy() { MOST_LABELS } else { self.wanted.most };
                ("DetectLabels", json!({ "MaxLabels": most }))
            }
        };
        let takes_least = ["DetectLabels", "DetectModerationLabels"].contains(&operation);
        if takes_least && self.wanted.least > 0.0 {
            told["MinConfidence"] = (self.wanted.least * WHOLE).into();
        }
        (operation, told)
    }
}

impl Wire for Rekognition {
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        self.limits.check(picture)?;
        let (operation, mut body) = self.operation();
        body["Image"] = json!({ "Bytes": STANDARD.encode(picture.bytes) });
        Ok(Request {
            method: "POST",
            path: "/".to_owned(),
            headers: vec![
                ("content-type".to_owned(), "application/x-amz-json-1.1".to_owned()),
                ("x-amz-target".to_owned(), format!("RekognitionService.{operation}")),
            ],
            body: body.to_string().into_bytes(),
        })
    }

    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem> {
        if answer.status != 200 {
            return Err(refusal(answer));
        }
        let (response, version) = match self.task {
            Task::Text => lines(json(&answer.body)?, &self.wanted)?,
            Task::Faces => (faces(json(&answer.body)?, &self.wanted, image)?, None),
            Task::Moderation => unsafe_content(json(&answer.body)?, &self.wanted)?,
            Task::Celebrities => (celebrities(json(&answer.body)?, &self.wanted)?, None),
            Task::Objects => objects(json(&answer.body)?, &self.wanted, image)?,
            Task::Labels | Task::Tensors => labels(json(&answer.body)?, &self.wanted)?,
        };
        Ok(Said { response, version: version.as_deref().map(problem::first_line) })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Labelled {
    labels: Vec<Label>,
    label_model_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Label {
    name: String,
    confidence: f64,
    #[serde(default)]
    instances: Vec<Boxed>,
}

/// An instance of a label, or a face.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Boxed {
    bounding_box: BoundingBox,
    confidence: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BoundingBox {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Boxed {
    fn read(&self, image: &Image) -> Result<(f32, Bounds), Problem> {
        let BoundingBox { left, top, width, height } = self.bounding_box;
        let bounds = reading::bounds([left, top, left + width, top + height], image)?;
        Ok((score(self.confidence, WHOLE)?, bounds))
    }
}

type Versioned = (Response, Option<String>);

fn labels(answer: Labelled, wanted: &Wanted) -> Result<Versioned, Problem> {
    let labels = bounded(answer.labels)?.into_iter();
    let one = |label: Label| Ok((reading::name(label.name)?, score(label.confidence, WHOLE)?));
    let labels = labels.map(one).collect::<Result<_, Problem>>()?;
    Ok((wanted.ranking(labels), answer.label_model_version))
}

fn objects(answer: Labelled, wanted: &Wanted, image: &Image) -> Result<Versioned, Problem> {
    let mut found = Vec::new();
    for label in bounded(answer.labels)? {
        let name = reading::name(label.name)?;
        for instance in &label.instances {
            let (score, bounds) = instance.read(image)?;
            found.push((name.clone(), score, bounds));
        }
    }
    Ok((wanted.detections(bounded(found)?), answer.label_model_version))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Read {
    text_detections: Vec<Line>,
    text_model_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    detected_text: String,
    r#type: LineOrWord,
    confidence: f64,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "UPPERCASE")]
enum LineOrWord {
    Line,
    Word,
}

fn lines(answer: Read, wanted: &Wanted) -> Result<Versioned, Problem> {
    let mut lines = Vec::new();
    for part in bounded(answer.text_detections)? {
        let score = score(part.confidence, WHOLE)?;
        if part.r#type == LineOrWord::Line && wanted.suffices(score) {
            lines.push(part.detected_text);
        }
    }
    Ok((reading::lines(&lines)?, answer.text_model_version))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Faces {
    face_details: Vec<Boxed>,
}

fn faces(answer: Faces, wanted: &Wanted, image: &Image) -> Result<Response, Problem> {
    let faces = bounded(answer.face_details)?;
    let one = |face: &Boxed| {
        let (score, bounds) = face.read(image)?;
        Ok((reading::FACE.to_owned(), score, bounds))
    };
    Ok(wanted.detections(faces.iter().map(one).collect::<Result<_, Problem>>()?))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Moderated {
    moderation_labels: Vec<Unsafe>,
    moderation_model_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Unsafe {
    name: String,
    #[serde(default)]
    parent_name: String,
    confidence: f64,
}

fn unsafe_content(answer: Moderated, wanted: &Wanted) -> Result<Versioned, Problem> {
    let mut labels = Vec::new();
    for label in bounded(answer.moderation_labels)? {
        let entry = (reading::name(label.name)?, score(label.confidence, WHOLE)?);
        let under = moderation::stands_under(&entry.0, &label.parent_name);
        if under.iter().any(|name| wanted.counts(name)) {
            labels.push(entry);
        }
    }
    Ok((wanted.chosen(labels), answer.moderation_model_version))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Celebrities {
    celebrity_faces: Vec<Celebrity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Celebrity {
    name: String,
    match_confidence: f64,
}

fn celebrities(answer: Celebrities, wanted: &Wanted) -> Result<Response, Problem> {
    let faces = bounded(answer.celebrity_faces)?.into_iter();
    let one =
        |face: Celebrity| Ok((reading::name(face.name)?, score(face.match_confidence, WHOLE)?));
    Ok(wanted.ranking(faces.map(one).collect::<Result<_, Problem>>()?))
}

#[derive(Deserialize, Default)]
struct Complaint {
    #[serde(default, rename = "__type")]
    kind: String,
    #[serde(default, alias = "Message")]
    message: String,
}

impl Complaint {
    /// The error's name, which stands in the body behind a `#`, or in a header before a colon.
    fn name<'a>(&'a self, answer: &'a Answer) -> &'a str {
        let header = answer.headers.get("x-amzn-errortype").map(String::as_str);
        let kind = if self.kind.is_empty() { header.unwrap_or_default() } else { &self.kind };
        let kind = kind.rsplit('#').next().unwrap_or_default();
        kind.split(':').next().unwrap_or_default()
    }
}

fn refusal(answer: &Answer) -> Problem {
    let fault: Complaint = serde_json::from_slice(&answer.body).unwrap_or_default();
    let name = fault.name(answer);
    let words = problem::first_line(&fault.message);
    let told = format!("{name}: {words}");
    match name.strip_suffix("Exception").unwrap_or(name) {
        "Throttling"
        | "ProvisionedThroughputExceeded"
        | "TooManyRequests"
        | "LimitExceeded"
        | "RequestLimitExceeded" => Problem::Throttled(problem::retry_after(answer)),
        "InternalServerError" | "InternalFailure" | "ServiceUnavailable" | "InternalServer" => {
            Problem::Unavailable(told)
        }
        "ExpiredToken" => {
            Problem::Denied("the session token has expired: get a new one".to_owned())
        }
        "RequestTimeTooSkewed" | "RequestExpired" => Problem::Denied(SKEWED.to_owned()),
        "InvalidSignature" | "SignatureDoesNotMatch" => {
            Problem::Denied(if is_about_time(&words) { SKEWED } else { UNLIKE }.to_owned())
        }
        "UnrecognizedClient"
        | "InvalidClientTokenId"
        | "AccessDenied"
        | "NotAuthorized"
        | "IncompleteSignature"
        | "MissingAuthenticationToken"
        | "OptInRequired"
        | "UnknownOperation" => Problem::Denied(told),
        "InvalidImageFormat" | "ImageTooLarge" | "InvalidParameter" | "Validation" => {
            Problem::Refused(told)
        }
        "" => problem::of_status(answer, &problem::of_body(&answer.body)),
        _ => problem::of_status(answer, &told),
    }
}

const SKEWED: &str = "Amazon's clock and this machine's disagree: set this machine's";
const UNLIKE: &str = "Amazon computes another signature: check AWS_SECRET_ACCESS_KEY";

fn is_about_time(words: &str) -> bool {
    words.contains("Signature expired") || words.contains("Signature not yet current")
}
