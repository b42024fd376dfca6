//! Runs of format 5, which kept every measure as a text under a name, and outcomes and reasons in
//! other words. They are read and merged; they are not written to.

use super::scene_text;
use crate::measures::{
    AttackCost, AttackSuccess, BoundarySearch, ChangeCounts, ChangedBox, DetectionDiff,
    FirstSuccess, FoundObject, LabelledBox, Measures, NamedValue, Relocation, SceneChange,
    SceneObject,
};
use faultlens_core::{Bounds, OutcomeKind, Reason};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The format that this module reads.
pub(super) const LEGACY_VERSION: i64 = 5;

/// The names of strengths that faults of that format drew. Every other text that is not a measure
/// stays as it is.
const STRENGTHS: [&str; 41] = [
    "added",
    "amount",
    "angle",
    "blend",
    "blue",
    "brightness",
    "contrast",
    "count",
    "cracks",
    "cut",
    "decay",
    "density",
    "depth",
    "deviation",
    "down",
    "drops",
    "factor",
    "fade",
    "fall",
    "green",
    "haze",
    "hue",
    "kept",
    "length",
    "most",
    "mud",
    "passes",
    "photons",
    "power",
    "quality",
    "radius",
    "reach",
    "red",
    "right",
    "saturation",
    "share",
    "size",
    "softness",
    "spread",
    "step",
    "strength",
];

/// What oracles of that format call their measure.
const ORACLES: [(&str, &str); 5] = [
    ("same_detections", "changed"),
    ("same_picture", "psnr"),
    ("same_segments", "iou"),
    ("same_text", "edits"),
    ("same_values", "deviation"),
];

/// The name of the measure of the oracle that a manifest describes; `None` for oracles without one.
pub(super) fn oracle_measure(oracle: &str) -> Option<&'static str> {
    let name = oracle.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next()?;
    ORACLES.iter().find(|(own, _)| *own == name).map(|(_, measure)| *measure)
}

/// An outcome by its name then.
pub(super) fn outcome(name: &str) -> Option<OutcomeKind> {
    OutcomeKind::from_legacy_name(name)
}

/// The sentences that stood for reasons then.
const REASONS: [(Reason, &str); 18] = [
    (Reason::CaseUnreadable, "the case cannot be read"),
    (Reason::GoldenFailed, "the target does not answer the undisturbed image"),
    (Reason::GoldenNotFinite, "the undisturbed answer is not finite"),
    (Reason::GoldenEmpty, "the undisturbed answer names nothing"),
    (Reason::GoldenWrong, "the undisturbed answer is wrong"),
    (Reason::GoldenUnstable, "the target disagrees with itself about the undisturbed image"),
    (Reason::NoResponse, "no answer came"),
    (Reason::NoLabel, "the case has no label"),
    (Reason::NoSite, "the target has nothing that the fault could change"),
    (Reason::NoObject, "the pool has no object of a label that the target finds"),
    (Reason::NoRoom, "nothing in the scene leaves room for the change"),
    (Reason::NoAttackGoal, "the undisturbed answer is what the attack wants, or cannot become it"),
    (Reason::NoTolerance, "nobody knows how much of the fault people tolerate"),
    (Reason::StrengthNotFound, "no strength that was drawn has the wanted visual change"),
    (Reason::OutsideTolerance, "the change is more than people tolerate"),
    (Reason::TooFewObjects, "the target finds too few objects for so many trials"),
    (Reason::VisualChangeUnknown, "nobody can tell how much the image is changed"),
    (Reason::UnsupportedAnswer, "the oracle cannot judge this kind of answer"),
];

/// A reason by its sentence then.
pub(super) fn reason(text: &str) -> Option<Reason> {
    REASONS.iter().find(|(_, sentence)| *sentence == text).map(|(reason, _)| *reason)
}

type Fields = BTreeMap<String, String>;

