//! Gradient masking: where attacks that only ask change more answers than those that follow
//! gradients, by no larger changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Attempt, Limit, Rate};
use faultlens_stats::holm;
use serde::Serialize;

use super::counts::rate;
use super::rows::{Configuration, Row, Rows};
use super::{ALPHA, AnalysisError, numbered};

/// What follows the gradient needs it.
const GRADIENTS: &str = "gradients";

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

/// How far the attack of a configuration may go, where it follows gradients.
fn limit(of: &Configuration) -> Option<Limit> {
    let epsilon = of.epsilon.filter(|_| of.needs == GRADIENTS)?;
    Limit::new(of.norm.as_deref()?, epsilon)
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
        out.entry(key(i))
            .or_insert_with(|| Shot { of, limits: BTreeSet::new(), rows: Vec::new() })
            .limits
            .extend(limit(of));
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

/// Both kinds of attack on the samples of a defended model, within a limit; `None` where no
/// sample met both kinds.
fn suspect(shot: &Shot<'_>, limit: Limit) -> Result<Option<Masked>, AnalysisError> {
    let attempts = shot.rows.iter().map(|(follows, row)| {
        let found = |distance: Option<f64>| distance.filter(|_| row.changed);
        let distance_inf = found(row.distance_inf);
        let distance_2 = found(row.distance_2);
        (row.sample.as_str(), Attempt { follows: *follows, distance_inf, distance_2 })
    });
    let Some(both) = limit.both_kinds(attempts) else { return Ok(None) };
    Ok(Some(Masked {
        model: named(shot.of),
        norm: limit.norm().to_owned(),
        epsilon: limit.epsilon(),
        asking: rate(both.asking, both.cases)?,
        following: rate(both.following, both.cases)?,
        p: both.p_value,
    }))
}

/// A defended model, for people.
fn named(of: &Configuration) -> String {
    format!(
        "{} on {} ({} epochs, learning rate {}, shuffle {}) with {}",
        of.architecture, of.data, of.epochs, of.learning_rate, of.permutation, of.defence.label
    )
}
