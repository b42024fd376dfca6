//! TensorFI 1: faults in the results of operators.

use super::super::error::Diagnostic;
use super::super::location::{At, Location};
use super::super::section::read;
use super::super::tree::{Node, Value};
use super::super::values::{NameOf, Names, Texts, Whole};
use super::number_in;
use super::operators::{ALL, OPERATORS, executed, kinds};
use super::write::FaultText;
use faultlens_core::did_you_mean;
use faultlens_engine::{Graph, Operator};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeSet;

/// A file of TensorFI 1 as it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "PascalCase")]
pub(super) struct FirstFile {
    /// What happens to scalars; None by default.
    scalar_fault_type: Option<NameOf<FaultTypes>>,
    /// What happens to tensors; None by default.
    tensor_fault_type: Option<At<NameOf<FaultTypes>>>,
    /// What is hit, such as - ALL = 1.0.
    ops: At<Texts>,
    /// What all random numbers come from.
    seed: Option<Count>,
    /// How many of the operators are spared, from the first one on.
    skip_count: Option<At<Count>>,
    /// How many operators of each name the model has.
    #[serde(default)]
    instances: Texts,
    /// How many operators are hit; errorRate by default.
    inject_mode: Option<Mode>,
}

type Count = Whole<0, { i64::MAX }>;

/// The fault types by their names.
struct FaultTypes;

impl Names for FaultTypes {
    const WHAT: &'static str = "fault type";

    fn all() -> Vec<(&'static str, &'static str)> {
        TYPES.iter().map(|kind| (kind.name, "")).collect()
    }
}

/// A fault type, and what it is here.
#[derive(Debug)]
struct FaultType {
    name: &'static str,
    /// Absent where nothing happens.
    fault: Option<&'static str>,
    /// Whether every element of a tensor is hit, or one.
    whole: bool,
}

const TYPES: &[FaultType] = &[
    FaultType { name: "None", fault: None, whole: false },
    FaultType { name: "Rand", fault: Some("random_value"), whole: true },
    FaultType { name: "Zero", fault: Some("zero"), whole: true },
    FaultType { name: "Rand-element", fault: Some("random_value"), whole: false },
    FaultType { name: "bitFlip-element", fault: Some("bit_flip"), whole: false },
    FaultType { name: "bitFlip-tensor", fault: Some("bit_flip"), whole: true },
];

impl FaultType {
    fn named(name: &str) -> Option<&'static Self> {
        TYPES.iter().find(|kind| kind.name == name)
    }
}

/// How many operators are hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum Mode {
    /// Each by its probability.
    ErrorRate,
    /// One of each kind.
    DynamicInstance,
    /// One.
    OneFaultPerRun,
}

/// A checked file.
#[derive(Debug)]
pub(super) struct First {
    fault: &'static str,
    whole: bool,
    /// Absent where the file does not say it.
    mode: Option<Mode>,
    ops: Vec<Named>,
    ops_at: Location,
    instances: Vec<Named>,
    seed: Option<i64>,
    skip: usize,
    skip_at: Location,
    /// Whether scalars are to be hit.
    scalars: bool,
}

/// An entry such as `CONV2D = 0.5`.
#[derive(Debug)]
struct Named {
    name: String,
    kinds: &'static [&'static str],
    number: f64,
}

impl Named {
    /// What it stands for, in words.
    fn text(&self) -> String {
        match self.kinds {
            [] => format!("{}, which ONNX does not know", self.name),
            [kind] if kind.eq_ignore_ascii_case(&self.name) => self.name.clone(),
            kinds => format!("{} ({})", self.name, kinds.join(", ")),
        }
    }

    fn is(&self, operator: &Operator) -> bool {
        self.name == ALL || self.kinds.contains(&operator.op_type.as_str())
    }
}

