//! Servers of the Open Inference Protocol v2 ("KServe v2"): KServe, Triton, MLServer, OpenVINO Model
//! Server. Tensors travel as JSON, or as bytes behind it (Triton's binary tensor data extension).

use super::super::connector::Connector;
use super::super::credential::Headers;
use super::super::definition::{OpenContext, Prices, Service};
use super::super::error::ServiceError;
use super::super::message::{HttpResponse, Request};
use super::super::spec::{ServiceLabels, ServiceSpec};
use super::super::task::Task;
use super::super::wire_format::{EncodedImage, Prediction, Wire, WireError};
use super::http_error::{describe_body, first_line, from_status};
use super::image_limits::ImageLimits;
use super::parse::{MAX_ENTRIES, json, malformed};
use super::tensor;
use crate::onnx::{labels_from, read_labels};
use faultlens_core::{Image, TargetError, Tensor};
use faultlens_vision::{
    ElementType, InputDescription, Labels, OutputDescription, OutputReader, ShownImage, VisionError,
};
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// Servers of the Open Inference Protocol.
pub(super) const KSERVE: Service = Service {
    name: "kserve",
    about: "servers of the Open Inference Protocol v2 (KServe, Triton, MLServer): tensors",
    tasks: &[Task::Tensors],
    endpoint: None,
    rate: None,
    prices: Some(Prices::FREE),
    min_side: 1,
    max_bytes: 1 << 30,
    open,
};

/// The header with the length of the JSON in front of raw tensors.
const JSON_LENGTH: &str = "inference-header-content-length";
/// The default name of the tensor that takes the image.
const DEFAULT_TENSOR: &str = "input";

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

fn open(spec: &ServiceSpec, context: &OpenContext<'_>) -> Result<Connector, ServiceError> {
    let labels = match &spec.labels {
        ServiceLabels::Default => Labels::default(),
        ServiceLabels::ClassNames(path) => read_labels(&labels_from(context.base, path))
            .map_err(|error| ServiceError::Setting(error.to_string()))?,
        ServiceLabels::Only(_) => {
            return Err(setting("answers with tensors: labels must be a file of class names"));
        }
    };
    if spec.min_confidence > 0.0 {
        return Err(setting("answers with tensors: leave min_confidence out"));
    }
    let model = spec.model.as_deref().ok_or_else(|| setting("needs model: its name there"))?;
    let binary = match spec.version.as_deref() {
        None | Some("json") => false,
        Some("binary") => true,
        Some(_) => return Err(setting("has the versions json and binary")),
    };
    let (input, output) = descriptions(spec, binary)?;
    let tensor = spec.tensor.as_deref().unwrap_or(DEFAULT_TENSOR).to_owned();
    let path = path(model)?;
    Ok(Connector {
        wire: Box::new(Kserve { path, tensor, binary, input, output, labels }),
        credential: Box::new(Headers::token(context.environment)),
        endpoint: KSERVE.endpoint_of(spec, None)?.address(),
        task: context.task,
        rate: None,
        price: None,
    })
}

fn setting(why: &str) -> ServiceError {
    ServiceError::Setting(format!("kserve {why}"))
}

/// How images become the input and what the output means: a server's metadata says neither.
fn descriptions(
    spec: &ServiceSpec,
    binary: bool,
) -> Result<(InputDescription, OutputDescription), ServiceError> {
    let input = spec.input.clone();
    let input = input.ok_or_else(|| setting("needs input: how images become the tensor"))?;
    let output = spec.output.clone();
    let output = output.ok_or_else(|| setting("needs output: what the answered tensor means"))?;
    if input.dtype == ElementType::F16 && !binary {
        return Err(setting("takes 16-bit floats only as bytes: set version to binary"));
    }
    output.check().map_err(|error| ServiceError::Setting(error.to_string()))?;
    Ok((input, output))
}

/// Whether text can be a segment of a path: segments of dots alone lead elsewhere.
fn is_segment(text: &str) -> bool {
    text.chars().all(|c: char| c.is_ascii_alphanumeric() || "-._~".contains(c))
        && text.chars().any(|c| c != '.')
}

/// The inference path of a model, or of `NAME/VERSION`.
fn path(model: &str) -> Result<String, ServiceError> {
    match model.split_once('/') {
        Some((name, version)) if is_segment(name) && is_segment(version) => {
            Ok(format!("/v2/models/{name}/versions/{version}/infer"))
        }
        None if is_segment(model) => Ok(format!("/v2/models/{model}/infer")),
        _ => {
            Err(ServiceError::Setting(format!("model {model:?} is neither NAME nor NAME/VERSION")))
        }
    }
}

