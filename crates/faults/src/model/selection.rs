//! Which values of a model a fault may land in, as the user says it.

use super::Anatomy;
use faultlens_core::{
    Parameter, ParameterKind, Setting, SettingError, Settings, Unset, did_you_mean,
};
use faultlens_engine::{Graph, Operator, OperatorId, ValueId};
use regex_lite::Regex;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

pub(super) const IN: Parameter = Parameter {
    name: "in",
    about: "what is hit: the outputs of operators, the outputs of layers (what leaves a \
            convolution or matrix with all that follows it), the weights that operators read \
            (kernels, biases, and all that quantised models store), or the model's inputs",
    kind: ParameterKind::Choice(&["outputs", "layer_outputs", "weights", "inputs"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("outputs"))),
};

pub(super) const OPERATORS: Parameter = Parameter {
    name: "operators",
    about: "only these operators, by kind (Conv), by name (/layer1/conv1) or by a regular \
            expression on the name (re:conv[12]$); with mode rate, Conv=0.5 gives a rate of its \
            own; by default all",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

pub(super) const EXCEPT: Parameter = Parameter {
    name: "except",
    about: "not these operators, named as in operators",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

pub(super) const VALUES: Parameter = Parameter {
    name: "values",
    about: "only values of these names, or whose name a regular expression (re:bias$) matches; by \
            default all",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

pub(super) const LAYERS: Parameter = Parameter {
    name: "layers",
    about: "only these layers, by number from 1 (2), from the end (-1) or in a range (2..4); layer \
            0 is what comes before the first weights; by default all",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

pub(super) const ONLY: Parameter = Parameter {
    name: "only",
    about: "of the operators that are selected so far, all or just the first or the last one, such \
            as the first Conv",
    kind: ParameterKind::Choice(&["all", "first", "last"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("all"))),
};

/// Unset instead of a default: settings are part of a trial's identity, and models without such
/// values keep the trials that they had before there was a choice.
pub(super) const CONTROL_VALUES: Parameter = Parameter {
    name: "control_values",
    about: "whether values that only feed shapes, indices and limits (such as what Range, Reshape or \
            NonMaxSuppression's limits are computed from) are hit, which mostly makes the model \
            fail; by default only those that values or operators give by their own names",
    kind: ParameterKind::Choice(&["exclude", "include"]),
    unset: Unset::Absent,
};

pub(super) const FROM_DEPTH: Parameter = depth("from_depth", "only layers from this depth on", 0.0);
pub(super) const TO_DEPTH: Parameter = depth("to_depth", "only layers up to this depth", 1.0);

const fn depth(name: &'static str, about: &'static str, unset: f64) -> Parameter {
    let kind = ParameterKind::Number { min: 0.0, max: 1.0 };
    Parameter { name, about, kind, unset: Unset::Is(Setting::Number(unset)) }
}

/// What of an operator may be hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Outputs,
    LayerOutputs,
    Weights,
    Inputs,
}

/// Which values a fault may land in.
#[derive(Debug)]
pub struct Selection {
    pub(super) part: Part,
    operators: Vec<Name>,
    except: Vec<Name>,
    values: Vec<Name>,
    layers: Vec<RangeInclusive<i64>>,
    only: Only,
    depth: RangeInclusive<f64>,
    control_values: ControlValues,
}

/// Whether values that only steer the run are hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ControlValues {
    /// Where the selection names them, or their operator, one by one.
    Named,
    Exclude,
    Include,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Only {
    All,
    First,
    Last,
}

/// Something that names operators or values.
#[derive(Debug)]
struct Name {
    text: String,
    pattern: Option<Regex>,
    /// The rate that `Conv=0.5` gives.
    rate: Option<f64>,
}

impl Name {
    fn read(text: &str, rates: bool) -> Result<Self, SettingError> {
        let (text, rate) = match text.rsplit_once('=') {
            Some((name, rate)) if rates && !text.starts_with("re:") => {
                (name.trim(), Some(probability(name.trim(), rate)?))
            }
            _ => (text, None),
        };
        let pattern =
            text.strip_prefix("re:").map(Regex::new).transpose().map_err(|error| {
                SettingError(format!("{text:?} is no regular expression: {error}"))
            })?;
        Ok(Self { text: text.to_owned(), pattern, rate })
    }

    fn is(&self, name: &str) -> bool {
        match &self.pattern {
            Some(pattern) => pattern.is_match(name),
            None => self.text == name,
        }
    }

    fn is_operator(&self, operator: &Operator) -> bool {
        self.is(&operator.name) || (self.pattern.is_none() && self.text == operator.op_type)
    }
}

fn probability(name: &str, text: &str) -> Result<f64, SettingError> {
    match text.trim().parse::<f64>() {
        Ok(rate) if (0.0..=1.0).contains(&rate) => Ok(rate),
        _ => Err(SettingError(format!("the rate of {name} is from 0 to 1, not {}", text.trim()))),
    }
}

fn names(settings: &Settings, of: &Parameter, rates: bool) -> Result<Vec<Name>, SettingError> {
    settings.names(of.name).iter().map(|text| Name::read(text, rates)).collect()
}

fn layers(text: &String) -> Result<RangeInclusive<i64>, SettingError> {
    let (first, last) = text.split_once("..").unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) => Ok(first..=last),
        _ => Err(SettingError(format!("layers are numbers or ranges such as 2..4, not {text:?}"))),
    }
}

impl Selection {
    pub(super) fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        let depth = settings.number(FROM_DEPTH.name)?..=settings.number(TO_DEPTH.name)?;
        if depth.is_empty() {
            return Err(SettingError(format!(
                "from_depth ({}) lies beyond to_depth ({})",
                depth.start(),
                depth.end()
            )));
        }
        let selection = Self {
            part: match settings.word(IN.name)? {
                "weights" => Part::Weights,
                "layer_outputs" => Part::LayerOutputs,
                "inputs" => Part::Inputs,
                _ => Part::Outputs,
            },
            operators: names(settings, &OPERATORS, true)?,
            except: names(settings, &EXCEPT, false)?,
            values: names(settings, &VALUES, false)?,
            layers: settings.names(LAYERS.name).iter().map(layers).collect::<Result<_, _>>()?,
            only: match settings.word(ONLY.name)? {
                "first" => Only::First,
                "last" => Only::Last,
                _ => Only::All,
            },
            depth,
            control_values: match settings.word(CONTROL_VALUES.name) {
                Ok("include") => ControlValues::Include,
                Ok(_) => ControlValues::Exclude,
                Err(_) => ControlValues::Named,
            },
        };
        if selection.part == Part::Inputs && selection.names_operators() {
            let what = "inputs belong to no operator or layer; leave out operators, except, layers, \
                        only and depths, or name inputs in values";
            return Err(SettingError(what.to_owned()));
        }
        Ok(selection)
    }

    /// Whether a value is left out because it only steers the run. `operator` is the one that it
    /// counts for.
    pub(super) fn leaves_out(
        &self,
        graph: &Graph,
        anatomy: &Anatomy,
        operator: OperatorId,
        value: ValueId,
    ) -> bool {
        let operator = &graph.operator(operator).name;
        let value_name = graph.value_name(value);
        anatomy.is_control(value)
            && match self.control_values {
                ControlValues::Include => false,
                ControlValues::Exclude => true,
                ControlValues::Named => {
                    let by_operator = self.operators.iter().any(|name| name.text == *operator);
                    let by_value = self.values.iter().any(|name| name.text == value_name);
                    !by_operator && !by_value
                }
            }
    }

    fn names_operators(&self) -> bool {
        let named = [&self.operators, &self.except].into_iter().any(|names| !names.is_empty());
        let depths = (*self.depth.start(), *self.depth.end()) != (0.0, 1.0);
        named || depths || !self.layers.is_empty() || self.only != Only::All
    }

    /// The first numbers of layers that no layer has.
    pub(super) fn layer_beyond(&self, anatomy: &Anatomy) -> Option<String> {
        let beyond = self.layers.iter().find(|range| {
            let counted = from_end(range, anatomy);
            !(0..=anatomy.last()).any(|layer| counted.contains(&i64::from(layer)))
        })?;
        if beyond.start() == beyond.end() {
            return Some(beyond.start().to_string());
        }
        Some(format!("{}..{}", beyond.start(), beyond.end()))
    }

    /// The first name that means nothing in this graph, with what there is instead.
    pub fn unknown_in(&self, graph: &Graph) -> Option<(&str, String)> {
        let operators = graph.operators();
        let mut named = self.operators.iter().chain(&self.except);
        if let Some(name) = named.find(|name| !operators.iter().any(|op| name.is_operator(op))) {
            let kinds: BTreeSet<&str> = operators.iter().map(|op| op.op_type.as_str()).collect();
            let all = kinds.iter().copied().chain(operators.iter().map(|op| op.name.as_str()));
            let hint = match did_you_mean(&name.text, all) {
                Some(near) => format!("did you mean {near:?}?"),
                None => format!("it has {}", kinds.into_iter().collect::<Vec<_>>().join(", ")),
            };
            return Some((&name.text, hint));
        }
        let unknown = self.values.iter().find(|name| !graph.value_names().any(|v| name.is(v)))?;
        let hint = match did_you_mean(&unknown.text, graph.value_names()) {
            Some(near) => format!("did you mean {near:?}?"),
            None => "values have the names that the model's file gives them".to_owned(),
        };
        Some((&unknown.text, hint))
    }

    /// The rate that an operator has of its own.
    pub(super) fn rate(&self, operator: &Operator) -> Option<f64> {
        self.operators.iter().filter(|name| name.is_operator(operator)).find_map(|name| name.rate)
    }

    /// Whether some operator has a rate of its own.
    pub(super) fn has_rates(&self) -> bool {
        self.operators.iter().any(|name| name.rate.is_some())
    }

    /// The selected values with the operators that they count for, in the order of execution.
    pub(super) fn values(&self, graph: &Graph, anatomy: &Anatomy) -> Vec<(OperatorId, ValueId)> {
        let selected = self.operators(graph, anatomy);
        let mut found = match self.part {
            Part::Outputs => outputs(graph, anatomy, &selected),
            Part::LayerOutputs => {
                let mut leaving = outputs(graph, anatomy, &selected);
                leaving.retain(|&(maker, value)| leaves(graph, anatomy, maker, value));
                leaving
            }
            Part::Weights => weights(graph, anatomy, &selected),
            Part::Inputs => inputs(graph),
        };
        found.retain(|&(_, value)| {
            let name = graph.value_name(value);
            self.values.is_empty() || self.values.iter().any(|wanted| wanted.is(name))
        });
        found
    }

    fn operators(&self, graph: &Graph, anatomy: &Anatomy) -> Vec<OperatorId> {
        let mut selected: Vec<OperatorId> =
            graph.operator_ids().filter(|&id| self.selects(graph, anatomy, id)).collect();
        // What follows from weights alone is part of no inference, and never the first or last.
        selected.retain(|&id| !anatomy.is_constant_operator(graph, id));
        match self.only {
            Only::All => {}
            Only::First => selected.truncate(1),
            Only::Last => drop(selected.drain(..selected.len().saturating_sub(1))),
        }
        selected
    }

    fn selects(&self, graph: &Graph, anatomy: &Anatomy, id: OperatorId) -> bool {
        let operator = graph.operator(id);
        let layer = anatomy.layer(id);
        let named = self.operators.iter().any(|name| name.is_operator(operator));
        let excepted = self.except.iter().any(|name| name.is_operator(operator));
        let mut ranges = self.layers.iter().map(|range| from_end(range, anatomy));
        let within = ranges.any(|range| range.contains(&i64::from(layer)));
        (self.operators.is_empty() || named)
            && !excepted
            && (self.layers.is_empty() || within)
            && self.depth.contains(&anatomy.depth(layer))
    }
}

