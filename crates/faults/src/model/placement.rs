//! How many places a fault hits, and how they are drawn.

use super::pattern::{PATTERN, Pattern};
use super::selection::{Part, Selection};
use super::sites::{Group, SiteValue, Sites, Unit};
use super::weights::Weights;
use crate::floyd::floyd;
use faultlens_core::{
    Dose, Parameter, ParameterKind, Setting, SettingError, Settings, Stream, Unset,
};
use faultlens_engine::Graph;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const MODE: Parameter = Parameter {
    name: "mode",
    about: "how many places one inference is hit in: one; one operator of each kind; each operator, \
            layer or value; or (rate) each operator with a probability",
    kind: ParameterKind::Choice(&[
        "one",
        "each_kind",
        "each_operator",
        "each_layer",
        "each_value",
        "rate",
    ]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("one"))),
};

pub(super) const RATE: Parameter = Parameter {
    name: "rate",
    about: "with mode rate, the probability that an operator is hit",
    kind: ParameterKind::Number { min: 0.0, max: 1.0 },
    unset: Unset::Absent,
};

pub(super) const DRAW: Parameter = Parameter {
    name: "draw",
    about: "with mode one, what is equally likely: every operator, layer or value, and then every \
            element of it; or every element of all together; with mode each_kind, operator or \
            element",
    kind: ParameterKind::Choice(&["operator", "layer", "value", "element"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("operator"))),
};

pub(super) const AMOUNT: Parameter = Parameter {
    name: "amount",
    about: "how many elements of each hit value are drawn, no element twice; 1 by default, all \
            where there are fewer",
    kind: ParameterKind::Whole { min: 1, max: 1_000_000_000 },
    unset: Unset::Absent,
};

pub(super) const SHARE: Parameter = Parameter {
    name: "share",
    about: "how many of the elements of each hit value are drawn, in percent; instead of amount",
    kind: ParameterKind::Number { min: 0.0, max: 100.0 },
    unset: Unset::Absent,
};

pub(super) const DURATION: Parameter = Parameter {
    name: "duration",
    about: "whether each inference has its own fault, or one stays for all cases: the trials of \
            one number then hit the same place in the same way, whatever the case",
    kind: ParameterKind::Choice(&["transient", "permanent"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("transient"))),
};

pub(super) const SITES: Parameter = Parameter {
    name: "sites",
    about: "random: each trial draws its place; exhaustive: every element and bit has its trial; \
            boundary: each trial draws an element and searches for the lowest of its bits that \
            breaks the answer (bit_flip only)",
    kind: ParameterKind::Choice(&["random", "exhaustive", "boundary"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("random"))),
};

