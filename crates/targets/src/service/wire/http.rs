//! Any endpoint that a template describes.

use super::super::credential::{Environment, Headers, Secret};
use super::super::registry::{Opening, Service};
use super::super::{Connector, Corners, ServiceError, ServiceSpec, Template};
use super::path::Path;
use super::reading::{self, Limits, MOST_ENTRIES, Wanted, broken, json, score};
use super::{Answer, Picture, Problem, Request, Said, Task, Wire, form, problem};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Bounds, Image, Response, TargetError};
use serde_json::Value;
use std::slice;

/// Any HTTP endpoint.
pub(in super::super) const HTTP: Service = Service {
    name: "http",
    about: "any HTTP endpoint that answers JSON, as a template describes it",
    tasks: &[Task::Labels, Task::Objects, Task::Text, Task::Faces],
    endpoint: None,
    rate: None,
    least_side: 1,
    most_bytes: 64 << 20,
    open,
};

/// Stands in a body for the picture in base64.
const IMAGE: &str = "${image}";

/// What a template is asked for where nothing says it: what it has paths for.
pub(in super::super) fn task_of(template: &Template) -> Task {
    match (template.bounds.is_empty(), &template.label, &template.text) {
        (false, Some(_), _) => Task::Objects,
        (false, None, _) => Task::Faces,
        (true, None, Some(_)) => Task::Text,
        (true, ..) => Task::Labels,
    }
}

/// The wire format of a template, its paths read once.
struct Http {
    task: Task,
    template: Template,
    /// Headers that hold no variable, and so no secret.
    headers: Vec<(String, String)>,
    wanted: Wanted,
    paths: Paths,
}

struct Paths {
    answers: Path,
    label: Option<Path>,
    score: Option<Path>,
    text: Option<Path>,
    bounds: Vec<Path>,
    version: Option<Path>,
}

fn open(spec: &ServiceSpec, opening: &Opening<'_>) -> Result<Connector, ServiceError> {
    let missing = || ServiceError::Setting("http needs a template: say how it is asked".to_owned());
    let template = spec.template.clone().ok_or_else(missing)?;
    let paths = Paths::parse(&template)?;
    check(spec, &template, opening.task)?;
    let (headers, secrets) = headers(&template, opening.environment)?;
    let task = opening.task;
    let wire = Http { task, template, headers, wanted: Wanted::new(spec, &[]), paths };
    let credential = match secrets.is_empty() {
        true => Headers::token(opening.environment),
        false => Headers::new(secrets),
    };
    Ok(Connector {
        wire: Box::new(wire),
        credential: Box::new(credential),
        endpoint: HTTP.endpoint_of(spec, None)?.address(),
        task: opening.task,
        rate: None,
        price: None,
    })
}

impl Paths {
    fn parse(template: &Template) -> Result<Self, ServiceError> {
        let parse = |path: &Option<String>| path.as_deref().map(Path::parse).transpose();
        Ok(Self {
            answers: Path::parse(&template.answers)?,
            label: parse(&template.label)?,
            score: parse(&template.score)?,
            text: parse(&template.text)?,
            bounds: template
                .bounds
                .iter()
                .map(|path| Path::parse(path))
                .collect::<Result<_, _>>()?,
            version: parse(&template.model_version)?,
        })
    }
}

/// Says what the template lacks for its task, or has too much.
fn check(spec: &ServiceSpec, template: &Template, task: Task) -> Result<(), ServiceError> {
    let wrong = |why: &str| Err(ServiceError::Setting(format!("the template {why}")));
    if !template.path.starts_with('/') || !template.path.bytes().all(|b| b.is_ascii_graphic()) {
        return wrong("needs a path that begins with / and has no spaces: encode others as %20");
    }
    if template.body.is_some() && template.form.is_some() {
        return wrong("has a body and a form: leave one out");
    }
    if let Some(body) = &template.body {
        if !body.contains(IMAGE) {
            return wrong("has a body without ${image}");
        }
        if serde_json::from_str::<Value>(&body.replace(IMAGE, "AAAA")).is_err() {
            return wrong("has a body that is no JSON: put ${image} between quotes");
        }
    }
    if template.form.as_ref().is_some_and(|field| field.contains(['"', '\r', '\n'])) {
        return wrong("has a form field with quotes or line ends");
    }
    if spec.least > 0.0 && template.score.is_none() {
        return wrong("has no path of scores, which least needs");
    }
    match (task, template.bounds.len()) {
        (Task::Labels, 0) if template.label.is_none() => wrong("needs label: a path"),
        (Task::Text, 0) if template.text.is_none() => wrong("needs text: a path"),
        (Task::Labels | Task::Text, 0) => Ok(()),
        (Task::Labels | Task::Text, _) => wrong("has bounds: leave them out, or ask for objects"),
        (Task::Objects, 1 | 4) if template.label.is_none() => wrong("needs label: a path"),
        (_, 1 | 4) => Ok(()),
        _ => wrong("needs bounds: four paths, or one to a list of four numbers"),
    }
}

type OpenAndSecret = (Vec<(String, String)>, Vec<(String, Secret)>);

/// Headers as they are sent. Those with variables are kept apart: requests hold no secrets.
fn headers(template: &Template, environment: &Environment) -> Result<OpenAndSecret, ServiceError> {
    let (mut open, mut secret) = (Vec::new(), Vec::new());
    for (name, value) in &template.headers {
        let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(ServiceError::Setting(format!("{name:?} is no name of a header")));
        }
        if is_secret(name) && !value.contains("${") {
            let why = format!(
                "the header {name} holds a secret: write ${{NAME}} and set the variable NAME, since \
                 campaign files are recorded"
            );
            return Err(ServiceError::Setting(why));
        }
        let filled = filled(value, environment)?;
        if filled.chars().any(char::is_control) {
            return Err(ServiceError::Setting(format!("the header {name} holds a line end")));
        }
        let name = name.to_ascii_lowercase();
        match value.contains("${") {
            true => secret.push((name, Secret::new(filled))),
            false => open.push((name, filled)),
        }
    }
    Ok((open, secret))
}

