//! Any endpoint that a template describes.

use super::super::connector::Connector;
use super::super::credential::{Environment, Headers, Secret};
use super::super::definition::{OpenContext, Service};
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::super::spec::{Corners, ServiceSpec, Template};
use super::super::task::Task;
use super::super::wire_format::{EncodedImage, Prediction, Wire, WireError};
use super::filter::LabelFilter;
use super::form;
use super::http_error::{describe_body, first_line, from_status};
use super::image_limits::ImageLimits;
use super::json_path::JsonPath;
use super::parse::{self, MAX_ENTRIES, json, malformed, score};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Bounds, Image, Response, TargetError};
use serde_json::Value;
use std::slice;

/// Any HTTP endpoint.
pub(super) const HTTP: Service = Service {
    name: "http",
    about: "any HTTP endpoint that answers JSON, as a template describes it",
    tasks: &[Task::Labels, Task::Objects, Task::Text, Task::Faces],
    endpoint: None,
    rate: None,
    prices: None,
    min_side: 1,
    max_bytes: 64 << 20,
    open,
};

/// The placeholder for the image in base64.
const IMAGE: &str = "${image}";

/// The wire format of a template, with its paths parsed once.
struct Http {
    task: Task,
    template: Template,
    /// Headers without variables, hence without secrets.
    headers: Vec<(String, String)>,
    filter: LabelFilter,
    paths: Paths,
}

/// The paths of a template.
struct Paths {
    answers: JsonPath,
    label: Option<JsonPath>,
    score: Option<JsonPath>,
    text: Option<JsonPath>,
    bounds: Vec<JsonPath>,
    version: Option<JsonPath>,
}

fn open(spec: &ServiceSpec, context: &OpenContext<'_>) -> Result<Connector, ServiceError> {
    let Some(template) = spec.template.clone() else {
        let why = "http needs a template that describes requests and responses";
        return Err(ServiceError::Setting(why.to_owned()));
    };
    let paths = Paths::parse(&template)?;
    check(spec, &template, context.task)?;
    let (headers, secrets) = headers(&template, context.environment)?;
    let credential = if secrets.is_empty() {
        Headers::token(context.environment)
    } else {
        Headers::new(secrets)
    };
    let filter = LabelFilter::new(spec, &[])?;
    Ok(Connector {
        wire: Box::new(Http { task: context.task, template, headers, filter, paths }),
        credential: Box::new(credential),
        endpoint: HTTP.endpoint_of(spec, None)?.address(),
        task: context.task,
        rate: None,
        price: None,
    })
}

impl Paths {
    fn parse(template: &Template) -> Result<Self, ServiceError> {
        let bounds = template.bounds.iter().map(|path| JsonPath::parse(path));
        Ok(Self {
            answers: JsonPath::parse(&template.answers)?,
            label: optional_path(template.label.as_deref())?,
            score: optional_path(template.score.as_deref())?,
            text: optional_path(template.text.as_deref())?,
            bounds: bounds.collect::<Result<_, _>>()?,
            version: optional_path(template.model_version.as_deref())?,
        })
    }
}

fn optional_path(path: Option<&str>) -> Result<Option<JsonPath>, ServiceError> {
    path.map(JsonPath::parse).transpose()
}

fn invalid(why: &str) -> Result<(), ServiceError> {
    Err(ServiceError::Setting(format!("the template {why}")))
}

