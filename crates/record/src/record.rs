//! Records of trials and of undisturbed answers.

use crate::GoldenScene;
use crate::measures::{CHANGES, Measures};
use faultlens_core::Outcome;
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The record of one trial.
///
/// Everything but times is the same whenever and wherever the trial runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its number in the plan.
    pub number: u64,
    /// Its identity.
    pub trial: TrialId,
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the campaign's sample.
    pub case: u32,
    /// The fault, by its place among the campaign's fault points.
    pub fault: u32,
    /// Which of the trials of this target, case and fault.
    pub repeat: u32,
    /// The outcome.
    pub outcome: Outcome,
    /// Where a model fault landed; the first place where it landed in several.
    pub site: Option<Site>,
    /// The observed answer in a word; `None` where there is no answer.
    pub answer: Option<Arc<str>>,
    /// The number that goes with the answer.
    pub score: Option<f32>,
    /// What it cost to run.
    pub cost: Cost,
    /// A hash of the answer, to compare answers bit for bit; `None` where there is no answer.
    pub digest: Option<u64>,
    /// What was measured beside the outcome.
    pub measures: Measures,
    /// Texts by name that plug-ins add. Nothing of this project is kept here.
    pub extra: BTreeMap<String, String>,
}

/// What a trial cost to run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// How often the target was queried.
    pub queries: u32,
    /// Microseconds that it took; a share of the whole where several trials ran together.
    pub micros: u64,
}

impl Record {
    /// Whether both are the same trial with the same result, bit for bit. Times are not compared.
    pub fn is_same(&self, other: &Self) -> bool {
        let bits = |record: &Self| record.score.map(f32::to_bits);
        bits(self) == bits(other)
            && self.measures_without_times() == other.measures_without_times()
            && self.without_numbers() == other.without_numbers()
    }

    /// The measures in a form in which NaN equals itself.
    fn measures_without_times(&self) -> Option<String> {
        serde_json::to_string(&self.measures.clone().without_times()).ok()
    }

    /// The record without its times and without the numbers that may be NaN.
    fn without_numbers(&self) -> Self {
        let cost = Cost { micros: 0, ..self.cost };
        Self { score: None, cost, measures: Measures::default(), ..self.clone() }
    }

    /// The measures and what plug-ins recorded besides, as texts by name: the `extra` column of
    /// exports. A measure keeps its name where a plug-in chose the same one.
    pub fn fields(&self) -> BTreeMap<String, String> {
        let mut fields = self.extra.clone();
        fields.extend(self.measures.fields());
        fields
    }

    /// A summary for people of the objects that changed; `None` where none did.
    pub fn object_changes(&self) -> Option<String> {
        self.field(CHANGES).map(Cow::into_owned)
    }

    /// One of [`fields`](Self::fields), by its name.
    pub fn field(&self, name: &str) -> Option<Cow<'_, str>> {
        let measure = self.measures.field(name).map(Cow::Owned);
        measure.or_else(|| self.extra.get(name).map(|text| text.as_str().into()))
    }
}

/// Where a model fault landed.
#[derive(Debug, Clone)]
pub struct Site {
    /// The value and the operator it belongs to.
    pub place: Arc<ModelValue>,
    /// Which element of the value.
    pub element: u64,
    /// The bit that was hit; `None` where none or several were.
    pub bit: Option<u32>,
    /// The number before the fault.
    pub before: f64,
    /// The number under the fault.
    pub after: f64,
}

/// Bit for bit: a number that is none equals itself.
impl PartialEq for Site {
    fn eq(&self, other: &Self) -> bool {
        let bits = |site: &Self| [site.before, site.after].map(f64::to_bits);
        bits(self) == bits(other)
            && (&self.place, self.element, self.bit) == (&other.place, other.element, other.bit)
    }
}

/// The site in one line, for people.
impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ModelValue { value, operator, kind, .. } = &*self.place;
        write!(f, "{operator} ({kind}), element {} of {value}", self.element)?;
        if let Some(bit) = self.bit {
            write!(f, ", bit {bit}")?;
        }
        write!(f, ": {} became {}", Brief(self.before), Brief(self.after))
    }
}

/// A number of any size, in a few characters.
pub struct Brief(pub f64);

impl fmt::Display for Brief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.abs() {
            size if size != 0.0 && size.is_finite() && !(1e-3..1e6).contains(&size) => {
                write!(f, "{:.3e}", self.0)
            }
            size if size.is_finite() => write!(f, "{:.4}", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// A value of a model that faults land in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelValue {
    /// The value's name in the model.
    pub value: String,
    /// The operator that makes it, or reads it if it is a weight.
    pub operator: String,
    /// The operator's kind, such as `Conv`.
    pub kind: String,
    /// The operator's place in the order of execution.
    pub position: u32,
    /// The layer that it belongs to, from 1; 0 is what comes before the first one.
    pub layer: u32,
    /// The operator that starts the layer.
    pub layer_name: String,
}

/// The identity of a trial: a hash of its target, case, fault and seed. Its random numbers are
/// drawn from it, never from the order of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub [u8; 16]);

impl TrialId {
    /// The identity of what these parts describe. No two lists of parts give the same text.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let hash: [u8; 32] = hash.finalize().into();
        let mut id = [0; 16];
        id.copy_from_slice(&hash[..16]);
        Self(id)
    }

    /// A number drawn from the identity, to seed random numbers with.
    pub fn seed(self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The undisturbed answer of one target to one case.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GoldenRecord {
    /// The target, by its place in the campaign.
    pub target: u32,
    /// The case, by its place in the campaign's sample.
    pub case: u32,
    /// The answer in a word; `None` where there is none.
    pub answer: Option<Arc<str>>,
    /// The number that goes with the answer.
    pub score: Option<f32>,
    /// Whether it is right; `None` where the truth is unknown.
    pub correct: Option<bool>,
    /// Whether it is what fairness counts; `None` where the campaign does not measure
    /// fairness.
    pub positive: Option<bool>,
    /// The right answer in the target's words, where it has one.
    pub truth: Option<Arc<str>>,
    /// A hash of the answer, to compare answers bit for bit.
    pub digest: Option<u64>,
    /// The objects that are known and those that were found; `None` where none is known.
    pub scene: Option<GoldenScene>,
    /// Why there is no answer.
    pub error: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_depends_on_every_part_and_on_where_it_ends() {
        let ids = [
            TrialId::of(&[b"ab", b"c"]),
            TrialId::of(&[b"a", b"bc"]),
            TrialId::of(&[b"abc"]),
            TrialId::of(&[b"abc", b""]),
        ];
        for (at, a) in ids.iter().enumerate() {
            assert!(ids[at + 1..].iter().all(|b| a != b && a.seed() != b.seed()));
        }
        // SHA-256 of eight bytes of length and "abc", cut to half.
        assert_eq!(ids[2].to_string(), "ce91dc5eec0139adf091900d225971d6");
    }
}
