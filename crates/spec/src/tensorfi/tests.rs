//! Files of both versions against one small model.

use super::super::{Campaign, Source};
use super::*;
use faultlens_core::{DType, Tensor};
use faultlens_engine::Model;
use faultlens_engine::onnx::ModelBuilder;
use faultlens_targets::PartialDescription;

/// Two convolutions, the first with a norm, the second with a bias of its own; two Relus; a Mul
/// with a number that nobody trains; a matrix product.
fn model() -> Model {
    let mut model = ModelBuilder::new("small");
    let tensor = |shape: &[usize]| {
        Tensor::new(shape.to_vec(), vec![0.5f32; shape.iter().product()]).unwrap()
    };
    model.input("x", DType::F32, &[1.into(), 1.into(), 4.into(), 4.into()]);
    for (name, shape) in [
        ("half", &[1][..]),
        ("w1", &[1, 1, 1, 1]),
        ("scale", &[1]),
        ("shift", &[1]),
        ("mean", &[1]),
        ("var", &[1]),
        ("w2", &[1, 1, 1, 1]),
        ("b2", &[1, 1, 1]),
        ("w3", &[4, 2]),
    ] {
        model.initializer(name, tensor(shape));
    }
    // Made from weights alone: part of no inference.
    model.node("Relu", &["w2"], &["k2"]);
    model.node("Mul", &["x", "half"], &["scaled"]);
    model.node("Conv", &["scaled", "w1"], &["c1"]);
    model.node("BatchNormalization", &["c1", "scale", "shift", "mean", "var"], &["n1"]);
    model.node("Relu", &["n1"], &["r1"]);
    model.node("Conv", &["r1", "w1"], &["c2"]);
    model.node("Add", &["c2", "b2"], &["a2"]);
    model.node("Relu", &["a2"], &["r2"]);
    model.node("MatMul", &["r2", "w3"], &["y"]);
    model.output("y", DType::F32, &[1.into(), 1.into(), 4.into(), 2.into()]);
    Model::from_proto(&model.build()).unwrap()
}

const ASKED: Asked<'_> = Asked {
    model: "world:signs-shallow",
    written: &PartialDescription { input: None, output: None, labels: None },
    data: "world:signs:4",
    sample: None,
    trials: 100,
    judged: Judged::Labelled,
};

fn translated(text: &str) -> Result<(Translation, Campaign), String> {
    let path = Path::new("conf.yaml");
    let file = TensorFi::parse(text, path).map_err(|error| error.to_string())?;
    let campaign = file.campaign(&ASKED, model().graph()).map_err(|error| error.to_string())?;
    let read = Campaign::parse(&campaign.text, path).map_err(|error| error.to_string())?;
    Ok((campaign, read))
}

/// The one fault point of a file.
fn point(text: &str) -> String {
    let (_, campaign) = translated(text).unwrap();
    assert_eq!((campaign.faults.len(), campaign.faults[0].trials), (1, 100), "{text}");
    campaign.faults[0].label.clone()
}

fn notes(text: &str) -> Vec<String> {
    translated(text).unwrap().0.notes
}

#[test]
fn every_fault_type_of_version_1_is_a_fault() {
    for (kind, wanted) in [
        ("Rand", "random_value mode=rate pattern=tensor rate=1"),
        ("Zero", "zero mode=rate pattern=tensor rate=1"),
        ("Rand-element", "random_value mode=rate rate=1"),
        ("bitFlip-element", "bit_flip mode=rate rate=1"),
        ("bitFlip-tensor", "bit_flip mode=rate pattern=tensor rate=1"),
    ] {
        let text = format!("{{TensorFaultType: {kind}, Ops: [ALL = 1.0], InjectMode: errorRate}}");
        assert_eq!(point(&text), wanted);
    }
}

