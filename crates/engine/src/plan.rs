//! Which operators run together: an operator and the element-wise ones behind it, as one step.

use crate::graph::{Graph, Operator, OperatorId, ValueId};
use crate::op::{Elementwise, Function};
use crate::step::{FusedOp, FusedOps, Other};
use std::collections::BTreeSet;

/// Operators that run as one. Only the last one's output is seen by others.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The operator that computes, then the functions that follow it.
    pub(crate) members: Vec<OperatorId>,
    /// What follows the head, its operands counted among `externals`.
    pub(crate) fused: FusedOps,
    /// Values from elsewhere that the fused functions read.
    pub(crate) externals: Vec<ValueId>,
}

impl Step {
    pub(crate) fn single(operator: OperatorId) -> Self {
        Self { members: vec![operator], fused: FusedOps::default(), externals: Vec::new() }
    }

    pub(crate) fn head(&self) -> OperatorId {
        self.members[0]
    }

    /// The operator after which the step can run.
    pub(crate) fn last(&self) -> OperatorId {
        self.members[self.members.len() - 1]
    }
}

/// Most operators in one step: what follows should find the rows still in the cache.
const LONGEST: usize = 8;

/// Steps in an order in which they can run. `function` tells the element-wise operators apart.
pub(crate) fn steps<'a>(
    graph: &Graph,
    runs: impl Fn(OperatorId) -> bool,
    function: impl Fn(OperatorId) -> Option<&'a Elementwise>,
) -> Vec<Step> {
    let mut taken = BTreeSet::new();
    let mut steps = Vec::new();
    for head in graph.operator_ids().filter(|&id| runs(id)) {
        if taken.contains(&head) {
            continue;
        }
        let members = follow(graph, head, &taken, &function);
        taken.extend(members.iter().copied());
        steps.push(assemble(graph, members, &function));
    }
    steps.sort_by_key(Step::last);
    steps
}

fn follow<'a>(
    graph: &Graph,
    head: OperatorId,
    taken: &BTreeSet<OperatorId>,
    function: &impl Fn(OperatorId) -> Option<&'a Elementwise>,
) -> Vec<OperatorId> {
    let mut members = vec![head];
    let mut closed = 1;
    if graph.operator(head).outputs.len() != 1 {
        return members;
    }
    while members.len() < LONGEST {
        let outputs = members.iter().flat_map(|&m| graph.operator(m).makes());
        let readers = outputs.flat_map(|v| graph.consumers(v)).copied();
        // The reader that runs first: later ones may need what it makes.
        let Some(next) = readers.filter(|r| !members.contains(r)).min() else { break };
        let operator = graph.operator(next);
        let made: Vec<ValueId> = members.iter().flat_map(|&m| graph.operator(m).makes()).collect();
        if taken.contains(&next) || !continues(operator, function(next), &made) {
            break;
        }
        members.push(next);
        // A member may join before the step closes again: an addition needs both of its branches.
        if is_closed(graph, &members) {
            closed = members.len();
        }
    }
    // What did not close in the end runs on its own.
    members.truncate(closed);
    members
}

/// Whether the operator is a function of elements of what the members made.
fn continues(operator: &Operator, function: Option<&Elementwise>, made: &[ValueId]) -> bool {
    let [first, second] = [0, 1].map(|at| operator.inputs.get(at).copied().flatten());
    let first_made = first.is_some_and(|value| made.contains(&value));
    let second_made = second.is_some_and(|value| made.contains(&value));
    let operands = match function.map(|f| &f.function) {
        Some(Function::Binary(_)) => {
            first.is_some() && second.is_some() && (first_made || second_made)
        }
        Some(_) => first_made,
        None => false,
    };
    operands && operator.outputs.len() == 1 && operator.captures.is_empty()
}

/// Whether nobody else reads what the members before the last one make.
fn is_closed(graph: &Graph, members: &[OperatorId]) -> bool {
    let inner = members[..members.len() - 1].iter().flat_map(|&m| graph.operator(m).makes());
    inner.into_iter().all(|value| {
        !graph.outputs().contains(&value)
            && graph.consumers(value).iter().all(|c| members.contains(c))
    })
}

fn assemble<'a>(
    graph: &Graph,
    members: Vec<OperatorId>,
    function: &impl Fn(OperatorId) -> Option<&'a Elementwise>,
) -> Step {
    let mut writer = Writer::new(graph, &members);
    for (at, &member) in members.iter().enumerate().skip(1) {
        if let Some(elementwise) = function(member) {
            writer.add(at, &elementwise.function);
        }
    }
    let Writer { mut fused, externals, registers, .. } = writer;
    // The result must end in the output row.
    if let Some(&(_, last)) = registers.last()
        && last != 0
    {
        let identity = Function::Unary(crate::kernels::elementwise::Unary::Identity);
        fused.ops.push(FusedOp {
            function: identity,
            from: last,
            to: 0,
            other: None,
            swapped: false,
        });
    }
    Step { members, fused, externals }
}

/// Gives each member's result a register.
struct Writer<'a> {
    graph: &'a Graph,
    members: &'a [OperatorId],
    fused: FusedOps,
    externals: Vec<ValueId>,
    /// Values made so far and where they stand.
    registers: Vec<(ValueId, usize)>,
}

impl<'a> Writer<'a> {
    fn new(graph: &'a Graph, members: &'a [OperatorId]) -> Self {
        let head = graph.operator(members[0]).makes().next();
        Self {
            graph,
            members,
            fused: FusedOps::default(),
            externals: Vec::new(),
            registers: head.map(|v| (v, 0)).into_iter().collect(),
        }
    }

    fn register(&self, value: ValueId) -> Option<usize> {
        self.registers.iter().find(|(v, _)| *v == value).map(|&(_, r)| r)
    }

    /// Whether a member after `at` still reads the value.
    fn needed_after(&self, at: usize, value: ValueId) -> bool {
        self.members[at + 1..].iter().any(|&m| self.graph.operator(m).reads().any(|v| v == value))
    }

    fn add(&mut self, at: usize, function: &Function) {
        let operator: &Operator = self.graph.operator(self.members[at]);
        let operands: Vec<ValueId> = match function {
            Function::Binary(_) => operator.inputs.iter().flatten().copied().collect(),
            _ => operator.inputs[..1].iter().flatten().copied().collect(),
        };
        let inner: Vec<Option<usize>> = operands.iter().map(|&v| self.register(v)).collect();
        let dies = |i: usize| inner[i].is_some() && !self.needed_after(at, operands[i]);
        // Prefer to work in place, in the output row if it is free.
        let candidates = (0..operands.len()).filter(|&i| inner[i].is_some());
        let first = candidates.min_by_key(|&i| (!dies(i), inner[i])).unwrap_or(0);
        // A value that nobody reads later gives its register to the result.
        let from = inner[first].unwrap_or(0);
        let to = if dies(first) { from } else { self.fused.scratch + 1 };
        self.fused.scratch = self.fused.scratch.max(to);
        let other = (operands.len() == 2).then(|| match inner[1 - first] {
            Some(register) => Other::Register(register),
            None => {
                self.externals.push(operands[1 - first]);
                Other::Source(self.externals.len() - 1)
            }
        });
        let swapped = first == 1;
        self.fused.ops.push(FusedOp { function: function.clone(), from, to, other, swapped });
        self.registers.extend(operator.makes().map(|made| (made, to)));
    }
}
