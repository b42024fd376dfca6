use faultlens_core::DType;

use super::super::{Channels, ElementType, InputDescription};
use super::*;
use faultlens_engine::onnx::ModelBuilder;

fn tensor(shape: &[usize], numbers: Vec<f32>) -> Tensor {
    Tensor::new(shape.to_vec(), numbers).unwrap()
}

/// A model whose outputs have these shapes; 0 is a free axis.
fn graph(outputs: &[&[usize]]) -> Graph {
    let axes = |shape: &[usize]| -> Vec<faultlens_engine::onnx::Dim> {
        shape.iter().map(|&n| if n == 0 { "n".into() } else { n.into() }).collect()
    };
    let mut model = ModelBuilder::new("any");
    model.input("x", DType::F32, &axes(&[1, 3, 16, 16]));
    for (at, shape) in outputs.iter().enumerate() {
        let name = format!("y{at}");
        model.node("Relu", &["x"], &[&name]);
        model.output(&name, DType::F32, &axes(shape));
    }
    Graph::new(&model.build()).unwrap()
}

fn read(reader: &InstanceReader, outputs: &[Tensor]) -> Result<Vec<Instance>, VisionError> {
    let input = InputDescription::plain([16, 16], Channels::Rgb, ElementType::F32);
    let shown = ShownImage { input: &input, width: 32, height: 16 };
    reader.read(outputs, shown, 0.3, &|class| ["background", "car"][class % 2].to_owned())
}

/// Class, score, pixels of the mask and its sides.
fn summaries(found: &[Instance]) -> Vec<(usize, Option<f32>, usize, [f32; 4])> {
    found
        .iter()
        .map(|one| {
            let Bounds { left, top, right, bottom } = one.mask.bounds().unwrap();
            (one.class, one.score, one.mask.area(), [left, top, right, bottom])
        })
        .collect()
}

/// Two masks of 4×4: left half and upper half.
fn planes() -> Vec<f32> {
    let half = |inside: bool| if inside { 8.0 } else { -8.0 };
    let left = (0..16).map(|at| half(at % 4 < 2));
    left.chain((0..16).map(|at| half(at / 4 < 2))).collect()
}

#[test]
fn yolov8_seg_mixes_masks_inside_boxes() {
    let reader = InstanceReader::new(&graph(&[&[1, 8, 0], &[1, 2, 4, 4]]), None).unwrap();
    assert_eq!(
        (reader.name(), reader.classes(&graph(&[&[1, 8, 0], &[1, 2, 4, 4]]))),
        ("yolov8_seg", Some(2))
    );
    // Columns: the left half, the same again, the upper half, one that is not sure.
    let rows = [
        [8.0, 8.0, 8.0, 8.0],
        [8.0, 8.0, 8.0, 8.0],
        [16.0, 16.0, 16.0, 4.0],
        [16.0, 16.0, 16.0, 4.0],
        [0.9, 0.8, 0.1, 0.2],
        [0.1, 0.1, 0.7, 0.1],
        [1.0, 1.0, 0.0, 1.0],
        [0.0, 0.0, 1.0, 0.0],
    ];
    let outputs = [tensor(&[1, 8, 4], rows.concat()), tensor(&[1, 2, 4, 4], planes())];
    let found = read(&reader, &outputs).unwrap();
    let wanted =
        [(0, Some(0.9), 256, [0.0, 0.0, 16.0, 16.0]), (1, Some(0.7), 256, [0.0, 0.0, 32.0, 8.0])];
    assert_eq!(summaries(&found), wanted);
    assert_eq!(found[0].bounds, Bounds { left: 0.0, top: 0.0, right: 32.0, bottom: 16.0 });
    let broken = [tensor(&[1, 8, 4], vec![f32::NAN; 32]), tensor(&[1, 2, 4, 4], planes())];
    assert_eq!(read(&reader, &broken).unwrap(), []);
    let none = [tensor(&[0, 8, 4], vec![]), tensor(&[0, 2, 4, 4], vec![])];
    assert!(read(&reader, &none).is_err());
    let error = read(&reader, &outputs[..1]).unwrap_err().to_string();
    assert!(error.contains("yolov8_seg") && error.contains("are needed"), "{error}");
}

#[test]
fn yolact_is_read_with_and_without_priors() {
    let pixels: Vec<f32> = (0..16).flat_map(|at| [planes()[at], planes()[16 + at]]).collect();
    let scores = tensor(&[1, 2, 3], vec![0.1, 0.1, 0.8, 0.9, 0.05, 0.05]);
    let weights = tensor(&[1, 2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    let boxes = tensor(&[1, 2, 4], vec![0.25, 0.0, 0.75, 1.0, 0.0, 0.0, 1.0, 1.0]);
    let masks = || tensor(&[1, 4, 4, 2], pixels.clone());
    let plain = [boxes, scores.clone(), weights.clone(), masks()];
    // A prior of the same height and half the width: ln 2 / 0.2 doubles that.
    let double = 2.0f32.ln() / 0.2;
    let loc = tensor(&[1, 2, 4], vec![0.0, 0.0, double, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let priors = tensor(&[2, 4], vec![0.5, 0.5, 0.25, 1.0, 0.5, 0.5, 1.0, 1.0]);
    let raw = [loc, scores, weights, priors, masks()];
    for outputs in [&plain[..], &raw] {
        let shapes: Vec<&[usize]> = outputs.iter().map(Tensor::shape).collect();
        let reader = InstanceReader::new(&graph(&shapes), None).unwrap();
        assert_eq!((reader.name(), reader.classes(&graph(&shapes))), ("yolact", Some(2)));
        // The left half of the image inside the box; the other place is background.
        let found = read(&reader, outputs).unwrap();
        assert_eq!(summaries(&found), [(1, Some(0.8), 128, [8.0, 0.0, 16.0, 16.0])]);
        assert!((found[0].bounds.left - 8.0).abs() < 1e-4, "{:?}", found[0].bounds);
    }
    let shapes: Vec<&[usize]> = plain.iter().map(Tensor::shape).collect();
    let reader = InstanceReader::new(&graph(&shapes), None).unwrap();
    assert!(read(&reader, &plain[..3]).is_err());
}

#[test]
fn areas_of_a_map_are_things_and_background_is_none() {
    let reader = InstanceReader::new(&graph(&[&[1, 3, 16, 16]]), None).unwrap();
    assert_eq!((reader.name(), reader.classes(&graph(&[&[1, 3, 16, 16]]))), ("segments", None));
    // Class 1 at the top, class 2 in a corner, a speck of class 1 below.
    let class = |at: usize| match (at % 16, at / 16) {
        (_, 0..4) => 1,
        (10.., 10..) => 2,
        (0, 12) => 1,
        _ => 0,
    };
    let found = read(
        &reader,
        &[tensor(
            &[1, 3, 16, 16],
            (0..768).map(|at| f32::from(u8::from(class(at % 256) == at / 256))).collect(),
        )],
    )
    .unwrap();
    // The image is twice as wide.
    let wanted = [(1, None, 128, [0.0, 0.0, 32.0, 4.0]), (2, None, 72, [20.0, 10.0, 32.0, 16.0])];
    assert_eq!(summaries(&found), wanted);
}

#[test]
fn other_models_have_no_outlines() {
    for shapes in [&[&[1, 10][..]][..], &[&[1, 84, 8400]], &[&[1, 6, 9], &[1, 2, 4, 4]]] {
        let error = InstanceReader::new(&graph(shapes), None).unwrap_err().to_string();
        assert!(error.contains("yolact, yolov8_seg"), "{error}");
    }
}
