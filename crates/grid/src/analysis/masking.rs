//! Gradient masking: where an attack without gradients changes more answers than those with them.

use std::collections::BTreeMap;

use faultlens_campaign::analysis::Rate;
use faultlens_stats::{fisher_exact, holm, mcnemar_exact};
use serde::Serialize;

use super::counts::rate;
use super::findings::OfConfiguration;
use super::{ALPHA, AnalysisError, numbered};
use crate::rows::{Configuration, Row, Rows};

/// Attacks that never look at a gradient.
const BLACK_BOX: [&str; 5] = ["hop_skip_jump", "pixel", "random_noise", "square", "threshold"];
/// Attacks that follow the gradient.
const WHITE_BOX: [&str; 4] = ["auto_pgd", "deepfool", "fgm", "pgd"];

/// A defended model whose gradients mislead.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Masked {
    /// Which model and defence, for people.
    pub model: String,
    /// The attack without gradients that changed the most answers.
    pub black_box: Share,
    /// The attack with gradients that changed the most answers, at any strength.
    pub white_box: Share,
    /// How often chance alone would make the difference to every attack with gradients, adjusted
    /// for all models and attacks that were looked at.
    pub p: f64,
}

/// An attack and the share of answers that it changed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Share {
    /// The attack with its settings.
    pub attack: String,
    /// The share.
    pub changed: Rate,
}

/// The samples of one configuration, and whether the answer to each changed.
struct Shots<'a> {
    of: &'a Configuration,
    changed: BTreeMap<&'a str, bool>,
}

impl Shots<'_> {
    fn events(&self) -> u64 {
        self.changed.values().filter(|changed| **changed).count() as u64
    }

    fn share(&self) -> f64 {
        self.events() as f64 / (self.changed.len().max(1)) as f64
    }

    fn told(&self) -> Result<Share, AnalysisError> {
        let changed = rate(self.events(), self.changed.len() as u64)?;
        Ok(Share { attack: self.of.attack.label.clone(), changed })
    }

    /// The chance of a difference as large, if there were none; 1 where this one is not above.
    fn more_than(&self, other: &Self) -> Result<f64, AnalysisError> {
        if self.share() <= other.share() {
            return Ok(1.0);
        }
        if self.changed.keys().eq(other.changed.keys()) {
            let only = |a: &Self, b: &Self| {
                let both = a.changed.values().zip(b.changed.values());
                both.filter(|(first, second)| **first && !**second).count() as u64
            };
            return Ok(mcnemar_exact(only(self, other), only(other, self)));
        }
        let n = |of: &Self| of.changed.len() as u64;
        Ok(fisher_exact(self.events(), n(self), other.events(), n(other))?)
    }
}

/// The defended models whose gradients mislead, by their names.
pub(super) fn masked(rows: &Rows) -> Result<Vec<Masked>, AnalysisError> {
    let mut found = Vec::new();
    for shots in by_model(rows).values() {
        found.extend(suspect(shots)?);
    }
    let raw: Vec<f64> = found.iter().map(|one| one.p).collect();
    for (one, p) in found.iter_mut().zip(holm(&raw)?) {
        one.p = p;
    }
    found.retain(|one| one.p < ALPHA);
    Ok(found)
}

/// Whether attacks of both kinds were tried on some model, so that something could be found.
pub(super) fn looked(configurations: &[OfConfiguration]) -> bool {
    let any = |names: &[&str]| configurations.iter().any(|c| names.contains(&c.attack.as_str()));
    any(&BLACK_BOX) && any(&WHITE_BOX)
}

/// The shots at each defended model, by its number and defence.
fn by_model(rows: &Rows) -> BTreeMap<(usize, &str), Vec<Shots<'_>>> {
    let mut shots: Vec<Shots<'_>> =
        rows.configurations.iter().map(|of| Shots { of, changed: BTreeMap::new() }).collect();
    for row in &rows.rows {
        let Row { configuration, sample, changed, .. } = row;
        *shots[*configuration as usize].changed.entry(sample).or_insert(false) |= changed;
    }
    let (models, _) = numbered(&rows.configurations);
    let mut out: BTreeMap<(usize, &str), Vec<Shots<'_>>> = BTreeMap::new();
    for (one, model) in shots.into_iter().zip(models) {
        if !one.changed.is_empty() {
            out.entry((model, &one.of.defence.label)).or_default().push(one);
        }
    }
    out
}

/// The strongest attack without gradients beside the strongest setting of every attack with them;
/// `None` where a kind was not tried.
fn suspect(shots: &[Shots<'_>]) -> Result<Option<Masked>, AnalysisError> {
    let of = |names: &[&str]| -> Vec<&Shots<'_>> {
        shots.iter().filter(|one| names.contains(&one.of.attack.name.as_str())).collect()
    };
    let strongest = |all: &[&Shots<'_>]| {
        (0..all.len()).max_by(|&a, &b| all[a].share().total_cmp(&all[b].share()))
    };
    let (black, white) = (of(&BLACK_BOX), of(&WHITE_BOX));
    let (Some(best), Some(rival)) = (strongest(&black), strongest(&white)) else { return Ok(None) };
    // The strongest of several was picked by looking at all of them.
    let looks = black.len() as f64;
    let mut p: f64 = 0.0;
    for other in &white {
        p = p.max((black[best].more_than(other)? * looks).min(1.0));
    }
    Ok(Some(Masked {
        model: named(black[best].of),
        black_box: black[best].told()?,
        white_box: white[rival].told()?,
        p,
    }))
}

/// A defended model, for people.
pub(super) fn named(of: &Configuration) -> String {
    format!(
        "{} on {} ({} epochs, learning rate {}, shuffle {}) with {}",
        of.architecture, of.data, of.epochs, of.learning_rate, of.permutation, of.defence.label
    )
}
