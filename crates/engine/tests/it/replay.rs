//! Replays against whole runs of a model that has the change built in, bit for bit.

use crate::random_model::{RandomModel, Rng};
use faultlens_core::{DType, Tensor};
use faultlens_engine::onnx::{self, ModelProto, NodeProto};
use faultlens_engine::{Change, Edit, Golden, Model, ValueId};
use proptest::prelude::*;

/// The model with one element of an operator's output replaced by a `Where`, which no part of the
/// replay knows about.
fn with_value(proto: &ModelProto, golden: &Golden<'_>, change: Change) -> ModelProto {
    let name = golden.model().graph().value_name(change.value);
    let shape = golden.shape(change.value).unwrap().to_vec();
    let count: usize = shape.iter().product();
    let mut mask = vec![false; count];
    mask[change.element] = true;
    let new = vec![changed_float(golden, change); count];
    let mut changed = proto.clone();
    let graph = changed.graph.as_mut().unwrap();
    let before = format!("{name}/before");
    for output in graph.node.iter_mut().flat_map(|n| &mut n.output).filter(|o| *o == name) {
        output.clone_from(&before);
    }
    for (suffix, tensor) in [
        ("mask", Tensor::new(shape.clone(), mask).unwrap()),
        ("new", Tensor::new(shape, new).unwrap()),
    ] {
        graph.initializer.push(onnx::tensor_proto(&format!("{name}/{suffix}"), &tensor));
    }
    graph.node.push(NodeProto {
        op_type: "Where".into(),
        input: vec![format!("{name}/mask"), format!("{name}/new"), before],
        output: vec![name.to_owned()],
        ..Default::default()
    });
    changed
}

/// What a change makes of golden's element.
fn changed_float(golden: &Golden<'_>, change: Change) -> f32 {
    let before = golden.bits(change.value, change.element).unwrap();
    f32::from_bits(change.edit.of(before, DType::F32) as u32)
}

/// The model with one element of a weight replaced in the file.
fn with_weight(proto: &ModelProto, golden: &Golden<'_>, change: Change) -> ModelProto {
    let name = golden.model().graph().value_name(change.value);
    let mut changed = proto.clone();
    let graph = changed.graph.as_mut().unwrap();
    let weight = graph.initializer.iter_mut().find(|t| t.name == name).unwrap();
    let tensor = onnx::tensor(weight).unwrap();
    let mut data = tensor.as_f32().unwrap().to_vec();
    data[change.element] = changed_float(golden, change);
    *weight = onnx::tensor_proto(name, &Tensor::new(tensor.shape().to_vec(), data).unwrap());
    changed
}

fn same_bits(a: &[Tensor], b: &[Tensor]) -> bool {
    let same = |x: f32, y: f32| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| {
            a.shape() == b.shape()
                && a.as_f32().unwrap().iter().zip(b.as_f32().unwrap()).all(|(x, y)| same(*x, *y))
        })
}

/// A change that tests the extremes often: any bit, NaN, infinities, zero, a huge number.
fn some_change(golden: &Golden<'_>, value: ValueId, rng: &mut Rng) -> Change {
    let count: usize = golden.shape(value).unwrap().iter().product();
    let element = rng.below(count);
    match rng.below(12) {
        0 => Change::f32(value, element, f32::NAN),
        1 => Change::f32(value, element, f32::INFINITY),
        2 => Change::f32(value, element, f32::NEG_INFINITY),
        3 => Change::f32(value, element, 3e38),
        4 => Change::f32(value, element, 0.0),
        _ => Change::flip(golden, value, element, rng.below(32) as u32).unwrap(),
    }
}

/// Values that a change can be built into: floats that an operator of the file makes.
fn sites(golden: &Golden<'_>) -> Vec<ValueId> {
    let graph = golden.model().graph();
    let made = graph.operators().iter().flat_map(|o| o.makes());
    made.filter(|&v| golden.dtype(v) == Some(faultlens_core::DType::F32)).collect()
}

fn check_seed(seed: u64) -> Result<(), TestCaseError> {
    let RandomModel { proto, feeds } = RandomModel::new(seed);
    let model = Model::from_proto(&proto).unwrap();
    let feeds: Vec<(&str, Tensor)> = feeds.iter().map(|(n, t)| (n.as_str(), t.clone())).collect();
    let golden = model.golden(&feeds).unwrap();
    prop_assert!(same_bits(&model.run(&feeds).unwrap(), golden.outputs()), "fused run differs");
    let mut rng = Rng::new(seed ^ 0xfa17);
    let sites = sites(&golden);
    let weights: Vec<ValueId> = model
        .graph()
        .initializers()
        .map(|(v, _)| v)
        .filter(|&v| model.graph().value_name(v).starts_with('w'))
        .collect();
    let mut trials = Vec::new();
    let mut wanted = Vec::new();
    for round in 0..10 {
        let (change, changed) = if round % 3 == 2 && !weights.is_empty() {
            let weight = weights[rng.below(weights.len())];
            let change = some_change(&golden, weight, &mut rng);
            (change, with_weight(&proto, &golden, change))
        } else {
            let change = some_change(&golden, sites[rng.below(sites.len())], &mut rng);
            (change, with_value(&proto, &golden, change))
        };
        let want = Model::from_proto(&changed).unwrap().run(&feeds).unwrap();
        let alone = golden.replay(&[change]).unwrap();
        let name = model.graph().value_name(change.value);
        prop_assert!(same_bits(alone.outputs(), &want), "{name} {change:?}");
        prop_assert_eq!(alone.reached_output(), !same_bits(&want, golden.outputs()));
        trials.push(vec![change]);
        wanted.push(want);
    }
    for (replay, want) in golden.replay_stack(&trials).into_iter().zip(&wanted) {
        prop_assert!(same_bits(replay.unwrap().outputs(), want), "stacked");
    }
    Ok(())
}

