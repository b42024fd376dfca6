//! The segmentation must overlap the undisturbed one.

use crate::mean_class_iou;
use faultlens_core::{
    Comparison, Measurement, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response,
    Segments, Setting, Unset,
};

/// # What it does
/// Unchanged where the mean intersection over union (mIoU) with the undisturbed segmentation is high
/// enough; the mean is over the classes that either answer has.
/// # When to use it
/// Segmentation: road, lane and organ masks. Small classes weigh as much as large ones.
pub(super) const SAME_SEGMENTS: Plugin<dyn Oracle> = Plugin {
    name: "same_segments",
    about: "the mean intersection over union of the classes must be at least iou",
    when: "segmentation; records the mean intersection over union as iou",
    parameters: &[IOU],
    build: |settings| Ok(Box::new(SameSegments { iou: settings.number(IOU.name)? })),
};

const IOU: Parameter = Parameter {
    name: "iou",
    about: "the smallest mean intersection over union that still counts as unchanged",
    kind: ParameterKind::Number { min: 0.01, max: 1.0 },
    unset: Unset::Is(Setting::Number(0.9)),
};

struct SameSegments {
    iou: f64,
}

fn both<'a>(comparison: &Comparison<'a>) -> Option<(&'a Segments, &'a Segments)> {
    match (comparison.golden, comparison.observed) {
        (Response::Segments(golden), Response::Segments(observed)) => Some((golden, observed)),
        _ => None,
    }
}

fn iou(golden: &Segments, observed: &Segments) -> Option<f64> {
    // Pixels of another width do not belong together, even where there are as many.
    let same_size = (golden.width, golden.height) == (observed.width, observed.height);
    if same_size { mean_class_iou(&golden.classes, &observed.classes) } else { None }
}

impl Oracle for SameSegments {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        let Some((golden, observed)) = both(comparison) else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        match iou(golden, observed) {
            Some(iou) if iou >= self.iou => Outcome::Unchanged,
            _ => Outcome::Changed,
        }
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let (golden, observed) = both(comparison)?;
        Some(Measurement { name: "iou", value: iou(golden, observed)? })
    }
}
