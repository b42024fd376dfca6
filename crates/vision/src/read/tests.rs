use faultlens_core::{Bounds, Detection, Picture, Segments, Text};

use super::super::{Align, Channels, ElementType, Resize};
use super::*;
use faultlens_core::DType;
use faultlens_engine::onnx::ModelBuilder;

/// A model with these outputs; only their names count.
fn graph(outputs: &[&str]) -> Graph {
    let mut model = ModelBuilder::new("any");
    model.input("x", DType::F32, &[1.into(), 3.into(), 8.into(), 8.into()]);
    for &output in outputs {
        model.node("Relu", &["x"], &[output]);
        model.output(output, DType::F32, &[1.into()]);
    }
    Graph::new(&model.build()).unwrap()
}

fn described(text: &str) -> OutputDescription {
    serde_json::from_str(text).unwrap()
}

fn input(size: [usize; 2], resize: Resize) -> InputDescription {
    InputDescription { resize, ..InputDescription::plain(size, Channels::Rgb, ElementType::F32) }
}

fn tensor(shape: &[usize], data: impl Into<TensorData>) -> Tensor {
    Tensor::new(shape.to_vec(), data).unwrap()
}

/// What a model with outputs `y` and `z` answers about an image of its input's size.
fn read(text: &str, outputs: &[Tensor], index: usize) -> Result<Response, VisionError> {
    let input = input([2, 2], Resize::Stretch);
    let shown = ShownImage { input: &input, width: 2, height: 2 };
    OutputReader::new(&described(text), &graph(&["y", "z"]))?.read(
        outputs,
        index,
        shown,
        &|count: usize| (0..count).map(|n| format!("class {n}")).collect(),
    )
}

fn segments(text: &str, output: Tensor, index: usize) -> Segments {
    match read(text, &[output], index).unwrap() {
        Response::Segments(segments) => segments,
        other => panic!("{other:?}"),
    }
}

fn picture(text: &str, output: Tensor) -> Picture {
    match read(text, &[output], 0).unwrap() {
        Response::Picture(picture) => picture,
        other => panic!("{other:?}"),
    }
}

