//! Azure AI Vision: the image itself is the body; boxes are in pixels.

use super::super::credential::{azure as credential_of, azure_endpoint};
use super::super::registry::{Opening, Service};
use super::super::{Connector, ServiceError, ServiceSpec};
use super::reading::{self, Limits, Wanted, bounded, broken, json, score};
use super::{Answer, Picture, Problem, Request, Said, Task, Wire, problem};
use faultlens_core::{Bounds, Image, Response, TargetError};
use serde::Deserialize;

/// Azure AI Vision and Azure AI Face.
pub(in super::super) const AZURE: Service = Service {
    name: "azure",
    about: "Azure AI Vision 4.0 or 3.2 and Azure AI Face: labels, objects, text, faces, moderation",
    tasks: &[Task::Labels, Task::Objects, Task::Text, Task::Faces, Task::Moderation],
    endpoint: None,
    rate: Some(20.0),
    least_side: 51,
    most_bytes: 20 << 20,
    open,
};

/// The interface that a task is asked through.
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
    wanted: Wanted,
    limits: Limits,
}

fn open(spec: &ServiceSpec, opening: &Opening<'_>) -> Result<Connector, ServiceError> {
    let task = opening.task;
    let interface = interface(task, spec.version.as_deref())?;
    let limits = Limits::of(&AZURE);
    let limits = match interface {
        Interface::Four => limits,
        Interface::Three => Limits { most_bytes: 4 << 20, ..limits },
        Interface::Face => Limits { least_side: 36, most_bytes: 6 << 20, ..limits },
    };
    let environment = opening.environment;
    let endpoint = AZURE.endpoint_of(spec, azure_endpoint(task, environment))?;
    let wanted = match task {
        Task::Moderation => Wanted::among(spec, KINDS, &[])?,
        _ => Wanted::new(spec, &[]),
    };
    let wire = Azure { task, interface, wanted, limits };
    Ok(Connector {
        wire: Box::new(wire),
        credential: credential_of(spec, task, environment, &endpoint)?,
        endpoint: endpoint.address(),
        task,
        rate: None,
        price: None,
    })
}

/// Which interface has the task; faces have one of their own, moderation only the older one.
fn interface(task: Task, version: Option<&str>) -> Result<Interface, ServiceError> {
    let wrong = |why: &str| Err(ServiceError::Setting(why.to_owned()));
    match (task, version) {
        (Task::Faces, None) => Ok(Interface::Face),
        (Task::Faces, Some(_)) => wrong("faces of azure have one version: leave version out"),
        (Task::Moderation, None | Some("3.2")) => Ok(Interface::Three),
        (Task::Moderation, Some(_)) => wrong("azure has moderation in version 3.2 alone"),
        (Task::Text, Some("3.2")) => wrong("azure reads text at once in version 4.0 alone"),
        (_, None | Some("4.0")) => Ok(Interface::Four),
        (_, Some("3.2")) => Ok(Interface::Three),
        (_, Some(_)) => wrong("azure has the versions 4.0 and 3.2"),
    }
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
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        self.limits.check(picture)?;
        Ok(Request {
            method: "POST",
            path: self.path().to_owned(),
            headers: vec![("content-type".to_owned(), "application/octet-stream".to_owned())],
            body: picture.bytes.to_vec(),
        })
    }

    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem> {
        if answer.status != 200 {
            return Err(refusal(answer));
        }
        let wanted = &self.wanted;
        if self.interface == Interface::Face {
            let response = faces(json(&answer.body)?, wanted, image)?;
            return Ok(Said { response, version: None });
        }
        let body: Body = json(&answer.body)?;
        let response = match (self.interface, self.task) {
            (Interface::Three, Task::Objects) => {
                objects(there("objects", body.objects)?, wanted, image)?
            }
            (_, Task::Moderation) => adult(&there("adult", body.adult)?, wanted)?,
            (Interface::Three, _) => tags(there("tags", body.tags)?, wanted)?,
            (_, Task::Objects) => {
                let found = there("objectsResult", body.objects_result)?.values;
                tagged(found, wanted, image)?
            }
            (_, Task::Text) => read(there("readResult", body.read_result)?, wanted)?,
            _ => tags(there("tagsResult", body.tags_result)?.values, wanted)?,
        };
        Ok(Said { response, version: body.model_version.as_deref().map(problem::first_line) })
    }
}

/// What both versions answer, as far as it was asked for.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    model_version: Option<String>,
    tags: Option<Vec<Tag>>,
    objects: Option<Vec<Object>>,
    adult: Option<Adult>,
    tags_result: Option<Values<Tag>>,
    objects_result: Option<Values<Tagged>>,
    read_result: Option<Read>,
}

#[derive(Deserialize)]
struct Values<T> {
    values: Vec<T>,
}

fn there<T>(key: &str, part: Option<T>) -> Result<T, Problem> {
    part.map_or_else(|| broken(format!("an answer without {key}")), Ok)
}

#[derive(Deserialize)]
struct Tag {
    name: String,
    confidence: f64,
}

