//! Models made in code, for tests, the demo and the benchmarks.

use bytes::Bytes;
use faultlens_core::{DType, Tensor};

use super::element::data_type;
use super::message::{
    AttributeProto, DimensionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorShapeProto, TensorTypeProto, TypeProto, ValueInfoProto, attribute_type,
};
use super::tensor::tensor_proto;

const IR_VERSION: i64 = 8;
const OPSET: i64 = 17;

/// The length of one axis of an input or output: `3.into()`, or `"N".into()` for a free one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dim {
    /// Always this long.
    Fixed(usize),
    /// As long as the caller likes, the same wherever the name stands.
    Free(String),
}

impl From<usize> for Dim {
    fn from(length: usize) -> Self {
        Self::Fixed(length)
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Self::Free(name.to_owned())
    }
}

/// Builds a model node by node, in the order in which it computes.
///
/// ```
/// # use faultlens_core::{DType, Tensor};
/// # use faultlens_engine::onnx::ModelBuilder;
/// let mut model = ModelBuilder::new("small").opset(13);
/// model.input("x", DType::F32, &["N".into(), 4.into()]);
/// let w = model.initializer("w", Tensor::new(vec![4, 2], vec![0.5f32; 8])?);
/// model.node("Gemm", &["x", &w], &["y"]).name("fc").attr_f("alpha", 2.0);
/// model.output("y", DType::F32, &["N".into(), 2.into()]);
/// assert_eq!(model.build().graph.unwrap_or_default().node[0].op_type, "Gemm");
/// # Ok::<(), faultlens_core::TensorError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ModelBuilder {
    graph: GraphProto,
    opset_import: Vec<OperatorSetIdProto>,
}

impl ModelBuilder {
    /// An empty model whose graph has this name.
    pub fn new(name: &str) -> Self {
        let opset = OperatorSetIdProto { version: OPSET, ..Default::default() };
        Self {
            graph: GraphProto { name: name.to_owned(), ..Default::default() },
            opset_import: vec![opset],
        }
    }

    /// Another version of ONNX's own operators than 17, since their meaning depends on it.
    pub fn opset(mut self, version: i64) -> Self {
        self.opset_import[0].version = version;
        self
    }

    /// Adds an input.
    pub fn input(&mut self, name: &str, dtype: DType, dims: &[Dim]) -> &mut Self {
        self.graph.input.push(value_info(name, dtype, dims));
        self
    }

    /// Adds an output; a node or an input must make a value of this name.
    pub fn output(&mut self, name: &str, dtype: DType, dims: &[Dim]) -> &mut Self {
        self.graph.output.push(value_info(name, dtype, dims));
        self
    }

    /// States the type of a value in between, as exporters do after shape inference.
    pub fn value_info(&mut self, name: &str, dtype: DType, dims: &[Dim]) -> &mut Self {
        self.graph.value_info.push(value_info(name, dtype, dims));
        self
    }

    /// Adds a constant and gives its name back, ready to be a node's input.
    pub fn initializer(&mut self, name: &str, tensor: Tensor) -> String {
        self.graph.initializer.push(tensor_proto(name, &tensor));
        name.to_owned()
    }

    /// Adds a node; its name and attributes are set on what comes back.
    pub fn node(&mut self, op_type: &str, inputs: &[&str], outputs: &[&str]) -> NodeBuilder<'_> {
        let at = self.graph.node.len();
        self.graph.node.push(NodeProto {
            op_type: op_type.to_owned(),
            input: inputs.iter().map(|&name| name.to_owned()).collect(),
            output: outputs.iter().map(|&name| name.to_owned()).collect(),
            ..Default::default()
        });
        NodeBuilder { node: &mut self.graph.node[at], opset_import: &mut self.opset_import }
    }

    /// The graph alone, to be a branch or a loop's body in another model.
    pub fn build_graph(&self) -> GraphProto {
        self.graph.clone()
    }

    /// The model. Weights are shared with the builder, not copied.
    pub fn build(&self) -> ModelProto {
        ModelProto {
            ir_version: IR_VERSION,
            producer_name: "faultlens".to_owned(),
            producer_version: env!("CARGO_PKG_VERSION").to_owned(),
            opset_import: self.opset_import.clone(),
            graph: Some(self.build_graph()),
            ..Default::default()
        }
    }
}

