//! YOLOv8-seg, v9, v11, as Ultralytics exports them.

use faultlens_core::{Bounds, Detection, Tensor, argmax};

use super::super::decode::{FIXED, around};
use super::super::preprocessing;
use super::prototypes::Prototypes;
use super::{InstanceLayout, Outlines, first};
use faultlens_engine::{Dim, Graph};

/// `output0` (N, 4 + classes + masks, boxes) and `output1` (N, masks, rows, columns) of
/// `yolo export format=onnx` of ultralytics/ultralytics, task segment.
pub(super) const YOLOV8_SEG: InstanceLayout = InstanceLayout {
    name: "yolov8_seg",
    about: "YOLOv8-seg and its successors as Ultralytics exports them: boxes in columns with classes \
            and coefficients (N, 4 + classes + masks, boxes), and masks to mix (N, masks, rows, \
            columns)",
    classes,
    read,
    overlap: 0.7,
    preprocessing: &preprocessing::YOLO,
};

fn classes(graph: &Graph) -> Option<usize> {
    let [table, masks] = graph.outputs() else { return None };
    match (graph.declared_shape(*table)?, graph.declared_shape(*masks)?) {
        ([_, Dim::Fixed(rows), _], [_, Dim::Fixed(masks), _, _]) => {
            rows.checked_sub(FIXED + masks).filter(|&classes| classes > 0)
        }
        _ => None,
    }
}

fn read(outputs: &[Tensor]) -> Result<Outlines<'_>, String> {
    let wanted =
        || "(N, 4 + classes + masks, boxes) and (N, masks, rows, columns) are needed".to_owned();
    let [table, masks] = outputs else { return Err(wanted()) };
    let (&[_, rows, count], &[_, mixed, height, width]) = (table.shape(), masks.shape()) else {
        return Err(wanted());
    };
    let classes = rows.checked_sub(FIXED + mixed).filter(|&n| n > 0).ok_or_else(wanted)?;
    let all = first(table, rows * count).ok_or_else(wanted)?;
    let planes = first(masks, mixed * height * width).ok_or_else(wanted)?;
    let copy = all.clone();
    let object = move |column: usize| {
        // Boxes stand in columns: four sides, classes, then a weight for each prototype.
        let at = |row: usize| all[row * count + column];
        let class = argmax((FIXED..FIXED + classes).map(at))?;
        let bounds: Bounds = around([at(0), at(1)], [at(2), at(3)]);
        Some(Detection { class, score: at(FIXED + class), bounds })
    };
    let weights = move |column: usize| {
        (FIXED + classes..rows).map(|row| copy[row * count + column]).collect()
    };
    let prototypes = Prototypes { numbers: planes, count: mixed, height, width, together: false };
    let object = Box::new(object);
    let weights = Box::new(weights);
    Ok(Outlines { count, prototypes, object, weights, relative: false })
}