/// Reports what the template lacks for its task, or has too much.
fn check(spec: &ServiceSpec, template: &Template, task: Task) -> Result<(), ServiceError> {
    if !template.path.starts_with('/') || !template.path.bytes().all(|b| b.is_ascii_graphic()) {
        return invalid("needs a path that begins with / and has no spaces: encode others as %20");
    }
    if template.body.is_some() && template.form.is_some() {
        return invalid("has a body and a form: leave one out");
    }
    if let Some(body) = &template.body {
        if !body.contains(IMAGE) {
            return invalid("has a body without ${image}");
        }
        if serde_json::from_str::<Value>(&body.replace(IMAGE, "AAAA")).is_err() {
            return invalid("has a body that is not JSON: put ${image} between quotes");
        }
    }
    if template.form.as_ref().is_some_and(|field| field.contains(['"', '\r', '\n'])) {
        return invalid("has a form field with quotes or line ends");
    }
    if spec.min_confidence > 0.0 && template.score.is_none() {
        return invalid("has no path of scores, which min_confidence needs");
    }
    match (task, template.bounds.len()) {
        (Task::Labels, 0) if template.label.is_none() => invalid("needs label: a path"),
        (Task::Text, 0) if template.text.is_none() => invalid("needs text: a path"),
        (Task::Labels | Task::Text, 0) => Ok(()),
        (Task::Labels | Task::Text, _) => invalid("has bounds: leave them out, or ask for objects"),
        (Task::Objects, 1 | 4) if template.label.is_none() => invalid("needs label: a path"),
        (_, 1 | 4) => Ok(()),
        _ => invalid("needs bounds: four paths, or one to a list of four numbers"),
    }
}

/// Headers without secrets, and those with secrets.
type PlainAndSecret = (Vec<(String, String)>, Vec<(String, Secret)>);

/// Headers as they are sent. Those with variables are kept apart: requests hold no secrets.
fn headers(template: &Template, environment: &Environment) -> Result<PlainAndSecret, ServiceError> {
    let mut plain = Vec::new();
    let mut secret = Vec::new();
    for (name, value) in &template.headers {
        if name.is_empty() || !name.bytes().all(is_token_byte) {
            return Err(ServiceError::Setting(format!("{name:?} is not the name of a header")));
        }
        if is_secret(name) && !value.contains("${") {
            let why = format!(
                "the header {name} holds a secret: write ${{NAME}} and set the variable NAME, since \
                 campaign files are recorded"
            );
            return Err(ServiceError::Setting(why));
        }
        let substituted = substitute(value, environment)?;
        if substituted.chars().any(char::is_control) {
            return Err(ServiceError::Setting(format!("the header {name} contains a line end")));
        }
        let name = name.to_ascii_lowercase();
        if value.contains("${") {
            secret.push((name, Secret::new(substituted)));
        } else {
            plain.push((name, substituted));
        }
    }
    Ok((plain, secret))
}

/// Whether a byte may stand in the name of a header: `tchar` of RFC 9110, section 5.6.2.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Whether a header of this name usually holds a secret.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie", "key", "token", "secret"].iter().any(|part| name.contains(part))
}

/// The text with environment variables substituted.
fn substitute(text: &str, environment: &Environment) -> Result<String, ServiceError> {
    let mut substituted = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(ServiceError::Setting(format!("a variable in {text:?} has no }}")));
        };
        let Some(value) = environment.get(name) else {
            return Err(ServiceError::Credentials(format!("the variable {name} is not set")));
        };
        substituted.push_str(before);
        substituted.push_str(value);
        rest = behind;
    }
    substituted.push_str(rest);
    Ok(substituted)
}

impl Wire for Http {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        ImageLimits::of(&HTTP).check(encoded)?;
        let (content_type, body) = match (&self.template.body, &self.template.form) {
            (Some(body), _) => {
                let body = body.replace(IMAGE, &STANDARD.encode(encoded.bytes));
                ("application/json".to_owned(), body.into_bytes())
            }
            (_, Some(field)) => form::with_image(field, encoded),
            _ => (encoded.media_type.to_owned(), encoded.bytes.to_vec()),
        };
        let mut headers = self.headers.clone();
        if self.template.form.is_some() {
            // A form's content type carries the boundary, so that none of the template's will do.
            headers.retain(|(name, _)| name != "content-type");
        }
        if !headers.iter().any(|(name, _)| name == "content-type") {
            headers.push(("content-type".to_owned(), content_type));
        }
        Ok(Request { method: "POST", path: self.template.path.clone(), headers, body })
    }

    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError> {
        if !(200..300).contains(&response.status) {
            return Err(from_status(response, &describe_body(&response.body)));
        }
        let body: Value = json(&response.body)?;
        let answers = value_at(&body, &self.paths.answers)?;
        // A single answer may stand without a list.
        let answers = answers.as_array().map_or(slice::from_ref(answers), Vec::as_slice);
        if answers.len() > MAX_ENTRIES {
            let count = answers.len();
            return malformed(format!("{count} answers, at most {MAX_ENTRIES} are read"));
        }
        let version = self.paths.version.as_ref().and_then(|path| path.find(&body));
        let version = version.map(|value| match value {
            Value::String(text) => first_line(text),
            other => first_line(&other.to_string()),
        });
        Ok(Prediction { response: self.response(answers, image)?, version })
    }
}

