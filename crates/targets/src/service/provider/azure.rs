//! Azure AI Vision (Image Analysis 4.0, Computer Vision 3.2) and Azure AI Face 1.2: the image itself
//! is the body; boxes are in pixels.

use super::super::connector::Connector;
use super::super::credential::{azure as credential_of, azure_endpoint};
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
use faultlens_core::{Bounds, Image, Response, TargetError};
use serde::Deserialize;

/// Azure AI Vision and Azure AI Face.
pub(super) const AZURE: Service = Service {
    name: "azure",
    about: "Azure AI Vision 4.0 or 3.2 and Azure AI Face: labels, objects, text, faces, moderation",
    tasks: &[Task::Labels, Task::Objects, Task::Text, Task::Faces, Task::Moderation],
    endpoint: None,
    rate: Some(20.0),
    prices: Some(Prices {
        source: "https://azure.microsoft.com/pricing/details/cognitive-services/computer-vision/",
        usual: 0.001,
        by_task: &[],
    }),
    min_side: 51,
    max_bytes: 20 << 20,
    open,
};

/// The API that a task is asked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interface {
    /// Image Analysis 4.0.
    Four,
    /// Computer Vision 3.2.
    Three,
    /// Face 1.2.
    Face,
}

/// Azure's wire formats.
struct Azure {
    task: Task,
    interface: Interface,
    filter: LabelFilter,
    limits: ImageLimits,
}

fn open(spec: &ServiceSpec, context: &OpenContext<'_>) -> Result<Connector, ServiceError> {
    let task = context.task;
    let interface = interface(task, spec.version.as_deref())?;
    let limits = ImageLimits::of(&AZURE);
    let limits = match interface {
        Interface::Four => limits,
        Interface::Three => ImageLimits { max_bytes: 4 << 20, ..limits },
        Interface::Face => ImageLimits { min_side: 36, max_bytes: 6 << 20, ..limits },
    };
    let environment = context.environment;
    let endpoint = AZURE.endpoint_of(spec, azure_endpoint(task, environment))?;
    let filter = match task {
        Task::Moderation => LabelFilter::among(spec, KINDS, &[])?,
        _ => LabelFilter::new(spec, &[])?,
    };
    let wire = Azure { task, interface, filter, limits };
    Ok(Connector {
        wire: Box::new(wire),
        credential: credential_of(spec, task, environment, &endpoint)?,
        endpoint: endpoint.address(),
        task,
        rate: None,
        price: None,
    })
}

/// Which API has the task: faces have one of their own, moderation only the older one.
fn interface(task: Task, version: Option<&str>) -> Result<Interface, ServiceError> {
    let why = match (task, version) {
        (Task::Faces, None) => return Ok(Interface::Face),
        (Task::Faces, Some(_)) => "azure has one version for faces: leave version out",
        (Task::Moderation, None | Some("3.2")) => return Ok(Interface::Three),
        (Task::Moderation, Some(_)) => "azure has moderation in version 3.2 alone",
        (Task::Text, Some("3.2")) => "azure reads text synchronously in version 4.0 alone",
        (_, None | Some("4.0")) => return Ok(Interface::Four),
        (_, Some("3.2")) => return Ok(Interface::Three),
        (_, Some(_)) => "azure has the versions 4.0 and 3.2",
    };
    Err(ServiceError::Setting(why.to_owned()))
}

impl Azure {
    fn path(&self) -> &'static str {
        match (self.interface, self.task) {
            (Interface::Face, _) => {
                "/face/v1.2/detect?detectionModel=detection_03&recognitionModel=recognition_04\
                 &returnFaceId=false"
            }
            (Interface::Three, Task::Objects) => "/vision/v3.2/analyze?visualFeatures=Objects",
            (Interface::Three, Task::Moderation) => "/vision/v3.2/analyze?visualFeatures=Adult",
            (Interface::Three, _) => "/vision/v3.2/analyze?visualFeatures=Tags",
            (Interface::Four, Task::Objects) => {
                "/computervision/imageanalysis:analyze?api-version=2023-10-01&features=objects"
            }
            (Interface::Four, Task::Text) => {
                "/computervision/imageanalysis:analyze?api-version=2023-10-01&features=read"
            }
            (Interface::Four, _) => {
                "/computervision/imageanalysis:analyze?api-version=2023-10-01&features=tags"
            }
        }
    }
}

