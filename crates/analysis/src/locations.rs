//! Where in a model faults hit: layers with their operators and bits.

use crate::context::Context;
use crate::estimate::{Precision, Rate, Scope};
use crate::format;
use crate::group::{GroupRow, Grouping};
use crate::sample::TrialDraw;
use crate::tally::Counts;
use faultlens_record::{ModelValue, Record};
use faultlens_stats::{Clustered, StatsError};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// How often flips of each bit change the prediction, by layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatMap {
    /// The target.
    pub target: String,
    /// The bits, rising.
    pub bits: Vec<u32>,
    /// The layers, in the order of execution.
    pub rows: Vec<HeatRow>,
}

/// A layer of a heat map.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeatRow {
    /// The layer's number.
    pub layer: u32,
    /// Its name. From outside; escape it.
    pub name: String,
    /// A rate for each bit; n is 0 where none was flipped.
    pub cells: Vec<Rate>,
}

/// What to protect first: parts of a model by their share of all changed predictions, the largest
/// first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranking {
    /// The target.
    pub target: String,
    /// What is ranked: `layer` or `operator`.
    pub attribute: String,
    /// The parts with changed predictions.
    pub rows: Vec<Ranked>,
    /// How many parts were hit, with or without a changed prediction.
    pub of: u64,
}

/// A part of a model that could be protected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ranked {
    /// Its name. From outside; escape it.
    pub name: String,
    /// Its share of all changed predictions.
    pub share: Rate,
    /// The share of it and all parts before it.
    pub together: Rate,
}

/// The fault whose bits a heat map shows.
const BIT_FLIP: &str = "bit_flip";

/// Trials by the location that they hit.
#[derive(Default)]
pub(crate) struct LocationCounts {
    /// By target and layer.
    layers: BTreeMap<(u32, u32), Layer>,
}

#[derive(Default)]
struct Layer {
    name: String,
    counts: Counts,
    /// By position in the order of execution.
    operators: BTreeMap<u32, Operator>,
    /// Flips by bit.
    bits: BTreeMap<u32, Counts>,
}

#[derive(Default)]
struct Operator {
    name: String,
    kind: String,
    counts: Counts,
}

impl LocationCounts {
    pub(crate) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        weight: TrialDraw,
    ) -> Result<(), StatsError> {
        let Some(site) = context.single_site(record) else { return Ok(()) };
        let ModelValue { layer, layer_name, position, operator, kind, .. } = &*site.place;
        let layer = self.layers.entry((record.target, *layer)).or_default();
        if layer.operators.is_empty() {
            layer.name.clone_from(layer_name);
        }
        layer.counts.add(&record.outcome, weight)?;
        let own = layer.operators.entry(*position).or_insert_with(|| Operator {
            name: operator.clone(),
            kind: kind.clone(),
            counts: Counts::default(),
        });
        own.counts.add(&record.outcome, weight)?;
        let fault = context.manifest.faults.get(record.fault as usize);
        let flips = fault.is_some_and(|fault| fault.name == BIT_FLIP);
        if let Some(bit) = site.bit.filter(|_| flips && record.measures.hits.is_none()) {
            layer.bits.entry(bit).or_default().add(&record.outcome, weight)?;
        }
        Ok(())
    }

    /// Adds to groups of layers their names, their operator types, and their operators where a
    /// layer has several.
    pub(crate) fn describe(
        &self,
        grouping: &mut Grouping,
        target: Option<u32>,
        precision: &Precision,
    ) -> Result<(), StatsError> {
        for row in &mut grouping.rows {
            let Ok(number) = row.key.parse::<u32>() else { continue };
            let of = || {
                let own = self.layers.iter().filter(|((_, layer), _)| *layer == number);
                own.filter(|((at, _), _)| target.is_none_or(|target| target == *at))
            };
            let names: BTreeSet<&str> = of().map(|(_, layer)| layer.name.as_str()).collect();
            // Layers of several targets have only their number in common.
            if let [name] = names.iter().collect::<Vec<_>>()[..] {
                row.label = Some(format::layer(number, name));
            }
            let mut kinds: Vec<&str> = Vec::new();
            for operator in of().flat_map(|(_, layer)| layer.operators.values()) {
                if !kinds.contains(&operator.kind.as_str()) {
                    kinds.push(&operator.kind);
                }
            }
            row.about = (!kinds.is_empty()).then(|| kinds.join(", "));
            if let [(_, layer)] = of().collect::<Vec<_>>()[..]
                && layer.operators.len() > 1
            {
                row.parts = parts(layer, precision)?;
            }
        }
        Ok(())
    }

    /// How often flips of each bit change the prediction by layer, where several bits of several
    /// layers were flipped.
    pub(crate) fn heat_maps(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<HeatMap>, StatsError> {
        let mut maps = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            let layers: Vec<_> = self.of(at).filter(|(_, own)| !own.bits.is_empty()).collect();
            let bits: BTreeSet<u32> =
                layers.iter().flat_map(|(_, layer)| layer.bits.keys().copied()).collect();
            if layers.len() < 2 || bits.len() < 2 {
                continue;
            }
            let mut rows = Vec::new();
            for (number, layer) in layers {
                let mut cells = Vec::new();
                for bit in &bits {
                    cells.push(match layer.bits.get(bit) {
                        Some(counts) => counts.rate(precision, Scope::Part)?,
                        None => Rate::default(),
                    });
                }
                rows.push(HeatRow { layer: number, name: layer.name.clone(), cells });
            }
            let bits = bits.into_iter().collect();
            maps.push(HeatMap { target: target.name.clone(), bits, rows });
        }
        Ok(maps)
    }

    /// Layers and operators by their share of the changed predictions.
    pub(crate) fn rankings(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Ranking>, StatsError> {
        let mut rankings = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            let mut layers = Vec::new();
            let mut operators = Vec::new();
            for (number, layer) in self.of(at) {
                layers.push((format::layer(number, &layer.name), &layer.counts));
                for operator in layer.operators.values() {
                    operators.push((operator.name.clone(), &operator.counts));
                }
            }
            for (attribute, parts) in [("layer", layers), ("operator", operators)] {
                let of = parts.len() as u64;
                let rows = ranked(parts, precision)?;
                if of > 1 && !rows.is_empty() {
                    rankings.push(Ranking {
                        target: target.name.clone(),
                        attribute: attribute.to_owned(),
                        rows,
                        of,
                    });
                }
            }
        }
        Ok(rankings)
    }

    /// The layers of a target.
    fn of(&self, target: u32) -> impl Iterator<Item = (u32, &Layer)> {
        let all = self.layers.range((target, 0)..=(target, u32::MAX));
        all.map(|((_, number), layer)| (*number, layer))
    }
}

