//! One conformance test for every model fault, and what placements draw.

use super::*;
use faultlens_core::{Parameter, Seed, Setting, Settings, Tensor, Unset};
use faultlens_engine::onnx::ModelBuilder;
use faultlens_engine::{Change, Golden, Model};
use std::collections::{BTreeMap, BTreeSet};

/// Two images of three numbers: two layers, a weight and a bias each, a value that is no data.
fn model() -> Model {
    let mut model = ModelBuilder::new("small");
    model.input("x", DType::F32, &[2.into(), 3.into()]);
    for (layer, width) in [(1, 3), (2, 9)] {
        let weights: Vec<f32> = (0..3 * width).map(|at| at as f32 - 4.0).collect();
        model.initializer(&format!("w{layer}"), Tensor::new(vec![3, width], weights).unwrap());
        model.initializer(&format!("b{layer}"), Tensor::vector(vec![1.0f32; width]));
    }
    model.initializer("shape", Tensor::vector(vec![2i64, 9]));
    model.node("Gemm", &["x", "w1", "b1"], &["dense"]);
    model.node("Relu", &["dense"], &["live"]);
    model.node("Shape", &["live"], &["size"]);
    model.node("Gemm", &["live", "w2", "b2"], &["wide"]);
    model.node("Reshape", &["wide", "shape"], &["flat"]);
    model.node("Relu", &["flat"], &["y"]);
    model.output("y", DType::F32, &[2.into(), 9.into()]);
    Model::from_proto(&model.build()).unwrap()
}

fn golden(model: &Model) -> Golden<'_> {
    let x = Tensor::new(vec![2, 3], vec![1.5f32, 2.0, -1.0, 1.5, 2.0, -1.0]).unwrap();
    model.golden(&[("x", x)]).unwrap()
}

