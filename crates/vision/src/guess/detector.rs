//! Recognises detectors by the shapes, names and operators of their outputs.

use std::collections::BTreeSet;

use faultlens_core::DType;

use super::{Guess, TRANSPARENT};
use crate::decode::{FIXED, MASKS, cells};
use crate::preprocessing::{self, Preprocessing};
use crate::{ImageInput, OutputDescription, OutputKind, shape_text, ultralytics};
use faultlens_engine::{Dim, Graph, ValueId};

/// A detector that was recognised.
pub(super) struct KnownDetector {
    pub(super) guess: Guess<OutputDescription>,
    /// How images go into it, where only one family has this head.
    pub(super) preprocessing: Option<&'static Preprocessing>,
}

/// What a model's outputs tell about it; `None` where it may be no detector, or any.
pub(super) fn detector(graph: &Graph) -> Option<KnownDetector> {
    if let Some(known) = outlined(graph) {
        return Some(known);
    }
    // Of other tasks heads look alike, but hold joints or angles too.
    if ultralytics::task(graph).is_some_and(|task| task != "detect") {
        return None;
    }
    // From the most specific form to the most general.
    one_head(graph).or_else(|| faces(graph)).or_else(|| lists(graph))
}

/// A model whose boxes have outlines, mixed from masks in a second output.
fn outlined(graph: &Graph) -> Option<KnownDetector> {
    let [table, masks] = graph.outputs() else { return None };
    let shape = graph.declared_shape(*table)?;
    let masks = graph.declared_shape(*masks)?;
    let (&[_, Dim::Fixed(rows), _], &[_, Dim::Fixed(MASKS), _, _]) = (shape, masks) else {
        return None;
    };
    // Four sides, a score per class, a weight per mask.
    let classes = rows.checked_sub(FIXED + MASKS).filter(|&classes| classes > 0)?;
    if ultralytics::names(graph).is_some_and(|names| names.len() != classes) {
        return None;
    }
    let name = graph.value_name(*table).to_owned();
    let reason = format!(
        "output: `{name}` {} has 4 rows for boxes, {classes} for classes and {MASKS} for the masks of \
         the second output, so the decoder is yolov8_seg; outlines are not read",
        shape_text(shape)
    );
    let description = OutputDescription { name: Some(name), ..detections("yolov8_seg") };
    let guess = Guess { description, reasons: vec![reason] };
    Some(KnownDetector { guess, preprocessing: Some(&preprocessing::YOLO) })
}

/// A decoder, the preprocessing that belongs to it, and how it was recognised.
type Recognised = (&'static str, Option<&'static Preprocessing>, String);

/// A detector whose first output holds all that is needed.
fn one_head(graph: &Graph) -> Option<KnownDetector> {
    let &output = graph.outputs().first()?;
    let shape = graph.declared_shape(output)?;
    let (decoder, preprocessing, why) = match *lengths(shape).as_slice() {
        [_, channels, rows, columns] => grid(graph, output, [channels, rows, columns])?,
        [_, rows, columns] => table(graph, output, [rows, columns])?,
        _ => return None,
    };
    let name = graph.value_name(output).to_owned();
    let reason =
        format!("output: `{name}` {} {why}, so the decoder is {decoder}", shape_text(shape));
    let described = OutputDescription { name: Some(name), ..detections(decoder) };
    Some(KnownDetector {
        guess: Guess { description: described, reasons: vec![reason] },
        preprocessing,
    })
}

/// One grid of cells with a channel for each number.
fn grid(graph: &Graph, output: ValueId, axes: [Option<usize>; 3]) -> Option<Recognised> {
    let ([Some(channels), Some(rows), Some(columns)], [height, width]) = (axes, sides(graph)?)
    else {
        return None;
    };
    let sources = sources(graph, output);
    let made = ["Sigmoid", "Softmax"].iter().all(|op| sources.contains(op));
    (channels > 5 && [rows, columns].map(|n| n.saturating_mul(16)) == [height, width] && made).then(|| {
        let why = format!(
            "has {channels} channels, 5 more than classes, for cells of 16 pixels of the input, and \
             comes from Sigmoid and Softmax"
        );
        ("fastestdet", Some(&preprocessing::FASTESTDET), why)
    })
}

