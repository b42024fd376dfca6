//! How sure targets were of objects that they lost in changed scenes.

use crate::context::Context;
use faultlens_vision::DECODERS;
use serde::Serialize;
use serde_json::Value;

/// How sure a target was of objects that it lost in changed scenes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LostObjects {
    /// How many there are.
    pub all: u64,
    /// The lowest score that the target reports an object with.
    pub least: f64,
    /// How many of them have a clean score at most 0.05 above that.
    pub unsure: u64,
}

impl LostObjects {
    /// Up to this much above the lowest score, the target counts as unsure of an object.
    pub const NEAR: f64 = 0.05;

    /// From the clean scores of the lost objects; `None` where there are none.
    pub(crate) fn of(scores: &[f64], least: f64) -> Option<Self> {
        let lowest = scores.iter().copied().min_by(f64::total_cmp)?;
        // A threshold of 0.65 is 0.64999998 in 32 bits; rounding to six decimals restores it.
        let least = (1e6 * least.min(lowest)).round() / 1e6;
        let unsure = scores.iter().filter(|score| **score <= least + Self::NEAR + 1e-6);
        Some(Self { all: scores.len() as u64, least, unsure: unsure.count() as u64 })
    }
}

/// The lowest score that a target reports: the threshold of its description, else the lowest score
/// of its clean predictions on record. `None` where neither is known.
pub(crate) fn least_score(context: &Context, target: u32) -> Option<f64> {
    let described = &context.manifest.targets.get(target as usize)?.output;
    threshold(described).or_else(|| {
        let own = context.goldens().filter(|golden| golden.target == target);
        let scenes = own.filter_map(|golden| Some(golden.scene.as_ref()?.to_metric()));
        let scores = scenes.flat_map(|scene| scene.detections).map(|found| found.score);
        scores.filter(|score| score.is_finite()).min_by(f64::total_cmp)
    })
}

/// The threshold of a described output: its own, else that of its decoder.
fn threshold(output: &Value) -> Option<f64> {
    output.get("threshold").and_then(Value::as_f64).or_else(|| {
        let name = output.get("decoder")?.as_str()?;
        let decoder = DECODERS.iter().find(|decoder| decoder.name == name)?;
        Some(f64::from(decoder.threshold))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lost_objects_near_the_least_score_count_as_unsure() {
        assert_eq!(LostObjects::of(&[], 0.3), None);
        for (scores, least, wanted) in [
            (&[0.9, 0.35, 0.3, 0.36][..], 0.3, (4, 0.3, 2)),
            // All that was lost was sure before.
            (&[0.9, 0.91, 0.95], 0.3, (3, 0.3, 0)),
            // A threshold of 32 bits is a little less than what it was written as.
            (&[0.7, 0.8], f64::from(0.65f32), (2, 0.65, 1)),
            // Not all undisturbed answers are on record.
            (&[0.3, 0.9], 0.5, (2, 0.3, 1)),
        ] {
            let lost = LostObjects::of(scores, least).unwrap();
            assert_eq!((lost.all, lost.least, lost.unsure), wanted);
        }
    }

    #[test]
    fn a_described_output_has_a_threshold() {
        assert_eq!(threshold(&json!({"decoder": "yolox", "threshold": 0.5})), Some(0.5));
        assert_eq!(threshold(&json!({"decoder": "yolov5"})), Some(0.25));
        assert_eq!(threshold(&json!({"decoder": "unheard-of"})), None);
        assert_eq!(threshold(&Value::Null), None);
    }
}
