//! Activations that are clipped to what undisturbed runs show.

use super::tallies::TrialKind;
use super::work::Work;
use super::{Cost, Protection};
use faultlens_core::{OutcomeKind, Tensor, TensorData};
use faultlens_engine::{Golden, Graph, Operator, ValueId};
use std::collections::BTreeSet;

/// # What it does
/// Clips the output of every activation, and of the pooling, concatenation and reshaping behind
/// it, to the range that it has in undisturbed runs (Ranger: Chen, Li and Pattabiraman, DSN 2021).
/// Every value has the range that was seen in it; the paper hands those of activations on.
/// # What it repairs
/// Values that a fault has made too large, wherever it came from; infinities too. Not a number
/// that is none, which passes every clip, nor a change within the range. The model's outputs are
/// not clipped, and the clips themselves are taken to be free of faults.
pub(super) struct Ranges;

impl Protection for Ranges {
    fn name(&self) -> &'static str {
        super::RANGES
    }

    fn about(&self) -> &'static str {
        "clips activations to the range of undisturbed runs: repairs what a fault made too large"
    }

    fn is_selective(&self) -> bool {
        false
    }

    fn label(&self, _layers: usize) -> String {
        "clipping activations".to_owned()
    }

    fn fits(&self, work: &Work, _layer: u32) -> bool {
        work.clipped > 0
    }

    fn reach<'k>(&self, _kind: &'k TrialKind) -> &'k [u32] {
        &[]
    }

    fn after(&self, kind: &TrialKind, _layers: &BTreeSet<u32>) -> OutcomeKind {
        kind.clipped.unwrap_or(kind.before)
    }

    /// Two comparisons for each element, which count as much as multiplying and adding.
    fn cost(&self, work: &Work, _layers: &BTreeSet<u32>) -> Cost {
        work.cost(work.clipped, 0)
    }
}

const ACTIVATIONS: &[&str] = &[
    "Celu",
    "Clip",
    "Elu",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Mish",
    "PRelu",
    "Relu",
    "Selu",
    "Sigmoid",
    "Softmax",
    "Softplus",
    "Softsign",
    "Swish",
    "Tanh",
    "ThresholdedRelu",
];

/// What hands on the numbers that it reads, or their means.
const FOLLOWING: &[&str] = &[
    "AveragePool",
    "Concat",
    "DepthToSpace",
    "Dropout",
    "Flatten",
    "GlobalAveragePool",
    "GlobalMaxPool",
    "Identity",
    "MaxPool",
    "Reshape",
    "Slice",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
];

/// The values to clip, in the order of execution.
pub(super) fn clipped(graph: &Graph) -> Vec<ValueId> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for id in graph.operator_ids() {
        let operator = graph.operator(id);
        let kind = operator.op_type.as_str();
        let clips = ACTIVATIONS.contains(&kind)
            || is_gated(graph, operator)
            || (FOLLOWING.contains(&kind) && operator.reads().any(|value| seen.contains(&value)));
        let outputs = operator.outputs.iter().take(if kind == "Split" { usize::MAX } else { 1 });
        for &output in outputs.flatten().filter(|_| clips) {
            if !graph.outputs().contains(&output) && seen.insert(output) {
                found.push(output);
            }
        }
    }
    found
}

/// Whether an operator is the product of a number and its sigmoid, as exporters write SiLU and
/// hard swish.
fn is_gated(graph: &Graph, operator: &Operator) -> bool {
    let [Some(a), Some(b)] = operator.inputs[..] else { return false };
    let opens = |gate: ValueId, value: ValueId| {
        graph.producer(gate).is_some_and(|maker| {
            let maker = graph.operator(maker);
            let sigmoid = ["Sigmoid", "HardSigmoid"].contains(&maker.op_type.as_str());
            sigmoid && maker.reads().any(|read| read == value)
        })
    };
    operator.op_type == "Mul" && (opens(a, b) || opens(b, a))
}

/// The least and the greatest number of a value.
pub(super) type Range = (f32, f32);

/// By value of [`clipped`], its range in a run; `None` where it cannot be clipped: it holds no
/// floats, follows from weights alone, or is not finite even undisturbed.
pub(super) fn seen(golden: &Golden<'_>, values: &[ValueId]) -> Vec<Option<Range>> {
    values
        .iter()
        .map(|&id: &ValueId| {
            let tensor = golden.value(id).filter(|_| !golden.is_constant(id))?;
            let start = (f32::INFINITY, f32::NEG_INFINITY);
            numbers(&tensor)?
                .try_fold(start, |(low, high): Range, x: f32| {
                    x.is_finite().then(|| (low.min(x), high.max(x)))
                })
                .filter(|(low, high)| low <= high)
        })
        .collect()
}

