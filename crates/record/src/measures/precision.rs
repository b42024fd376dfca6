//! The precision of recorded measures.

use super::Measures;
use faultlens_core::Bounds;

impl Measures {
    /// The measures at the precision that records keep: six decimals for shares and distances, a
    /// tenth of a pixel for boxes of objects that were inserted or removed. Runs of every version
    /// are rounded in the same way, so that a trial that is replayed equals its record.
    pub fn rounded(mut self) -> Self {
        for share in [
            &mut self.visual_change,
            &mut self.similarity,
            &mut self.truth_score,
            &mut self.truth_score_before,
        ] {
            *share = share.map(six_decimals);
        }
        if let Some(success) = self.attack.as_mut().and_then(|attack| attack.success.as_mut()) {
            success.distance = six_decimals(success.distance);
            success.distance_inf = six_decimals(success.distance_inf);
            success.distance_2 = six_decimals(success.distance_2);
            success.first.distance = six_decimals(success.first.distance);
        }
        if let Some(scene) = &mut self.scene {
            scene.naturalness = scene.naturalness.map(six_decimals);
            if let Some(object) = &mut scene.object {
                object.bounds = tenths(object.bounds);
                object.beside = object.beside.map(tenths);
            }
            if let Some(relocation) = &mut scene.relocation {
                relocation.naturalness = relocation.naturalness.map(six_decimals);
            }
        }
        self
    }
}

/// Rounds through decimal text: the nearest double to the decimal is the one that reads back from
/// exports, which multiplying and dividing by a power of ten does not guarantee.
fn six_decimals(number: f64) -> f64 {
    format!("{number:.6}").parse().unwrap_or(number)
}

fn tenths(bounds: Bounds) -> Bounds {
    let [left, top, right, bottom] =
        bounds.sides().map(|side| format!("{side:.1}").parse().unwrap_or(side));
    Bounds { left, top, right, bottom }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SceneChange, SceneObject};

    #[test]
    fn what_is_recorded_is_what_exports_show() {
        let bounds = Bounds { left: 1.26, top: 2.0, right: 30.14, bottom: 40.0 };
        let object = SceneObject { label: "sign".to_owned(), id: None, bounds, beside: None };
        let measures = Measures {
            visual_change: Some(0.123_456_789),
            ap: Some(1.0 / 3.0),
            scene: Some(SceneChange { object: Some(object), ..SceneChange::default() }),
            ..Measures::default()
        };
        let rounded = measures.clone().rounded();
        assert_eq!(rounded.visual_change, Some(0.123_457));
        assert_eq!(rounded.ap, measures.ap);
        let object = rounded.scene.as_ref().unwrap().object.as_ref().unwrap();
        assert_eq!(object.bounds.sides(), [1.3, 2.0, 30.1, 40.0]);
        assert_eq!(rounded.fields(), measures.fields());
    }
}