#[test]
fn modes_and_operators_of_version_1_select() {
    for (ops, mode, wanted) in [
        ("[ALL = 0.25]", "errorRate", "zero mode=rate pattern=tensor rate=0.25"),
        (
            "[ALL = 0.25, RELU=1, CONV2D =  0]",
            "errorRate",
            "zero mode=rate operators=[Relu=1, Conv=0, re:.*] pattern=tensor rate=0.25",
        ),
        ("[MATMUL = 0.5]", "errorRate", "zero mode=rate operators=[MatMul=0.5] pattern=tensor"),
        ("[ALL = 1]", "dynamicInstance", "zero mode=each_kind pattern=tensor"),
        (
            "[RELU = 1, CONV2D = 1]",
            "dynamicInstance",
            "zero mode=each_kind operators=[Relu, Conv] pattern=tensor",
        ),
        ("[ALL = 1]", "oneFaultPerRun", "zero pattern=tensor"),
        ("[ALL = 1, RELU = 1]", "oneFaultPerRun", "zero pattern=tensor"),
        ("[BIASADD = 1]", "oneFaultPerRun", "zero operators=[Add] pattern=tensor"),
    ] {
        let text = format!("{{TensorFaultType: Zero, Ops: {ops}, InjectMode: {mode}}}");
        assert_eq!(point(&text), wanted, "{text}");
        assert!(notes(&text).is_empty() || ops.contains("0."), "{:?}", notes(&text));
    }
}

#[test]
fn skipped_operators_are_the_first_that_are_selected() {
    let text = "{TensorFaultType: Rand-element, Ops: [RELU = 1.0, CONV2D = 1.0], SkipCount: 2, \
                 InjectMode: oneFaultPerRun}";
    // The Relu of a weight (#0) is no part of an inference and is not counted.
    let wanted = "random_value except=[Conv#2, Relu#4] operators=[Relu, Conv]";
    assert_eq!(point(text), wanted);
    let all = text.replace("SkipCount: 2", "SkipCount: 4");
    let error = translated(&all).unwrap_err();
    assert!(error.contains("conf.yaml:1:") && error.contains("Ops selects 4"), "{error}");
}

#[test]
fn the_seed_counts_even_where_it_is_zero() {
    let seed = |line: &str| {
        let text = format!("TensorFaultType: Zero\nOps: [ALL = 1]\n{line}\n");
        translated(&text).unwrap().1.seed
    };
    assert_eq!((seed("Seed: 0"), seed("Seed: 1000"), seed("")), (0, 1000, 1));
}

#[test]
fn what_a_user_must_know_is_noted_and_written() {
    let text = "
ScalarFaultType: Rand
TensorFaultType: bitFlip-element
Ops:
  - CONV2D = 1.0
  - LRN = 1.0
  - SQUARE = 1.0
  - ADD = 0.5
  - BIASADD = 1.0
Instances:
  - CONV2D = 2
  - RELU = 3
";
    let (campaign, read) = translated(text).unwrap();
    let wanted = [
        "ScalarFaultType hits nothing: an ONNX model computes tensors",
        "nothing is hit for LRN: the model has none",
        "nothing is hit for SQUARE, which ONNX does not know: the model has none",
        "several names of Ops mean Add; BIASADD = 1 counts",
        "Instances says RELU = 3, and the model has 2; its own count is used",
        "InjectMode is not there; errorRate is taken, as before TensorFI had modes",
    ];
    assert_eq!(campaign.notes, wanted);
    for note in wanted {
        assert!(campaign.text.contains(&format!("\n# Note: {note}.\n")), "{}", campaign.text);
    }
    assert_eq!(read.faults[0].label, "bit_flip mode=rate operators=[Conv=1, Add=1]");
    let unused = "{TensorFaultType: Zero, Ops: [ALL = 0.5], InjectMode: oneFaultPerRun}";
    assert!(notes(unused)[0].starts_with("the probabilities in Ops decide nothing"));
}