/// Whether a header usually holds what must not be recorded.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["authorization", "cookie", "key", "token", "secret"].iter().any(|part| name.contains(part))
}

/// A text with the environment's variables in their places.
fn filled(text: &str, environment: &Environment) -> Result<String, ServiceError> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(ServiceError::Setting(format!("a variable in {text:?} has no }}")));
        };
        let unset = || ServiceError::Credentials(format!("the variable {name} is not set"));
        filled.push_str(before);
        filled.push_str(environment.get(name).ok_or_else(unset)?);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

impl Wire for Http {
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        Limits::of(&HTTP).check(picture)?;
        let (content, body) = match (&self.template.body, &self.template.form) {
            (Some(body), _) => {
                let body = body.replace(IMAGE, &STANDARD.encode(picture.bytes));
                ("application/json".to_owned(), body.into_bytes())
            }
            (_, Some(field)) => form::with_picture(field, picture),
            _ => (picture.media.to_owned(), picture.bytes.to_vec()),
        };
        let mut headers = self.headers.clone();
        if self.template.form.is_some() {
            headers.retain(|(name, _)| name != "content-type");
        }
        if !headers.iter().any(|(name, _)| name == "content-type") {
            headers.push(("content-type".to_owned(), content));
        }
        Ok(Request { method: "POST", path: self.template.path.clone(), headers, body })
    }

    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem> {
        if !(200..300).contains(&answer.status) {
            return Err(problem::of_status(answer, &problem::of_body(&answer.body)));
        }
        let body: Value = json(&answer.body)?;
        let answers = found(&body, &self.paths.answers)?;
        // One answer alone may stand without a list.
        let answers = answers.as_array().map_or(slice::from_ref(answers), Vec::as_slice);
        if answers.len() > MOST_ENTRIES {
            return broken(format!("{} answers, where {MOST_ENTRIES} are the most", answers.len()));
        }
        let version = self.paths.version.as_ref().and_then(|path| path.find(&body));
        let version = version.map(|value| match value {
            Value::String(text) => problem::first_line(text),
            other => problem::first_line(&other.to_string()),
        });
        Ok(Said { response: self.response(answers, image)?, version })
    }
}

impl Http {
    fn response(&self, answers: &[Value], image: &Image) -> Result<Response, Problem> {
        let answers = answers.iter();
        match self.task {
            Task::Objects | Task::Faces => {
                let one = |answer| {
                    Ok((self.name(answer)?, self.score(answer)?, self.bounds(answer, image)?))
                };
                Ok(self.wanted.detections(answers.map(one).collect::<Result<_, Problem>>()?))
            }
            Task::Text => {
                let mut lines = Vec::new();
                for answer in answers {
                    if self.wanted.suffices(self.score(answer)?) {
                        lines.push(text_at(answer, self.paths.text.as_ref())?);
                    }
                }
                reading::lines(&lines)
            }
            _ => {
                let one = |answer| Ok((self.name(answer)?, self.score(answer)?));
                Ok(self.wanted.ranking(answers.map(one).collect::<Result<_, Problem>>()?))
            }
        }
    }

    fn name(&self, answer: &Value) -> Result<String, Problem> {
        match &self.paths.label {
            None => Ok(reading::FACE.to_owned()),
            Some(path) => match found(answer, path)? {
                // A class without a name.
                Value::Number(class) => Ok(class.to_string()),
                _ => reading::name(text_at(answer, Some(path))?),
            },
        }
    }

    /// The score, or full conviction where the template has no path of one.
    fn score(&self, answer: &Value) -> Result<f32, Problem> {
        let Some(path) = &self.paths.score else { return Ok(1.0) };
        score(number(found(answer, path)?)?, 1.0)
    }

    fn bounds(&self, answer: &Value, image: &Image) -> Result<Bounds, Problem> {
        let sides: Vec<f64> = match self.paths.bounds.as_slice() {
            [list] => {
                let list = found(answer, list)?.as_array();
                let list = list.map_or_else(|| broken("a box that is no list"), Ok)?;
                list.iter().take(5).map(number).collect::<Result<_, _>>()?
            }
            paths => {
                let side = |path| number(found(answer, path)?);
                paths.iter().map(side).collect::<Result<_, _>>()?
            }
        };
        let Ok([a, b, c, d]) = <[f64; 4]>::try_from(sides) else {
            return broken("a box without four sides");
        };
        match self.template.corners {
            Corners::Pixels => reading::bounds_of_pixels([a, b, c, d], image),
            Corners::PixelsWithSize => reading::bounds_of_pixels([a, b, a + c, b + d], image),
            Corners::Shares => reading::bounds([a, b, c, d], image),
            Corners::SharesWithSize => reading::bounds([a, b, a + c, b + d], image),
        }
    }
}

fn found<'a>(value: &'a Value, path: &Path) -> Result<&'a Value, Problem> {
    path.find(value).map_or_else(|| broken(format!("nothing at {:?}", path.text())), Ok)
}

fn number(value: &Value) -> Result<f64, Problem> {
    value.as_f64().map_or_else(|| broken("something else than a number"), Ok)
}

fn text_at(answer: &Value, path: Option<&Path>) -> Result<String, Problem> {
    let value = path.map_or(Ok(answer), |path| found(answer, path))?;
    value.as_str().map_or_else(|| broken("something else than a text"), |text| Ok(text.to_owned()))
}