impl Wire for Azure {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        self.limits.check(encoded)?;
        Ok(Request {
            method: "POST",
            path: self.path().to_owned(),
            headers: vec![("content-type".to_owned(), "application/octet-stream".to_owned())],
            body: encoded.bytes.to_vec(),
        })
    }

    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError> {
        if response.status != 200 {
            return Err(error(response));
        }
        let filter = &self.filter;
        if self.interface == Interface::Face {
            let response = faces(json(&response.body)?, filter, image)?;
            return Ok(Prediction { response, version: None });
        }
        let body: Analysis = json(&response.body)?;
        let response = match (self.interface, self.task) {
            (Interface::Three, Task::Objects) => {
                objects(required("objects", body.objects)?, filter, image)?
            }
            (_, Task::Moderation) => adult(&required("adult", body.adult)?, filter)?,
            (Interface::Three, _) => tags(required("tags", body.tags)?, filter)?,
            (_, Task::Objects) => {
                let found = required("objectsResult", body.objects_result)?.values;
                tagged_objects(found, filter, image)?
            }
            (_, Task::Text) => read(required("readResult", body.read_result)?, filter)?,
            _ => tags(required("tagsResult", body.tags_result)?.values, filter)?,
        };
        Ok(Prediction { response, version: body.model_version.as_deref().map(first_line) })
    }
}

/// The response of both versions, as far as it was asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Analysis {
    model_version: Option<String>,
    tags: Option<Vec<Tag>>,
    objects: Option<Vec<Object>>,
    adult: Option<Adult>,
    tags_result: Option<Values<Tag>>,
    objects_result: Option<Values<TaggedObject>>,
    read_result: Option<ReadResult>,
}

#[derive(Deserialize)]
struct Values<T> {
    values: Vec<T>,
}

fn required<T>(key: &str, part: Option<T>) -> Result<T, WireError> {
    part.map_or_else(|| malformed(format!("a response without {key}")), Ok)
}

#[derive(Deserialize)]
struct Tag {
    name: String,
    confidence: f64,
}

impl Tag {
    fn read(self) -> Result<(String, f32), WireError> {
        Ok((parse::name(self.name)?, score(self.confidence, 1.0)?))
    }
}

fn tags(tags: Vec<Tag>, filter: &LabelFilter) -> Result<Response, WireError> {
    let tags = bounded(tags)?.into_iter().map(Tag::read);
    Ok(filter.ranking(tags.collect::<Result<_, _>>()?))
}

/// A rectangle of either version.
#[derive(Deserialize)]
struct Rectangle {
    #[serde(alias = "left")]
    x: f64,
    #[serde(alias = "top")]
    y: f64,
    #[serde(alias = "width")]
    w: f64,
    #[serde(alias = "height")]
    h: f64,
}

impl Rectangle {
    fn bounds(&self, image: &Image) -> Result<Bounds, WireError> {
        let Self { x, y, w, h } = *self;
        parse::bounds_of_pixels([x, y, x + w, y + h], image)
    }
}

#[derive(Deserialize)]
struct Object {
    rectangle: Rectangle,
    object: String,
    confidence: f64,
}

