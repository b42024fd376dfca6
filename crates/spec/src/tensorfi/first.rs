//! TensorFI 1: faults in the results of operators.

use super::super::error::Diagnostic;
use super::super::takes::{Key, Takes, check};
use super::super::tree::{Node, Value};
use super::operators::{ALL, OPERATORS, executed, kinds};
use super::write::FaultText;
use super::{number_in, word};
use faultlens_core::ParameterKind::{Choice, Whole};
use faultlens_core::did_you_mean;
use faultlens_engine::{Graph, Operator};
use serde_saphyr::Location;
use std::collections::BTreeSet;

pub(super) const KEYS: &[Key] = &[
    key("ScalarFaultType", "what happens to scalars; None by default", FAULT_TYPE),
    key("TensorFaultType", "what happens to tensors; None by default", FAULT_TYPE),
    Key { required: true, ..key("Ops", "what is hit, such as - ALL = 1.0", Takes::Texts) },
    key("Seed", "what all random numbers come from", COUNT),
    key("SkipCount", "how many of the operators are spared, from the first one on", COUNT),
    key("Instances", "how many operators of each name the model has", Takes::Texts),
    key("InjectMode", "how many operators are hit; errorRate by default", MODE),
];

const COUNT: Takes = Takes::Plain(Whole { min: 0, max: i64::MAX });
const MODE: Takes = Takes::Plain(Choice(&["errorRate", "dynamicInstance", "oneFaultPerRun"]));
const FAULT_TYPE: Takes =
    Takes::Name("fault type", || TYPES.iter().map(|kind| kind.name).collect());

const fn key(name: &'static str, about: &'static str, takes: Takes) -> Key {
    Key { name, about, required: false, takes }
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    ErrorRate,
    DynamicInstance,
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
        check("a TensorFI 1 file", &tree, &Takes::Section(KEYS))?;
        let of = |key: &str| TYPES.iter().find(|kind| Some(kind.name) == word(&tree, key));
        let scalars = of("ScalarFaultType").is_some_and(|kind| kind.fault.is_some());
        let Some(FaultType { fault: Some(fault), whole, .. }) = of("TensorFaultType") else {
            let at = tree.get("TensorFaultType").unwrap_or(&tree).at;
            return Err(Diagnostic::new(at, nothing(scalars)));
        };
        let count = |key: &str| tree.get(key).and_then(Node::whole);
        Ok(Self {
            fault,
            whole: *whole,
            mode: word(&tree, "InjectMode").map(mode),
            ops: ops.map(probabilities).transpose()?.unwrap_or_default(),
            ops_at: ops.unwrap_or(&tree).at,
            instances: tree.get("Instances").map(instances).transpose()?.unwrap_or_default(),
            seed: count("Seed"),
            skip: count("SkipCount").and_then(|skip| usize::try_from(skip).ok()).unwrap_or(0),
            skip_at: tree.get("SkipCount").unwrap_or(&tree).at,
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

fn mode(word: &str) -> Mode {
    match word {
        "dynamicInstance" => Mode::DynamicInstance,
        "oneFaultPerRun" => Mode::OneFaultPerRun,
        _ => Mode::ErrorRate,
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

fn probabilities(ops: &Node) -> Result<Vec<Named>, Diagnostic> {
    named("Ops", ops, "a probability from 0 to 1", |number| (0.0..=1.0).contains(&number))
}

fn instances(node: &Node) -> Result<Vec<Named>, Diagnostic> {
    named("Instances", node, "a whole number of 1 or more", |number| {
        number >= 1.0 && number.fract() == 0.0
    })
}

/// The entries of a list of `NAME = number`.
fn named(
    key: &str,
    node: &Node,
    wanted: &str,
    fits: impl Fn(f64) -> bool,
) -> Result<Vec<Named>, Diagnostic> {
    let entry = |node: &Node| {
        let text = node.text().unwrap_or_default();
        let wrong = |what: String| Diagnostic::new(node.at, what);
        let Some((name, number)) = text.split_once('=') else {
            return Err(wrong(format!("{key} reads NAME = {wanted}, not {text:?}")));
        };
        let name = name.trim();
        let number = number.trim();
        let kinds = kinds(name).ok_or_else(|| wrong(unknown(name)))?;
        let Some(number) = number_in(number).filter(|number| fits(*number)) else {
            return Err(wrong(format!("{name} takes {wanted}, not {number}")));
        };
        Ok(Named { name: name.to_owned(), kinds, number })
    };
    match &node.value {
        Value::List(list) => list.iter().map(entry).collect(),
        _ => entry(node).map(|one| vec![one]),
    }
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