/// The node just added; every method returns it again.
#[derive(Debug)]
pub struct NodeBuilder<'a> {
    node: &'a mut NodeProto,
    opset_import: &'a mut Vec<OperatorSetIdProto>,
}

impl NodeBuilder<'_> {
    /// Names the node, so that reports can point at it.
    pub fn name(self, name: &str) -> Self {
        self.node.name = name.to_owned();
        self
    }

    /// Takes the operator from another set, which the model then imports in version 1.
    pub fn domain(self, domain: &str) -> Self {
        self.node.domain = domain.to_owned();
        if self.opset_import.iter().all(|import| import.domain != domain) {
            let import =
                OperatorSetIdProto { domain: domain.to_owned(), version: 1, ..Default::default() };
            self.opset_import.push(import);
        }
        self
    }

    /// Sets an integer.
    pub fn attr_i(self, name: &str, value: i64) -> Self {
        self.attr(name, attribute_type::INT, |a| a.i = value)
    }

    /// Sets a list of integers.
    pub fn attr_ints(self, name: &str, values: &[i64]) -> Self {
        self.attr(name, attribute_type::INTS, |a| a.ints = values.to_vec())
    }

    /// Sets a float.
    pub fn attr_f(self, name: &str, value: f32) -> Self {
        self.attr(name, attribute_type::FLOAT, |a| a.f = value)
    }

    /// Sets a list of floats.
    pub fn attr_floats(self, name: &str, values: &[f32]) -> Self {
        self.attr(name, attribute_type::FLOATS, |a| a.floats = values.to_vec())
    }

    /// Sets a text.
    pub fn attr_s(self, name: &str, value: &str) -> Self {
        self.attr(name, attribute_type::STRING, |a| {
            a.s = Bytes::copy_from_slice(value.as_bytes());
        })
    }

    /// Sets a tensor.
    pub fn attr_t(self, name: &str, value: &Tensor) -> Self {
        self.attr(name, attribute_type::TENSOR, |a| {
            a.t = Some(Box::new(tensor_proto("", value)));
        })
    }

    /// Sets a subgraph.
    pub fn attr_g(self, name: &str, value: GraphProto) -> Self {
        self.attr(name, attribute_type::GRAPH, |a| a.g = Some(Box::new(value)))
    }

    fn attr(self, name: &str, kind: i32, set: impl FnOnce(&mut AttributeProto)) -> Self {
        let mut attribute =
            AttributeProto { name: name.to_owned(), r#type: kind, ..Default::default() };
        set(&mut attribute);
        self.node.attribute.push(attribute);
        self
    }
}

/// Declares an input, an output or a value in between.
pub fn value_info(name: &str, dtype: DType, dims: &[Dim]) -> ValueInfoProto {
    let dim = dims.iter().map(|dim| match dim {
        Dim::Fixed(length) => {
            DimensionProto { dim_value: Some(*length as i64), ..Default::default() }
        }
        Dim::Free(name) => DimensionProto { dim_param: name.clone(), ..Default::default() },
    });
    let shape = TensorShapeProto { dim: dim.collect(), ..Default::default() };
    let tensor_type =
        TensorTypeProto { elem_type: data_type(dtype), shape: Some(shape), ..Default::default() };
    ValueInfoProto {
        name: name.to_owned(),
        r#type: Some(TypeProto { tensor_type: Some(tensor_type), ..Default::default() }),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_imported_once() {
        let mut model = ModelBuilder::new("two").opset(11);
        model.node("A", &["x"], &["y"]).domain("own");
        model.node("B", &["y"], &["z"]).domain("own");
        let imports = model.build().opset_import;
        let imports: Vec<_> = imports.iter().map(|i| (i.domain.as_str(), i.version)).collect();
        assert_eq!(imports, [("", 11), ("own", 1)]);
    }

    #[test]
    fn axes_are_fixed_or_free() {
        let mut model = ModelBuilder::new("axes");
        model.input("x", DType::F32, &["N".into(), 0.into()]);
        let input = model.build_graph().input.remove(0);
        let shape = input.r#type.unwrap().tensor_type.unwrap().shape.unwrap();
        assert_eq!((shape.dim[0].dim_value, shape.dim[0].dim_param.as_str()), (None, "N"));
        assert_eq!((shape.dim[1].dim_value, shape.dim[1].dim_param.as_str()), (Some(0), ""));
    }
}