/// Boxes in rows, or in columns.
fn table(
    graph: &Graph,
    output: ValueId,
    [rows, columns]: [Option<usize>; 2],
) -> Option<Recognised> {
    let names = ultralytics::names(graph).map(|names| names.len());
    let classes = |numbers: usize, fixed: usize| {
        numbers > fixed && names.is_none_or(|names| numbers - fixed == names)
    };
    let exported = "and Ultralytics' metadata names as many classes as that has room for";
    match (rows, columns, names) {
        (Some(rows), Some(columns), _) => {
            let size = sides(graph)?;
            let cells = cells(size)?;
            // Models for large images have a fourth grid.
            let more = cells.saturating_add((size[0] / 64).saturating_mul(size[1] / 64));
            let [height, width] = size;
            let of = format!("cells that an input of {height}×{width} has at 8, 16 and 32 pixels");
            let is = |count: usize, each: usize| {
                [cells, more].iter().any(|cells| cells.saturating_mul(each) == count)
            };
            if rows == cells && columns > 5 {
                Some(rows_of_cells(graph, output, &of))
            } else if is(rows, 3) && classes(columns, 5) {
                // YOLOv5 has three anchor boxes per cell.
                let why = format!("has 3 rows for each of the {cells} {of}");
                Some(("yolov5", Some(&preprocessing::YOLO), why))
            } else if is(columns, 1) && classes(rows, 4) {
                // YOLOv8 has no anchors, and stores boxes in columns.
                let why = format!("has a column for each of the {cells} {of}");
                Some(("yolov8", Some(&preprocessing::YOLO), why))
            } else {
                chosen_boxes(rows, columns)
            }
        }
        (None, Some(columns), Some(_)) if classes(columns, 5) => Some((
            "yolov5",
            Some(&preprocessing::YOLO),
            format!("has {columns} columns, {exported}"),
        )),
        (Some(rows), None, Some(_)) if classes(rows, 4) => {
            Some(("yolov8", Some(&preprocessing::YOLO), format!("has {rows} rows, {exported}")))
        }
        _ => None,
    }
}

/// A row per cell: as YOLOX leaves them, or decoded in the model.
fn rows_of_cells(graph: &Graph, output: ValueId, of: &str) -> Recognised {
    // A head whose boxes are decoded in the graph ends in arithmetic; a raw one in a
    // concatenation.
    let decoded = ["Add", "Div", "Exp", "Mul", "Pow", "Sub"];
    let sources = sources(graph, output);
    match decoded.iter().find(|op| sources.contains(*op)) {
        Some(op) => {
            let why = format!("has a row for each of the {of}, decoded in the model (by {op})");
            ("yolov5", None, why)
        }
        None => {
            let why = format!("has a row for each of the {of}, not decoded in the model");
            ("yolox", Some(&preprocessing::YOLOX), why)
        }
    }
}

/// As many boxes as such models choose at most, with six numbers each.
fn chosen_boxes(rows: usize, columns: usize) -> Option<Recognised> {
    (columns == 6 && (100..=1000).contains(&rows)).then(|| {
        let why = format!("has {rows} rows of a box, a score and a class");
        ("yolov10", Some(&preprocessing::YOLO), why)
    })
}

/// The two outputs of an Ultra-Light face detector.
fn faces(graph: &Graph) -> Option<KnownDetector> {
    let scores = graph.declared_shape(called(graph, &["scores"])?)?;
    let boxes = graph.declared_shape(called(graph, &["boxes"])?)?;
    let (&[_, Dim::Fixed(places), Dim::Fixed(2)], [_, _, Dim::Fixed(4)]) = (scores, boxes) else {
        return None;
    };
    let [height, width] = sides(graph)?;
    // Boxes of each cell, by the cell's pixels; cells at the edge may be incomplete.
    let mut count = 0usize;
    for (stride, boxes) in [(8usize, 3), (16, 2), (32, 2), (64, 3)] {
        let cells = height.div_ceil(stride).saturating_mul(width.div_ceil(stride));
        count = count.saturating_add(cells.saturating_mul(boxes));
    }
    (places == count).then(|| {
        let reason = format!(
            "output: `scores` {} and `boxes` {} have a row for each of the boxes that Ultra-Light face \
             detectors try for an input of {height}×{width}, so the decoder is ultraface",
            shape_text(scores),
            shape_text(boxes)
        );
        let guess = Guess { description: detections("ultraface"), reasons: vec![reason] };
        KnownDetector { guess, preprocessing: Some(&preprocessing::ULTRAFACE) }
    })
}

