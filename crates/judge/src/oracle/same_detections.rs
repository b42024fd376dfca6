//! Every object must stay, and none may come.

use crate::{changed_objects, voc_ap};
use faultlens_core::{
    Comparison, Measurement, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response,
    Setting, Unset,
};
use std::borrow::Cow;

/// # What it does
/// Unchanged where every undisturbed object has an observed one of the same class that overlaps it,
/// one to one, and no observed object is left over. The surest observed object chooses first, and
/// takes the one that it overlaps most. By average precision, objects that come behind all of
/// golden's, or are of other classes, are put up with, as MetaOD does.
/// # When to use it
/// Detectors: a lost pedestrian and an invented one are both changes.
pub(super) const SAME_DETECTIONS: Plugin<dyn Oracle> = Plugin {
    name: "same_detections",
    about: "every object of the undisturbed answer must be found again, and no other",
    when: "detectors; measures how many objects are lost or new",
    parameters: &[IOU, BY],
    build: |settings| {
        let precise = settings.word(BY.name)? == "average_precision";
        Ok(Box::new(SameDetections { iou: settings.number(IOU.name)?, precise }))
    },
};

const IOU: Parameter = Parameter {
    name: "iou",
    about: "how much boxes of one object overlap at least: shared part over whole; 0: anywhere",
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
    /// Whether average precision decides.
    precise: bool,
}

impl SameDetections {
    /// Objects that are lost or new.
    fn changed(&self, comparison: &Comparison<'_>) -> Option<usize> {
        let (Response::Detections(golden), Response::Detections(observed)) =
            (comparison.golden, comparison.observed)
        else {
            return None;
        };
        let (lost, new) = changed_objects(&golden.found, &observed.found, self.iou);
        Some(lost + new)
    }
}

impl Oracle for SameDetections {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        if let (true, Response::Detections(golden), Response::Detections(observed)) =
            (self.precise, comparison.golden, comparison.observed)
        {
            let same = voc_ap(&golden.found, &observed.found, self.iou) >= 1.0;
            return if same { Outcome::Unchanged } else { Outcome::Changed };
        }
        match self.changed(comparison) {
            Some(0) => Outcome::Unchanged,
            Some(_) => Outcome::Changed,
            None => Outcome::Skipped(Reason::UnsupportedAnswer),
        }
    }

    fn overlap(&self) -> Option<f64> {
        Some(self.iou)
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        Some(Measurement { name: "changed", value: self.changed(comparison)? as f64 })
    }
}