impl Kserve {
    /// The inference request; asks for the output that the description names, else for all.
    fn inference_request(&self, input: Value) -> Value {
        let mut request = json!({ "inputs": [input] });
        if let Some(name) = &self.output.name {
            let parameters = json!({ "binary_data": self.binary });
            request["outputs"] = json!([{ "name": name, "parameters": parameters }]);
        } else if self.binary {
            request["parameters"] = json!({ "binary_data_output": true });
        }
        request
    }

    /// The names of at least so many classes.
    fn class_names(&self, classes: usize) -> Arc<[String]> {
        let count = classes.max(self.labels.len());
        (0..count).map(|class| self.labels.name(class)).collect()
    }
}

fn unreadable(error: VisionError) -> WireError {
    WireError::Malformed(error.to_string())
}

impl Wire for Kserve {
    fn request(&self, encoded: &EncodedImage<'_>) -> Result<Request, TargetError> {
        ImageLimits::of(&KSERVE).check(encoded)?;
        let image = self.input.tensor(std::slice::from_ref(encoded.image));
        let image = image.map_err(|error| TargetError::Rejected(error.to_string()))?;
        let mut input = json!({
            "name": self.tensor,
            "shape": image.shape(),
            "datatype": tensor::datatype(image.dtype()),
        });
        if !self.binary {
            let Some(data) = tensor::to_json(image.data()) else {
                let why = "JSON has no NaN and no infinity".to_owned();
                return Err(TargetError::Rejected(why));
            };
            input["data"] = data;
            return Ok(Request {
                method: "POST",
                path: self.path.clone(),
                headers: vec![("content-type".to_owned(), "application/json".to_owned())],
                body: self.inference_request(input).to_string().into_bytes(),
            });
        }
        let bytes = tensor::to_bytes(image.data());
        input["parameters"] = json!({ "binary_data_size": bytes.len() });
        let mut body = self.inference_request(input).to_string().into_bytes();
        let headers = vec![
            ("content-type".to_owned(), "application/octet-stream".to_owned()),
            (JSON_LENGTH.to_owned(), body.len().to_string()),
        ];
        body.extend(bytes);
        Ok(Request { method: "POST", path: self.path.clone(), headers, body })
    }

    fn read(&self, response: &HttpResponse, image: &Image) -> Result<Prediction, WireError> {
        if response.status != 200 {
            let body: ErrorBody = serde_json::from_slice(&response.body).unwrap_or_default();
            let message = body.error.unwrap_or_else(|| describe_body(&response.body));
            return Err(from_status(response, &message));
        }
        let (text, raw) = split(response)?;
        let body: InferenceResponse = json(text)?;
        let version = body.model_version.as_deref().map(first_line);
        let (names, tensors) = outputs(body.outputs, raw)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let reader = OutputReader::of_outputs(&self.output, &names).map_err(unreadable)?;
        let shown = ShownImage { input: &self.input, width: image.width(), height: image.height() };
        let response = reader
            .read(&tensors, 0, shown, &|classes: usize| self.class_names(classes))
            .map_err(unreadable)?;
        Ok(Prediction { response, version })
    }
}

#[derive(Deserialize)]
struct InferenceResponse {
    model_version: Option<String>,
    outputs: Vec<OutputTensor>,
}

#[derive(Deserialize)]
struct OutputTensor {
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
struct ErrorBody {
    error: Option<String>,
}

/// The JSON and the raw tensors behind it.
fn split(response: &HttpResponse) -> Result<(&[u8], &[u8]), WireError> {
    let Some(length) = response.headers.get(JSON_LENGTH) else { return Ok((&response.body, &[])) };
    let length = length.trim().parse::<usize>().ok();
    let parts = length.and_then(|length| response.body.split_at_checked(length));
    parts.map_or_else(|| malformed("a body that is shorter than its header says"), Ok)
}

/// The tensors of an answer with their names; raw ones follow each other.
fn outputs(
    list: Vec<OutputTensor>,
    mut raw: &[u8],
) -> Result<(Vec<String>, Vec<Tensor>), WireError> {
    if list.is_empty() || list.len() > MAX_ENTRIES {
        return malformed(format!("{} tensors", list.len()));
    }
    let mut names = Vec::new();
    let mut tensors = Vec::new();
    for output in list {
        let OutputTensor { name, shape, datatype, data, parameters } = output;
        let size = parameters.and_then(|parameters| parameters.binary_data_size);
        let tensor = match (data, size) {
            (Some(data), None) => tensor::from_json(shape, &datatype, &data)?,
            (None, Some(size)) => {
                let Some((own, rest)) = raw.split_at_checked(size) else {
                    return malformed("fewer bytes than the tensors need");
                };
                raw = rest;
                tensor::from_bytes(shape, &datatype, own)?
            }
            _ => return malformed("a tensor without data, or with both kinds"),
        };
        names.push(name);
        tensors.push(tensor);
    }
    if !raw.is_empty() {
        return malformed("more bytes than the tensors need");
    }
    Ok((names, tensors))
}