/// Boxes, scores and labels as three outputs.
fn lists(graph: &Graph) -> Option<KnownDetector> {
    let rank = |value: ValueId| graph.declared_shape(value).map_or(0, <[Dim]>::len);
    // Boxes are the only list with four columns.
    let four = |value: &ValueId| {
        let last = graph.declared_shape(*value).and_then(<[Dim]>::last);
        (2..=3).contains(&rank(*value)) && last == Some(&Dim::Fixed(4))
    };
    let named = called(graph, &["detection_boxes", "boxes", "bboxes"]).filter(four);
    let boxes = named.or_else(|| graph.outputs().iter().copied().find(four))?;
    let list = |known: &[&str], whole: bool| {
        let fits = |value: &ValueId| rank(*value) + 1 == rank(boxes);
        let named = called(graph, known).filter(fits);
        named.or_else(|| {
            graph.outputs().iter().copied().find(|value| {
                let dtype = graph.declared_dtype(*value);
                fits(value) && dtype.is_some_and(|d| matches!(d, DType::I64 | DType::I32) == whole)
            })
        })
    };
    // Labels are whole numbers, scores are not; names decide where both fit.
    let labels = list(&["detection_classes", "labels", "classes"], true)?;
    let scores = list(&["detection_scores", "scores"], false).filter(|value| *value != labels)?;
    let (decoder, why) = if graph.value_name(boxes).starts_with("detection_boxes") {
        ("ssd_tf", "are called as by TensorFlow's Object Detection API")
    } else if rank(boxes) == 2 {
        ("faster_rcnn", "are boxes, scores and labels without an axis of images")
    } else {
        ("ssd", "are boxes, scores and labels, taken as parts of the input")
    };
    let [boxes, scores, labels] =
        [boxes, scores, labels].map(|value| graph.value_name(value).to_owned());
    let reason =
        format!("output: `{boxes}`, `{scores}` and `{labels}` {why}, so the decoder is {decoder}");
    let boxes = Some(boxes);
    let scores = Some(scores);
    let labels = Some(labels);
    let description = OutputDescription { boxes, scores, labels, ..detections(decoder) };
    Some(KnownDetector { guess: Guess { description, reasons: vec![reason] }, preprocessing: None })
}

fn detections(decoder: &str) -> OutputDescription {
    let decoder = Some(decoder.to_owned());
    OutputDescription { decoder, ..OutputDescription::of(OutputKind::Detections) }
}

/// The first output of one of these names; TensorFlow's end in `:0`.
fn called(graph: &Graph, names: &[&str]) -> Option<ValueId> {
    names.iter().find_map(|name| {
        let mut outputs = graph.outputs().iter().copied();
        outputs.find(|&value| graph.value_name(value).trim_end_matches(":0") == *name)
    })
}

fn lengths(shape: &[Dim]) -> Vec<Option<usize>> {
    shape
        .iter()
        .map(|dim| match dim {
            Dim::Fixed(length) => Some(*length),
            Dim::Free(_) => None,
        })
        .collect()
}

/// Rows and columns of the model's input, where it fixes them.
fn sides(graph: &Graph) -> Option<[usize; 2]> {
    let dims = lengths(ImageInput::of(graph).ok()?.dims.as_deref()?);
    match *dims.as_slice() {
        [_, Some(1 | 3), Some(height), Some(width)] | [Some(1 | 3), Some(height), Some(width)] => {
            Some([height, width])
        }
        [_, Some(height), Some(width), Some(1 | 3)] => Some([height, width]),
        _ => None,
    }
}

