//! How good a detector is, in the numbers that papers report.

use crate::Precision;
use faultlens_core::Object;
use faultlens_data::DataSet;
use faultlens_engine::Model;
use faultlens_engine::onnx::ModelProto;
use faultlens_judge::{Scene, ScoredBox, TruthBox, mean_average_precision, voc_average_precision};
use faultlens_train::{Judged, Recipe, TrainError, found};
use std::collections::BTreeSet;

/// Measures a model on all cases of a set.
pub(crate) fn measure(
    recipe: &Recipe,
    model: &ModelProto,
    data: &DataSet,
    threads: usize,
) -> Result<Precision, TrainError> {
    let model = Model::from_proto(model)?.with_threads(threads)?;
    Ok(precision(&found(recipe, &model, data)?))
}

/// Without any object there is nothing to find, which the set was checked for.
fn precision(cases: &[Judged]) -> Precision {
    let at = |iou: f64| mean_average_precision(cases, iou).unwrap_or(0.0);
    let overlaps = (0..10).map(|step| f64::from(50 + 5 * step) / 100.0);
    Precision { ap: overlaps.map(at).sum::<f64>() / 10.0, ap50: at(0.5), voc: voc(cases) }
}

fn voc(cases: &[Judged]) -> f64 {
    let known = |object: &Object| TruthBox {
        class: object.class,
        rect: (&object.bounds).into(),
        area: f64::from(object.bounds.area()),
        crowd: object.crowd,
        difficult: false,
    };
    let scene = |(found, objects): &Judged| Scene {
        objects: objects.iter().map(known).collect(),
        detections: found.iter().map(ScoredBox::from).collect(),
    };
    let scenes: Vec<Scene> = cases.iter().map(scene).collect();
    let classes: BTreeSet<usize> =
        scenes.iter().flat_map(|scene| scene.objects.iter().map(|known| known.class)).collect();
    let each: Vec<f64> = classes
        .into_iter()
        .filter_map(|class| Some(voc_average_precision(&scenes, class, 0.5)?.all_points))
        .collect();
    each.iter().sum::<f64>() / each.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection};

    /// A box that overlaps one of 10 by 10 pixels by 0.72, and a wrong one: right up to an overlap
    /// of 0.7, so that five of the ten overlaps of COCO count.
    #[test]
    fn precision_by_hand() {
        let bounds = |right| Bounds { left: 0.0, top: 0.0, right, bottom: 10.0 };
        let object = Object { class: 0, bounds: bounds(10.0), mask: None, crowd: false };
        let other = Object { class: 1, ..object.clone() };
        let found = |class, score, right| Detection { class, score, bounds: bounds(right) };
        let all = [(vec![found(0, 0.9, 7.2), found(1, 0.8, 1.0)], vec![object, other])];
        let Precision { ap, ap50, voc } = precision(&all);
        assert!((ap50 - 0.5).abs() < 1e-12 && (voc - 0.5).abs() < 1e-12, "{ap50} {voc}");
        assert!((ap - 0.25).abs() < 1e-12, "{ap}");
        assert_eq!(precision(&[]), Precision { ap: 0.0, ap50: 0.0, voc: 0.0 });
    }
}
