//! Every object must stay, and none may come.

use crate::changed_objects;
use faultlens_core::{
    Exhibit, Measure, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response, Setting,
    Unset,
};

/// # What it does
/// Masked where every undisturbed object has an observed one of the same class that overlaps it,
/// one to one, and no observed object is left over. The surest observed object chooses first, and
/// takes the one that it overlaps most.
/// # When to use it
/// Detectors: a lost pedestrian and an invented one are both changes.
pub(super) const SAME_DETECTIONS: Plugin<dyn Oracle> = Plugin {
    name: "same_detections",
    about: "every object of the undisturbed answer must be found again, and no other",
    when: "detectors; measures how many objects are lost or new",
    parameters: &[IOU],
    build: |settings| Ok(Box::new(SameDetections { iou: settings.number(IOU.name)? })),
};

const IOU: Parameter = Parameter {
    name: "iou",
    about: "how much boxes of one object overlap at least: shared part over whole; 0: anywhere",
    kind: ParameterKind::Number { least: 0.0, most: 1.0 },
    unset: Unset::Is(Setting::Number(0.5)),
};

struct SameDetections {
    iou: f64,
}

impl SameDetections {
    /// Objects that are lost or new.
    fn changed(&self, exhibit: &Exhibit<'_>) -> Option<usize> {
        let (Response::Detections(golden), Response::Detections(observed)) =
            (exhibit.golden, exhibit.observed)
        else {
            return None;
        };
        let (lost, new) = changed_objects(&golden.found, &observed.found, self.iou);
        Some(lost + new)
    }
}

impl Oracle for SameDetections {
    fn judge(&self, exhibit: &Exhibit<'_>) -> Outcome {
        match self.changed(exhibit) {
            Some(0) => Outcome::Masked,
            Some(_) => Outcome::Deviated,
            None => Outcome::Unjudged(Reason::Unsuited),
        }
    }

    fn measure(&self, exhibit: &Exhibit<'_>) -> Option<Measure> {
        Some(Measure { name: "changed", value: self.changed(exhibit)? as f64 })
    }
}
