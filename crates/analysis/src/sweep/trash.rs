//! TRASH of the whole sweep: the middle one of its configurations, for new images.

use std::collections::BTreeMap;

use faultlens_core::Seed;
use serde::Serialize;

use super::observed::{IMAGES, Observed, RESAMPLES};
use super::rows::Rows;

/// The training seconds over the attack seconds of the configuration in the middle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Trash {
    /// The ratio by the own samples of each configuration.
    pub value: f64,
    /// The ends of the interval for new images, by bootstrap over images, the models and attacks as
    /// they are; `None` where fewer than ten images were attacked.
    pub interval: Option<[f64; 2]>,
    /// How many configurations.
    pub configurations: u64,
    /// How many images.
    pub images: u64,
    /// How often images were drawn again.
    pub resamples: u64,
}

/// A configuration with its training time, its rows and the data set of its images.
struct Member<'a> {
    training: f64,
    of: &'a Observed,
    data: &'a str,
}

/// The middle ratio with its interval by percentiles; `None` where no configuration has one.
pub(super) fn trash(rows: &Rows, observed: &[Option<Observed>], seed: u64) -> Option<Trash> {
    let mut members = Vec::new();
    for (of, own) in rows.configurations.iter().zip(observed) {
        if let Some(own) = own.as_ref().filter(|_| of.training_seconds > 0.0) {
            members.push(Member { training: of.training_seconds, of: own, data: &of.data });
        }
    }
    // Images of a data set are drawn among themselves.
    let mut strata: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for member in &members {
        strata.entry(member.data).or_default().extend(member.of.rows.samples());
    }
    for images in strata.values_mut() {
        images.sort_unstable();
        images.dedup();
    }
    let images: u64 = strata.values().map(|images| images.len() as u64).sum();
    let largest = strata.values().flatten().max().copied().unwrap_or_default();
    let mut counts = vec![1.0; largest + 1];
    let value = middle(&members, &counts)?;
    let mut found = Vec::with_capacity(RESAMPLES);
    let mut draw = Seed::new(seed).child("trash").stream();
    let resamples = if images < IMAGES { 0 } else { RESAMPLES };
    for _ in 0..resamples {
        counts.fill(0.0);
        for images in strata.values() {
            for _ in images {
                let at = (draw.uniform() * images.len() as f64) as usize;
                counts[images[at.min(images.len() - 1)]] += 1.0;
            }
        }
        found.extend(middle(&members, &counts));
    }
    found.sort_by(f64::total_cmp);
    let end = |share: f64| found[((found.len() - 1) as f64 * share).round() as usize];
    Some(Trash {
        value,
        interval: (!found.is_empty()).then(|| [end(0.025), end(0.975)]),
        configurations: members.len() as u64,
        images,
        resamples: found.len() as u64,
    })
}

/// The middle one of the ratios, with each image counted so often.
fn middle(members: &[Member<'_>], counts: &[f64]) -> Option<f64> {
    let mut ratios = Vec::with_capacity(members.len());
    for member in members {
        let own: Vec<f64> = member.of.rows.samples().iter().map(|image| counts[*image]).collect();
        let mean = member.of.rows.mean(&own).filter(|mean| *mean > 0.0);
        ratios.extend(mean.map(|mean| member.training / mean));
    }
    ratios.sort_by(f64::total_cmp);
    ratios.get(ratios.len() / 2).copied()
}