fn text(text: &str, output: Tensor, index: usize) -> Text {
    match read(text, &[output], index).unwrap() {
        Response::Text(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_best_class_of_every_pixel_is_read_in_either_layout() {
    // Two images of three classes and 1×2 pixels.
    let planes = vec![0.1f32, 0.2, 0.9, 0.1, 0.0, 0.3, 5.0, 5.0, 4.0, 6.0, f32::NAN, 4.0];
    let nchw = tensor(&[2, 3, 1, 2], planes.clone());
    let at = |image: usize, class: usize, pixel: usize| planes[image * 6 + class * 2 + pixel];
    let places = (0..2).flat_map(|i| (0..2).flat_map(move |p| (0..3).map(move |c| (i, c, p))));
    let nhwc = tensor(&[2, 1, 2, 3], places.map(|(i, c, p)| at(i, c, p)).collect::<Vec<f32>>());
    for (layout, output) in [("nchw", nchw), ("nhwc", nhwc)] {
        let described = format!(r#"{{"kind": "segments", "layout": "{layout}"}}"#);
        let first = segments(&described, output.clone(), 0);
        assert_eq!((first.width, first.height), (2, 1));
        assert_eq!((&first.classes[..], first.finite), (&[1, 2][..], true));
        assert_eq!((first.name(2), first.names.known(3)), ("class 2".to_owned(), None));
        let second = segments(&described, output, 1);
        assert_eq!((&second.classes[..], second.finite), (&[0, 1][..], false));
    }
}

#[test]
fn one_channel_is_a_mask_and_whole_numbers_are_classes() {
    let plain = r#"{"kind": "segments"}"#;
    let one = || tensor(&[1, 1, 1, 3], vec![0.4f32, 0.5, f32::NAN]);
    let mask = segments(plain, one(), 0);
    assert_eq!((&mask.classes[..], mask.finite), (&[0, 1, 0][..], false));
    let low = segments(r#"{"kind": "segments", "threshold": 0.1}"#, one(), 0);
    assert_eq!(low.classes, [1, 1, 0]);
    for shape in [&[1, 1, 1, 3][..], &[1, 1, 3]] {
        let chosen = segments(plain, tensor(shape, vec![7i64, -1, 70_000]), 0);
        assert_eq!((&chosen.classes[..], chosen.finite), (&[7, u16::MAX, u16::MAX][..], true));
    }
}

#[test]
fn areas_know_where_they_lie_in_the_image() {
    let reader = OutputReader::new(&described(r#"{"kind": "segments"}"#), &graph(&["y"])).unwrap();
    let letterbox = Resize::Letterbox { pad: 0, align: Align::Centre };
    for (resize, [width, height], wanted) in [
        (Resize::Stretch, [40, 20], [0.0, 0.0, 40.0, 20.0]),
        // Twice as wide as high: a quarter of the input lies above the image.
        (letterbox, [40, 20], [0.0, -10.0, 40.0, 30.0]),
        (Resize::CentreCrop { share: 1.0 }, [40, 20], [10.0, 0.0, 30.0, 20.0]),
    ] {
        let input = input([8, 8], resize);
        let output = [tensor(&[1, 2, 8, 8], vec![0.0f32; 128])];
        let shown = ShownImage { input: &input, width, height };
        let Ok(Response::Segments(areas)) = reader.read(&output, 0, shown, &|_| [].into()) else {
            panic!("areas were asked for");
        };
        let Bounds { left, top, right, bottom } = areas.covers;
        assert_eq!([left, top, right, bottom], wanted, "{resize:?}");
    }
}

#[test]
fn pictures_are_scaled_to_black_and_white() {
    let values = vec![-1.0f32, 0.0, 1.0, 3.0];
    let grey = picture(r#"{"kind": "picture", "range": [-1, 1]}"#, tensor(&[1, 1, 2, 2], values));
    assert_eq!((grey.width, grey.height, grey.channels), (2, 2, 1));
    assert_eq!((&grey.values[..], grey.finite), (&[0.0, 0.5, 1.0, 1.0][..], true));
    // Red 1 and 4, green 2 and 5, blue 3 and what is no number.
    let planes = vec![0.1f32, 0.4, 0.2, 0.5, 0.3, f32::NAN];
    let colours = picture(r#"{"kind": "picture"}"#, tensor(&[1, 3, 1, 2], planes));
    assert_eq!((&colours.values[..], colours.finite), (&[0.1, 0.2, 0.3, 0.4, 0.5, 0.0][..], false));
    let pixels = vec![0u8, 51, 255, 255, 51, 0];
    let bytes = r#"{"kind": "picture", "layout": "nhwc", "range": [0, 255]}"#;
    assert_eq!(picture(bytes, tensor(&[1, 1, 2, 3], pixels)).values[1], 0.2);
    let two = tensor(&[1, 2, 2, 2], vec![0.0f32; 8]);
    assert!(matches!(read(r#"{"kind": "picture"}"#, &[two], 0), Err(VisionError::NotRead { .. })));
}

/// Scores that choose these classes of three, at (step, image).
fn steps(images: [&[usize]; 2], axis: usize) -> Tensor {
    let count = images[0].len();
    let score =
        |image: usize, step: usize, class: usize| f32::from(u8::from(images[image][step] == class));
    let shape = match axis {
        0 => [count, 2, 3],
        1 => [2, count, 3],
        _ => [2, 3, count],
    };
    let places = (0..shape[0])
        .flat_map(|a| (0..shape[1]).flat_map(move |b| (0..shape[2]).map(move |c| [a, b, c])));
    tensor(
        &shape,
        places
            .map(|[a, b, c]| match axis {
                0 => score(b, a, c),
                1 => score(a, b, c),
                _ => score(a, c, b),
            })
            .collect::<Vec<f32>>(),
    )
}

#[test]
fn letters_are_read_along_any_axis() {
    let first = [0, 1, 1, 0, 1, 2];
    let second = [2, 2, 0, 0, 0, 2];
    for axis in 0..3 {
        let output = || steps([&first, &second], axis);
        let every = format!(r#"{{"kind": "text", "steps_axis": {axis}}}"#);
        assert_eq!(text(&every, output(), 0).classes, first, "{axis}");
        let ctc = format!(r#"{{"kind": "text", "steps_axis": {axis}, "blank": 0}}"#);
        assert_eq!(text(&ctc, output(), 0).classes, [1, 1, 2], "{axis}");
        assert_eq!(text(&ctc, output(), 1).classes, [2, 2], "{axis}");
        assert!(read(&ctc, &[output()], 2).is_err());
    }
    let read = text(r#"{"kind": "text"}"#, steps([&[1], &[2]], 1), 0);
    assert_eq!((read.names.known(3), read.text()), (None, "class 1".to_owned()));
    let chosen = tensor(&[1, 4], vec![3i64, 3, 0, -5]);
    let chosen = text(r#"{"kind": "text", "blank": 0}"#, chosen, 0);
    assert_eq!((chosen.classes[0], chosen.classes.len()), (3, 2));
}

#[test]
fn boxes_are_given_back_in_the_images_pixels_each_once() {
    let reader = |text: &str| OutputReader::new(&described(text), &graph(&["boxes", "scores"]));
    let world = reader(r#"{"kind": "detections", "decoder": "world"}"#).unwrap();
    // Three places: twice the same object, then another that is not sure enough.
    let scores = tensor(&[1, 3, 2], vec![0.6f32, 0.1, 0.9, 0.0, 0.1, 0.2]);
    let boxes = [[2.0f32, 3.0, 4.0, 5.0], [2.0, 3.0, 4.0, 5.0], [0.0; 4]].concat();
    let outputs = [tensor(&[1, 3, 4], boxes), scores];
    let letterbox = Resize::Letterbox { pad: 0, align: Align::Centre };
    let input = input([8, 8], letterbox);
    // 32×16 pixels become 8×4, with two rows above.
    let shown = ShownImage { input: &input, width: 32, height: 16 };
    let names = |count: usize| vec!["car".to_owned(); count].into();
    let answer = world.read(&outputs, 0, shown, &names).unwrap();
    let Response::Detections(found) = &answer else { panic!("{answer:?}") };
    let bounds = Bounds { left: 8.0, top: 4.0, right: 16.0, bottom: 12.0 };
    assert_eq!((found.found.len(), found.found[0].bounds), (1, bounds));
    assert_eq!(answer.headline(), ("1 object: car".to_owned(), Some(0.9)));
    assert!(found.finite);
    // What is no number finds nothing, and is told.
    let broken = [outputs[0].clone(), tensor(&[1, 3, 2], vec![f32::NAN; 6])];
    let broken = world.read(&broken, 0, shown, &names).unwrap();
    assert_eq!((broken.headline().0.as_str(), broken.is_finite()), ("no object", false));
    let short = [outputs[1].clone(), outputs[1].clone()];
    let error = world.read(&short, 0, shown, &names).unwrap_err().to_string();
    assert_eq!(error, "output `boxes` is f32 (1, 3, 2), where (images, 3, 4) is needed for boxes");
}

#[test]
fn a_decoder_is_named_and_reads_what_it_says() {
    for (text, wanted) in [
        (
            r#"{"kind": "detections"}"#,
            "detections need a decoder; known: faster_rcnn, fastestdet, ssd, ssd_tf, ultraface, \
             world, yolov10, yolov5, yolov8, yolov8_seg, yolox",
        ),
        (
            r#"{"kind": "detections", "decoder": "ultrafaces"}"#,
            "no decoder is called `ultrafaces`; did you mean `ultraface`?; known: faster_rcnn, \
             fastestdet, ssd, ssd_tf, ultraface, world, yolov10, yolov5, yolov8, yolov8_seg, yolox",
        ),
        (
            r#"{"kind": "detections", "decoder": "yolox", "boxes": "z"}"#,
            "the decoder yolox reads no output by boxes; it takes name",
        ),
        (
            r#"{"kind": "detections", "decoder": "world", "name": "y"}"#,
            "the decoder world reads no output by name; it takes scores and boxes",
        ),
        (
            r#"{"kind": "detections", "decoder": "yolov8", "units": "pixels"}"#,
            "the decoder yolov8 measures boxes in one way only: leave units out",
        ),
        (
            r#"{"kind": "detections", "decoder": "ssd", "boxes": "y", "scores": "z"}"#,
            "the model has no output `labels`; it has y, z",
        ),
        (
            r#"{"kind": "detections", "decoder": "world", "scores": "y"}"#,
            "the model has no output `boxes`; it has y, z",
        ),
    ] {
        assert_eq!(read(text, &[], 0).unwrap_err().to_string(), wanted, "{text}");
    }
    let yolox = r#"{"kind": "detections", "decoder": "yolox", "name": "z"}"#;
    assert!(OutputReader::new(&described(yolox), &graph(&["y", "z"])).is_ok());
}

/// What a model with outputs `boxes`, `scores` and `labels` finds in an image of 10×20 pixels.
fn listed(decoder: &str, outputs: &[Tensor], index: usize) -> Result<Vec<Detection>, VisionError> {
    let text = format!(r#"{{"kind": "detections", "decoder": "{decoder}"}}"#);
    let reader = OutputReader::new(&described(&text), &graph(&["boxes", "scores", "labels"]))?;
    let input = input([20, 10], Resize::Stretch);
    let shown = ShownImage { input: &input, width: 10, height: 20 };
    match reader.read(outputs, index, shown, &|count| vec![String::new(); count].into())? {
        Response::Detections(detections) => Ok(detections.found),
        other => panic!("{other:?}"),
    }
}

#[test]
fn lists_are_read_with_and_without_an_axis_of_images() {
    let boxes = vec![0.1f32, 0.1, 0.5, 0.5, 0.1, 0.1, 0.5, 0.5];
    let scores = vec![0.9f32, 0.8];
    let labels = vec![4i64, 4];
    let with = [
        tensor(&[1, 2, 4], boxes.clone()),
        tensor(&[1, 2], scores.clone()),
        tensor(&[1, 2], labels.clone()),
    ];
    let without = [tensor(&[2, 4], boxes), tensor(&[2], scores), tensor(&[2], labels)];
    for outputs in [&with, &without] {
        let found = listed("ssd", outputs, 0).unwrap();
        // What the model has left is not thinned out again.
        assert_eq!(
            found.iter().map(|f| (f.class, f.score)).collect::<Vec<_>>(),
            [(3, 0.9), (3, 0.8)]
        );
        let bounds = Bounds { left: 1.0, top: 2.0, right: 5.0, bottom: 10.0 };
        assert_eq!(found[0].bounds, bounds);
        assert_eq!(listed("faster_rcnn", outputs, 0).unwrap()[0].bounds.right, 0.5);
        assert!(listed("ssd", outputs, 1).is_err());
    }
    let none =
        [tensor(&[0, 4], vec![0f32; 0]), tensor(&[0], vec![0f32; 0]), tensor(&[0], vec![0i64; 0])];
    assert_eq!(listed("faster_rcnn", &none, 0).unwrap(), []);
    let odd = [without[0].clone(), without[1].clone(), tensor(&[2], vec![true, false])];
    let error = listed("ssd", &odd, 0).unwrap_err().to_string();
    assert_eq!(error, "output `labels` is bool (2), where a number per image and object is needed");
}

#[test]
fn ten_thousand_boxes_are_thinned_out_in_time() {
    // Every box found, all in one place: a model under a fault may answer so.
    let rows = vec![[4.0f32, 4.0, 2.0, 2.0, 1.0, 1.0]; 10_000].concat();
    let output = [tensor(&[1, 10_000, 6], rows)];
    let answer = read(r#"{"kind": "detections", "decoder": "yolov5"}"#, &output, 0).unwrap();
    assert_eq!(answer.headline().0, "1 object: class 0");
    let output = [tensor(&[1, 6, 10_000], vec![f32::NAN; 60_000])];
    let answer = read(r#"{"kind": "detections", "decoder": "yolov8"}"#, &output, 0).unwrap();
    assert_eq!((answer.headline().0.as_str(), answer.is_finite()), ("no object", false));
}