fn objects(
    objects: Vec<Object>,
    filter: &LabelFilter,
    image: &Image,
) -> Result<Response, WireError> {
    let mut found = Vec::new();
    for object in bounded(objects)? {
        let bounds = object.rectangle.bounds(image)?;
        found.push((parse::name(object.object)?, score(object.confidence, 1.0)?, bounds));
    }
    Ok(filter.detections(found))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TaggedObject {
    bounding_box: Rectangle,
    tags: Vec<Tag>,
}

fn tagged_objects(
    objects: Vec<TaggedObject>,
    filter: &LabelFilter,
    image: &Image,
) -> Result<Response, WireError> {
    let mut found = Vec::new();
    for object in bounded(objects)? {
        let bounds = object.bounding_box.bounds(image)?;
        let tag = required("tags", object.tags.into_iter().next())?;
        let (name, score) = tag.read()?;
        found.push((name, score, bounds));
    }
    Ok(filter.detections(found))
}

#[derive(Deserialize)]
struct ReadResult {
    blocks: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    text: String,
    #[serde(default)]
    words: Vec<Word>,
}

#[derive(Deserialize)]
struct Word {
    confidence: f64,
}

/// Lines have no score of their own: every word of a line must be confident enough.
fn read(answer: ReadResult, filter: &LabelFilter) -> Result<Response, WireError> {
    let mut lines = Vec::new();
    for line in bounded(answer.blocks)?.into_iter().flat_map(|block| block.lines) {
        let mut is_confident = true;
        for word in &line.words {
            is_confident &= filter.is_confident(score(word.confidence, 1.0)?);
        }
        if is_confident {
            lines.push(line.text);
        }
    }
    parse::lines(&bounded(lines)?)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Adult {
    is_adult_content: bool,
    is_racy_content: bool,
    #[serde(default)]
    is_gory_content: bool,
    adult_score: f64,
    racy_score: f64,
    #[serde(default)]
    gore_score: f64,
}

/// Kinds of content, in the order of the documentation.
const KINDS: &[&str] = &["adult", "racy", "gory"];

/// The kinds of content that Azure itself flags.
fn adult(answer: &Adult, filter: &LabelFilter) -> Result<Response, WireError> {
    let found = [
        (answer.is_adult_content, answer.adult_score),
        (answer.is_racy_content, answer.racy_score),
        (answer.is_gory_content, answer.gore_score),
    ];
    let mut labels = Vec::new();
    for (kind, (is_flagged, value)) in KINDS.iter().zip(found) {
        if is_flagged {
            labels.push(((*kind).to_owned(), score(value, 1.0)?));
        }
    }
    Ok(filter.ranking(labels))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Face {
    face_rectangle: Rectangle,
}

/// Faces have no score: each counts as certain.
fn faces(faces: Vec<Face>, filter: &LabelFilter, image: &Image) -> Result<Response, WireError> {
    let mut found = Vec::new();
    for face in bounded(faces)? {
        found.push((parse::FACE.to_owned(), 1.0, face.face_rectangle.bounds(image)?));
    }
    Ok(filter.detections(found))
}

/// An error response of either form: the error stands under `error`, or is the whole body.
#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorBody {
    error: Option<ApiError>,
    code: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ApiError {
    code: String,
    message: String,
    innererror: Option<InnerError>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct InnerError {
    code: String,
    message: String,
}

fn error(response: &HttpResponse) -> WireError {
    let Ok(body) = serde_json::from_slice::<ErrorBody>(&response.body) else {
        return from_status(response, &describe_body(&response.body));
    };
    let outer =
        body.error.unwrap_or(ApiError { code: body.code, message: body.message, innererror: None });
    let inner = outer.innererror.unwrap_or_default();
    let code = if inner.code.is_empty() { &outer.code } else { &inner.code };
    let message = if inner.message.is_empty() { &outer.message } else { &inner.message };
    let message = format!("{code} {message}");
    let described = with_status(response.status, &message);
    match code.as_str() {
        "RateLimitExceeded" | "TooManyRequests" => WireError::Throttled(retry_after(response)),
        "FailedToProcess" | "Timeout" | "ServiceBusy" | "InternalServerError" => {
            WireError::Unavailable(described)
        }
        // Wrong settings, which fail for every image.
        "NotSupportedVisualFeature"
        | "NotSupportedFeature"
        | "UnsupportedFeature"
        | "InvalidApiVersion"
        | "UnsupportedApiVersion" => WireError::Denied(described),
        _ => from_status(response, &message),
    }
}