/// Takes the measures out of the texts of a record. What it cannot read stays there, so that
/// nothing gets lost. `oracle` is the name of the oracle's measure: a fault may have drawn a
/// strength of the same name, which the oracle's measure replaced.
pub(super) fn measures_from_fields(fields: &mut Fields, oracle: Option<&str>) -> Measures {
    let oracle = oracle.and_then(|name| {
        let value = take(fields, name)?;
        Some(NamedValue { name: name.to_owned().into(), value })
    });
    let mut strengths = Vec::new();
    for name in STRENGTHS {
        if let Some(value) = take(fields, name) {
            strengths.push(NamedValue { name: name.into(), value });
        }
    }
    Measures {
        visual_change: take(fields, "visual_change"),
        strengths,
        draws: take(fields, "tried"),
        rank: take(fields, "rank"),
        confidence: take(fields, "belief").or_else(|| take(fields, "confidence")),
        truth_rank: take(fields, "truth_rank"),
        ap: take(fields, "ap"),
        voc_ap: take(fields, "voc_ap"),
        similarity: take(fields, "likeness").or_else(|| take(fields, "similarity")),
        truth_score: take(fields, "truth_score"),
        truth_score_before: take(fields, "truth_score_before"),
        positive: take::<u8>(fields, "positive").map(|flag| flag == 1),
        error: fields.remove("error"),
        hits: take(fields, "hits"),
        weight: take(fields, "weight"),
        oracle,
        boundary: boundary(fields),
        attack: attack(fields),
        scene: scene(fields),
        detections: detections(fields),
        found: found(fields),
    }
}

/// A number under a name; left where it is no number.
fn take<T: FromStr>(fields: &mut Fields, name: &str) -> Option<T> {
    let value = fields.get(name)?.parse().ok()?;
    fields.remove(name);
    Some(value)
}

fn boundary(fields: &mut Fields) -> Option<BoundarySearch> {
    Some(BoundarySearch {
        critical: take(fields, "critical")?,
        searched: take(fields, "searched")?,
        checked: take(fields, "checked").unwrap_or(0),
        unexpected: take(fields, "unexpected").unwrap_or(0),
    })
}

fn attack(fields: &mut Fields) -> Option<AttackCost> {
    let cpu_seconds = take(fields, "cpu_seconds")?;
    let mut success = None;
    if let Some(queries) = take(fields, "first_queries") {
        success = Some(AttackSuccess {
            distance: take(fields, "distance").unwrap_or(f64::NAN),
            distance_inf: take(fields, "distance_inf").unwrap_or(f64::NAN),
            distance_2: take(fields, "distance_2").unwrap_or(f64::NAN),
            distance_0: take(fields, "distance_0").unwrap_or(f64::NAN),
            first: FirstSuccess {
                queries,
                gradients: take(fields, "first_gradients").unwrap_or(0),
                distance: take(fields, "first_distance").unwrap_or(f64::NAN),
                cpu_seconds: take(fields, "first_cpu_seconds").unwrap_or(0.0),
                wall_seconds: take(fields, "first_wall_seconds").unwrap_or(0.0),
            },
        });
    }
    Some(AttackCost {
        cpu_seconds,
        wall_seconds: take(fields, "wall_seconds").unwrap_or(0.0),
        gradients: take(fields, "gradients").unwrap_or(0),
        success,
    })
}

fn scene(fields: &mut Fields) -> Option<SceneChange> {
    let objects_found = take(fields, "objects_found")?;
    let mut object = None;
    if let Some(bounds) = fields.get("object_box").and_then(|text| bounds(text)) {
        fields.remove("object_box");
        object = Some(SceneObject {
            label: fields.remove("object_label").unwrap_or_default(),
            id: fields.remove("object"),
            bounds,
            beside: fields.remove("beside").and_then(|text| self::bounds(&text)),
        });
    }
    let relocation = take(fields, "moved").map(|share| Relocation {
        share,
        places: places(fields),
        naturalness: take(fields, "moved_naturalness"),
    });
    Some(SceneChange {
        objects_found,
        object,
        naturalness: take(fields, "naturalness"),
        relocation,
    })
}

/// Four numbers with spaces between them.
fn bounds(text: &str) -> Option<Bounds> {
    let sides: Vec<f32> = text.split(' ').map(|side| side.parse().ok()).collect::<Option<_>>()?;
    let [left, top, right, bottom] = sides[..] else { return None };
    Some(Bounds { left, top, right, bottom })
}

fn places(fields: &mut Fields) -> Vec<[f32; 2]> {
    let read: Option<Vec<[f32; 2]>> =
        fields.get("moved_to").and_then(|text| text.split("; ").map(point).collect());
    if read.is_some() {
        fields.remove("moved_to");
    }
    read.unwrap_or_default()
}

