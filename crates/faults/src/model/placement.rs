//! How many places a fault hits, and how they are drawn.

use super::pattern::{PATTERN, Pattern};
use super::selection::{Part, Selection};
use super::sites::{Group, Sites, Unit};
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
    about: "with mode rate, how likely each operator is hit",
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
    about: "hit some layers more often, such as 1=4 or 2..5=2, to know their share sooner; rates \
            are corrected for it",
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
        let wrong = |what: &str| Err(SettingError(what.to_owned()));
        let has_rates = self.selection.has_rates();
        match self.mode {
            Mode::Rate if self.rate.is_none() && !has_rates => {
                return wrong("mode rate needs a rate, or operators with rates such as Conv=0.5");
            }
            Mode::Rate => {}
            _ if self.rate.is_some() || has_rates => return wrong("a rate needs mode: rate"),
            _ => {}
        }
        let drawn = match self.mode {
            Mode::One => true,
            Mode::EachKind => matches!(self.draw, Draw::Operator | Draw::Element),
            _ => self.draw == Draw::Operator,
        };
        if !drawn {
            return wrong("draw says which one is hit, and this mode hits each; leave out draw");
        }
        let many = self.mode != Mode::One || self.amount.is_some();
        let single = !many && self.pattern == Pattern::Element;
        if self.plan != SitePlan::Random
            && (!single || self.draw != Draw::Operator && self.plan == SitePlan::Exhaustive)
        {
            let (mode, amount, draw) = (MODE.name, AMOUNT.name, DRAW.name);
            return Err(SettingError(format!(
                "sites: exhaustive and boundary change one element at a time; leave out {mode}, \
                 {amount}, {}, {} and, with exhaustive, {draw}",
                SHARE.name, PATTERN.name
            )));
        }
        if !self.layer_weights.is_empty()
            && (self.mode != Mode::One || self.plan != SitePlan::Random)
        {
            return wrong("layer_weights need mode: one and sites: random");
        }
        if self.selection.part == Part::Inputs && self.mode == Mode::EachLayer {
            return wrong("inputs belong to no layer; leave out mode: each_layer");
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
        let values = || 0..sites.values.len();
        let operator = |value: &usize| sites.values[*value].operator.index();
        let layer = |value: &usize| sites.values[*value].layer as usize;
        let units = |of: Vec<Vec<usize>>| of.into_iter().map(|of| self.unit(sites, of)).collect();
        let always = |units: Vec<Unit>| Group { units, rate: 1.0 };
        let each = |of: Vec<Vec<usize>>| {
            of.into_iter().map(|of| always(vec![self.unit(sites, of)])).collect::<Vec<_>>()
        };
        match self.mode {
            _ if sites.values.is_empty() => Vec::new(),
            Mode::One => vec![always(units(match self.draw {
                Draw::Operator => by(values(), operator),
                Draw::Layer => by(values(), layer),
                Draw::Value | Draw::Element => by(values(), |value| *value),
            }))],
            Mode::EachKind => {
                // Kinds in the order of their first operator.
                let kind =
                    |value: &usize| graph.operator(sites.values[*value].operator).op_type.as_str();
                let mut kinds: Vec<&str> = Vec::new();
                values().map(|value| kind(&value)).for_each(|kind| {
                    if !kinds.contains(&kind) {
                        kinds.push(kind);
                    }
                });
                let of = |wanted: &&str| {
                    always(units(by(values().filter(|value| kind(value) == *wanted), operator)))
                };
                kinds.iter().map(of).collect()
            }
            Mode::EachOperator => each(by(values(), operator)),
            Mode::EachLayer => each(by(values(), layer)),
            Mode::EachValue => each(by(values(), |value| *value)),
            Mode::Rate => {
                let of = |values: Vec<usize>| {
                    let own = values.first().and_then(|&value| {
                        self.selection.rate(graph.operator(sites.values[value].operator))
                    });
                    let rate = own.or(self.rate).unwrap_or(0.0);
                    Group { units: vec![self.unit(sites, values)], rate }
                };
                by(values(), operator).into_iter().map(of).collect()
            }
        }
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
        let drawn = match count {
            1 => vec![element],
            count => distinct(elements, count, stream),
        };
        if self.pattern == Pattern::Element {
            return drawn;
        }
        let around = |element| {
            self.pattern.around(element, sites.shape(value), elements, sites.kernels(value))
        };
        let all: BTreeSet<usize> = drawn.into_iter().flat_map(around).collect();
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

/// Indices of values that share a key, in the order of the keys.
fn by(values: impl Iterator<Item = usize>, key: impl Fn(&usize) -> usize) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    values.for_each(|value| groups.entry(key(&value)).or_default().push(value));
    groups.into_values().collect()
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
        let (word, bit) = (&mut chosen[number / 64], 1 << (number % 64));
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    });
    (0..n).filter(|number| chosen[number / 64] >> (number % 64) & 1 == 1).collect()
}

/// How much more often things are drawn, by their number.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Weights(Vec<(u32, u32, f64)>);

impl Weights {
    /// From entries such as `30=16` and `23..29=4`.
    pub(super) fn read(entries: &[String]) -> Result<Self, SettingError> {
        let entry = |text: &String| {
            let wrong = || {
                SettingError(format!("weights read 30=16 or 23..29=4, above zero, not {text:?}"))
            };
            let (numbers, weight) = text.split_once('=').ok_or_else(wrong)?;
            let (first, last) = numbers.split_once("..").unwrap_or((numbers, numbers));
            let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
            let weight: f64 = weight.trim().parse().map_err(|_| wrong())?;
            let (first, last) = (number(first)?, number(last)?);
            let sensible = weight > 0.0 && weight <= 1e6 && first <= last;
            Ok((first, last, Some(weight).filter(|_| sensible).ok_or_else(wrong)?))
        };
        entries.iter().map(entry).collect::<Result<_, _>>().map(Self)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The weight of a number; the last entry that has it counts, and 1 where none does.
    pub(super) fn of(&self, number: u32) -> f64 {
        let has = |entry: &&(u32, u32, f64)| (entry.0..=entry.1).contains(&number);
        self.0.iter().rev().find(has).map_or(1.0, |entry| entry.2)
    }
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
    let (count, share) = (settings.number_if_set(AMOUNT.name), settings.number_if_set(SHARE.name));
    match (count, share) {
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