/// Operators that a fault may hit.
struct Chosen {
    /// Kinds with their probabilities, in the order of the file.
    kinds: Vec<(&'static str, f64)>,
    /// The probability of all others.
    all: Option<f64>,
}

impl First {
    pub(super) fn read(tree: &Node) -> Result<Self, Diagnostic> {
        let tree = without_nothing(tree);
        let ops = tree.get("Ops");
        if let Some(ops) = ops.filter(|ops| is_empty(ops)) {
            let what = "Ops names no operator, so that nothing would be hit; write - ALL = 1.0 \
                        below it, or others instead of ALL";
            return Err(Diagnostic::new(ops.at, what));
        }
        let file: FirstFile = read("a TensorFI 1 file", &tree, "")?;
        let scalar = file.scalar_fault_type.and_then(|name| FaultType::named(&name.name));
        let scalars = scalar.is_some_and(|kind| kind.fault.is_some());
        let tensor = file.tensor_fault_type.as_ref();
        let tensor_at = tensor.map_or(tree.at, |name| name.at);
        let tensor = tensor.and_then(|name| FaultType::named(&name.value.name));
        let Some(FaultType { fault: Some(fault), whole, .. }) = tensor else {
            return Err(Diagnostic::new(tensor_at, nothing(scalars)));
        };
        let skip = file.skip_count.as_ref().and_then(|skip| skip.value.get());
        Ok(Self {
            fault,
            whole: *whole,
            mode: file.inject_mode,
            ops: probabilities(&file.ops.value)?,
            ops_at: file.ops.at,
            instances: instances(&file.instances)?,
            seed: file.seed.and_then(Whole::get),
            skip: skip.unwrap_or(0),
            skip_at: file.skip_count.map_or(tree.at, |skip| skip.at),
            scalars,
        })
    }

    pub(super) fn seed(&self) -> Option<i64> {
        self.seed
    }

    /// The campaign's fault for this model.
    pub(super) fn fault(
        &self,
        graph: &Graph,
        notes: &mut Vec<String>,
    ) -> Result<FaultText, Diagnostic> {
        let operators = executed(graph);
        if self.scalars {
            notes.push("ScalarFaultType hits nothing: an ONNX model computes tensors".to_owned());
        }
        let chosen = self.chosen(&operators, notes)?;
        self.count(&operators, notes);
        let mut fault = FaultText::new(self.fault);
        fault.set("in", "outputs");
        self.select(&chosen, &mut fault, notes);
        fault.list("except", &self.spared(&operators, graph)?);
        if self.whole {
            fault.set("pattern", "tensor");
        }
        Ok(fault)
    }

    /// How many operators are hit, and which.
    fn select(&self, chosen: &Chosen, fault: &mut FaultText, notes: &mut Vec<String>) {
        let mode = self.mode.unwrap_or_else(|| {
            let what = "InjectMode is not there; errorRate is taken, as before TensorFI had modes";
            notes.push(what.to_owned());
            Mode::ErrorRate
        });
        if mode == Mode::ErrorRate {
            let mut operators: Vec<String> = chosen
                .kinds
                .iter()
                .map(|(kind, probability): &(&str, f64)| format!("{kind}={probability}"))
                .collect();
            fault.set("mode", "rate");
            if let Some(all) = chosen.all {
                fault.set("rate", all);
                // Kinds with a probability of their own, and all others.
                operators.extend((!operators.is_empty()).then(|| "re:.*".to_owned()));
            }
            fault.list("operators", &operators);
            return;
        }
        if self.ops.iter().any(|named| named.number != 1.0) {
            let what = "the probabilities in Ops decide nothing with this InjectMode, as in \
                        TensorFI: every operator of Ops may be hit";
            notes.push(what.to_owned());
        }
        fault.set("mode", if mode == Mode::DynamicInstance { "each_kind" } else { "one" });
        if chosen.all.is_none() {
            let kinds: Vec<String> =
                chosen.kinds.iter().map(|(kind, _)| (*kind).to_owned()).collect();
            fault.list("operators", &kinds);
        }
    }

    /// What of `Ops` the model has.
    fn chosen(
        &self,
        operators: &[&Operator],
        notes: &mut Vec<String>,
    ) -> Result<Chosen, Diagnostic> {
        let present: BTreeSet<&str> = operators.iter().map(|op| op.op_type.as_str()).collect();
        let mut chosen = Chosen { kinds: Vec::new(), all: None };
        for named in &self.ops {
            if named.name == ALL {
                chosen.all = Some(named.number);
                continue;
            }
            let kinds = || named.kinds.iter().filter(|kind| present.contains(**kind));
            if kinds().next().is_none() {
                notes.push(format!("nothing is hit for {}: the model has none", named.text()));
            }
            for &kind in kinds() {
                if let Some(at) = chosen.kinds.iter().position(|(other, _)| *other == kind) {
                    let (_, before) = chosen.kinds.remove(at);
                    if before != named.number {
                        let name = &named.name;
                        let number = named.number;
                        let what =
                            format!("several names of Ops mean {kind}; {name} = {number} counts");
                        notes.push(what);
                    }
                }
                chosen.kinds.push((kind, named.number));
            }
        }
        if chosen.kinds.is_empty() && chosen.all.is_none() {
            let has = present.into_iter().collect::<Vec<_>>().join(", ");
            let what = format!("the model has none of these operators; it has {has}");
            return Err(Diagnostic::new(self.ops_at, what));
        }
        Ok(chosen)
    }