fn point(text: &str) -> Option<[f32; 2]> {
    let (left, top) = text.split_once(' ')?;
    Some([left.parse().ok()?, top.parse().ok()?])
}

fn found(fields: &mut Fields) -> Option<Vec<FoundObject>> {
    let objects = scene_text::read_found(fields.get("found")?)?;
    fields.remove("found");
    Some(objects)
}

/// The changed objects, from their counts and the sentence that lists up to sixteen of them. The
/// sentence cannot always be read, since a label may hold what separates its parts. It is taken to
/// be read where the same sentence can be made from the result; otherwise only the counts are
/// known, and the sentence stays with the other texts.
fn detections(fields: &mut Fields) -> Option<DetectionDiff> {
    let counts = ChangeCounts {
        relabelled: take(fields, "relabelled").unwrap_or(0),
        misplaced: take(fields, "misplaced").unwrap_or(0),
        missed: take(fields, "missed").unwrap_or(0),
        spurious: take(fields, "spurious").unwrap_or(0),
    };
    if counts.is_empty() {
        return None;
    }
    let listed = fields.get("changes").and_then(|text| {
        let mut diff = listed_changes(text)?;
        let own = diff.counts();
        diff.unlisted = ChangeCounts {
            relabelled: counts.relabelled.checked_sub(own.relabelled)?,
            misplaced: counts.misplaced.checked_sub(own.misplaced)?,
            missed: counts.missed.checked_sub(own.missed)?,
            spurious: counts.spurious.checked_sub(own.spurious)?,
        };
        (diff.to_string() == *text).then_some(diff)
    });
    if listed.is_some() {
        fields.remove("changes");
    }
    Some(listed.unwrap_or(DetectionDiff { unlisted: counts, ..DetectionDiff::default() }))
}

fn listed_changes(text: &str) -> Option<DetectionDiff> {
    let mut diff = DetectionDiff::default();
    for change in text.split("; ") {
        match change.split_once(' ')? {
            ("relabelled", rest) => diff.relabelled.push(changed_box(rest)?),
            ("misplaced", rest) => diff.misplaced.push(changed_box(rest)?),
            ("missed", rest) => diff.missed.push(labelled_box(rest)?),
            ("spurious", rest) => diff.spurious.push(labelled_box(rest)?),
            (_, "more") => {}
            _ => return None,
        }
    }
    Some(diff)
}

fn changed_box(text: &str) -> Option<ChangedBox> {
    // A label may hold the separator: the first split that leaves two boxes is the right one.
    text.match_indices(" to ").find_map(|(at, separator)| {
        let before = labelled_box(&text[..at])?;
        let after = labelled_box(&text[at + separator.len()..])?;
        Some(ChangedBox { before, after })
    })
}

