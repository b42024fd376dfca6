//! Every object must be found again, and no new one, within a tolerance.

use crate::{changed_objects_from, voc_ap};
use faultlens_core::{
    Comparison, Detections, Measurement, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason,
    Response, Setting, SettingError, Settings, Unset,
};
use std::borrow::Cow;

/// # What it does
/// Unchanged where every undisturbed object has an observed one of the same class that overlaps it,
/// one to one, and no observed object is left over. Matching is greedy, as in COCO and PASCAL VOC:
/// the most confident observed object chooses first and takes the golden one that it overlaps most.
/// An object without a partner counts where it scores above the band over the target's lowest
/// score: one that scores just enough to be reported comes and goes with the smallest change, and
/// says nothing about the fault. Some lost and new objects may be allowed.
/// By average precision, extra objects that score below all of golden's, or are of other classes,
/// are tolerated, as in MetaOD (Wang and Su 2020).
/// # When to use it
/// Detectors: a lost pedestrian and an invented one are both changes.
pub(super) const SAME_DETECTIONS: Plugin<dyn Oracle> = Plugin {
    name: "same_detections",
    about: "every object of the undisturbed answer must be found again, and no new one, but for \
            objects that score just enough to be reported",
    when: "detectors; records the number of lost and new objects that count as changed",
    parameters: &[IOU, BY, LOST, NEW, SCORE_BAND, SHARE],
    build: |settings| Ok(Box::new(SameDetections::set_in(settings)?)),
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

const LOST: Parameter = Parameter {
    name: "lost",
    about: "how many objects may be lost; 0 by default",
    kind: ParameterKind::Whole { min: 0, max: 1_000_000 },
    unset: Unset::Absent,
};

const NEW: Parameter = Parameter {
    name: "new",
    about: "how many objects may be new; 0 by default",
    kind: ParameterKind::Whole { min: 0, max: 1_000_000 },
    unset: Unset::Absent,
};

const SHARE: Parameter = Parameter {
    name: "share",
    about: "how many objects may be lost, and how many may be new, as a share of the undisturbed \
            answer's, rounded down; where lost or new allows more, that counts",
    kind: ParameterKind::Number { min: 0.0, max: 1.0 },
    unset: Unset::Absent,
};

const SCORE_BAND: Parameter = Parameter {
    name: "score_band",
    about: "an object that is lost or new counts if it scores at least this much above the lowest \
            score that the target reports, where that is known; 0: every object counts",
    kind: ParameterKind::Number { min: 0.0, max: 1.0 },
    unset: Unset::Is(Setting::Number(0.1)),
};

struct SameDetections {
    iou: f64,
    /// Whether average precision decides, instead of lost and new objects.
    by_average_precision: bool,
    lost: usize,
    new: usize,
    share: f64,
    score_band: f64,
}

fn both<'a>(comparison: &Comparison<'a>) -> Option<(&'a Detections, &'a Detections)> {
    match (comparison.golden, comparison.observed) {
        (Response::Detections(golden), Response::Detections(observed)) => Some((golden, observed)),
        _ => None,
    }
}

impl SameDetections {
    fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        let by_average_precision = settings.word(BY.name)? == "average_precision";
        let allowed = [LOST.name, NEW.name, SHARE.name].map(|name| settings.number_if_set(name));
        if by_average_precision && allowed.iter().any(Option::is_some) {
            let why = "lost, new and share allow changed objects, and by: average_precision counts \
                       none; leave them out";
            return Err(SettingError(why.to_owned()));
        }
        let [lost, new, share] = allowed.map(Option::unwrap_or_default);
        Ok(Self {
            iou: settings.number(IOU.name)?,
            by_average_precision,
            lost: lost as usize,
            new: new as usize,
            share,
            score_band: settings.number(SCORE_BAND.name)?,
        })
    }

    /// How many objects are lost and how many are new, without those in the band over the lowest
    /// score.
    fn changed(&self, golden: &Detections, observed: &Detections) -> (usize, usize) {
        let counts_from = match golden.min_score {
            // In the precision of scores: 0.3 and 0.1 are 0.4 there.
            Some(lowest) if self.score_band > 0.0 => f64::from(lowest + self.score_band as f32),
            _ => f64::NEG_INFINITY,
        };
        changed_objects_from(&golden.found, &observed.found, self.iou, counts_from)
    }

    /// Whether not too many objects are lost or new.
    fn tolerates(&self, golden: &Detections, observed: &Detections) -> bool {
        let (lost, new) = self.changed(golden, observed);
        // A share of 0.1 of ten objects is one, whatever the rounding of 0.1.
        let share = (self.share * golden.found.len() as f64 + 1e-9).floor() as usize;
        lost <= self.lost.max(share) && new <= self.new.max(share)
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
            self.tolerates(golden, observed)
        };
        if same { Outcome::Unchanged } else { Outcome::Changed }
    }

    fn overlap(&self) -> Option<f64> {
        Some(self.iou)
    }

    fn measure(&self, comparison: &Comparison<'_>) -> Option<Measurement> {
        let (golden, observed) = both(comparison)?;
        let (lost, new) = if self.by_average_precision {
            changed_objects_from(&golden.found, &observed.found, self.iou, f64::NEG_INFINITY)
        } else {
            self.changed(golden, observed)
        };
        Some(Measurement { name: "changed", value: (lost + new) as f64 })
    }
}