/// Numbers below zero count from the end.
fn from_end(range: &RangeInclusive<i64>, anatomy: &Anatomy) -> RangeInclusive<i64> {
    let past = i64::from(anatomy.last()) + 1;
    let [first, last] = [*range.start(), *range.end()]
        .map(|number| if number < 0 { past + number } else { number });
    first..=last
}

/// What the operators make, but for what follows from weights alone.
fn outputs(graph: &Graph, anatomy: &Anatomy, of: &[OperatorId]) -> Vec<(OperatorId, ValueId)> {
    let made = of.iter().flat_map(|&id| graph.operator(id).makes().map(move |value| (id, value)));
    made.filter(|&(_, value)| !anatomy.is_constant(value)).collect()
}

/// Whether a value is read outside its layer, or is an answer.
fn leaves(graph: &Graph, anatomy: &Anatomy, maker: OperatorId, value: ValueId) -> bool {
    let layer = anatomy.layer(maker);
    let mut readers = graph.consumers(value).iter();
    graph.outputs().contains(&value) || readers.any(|&reader| anatomy.layer(reader) != layer)
}

/// The weights that the operators read, as they are stored; one that several read belongs to the
/// first.
fn weights(graph: &Graph, anatomy: &Anatomy, of: &[OperatorId]) -> Vec<(OperatorId, ValueId)> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for &id in of {
        let mut open: Vec<ValueId> = graph.operator(id).reads().collect();
        open.reverse();
        while let Some(value) = open.pop() {
            if !anatomy.is_constant(value) || !seen.insert(value) {
                continue;
            }
            match graph.producer(value) {
                Some(maker) => open.extend(graph.operator(maker).reads()),
                None => found.push((id, value)),
            }
        }
    }
    found
}

/// The model's inputs, each with the first operator that reads it.
fn inputs(graph: &Graph) -> Vec<(OperatorId, ValueId)> {
    let fed = graph.inputs().iter().filter(|&&value| graph.initializer(value).is_none());
    fed.filter_map(|&value| Some((*graph.consumers(value).first()?, value))).collect()
}
