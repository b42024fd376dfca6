//! Servers of the Open Inference Protocol: KServe, Triton, MLServer, OpenVINO Model Server.

use super::super::credential::Headers;
use super::super::registry::{Opening, Service};
use super::super::{Connector, ServiceError, ServiceSpec};
use super::reading::{Limits, MOST_ENTRIES, broken, json};
use super::{Answer, Picture, Problem, Request, Said, Task, Wire, problem, tensor};
use crate::onnx::read_labels;
use faultlens_core::{Image, TargetError, Tensor};
use faultlens_vision::{
    ElementType, InputDescription, Labels, OutputDescription, OutputReader, ShownImage, VisionError,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Servers of the Open Inference Protocol.
pub(in super::super) const KSERVE: Service = Service {
    name: "kserve",
    about: "servers of the Open Inference Protocol v2 (KServe, Triton, MLServer): tensors",
    tasks: &[Task::Tensors],
    endpoint: None,
    rate: None,
    least_side: 1,
    most_bytes: 1 << 30,
    open,
};

/// Where the length of the JSON before raw tensors stands.
const LENGTH: &str = "inference-header-content-length";
/// The usual name of the tensor that takes the image.
const USUAL_TENSOR: &str = "input";

/// The protocol's wire format for one model.
struct Kserve {
    path: String,
    tensor: String,
    /// Whether tensors travel as bytes.
    binary: bool,
    input: InputDescription,
    output: OutputDescription,
    labels: Labels,
}

fn open(spec: &ServiceSpec, opening: &Opening<'_>) -> Result<Connector, ServiceError> {
    if !spec.considered.is_empty() || spec.least > 0.0 {
        return Err(wrong("answers tensors, of which considered and least say nothing"));
    }
    let model = spec.model.as_deref().ok_or_else(|| wrong("needs model: its name there"))?;
    let binary = match spec.version.as_deref() {
        None | Some("json") => false,
        Some("binary") => true,
        Some(_) => return Err(wrong("has the versions json and binary")),
    };
    let (input, output) = described(spec, binary)?;
    let labels = match &spec.labels {
        Some(path) => read_labels(&opening.base.join(path))
            .map_err(|error| ServiceError::Setting(error.to_string()))?,
        None => Labels::default(),
    };
    let tensor = spec.tensor.as_deref().unwrap_or(USUAL_TENSOR).to_owned();
    let path = path(model)?;
    Ok(Connector {
        wire: Box::new(Kserve { path, tensor, binary, input, output, labels }),
        credential: Box::new(Headers::token(opening.environment)),
        endpoint: KSERVE.endpoint_of(spec, None)?.address(),
        task: opening.task,
        rate: None,
        price: None,
    })
}

fn wrong(why: &str) -> ServiceError {
    ServiceError::Setting(format!("kserve {why}"))
}

/// What goes in and what comes out: a server's metadata says neither.
fn described(
    spec: &ServiceSpec,
    binary: bool,
) -> Result<(InputDescription, OutputDescription), ServiceError> {
    let input = spec.input.clone();
    let input = input.ok_or_else(|| wrong("needs input: how images become the tensor"))?;
    let output = spec.output.clone();
    let output = output.ok_or_else(|| wrong("needs output: what the answered tensor means"))?;
    if input.dtype == ElementType::F16 && !binary {
        return Err(wrong("takes 16-bit floats only as bytes: set version to binary"));
    }
    output.check().map_err(|error| ServiceError::Setting(error.to_string()))?;
    Ok((input, output))
}

/// The path of a model, or of `NAME/VERSION`.
fn path(model: &str) -> Result<String, ServiceError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~".contains(c);
    // Parts of dots alone lead elsewhere.
    let is_plain = |part: &str| part.chars().all(plain) && part.chars().any(|c| c != '.');
    match model.split_once('/') {
        Some((name, version)) if is_plain(name) && is_plain(version) => {
            Ok(format!("/v2/models/{name}/versions/{version}/infer"))
        }
        None if is_plain(model) => Ok(format!("/v2/models/{model}/infer")),
        _ => {
            Err(ServiceError::Setting(format!("model {model:?} is neither NAME nor NAME/VERSION")))
        }
    }
}

impl Kserve {
    /// What is asked beside the input: the output that the description names, else all.
    fn question(&self, input: Value) -> Value {
        let mut question = json!({ "inputs": [input] });
        if let Some(name) = &self.output.name {
            let parameters = json!({ "binary_data": self.binary });
            question["outputs"] = json!([{ "name": name, "parameters": parameters }]);
        } else if self.binary {
            question["parameters"] = json!({ "binary_data_output": true });
        }
        question
    }
}

