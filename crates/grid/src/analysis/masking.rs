//! Gradient masking: where attacks that only ask change more answers than those that follow
//! gradients, by no larger changes.

use std::collections::{BTreeMap, BTreeSet};

use faultlens_campaign::analysis::Rate;
use faultlens_stats::{holm, mcnemar_exact};
use serde::Serialize;

use super::counts::rate;
use super::{ALPHA, AnalysisError, numbered};
use crate::rows::{Configuration, Row, Rows};

/// What follows the gradient needs it.
const GRADIENTS: &str = "gradients";

/// Rounding of recorded distances.
const ROUNDING: f64 = 1e-5;

/// A defended model whose gradients mislead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Masked {
    /// Which model and defence, for people.
    pub model: String,
    /// The norm in which changes are limited: `inf` or `2`.
    pub norm: String,
    /// How large changes may be, of either kind of attack.
    pub epsilon: f64,
    /// The samples whose answer some attack without gradients changed within the limit.
    pub asking: Rate,
    /// The samples whose answer some attack with gradients changed within the limit.
    pub following: Rate,
    /// How often chance alone would make the difference (McNemar), adjusted for all models and
    /// limits that were looked at (Holm).
    pub p: f64,
}

/// What looking for misleading gradients came to.
pub(super) struct Looked {
    /// How many pairs of a defended model and a limit had attacks of both kinds.
    pub(super) looks: u64,
    pub(super) masked: Vec<Masked>,
}

/// How far an attack that follows gradients may go; as bits, so that equal limits are one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    Infinity(u64),
    Two(u64),
}

impl Limit {
    fn of(of: &Configuration) -> Option<Self> {
        let epsilon = of.epsilon.filter(|_| of.needs == GRADIENTS)?.to_bits();
        match of.norm.as_deref()? {
            "inf" => Some(Self::Infinity(epsilon)),
            "2" => Some(Self::Two(epsilon)),
            _ => None,
        }
    }

    fn epsilon(self) -> f64 {
        match self {
            Self::Infinity(bits) | Self::Two(bits) => f64::from_bits(bits),
        }
    }

    fn norm(self) -> &'static str {
        match self {
            Self::Infinity(_) => "inf",
            Self::Two(_) => "2",
        }
    }

    /// Whether an answer changed by a change that is no larger.
    fn holds(self, row: &Row) -> bool {
        let distance = match self {
            Self::Infinity(_) => row.distance_inf,
            Self::Two(_) => row.distance_2,
        };
        let most = self.epsilon() * (1.0 + ROUNDING) + ROUNDING;
        row.changed && distance.is_some_and(|distance| distance <= most)
    }
}

/// A defended model: one of its configurations, and all attacked samples.
struct Shot<'a> {
    of: &'a Configuration,
    limits: BTreeSet<Limit>,
    /// Each with whether its attack follows gradients.
    rows: Vec<(bool, &'a Row)>,
}

/// The defended models whose gradients mislead, by their names.
pub(super) fn masked(rows: &Rows) -> Result<Looked, AnalysisError> {
    let mut found = Vec::new();
    for shot in by_model(rows).values() {
        for &limit in &shot.limits {
            found.extend(suspect(shot, limit)?);
        }
    }
    let looks = found.len() as u64;
    let raw: Vec<f64> = found.iter().map(|one| one.p).collect();
    for (one, p) in found.iter_mut().zip(holm(&raw)?) {
        one.p = p;
    }
    found.retain(|one| one.p < ALPHA && one.asking.events > one.following.events);
    Ok(Looked { looks, masked: found })
}

/// The attacks on each defended model, by its number and defence.
fn by_model(rows: &Rows) -> BTreeMap<(usize, &str), Shot<'_>> {
    let (models, _) = numbered(&rows.configurations);
    let mut out: BTreeMap<(usize, &str), Shot<'_>> = BTreeMap::new();
    let key = |i: usize| (models[i], rows.configurations[i].defence.label.as_str());
    for (i, of) in rows.configurations.iter().enumerate() {
        let new = || Shot { of, limits: BTreeSet::new(), rows: Vec::new() };
        out.entry(key(i)).or_insert_with(new).limits.extend(Limit::of(of));
    }
    for row in &rows.rows {
        let i = row.configuration as usize;
        let needs = rows.configurations[i].needs.as_str();
        if let Some(shot) = out.get_mut(&key(i)).filter(|_| !needs.is_empty()) {
            shot.rows.push((needs == GRADIENTS, row));
        }
    }
    out
}

/// The samples that either kind of attack changed within a limit, side by side; `None` where no
/// sample met both kinds.
fn suspect(shot: &Shot<'_>, limit: Limit) -> Result<Option<Masked>, AnalysisError> {
    let mut samples: BTreeMap<&str, [Option<bool>; 2]> = BTreeMap::new();
    for (follows, row) in &shot.rows {
        let own = &mut samples.entry(&row.sample).or_default()[usize::from(*follows)];
        *own = Some(own.unwrap_or(false) || limit.holds(row));
    }
    let pairs: Vec<(bool, bool)> =
        samples.values().filter_map(|[asking, following]| (*asking).zip(*following)).collect();
    if pairs.is_empty() {
        return Ok(None);
    }
    let count = |of: fn(&(bool, bool)) -> bool| pairs.iter().filter(|pair| of(pair)).count() as u64;
    let n = pairs.len() as u64;
    Ok(Some(Masked {
        model: named(shot.of),
        norm: limit.norm().to_owned(),
        epsilon: limit.epsilon(),
        asking: rate(count(|pair| pair.0), n)?,
        following: rate(count(|pair| pair.1), n)?,
        p: mcnemar_exact(count(|pair| pair.0 && !pair.1), count(|pair| pair.1 && !pair.0)),
    }))
}

/// A defended model, for people.
fn named(of: &Configuration) -> String {
    format!(
        "{} on {} ({} epochs, learning rate {}, shuffle {}) with {}",
        of.architecture, of.data, of.epochs, of.learning_rate, of.permutation, of.defence.label
    )
}