fn parts(layer: &Layer, precision: &Precision) -> Result<Vec<GroupRow>, StatsError> {
    let mut parts = Vec::new();
    for operator in layer.operators.values() {
        parts.push(GroupRow {
            key: operator.name.clone(),
            about: Some(operator.kind.clone()),
            tally: operator.counts.tally(precision, Scope::Part)?,
            ..GroupRow::default()
        });
    }
    Ok(parts)
}

/// A part of a model with the changed predictions of its trials.
struct Part {
    name: String,
    events: u64,
    /// Their weight.
    weight: f64,
    /// By image, and by permanent fault.
    changed: [Clustered; 2],
}

/// Parts with changed predictions, those with most of them first.
fn ranked(
    mut parts: Vec<(String, &Counts)>,
    precision: &Precision,
) -> Result<Vec<Ranked>, StatsError> {
    parts.retain(|(_, counts)| counts.judged().events() > 0);
    let mut sorted = Vec::new();
    for (name, counts) in parts {
        let judged = counts.judged();
        let crossed = judged.crossed();
        sorted.push(Part {
            name,
            events: judged.events(),
            weight: judged.sums()?.events(),
            changed: [crossed.first().events(), crossed.second().events()],
        });
    }
    // A stable sort: parts with equal sums stay in the order of execution.
    sorted.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let mut rows = Vec::new();
    for (at, part) in sorted.iter().enumerate() {
        rows.push(Ranked {
            name: part.name.clone(),
            share: share(&sorted, at..=at, precision)?,
            together: share(&sorted, 0..=at, precision)?,
        });
    }
    Ok(rows)
}

/// The share of some parts in the changed predictions of all, with the wider of the intervals by
/// image and by trial, or by permanent fault.
fn share(
    parts: &[Part],
    counted: RangeInclusive<usize>,
    precision: &Precision,
) -> Result<Rate, StatsError> {
    let mut changed = [Clustered::default(), Clustered::default()];
    let mut events = 0;
    for (at, part) in parts.iter().enumerate() {
        let counts = counted.contains(&at);
        for (all, own) in changed.iter_mut().zip(&part.changed) {
            all.merge(&own.all_as(counts));
        }
        if counts {
            events += part.events;
        }
    }
    let [by_image, by_fault] = changed;
    let level = precision.intervals.level;
    let mut rate = Rate::new(events, by_image.estimate(precision.intervals.formula(), level)?);
    rate.images = by_image.len();
    let draws = if by_fault.is_empty() {
        precision.intervals.estimate(events, rate.n)?
    } else {
        by_fault.estimate(precision.intervals.formula(), level)?
    };
    rate.low = rate.low.min(draws.low);
    rate.high = rate.high.max(draws.high);
    rate.these_images = Some([draws.low, draws.high]);
    Ok(precision.shown(rate))
}
