//! Operators that have no kernel here run on rten, one at a time, through a model of one node.

mod convert;

use crate::error::OperandError;
use crate::graph::{Graph, Operator, ValueId};
use crate::onnx::{self, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, ValueInfoProto};
use crate::value::Value;
use convert::{from_rten, to_rten};
use faultlens_core::{DType, catch_panic};
use rten::{ModelOptions, NodeId, RunOptions, ThreadPool, ValueOrView};
use rten_tensor::prelude::*;
use std::sync::Arc;

/// One operator as a model of rten's.
pub(crate) struct Fallback {
    model: rten::Model,
    inputs: Vec<Option<NodeId>>,
    outputs: Vec<Option<NodeId>>,
    op_type: String,
    /// The type that an attribute (`dtype` of some operators) asks for.
    attribute_dtype: Option<DType>,
    /// Operands whose elements are only moved.
    moves: Vec<usize>,
}

impl Fallback {
    /// Builds the one-node model; an operator that rten does not know is an error here.
    pub(crate) fn new(operator: &Operator, graph: &Graph) -> Result<Self, OperandError> {
        let proto = one_node_model(operator, graph);
        let load =
            || ModelOptions::with_all_ops().enable_optimization(false).load(onnx::encode(&proto));
        let model = guarded(load)?.map_err(|e| {
            OperandError::new(format!("neither Faultlens nor rten computes it ({e})"))
        })?;
        let find = |name: &str| {
            model
                .find_node(name)
                .ok_or_else(|| OperandError::new(format!("rten lost the value {name}")))
        };
        let inputs = operator.inputs.iter().enumerate();
        let inputs = inputs.map(|(i, v)| v.map(|_| find(&format!("in{i}"))).transpose());
        let inputs = inputs.collect::<Result<_, _>>()?;
        let outputs = operator.outputs.iter().enumerate();
        let outputs = outputs.map(|(i, v)| v.map(|_| find(&format!("out{i}"))).transpose());
        let outputs = outputs.collect::<Result<_, _>>()?;
        let attribute_dtype = operator.attributes.iter().find_map(|a| match a.name.as_str() {
            "dtype" => onnx::dtype(a.i as i32),
            "value" if operator.op_type == "ConstantOfShape" => {
                onnx::dtype(a.t.as_ref()?.data_type)
            }
            _ => None,
        });
        let op_type = operator.op_type.clone();
        let moves = moves(operator);
        Ok(Self { model, inputs, outputs, op_type, attribute_dtype, moves })
    }

    /// Runs the operator. One thread, so that no sum depends on how many there are.
    pub(crate) fn run(
        &self,
        operands: &[Option<&Value>],
    ) -> Result<Vec<Option<Value>>, OperandError> {
        let moved = self.moved(operands);
        let fed = match &moved {
            Some(_) => self.numbered(operands)?,
            None => {
                operands.iter().map(|v| v.map(to_rten).transpose()).collect::<Result<_, _>>()?
            }
        };
        let ids = self.inputs.iter().copied();
        let feeds: Vec<(NodeId, ValueOrView<'_>)> =
            ids.zip(fed).filter_map(|(id, value)| Some((id?, value?.into()))).collect();
        let fetched: Vec<NodeId> = self.outputs.iter().flatten().copied().collect();
        let mut options = RunOptions::default();
        let pool = one_thread();
        options.thread_pool = Some(Arc::clone(&pool));
        // On rten's thread from the start, so that a panic is caught where it happens.
        let results = pool
            .run(|| guarded(|| self.model.run(feeds, &fetched, Some(options))))?
            .map_err(|e| OperandError::new(e.to_string().replace('\n', " ")))?;
        let mut results = results.into_iter();
        let outputs = self.outputs.iter().enumerate().map(|(i, wanted)| {
            let result = wanted.and_then(|_| results.next());
            result.map(|result| match &moved {
                Some(sources) => placed(result, sources),
                None => from_rten(result, self.dtype(operands, i)),
            })
        });
        outputs.map(Option::transpose).collect()
    }

    /// What an operator moves, where rten does not have the type: it then moves numbers of
    /// elements instead, which are exchanged for the elements afterwards.
    fn moved<'a>(&self, operands: &[Option<&'a Value>]) -> Option<Vec<&'a Value>> {
        let moved = self.moves.iter().map(|&i| operands.get(i).copied().flatten());
        let moved: Vec<&Value> = moved.collect::<Option<_>>()?;
        let other_types = moved.iter().all(|value| value.tensor().is_some());
        (other_types && !moved.is_empty()).then_some(moved)
    }

    /// The operands with numbers in place of the elements that are moved.
    fn numbered(
        &self,
        operands: &[Option<&Value>],
    ) -> Result<Vec<Option<rten::Value>>, OperandError> {
        let mut next = 0i32;
        let mut number = |value: &Value| {
            let count: usize = value.shape().iter().product();
            // rten moves 32-bit integers: places stand in for elements of types that it does not
            // have.
            let end = i32::try_from(count).ok().and_then(|count| next.checked_add(count));
            let end = end.ok_or_else(|| OperandError::new("it has over two billion elements"))?;
            let numbers = (next..end).collect::<Vec<i32>>();
            next = end;
            rten::Value::from_shape(value.shape(), numbers)
                .map_err(|e| OperandError::new(e.to_string()))
        };
        let operands = operands.iter().enumerate().map(|(i, value)| match value {
            Some(value) if self.moves.contains(&i) => number(value).map(Some),
            value => value.map(to_rten).transpose(),
        });
        operands.collect()
    }

    /// The ONNX type of an output. rten has one integer type of 32 bits, ONNX several.
    fn dtype(&self, operands: &[Option<&Value>], output: usize) -> Option<DType> {
        let operand = |i: usize| operands.get(i).copied().flatten().and_then(Value::dtype);
        match self.op_type.as_str() {
            "And" | "Or" | "Not" | "Xor" => Some(DType::Bool),
            "Shape" | "Size" | "NonZero" => Some(DType::I64),
            "TopK" | "Unique" if output > 0 => Some(DType::I64),
            "Dropout" if output == 1 => Some(DType::Bool),
            "Where" => operand(1),
            "OneHot" => operand(2),
            "ConstantOfShape" | "EyeLike" => self.attribute_dtype.or_else(|| operand(0)),
            _ => operand(0),
        }
    }
}