impl Tag {
    fn read(self) -> Result<(String, f32), Problem> {
        Ok((reading::name(self.name)?, score(self.confidence, 1.0)?))
    }
}

fn tags(tags: Vec<Tag>, wanted: &Wanted) -> Result<Response, Problem> {
    let tags = bounded(tags)?.into_iter().map(Tag::read);
    Ok(wanted.ranking(tags.collect::<Result<_, _>>()?))
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
    fn bounds(&self, image: &Image) -> Result<Bounds, Problem> {
        let Self { x, y, w, h } = *self;
        reading::bounds_of_pixels([x, y, x + w, y + h], image)
    }
}

#[derive(Deserialize)]
struct Object {
    rectangle: Rectangle,
    object: String,
    confidence: f64,
}

fn objects(objects: Vec<Object>, wanted: &Wanted, image: &Image) -> Result<Response, Problem> {
    let one = |object: Object| {
        let bounds = object.rectangle.bounds(image)?;
        Ok((reading::name(object.object)?, score(object.confidence, 1.0)?, bounds))
    };
    let objects = bounded(objects)?.into_iter().map(one);
    Ok(wanted.detections(objects.collect::<Result<_, Problem>>()?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tagged {
    bounding_box: Rectangle,
    tags: Vec<Tag>,
}

fn tagged(objects: Vec<Tagged>, wanted: &Wanted, image: &Image) -> Result<Response, Problem> {
    let one = |object: Tagged| {
        let bounds = object.bounding_box.bounds(image)?;
        let tag = there("tags", object.tags.into_iter().next())?;
        let (name, score) = tag.read()?;
        Ok((name, score, bounds))
    };
    let objects = bounded(objects)?.into_iter().map(one);
    Ok(wanted.detections(objects.collect::<Result<_, Problem>>()?))
}

#[derive(Deserialize)]
struct Read {
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

/// Lines have no score of their own: the least sure word speaks for its line.
fn read(answer: Read, wanted: &Wanted) -> Result<Response, Problem> {
    let mut lines = Vec::new();
    for line in bounded(answer.blocks)?.into_iter().flat_map(|block| block.lines) {
        let words = line.words.iter().map(|word| score(word.confidence, 1.0));
        let words: Vec<f32> = words.collect::<Result<_, _>>()?;
        if words.iter().all(|&word| wanted.suffices(word)) {
            lines.push(line.text);
        }
    }
    reading::lines(&bounded(lines)?)
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

/// Kinds of content, in the order of the answer's documentation.
const KINDS: &[&str] = &["adult", "racy", "gory"];

/// The kinds of content that Azure itself says are there.
fn adult(answer: &Adult, wanted: &Wanted) -> Result<Response, Problem> {
    let found = [
        (answer.is_adult_content, answer.adult_score),
        (answer.is_racy_content, answer.racy_score),
        (answer.is_gory_content, answer.gore_score),
    ];
    let there = KINDS.iter().zip(found).filter(|(_, (is_there, _))| *is_there);
    let one =
        |(kind, (_, value)): (&&str, (bool, f64))| Ok(((*kind).to_owned(), score(value, 1.0)?));
    Ok(wanted.ranking(there.map(one).collect::<Result<_, Problem>>()?))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Face {
    face_rectangle: Rectangle,
}

/// Faces have no score: those that are named are there.
fn faces(faces: Vec<Face>, wanted: &Wanted, image: &Image) -> Result<Response, Problem> {
    let one = |face: &Face| Ok((reading::FACE.to_owned(), 1.0, face.face_rectangle.bounds(image)?));
    let faces = bounded(faces)?;
    Ok(wanted.detections(faces.iter().map(one).collect::<Result<_, Problem>>()?))
}

/// An error of either form: under `error`, or itself.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Refusal {
    error: Option<Complaint>,
    code: String,
    message: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Complaint {
    code: String,
    message: String,
    innererror: Option<Inner>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Inner {
    code: String,
    message: String,
}

fn refusal(answer: &Answer) -> Problem {
    let Ok(refusal) = serde_json::from_slice::<Refusal>(&answer.body) else {
        return problem::of_status(answer, &problem::of_body(&answer.body));
    };
    let outer = refusal.error.unwrap_or(Complaint {
        code: refusal.code,
        message: refusal.message,
        innererror: None,
    });
    let inner = outer.innererror.unwrap_or_default();
    let code = if inner.code.is_empty() { &outer.code } else { &inner.code };
    let message = if inner.message.is_empty() { &outer.message } else { &inner.message };
    let words = format!("{code} {message}");
    let told = problem::told(answer.status, &words);
    match code.as_str() {
        "RateLimitExceeded" | "TooManyRequests" => Problem::Throttled(problem::retry_after(answer)),
        "FailedToProcess" | "Timeout" | "ServiceBusy" | "InternalServerError" => {
            Problem::Unavailable(told)
        }
        // What holds for every image.
        "NotSupportedVisualFeature"
        | "NotSupportedFeature"
        | "UnsupportedFeature"
        | "InvalidApiVersion"
        | "UnsupportedApiVersion" => Problem::Denied(told),
        _ => problem::of_status(answer, &words),
    }
}
