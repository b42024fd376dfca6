//! Amazon Rekognition: the AWS JSON 1.1 protocol, signed with Signature Version 4.

use super::super::connector::Connector;
use super::super::credential::{SigV4, aws_keys, aws_region, is_rehearsal};
use super::super::definition::{OpenContext, Prices, Service};
use super::super::endpoint::Endpoint;
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::super::spec::ServiceSpec;
use super::super::task::Task;
use super::super::wire_format::{EncodedImage, Prediction, Wire, WireError};
use super::filter::LabelFilter;
use super::http_error::{describe_body, first_line, from_status, retry_after};
use super::image_limits::ImageLimits;
use super::moderation;
use super::parse::{self, bounded, json, score};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Bounds, Image, Response, TargetError};
use serde::Deserialize;
use serde_json::{Value, json};

/// Amazon Rekognition.
pub(super) const REKOGNITION: Service = Service {
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
    // The lowest quota of all regions.
    rate: Some(5.0),
    prices: Some(Prices {
        source: "https://aws.amazon.com/rekognition/pricing/",
        usual: 0.001,
        by_task: &[],
    }),
    min_side: 80,
    max_bytes: 5 << 20,
    open,
};

/// The first-level moderation labels that count by default.
const VIOLENCE: &[&str] = &["Violence", "Visually Disturbing"];
/// The most labels that can be asked for: objects belong to any of them.
const MAX_LABELS: usize = 1000;
/// Scores are percentages.
const WHOLE: f64 = 100.0;

/// Amazon Rekognition's wire format.
struct Rekognition {
    task: Task,
    filter: LabelFilter,
    limits: ImageLimits,
}

fn open(spec: &ServiceSpec, context: &OpenContext<'_>) -> Result<Connector, ServiceError> {
    let given = spec.endpoint.as_deref().map(Endpoint::parse).transpose()?;
    let rehearsal = given.as_ref().is_some_and(is_rehearsal);
    let region = aws_region(spec, context.environment, rehearsal)?;
    let usual = REKOGNITION.endpoint.map(|usual| usual.replace("{region}", &region));
    let endpoint = REKOGNITION.endpoint_of(spec, usual)?;
    let keys = aws_keys(spec, context.environment, rehearsal)?;
    let usual: &[&str] = if context.task == Task::Moderation { VIOLENCE } else { &[] };
    let wire = Rekognition {
        task: context.task,
        filter: LabelFilter::new(spec, usual)?,
        limits: ImageLimits::of(&REKOGNITION),
    };
    Ok(Connector {
        wire: Box::new(wire),
        credential: Box::new(SigV4::new(keys, &region, "rekognition")),
        endpoint: endpoint.address(),
        task: context.task,
        rate: None,
        price: None,
    })
}

impl Rekognition {
    /// The operation, and its parameters beside the image.
    fn operation(&self) -> (&'static str, Value) {
        let (operation, mut parameters) = match self.task {
            Task::Text => ("DetectText", json!({})),
            Task::Faces => ("DetectFaces", json!({})),
            Task::Moderation => ("DetectModerationLabels", json!({})),
            Task::Celebrities => ("RecognizeCelebrities", json!({})),
            Task::Objects => ("DetectLabels", json!({ "MaxLabels": MAX_LABELS })),
            Task::Labels | Task::Tensors => {
                // Labels that do not count must not crowd out those that do.
                let is_restricted = self.filter.is_restricted();
                let labels = if is_restricted { MAX_LABELS } else { self.filter.max_labels };
                ("DetectLabels", json!({ "MaxLabels": labels }))
            }
        };
        let takes_confidence = ["DetectLabels", "DetectModerationLabels"].contains(&operation);
        if takes_confidence && self.filter.min_confidence > 0.0 {
            parameters["MinConfidence"] = (self.filter.min_confidence * WHOLE).into();
        }
        (operation, parameters)
    }
}