impl Http {
    fn response(&self, answers: &[Value], image: &Image) -> Result<Response, WireError> {
        match self.task {
            Task::Objects | Task::Faces => {
                let mut found = Vec::new();
                for answer in answers {
                    let bounds = self.bounds(answer, image)?;
                    found.push((self.name(answer)?, self.score(answer)?, bounds));
                }
                Ok(self.filter.detections(found))
            }
            Task::Text => {
                let mut lines = Vec::new();
                for answer in answers {
                    if self.filter.is_confident(self.score(answer)?) {
                        lines.push(text_at(answer, self.paths.text.as_ref())?);
                    }
                }
                parse::lines(&lines)
            }
            _ => {
                let mut labels = Vec::new();
                for answer in answers {
                    labels.push((self.name(answer)?, self.score(answer)?));
                }
                Ok(self.filter.ranking(labels))
            }
        }
    }

    fn name(&self, answer: &Value) -> Result<String, WireError> {
        let Some(path) = &self.paths.label else { return Ok(parse::FACE.to_owned()) };
        match value_at(answer, path)? {
            // A class without a name.
            Value::Number(class) => Ok(class.to_string()),
            _ => parse::name(text_at(answer, Some(path))?),
        }
    }

    /// The score, or 1 where the template has no path of one.
    fn score(&self, answer: &Value) -> Result<f32, WireError> {
        let Some(path) = &self.paths.score else { return Ok(1.0) };
        score(number(value_at(answer, path)?)?, 1.0)
    }

    fn bounds(&self, answer: &Value, image: &Image) -> Result<Bounds, WireError> {
        let mut sides = Vec::new();
        if let [path] = self.paths.bounds.as_slice() {
            let Some(list) = value_at(answer, path)?.as_array() else {
                return malformed("a box that is not a list");
            };
            // One more than needed is enough to notice a list that is too long.
            for side in list.iter().take(5) {
                sides.push(number(side)?);
            }
        } else {
            for path in &self.paths.bounds {
                sides.push(number(value_at(answer, path)?)?);
            }
        }
        let Ok([a, b, c, d]) = <[f64; 4]>::try_from(sides) else {
            return malformed("a box without four sides");
        };
        match self.template.corners {
            Corners::Pixels => parse::bounds_of_pixels([a, b, c, d], image),
            Corners::PixelsWithSize => parse::bounds_of_pixels([a, b, a + c, b + d], image),
            Corners::Shares => parse::bounds([a, b, c, d], image),
            Corners::SharesWithSize => parse::bounds([a, b, a + c, b + d], image),
        }
    }
}

fn value_at<'a>(whole: &'a Value, path: &JsonPath) -> Result<&'a Value, WireError> {
    path.find(whole).map_or_else(|| malformed(format!("nothing at {:?}", path.text())), Ok)
}

fn number(value: &Value) -> Result<f64, WireError> {
    value.as_f64().map_or_else(|| malformed("a value that is not a number"), Ok)
}

fn text_at(answer: &Value, path: Option<&JsonPath>) -> Result<String, WireError> {
    let value = path.map_or(Ok(answer), |path| value_at(answer, path))?;
    match value.as_str() {
        Some(text) => Ok(text.to_owned()),
        None => malformed("a value that is not text"),
    }
}
