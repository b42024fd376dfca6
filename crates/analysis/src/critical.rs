//! Bits that change a prediction, from trials that searched for them.

use crate::context::Context;
use crate::estimate::{Mean, Precision, Rate};
use faultlens_core::OutcomeKind;
use faultlens_record::{BoundarySearch, Record};
use faultlens_stats::{StatsError, Weighted};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What searches for the bits that change a prediction found in one target.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriticalBits {
    /// The target.
    pub target: String,
    /// The fault with its settings.
    pub point: String,
    /// By layer, in the order of execution.
    pub layers: Vec<CriticalLayer>,
    /// All layers together.
    pub all: CriticalLayer,
    /// Queries of the searches.
    pub queries: u64,
    /// Queries that trying every bit would have taken.
    pub exhaustive: u64,
    /// How often a bit contradicts the assumption of the search, among those that were tried as a
    /// check.
    pub unexpected: Rate,
}

/// Critical bits of the elements of a layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CriticalLayer {
    /// The layer's number; `None` for all together.
    pub layer: Option<u32>,
    /// Its name. From outside; escape it.
    pub name: String,
    /// Bits of an element that change the prediction, on average.
    pub mean: Mean,
    /// The share of all flips that change the prediction: critical among searched bits.
    pub share: Rate,
}

/// Stands for the layer of elements whose location is not on record.
const NOWHERE: u32 = u32::MAX;

/// Searched elements by target, fault point and layer.
#[derive(Default)]
pub(crate) struct Critical {
    layers: BTreeMap<(u32, u32, u32), Elements>,
}

/// The elements are the sample: the bits of one element are not independent of each other.
#[derive(Default, Clone)]
struct Elements {
    name: String,
    /// Critical bits of an element.
    bits: faultlens_stats::Mean,
    /// The share of critical bits; an element counts as often as it has bits.
    share: Weighted,
    critical: u64,
    searched: u64,
    /// The share of checks that failed.
    checks: Weighted,
    unexpected: u64,
    queries: u64,
}

impl Critical {
    pub(crate) fn add(&mut self, record: &Record) -> Result<(), StatsError> {
        let Some(BoundarySearch { critical, searched, checked, unexpected }) =
            record.measures.boundary
        else {
            return Ok(());
        };
        if record.outcome.kind() == OutcomeKind::Skipped || searched == 0 {
            return Ok(());
        }
        let (layer, name) = match &record.site {
            Some(site) => (site.place.layer, site.place.layer_name.as_str()),
            None => (NOWHERE, ""),
        };
        let own = self.layers.entry((record.target, record.fault, layer)).or_default();
        name.clone_into(&mut own.name);
        own.bits.add(critical as f64)?;
        own.share.add_bundle(1.0, critical, searched)?;
        own.critical += critical;
        own.searched += searched;
        own.queries += u64::from(record.cost.queries);
        if checked > 0 {
            own.checks.add_bundle(1.0, unexpected, checked)?;
            own.unexpected += unexpected;
        }
        Ok(())
    }

    /// What was found, by target and fault point.
    pub(crate) fn found(
        &self,
        context: &Context,
        precision: &Precision,
    ) -> Result<Vec<CriticalBits>, StatsError> {
        let mut found = Vec::new();
        let searched = self.layers.keys().map(|(target, fault, _)| (*target, *fault));
        for (target, fault) in searched.collect::<BTreeSet<_>>() {
            let of = || self.layers.range((target, fault, 0)..=(target, fault, u32::MAX));
            let named = context.manifest.targets.get(target as usize);
            let (Some(named), Some(point)) = (named, context.manifest.faults.get(fault as usize))
            else {
                continue;
            };
            let mut all = Elements::default();
            of().for_each(|(_, layer)| all.merge(layer));
            // Without the location of some elements, rates by layer would be biased.
            let known = !self.layers.contains_key(&(target, fault, NOWHERE));
            let layers = of()
                .filter(|_| known)
                .map(|((.., number), layer)| layer.found(Some(*number), precision));
            found.push(CriticalBits {
                target: named.name.clone(),
                point: point.label.clone(),
                layers: layers.collect::<Result<_, _>>()?,
                queries: all.queries,
                exhaustive: all.searched,
                unexpected: Rate::new(all.unexpected, all.checks.ratio(precision.intervals.level)?),
                all: all.found(None, precision)?,
            });
        }
        Ok(found)
    }
}

impl Elements {
    fn merge(&mut self, other: &Self) {
        self.bits.merge(&other.bits);
        self.share.merge(&other.share);
        self.critical += other.critical;
        self.searched += other.searched;
        self.checks.merge(&other.checks);
        self.unexpected += other.unexpected;
        self.queries += other.queries;
    }

    fn found(
        &self,
        layer: Option<u32>,
        precision: &Precision,
    ) -> Result<CriticalLayer, StatsError> {
        let level = precision.intervals.level;
        let share = Rate::new(self.critical, self.share.ratio(level)?);
        let elements = self.bits.n();
        let most = self.searched as f64 / elements as f64;
        let estimate = self.bits.estimate(level);
        // Elements that are all alike have no spread; the share's interval knows how few they are.
        let (low, high) = if self.bits.varies() {
            (estimate.low.max(0.0), estimate.high.min(most))
        } else {
            (share.low * most, share.high * most)
        };
        let mean = Mean { value: estimate.value, low, high, n: elements };
        Ok(CriticalLayer { layer, name: self.name.clone(), mean, share })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_stats::{Level, wilson};

    #[test]
    fn elements_are_the_sample() {
        let precision = Precision::wilson();
        let of = |elements: &[u64]| {
            let mut all = Elements::default();
            for critical in elements {
                all.bits.add(*critical as f64).unwrap();
                all.share.add_bundle(1.0, *critical, 32).unwrap();
                all.critical += critical;
                all.searched += 32;
            }
            all.found(Some(1), &precision).unwrap()
        };
        let some = of(&[0, 2, 4, 6]);
        assert_eq!((some.mean.value, some.mean.n), (Some(3.0), 4));
        assert_eq!((some.share.events, some.share.n, some.share.value), (12, 128, Some(0.09375)));
        // Squared distances 9 + 1 + 1 + 9, Student's 3.1824: 3 ± 4.109, and no fewer than none.
        assert!((some.mean.high - 3.0 - 3.182_446 * (20.0f64 / 12.0).sqrt()).abs() < 1e-5);
        assert_eq!(some.mean.low, 0.0);
        // Much wider than if the 128 bits were independent.
        let bits = wilson(12, 128, Level::default()).unwrap();
        assert!(some.share.low < bits.low, "{some:?}");
        // Ten elements without a critical bit: as ten trials without an event.
        let none = of(&[0; 10]);
        let ten = wilson(0, 10, Level::default()).unwrap();
        assert!((none.mean.high - 32.0 * ten.high).abs() < 1e-9, "{none:?}");
        assert_eq!((none.mean.value, none.mean.low, none.share.low), (Some(0.0), 0.0, 0.0));
    }
}