/// A fault with its required parameters, and these besides.
fn injection(name: &str, set: &[(&'static str, Setting)]) -> Result<Injection, String> {
    let plugin = MODEL_FAULTS.iter().find(|plugin| plugin.name == name).unwrap();
    let mut settings = Settings::default();
    for Parameter { name, unset, kind, .. } in plugin.parameters {
        match (unset, kind) {
            (Unset::Is(setting), _) => settings.set(name, setting.clone()),
            (Unset::Required, _) => settings.set(name, Setting::Number(1.0)),
            (Unset::Absent, _) => {}
        }
    }
    set.iter().for_each(|(name, setting)| settings.set(name, setting.clone()));
    Injection::build(plugin, &settings).map_err(|error| error.to_string())
}

fn word(word: &'static str) -> Setting {
    Setting::Word(word.into())
}

fn names(names: &[&str]) -> Setting {
    Setting::Names(names.iter().map(|&name| name.to_owned()).collect())
}

/// So many strikes of an injection, each with the names of the values that it hits.
fn strikes(injection: &Injection, count: u64) -> Vec<(Strike, Vec<String>)> {
    let model = model();
    let golden = golden(&model);
    let anatomy = Anatomy::of(model.graph());
    let sites = Sites::new(&golden, &anatomy, injection, 2);
    let name = |change: &Change| model.graph().value_name(change.value).to_owned();
    let strike = |seed| {
        let strike = injection.draw(&sites, &mut Seed::new(seed).stream()).unwrap();
        let names = strike.changes.iter().map(name).collect();
        (strike, names)
    };
    (0..count).map(strike).collect()
}

/// How often each value is hit, and the largest element of it.
fn drawn(set: &[(&'static str, Setting)]) -> BTreeMap<String, (u32, usize)> {
    let mut drawn: BTreeMap<String, (u32, usize)> = BTreeMap::new();
    for (strike, names) in strikes(&injection("zero", set).unwrap(), 6000) {
        for (change, name) in strike.changes.iter().zip(names) {
            let entry = drawn.entry(name).or_default();
            *entry = (entry.0 + 1, entry.1.max(change.element));
        }
    }
    drawn
}

fn keys(drawn: &BTreeMap<String, (u32, usize)>) -> Vec<&str> {
    drawn.keys().map(String::as_str).collect()
}

#[test]
fn every_fault_keeps_the_contract() {
    assert!(MODEL_FAULTS.is_sorted_by_key(|plugin| plugin.name));
    let model = model();
    let golden = golden(&model);
    let anatomy = Anatomy::of(model.graph());
    for plugin in MODEL_FAULTS {
        let fault = injection(plugin.name, &[]).unwrap();
        let sites = Sites::new(&golden, &anatomy, &fault, 1);
        let strike = |seed| fault.draw(&sites, &mut Seed::new(seed).stream()).unwrap();
        assert_eq!(strike(1), strike(1), "{}", plugin.name);
        assert!((2..40).any(|seed| strike(seed) != strike(1)), "{}", plugin.name);
        let reached = |seed| golden.replay(&strike(seed).changes).unwrap().reached_output();
        assert_eq!((0..200).any(reached), plugin.name != "scale", "{}: by 1", plugin.name);
        assert_eq!(check(&golden, &anatomy, &fault), Ok(()));
        let nowhere = injection(plugin.name, &[("values", names(&["re:^no such"]))]).unwrap();
        assert_eq!(check(&golden, &anatomy, &nowhere), Err(SiteError::Empty));
        let sites = Sites::new(&golden, &anatomy, &nowhere, 1);
        assert_eq!(nowhere.draw(&sites, &mut Seed::new(1).stream()), None);
    }
}

#[test]
fn operators_layers_values_or_elements_are_equally_likely() {
    let near = |got: u32, wanted: u32| got.abs_diff(wanted) < 200;
    // Of each output, the share of the first of two images; what is no data is left alone.
    let by_operator = drawn(&[]);
    assert_eq!(keys(&by_operator), ["dense", "flat", "live", "wide", "y"]);
    assert!(by_operator.values().all(|(n, _)| near(*n, 1200)), "{by_operator:?}");
    assert_eq!(by_operator.values().map(|(_, max)| *max).collect::<Vec<_>>(), [2, 8, 2, 8, 8]);
    let by_layer = drawn(&[("draw", word("layer"))]);
    assert!(near(by_layer["dense"].0, 1500) && near(by_layer["y"].0, 1000), "{by_layer:?}");
    let by_element = drawn(&[("draw", word("element"))]);
    assert!(near(by_element["y"].0, 1636) && near(by_element["live"].0, 545), "{by_element:?}");
    // A weight and a bias of one operator share its draws by size, or are drawn evenly.
    let weights = drawn(&[("in", word("weights")), ("layers", names(&["1"]))]);
    assert!(near(weights["w1"].0, 4500) && near(weights["b1"].0, 1500), "{weights:?}");
    let even = drawn(&[("in", word("weights")), ("draw", word("value"))]);
    assert_eq!(keys(&even), ["b1", "b2", "w1", "w2"]);
    assert!(even.values().all(|(n, _)| near(*n, 1500)), "{even:?}");
}

#[test]
fn values_are_selected_in_many_ways() {
    let hit = |set: &[(&'static str, Setting)]| {
        let drawn = drawn(set);
        drawn.into_keys().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(hit(&[("operators", names(&["Gemm"]))]), "dense wide");
    assert_eq!(hit(&[("operators", names(&["Gemm"])), ("only", word("first"))]), "dense");
    assert_eq!(hit(&[("operators", names(&["Gemm"])), ("only", word("last"))]), "wide");
    assert_eq!(hit(&[("except", names(&["Relu", "Reshape"]))]), "dense wide");
    assert_eq!(hit(&[("layers", names(&["-1"]))]), "flat wide y");
    assert_eq!(hit(&[("layers", names(&["1..1"]))]), "dense live");
    assert_eq!(hit(&[("to_depth", Setting::Number(0.5))]), "dense live");
    assert_eq!(hit(&[("values", names(&["re:^[lw]i", "y"]))]), "live wide y");
    assert_eq!(hit(&[("in", word("layer_outputs"))]), "live y");
    assert_eq!(hit(&[("in", word("inputs"))]), "x");
    assert_eq!(hit(&[("in", word("weights")), ("values", names(&["re:^b"]))]), "b1 b2");
}

#[test]
fn modes_hit_as_many_places_as_they_say() {
    let hits = |set: &[(&'static str, Setting)]| {
        let all = strikes(&injection("zero", set).unwrap(), 400);
        all.into_iter().map(|(_, names)| names.join(" ")).collect::<BTreeSet<_>>()
    };
    let kinds = hits(&[("mode", word("each_kind")), ("operators", names(&["Gemm", "Relu"]))]);
    let wanted = ["dense live", "dense y", "wide live", "wide y"].map(str::to_owned);
    assert_eq!(kinds, BTreeSet::from(wanted));
    let every = hits(&[("mode", word("each_operator"))]);
    assert_eq!(every, BTreeSet::from(["dense live wide flat y".to_owned()]));
    let layers = hits(&[("mode", word("each_layer")), ("in", word("layer_outputs"))]);
    assert_eq!(layers, BTreeSet::from(["live y".to_owned()]));
    let values = hits(&[("mode", word("each_value")), ("in", word("weights"))]);
    assert_eq!(values, BTreeSet::from(["w1 b1 w2 b2".to_owned()]));
    // Every subset of two operators, none at all too.
    let rate = [("mode", word("rate")), ("rate", Setting::Number(0.5))];
    let some = hits(&[&rate[..], &[("operators", names(&["Gemm"]))]].concat());
    assert_eq!(some, BTreeSet::from(["", "dense", "wide", "dense wide"].map(str::to_owned)));
    let own =
        hits(&[&rate[..], &[("operators", names(&["Gemm=1", "Reshape=0", "Relu=0"]))]].concat());
    assert_eq!(own, BTreeSet::from(["dense wide".to_owned()]));
}

#[test]
fn amounts_and_shares_take_distinct_elements() {
    let elements = |set: &[(&'static str, Setting)]| {
        let set = [set, &[("values", names(&["w2"])), ("in", word("weights"))]].concat();
        let all = strikes(&injection("bit_flip", &set).unwrap(), 50);
        let counts = all.iter().map(|(strike, _)| {
            let distinct: BTreeSet<usize> = strike.changes.iter().map(|c| c.element).collect();
            assert_eq!(distinct.len(), strike.changes.len());
            distinct.len()
        });
        counts.collect::<BTreeSet<_>>()
    };
    assert_eq!(elements(&[("amount", Setting::Number(5.0))]), BTreeSet::from([5]));
    assert_eq!(elements(&[("amount", Setting::Number(99.0))]), BTreeSet::from([27]));
    assert_eq!(elements(&[("share", Setting::Number(10.0))]), BTreeSet::from([3]));
    assert_eq!(elements(&[("share", Setting::Number(100.0))]), BTreeSet::from([27]));
    assert_eq!(elements(&[("share", Setting::Number(0.5))]), BTreeSet::from([1]));
    assert_eq!(elements(&[("pattern", word("row"))]), BTreeSet::from([9]));
    assert_eq!(elements(&[("pattern", word("tensor"))]), BTreeSet::from([27]));
    assert_eq!(elements(&[("pattern", word("run"))]), BTreeSet::from([16]));
}

#[test]
fn several_bits_are_distinct_and_in_range() {
    let bits = [("bit_count", 3.0), ("from_bit", 23.0), ("to_bit", 26.0)];
    let bits: Vec<_> = bits.map(|(name, number)| (name, Setting::Number(number))).to_vec();
    let mut seen = 0;
    for (strike, _) in strikes(&injection("bit_flip", &bits).unwrap(), 200) {
        let Edit::Flip(mask) = strike.changes[0].edit else { panic!("a flip") };
        assert_eq!((mask.count_ones(), mask >> 27, mask & ((1 << 23) - 1)), (3, 0, 0));
        seen |= mask;
    }
    assert_eq!(seen, 0b1111 << 23);
}

#[test]
fn an_exhaustive_plan_has_every_place_once() {
    let set = [("sites", word("exhaustive")), ("in", word("weights")), ("values", names(&["b1"]))];
    let flips = injection("bit_flip", &set).unwrap();
    let model = model();
    let golden = golden(&model);
    let anatomy = Anatomy::of(model.graph());
    let sites = Sites::new(&golden, &anatomy, &flips, 1);
    assert_eq!(flips.population(&sites), 3 * 32);
    let all = (0..96).map(|at| flips.at(&sites, at).unwrap().changes[0]);
    let places: BTreeSet<(usize, u64)> = all
        .map(|change| match change.edit {
            Edit::Flip(mask) => (change.element, mask),
            _ => panic!("a flip"),
        })
        .collect();
    assert_eq!(places.len(), 96);
    assert_eq!(flips.at(&sites, 96), None);
}

/// A weighted draw gives the plain draw's mean: the estimate has no bias.
#[test]
fn weights_undo_what_they_favour() {
    let set = [("bit_weights", names(&["30=20", "23..29=4"])), ("layer_weights", names(&["1=3"]))];
    let injection = injection("bit_flip", &set).unwrap();
    assert!(injection.is_weighted());
    let all = strikes(&injection, 20_000);
    let total: f64 = all.iter().map(|(strike, _)| strike.weight).sum();
    assert!((total / 20_000.0 - 1.0).abs() < 0.03, "{total}");
    let is_30 = |strike: &Strike| strike.changes[0].edit == Edit::Flip(1 << 30);
    let hits = all.iter().filter(|(strike, _)| is_30(strike)).count() as f64 / 20_000.0;
    // 20 of 20 + 7 × 4 + 24 draws.
    assert!((hits - 20.0 / 72.0).abs() < 0.01, "{hits}");
    let share: f64 = all.iter().filter(|(s, _)| is_30(s)).map(|(s, _)| s.weight).sum();
    assert!((share / 20_000.0 - 1.0 / 32.0).abs() < 0.002, "{share}");
    let first = |names: &[String]| ["dense", "live"].contains(&names[0].as_str());
    let share: f64 = all.iter().filter(|(_, n)| first(n)).map(|(s, _)| s.weight).sum();
    assert!((share / 20_000.0 - 2.0 / 5.0).abs() < 0.02, "{share}");
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let wrong = |name: &str, set: &[(&'static str, Setting)]| injection(name, set).err().unwrap();
    let number = Setting::Number;
    for (name, set, wanted) in [
        ("zero", vec![("rate", number(0.5))], "a rate needs mode: rate"),
        ("zero", vec![("operators", names(&["Conv=0.5"]))], "a rate needs mode: rate"),
        ("zero", vec![("mode", word("rate"))], "mode rate needs a rate"),
        (
            "zero",
            vec![("mode", word("rate")), ("operators", names(&["Conv=1.5"]))],
            "the rate of Conv is from 0 to 1, not 1.5",
        ),
        ("zero", vec![("amount", number(2.0)), ("share", number(3.0))], "amount or share"),
        ("zero", vec![("share", number(0.0))], "a share of 0 hits nothing"),
        ("bit_flip", vec![("bit_weights", names(&["29..23=4"]))], "weights read 30=16"),
        (
            "bit_flip",
            vec![("bit_weights", names(&["30=4"])), ("pattern", word("row"))],
            "bit_weights need trials of one drawn element",
        ),
        ("zero", vec![("layers", names(&["first"]))], "layers are numbers or ranges"),
        ("zero", vec![("operators", names(&["re:("]))], "is no regular expression"),
        ("zero", vec![("from_depth", number(0.9)), ("to_depth", number(0.1))], "lies beyond"),
        ("zero", vec![("sites", word("boundary"))], "flips no single bit"),
        ("random_value", vec![("sites", word("exhaustive"))], "draws its numbers"),
        ("bit_flip", vec![("sites", word("boundary")), ("amount", number(2.0))], "one element at"),
        (
            "bit_flip",
            vec![("bit", number(3.0)), ("bit_count", number(2.0))],
            "cannot be several bits",
        ),
        ("bit_flip", vec![("from_bit", number(9.0)), ("to_bit", number(2.0))], "lies above"),
        ("bit_flip", vec![("bit_weights", names(&["30=0"]))], "weights read 30=16"),
        ("random_value", vec![("low", number(1.0))], "low (1) must lie below high (1)"),
        ("zero", vec![("length", number(4.0))], "length needs pattern: run"),
        ("zero", vec![("mode", word("each_layer")), ("draw", word("value"))], "leave out draw"),
        ("zero", vec![("in", word("inputs")), ("layers", names(&["1"]))], "inputs belong to no"),
    ] {
        let error = wrong(name, &set);
        assert!(error.contains(wanted), "{name} {set:?}: {error}");
    }
}

#[test]
fn bits_and_names_that_are_not_there_are_named() {
    let model = model();
    let golden = golden(&model);
    let anatomy = Anatomy::of(model.graph());
    let bit = |bit: f64| injection("bit_flip", &[("bit", Setting::Number(bit))]).unwrap();
    assert_eq!(check(&golden, &anatomy, &bit(31.0)), Ok(()));
    let error = check(&golden, &anatomy, &bit(40.0)).unwrap_err().to_string();
    assert_eq!(error, "bit 40: what is selected is f32 (bits 0 to 31)");
    let layer = injection("zero", &[("layers", names(&["1", "40..44"]))]).unwrap();
    let error = check(&golden, &anatomy, &layer).unwrap_err().to_string();
    assert!(error.starts_with("no layer has a number in 40..44; the model's go from 0 to"));
    let unknown = injection("zero", &[("operators", names(&["Gemm", "Gem"]))]).unwrap();
    let (name, hint) = unknown.selection().unknown_in(model.graph()).unwrap();
    assert_eq!((name, hint.as_str()), ("Gem", "did you mean \"Gemm\"?"));
    let known = injection("zero", &[("operators", names(&["Gemm"]))]).unwrap();
    assert_eq!(known.selection().unknown_in(model.graph()), None);
}

/// A quantised layer: int8 weights with a scale and a zero point, an int32 bias.
#[test]
fn quantised_models_are_hit_as_they_are_stored() {
    let mut model = ModelBuilder::new("quantised");
    model.input("x", DType::F32, &[1.into(), 2.into()]);
    model.initializer("w", Tensor::new(vec![2, 2], vec![1i8, -2, 3, 100]).unwrap());
    model.initializer("b", Tensor::vector(vec![7i32, -9]));
    model.initializer("scale", Tensor::new(vec![], vec![0.5f32]).unwrap());
    model.initializer("zero", Tensor::new(vec![], vec![0i8]).unwrap());
    model.initializer("axes", Tensor::vector(vec![0i64]));
    model.node("DequantizeLinear", &["w", "scale", "zero"], &["weights"]);
    model.node("DequantizeLinear", &["b", "scale"], &["bias"]);
    model.node("Gemm", &["x", "weights", "bias"], &["dense"]);
    model.node("Unsqueeze", &["dense", "axes"], &["y"]);
    model.output("y", DType::F32, &[1.into(), 1.into(), 2.into()]);
    let model = Model::from_proto(&model.build()).unwrap();
    let anatomy = Anatomy::of(model.graph());
    let x = Tensor::new(vec![1, 2], vec![1.0f32, 2.0]).unwrap();
    let golden = model.golden(&[("x", x)]).unwrap();
    let stored = |set: &[(&'static str, Setting)]| {
        injection("bit_flip", &[&[("in", word("weights"))], set].concat()).unwrap()
    };
    let all = stored(&[("operators", names(&["Gemm"])), ("draw", word("value"))]);
    let sites = Sites::new(&golden, &anatomy, &all, 1);
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let strike = all.draw(&sites, &mut Seed::new(seed).stream()).unwrap();
        let [Change { value, edit: Edit::Flip(mask), .. }] = strike.changes[..] else {
            panic!("one flip")
        };
        let name = model.graph().value_name(value);
        let width = if ["w", "zero"].contains(&name) { 8 } else { 32 };
        assert!(mask < 1 << width, "{name}: {mask:#x}");
        assert!(golden.replay(&strike.changes).is_ok());
        seen.insert(name.to_owned());
        assert_eq!(
            model.graph().operator(anatomy.owner(model.graph(), value).unwrap()).op_type,
            "Gemm"
        );
    }
    assert_eq!(seen, BTreeSet::from(["b", "scale", "w", "zero"].map(str::to_owned)));
    let ninth = stored(&[("bit", Setting::Number(9.0)), ("values", names(&["w", "zero"]))]);
    let error = check(&golden, &anatomy, &ninth).unwrap_err().to_string();
    assert_eq!(error, "bit 9: what is selected is int8 (bits 0 to 7)");
    // The sign of the last weight: 100 becomes -28, times 0.5 and 2.
    let last = model.graph().find("w").unwrap();
    let flip = Change { value: last, element: 3, edit: Edit::Flip(1 << 7) };
    let before = golden.outputs()[0].as_f32().unwrap()[1];
    let replay = golden.replay(&[flip]).unwrap();
    assert_eq!(replay.outputs()[0].as_f32().unwrap()[1], before - 128.0);
}

#[test]
fn a_model_without_weights_says_so() {
    let mut model = ModelBuilder::new("bare");
    model.input("x", DType::F32, &[1.into()]);
    model.node("Relu", &["x"], &["y"]);
    model.output("y", DType::F32, &[1.into()]);
    let model = Model::from_proto(&model.build()).unwrap();
    let golden = model.golden(&[("x", Tensor::vector(vec![1.0f32]))]).unwrap();
    let fault = injection("zero", &[("in", word("weights"))]).unwrap();
    let error = check(&golden, &Anatomy::of(model.graph()), &fault).unwrap_err().to_string();
    assert_eq!(error, "the model has no weights; choose in: outputs or in: inputs");
}

/// The head of a detector: the size of its grid comes from a shape and goes through floats into
/// `Range`, as exporters write it.
fn gridded() -> Model {
    let mut model = ModelBuilder::new("gridded");
    model.input("x", DType::F32, &[1.into(), 8.into()]);
    model.initializer("w", Tensor::new(vec![8, 8], vec![0.5f32; 64]).unwrap());
    model.initializer("last", Tensor::new(vec![], vec![1i64]).unwrap());
    model.initializer("start", Tensor::new(vec![], vec![0.0f32]).unwrap());
    model.initializer("step", Tensor::new(vec![], vec![1.0f32]).unwrap());
    model.node("MatMul", &["x", "w"], &["dense"]);
    model.node("Shape", &["dense"], &["size"]);
    model.node("Gather", &["size", "last"], &["width"]);
    model.node("Cast", &["width"], &["limit"]).attr_i("to", 1);
    model.node("Range", &["start", "limit", "step"], &["cells"]);
    model.node("Add", &["dense", "cells"], &["y"]);
    model.output("y", DType::F32, &[1.into(), 8.into()]);
    Model::from_proto(&model.build()).unwrap()
}

/// How often each value is hit by flips, and how often the model then fails.
fn flips(set: &[(&'static str, Setting)]) -> (BTreeSet<String>, usize) {
    let model = gridded();
    let golden = model.golden(&[("x", Tensor::new(vec![1, 8], vec![1.0f32; 8]).unwrap())]).unwrap();
    let anatomy = Anatomy::of(model.graph());
    // Bits that make another grid, but none that fills the memory.
    let bits = [("from_bit", Setting::Number(20.0)), ("to_bit", Setting::Number(23.0))];
    let injection = injection("bit_flip", &[set, &bits].concat()).unwrap();
    let sites = Sites::new(&golden, &anatomy, &injection, 1);
    let mut hit = BTreeSet::new();
    let mut failed = 0;
    for seed in 0..400 {
        let strike = injection.draw(&sites, &mut Seed::new(seed).stream()).unwrap();
        hit.insert(model.graph().value_name(strike.changes[0].value).to_owned());
        failed += usize::from(golden.replay(&strike.changes).is_err());
    }
    (hit, failed)
}

#[test]
fn control_values_are_hit_only_where_that_is_asked_for() {
    let (hit, failed) = flips(&[]);
    assert_eq!(hit, BTreeSet::from(["cells", "dense", "y"].map(str::to_owned)));
    assert_eq!(failed, 0);
    let (hit, failed) = flips(&[("control_values", word("include"))]);
    assert_eq!(hit, BTreeSet::from(["cells", "dense", "limit", "y"].map(str::to_owned)));
    assert!(failed > 20, "a grid of another size fits nothing: {failed}");
    let weights = |choice| flips(&[("in", word("weights")), ("control_values", word(choice))]).0;
    assert_eq!(weights("exclude"), BTreeSet::from(["w".to_owned()]));
    assert_eq!(weights("include"), BTreeSet::from(["start", "step", "w"].map(str::to_owned)));
    // What is left when all that is selected is control says how to reach it.
    let model = gridded();
    let golden = model.golden(&[("x", Tensor::new(vec![1, 8], vec![1.0f32; 8]).unwrap())]).unwrap();
    let anatomy = Anatomy::of(model.graph());
    let only = |set: &[(&'static str, Setting)]| {
        check(&golden, &anatomy, &injection("zero", set).unwrap())
    };
    assert_eq!(only(&[("operators", names(&["Cast"]))]), Err(SiteError::Control));
    assert_eq!(only(&[("values", names(&["re:^limit$"]))]), Err(SiteError::Control));
    // Who names a value means it.
    assert_eq!(only(&[("values", names(&["limit"]))]), Ok(()));
    let excluded = [("values", names(&["limit"])), ("control_values", word("exclude"))];
    assert_eq!(only(&excluded), Err(SiteError::Control));
}

/// Two detectors that others have trained and exported, where they are at hand.
#[test]
#[expect(clippy::print_stderr, reason = "a test that checks nothing says so")]
fn control_values_of_trained_detectors() {
    let models =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/assets/models");
    if !models.is_dir() {
        eprintln!("not checked: the trained detectors are not at hand");
        return;
    }
    for (file, input, shape) in [
        ("ultraface_rfb320.onnx", "input", [1, 3, 240, 320]),
        ("yolox_nano_416_coco.onnx", "images", [1, 3, 416, 416]),
    ] {
        let model = Model::load(&models.join(file)).unwrap();
        let graph = model.graph();
        let zeros = vec![0.0f32; shape.iter().product()];
        let golden = model.golden(&[(input, Tensor::new(shape.to_vec(), zeros).unwrap())]).unwrap();
        let anatomy = Anatomy::of(graph);
        // In both, whole numbers are shapes and indices alone, and the only floats that steer are
        // the regions and scales of Resize.
        let resized: BTreeSet<_> = graph
            .operators()
            .iter()
            .filter(|operator| operator.op_type == "Resize")
            .flat_map(|operator| operator.inputs.iter().skip(1).flatten().copied())
            .collect();
        let mut control = 0;
        for value in graph.value_ids() {
            let Some(dtype) = golden.dtype(value) else { continue };
            // Counters that training left behind.
            if graph.consumers(value).is_empty() && !graph.outputs().contains(&value) {
                continue;
            }
            let steers = dtype == DType::I64 || resized.contains(&value);
            let name = graph.value_name(value);
            assert_eq!(anatomy.is_control(value), steers, "{file}: {name}");
            control += usize::from(steers);
        }
        assert!(control > 2, "{file}: {control}");
    }
}