    /// Sets what the file counts beside what the model has.
    fn count(&self, operators: &[&Operator], notes: &mut Vec<String>) {
        for named in &self.instances {
            let has = operators.iter().filter(|operator| named.is(operator)).count();
            if named.number != has as f64 {
                let name = &named.name;
                let number = named.number;
                notes.push(format!(
                    "Instances says {name} = {number}, and the model has {has}; its own count is \
                     used"
                ));
            }
        }
    }

    /// The names of the operators that `SkipCount` spares.
    fn spared(&self, operators: &[&Operator], graph: &Graph) -> Result<Vec<String>, Diagnostic> {
        let selected: Vec<&&Operator> = operators
            .iter()
            .filter(|operator| self.ops.iter().any(|named| named.is(operator)))
            .collect();
        if self.skip >= selected.len() {
            let skip = self.skip;
            let all = selected.len();
            let what = format!("SkipCount {skip} spares every operator: Ops selects {all} of them");
            return Err(Diagnostic::new(self.skip_at, what));
        }
        let means = |name: &str| {
            graph
                .operators()
                .iter()
                .filter(|op: &&Operator| op.name == name || op.op_type == name)
                .count()
        };
        let spared = selected[..self.skip].iter().map(|operator| operator.name.clone());
        let spared: Vec<String> = spared.collect();
        match spared.iter().find(|name| means(name) != 1) {
            None => Ok(spared),
            Some(name) => {
                let what = format!(
                    "SkipCount spares the operator {name:?}, and the model has others of that \
                     name; give operators names of their own, or leave SkipCount out"
                );
                Err(Diagnostic::new(self.skip_at, what))
            }
        }
    }
}

/// What to say where no fault is asked for.
fn nothing(scalars: bool) -> &'static str {
    if scalars {
        "only ScalarFaultType is set, and an ONNX model computes tensors: nothing would be hit; \
         set TensorFaultType"
    } else {
        "TensorFaultType is None, so that nothing would be hit; set it, such as to bitFlip-element"
    }
}

/// TensorFI takes these keys without a value for keys that are not there.
fn without_nothing(tree: &Node) -> Node {
    let optional = ["ScalarFaultType", "TensorFaultType", "Instances"];
    let mut entries = tree.entries().to_vec();
    entries.retain(|entry| !optional.contains(&entry.key.as_str()) || !is_empty(&entry.node));
    tree.with(Value::Map(entries))
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Nothing => true,
        Value::List(list) => list.is_empty(),
        _ => false,
    }
}

fn probabilities(ops: &Texts) -> Result<Vec<Named>, Diagnostic> {
    named("Ops", ops, "a probability from 0 to 1", |number| (0.0..=1.0).contains(&number))
}

fn instances(texts: &Texts) -> Result<Vec<Named>, Diagnostic> {
    named("Instances", texts, "a whole number of 1 or more", |number| {
        number >= 1.0 && number.fract() == 0.0
    })
}

/// The entries of a list of `NAME = number`.
fn named(
    key: &str,
    texts: &Texts,
    wanted: &str,
    fits: impl Fn(f64) -> bool,
) -> Result<Vec<Named>, Diagnostic> {
    let mut all = Vec::new();
    for At { at, value: text } in &texts.0 {
        let Some((name, number)) = text.split_once('=') else {
            let what = format!("{key} reads NAME = {wanted}, not {text:?}");
            return Err(Diagnostic::new(*at, what));
        };
        let name = name.trim();
        let number = number.trim();
        let kinds = kinds(name).ok_or_else(|| Diagnostic::new(*at, unknown(name)))?;
        let Some(number) = number_in(number).filter(|number| fits(*number)) else {
            return Err(Diagnostic::new(*at, format!("{name} takes {wanted}, not {number}")));
        };
        all.push(Named { name: name.to_owned(), kinds, number });
    }
    Ok(all)
}

/// TensorFI passes over a name that it does not know, and then injects nothing.
fn unknown(name: &str) -> String {
    let names = || OPERATORS.iter().map(|(name, _)| *name);
    match did_you_mean(name, names()) {
        Some(meant) => format!("TensorFI has no operator {name:?}; did you mean \"{meant}\"?"),
        None => {
            let all = names().collect::<Vec<_>>().join(", ");
            format!("TensorFI has no operator {name:?}; known: {all}")
        }
    }
}