impl Wire for Kserve {
    fn request(&self, picture: &Picture<'_>) -> Result<Request, TargetError> {
        Limits::of(&KSERVE).check(picture)?;
        let refuse = |why: String| TargetError::Rejected(why);
        let made = self.input.tensor(std::slice::from_ref(picture.image));
        let made = made.map_err(|error| refuse(error.to_string()))?;
        let mut input = json!({
            "name": self.tensor,
            "shape": made.shape(),
            "datatype": tensor::datatype(made.dtype()),
        });
        if !self.binary {
            let data = tensor::to_json(made.data());
            input["data"] = data.ok_or_else(|| refuse("a number that JSON has not".to_owned()))?;
            return Ok(Request {
                method: "POST",
                path: self.path.clone(),
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                body: self.question(input).to_string().into_bytes(),
            });
        }
        let bytes = tensor::to_bytes(made.data());
        input["parameters"] = json!({ "binary_data_size": bytes.len() });
        let mut body = self.question(input).to_string().into_bytes();
        let headers = vec![
            ("content-type".to_owned(), "application/octet-stream".to_owned()),
            (LENGTH.to_owned(), body.len().to_string()),
        ];
        body.extend(bytes);
        Ok(Request { method: "POST", path: self.path.clone(), headers, body })
    }

    fn read(&self, answer: &Answer, image: &Image) -> Result<Said, Problem> {
        if answer.status != 200 {
            let fault: Complaint = serde_json::from_slice(&answer.body).unwrap_or_default();
            let words = fault.error.unwrap_or_else(|| problem::of_body(&answer.body));
            return Err(problem::of_status(answer, &words));
        }
        let (text, raw) = divided(answer)?;
        let body: Body = json(text)?;
        let version = body.model_version.as_deref().map(problem::first_line);
        let (names, tensors) = outputs(body.outputs, raw)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let not_read = |error: VisionError| Problem::Broken(error.to_string());
        let reader = OutputReader::of_outputs(&self.output, &names).map_err(not_read)?;
        let shown = ShownImage { input: &self.input, width: image.width(), height: image.height() };
        let labels = &self.labels;
        let named = |classes: usize| -> Arc<[String]> {
            (0..classes.max(labels.len())).map(|class| labels.name(class)).collect()
        };
        let response = reader.read(&tensors, 0, shown, &named).map_err(not_read)?;
        Ok(Said { response, version })
    }
}

#[derive(Deserialize)]
struct Body {
    model_version: Option<String>,
    outputs: Vec<Output>,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    data: Option<Value>,
    parameters: Option<Parameters>,
}

#[derive(Deserialize)]
struct Parameters {
    binary_data_size: Option<usize>,
}

#[derive(Deserialize, Default)]
struct Complaint {
    error: Option<String>,
}

/// The JSON and the raw tensors behind it.
fn divided(answer: &Answer) -> Result<(&[u8], &[u8]), Problem> {
    let Some(length) = answer.headers.get(LENGTH) else { return Ok((&answer.body, &[])) };
    let length = length.trim().parse::<usize>().ok();
    let parts = length.and_then(|length| answer.body.split_at_checked(length));
    parts.map_or_else(|| broken("a body that is shorter than its header says"), Ok)
}

/// The tensors of an answer with their names; raw ones follow each other.
fn outputs(list: Vec<Output>, mut raw: &[u8]) -> Result<(Vec<String>, Vec<Tensor>), Problem> {
    if list.is_empty() || list.len() > MOST_ENTRIES {
        return broken(format!("{} tensors", list.len()));
    }
    let (mut names, mut tensors) = (Vec::new(), Vec::new());
    for output in list {
        let Output { name, shape, datatype, data, parameters } = output;
        let made = match (data, parameters.and_then(|told| told.binary_data_size)) {
            (Some(data), None) => tensor::of_json(shape, &datatype, &data)?,
            (None, Some(size)) => {
                let Some((own, rest)) = raw.split_at_checked(size) else {
                    return broken("fewer bytes than its tensors have");
                };
                raw = rest;
                tensor::of_bytes(shape, &datatype, own)?
            }
            _ => return broken("a tensor without data, or with both kinds"),
        };
        names.push(name);
        tensors.push(made);
    }
    match raw.is_empty() {
        true => Ok((names, tensors)),
        false => broken("more bytes than its tensors have"),
    }
}
