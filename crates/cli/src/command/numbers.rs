//! Numbers as JSON can hold them.

use faultlens::Ranking;
use serde::{Serialize, Serializer};

/// A place in the ranking.
#[derive(Serialize)]
pub(crate) struct Place {
    pub(crate) index: usize,
    pub(crate) label: String,
    pub(crate) score: Score,
}

/// A number; JSON has no `NaN` or infinity, so those become the texts `"NaN"`, `"inf"`, `"-inf"`.
pub(crate) struct Score(pub(crate) f32);

/// A number as JSON can hold it.
pub(crate) fn number(number: f64) -> serde_json::Value {
    if number.is_finite() { number.into() } else { number.to_string().into() }
}

/// The places of a ranking, best first.
pub(crate) fn places(ranking: &Ranking) -> Vec<Place> {
    ranking
        .places()
        .iter()
        .map(|place: &faultlens::Ranked| Place {
            index: place.index,
            label: place.label.clone(),
            score: Score(place.score),
        })
        .collect()
}

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() {
            serializer.serialize_f32(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_holds_every_score() {
        let scores = [1.5, f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(Score);
        assert_eq!(serde_json::to_string(&scores).unwrap(), r#"[1.5,"NaN","inf","-inf"]"#);
    }
}
