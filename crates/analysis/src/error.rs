//! What can go wrong on the way from records to what they say.

use faultlens_core::did_you_mean;
use faultlens_record::store::StoreError;
use faultlens_spec::ConfigError;
use faultlens_stats::StatsError;
use std::collections::BTreeSet;

/// Why a run cannot be summarised or compared.
#[derive(Debug, thiserror::Error)]
pub enum AnalysisError {
    /// The run directory cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run's campaign file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The stand-in for the oracle of a program's own campaign is not in the registry.
    #[error("cannot read a campaign that a program put together: {0}")]
    Oracle(String),
    /// The counts are such that no sample has: the records are wrong, and so would be any rate.
    #[error("cannot estimate a rate: {0}")]
    Stats(#[from] StatsError),
    /// Nothing is recorded under that name.
    #[error("trials have no attribute {name:?}; {hint}")]
    Attribute {
        /// What was asked for.
        name: String,
        /// What there is.
        hint: String,
    },
    /// A requirement speaks of trials that the campaign does not have, and would never be checked.
    #[error("a requirement speaks of {attribute} {value:?}, which no trial has; {hint}")]
    Value {
        /// The attribute.
        attribute: String,
        /// What the requirement wants it to be.
        value: String,
        /// What there is.
        hint: String,
    },
    /// A requirement relies on a tolerance that the run directory does not hold.
    #[error("the manifest's tolerance {name} cannot be read: {why}; run the campaign again")]
    Tolerance {
        /// What the campaign calls it.
        name: String,
        /// What is wrong.
        why: String,
    },
}

impl AnalysisError {
    pub(crate) fn tolerance(name: &str, why: String) -> Self {
        Self::Tolerance { name: name.to_owned(), why }
    }

    pub(crate) fn attribute(name: &str, known: &BTreeSet<&str>) -> Self {
        Self::Attribute { name: name.to_owned(), hint: hint(name, known) }
    }

    pub(crate) fn value(attribute: &str, value: &str, known: &BTreeSet<&str>) -> Self {
        Self::Value {
            attribute: attribute.to_owned(),
            value: value.to_owned(),
            hint: hint(value, known),
        }
    }
}

/// Names that a message lists, at most.
const MOST_LISTED: usize = 30;

fn hint(wanted: &str, known: &BTreeSet<&str>) -> String {
    // Every number is close to some other: a wrong one is no misspelling.
    let is_number = wanted.parse::<f64>().is_ok();
    if let Some(near) = did_you_mean(wanted, known.iter().copied()).filter(|_| !is_number) {
        return format!("did you mean {near:?}?");
    }
    let is = if known.len() == 1 { "is" } else { "are" };
    let more = if known.len() > MOST_LISTED { ", …" } else { "" };
    let some: Vec<&str> = known.iter().copied().take(MOST_LISTED).collect();
    match some.as_slice() {
        [] => "none is known".to_owned(),
        some => format!("known {is} {}{more}", some.join(", ")),
    }
}
