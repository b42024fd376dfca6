//! Measures as named texts: what requirements group and filter by, and the `extra` column of
//! exports. One table serves every reader, so that a measure has one name and one form.

use super::{DetectionDiff, FoundObject, Measures};
use faultlens_core::Bounds;
use std::fmt;

/// The name of the summary of changed objects.
pub(crate) const CHANGES: &str = "changes";

/// A measure whose text is made when somebody wants it.
#[derive(Debug, Clone, Copy)]
pub enum Field<'a> {
    /// A count.
    Whole(u64),
    /// Yes or no: 1 or 0.
    Flag(bool),
    /// A number in its shortest form.
    Plain(f64),
    /// A number of 32 bits in its shortest form.
    Single(f32),
    /// A number with six decimals.
    Six(f64),
    /// Seconds, with nine decimals.
    Nine(f64),
    /// A text.
    Text(&'a str),
    /// Left, top, right and bottom to a tenth of a pixel.
    Bounds(&'a Bounds),
    /// Places: left and top each.
    Places(&'a [[f32; 2]]),
    /// What changed among objects, as a summary.
    Changes(&'a DetectionDiff),
    /// Objects: class, score, left, top, width and height each.
    Found(&'a [FoundObject]),
}

impl fmt::Display for Field<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(count) => write!(f, "{count}"),
            Self::Flag(yes) => write!(f, "{}", u8::from(*yes)),
            Self::Plain(number) => write!(f, "{number}"),
            Self::Single(number) => write!(f, "{number}"),
            Self::Six(number) => write!(f, "{number:.6}"),
            Self::Nine(number) => write!(f, "{number:.9}"),
            Self::Text(text) => f.write_str(text),
            Self::Bounds(bounds) => write!(f, "{bounds}"),
            Self::Places(places) => {
                for (at, [left, top]) in places.iter().enumerate() {
                    let separator = if at > 0 { "; " } else { "" };
                    write!(f, "{separator}{left} {top}")?;
                }
                Ok(())
            }
            Self::Changes(diff) => write!(f, "{diff}"),
            Self::Found(objects) => {
                for (at, object) in objects.iter().enumerate() {
                    let separator = if at > 0 { ";" } else { "" };
                    let FoundObject { class, score, left, top, width, height } = object;
                    write!(f, "{separator}{class} {score} {left} {top} {width} {height}")?;
                }
                Ok(())
            }
        }
    }
}

impl Measures {
    /// Calls for every measure that the trial has, by its name in requirements and exports.
    pub fn for_each_field(&self, mut visit: impl FnMut(&str, Field<'_>)) {
        self.visit(&mut visit);
    }

    fn visit(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        let mut optional = |name: &str, field: Option<Field<'_>>| {
            if let Some(field) = field {
                visit(name, field);
            }
        };
        optional("visual_change", self.visual_change.map(Field::Six));
        optional("tried", self.draws.map(|draws| Field::Whole(draws.into())));
        optional("rank", self.rank.map(Field::Whole));
        optional("confidence", self.confidence.map(Field::Single));
        optional("truth_rank", self.truth_rank.map(Field::Whole));
        optional("ap", self.ap.map(Field::Plain));
        optional("voc_ap", self.voc_ap.map(Field::Six));
        optional("similarity", self.similarity.map(Field::Six));
        optional("truth_score", self.truth_score.map(Field::Six));
        optional("truth_score_before", self.truth_score_before.map(Field::Six));
        optional("positive", self.positive.map(Field::Flag));
        optional("error", self.error.as_deref().map(Field::Text));
        optional("hits", self.hits.map(Field::Whole));
        optional("weight", self.weight.map(Field::Plain));
        optional("found", self.found.as_deref().map(Field::Found));
        self.visit_named(visit);
        self.visit_boundary(visit);
        self.visit_attack(visit);
        self.visit_scene(visit);
        self.visit_detections(visit);
    }

    /// Strengths and the oracle's measure, which faults and oracles name. Where both chose one name
    /// (`deviation`), the oracle's measure has it and the strength gets the prefix `strength.`.
    fn visit_named(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        for strength in &self.strengths {
            let value = Field::Plain(strength.value);
            if self.oracle.as_ref().is_some_and(|oracle| oracle.name == strength.name) {
                visit(&format!("strength.{}", strength.name), value);
            } else {
                visit(&strength.name, value);
            }
        }
        if let Some(measure) = &self.oracle {
            visit(&measure.name, Field::Plain(measure.value));
        }
    }

    fn visit_boundary(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        let Some(search) = &self.boundary else { return };
        visit("critical", Field::Whole(search.critical));
        visit("searched", Field::Whole(search.searched));
        visit("checked", Field::Whole(search.checked));
        visit("unexpected", Field::Whole(search.unexpected));
    }

    fn visit_attack(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        let Some(attack) = &self.attack else { return };
        visit("cpu_seconds", Field::Nine(attack.cpu_seconds));
        visit("wall_seconds", Field::Nine(attack.wall_seconds));
        if attack.gradients > 0 {
            visit("gradients", Field::Whole(attack.gradients));
        }
        let Some(success) = &attack.success else { return };
        visit("distance", Field::Six(success.distance));
        visit("distance_inf", Field::Six(success.distance_inf));
        visit("distance_2", Field::Six(success.distance_2));
        visit("distance_0", Field::Plain(success.distance_0));
        visit("first_queries", Field::Whole(success.first.queries));
        visit("first_gradients", Field::Whole(success.first.gradients));
        visit("first_distance", Field::Six(success.first.distance));
        visit("first_cpu_seconds", Field::Nine(success.first.cpu_seconds));
        visit("first_wall_seconds", Field::Nine(success.first.wall_seconds));
    }

    fn visit_scene(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        let Some(scene) = &self.scene else { return };
        visit("objects_found", Field::Whole(scene.objects_found));
        if let Some(object) = &scene.object {
            visit("object_label", Field::Text(&object.label));
            visit("object_box", Field::Bounds(&object.bounds));
            if let Some(id) = &object.id {
                visit("object", Field::Text(id));
            }
            if let Some(beside) = &object.beside {
                visit("beside", Field::Bounds(beside));
            }
        }
        if let Some(naturalness) = scene.naturalness {
            visit("naturalness", Field::Six(naturalness));
        }
        let Some(relocation) = &scene.relocation else { return };
        visit("moved", Field::Plain(relocation.share));
        if !relocation.places.is_empty() {
            visit("moved_to", Field::Places(&relocation.places));
        }
        if let Some(naturalness) = relocation.naturalness {
            visit("moved_naturalness", Field::Six(naturalness));
        }
    }

    fn visit_detections(&self, visit: &mut dyn FnMut(&str, Field<'_>)) {
        let Some(diff) = self.detections.as_ref().filter(|diff| !diff.is_empty()) else { return };
        let counts = diff.counts();
        let kinds = [
            ("relabelled", counts.relabelled),
            ("misplaced", counts.misplaced),
            ("missed", counts.missed),
            ("spurious", counts.spurious),
        ];
        for (name, count) in kinds.into_iter().filter(|(_, count)| *count > 0) {
            visit(name, Field::Whole(count));
        }
        // Runs of earlier formats may know no more than the counts.
        if counts != diff.unlisted {
            visit(CHANGES, Field::Changes(diff));
        }
    }

    /// The text of the measure with this name; `None` where the trial has none.
    pub fn field(&self, name: &str) -> Option<String> {
        let mut text = None;
        self.visit(&mut |own, field| {
            if own == name {
                text = Some(field.to_string());
            }
        });
        text
    }

    /// Every measure that the trial has, by name.
    pub fn fields(&self) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        self.visit(&mut |name, field| fields.push((name.to_owned(), field.to_string())));
        fields
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NamedValue;

    #[test]
    fn a_strength_named_like_the_measure_of_the_oracle_gets_a_prefix() {
        let strength = |name: &'static str, value| NamedValue { name: name.into(), value };
        let mut measures = Measures {
            strengths: vec![strength("deviation", 12.0), strength("angle", 3.0)],
            oracle: Some(NamedValue { name: "deviation".into(), value: 0.5 }),
            ..Measures::default()
        };
        assert_eq!(measures.field("deviation").as_deref(), Some("0.5"));
        assert_eq!(measures.field("strength.deviation").as_deref(), Some("12"));
        assert_eq!(measures.field("angle").as_deref(), Some("3"));
        assert_eq!(measures.fields().len(), 3);
        // Without a collision the strength keeps its own name.
        measures.oracle = Some(NamedValue { name: "psnr".into(), value: 0.5 });
        assert_eq!(measures.field("deviation").as_deref(), Some("12"));
        assert_eq!(measures.field("strength.deviation"), None);
    }
}