pub(super) const LAYER_WEIGHTS: Parameter = Parameter {
    name: "layer_weights",
    about: "importance sampling: hits some layers more often, such as 1=4 or 2..5=2, to estimate \
            their share sooner; rates are corrected for it",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    One,
    EachKind,
    EachOperator,
    EachLayer,
    EachValue,
    Rate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Draw {
    Operator,
    Layer,
    Value,
    Element,
}

/// How the places of a fault's trials come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SitePlan {
    /// Each trial draws.
    Random,
    /// Every place has a trial.
    Exhaustive,
    /// Each trial draws an element and searches its bits.
    Boundary,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Amount {
    Count(usize),
    Percent(f64),
}

/// Where and how often a fault lands.
#[derive(Debug)]
pub(super) struct Placement {
    pub(super) selection: Selection,
    mode: Mode,
    draw: Draw,
    rate: Option<f64>,
    amount: Option<Amount>,
    pub(super) pattern: Pattern,
    pub(super) permanent: bool,
    pub(super) plan: SitePlan,
    layer_weights: Weights,
}

impl Placement {
    pub(super) fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        let placement = Self {
            selection: Selection::set_in(settings)?,
            mode: mode(settings.word(MODE.name)?),
            draw: draw(settings.word(DRAW.name)?),
            rate: settings.number_if_set(RATE.name),
            amount: amount(settings)?,
            pattern: Pattern::set_in(settings)?,
            permanent: settings.word(DURATION.name)? == "permanent",
            plan: plan(settings.word(SITES.name)?),
            layer_weights: Weights::read(settings.names(LAYER_WEIGHTS.name))?,
        };
        placement.fits_together()?;
        Ok(placement)
    }

    fn fits_together(&self) -> Result<(), SettingError> {
        let has_rates = self.selection.has_rates();
        match self.mode {
            Mode::Rate if self.rate.is_none() && !has_rates => {
                return refused("mode rate needs a rate, or operators with rates such as Conv=0.5");
            }
            Mode::Rate => {}
            _ if self.rate.is_some() || has_rates => return refused("a rate needs mode: rate"),
            _ => {}
        }
        let drawn = match self.mode {
            Mode::One => true,
            Mode::EachKind => matches!(self.draw, Draw::Operator | Draw::Element),
            _ => self.draw == Draw::Operator,
        };
        if !drawn {
            return refused("draw says which one is hit, and this mode hits each; leave out draw");
        }
        let many = self.mode != Mode::One || self.amount.is_some();
        let single = !many && self.pattern == Pattern::Element;
        if self.plan != SitePlan::Random
            && (!single || self.draw != Draw::Operator && self.plan == SitePlan::Exhaustive)
        {
            return Err(SettingError(format!(
                "sites: exhaustive and boundary change one element at a time; leave out {}, {}, \
                 {}, {} and, with exhaustive, {}",
                MODE.name, AMOUNT.name, SHARE.name, PATTERN.name, DRAW.name
            )));
        }
        if !self.layer_weights.is_empty()
            && (self.mode != Mode::One || self.plan != SitePlan::Random)
        {
            return refused("layer_weights need mode: one and sites: random");
        }
        if self.selection.part == Part::Inputs && self.mode == Mode::EachLayer {
            return refused("inputs belong to no layer; leave out mode: each_layer");
        }
        Ok(())
    }

    /// Whether each trial draws one element.
    pub(super) fn draws_one_element(&self) -> bool {
        let many = self.mode != Mode::One || self.amount.is_some();
        !many && self.pattern == Pattern::Element && self.plan == SitePlan::Random
    }

    /// Whether the draws favour some layers.
    pub(super) fn is_weighted(&self) -> bool {
        !self.layer_weights.is_empty()
    }

    /// How much of the fault a model meets, on every axis that the user names.
    pub(super) fn doses(&self) -> impl Iterator<Item = Dose> {
        let rate = self.rate.map(|rate| Dose { axis: RATE.name, amount: rate });
        let amount = self.amount.map(|amount| match amount {
            Amount::Percent(share) => Dose { axis: SHARE.name, amount: share },
            Amount::Count(count) => Dose { axis: AMOUNT.name, amount: count as f64 },
        });
        rate.into_iter().chain(amount)
    }

    /// What is hit once each.
    pub(super) fn groups(&self, sites: &Sites<'_>, graph: &Graph) -> Vec<Group> {
        if sites.values.is_empty() {
            return Vec::new();
        }
        match self.mode {
            Mode::One => {
                let values = match self.draw {
                    Draw::Operator => by_operator(sites),
                    Draw::Layer => by_layer(sites),
                    Draw::Value | Draw::Element => by_value(sites),
                };
                vec![Group { units: self.units(sites, values), rate: 1.0 }]
            }
            Mode::EachKind => self.each_kind(sites, graph),
            Mode::EachOperator => self.each(sites, by_operator(sites)),
            Mode::EachLayer => self.each(sites, by_layer(sites)),
            Mode::EachValue => self.each(sites, by_value(sites)),
            Mode::Rate => self.rated(sites, graph),
        }
    }

    /// One group for all operators of a kind, kinds in the order of their first operator.
    fn each_kind(&self, sites: &Sites<'_>, graph: &Graph) -> Vec<Group> {
        let mut kinds: Vec<&str> = Vec::new();
        for value in &sites.values {
            let kind = graph.operator(value.operator).op_type.as_str();
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let mut groups = Vec::with_capacity(kinds.len());
        for kind in kinds {
            let mut operators = by_operator(sites);
            operators.retain(|values| {
                graph.operator(sites.values[values[0]].operator).op_type.as_str() == kind
            });
            groups.push(Group { units: self.units(sites, operators), rate: 1.0 });
        }
        groups
    }

    /// One group for each of these, so that each is hit.
    fn each(&self, sites: &Sites<'_>, all: Vec<Vec<usize>>) -> Vec<Group> {
        let units = self.units(sites, all);
        units.into_iter().map(|unit| Group { units: vec![unit], rate: 1.0 }).collect()
    }

    /// One group for each operator, with the operator's own rate or the rate of all.
    fn rated(&self, sites: &Sites<'_>, graph: &Graph) -> Vec<Group> {
        let mut groups = Vec::new();
        for values in by_operator(sites) {
            let operator = graph.operator(sites.values[values[0]].operator);
            let rate = self.selection.rate(operator).or(self.rate).unwrap_or(0.0);
            groups.push(Group { units: vec![self.unit(sites, values)], rate });
        }
        groups
    }

    fn units(&self, sites: &Sites<'_>, all: Vec<Vec<usize>>) -> Vec<Unit> {
        all.into_iter().map(|values| self.unit(sites, values)).collect()
    }

    fn unit(&self, sites: &Sites<'_>, values: Vec<usize>) -> Unit {
        let elements: usize = values.iter().map(|&value| sites.values[value].elements).sum();
        let share = if self.draw == Draw::Element { elements as f64 } else { 1.0 };
        let layer = values.first().map_or(0, |&value| sites.values[value].layer);
        Unit { values, share, weight: self.layer_weights.of(layer) }
    }

    /// The elements of a value that are hit when this one is drawn.
    pub(super) fn spread(
        &self,
        sites: &Sites<'_>,
        value: usize,
        element: usize,
        stream: &mut Stream,
    ) -> Vec<usize> {
        let elements = sites.values[value].elements;
        let count = match self.amount {
            None => 1,
            Some(Amount::Count(count)) => count.min(elements),
            // A share of few elements is at least one: a fault that changes nothing is none.
            Some(Amount::Percent(share)) => {
                ((share / 100.0 * elements as f64).round() as usize).max(1)
            }
        };
        let drawn = if count == 1 { vec![element] } else { distinct(elements, count, stream) };
        if self.pattern == Pattern::Element {
            return drawn;
        }
        let mut all = BTreeSet::new();
        for element in drawn {
            let kernels = sites.kernels(value);
            all.extend(self.pattern.around(element, sites.shape(value), elements, kernels));
        }
        all.into_iter().collect()
    }
}

/// One unit at random, and what a trial that hits it counts for.
pub(super) fn pick<'u>(units: &'u [Unit], stream: &mut Stream) -> Option<(&'u Unit, f64)> {
    let favoured: f64 = units.iter().map(|unit| unit.share * unit.weight).sum();
    let plain: f64 = units.iter().map(|unit| unit.share).sum();
    let mut at = stream.uniform() * favoured;
    for unit in units {
        at -= unit.share * unit.weight;
        if at < 0.0 {
            return Some((unit, favoured / plain / unit.weight));
        }
    }
    units.last().map(|unit| (unit, favoured / plain / unit.weight))
}

