//! The Open Inference Protocol, version 2, as KServe, Triton, TorchServe, MLServer and OpenVINO
//! Model Server speak it, with the binary tensor extension.

use super::{RETRY_AFTER, Trouble, Wire, known, tensors};
use crate::exchange::{Answer, Asked};
use crate::model::View;
use crate::query::decoded;
use axum::http::Method;
use faultlens_core::Tensor;
use faultlens_engine::{Dim, Graph, ValueId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Says where JSON ends and raw tensors begin.
const JSON_LENGTH: &str = "inference-header-content-length";

/// Open Inference Protocol.
pub(super) struct Kserve;

#[derive(Deserialize)]
struct Request {
    #[serde(default)]
    id: Option<String>,
    inputs: Vec<Input>,
    #[serde(default)]
    outputs: Vec<Output>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

#[derive(Deserialize)]
struct Input {
    name: String,
    shape: Vec<usize>,
    datatype: String,
    #[serde(default)]
    data: Option<Value>,
    #[serde(default)]
    parameters: Map<String, Value>,
}

#[derive(Deserialize)]
struct Output {
    name: String,
    #[serde(default)]
    parameters: Map<String, Value>,
}

impl Wire for Kserve {
    fn most_bytes(&self) -> usize {
        256 << 20
    }

    fn admit(&self, asked: &Asked, keys: &[String]) -> Result<(), Answer> {
        match asked.bearer() {
            Some(token) if known(keys, token) => Ok(()),
            _ => Err(error(401, "Unauthorized")),
        }
    }

    fn answer(&self, asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
        let path = asked.path.strip_prefix("/v2").unwrap_or("?");
        let parts: Vec<String> = path.split('/').skip(1).map(decoded).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let method = if asked.method == Method::HEAD { &Method::GET } else { &asked.method };
        match (method, path, &parts[..]) {
            (&Method::GET, "" | "/", _) => Ok(Answer::json(200, &server())),
            (&Method::GET, _, ["health", "live" | "ready"]) => Ok(healthy()),
            (method, _, ["models", name, rest @ ..]) => {
                let task = versioned(name, rest, model)?;
                match (method, task) {
                    (&Method::GET, []) => Ok(Answer::json(200, &metadata(model))),
                    (&Method::GET, ["ready"]) => Ok(healthy()),
                    (&Method::POST, ["infer"]) => inferred(asked, model),
                    (_, [] | ["ready"] | ["infer"]) => Err(error(405, "Method Not Allowed")),
                    _ => Err(error(404, "Not Found")),
                }
            }
            (_, _, ["health", "live" | "ready"]) => Err(error(405, "Method Not Allowed")),
            _ => Err(error(404, "Not Found")),
        }
    }

    fn trouble(&self, trouble: Trouble) -> Answer {
        match trouble {
            Trouble::Throttled => error(429, "too many requests").with("retry-after", RETRY_AFTER),
            Trouble::Broken(503) => error(503, "the server is busy, try again"),
            Trouble::Broken(status) => error(status, "internal error"),
            Trouble::TooLarge => error(413, "the request is too large"),
            Trouble::Incomplete => error(400, "the request is incomplete"),
        }
    }
}

fn error(status: u16, message: &str) -> Answer {
    Answer::json(status, &json!({"error": message}))
}

fn healthy() -> Answer {
    Answer { body: Vec::new(), ..Answer::json(200, &Value::Null) }
}

fn server() -> Value {
    json!({"name": "faultlens", "version": env!("CARGO_PKG_VERSION"),
        "extensions": ["binary_tensor_data"]})
}

/// What is left of the path behind the model and its version, if both are served here.
fn versioned<'a, 'b>(
    name: &str,
    rest: &'a [&'b str],
    model: View<'_>,
) -> Result<&'a [&'b str], Answer> {
    if name != model.served.name() {
        return Err(error(404, &format!("Request for unknown model: '{name}' is not found")));
    }
    match rest {
        ["versions", version, ..] if *version != model.version() => {
            let why = format!("Request for unknown model: '{name}' version {version} is not found");
            Err(error(404, &why))
        }
        ["versions", _, rest @ ..] => Ok(rest),
        rest => Ok(rest),
    }
}

fn metadata(model: View<'_>) -> Value {
    let graph = model.served.target().model().graph();
    let tensor = |&id: &ValueId| {
        json!({"name": graph.value_name(id), "datatype": datatype(graph, id),
            "shape": shape(graph, id)})
    };
    let tensors = |ids: &[ValueId]| ids.iter().map(tensor).collect::<Vec<Value>>();
    json!({"name": model.served.name(), "versions": [model.version()], "platform": "onnx_faultlens",
        "inputs": tensors(graph.inputs()), "outputs": tensors(graph.outputs())})
}