fn labelled_box(text: &str) -> Option<LabelledBox> {
    let (object, at) = text.rsplit_once(" at ")?;
    let (label, score) = object.rsplit_once(' ')?;
    Some(LabelledBox { label: label.to_owned(), score: score.parse().ok()?, bounds: bounds(at)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every name of format 5 with a text as it was written.
    const ALL: &[(&str, &str)] = &[
        ("visual_change", "0.250000"),
        ("tried", "3"),
        ("rank", "0"),
        ("belief", "0.9"),
        ("truth_rank", "2"),
        ("ap", "0.3333333333333333"),
        ("voc_ap", "0.250000"),
        ("likeness", "0.333333"),
        ("truth_score", "0.504950"),
        ("truth_score_before", "1.000000"),
        ("positive", "1"),
        ("error", "the service says: no"),
        ("hits", "4"),
        ("weight", "0.1"),
        ("psnr", "inf"),
        ("critical", "7"),
        ("searched", "32"),
        ("checked", "4"),
        ("unexpected", "0"),
        ("cpu_seconds", "0.500000001"),
        ("wall_seconds", "0.250000000"),
        ("gradients", "12"),
        ("distance", "0.031373"),
        ("distance_inf", "0.031373"),
        ("distance_2", "inf"),
        ("distance_0", "3072"),
        ("first_queries", "5"),
        ("first_gradients", "0"),
        ("first_distance", "0.062745"),
        ("first_cpu_seconds", "0.100000000"),
        ("first_wall_seconds", "0.050000000"),
        ("object_label", "stop; sign"),
        ("object", "signs/7"),
        ("object_box", "1.0 2.5 30.1 40.0"),
        ("beside", "50.0 2.5 80.1 40.0"),
        ("objects_found", "2"),
        ("naturalness", "0.987654"),
        ("moved", "0.625"),
        ("moved_to", "5.25 6; 7.125 8"),
        ("moved_naturalness", "0.912345"),
        ("relabelled", "1"),
        ("misplaced", "1"),
        ("missed", "18"),
        ("spurious", "2"),
        ("found", "1 0.5 3 1.5 10 10;2 NaN 0.1 1 2 3"),
        ("deviation", "0.125"),
        ("strength", "4"),
    ];

    fn all() -> Fields {
        let changes = "relabelled car 0.90 at 50.0 0.0 60.0 10.0 to go to 7 0.90 at 50.0 0.0 60.0 \
                       10.0; misplaced dog 0.90 at 100.0 0.0 110.0 10.0 to dog 0.80 at 106.0 0.0 \
                       116.0 10.0";
        let missed: String =
            (0..14).map(|at| format!("; missed look at 2 0.31 at {at}.0 2.0 3.0 4.0")).collect();
        let mut fields: Fields =
            ALL.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        fields.insert("changes".to_owned(), format!("{changes}{missed}; 6 more"));
        fields
    }

    #[test]
    fn every_text_becomes_a_measure_and_the_same_text_again() {
        let mut fields = all();
        fields.insert("participant".to_owned(), "p1".to_owned());
        let measures = measures_from_fields(&mut fields, Some("psnr"));
        assert_eq!(fields, Fields::from([("participant".to_owned(), "p1".to_owned())]));
        let mut wanted = all();
        for (then, now) in [("belief", "confidence"), ("likeness", "similarity")] {
            let text = wanted.remove(then).unwrap();
            wanted.insert(now.to_owned(), text);
        }
        let again: Fields = measures.fields().into_iter().collect();
        assert_eq!(again, wanted);
        let json = serde_json::to_string(&measures).unwrap();
        let back: Measures = serde_json::from_str(&json).unwrap();
        assert_eq!(serde_json::to_string(&back).unwrap(), json);
        for (name, text) in &wanted {
            assert_eq!(back.field(name).as_ref(), Some(text), "{name}");
        }
    }

    #[test]
    fn the_measure_of_the_oracle_is_told_from_a_strength_of_that_name() {
        let mut fields = Fields::from([("deviation".to_owned(), "0.5".to_owned())]);
        let measures = measures_from_fields(&mut fields, Some("deviation"));
        assert_eq!(measures.oracle_value("deviation"), Some(0.5));
        assert!(measures.strengths.is_empty() && fields.is_empty());
        let mut fields = Fields::from([("deviation".to_owned(), "0.5".to_owned())]);
        let measures = measures_from_fields(&mut fields, Some("psnr"));
        assert_eq!((measures.strengths[0].value, measures.oracle), (0.5, None));
    }

    #[test]
    fn a_sentence_that_cannot_be_read_stays_with_its_counts() {
        let changes = "missed stop; sign 0.90 at 1.0 2.0 3.0 4.0";
        let mut fields = Fields::from([
            ("changes".to_owned(), changes.to_owned()),
            ("missed".to_owned(), "1".to_owned()),
            ("rank".to_owned(), "high".to_owned()),
        ]);
        let diff = measures_from_fields(&mut fields, None).detections.unwrap();
        assert_eq!((diff.counts().missed, diff.missed.len()), (1, 0));
        assert_eq!((fields["changes"].as_str(), fields["rank"].as_str()), (changes, "high"));
    }

    #[test]
    fn every_reason_has_a_sentence_of_its_own() {
        for code in Reason::ALL {
            let (_, sentence) = REASONS.iter().find(|(own, _)| *own == code).unwrap();
            assert_eq!(reason(sentence), Some(code));
        }
        assert_eq!(reason("golden_wrong"), None);
    }

    #[test]
    fn oracles_are_known_by_their_description() {
        assert_eq!(oracle_measure("same_values tolerance=0.1"), Some("deviation"));
        assert_eq!(oracle_measure("same_values(tolerance=0.1)"), Some("deviation"));
        assert_eq!(oracle_measure("same_top"), None);
    }
}