/// Where two places are hit, each change meets what a whole run with the other one built in has
/// there.
#[test]
fn changes_meet_what_the_others_have_made() {
    let mut moved = 0;
    for seed in 0..60 {
        let RandomModel { proto, feeds } = RandomModel::new(seed);
        let model = Model::from_proto(&proto).unwrap();
        let feeds: Vec<(&str, Tensor)> =
            feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
        let golden = model.golden(&feeds).unwrap();
        let mut rng = Rng::new(seed ^ 0x3e7);
        let sites = sites(&golden);
        for _ in 0..6 {
            let first = some_change(&golden, sites[rng.below(sites.len())], &mut rng);
            let second = some_change(&golden, sites[rng.below(sites.len())], &mut rng);
            if first.value == second.value {
                continue;
            }
            let met = golden.met(&[first, second]);
            for (own, other, met) in [(first, second, met[0]), (second, first, met[1])] {
                let changed = Model::from_proto(&with_value(&proto, &golden, other)).unwrap();
                let run = changed.golden(&feeds).unwrap();
                let name = model.graph().value_name(own.value);
                let wanted = run.bits(changed.graph().find(name).unwrap(), own.element).unwrap();
                let met = met.unwrap();
                let number = |bits: u64| f32::from_bits(bits as u32);
                let both_nan = number(met.before).is_nan() && number(wanted).is_nan();
                assert!(met.before == wanted || both_nan, "seed {seed}: {name} {own:?} {other:?}");
                assert_eq!(met.after, own.edit.of(met.before, DType::F32));
                moved += usize::from(golden.bits(own.value, own.element) != Some(met.before));
            }
        }
    }
    assert!(moved > 20, "only {moved} changes met another number than golden's");
}

/// Several changes of one element follow each other, and one that the run never comes to has met
/// nothing.
#[test]
fn changes_of_one_element_follow_each_other() {
    let mut builder = onnx::ModelBuilder::new("short");
    builder.input("x", DType::F32, &[3.into()]);
    builder.initializer("limit", Tensor::vector(vec![3i64]));
    builder.node("Relu", &["x"], &["live"]);
    builder.node("Reshape", &["live", "limit"], &["flat"]);
    builder.node("Neg", &["flat"], &["y"]);
    builder.output("y", DType::F32, &[3.into()]);
    let model = Model::from_proto(&builder.build()).unwrap();
    let golden = model.golden(&[("x", Tensor::vector(vec![1.0f32, 2.0, 3.0]))]).unwrap();
    let id = |name: &str| model.graph().find(name).unwrap();
    let double = Change { value: id("live"), element: 1, edit: Edit::Scale(2.0) };
    let sign = Change { value: id("y"), element: 1, edit: Edit::Flip(1 << 31) };
    let met = golden.met(&[double, sign, double]);
    let numbers: Vec<[f32; 2]> = met
        .iter()
        .map(|met| met.unwrap())
        .map(|met| [met.before, met.after].map(|bits| f32::from_bits(bits as u32)))
        .collect();
    assert_eq!(numbers, [[2.0, 4.0], [-8.0, 8.0], [4.0, 8.0]]);
    let breaks = Change { value: id("limit"), element: 0, edit: Edit::Set(7) };
    let met = golden.met(&[sign, breaks]);
    assert_eq!((met[0], met[1].map(|met| met.after)), (None, Some(7)));
}

/// Every reader of every value, run again on golden operands, answers golden to the bit.
#[test]
fn unchanged_values_recompute_to_the_same_bits() {
    for seed in 0..60 {
        let RandomModel { proto, feeds } = RandomModel::new(seed);
        let model = Model::from_proto(&proto).unwrap();
        let feeds: Vec<(&str, Tensor)> =
            feeds.iter().map(|(name, tensor)| (name.as_str(), tensor.clone())).collect();
        let golden = model.golden(&feeds).unwrap();
        for value in model.graph().value_ids().filter(|&v| golden.shape(v).is_some()) {
            let replay = golden.recompute(value).unwrap();
            let name = model.graph().value_name(value);
            assert!(!replay.reached_output(), "seed {seed}, value {name}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// Random graphs, random sites, random bits: a replay has the bits of the whole run, alone
    /// and stacked, for operator outputs and for weights.
    #[test]
    fn replays_equal_whole_runs(seed in any::<u64>()) {
        check_seed(seed)?;
    }
}

/// A later change meets what an earlier one has made of its element, not golden's number.
#[test]
fn changes_add_up_along_the_way() {
    let mut proto = onnx::ModelBuilder::new("chain");
    proto.input("x", DType::F32, &[1.into(), 3.into()]);
    proto.node("Relu", &["x"], &["y"]);
    proto.node("Neg", &["y"], &["z"]);
    proto.output("z", DType::F32, &[1.into(), 3.into()]);
    let model = Model::from_proto(&proto.build()).unwrap();
    let x = Tensor::new(vec![1, 3], vec![1.0f32, 2.0, 3.0]).unwrap();
    let golden = model.golden(&[("x", x)]).unwrap();
    let id = |name| model.graph().find(name).unwrap();
    let set = Change::f32(id("y"), 1, 8.0);
    let double = |value, element| Change { value, element, edit: Edit::Scale(2.0) };
    let sign = Change { value: id("z"), element: 2, edit: Edit::Flip(1 << 31) };
    let replay = golden.replay(&[set, double(id("z"), 1), sign, double(id("z"), 2)]).unwrap();
    assert_eq!(replay.outputs()[0].as_f32(), Some(&[-1.0f32, -16.0, 6.0][..]));
}