/// The range over several runs, widened by a share of its width on either side. What one run
/// cannot clip is not clipped at all.
pub(super) fn together<'r>(
    runs: impl Iterator<Item = &'r Vec<Option<Range>>>,
    margin: f64,
) -> Vec<Option<Range>> {
    let mut runs = runs;
    let Some(first) = runs.next() else { return Vec::new() };
    let ranges = runs.fold(first.clone(), |a: Vec<Option<Range>>, b: &Vec<Option<Range>>| {
        a.into_iter()
            .zip(b)
            .map(|(a, b)| a.zip(*b).map(|(a, b): (Range, Range)| (a.0.min(b.0), a.1.max(b.1))))
            .collect()
    });
    ranges.into_iter().map(|range| range.map(|range| widened(range, margin))).collect()
}

fn widened((low, high): Range, margin: f64) -> Range {
    if margin == 0.0 {
        return (low, high);
    }
    let by = margin * (f64::from(high) - f64::from(low));
    let limit = |x: f64| x.clamp(f64::from(f32::MIN), f64::from(f32::MAX)) as f32;
    (limit(f64::from(low) - by), limit(f64::from(high) + by))
}

/// Whether a run has a number beyond its value's limits.
pub(super) fn exceeds(golden: &Golden<'_>, limits: &[(ValueId, Range)]) -> bool {
    limits.iter().any(|&(id, (low, high))| {
        let tensor = golden.value(id);
        tensor.is_some_and(|tensor| {
            numbers(&tensor).is_some_and(|mut all| all.any(|x: f32| x < low || x > high))
        })
    })
}

/// The elements of a tensor of floats, as the engine computes with them.
fn numbers(tensor: &Tensor) -> Option<Box<dyn Iterator<Item = f32> + '_>> {
    match tensor.data() {
        TensorData::F32(all) => Some(Box::new(all.iter().copied())),
        TensorData::F16(all) => Some(Box::new(all.iter().map(|x| x.to_f32()))),
        TensorData::BF16(all) => Some(Box::new(all.iter().map(|x| x.to_f32()))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::DType;
    use faultlens_engine::Model;
    use faultlens_engine::onnx::ModelBuilder;

    fn names(nodes: &[(&str, &[&str], &[&str])]) -> Vec<String> {
        let mut model = ModelBuilder::new("chain");
        model.input("x", DType::F32, &[1.into(), 4.into()]);
        for (kind, inputs, outputs) in nodes {
            model.node(kind, inputs, outputs);
        }
        model.output("y", DType::F32, &[1.into(), 4.into()]);
        let graph = Graph::new(&model.build()).unwrap();
        clipped(&graph).into_iter().map(|id| graph.value_name(id).to_owned()).collect()
    }

    #[test]
    fn activations_and_what_hands_them_on_are_clipped() {
        let chain = names(&[
            ("Identity", &["x"], &["before"]),
            ("Relu", &["before"], &["a"]),
            ("Flatten", &["a"], &["b"]),
            ("Neg", &["b"], &["c"]),
            ("Flatten", &["c"], &["d"]),
            ("Sigmoid", &["d"], &["gate"]),
            ("Mul", &["gate", "d"], &["silu"]),
            ("Mul", &["gate", "x"], &["scaled"]),
            ("Relu", &["scaled"], &["y"]),
        ]);
        assert_eq!(chain, ["a", "b", "gate", "silu"]);
    }

    #[test]
    fn ranges_join_and_widen() {
        let runs = [vec![Some((0.0, 2.0)), Some((1.0, 1.0))], vec![Some((-1.0, 1.0)), None]];
        assert_eq!(together(runs.iter(), 0.0), [Some((-1.0, 2.0)), None]);
        assert_eq!(together(runs[..1].iter(), 0.5), [Some((-1.0, 3.0)), Some((1.0, 1.0))]);
        let vast = [vec![Some((f32::MIN, f32::MAX))]];
        assert_eq!(together(vast.iter(), 0.5), [Some((f32::MIN, f32::MAX))]);
        assert_eq!(together(vast.iter(), 0.0), [Some((f32::MIN, f32::MAX))]);
        assert_eq!(together([].iter(), 0.0), []);
    }

    #[test]
    fn what_is_not_finite_has_no_range() {
        let mut builder = ModelBuilder::new("relu");
        builder.input("x", DType::F32, &[3.into()]);
        builder.node("Relu", &["x"], &["a"]);
        builder.node("Neg", &["a"], &["y"]);
        builder.output("y", DType::F32, &[3.into()]);
        let model = Model::from_proto(&builder.build()).unwrap();
        let values = clipped(model.graph());
        let run = |x: [f32; 3]| {
            let golden = model.golden(&[("x", Tensor::vector(x.to_vec()))]).unwrap();
            (seen(&golden, &values), exceeds(&golden, &[(values[0], (0.0, 2.0))]))
        };
        assert_eq!(run([-1.0, 2.0, 1.0]), (vec![Some((0.0, 2.0))], false));
        assert_eq!(run([-1.0, 2.5, 1.0]), (vec![Some((0.0, 2.5))], true));
        assert_eq!(run([f32::INFINITY, 0.0, 0.0]), (vec![None], true));
        // Passes every clip, and so is no alarm.
        assert_eq!(run([f32::NAN, 0.0, 0.0]), (vec![None], false));
    }
}