/// The operators that made the numbers of an output, behind those that only move them.
fn sources(graph: &Graph, output: ValueId) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut open = vec![output];
    while let Some(value) = open.pop() {
        let Some(operator) = graph.producer(value).map(|id| graph.operator(id)) else { continue };
        if !seen.insert(value) {
            continue;
        }
        match operator.op_type.as_str() {
            "Concat" => open.extend(operator.reads()),
            op if TRANSPARENT.contains(&op) => {
                open.extend(operator.inputs.first().copied().flatten())
            }
            op => {
                found.insert(op);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{guess_input, guess_output};
    use faultlens_core::Tensor;
    use faultlens_engine::onnx::{ModelBuilder, ModelProto, StringStringEntryProto};

    fn dims(dims: &[usize]) -> Vec<faultlens_engine::onnx::Dim> {
        dims.iter().map(|&n| if n == 0 { "n".into() } else { n.into() }).collect()
    }

    /// A model with an input of this size whose outputs, of these names, types and shapes, come
    /// from these operators put together.
    fn model(
        [height, width]: [usize; 2],
        ops: &[&str],
        outputs: &[(&str, DType, &[usize])],
    ) -> ModelProto {
        let mut model = ModelBuilder::new("detector");
        model.input("images", DType::F32, &dims(&[1, 3, height, width]));
        let parts: Vec<String> = ops.iter().map(|op| format!("from {op}")).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        for (op, part) in ops.iter().zip(&parts) {
            model.node(op, &["images"], &[part]);
        }
        model.node("Concat", &parts, &["all"]).attr_i("axis", 1);
        for (name, dtype, shape) in outputs {
            model.node("Identity", &["all"], &[name]);
            model.output(name, *dtype, &dims(shape));
        }
        model.build()
    }

    fn graph(size: [usize; 2], ops: &[&str], outputs: &[(&str, DType, &[usize])]) -> Graph {
        Graph::new(&model(size, ops, outputs)).unwrap()
    }

    const RAW: &[&str] = &["Conv", "Sigmoid"];

    #[test]
    fn heads_are_recognised_by_their_shape_and_operators() {
        let f = DType::F32;
        for (size, ops, shape, wanted) in [
            ([416, 416], RAW, &[1, 3549, 85][..], Some(("yolox", "bgr", 1.0))),
            ([416, 416], &["Exp", "Sigmoid"], &[1, 3549, 85], Some(("yolov5", "", 0.0))),
            ([640, 640], RAW, &[1, 25200, 85], Some(("yolov5", "rgb", 1.0 / 255.0))),
            ([1280, 1280], RAW, &[1, 102_000, 85], Some(("yolov5", "rgb", 1.0 / 255.0))),
            ([640, 640], &["Mul"], &[1, 84, 8400], Some(("yolov8", "rgb", 1.0 / 255.0))),
            ([640, 480], &["Mul"], &[1, 5, 6300], Some(("yolov8", "rgb", 1.0 / 255.0))),
            ([640, 640], &["Mul"], &[1, 300, 6], Some(("yolov10", "rgb", 1.0 / 255.0))),
            (
                [352, 352],
                &["Conv", "Sigmoid", "Softmax"],
                &[1, 85, 22, 22],
                Some(("fastestdet", "bgr", 1.0 / 255.0)),
            ),
            // A map of features, rows of another number, and none of the input's.
            ([352, 352], &["Conv"], &[1, 85, 22, 22], None),
            ([416, 416], RAW, &[1, 3548, 85], None),
            ([416, 416], RAW, &[1, 50, 6], None),
            ([0, 0], RAW, &[1, 0, 85], None),
        ] {
            let graph = graph(size, ops, &[("y", f, shape)]);
            let guess = guess_output(&graph).ok().map(|guess| guess.description);
            let decoder = wanted.map(|(decoder, ..)| decoder);
            assert_eq!(guess.and_then(|g| g.decoder).as_deref(), decoder, "{shape:?}");
            let input = guess_input(&graph, None);
            match wanted.filter(|(_, channels, _)| !channels.is_empty()) {
                Some((_, channels, scale)) => {
                    let input = input.unwrap().description;
                    let named = serde_json::to_value(input.channels).unwrap();
                    assert_eq!((named.as_str(), input.scale), (Some(channels), scale), "{shape:?}");
                }
                None => assert!(size[0] == 0 || input.is_err(), "{shape:?}"),
            }
        }
    }

    #[test]
    fn three_lists_are_recognised_by_names_or_types() {
        let f = DType::F32;
        let whole = DType::I64;
        let zoo: &[(&str, DType, &[usize])] =
            &[("6379", f, &[0, 4]), ("6381", whole, &[0]), ("6383", f, &[0])];
        let tensorflow: &[(&str, DType, &[usize])] = &[
            ("raw_detection_boxes:0", f, &[1, 1917, 4]),
            ("detection_boxes:0", f, &[1, 100, 4]),
            ("detection_classes:0", f, &[1, 100]),
            ("detection_scores:0", f, &[1, 100]),
            ("num_detections:0", f, &[1]),
        ];
        let ssd: &[(&str, DType, &[usize])] =
            &[("bboxes", f, &[1, 0, 4]), ("labels", whole, &[1, 0]), ("scores", f, &[1, 0])];
        let outlined: &[(&str, DType, &[usize])] =
            &[("output0", f, &[1, 116, 8400]), ("output1", f, &[1, 32, 160, 160])];
        let tree: &[(&str, DType, &[usize])] = &[("label", whole, &[0]), ("odds", f, &[0, 4])];
        for (outputs, wanted) in [
            (zoo, Some(("faster_rcnn", "6379", "6383", "6381"))),
            (
                tensorflow,
                Some(("ssd_tf", "detection_boxes:0", "detection_scores:0", "detection_classes:0")),
            ),
            (ssd, Some(("ssd", "bboxes", "scores", "labels"))),
            (outlined, Some(("yolov8_seg", "", "", ""))),
            (tree, None),
        ] {
            let guess =
                detector(&graph([300, 300], RAW, outputs)).map(|known| known.guess.description);
            let found = guess.as_ref().map(|g| {
                [&g.decoder, &g.boxes, &g.scores, &g.labels]
                    .map(|text| text.clone().unwrap_or_default())
            });
            assert_eq!(found, wanted.map(|(a, b, c, d)| [a, b, c, d].map(str::to_owned)));
        }
        let faces: &[(&str, DType, &[usize])] =
            &[("scores", f, &[1, 4420, 2]), ("boxes", f, &[1, 4420, 4])];
        let faces = graph([240, 320], RAW, faces);
        assert_eq!(detector(&faces).unwrap().guess.description, detections("ultraface"));
        let input = guess_input(&faces, None).unwrap().description;
        assert_eq!((input.scale, input.mean, input.std), (1.0, vec![127.0; 3], vec![128.0; 3]));
    }

    #[test]
    fn ultralytics_metadata_decides_where_shapes_are_free() {
        let exported = |task: Option<&str>, imgsz: &str, shape: &[usize]| {
            let mut model = model([0, 0], &["Mul"], &[("output0", DType::F32, shape)]);
            let entries = [("stride", Some("32")), ("names", Some("{0: 'cat', 1: 'dog'}"))];
            for (key, value) in entries.into_iter().chain([("task", task), ("imgsz", Some(imgsz))])
            {
                model.metadata_props.extend(value.map(|value| StringStringEntryProto {
                    key: key.to_owned(),
                    value: value.to_owned(),
                    ..Default::default()
                }));
            }
            Graph::new(&model).unwrap()
        };
        for (task, shape, wanted) in [
            (Some("detect"), &[0, 6, 0][..], Some("yolov8")),
            (None, &[0, 0, 7], Some("yolov5")),
            (Some("detect"), &[0, 7, 0], None),
            (Some("pose"), &[0, 6, 0], None),
        ] {
            let graph = exported(task, "[320, 640]", shape);
            let found = detector(&graph).and_then(|known| known.guess.description.decoder);
            assert_eq!(found.as_deref(), wanted, "{task:?} {shape:?}");
            if wanted.is_some() {
                let input = guess_input(&graph, None).unwrap();
                assert_eq!(input.description.size, [320, 640], "{:?}", input.reasons);
            }
        }
        let classifier = exported(Some("classify"), "224", &[0, 2]);
        let input = guess_input(&classifier, None).unwrap().description;
        assert_eq!((input.mean, input.size), (vec![0.0; 3], [224, 224]));
    }

    #[test]
    fn moved_numbers_are_followed_to_where_they_were_made() {
        let mut model = ModelBuilder::new("moved");
        model.input("x", DType::F32, &dims(&[1, 3, 8, 8]));
        model.node("Sigmoid", &["x"], &["a"]);
        model.node("Exp", &["x"], &["b"]);
        model.node("Concat", &["a", "b"], &["c"]).attr_i("axis", 1);
        let shape = model.initializer("shape", Tensor::vector(vec![1i64, 6, 64]));
        model.node("Reshape", &["c", &shape], &["d"]);
        model.node("Transpose", &["d"], &["y"]);
        model.output("y", DType::F32, &dims(&[1, 64, 6]));
        let graph = Graph::new(&model.build()).unwrap();
        let found: Vec<&str> = sources(&graph, graph.outputs()[0]).into_iter().collect();
        assert_eq!(found, ["Exp", "Sigmoid"]);
    }
}
