//! Every object must be found again, and no new one.

use crate::{changed_objects, voc_ap};
use faultlens_core::{
    Comparison, Detections, Measurement, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason,
    Response, Setting, Unset,
};
use std::borrow::Cow;

/// # What it does
/// Unchanged where every undisturbed object has an observed one of the same class that overlaps it,
/// one to one, and no observed object is left over. Matching is greedy, as in COCO and PASCAL VOC:
/// the most confident observed object chooses first and takes the golden one that it overlaps most.
/// By average precision, extra objects that score below all of golden's, or are of other classes,
/// are tolerated, as in MetaOD (Wang and Su 2020).
/// # When to use it
/// Detectors: a lost pedestrian and an invented one are both changes.
pub(super) const SAME_DETECTIONS: Plugin<dyn Oracle> = Plugin {
    name: "same_detections",
    about: "every object of the undisturbed answer must be found again, and no new one",
    when: "detectors; records the number of lost and new objects as changed",
    parameters: &[IOU, BY],
    build: |settings| {
        let by_average_precision = settings.word(BY.name)? == "average_precision";
        Ok(Box::new(SameDetections { iou: settings.number(IOU.name)?, by_average_precision }))
    },
};

const IOU: Parameter = Parameter {
    name: "iou",
    about: "the smallest intersection over union of two boxes of one object; 0: any place",
    kind: ParameterKind::Number { min: 0.0, max: 1.0 },
    unset: Unset::Is(Setting::Number(0.5)),
};

const BY: Parameter = Parameter {
    name: "by",
    about: "objects: one to one, none lost and none new; average_precision: the mean average \
            precision of PASCAL VOC against golden is 1",
    kind: ParameterKind::Choice(&["objects", "average_precision"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("objects"))),
};

struct SameDetections {
    iou: f64,
    /// Whether average precision decides, instead of lost and new objects.
    by_average_precision: bool,
}

fn both<'a>(comparison: &Comparison<'a>) -> Option<(&'a Detections, &'a Detections)> {
    match (comparison.golden, comparison.observed) {
        (Response::Detections(golden), Response::Detections(observed)) => Some((golden, observed)),
        _ => None,
    }
}

impl SameDetections {
    /// Objects that are lost or new.
    fn changed(&self, comparison: &Comparison<'_>) -> Option<usize> {
        let (golden, observed) = both(comparison)?;
        let (lost, new) = changed_objects(&golden.found, &observed.found, self.iou);
        Some(lost + new)
    }
}

impl Oracle for SameDetections {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        let Some((golden, observed)) = both(comparison) else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        let same = if self.by_average_precision {
            voc_ap(&golden.found, &observed.found, self.iou) >= 1.0
        } else {
            self.changed(comparison) == Some(0)
        };
        if same { Outcome::Unchanged } else { Outcome::Changed }
    }

    fn overlap(&self) -> Option<f64> {
        Some(self.iou)
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        Some(Measurement { name: "changed", value: self.changed(comparison)? as f64 })
    }
}