fn datatype(graph: &Graph, id: ValueId) -> &'static str {
    graph.declared_dtype(id).map_or("FP32", tensors::name)
}

/// Sizes that are not fixed are told as -1.
fn shape(graph: &Graph, id: ValueId) -> Vec<i64> {
    let fixed = |dim: &Dim| match dim {
        Dim::Fixed(size) => i64::try_from(*size).unwrap_or(-1),
        _ => -1,
    };
    graph.declared_shape(id).unwrap_or_default().iter().map(fixed).collect()
}

fn inferred(asked: &Asked, model: View<'_>) -> Result<Answer, Answer> {
    let bad = |why: &str| error(400, why);
    let length = match asked.header(JSON_LENGTH) {
        "" => asked.body.len(),
        text => text.parse().map_err(|_| bad("Inference-Header-Content-Length is no number"))?,
    };
    let Some((head, mut raw)) = asked.body.split_at_checked(length) else {
        return Err(bad("Inference-Header-Content-Length exceeds the request"));
    };
    let request: Request = serde_json::from_slice(head)
        .map_err(|why| bad(&format!("failed to parse the request JSON buffer: {why}")))?;
    let mut feeds: Vec<(&str, Tensor)> = Vec::new();
    for input in &request.inputs {
        let tensor = taken(input, &mut raw);
        feeds.push((
            &input.name,
            tensor.map_err(|why| bad(&format!("input '{}': {why}", input.name)))?,
        ));
    }
    if !raw.is_empty() {
        return Err(bad(&format!("{} bytes belong to no input", raw.len())));
    }
    let graph = model.served.target().model().graph();
    let names: Vec<&str> = graph.outputs().iter().map(|&id| graph.value_name(id)).collect();
    let unknown = request.outputs.iter().find(|output| !names.contains(&output.name.as_str()));
    if let Some(output) = unknown {
        return Err(bad(&format!("unexpected inference output '{}' for model", output.name)));
    }
    let outputs = model.run(&feeds).map_err(|why| bad(&why))?;
    let outputs: Vec<(&str, &Tensor)> = names.into_iter().zip(&outputs).collect();
    written(&request, &outputs, model)
}

/// An input's tensor, from JSON or from the front of the raw bytes.
fn taken(input: &Input, raw: &mut &[u8]) -> Result<Tensor, String> {
    let kind = tensors::kind(&input.datatype)
        .ok_or_else(|| format!("the datatype {} is not taken", input.datatype))?;
    let data = match (input.parameters.get("binary_data_size"), &input.data) {
        (Some(size), _) => {
            let size = size.as_u64().and_then(|size| usize::try_from(size).ok());
            let split = size.and_then(|size| raw.split_at_checked(size));
            let (own, rest) = split.ok_or("binary_data_size exceeds the request")?;
            *raw = rest;
            tensors::from_bytes(kind, own)?
        }
        (None, Some(data)) => tensors::from_json(kind, data)?,
        (None, None) => return Err("it has no data".to_owned()),
    };
    Tensor::new(input.shape.clone(), data).map_err(|error| error.to_string())
}

fn written(
    request: &Request,
    outputs: &[(&str, &Tensor)],
    model: View<'_>,
) -> Result<Answer, Answer> {
    let flag = |from: &Map<String, Value>, key| from.get(key).and_then(Value::as_bool);
    let all = flag(&request.parameters, "binary_data_output").unwrap_or(false);
    let (mut told, mut raw) = (Vec::new(), Vec::new());
    for (name, tensor) in outputs {
        let asked = request.outputs.iter().find(|output| output.name == *name);
        if asked.is_none() && !request.outputs.is_empty() {
            continue;
        }
        let binary = asked.and_then(|asked| flag(&asked.parameters, "binary_data")).unwrap_or(all);
        let mut entry = json!({"name": name, "shape": tensor.shape(),
            "datatype": tensors::name(tensor.dtype())});
        if binary {
            let before = raw.len();
            tensors::to_bytes(tensor.data(), &mut raw);
            entry["parameters"] = json!({"binary_data_size": raw.len() - before});
        } else {
            let why = "holds numbers that JSON cannot; ask for binary data";
            let data = tensors::to_json(tensor.data());
            entry["data"] = data.ok_or_else(|| error(400, &format!("output '{name}' {why}")))?;
        }
        told.push(entry);
    }
    let mut head = json!({"model_name": model.served.name(), "model_version": model.version(),
        "outputs": told});
    if let Some(id) = &request.id {
        head["id"] = id.as_str().into();
    }
    let mut answer = Answer::json(200, &head);
    if !raw.is_empty() {
        let length = answer.body.len().to_string();
        answer.body.extend(raw);
        answer.content_type = "application/octet-stream";
        answer = answer.with(JSON_LENGTH, length);
    }
    Ok(answer)
}
