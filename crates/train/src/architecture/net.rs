//! A network that grows layer by layer: the names, the sizes, and the way to a blueprint.
//! The layers themselves are in `layers.rs`.

use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{Dim, ModelBuilder, NodeBuilder, NodeProto};

use super::request::Request;
use super::weights::{Blueprint, Init, Weight};

/// The free axis of images that are asked about together.
const BATCH: &str = "N";

/// A value of the graph: its name, and its axes behind the batch.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) dims: Vec<usize>,
}

impl Value {
    /// Channels of a plane, or features of a row.
    pub(super) fn channels(&self) -> usize {
        self.dims[0]
    }

    pub(super) fn height(&self) -> usize {
        self.dims[1]
    }

    pub(super) fn width(&self) -> usize {
        self.dims[2]
    }

    /// Elements for each image.
    pub(super) fn len(&self) -> usize {
        self.dims.iter().product()
    }
}

/// A network that grows. A node and the value that it makes share their name.
#[derive(Debug)]
pub(super) struct Net {
    model: ModelBuilder,
    weights: Vec<Weight>,
    /// Values that the outside knows by other names than their nodes have.
    labels: Vec<(String, String)>,
}

impl Net {
    /// An empty network and its only input.
    pub(super) fn new(name: &str, input: &str, dims: &[usize]) -> (Self, Value) {
        let mut model = ModelBuilder::new(name);
        model.input(input, DType::F32, &with_batch(dims));
        let net = Self { model, weights: Vec::new(), labels: Vec::new() };
        (net, Value { name: input.to_owned(), dims: dims.to_vec() })
    }

    /// An empty network that looks at the images asked for.
    pub(super) fn of_image(request: &Request) -> (Self, Value) {
        let spec = request.spec;
        Self::new(request.name(), "image", &[spec.channels, spec.height, spec.width])
    }

    /// Makes the value an output under this name.
    pub(super) fn output(&mut self, x: &Value, name: &str) {
        self.model.output(name, DType::F32, &with_batch(&x.dims));
        self.label(x, name);
    }

    /// Gives the value a name that others can rely on.
    pub(super) fn label(&mut self, x: &Value, name: &str) {
        self.labels.push((x.name.clone(), name.to_owned()));
    }

    /// The network whose only output is this value.
    pub(super) fn finish_with(mut self, x: &Value, name: &str) -> Blueprint {
        self.output(x, name);
        self.finish()
    }

    /// The network, when its outputs are stated.
    pub(super) fn finish(self) -> Blueprint {
        let mut model = self.model.build();
        for node in model.graph.iter_mut().flat_map(|graph| &mut graph.node) {
            relabel(node, &self.labels);
        }
        Blueprint { model, weights: self.weights }
    }

    /// Adds a node; its attributes are set on what comes back beside its value.
    pub(super) fn node(
        &mut self,
        name: &str,
        op_type: &str,
        inputs: &[&str],
        dims: &[usize],
    ) -> (Value, NodeBuilder<'_>) {
        let node = self.model.node(op_type, inputs, &[name]).name(name);
        (Value { name: name.to_owned(), dims: dims.to_vec() }, node)
    }

    /// Adds a node with outputs of other names, left empty where nobody reads them.
    pub(super) fn node_with_outputs(
        &mut self,
        name: &str,
        op_type: &str,
        inputs: &[&str],
        outputs: &[&str],
    ) -> NodeBuilder<'_> {
        self.model.node(op_type, inputs, outputs).name(name)
    }

    /// Adds a weight that training changes, and gives its name.
    pub(super) fn weight(
        &mut self,
        module: &str,
        part: &str,
        shape: &[usize],
        init: Init,
    ) -> String {
        let name = format!("{module}.{part}");
        self.weights.push(Weight { name: name.clone(), shape: shape.to_vec(), init });
        name
    }

    /// Adds numbers that training leaves alone, and gives their name.
    pub(super) fn constant(&mut self, name: &str, shape: &[usize], values: Vec<f32>) -> String {
        let tensor = Tensor::new(shape.to_vec(), values).expect("as many values as the shape has");
        self.model.initializer(name, tensor)
    }

    /// Adds whole numbers, such as a shape or axes, and gives their name.
    pub(super) fn integers(&mut self, name: &str, values: &[i64]) -> String {
        self.model.initializer(name, Tensor::vector(values.to_vec()))
    }
}

fn with_batch(dims: &[usize]) -> Vec<Dim> {
    let lengths = dims.iter().map(|&length| Dim::from(length));
    std::iter::once(BATCH.into()).chain(lengths).collect()
}

fn relabel(node: &mut NodeProto, labels: &[(String, String)]) {
    for value in node.input.iter_mut().chain(&mut node.output) {
        if let Some((_, label)) = labels.iter().find(|(name, _)| name == value) {
            value.clone_from(label);
        }
    }
}