impl Wire for Rekognition {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        self.limits.check(encoded)?;
        let (operation, mut body) = self.operation();
        body["Image"] = json!({ "Bytes": STANDARD.encode(encoded.bytes) });
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

    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError> {
        if response.status != 200 {
            return Err(error(response));
        }
        let (response, version) = match self.task {
            Task::Text => lines(json(&response.body)?, &self.filter)?,
            Task::Faces => (faces(json(&response.body)?, &self.filter, image)?, None),
            Task::Moderation => unsafe_content(json(&response.body)?, &self.filter)?,
            Task::Celebrities => (celebrities(json(&response.body)?, &self.filter)?, None),
            Task::Objects => objects(json(&response.body)?, &self.filter, image)?,
            Task::Labels | Task::Tensors => labels(json(&response.body)?, &self.filter)?,
        };
        Ok(Prediction { response, version: version.as_deref().map(first_line) })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LabelsResponse {
    labels: Vec<Label>,
    label_model_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Label {
    name: String,
    confidence: f64,
    #[serde(default)]
    instances: Vec<BoxedItem>,
}

/// An instance of a label, or a face.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct BoxedItem {
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

impl BoxedItem {
    fn read(&self, image: &Image) -> Result<(f32, Bounds), WireError> {
        let BoundingBox { left, top, width, height } = self.bounding_box;
        let bounds = parse::bounds([left, top, left + width, top + height], image)?;
        Ok((score(self.confidence, WHOLE)?, bounds))
    }
}

/// A response and the version of the model.
type Versioned = (Response, Option<String>);

fn labels(answer: LabelsResponse, filter: &LabelFilter) -> Result<Versioned, WireError> {
    let mut labels = Vec::new();
    for label in bounded(answer.labels)? {
        labels.push((parse::name(label.name)?, score(label.confidence, WHOLE)?));
    }
    Ok((filter.ranking(labels), answer.label_model_version))
}

fn objects(
    answer: LabelsResponse,
    filter: &LabelFilter,
    image: &Image,
) -> Result<Versioned, WireError> {
    let mut found = Vec::new();
    for label in bounded(answer.labels)? {
        let name = parse::name(label.name)?;
        for instance in &label.instances {
            let (score, bounds) = instance.read(image)?;
            found.push((name.clone(), score, bounds));
        }
    }
    Ok((filter.detections(bounded(found)?), answer.label_model_version))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TextResponse {
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

fn lines(answer: TextResponse, filter: &LabelFilter) -> Result<Versioned, WireError> {
    let mut lines = Vec::new();
    for part in bounded(answer.text_detections)? {
        let score = score(part.confidence, WHOLE)?;
        if part.r#type == LineOrWord::Line && filter.is_confident(score) {
            lines.push(part.detected_text);
        }
    }
    Ok((parse::lines(&lines)?, answer.text_model_version))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct FacesResponse {
    face_details: Vec<BoxedItem>,
}

fn faces(
    answer: FacesResponse,
    filter: &LabelFilter,
    image: &Image,
) -> Result<Response, WireError> {
    let mut found = Vec::new();
    for face in bounded(answer.face_details)? {
        let (score, bounds) = face.read(image)?;
        found.push((parse::FACE.to_owned(), score, bounds));
    }
    Ok(filter.detections(found))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModerationResponse {
    moderation_labels: Vec<ModerationLabel>,
    moderation_model_version: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ModerationLabel {
    name: String,
    #[serde(default)]
    parent_name: String,
    confidence: f64,
}

fn unsafe_content(
    answer: ModerationResponse,
    filter: &LabelFilter,
) -> Result<Versioned, WireError> {
    let mut labels = Vec::new();
    for label in bounded(answer.moderation_labels)? {
        let entry = (parse::name(label.name)?, score(label.confidence, WHOLE)?);
        let names = moderation::label_and_ancestors(&entry.0, &label.parent_name);
        if names.iter().any(|name| filter.accepts(name)) {
            labels.push(entry);
        }
    }
    Ok((filter.ranking_of_accepted(labels), answer.moderation_model_version))
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct CelebritiesResponse {
    celebrity_faces: Vec<Celebrity>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Celebrity {
    name: String,
    match_confidence: f64,
}

fn celebrities(answer: CelebritiesResponse, filter: &LabelFilter) -> Result<Response, WireError> {
    let mut people = Vec::new();
    for face in bounded(answer.celebrity_faces)? {
        people.push((parse::name(face.name)?, score(face.match_confidence, WHOLE)?));
    }
    Ok(filter.ranking(people))
}

#[derive(Deserialize, Default)]
struct ErrorBody {
    #[serde(default, rename = "__type")]
    kind: String,
    #[serde(default, alias = "Message")]
    message: String,
}

impl ErrorBody {
    /// The error's name, which stands in the body behind a `#`, or in a header before a colon.
    fn name<'a>(&'a self, response: &'a HttpResponse) -> &'a str {
        let header = response.headers.get("x-amzn-errortype").map(String::as_str);
        let kind = if self.kind.is_empty() { header.unwrap_or_default() } else { &self.kind };
        let kind = kind.rsplit('#').next().unwrap_or_default();
        kind.split(':').next().unwrap_or_default()
    }
}

fn error(response: &HttpResponse) -> WireError {
    let body: ErrorBody = serde_json::from_slice(&response.body).unwrap_or_default();
    let name = body.name(response);
    let message = first_line(&body.message);
    let described = format!("{name}: {message}");
    match name.strip_suffix("Exception").unwrap_or(name) {
        "Throttling"
        | "ProvisionedThroughputExceeded"
        | "TooManyRequests"
        | "LimitExceeded"
        | "RequestLimitExceeded" => WireError::Throttled(retry_after(response)),
        "InternalServerError" | "InternalFailure" | "ServiceUnavailable" | "InternalServer" => {
            WireError::Unavailable(described)
        }
        "ExpiredToken" => {
            WireError::Denied("the session token has expired: get a new one".to_owned())
        }
        "RequestTimeTooSkewed" | "RequestExpired" => WireError::Denied(CLOCK_SKEW.to_owned()),
        "InvalidSignature" | "SignatureDoesNotMatch" => WireError::Denied(
            if is_about_time(&message) { CLOCK_SKEW } else { WRONG_SECRET }.to_owned(),
        ),
        "UnrecognizedClient"
        | "InvalidClientTokenId"
        | "AccessDenied"
        | "NotAuthorized"
        | "IncompleteSignature"
        | "MissingAuthenticationToken"
        | "OptInRequired"
        | "UnknownOperation" => WireError::Denied(described),
        "InvalidImageFormat" | "ImageTooLarge" | "InvalidParameter" | "Validation" => {
            WireError::Rejected(described)
        }
        "" => from_status(response, &describe_body(&response.body)),
        _ => from_status(response, &described),
    }
}

const CLOCK_SKEW: &str = "Amazon's clock and this machine's disagree: correct this machine's";
const WRONG_SECRET: &str = "the signature does not match: check AWS_SECRET_ACCESS_KEY";

fn is_about_time(message: &str) -> bool {
    message.contains("Signature expired") || message.contains("Signature not yet current")
}