/// The operands whose elements an operator hands on as they are.
fn moves(operator: &Operator) -> Vec<usize> {
    let reduces = operator.attributes.iter().any(|a| a.name == "reduction" && &*a.s != b"none");
    match operator.op_type.as_str() {
        "Concat" => (0..operator.inputs.len()).collect(),
        "Expand" | "Gather" | "GatherElements" | "GatherND" | "ReverseSequence" | "Slice"
        | "Split" | "Tile" => vec![0],
        "OneHot" => vec![2],
        "ScatterElements" | "ScatterND" if !reduces => vec![0, 2],
        "Where" => vec![1, 2],
        _ => Vec::new(),
    }
}

/// Exchanges numbers of elements for the elements.
fn placed(numbers: rten::Value, sources: &[&Value]) -> Result<Value, OperandError> {
    let rten::Value::Int32Tensor(numbers) = numbers else {
        return Err(OperandError::new("rten answered a kind of value that was not asked for"));
    };
    let at: Vec<usize> = numbers.to_vec().into_iter().map(|n| n as usize).collect();
    crate::ops::pick(sources, &at, numbers.shape().to_vec())
}

/// rten panics on some operands that it does not expect; here that is an error like others.
fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, OperandError> {
    catch_panic(call)
        .map_err(|text| OperandError::new(format!("rten gave up on these operands ({text})")))
}

thread_local! {
    /// rten computes on threads of its own. Each caller has one of them to itself.
    static ONE_THREAD: Arc<ThreadPool> = Arc::new(ThreadPool::with_num_threads(1));
}

fn one_thread() -> Arc<ThreadPool> {
    ONE_THREAD.with(Arc::clone)
}

/// Names for operands or results by their place; empty where one is left out, as ONNX has it.
fn numbered(prefix: &str, values: &[Option<ValueId>]) -> Vec<String> {
    values
        .iter()
        .enumerate()
        .map(|(place, value)| value.map_or(String::new(), |_| format!("{prefix}{place}")))
        .collect()
}

/// Values of these names, of any type and shape.
fn untyped_values(names: &[String]) -> Vec<ValueInfoProto> {
    names
        .iter()
        .filter(|name| !name.is_empty())
        .map(|name| ValueInfoProto { name: name.clone(), ..Default::default() })
        .collect()
}

fn one_node_model(operator: &Operator, graph: &Graph) -> ModelProto {
    let input = numbered("in", &operator.inputs);
    let output = numbered("out", &operator.outputs);
    let inputs = untyped_values(&input);
    let node = NodeProto {
        input,
        name: operator.name.clone(),
        op_type: operator.op_type.clone(),
        domain: operator.domain.clone(),
        attribute: operator.attributes.clone(),
        output: output.clone(),
        ..Default::default()
    };
    let mut domains = vec![""];
    if !operator.domain.is_empty() {
        domains.push(&operator.domain);
    }
    let opset_import = domains
        .into_iter()
        .map(|domain| OperatorSetIdProto {
            domain: domain.to_owned(),
            version: graph.opset_of(domain),
            ..Default::default()
        })
        .collect();
    let graph = GraphProto {
        node: vec![node],
        name: "one operator".to_owned(),
        input: inputs,
        output: untyped_values(&output),
        ..Default::default()
    };
    ModelProto { ir_version: 8, graph: Some(graph), opset_import, ..Default::default() }
}