/// Indices of values by the operator that they count for.
fn by_operator(sites: &Sites<'_>) -> Vec<Vec<usize>> {
    grouped(sites, |value| value.operator.index())
}

/// Indices of values by layer.
fn by_layer(sites: &Sites<'_>) -> Vec<Vec<usize>> {
    grouped(sites, |value| value.layer as usize)
}

/// Indices of values, each on its own.
fn by_value(sites: &Sites<'_>) -> Vec<Vec<usize>> {
    (0..sites.values.len()).map(|value| vec![value]).collect()
}

/// Indices of values that share a key, in the order of the keys; no group is empty.
fn grouped(sites: &Sites<'_>, key: impl Fn(&SiteValue) -> usize) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, value) in sites.values.iter().enumerate() {
        groups.entry(key(value)).or_default().push(at);
    }
    groups.into_values().collect()
}

fn refused(why: &str) -> Result<(), SettingError> {
    Err(SettingError(why.to_owned()))
}

/// So many of the numbers below `n`, none twice, rising.
fn distinct(n: usize, count: usize, stream: &mut Stream) -> Vec<usize> {
    let count = count.min(n);
    if n / 64 > count {
        let mut chosen = BTreeSet::new();
        floyd(n, count, stream, |number| chosen.insert(number));
        return chosen.into_iter().collect();
    }
    // Many of them: a bit for each is smaller than a tree, and far faster.
    let mut chosen = vec![0u64; n.div_ceil(64)];
    floyd(n, count, stream, |number| {
        let word = &mut chosen[number / 64];
        let bit = 1 << (number % 64);
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    });
    (0..n).filter(|number| chosen[number / 64] >> (number % 64) & 1 == 1).collect()
}

fn mode(word: &str) -> Mode {
    match word {
        "each_kind" => Mode::EachKind,
        "each_operator" => Mode::EachOperator,
        "each_layer" => Mode::EachLayer,
        "each_value" => Mode::EachValue,
        "rate" => Mode::Rate,
        _ => Mode::One,
    }
}

fn draw(word: &str) -> Draw {
    match word {
        "layer" => Draw::Layer,
        "value" => Draw::Value,
        "element" => Draw::Element,
        _ => Draw::Operator,
    }
}

fn plan(word: &str) -> SitePlan {
    match word {
        "exhaustive" => SitePlan::Exhaustive,
        "boundary" => SitePlan::Boundary,
        _ => SitePlan::Random,
    }
}

fn amount(settings: &Settings) -> Result<Option<Amount>, SettingError> {
    match (settings.number_if_set(AMOUNT.name), settings.number_if_set(SHARE.name)) {
        (Some(_), Some(_)) => Err(SettingError("give amount or share, not both".to_owned())),
        (Some(count), None) => Ok(Some(Amount::Count(count as usize))),
        (None, Some(0.0)) => Err(SettingError("a share of 0 hits nothing".to_owned())),
        (None, Some(share)) => Ok(Some(Amount::Percent(share))),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn few_and_many_are_drawn_alike() {
        for (n, count) in [(10, 10), (200, 3), (200, 2), (64, 1), (1000, 999), (65, 0)] {
            let mut chosen = BTreeSet::new();
            floyd(n, count, &mut Seed::new(5).stream(), |number| chosen.insert(number));
            let drawn = distinct(n, count, &mut Seed::new(5).stream());
            assert_eq!(drawn, chosen.into_iter().collect::<Vec<_>>(), "{count} of {n}");
            assert_eq!(drawn.len(), count);
        }
    }
}
