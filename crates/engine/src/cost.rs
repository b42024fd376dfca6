//! What a model computes, in multiply-accumulates: the measure in which protections are paid.

use crate::golden::Golden;
use crate::graph::{Operator, OperatorId, ValueId};

/// Multiplications that are each followed by an addition: the usual measure of a model's work.
/// Only convolutions, matrix products and recurrent cells count; `shape` gives the shape of any
/// value. 0 where a shape is unknown.
pub fn macs(operator: &Operator, shape: impl Fn(ValueId) -> Option<Vec<usize>>) -> u64 {
    let input = |at: usize| shape(*operator.inputs.get(at)?.as_ref()?);
    let output = || shape(operator.makes().next()?);
    let convolution = |weight: usize| {
        let weight = input(weight)?;
        Some(product(&output()?) * product(weight.get(1..)?))
    };
    let counted = || match operator.op_type.as_str() {
        // Each output element sums over the weights of one filter.
        "Conv" | "ConvInteger" | "FusedConv" => convolution(1),
        "QLinearConv" => convolution(3),
        // The other way round: each input element meets all weights of its channel.
        "ConvTranspose" => Some(product(&input(0)?) * product(input(1)?.get(1..)?)),
        "MatMul" | "MatMulInteger" | "FusedMatMul" | "QLinearMatMul" | "DynamicQuantizeMatMul" => {
            Some(product(&output()?) * *input(0)?.last()? as u64)
        }
        // The depth follows from the number of elements, whichever side is transposed.
        "Gemm" | "QGemm" => {
            let output = output()?;
            let inner = product(&input(0)?) / (*output.first()? as u64).max(1);
            Some(product(&output) * inner)
        }
        // Every step of every sequence meets both matrices, in one direction or two.
        "RNN" | "GRU" | "LSTM" => {
            let [steps, batch, _] = input(0)?[..] else { return None };
            let matrices = product(&input(1)?) + product(&input(2)?);
            Some(product(&[steps, batch]) * matrices)
        }
        _ => None,
    };
    counted().unwrap_or(0)
}

impl Golden<'_> {
    /// The multiply-accumulates of one operator in this run; see [`macs`]. What follows from
    /// weights alone is computed once and costs nothing.
    pub fn macs(&self, id: OperatorId) -> u64 {
        let operator = self.model().graph().operator(id);
        if operator.makes().all(|value| self.is_constant(value)) {
            return 0;
        }
        macs(operator, |value| Some(self.shape(value)?.to_vec()))
    }

    /// How many elements a value has in this run; 0 where it was not computed.
    pub fn elements(&self, id: ValueId) -> u64 {
        self.shape(id).map_or(0, product)
    }
}

fn product(sides: &[usize]) -> u64 {
    sides.iter().map(|&side| side as u64).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Graph;
    use crate::onnx::ModelBuilder;
    use crate::{Dim, Model};
    use faultlens_core::{DType, Tensor};

    /// An operator `y = op(a, b, c, d)` with these shapes, counted.
    fn count(op_type: &str, inputs: &[&[usize]], y: &[usize]) -> u64 {
        let names = ["a", "b", "c", "d"];
        let mut model = ModelBuilder::new("one operator");
        for name in &names[..inputs.len()] {
            model.input(name, DType::F32, &[]);
        }
        model.node(op_type, &names[..inputs.len()], &["y"]);
        model.output("y", DType::F32, &[]);
        let graph = Graph::new(&model.build()).unwrap();
        macs(&graph.operators()[0], |value| {
            let at = names.iter().position(|name| *name == graph.value_name(value));
            Some(at.map_or(y, |at| inputs[at]).to_vec())
        })
    }

    #[test]
    fn products_count_their_multiplications() {
        for (op_type, inputs, y, wanted) in [
            // 4×5×5 outputs, each from 3 channels of 3×3
            ("Conv", &[&[1, 3, 5, 5][..], &[4, 3, 3, 3]][..], &[1, 4, 5, 5][..], 4 * 25 * 27),
            // two groups: each output from 4 of the 8 channels
            ("Conv", &[&[1, 8, 5, 5], &[6, 4, 3, 3]], &[1, 6, 5, 5], 6 * 25 * 4 * 9),
            // depthwise, two images: each output from one channel
            ("Conv", &[&[2, 8, 5, 5], &[8, 1, 3, 3]], &[2, 8, 5, 5], 2 * 8 * 25 * 9),
            // each input element goes to 2 channels of 2×2
            ("ConvTranspose", &[&[1, 3, 5, 5], &[3, 2, 2, 2]], &[1, 2, 10, 10], 75 * 8),
            ("QLinearConv", &[&[1, 3, 5, 5], &[], &[], &[4, 3, 1, 1]], &[1, 4, 5, 5], 100 * 3),
            ("MatMul", &[&[2, 7, 5], &[5, 3]], &[2, 7, 3], 42 * 5),
            ("Gemm", &[&[2, 5], &[5, 3]], &[2, 3], 6 * 5),
            // the first matrix transposed
            ("Gemm", &[&[5, 2], &[5, 3]], &[2, 3], 6 * 5),
            // 7 steps of 2 sequences, 4 gates of 3 from 5 inputs and 3 states
            ("LSTM", &[&[7, 2, 5], &[1, 12, 5], &[1, 12, 3]], &[7, 1, 2, 3], 14 * 12 * 8),
            ("Add", &[&[2, 5], &[2, 5]], &[2, 5], 0),
        ] {
            assert_eq!(count(op_type, inputs, y), wanted, "{op_type} {inputs:?}");
        }
    }

    #[test]
    fn a_run_counts_what_it_computes() {
        let mut builder = ModelBuilder::new("two layers");
        let side = || Dim::from(2);
        builder.input("x", DType::F32, &[1.into(), side()]);
        builder.initializer("w", Tensor::new(vec![2, 2], vec![1.0f32; 4]).unwrap());
        // From weights alone: not part of any inference.
        builder.node("MatMul", &["w", "w"], &["squared"]);
        builder.node("MatMul", &["x", "squared"], &["a"]);
        builder.node("Relu", &["a"], &["y"]);
        builder.output("y", DType::F32, &[1.into(), side()]);
        let model = Model::from_proto(&builder.build()).unwrap();
        let x = Tensor::new(vec![1, 2], vec![1.0f32, 2.0]).unwrap();
        let golden = model.golden(&[("x", x)]).unwrap();
        let counts: Vec<u64> = model.graph().operator_ids().map(|id| golden.macs(id)).collect();
        assert_eq!(counts, [0, 4, 0]);
        assert_eq!(golden.elements(model.graph().find("y").unwrap()), 2);
    }
}
