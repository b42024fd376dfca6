//! Where in a model trials landed: layers with their operators and bits.

use super::attribute::Context;
use super::sample::Stake;
use super::tally::{Counts, Of, Precision, rate};
use super::{GroupRow, Grouping, HeatMap, HeatRow, Ranked, Ranking, Rate, words};
use faultlens_record::{ModelValue, Record};
use faultlens_stats::{StatsError, Weighted};
use std::collections::{BTreeMap, BTreeSet};

/// The fault whose bits a heat map shows.
const BIT_FLIP: &str = "bit_flip";

/// Trials by where they landed.
#[derive(Default)]
pub(super) struct Places {
    /// By target and layer.
    layers: BTreeMap<(u32, u32), Layer>,
}

#[derive(Default)]
struct Layer {
    name: String,
    counts: Counts,
    /// By place in the order of execution.
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

impl Places {
    pub(super) fn add(
        &mut self,
        context: &Context,
        record: &Record,
        stake: Stake,
    ) -> Result<(), StatsError> {
        let Some(site) = context.place(record) else { return Ok(()) };
        let ModelValue { layer, layer_name, position, operator, kind, .. } = &*site.place;
        let layer = self.layers.entry((record.target, *layer)).or_default();
        if layer.operators.is_empty() {
            layer.name.clone_from(layer_name);
        }
        layer.counts.add(&record.outcome, stake)?;
        let own = layer.operators.entry(*position).or_insert_with(|| Operator {
            name: operator.clone(),
            kind: kind.clone(),
            counts: Counts::default(),
        });
        own.counts.add(&record.outcome, stake)?;
        let fault = context.manifest.faults.get(record.fault as usize);
        let flips = fault.is_some_and(|fault| fault.name == BIT_FLIP);
        if let Some(bit) = site.bit.filter(|_| flips && record.measures.hits.is_none()) {
            layer.bits.entry(bit).or_default().add(&record.outcome, stake)?;
        }
        Ok(())
    }

    /// Adds to groups of layers what people call them, their kinds of operators, and the
    /// operators where a layer has several.
    pub(super) fn describe(
        &self,
        grouping: &mut Grouping,
        precision: &Precision,
    ) -> Result<(), StatsError> {
        for row in &mut grouping.rows {
            let Ok(number) = row.key.parse::<u32>() else { continue };
            let of = || self.layers.iter().filter(|((_, layer), _)| *layer == number);
            let names: BTreeSet<&str> = of().map(|(_, layer)| layer.name.as_str()).collect();
            // Targets have layers of their own; of several only the number is common.
            if let [name] = names.iter().collect::<Vec<_>>()[..] {
                row.label = Some(words::layer(number, name));
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

    /// How often flips of each bit change the answer by layer, where there is something to see.
    pub(super) fn heat_maps(
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
            let cell = |layer: &Layer, bit: &u32| match layer.bits.get(bit) {
                Some(counts) => counts.rate(precision, Of::Part),
                None => Ok(Rate::default()),
            };
            let row = |(number, layer): &(u32, &Layer)| {
                let cells = bits.iter().map(|bit| cell(layer, bit)).collect::<Result<_, _>>()?;
                Ok(HeatRow { layer: *number, name: layer.name.clone(), cells })
            };
            let rows = layers.iter().map(row).collect::<Result<_, StatsError>>()?;
            let target = target.name.clone();
            maps.push(HeatMap { target, bits: bits.iter().copied().collect(), rows });
        }
        Ok(maps)
    }

    /// Layers and operators by the share of changed answers that each accounts for.
    pub(super) fn rankings(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<Ranking>, StatsError> {
        let mut rankings = Vec::new();
        for (at, target) in (0..).zip(&context.manifest.targets) {
            let layers = self
                .of(at)
                .map(|(number, layer)| (words::layer(number, &layer.name), &layer.counts));
            let operators = self.of(at).flat_map(|(_, layer)| layer.operators.values());
            let operators = operators.map(|own| (own.name.clone(), &own.counts));
            let all = [("layer", layers.collect::<Vec<_>>()), ("operator", operators.collect())];
            for (attribute, parts) in all {
                let (attribute, of) = (attribute.to_owned(), parts.len() as u64);
                let rows = ranked(parts, precision)?;
                if of > 1 && !rows.is_empty() {
                    let target = target.name.clone();
                    rankings.push(Ranking { target, attribute, rows, of });
                }
            }
        }
        Ok(rankings)
    }

    fn of(&self, target: u32) -> impl Iterator<Item = (u32, &Layer)> {
        let all = self.layers.range((target, 0)..=(target, u32::MAX));
        all.map(|((_, number), layer)| (*number, layer))
    }
}

fn parts(layer: &Layer, precision: &Precision) -> Result<Vec<GroupRow>, StatsError> {
    let part = |own: &Operator| {
        Ok(GroupRow {
            key: own.name.clone(),
            about: Some(own.kind.clone()),
            tally: own.counts.tally(precision, Of::Part)?,
            ..GroupRow::default()
        })
    };
    layer.operators.values().map(part).collect()
}

/// Parts with changed answers, those with most of them first.
fn ranked(
    mut parts: Vec<(String, &Counts)>,
    precision: &Precision,
) -> Result<Vec<Ranked>, StatsError> {
    parts.retain(|(_, counts)| counts.judged().events() > 0);
    let plain = parts.iter().all(|(_, counts)| counts.judged().is_plain());
    let with_sums = |(name, counts): (String, &Counts)| {
        Ok((name, counts.judged().events(), counts.judged().sums()?))
    };
    let parts = parts.into_iter().map(with_sums).collect::<Result<Vec<_>, StatsError>>();
    let mut parts: Vec<(String, u64, Weighted)> = parts?;
    // Parts come in the order of execution, which stays where two account for the same.
    parts.sort_by(|(.., a), (.., b)| b.events().total_cmp(&a.events()));
    let share = |taken: &dyn Fn(usize) -> bool| {
        let (mut sums, mut events) = (Weighted::default(), 0);
        for (at, (_, own, part)) in parts.iter().enumerate() {
            sums.merge(&part.events_of(taken(at)));
            events += if taken(at) { *own } else { 0 };
        }
        match plain {
            true => precision.rate(events, sums.n()),
            false => Ok(rate(events, sums.ratio(precision.intervals.level)?)),
        }
    };
    let row = |(at, (name, ..)): (usize, &(String, u64, Weighted))| {
        let (share, together) = (share(&|other| other == at)?, share(&|other| other <= at)?);
        Ok(Ranked { name: name.clone(), share, together })
    };
    parts.iter().enumerate().map(row).collect()
}