#[test]
fn version_2_is_one_table() {
    // Without the factor of Mul and the norm's mean and variance; the bias is a variable.
    let states = "duration=permanent in=weights";
    let values = "values=[w1, scale, shift, b2, w3]";
    for (target, mode, what, wanted) in [
        (
            "layer_states",
            "single",
            "Type: bitflips, Amount: 1, Bit: N",
            format!("bit_flip amount=1 draw=value {states} {values}"),
        ),
        (
            "layer_state",
            "multiple",
            "Type: zeros, Amount: 10",
            format!("zero {states} mode=each_value share=10 {values}"),
        ),
        (
            "layer_outputs",
            "single",
            "Type: bitflips, Amount: 3, Bit: 5",
            "bit_flip amount=3 bit=5 draw=layer in=layer_outputs layers=[1..-1]".to_owned(),
        ),
        (
            "layer_outputs",
            "single",
            "Type: bitflips, Amount: 3, Bit: '31'",
            "bit_flip amount=3 bit=31 draw=layer in=layer_outputs layers=[1..-1]".to_owned(),
        ),
        (
            "layer_outputs",
            "multiple",
            "Type: random, Amount: 7, Bit: 5",
            "random_value amount=7 in=layer_outputs layers=[1..-1] mode=each_layer".to_owned(),
        ),
        (
            "layer_outputs",
            "single",
            "Type: zeros, Amount: 12.5",
            "zero draw=layer in=layer_outputs layers=[1..-1] share=12.5".to_owned(),
        ),
    ] {
        let text = format!("{{Target: {target}, Mode: {mode}, {what}}}");
        assert_eq!(point(&text), wanted, "{text}");
    }
}

#[test]
fn variables_that_are_unpacked_first_cannot_be_told() {
    let mut model = ModelBuilder::new("packed");
    model.input("x", DType::F32, &[1.into(), 2.into()]);
    model.initializer("packed", Tensor::new(vec![2, 2], vec![0.5f32; 4]).unwrap());
    model.node("Neg", &["packed"], &["w"]);
    model.node("MatMul", &["x", "w"], &["y"]);
    model.output("y", DType::F32, &[1.into(), 2.into()]);
    let model = Model::from_proto(&model.build()).unwrap();
    let text = "{Target: layer_states, Mode: single, Type: random, Amount: 1}";
    let file = TensorFi::parse(text, Path::new("conf.yaml")).unwrap();
    let campaign = file.campaign(&ASKED, model.graph()).unwrap();
    assert!(!campaign.text.contains("values:"), "{}", campaign.text);
    assert!(campaign.notes[0].contains("cannot be told"), "{:?}", campaign.notes);
}

#[test]
fn the_first_version_2_had_no_target() {
    let old = "{Mode: layer_outputs, Type: random, Amount: 7}";
    let new = "{Target: layer_outputs, Mode: single, Type: random, Amount: 7}";
    assert_eq!(point(old), point(new));
}

#[test]
fn what_the_command_line_says_is_in_the_campaign() {
    let file = TensorFi::parse("{TensorFaultType: Zero, Ops: [ALL = 1]}", Path::new("a/b.yaml"));
    let file = file.unwrap();
    for (judged, oracle, guards) in [
        (Judged::Labelled, "same_top", true),
        (Judged::Unlabelled, "same_top", false),
        (Judged::Values, "same_values", false),
    ] {
        let asked = Asked { data: "my data", sample: Some(7), trials: 9, judged, ..ASKED };
        let text = file.campaign(&asked, model().graph()).unwrap().text;
        assert!(text.starts_with("# A Faultlens campaign, from the TensorFI 1 file b.yaml.\n"));
        assert!(text.contains(&format!("oracle: {{name: {oracle}")), "{text}");
        assert_eq!(text.contains("golden_correct"), guards, "{text}");
        let read = Campaign::parse(&text, Path::new("b.yaml")).unwrap();
        assert_eq!((read.cases.data.as_str(), read.faults[0].trials), ("my data", 9));
        assert_eq!(read.cases.sample.map(|sample| sample.count), Some(7));
    }
}

#[test]
fn what_is_said_about_the_model_stays_said() {
    let text = "
targets:
  - model: m.onnx
    input: {size: [48, 48], mean: [0.5, 0.5, 0.5], std: [0.25, 0.25, 0.25]}
    output: {kind: logits, softmax: true}
    labels: my labels.txt
cases: {data: photos}
faults: [{fault: zero}]
";
    let said = Campaign::parse(text, Path::new("c.yaml")).unwrap();
    let written = written(&said);
    assert!(written.input.is_some() && written.output.is_some());
    let asked = Asked { written, model: "m.onnx", data: "photos", ..ASKED };
    let read = Campaign::parse(&asked.any_campaign(), Path::new("c.yaml")).unwrap();
    assert_eq!(self::written(&read), written);
}

