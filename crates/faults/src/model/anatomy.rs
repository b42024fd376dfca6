//! A model's layers: what engineers see where the file has single operators.

use super::control::control_values;
use faultlens_engine::{Graph, OperatorId, ValueId};
use std::collections::BTreeSet;

/// Operators that multiply what they read with weights; each starts a layer.
const WEIGHTED: &[&str] = &[
    "Conv",
    "ConvInteger",
    "ConvTranspose",
    "DynamicQuantizeLSTM",
    "DynamicQuantizeMatMul",
    "FusedConv",
    "FusedMatMul",
    "GRU",
    "Gemm",
    "LSTM",
    "MatMul",
    "MatMulInteger",
    "QGemm",
    "QLinearConv",
    "QLinearMatMul",
    "RNN",
];

/// Which layer every operator belongs to. A layer is an operator with weights, such as a
/// convolution, and all that follows up to the next one: bias, norm, activation, pooling.
/// Layers count from 1; what comes before the first one is layer 0.
#[derive(Debug, Clone)]
pub struct Anatomy {
    /// By operator.
    layers: Vec<u32>,
    /// By layer, from layer 0, the operator that starts it.
    names: Vec<String>,
    /// Values that follow from weights alone.
    constant: BTreeSet<ValueId>,
    /// Values that only steer the run.
    control: BTreeSet<ValueId>,
}

impl Anatomy {
    /// The layers of a graph.
    pub fn of(graph: &Graph) -> Self {
        let constant = graph.initializers().map(|(id, _)| id).collect();
        let mut anatomy = Self {
            layers: vec![0; graph.operators().len()],
            names: vec!["input".to_owned()],
            constant,
            control: control_values(graph),
        };
        for id in graph.operator_ids() {
            anatomy.place(graph, id);
        }
        anatomy
    }

    fn place(&mut self, graph: &Graph, id: OperatorId) {
        let operator = graph.operator(id);
        // An operator that reads nothing makes a constant too.
        if operator.reads().all(|value| self.is_constant(value)) {
            self.constant.extend(operator.makes());
            return;
        }
        // A constant vector is a bias; weights have at least two axes.
        let reads_weights = operator.reads().any(|value| {
            self.is_constant(value) && graph.initializer(value).is_none_or(|t| t.shape().len() > 1)
        });
        let starts_layer = reads_weights && WEIGHTED.contains(&operator.op_type.as_str());
        self.layers[id.index()] = if starts_layer {
            self.names.push(operator.name.clone());
            self.names.len() as u32 - 1
        } else {
            let makers = operator.reads().filter_map(|value| graph.producer(value));
            makers.map(|maker| self.layers[maker.index()]).max().unwrap_or(0)
        };
    }

    /// The layer that an operator belongs to.
    pub fn layer(&self, operator: OperatorId) -> u32 {
        self.layers.get(operator.index()).copied().unwrap_or(0)
    }

    /// The number of the last layer.
    pub fn last(&self) -> u32 {
        self.names.len() as u32 - 1
    }

    /// The operator that starts a layer; `input` for layer 0.
    pub fn name(&self, layer: u32) -> &str {
        self.names.get(layer as usize).map_or("", String::as_str)
    }

    /// Whether a value follows from weights alone.
    pub fn is_constant(&self, value: ValueId) -> bool {
        self.constant.contains(&value)
    }

    /// Whether a value only steers the run: every way from it to an output leads through an input
    /// that decides a shape, a position or a limit.
    pub fn is_control(&self, value: ValueId) -> bool {
        self.control.contains(&value)
    }

    /// Where a layer stands between input (0) and answer (1).
    pub(super) fn depth(&self, layer: u32) -> f64 {
        f64::from(layer) / f64::from(self.last().max(1))
    }

    /// The operator that a value belongs to: its maker, or where it is a weight or an input its
    /// first reader. A weight that is only turned into another form, such as a dequantised one,
    /// belongs to who reads that.
    pub fn owner(&self, graph: &Graph, id: ValueId) -> Option<OperatorId> {
        if let Some(maker) = graph.producer(id).filter(|_| !self.is_constant(id)) {
            return Some(maker);
        }
        let mut at = id;
        loop {
            let reader = *graph.consumers(at).first()?;
            let mut made = graph.operator(reader).makes();
            match made.find(|&made| self.is_constant(made)) {
                Some(made) if !graph.consumers(made).is_empty() => at = made,
                _ => return Some(reader),
            }
        }
    }

    /// The layer that a value belongs to: its owner's.
    pub fn layer_of_value(&self, graph: &Graph, id: ValueId) -> u32 {
        self.owner(graph, id).map_or(0, |owner| self.layer(owner))
    }

    /// Whether an operator only turns weights into another form.
    pub(super) fn is_constant_operator(&self, graph: &Graph, id: OperatorId) -> bool {
        graph.operator(id).makes().any(|made| self.is_constant(made))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{DType, Tensor};
    use faultlens_engine::Model;
    use faultlens_engine::onnx::ModelBuilder;

    #[test]
    fn a_layer_runs_from_weights_to_weights() {
        let mut model = ModelBuilder::new("block");
        model.input("x", DType::F32, &[1.into(), 1.into(), 4.into(), 4.into()]);
        let kernel = |n| Tensor::new(vec![1, 1, 1, 1], vec![n as f32]).unwrap();
        model.initializer("w1", kernel(1));
        model.initializer("w2", kernel(2));
        model.initializer("half", Tensor::new(vec![1], vec![0.5f32]).unwrap());
        model.node("Mul", &["x", "half"], &["scaled"]);
        model.node("Conv", &["scaled", "w1"], &["a"]);
        model.node("Relu", &["a"], &["b"]);
        model.node("Neg", &["w2"], &["turned"]);
        model.node("Conv", &["b", "turned"], &["c"]);
        model.node("Add", &["b", "c"], &["d"]);
        // No weights: both sides are computed.
        model.node("MatMul", &["d", "d"], &["y"]);
        model.output("y", DType::F32, &[1.into(), 1.into(), 4.into(), 4.into()]);
        let model = Model::from_proto(&model.build()).unwrap();
        let graph = model.graph();
        let anatomy = Anatomy::of(graph);
        let layer = |name| anatomy.layer_of_value(graph, graph.find(name).unwrap());
        let layers = ["scaled", "a", "b", "c", "d", "y"].map(layer);
        assert_eq!(layers, [0, 1, 1, 2, 2, 2]);
        assert_eq!(["x", "half", "w1", "w2", "turned"].map(layer), [0, 0, 1, 2, 2]);
        assert_eq!((anatomy.last(), anatomy.name(0)), (2, "input"));
        assert_eq!((anatomy.depth(1), anatomy.depth(2)), (0.5, 1.0));
    }
}
