//! Objects that an answer has lost, invented, relabelled or moved.

use faultlens_core::{Detections, Response};
use faultlens_judge::{ObjectChange, object_changes, voc_ap};
use faultlens_record::keys::{CHANGES, MISPLACED, MISSED, RELABELLED, SPURIOUS, VOC_AP};
use std::collections::BTreeMap;

/// Changes that a record has room for.
const MOST: usize = 16;

/// How the objects of an answer differ from the golden ones, where boxes that overlap by `iou` are
/// of the same object; empty for answers without objects.
pub(super) fn changes(
    golden: &Response,
    observed: &Response,
    iou: f64,
) -> BTreeMap<String, String> {
    let (Response::Detections(golden), Response::Detections(observed)) = (golden, observed) else {
        return BTreeMap::new();
    };
    let all = object_changes(&golden.found, &observed.found, iou);
    let mut fields = BTreeMap::new();
    for kind in [MISSED, SPURIOUS, RELABELLED, MISPLACED] {
        let count = all.iter().filter(|change| name(change) == kind).count();
        if count > 0 {
            fields.insert(kind.to_owned(), count.to_string());
        }
    }
    if !all.is_empty() {
        let mut words: Vec<String> =
            all.iter().take(MOST).map(|change| text(change, golden, observed)).collect();
        if all.len() > MOST {
            words.push(format!("{} more", all.len() - MOST));
        }
        fields.insert(CHANGES.to_owned(), words.join("; "));
    }
    let ap = voc_ap(&golden.found, &observed.found, iou);
    if ap < 1.0 {
        fields.insert(VOC_AP.to_owned(), format!("{ap:.6}"));
    }
    fields
}

fn name(change: &ObjectChange) -> &'static str {
    match change {
        ObjectChange::Missed { .. } => MISSED,
        ObjectChange::Spurious { .. } => SPURIOUS,
        ObjectChange::Label { .. } => RELABELLED,
        ObjectChange::Localisation { .. } => MISPLACED,
    }
}

fn text(change: &ObjectChange, golden: &Detections, observed: &Detections) -> String {
    match *change {
        ObjectChange::Missed { golden: at } => format!("missed {}", object(golden, at)),
        ObjectChange::Spurious { observed: at } => format!("spurious {}", object(observed, at)),
        ObjectChange::Label { golden: from, observed: to } => {
            format!("relabelled {} to {}", object(golden, from), object(observed, to))
        }
        ObjectChange::Localisation { golden: from, observed: to } => {
            format!("misplaced {} to {}", object(golden, from), object(observed, to))
        }
    }
}

/// An object as a record describes it.
fn object(of: &Detections, at: usize) -> String {
    let found = &of.found[at];
    format!("{} {:.2} at {}", of.name(found.class), found.score, found.bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Bounds, Detection, Names};

    fn detections(found: &[(usize, f32)]) -> Response {
        let found = found.iter().map(|&(class, left)| Detection {
            class,
            score: 0.9,
            bounds: Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 },
        });
        let names = Names::Listed(["car", "dog"].map(str::to_owned).into());
        Response::Detections(Detections { found: found.collect(), names, finite: true })
    }

    #[test]
    fn every_change_is_counted_and_named() {
        let golden = detections(&[(0, 0.0), (0, 50.0), (1, 100.0), (1, 150.0)]);
        let observed = detections(&[(0, 0.0), (1, 50.0), (1, 106.0), (0, 200.0)]);
        let fields = changes(&golden, &observed, 0.5);
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(
            fields,
            [
                (
                    "changes",
                    "relabelled car 0.90 at 50.0 0.0 60.0 10.0 to dog 0.90 at 50.0 0.0 60.0 10.0; \
                     misplaced dog 0.90 at 100.0 0.0 110.0 10.0 to dog 0.90 at 106.0 0.0 116.0 \
                     10.0; missed dog 0.90 at 150.0 0.0 160.0 10.0; spurious car 0.90 at 200.0 0.0 \
                     210.0 10.0"
                ),
                ("misplaced", "1"),
                ("missed", "1"),
                ("relabelled", "1"),
                ("spurious", "1"),
                // One of two cars with the first of two answers; no dog of two.
                ("voc_ap", "0.250000"),
            ]
        );
        assert!(changes(&golden, &golden, 0.5).is_empty());
        let one = detections(&[(0, 0.0)]);
        assert!(changes(&one, &one, 0.5).is_empty(), "one of one is all");
    }
}