#[test]
fn mistakes_are_shown_in_their_place() {
    let first = |line: &str| format!("TensorFaultType: Zero\nOps: [ALL = 1]\n{line}");
    let ops = |ops: &str| format!("TensorFaultType: Zero\nOps:\n  - {ops}\n");
    let second = |line: &str| format!("Target: layer_states\nMode: single\n{line}");
    for (text, wanted) in [
        (String::new(), "1:1: this file is empty"),
        ("[a]".to_owned(), "1:1: a TensorFI file has keys such as Ops or Target; this is a list"),
        ("Typ: zeros".to_owned(), "1:1: neither TensorFI 1 nor 2 has a key \"Typ\"; did you mean"),
        (first("InjectMod: errorRate"), "3:1: a TensorFI 1 file has no key \"InjectMod\"; did you"),
        (first("InjectMode: errorrate"), "3:13: InjectMode takes errorRate, dynamicInstance or"),
        (first("Seed: -1"), "3:7: Seed takes a whole number of 0 or more, not -1"),
        (first("Target: layer_states"), "3:1: a TensorFI 1 file has no key \"Target\"; known:"),
        (first("Instances: [RELU = 0]"), "3:13: RELU takes a whole number of 1 or more, not 0"),
        (ops("ALL = 1.5"), "3:5: ALL takes a probability from 0 to 1, not 1.5"),
        (ops("SUB = -0.5"), "3:5: SUB takes a probability from 0 to 1, not -0.5"),
        (ops("ALL = nan"), "3:5: ALL takes a probability from 0 to 1, not nan"),
        (ops("ALL"), "3:5: Ops reads NAME = a probability from 0 to 1, not \"ALL\""),
        (ops("CONV3D = 1"), "3:5: TensorFI has no operator \"CONV3D\"; did you mean \"CONV2D\"?"),
        (ops("DIVIDE = 0"), "3:5: TensorFI has no operator \"DIVIDE\"; known: NOOP, ASSIGN,"),
        (ops("ALL: 1"), "3:5: Ops takes text, not keys with values"),
        (ops("LRN = 1"), "3:3: the model has none of these operators; it has Add, BatchNorm"),
        ("TensorFaultType: Zero\nOps:\n".to_owned(), "2:4: Ops names no operator"),
        ("TensorFaultType: Zero\nOps: []\n".to_owned(), "2:6: Ops names no operator"),
        ("TensorFaultType: Zero".to_owned(), "1:1: a TensorFI 1 file needs Ops"),
        ("TensorFaultType: zero\nOps: [ALL = 1]".to_owned(), "1:18: no fault type is called"),
        ("TensorFaultType: None\nOps: [ALL = 1]".to_owned(), "1:18: TensorFaultType is None"),
        ("ScalarFaultType: Zero\nOps: [ALL = 1]".to_owned(), "1:1: only ScalarFaultType is set"),
        (second("Type: zeros"), "1:1: a TensorFI 2 file needs Amount"),
        (
            second("Type: zero\nAmount: 1"),
            "3:7: Type takes zeros, random or bitflips, not \"zero\"",
        ),
        (second("Type: zeros\nAmount: 101"), "4:9: Amount takes a number from 0.0 to 100.0"),
        (second("Type: zeros\nAmount: 0"), "4:9: Amount is 0 percent, so that nothing"),
        (second("Type: random\nAmount: 0"), "4:9: Amount takes a whole number from 1 to"),
        (second("Type: random\nAmount: '1'"), "4:9: Amount takes a number from 0.0 to"),
        (
            second("Type: bitflips\nAmount: 1\nBit: 32"),
            "5:6: Bit takes a whole number from 0 to 31",
        ),
        (
            second("Type: bitflips\nAmount: 1\nBits: 3"),
            "5:1: a TensorFI 2 file has no key \"Bits\"",
        ),
    ] {
        let error = translated(&text).unwrap_err();
        assert!(error.starts_with(&format!("conf.yaml:{wanted}")), "{text}\n{error}");
    }
}

#[test]
fn keys_without_a_value_are_as_absent_as_in_tensorfi() {
    let text = "ScalarFaultType:\nTensorFaultType: Zero\nOps:\n  - ALL = 1\nInstances:\n";
    assert_eq!(notes(text).len(), 1, "{:?}", notes(text));
}

fn written(campaign: &Campaign) -> &PartialDescription {
    match &campaign.targets[0].source {
        Source::Model { written, .. } => written,
        Source::Service(_) => panic!("a model"),
    }
}
