//! A loaded model: its graph, its prepared operators, and the plain forward pass.

use crate::buffers::Buffers;
use crate::error::{EngineError, OperandError};
use crate::fallback::Fallback;
use crate::graph::{Graph, Operator, OperatorId, ValueId};
use crate::kernels::grid::{Floats, Grid, Order};
use crate::onnx::{self, ModelProto};
use crate::op::{Function, Local, Op, Wants};
use crate::ops;
use crate::plan::{self, Step};
use crate::step::{FusedOps, run_whole};
use crate::value::{Slot, Value};
use faultlens_core::Tensor;
use std::collections::HashMap;
use std::path::Path;
use std::sync::OnceLock;

/// Operators whose answer changes from call to call, which no replay could repeat.
const RANDOM: &[&str] = &[
    "Bernoulli",
    "Multinomial",
    "RandomNormal",
    "RandomNormalLike",
    "RandomUniform",
    "RandomUniformLike",
];

/// Threads above which a number is taken for a mistake.
const MAX_THREADS: usize = 256;

/// One operator, prepared.
pub(crate) struct Node {
    /// Our own kernel, where there is one.
    pub(crate) op: Option<Box<dyn Op>>,
    fallback: OnceLock<Result<Fallback, OperandError>>,
    /// Whether its operands are all constant, so that it ran once while loading.
    pub(crate) folded: bool,
}

/// A model that can be asked, opened at every value, and disturbed.
pub struct Model {
    graph: Graph,
    pub(crate) nodes: Vec<Node>,
    /// Initializers and what follows from them alone.
    pub(crate) constants: Vec<Option<Slot>>,
    /// Steps of a run.
    pub(crate) steps: Vec<Step>,
    /// By step, the values that no later one reads.
    last_uses: Vec<Vec<ValueId>>,
    pool: Option<rayon::ThreadPool>,
    /// For replays: folded operators one by one, then the steps; and where each operator runs.
    pub(crate) replay_steps: Vec<Step>,
    pub(crate) step_of: Vec<usize>,
    buffers: Buffers,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model").field("graph", &self.graph.name()).finish_non_exhaustive()
    }
}

impl Model {
    /// Reads a model and prepares its operators.
    pub fn load(path: &Path) -> Result<Self, EngineError> {
        Self::from_proto(&onnx::read(path)?)
    }

    /// Prepares a model that was built or read before.
    pub fn from_proto(proto: &ModelProto) -> Result<Self, EngineError> {
        refuse_functions(proto)?;
        let graph = Graph::new(proto)?;
        let mut constants: Vec<Option<Slot>> = (0..graph.value_count()).map(|_| None).collect();
        for (id, tensor) in graph.initializers() {
            constants[id.index()] = Some(Slot::new(Value::from_tensor(tensor.clone())));
        }
        let mut model = Self {
            graph,
            nodes: Vec::new(),
            constants,
            steps: Vec::new(),
            last_uses: Vec::new(),
            pool: None,
            replay_steps: Vec::new(),
            step_of: Vec::new(),
            buffers: Buffers::default(),
        };
        for id in model.graph.operator_ids() {
            let node = model.prepare(id)?;
            model.nodes.push(node);
            model.fold(id)?;
        }
        let nodes = &model.nodes;
        model.steps = plan::steps(
            &model.graph,
            |id| !nodes[id.index()].folded,
            |id| nodes[id.index()].op.as_ref().and_then(|op| op.elementwise()),
        );
        model.last_uses = model.find_last_uses();
        model.plan_replays();
        Ok(model)
    }

    /// Shares plain forward passes out between `threads` threads; answers stay the same.
    pub fn with_threads(mut self, threads: usize) -> Result<Self, EngineError> {
        let refused = |why: String| EngineError::Threads { threads, why };
        self.pool = match threads {
            0 | 1 => None,
            n if n > MAX_THREADS => return Err(refused(format!("at most {MAX_THREADS} can"))),
            n => {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build();
                Some(pool.map_err(|e| refused(e.to_string()))?)
            }
        };
        Ok(self)
    }

    /// Operators, values and how they hang together.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    fn prepare(&self, id: OperatorId) -> Result<Node, EngineError> {
        let operator = self.graph.operator(id);
        // Golden and replay must agree, so that nothing may be drawn anew.
        if RANDOM.contains(&operator.op_type.as_str()) {
            let why = "its answer changes from call to call; export the model for inference";
            return Err(unsupported(operator, why.into()));
        }
        let opset = self.graph.opset_of(&operator.domain);
        let mut op = ops::parse(operator, opset).map_err(|e| operand_error(operator, e))?;
        if let Some(parsed) = &op {
            let constants: Vec<Option<&Value>> =
                operator.inputs.iter().map(|v| v.and_then(|v| self.constant(v))).collect();
            // Weights are packed once if everything but the data is constant.
            let fixed = operator.inputs.iter().zip(&constants).skip(1);
            let all_fixed = fixed.into_iter().all(|(input, c)| input.is_none() || c.is_some());
            if all_fixed
                && let Some(prepacked) =
                    parsed.prepack(&constants).map_err(|e| operand_error(operator, e))?
            {
                op = Some(prepacked);
            }
        }
        let node = Node { op, fallback: OnceLock::new(), folded: false };
        // rten is asked now, so that what nobody computes is said at loading and not in the
        // middle of a campaign.
        if node.op.is_none() {
            self.fallback(&node, operator)?;
        }
        Ok(node)
    }

    fn constant(&self, id: ValueId) -> Option<&Value> {
        self.constants[id.index()].as_ref().map(|slot| &slot.value)
    }

    /// Runs an operator whose operands are all constant.
    fn fold(&mut self, id: OperatorId) -> Result<(), EngineError> {
        let operator = self.graph.operator(id);
        // Constant folding: what follows from weights alone is computed once, at loading.
        if !operator.reads().all(|v| self.constants[v.index()].is_some()) {
            return Ok(());
        }
        let results = self.execute(id, &|v| self.constants[v.index()].as_ref())?;
        let outputs = self.graph.operator(id).outputs.clone();
        for (output, value) in outputs.into_iter().zip(results) {
            if let (Some(output), Some(value)) = (output, value) {
                self.constants[output.index()] = Some(Slot::new(value.row_major()));
            }
        }
        self.nodes[id.index()].folded = true;
        Ok(())
    }

    fn fallback<'a>(
        &self,
        node: &'a Node,
        operator: &Operator,
    ) -> Result<&'a Fallback, EngineError> {
        let fallback = node.fallback.get_or_init(|| Fallback::new(operator, &self.graph));
        fallback.as_ref().map_err(|e| unsupported(operator, e.0.clone()))
    }

    /// The model's outputs for these inputs, in the graph's order.
    pub fn run(&self, feeds: &[(&str, Tensor)]) -> Result<Vec<Tensor>, EngineError> {
        self.on_threads(|| self.run_here(feeds))
    }

    /// Runs the work where its parts can be shared out between the model's threads.
    pub(crate) fn on_threads<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }

    fn run_here(&self, feeds: &[(&str, Tensor)]) -> Result<Vec<Tensor>, EngineError> {
        let mut values = self.fed(feeds)?;
        for (at, step) in self.steps.iter().enumerate() {
            self.run_step(step, &mut values)?;
            // Buffers go back as soon as no later step reads them.
            for &value in &self.last_uses[at] {
                self.recycle(values[value.index()].take());
            }
        }
        let outputs = self.graph.outputs().iter().map(|&id| self.output(id, &values));
        outputs.collect()
    }

    /// Runs operator by operator and keeps every value.
    pub(crate) fn keep(&self, values: &mut [Option<Slot>]) -> Result<(), EngineError> {
        let mut runs = self.graph.operator_ids().filter(|id| !self.nodes[id.index()].folded);
        runs.try_for_each(|id| self.run_operator(id, values))
    }

    fn plan_replays(&mut self) {
        // Folded operators come first: a fault in a weight may reach others through them.
        let folded = self.graph.operator_ids().filter(|id| self.nodes[id.index()].folded);
        self.replay_steps = folded.map(Step::single).chain(self.steps.iter().cloned()).collect();
        self.step_of = vec![0; self.nodes.len()];
        for (at, step) in self.replay_steps.iter().enumerate() {
            for member in &step.members {
                self.step_of[member.index()] = at;
            }
        }
    }

    fn find_last_uses(&self) -> Vec<Vec<ValueId>> {
        let mut last: HashMap<ValueId, usize> = HashMap::new();
        for (at, step) in self.steps.iter().enumerate() {
            for &member in &step.members {
                last.extend(self.graph.operator(member).reads().map(|v| (v, at)));
            }
        }
        let mut uses = vec![Vec::new(); self.steps.len()];
        for (value, at) in last {
            if !self.graph.outputs().contains(&value) {
                uses[at].push(value);
            }
        }
        uses
    }

    pub(crate) fn buffers(&self) -> &Buffers {
        &self.buffers
    }

    pub(crate) fn recycle(&self, slot: Option<Slot>) {
        if let Some(Slot { value: Value::Floats(floats), .. }) = slot {
            self.buffers.give(floats.data);
        }
    }

    pub(crate) fn output(
        &self,
        id: ValueId,
        values: &[Option<Slot>],
    ) -> Result<Tensor, EngineError> {
        let slot = values[id.index()].as_ref().or(self.constants[id.index()].as_ref());
        slot.and_then(|s| s.value.to_tensor()).ok_or_else(|| {
            let name = self.graph.value_name(id);
            EngineError::Graph(format!("the output {name} is not a tensor"))
        })
    }

    /// Runs a step as one if its shapes allow, else operator by operator.
    fn run_step(&self, step: &Step, values: &mut [Option<Slot>]) -> Result<(), EngineError> {
        if step.members.len() > 1
            && let Some(value) = self.run_fused(step, values)?
        {
            if let Some(output) = self.graph.operator(step.last()).makes().next() {
                values[output.index()] = Some(Slot::new(value));
            }
            return Ok(());
        }
        for &member in &step.members {
            self.run_operator(member, values)?;
        }
        Ok(())
    }

    fn run_fused(
        &self,
        step: &Step,
        values: &[Option<Slot>],
    ) -> Result<Option<Value>, EngineError> {
        let slot = |v: ValueId| values[v.index()].as_ref().or(self.constants[v.index()].as_ref());
        let operator = self.graph.operator(step.head());
        let Some(op) = &self.nodes[step.head().index()].op else { return Ok(None) };
        let operands = self.operands(&**op, operator, &slot)?;
        let Some(local) = op.local(&operands).map_err(|e| operand_error(operator, e))? else {
            return Ok(None);
        };
        let Some(externals) = externals(step, &*local, &slot) else { return Ok(None) };
        let own: Vec<&Floats> =
            local.sources().iter().filter_map(|&s| operands[s]?.floats()).collect();
        let fused = step.fused.behind(op.elementwise().map(|e| &e.function), own.len());
        let sources: Vec<&Floats> = own.into_iter().chain(externals).collect();
        let elements = affordable(local.shape()).map_err(|e| operand_error(operator, e))?;
        let buffer = self.buffers.take(elements);
        Ok(Some(run_whole(&*local, fused, &sources, self.threads(), buffer)))
    }

    fn run_operator(&self, id: OperatorId, values: &mut [Option<Slot>]) -> Result<(), EngineError> {
        let results = self.execute(id, &|v: ValueId| {
            values[v.index()].as_ref().or(self.constants[v.index()].as_ref())
        })?;
        for (output, value) in self.graph.operator(id).outputs.iter().zip(results) {
            if let (Some(output), Some(value)) = (output, value) {
                values[output.index()] = Some(Slot::new(value));
            }
        }
        Ok(())
    }

    /// The operands in the orders that the operator wants.
    pub(crate) fn operands<'s>(
        &self,
        op: &dyn Op,
        operator: &Operator,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<&'s Value>>, EngineError> {
        let slots: Vec<Option<&Slot>> = operator
            .inputs
            .iter()
            .map(|input| input.map(|v| present(slot(v), operator)).transpose())
            .collect::<Result<_, _>>()?;
        let as_they_are: Vec<Option<&Value>> = slots.iter().map(|s| s.map(|s| &s.value)).collect();
        // Element-wise operators follow their operands: turning one of them round costs a pass
        // over memory.
        let alike = crate::step::alike(&as_they_are);
        let ordered = slots.iter().enumerate().map(|(i, slot)| {
            let slot = (*slot)?;
            let order = match op.wants(i) {
                Wants::Alike => alike,
                Wants::RowMajor => Order::RowMajor,
                Wants::ChannelsLast if slot.value.shape().len() == 4 => Order::ChannelsLast,
                Wants::ChannelsLast => return Some(&slot.value),
            };
            Some(slot.in_order(order))
        });
        Ok(ordered.collect())
    }

    /// One operator on whole operands.
    pub(crate) fn execute<'s>(
        &self,
        id: OperatorId,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        match &self.nodes[id.index()].op {
            Some(op) => self.execute_with(&**op, id, slot),
            None => self.execute_fallback(id, slot),
        }
    }

    fn execute_with<'s>(
        &self,
        op: &dyn Op,
        id: OperatorId,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        let operator = self.graph.operator(id);
        let operands = self.operands(op, operator, slot)?;
        match self.with_kernel(op, &operands).map_err(|e| operand_error(operator, e))? {
            Some(values) => Ok(values),
            None => self.execute_fallback(id, slot),
        }
    }

    fn execute_fallback<'s>(
        &self,
        id: OperatorId,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        let operator = self.graph.operator(id);
        let fallback = self.fallback(&self.nodes[id.index()], operator)?;
        let inputs =
            operator.inputs.iter().copied().chain(operator.captures.iter().map(|&v| Some(v)));
        let operands: Vec<Option<&Value>> = inputs
            .map(|v| v.map(|v| present(slot(v), operator).map(|s| &s.value)).transpose())
            .collect::<Result<_, _>>()?;
        fallback.run(&operands).map_err(|e| operand_error(operator, e))
    }

    /// One operator on operands of which some differ from golden; `repack` says that the
    /// prepared constants no longer hold.
    pub(crate) fn execute_changed<'s>(
        &self,
        id: OperatorId,
        repack: bool,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        if !repack {
            return self.execute(id, slot);
        }
        let operator = self.graph.operator(id);
        let opset = self.graph.opset_of(&operator.domain);
        // From the attributes again: what was prepacked holds the old weights.
        let op = ops::parse(operator, opset).map_err(|e| operand_error(operator, e))?;
        let Some(op) = op else { return self.execute(id, slot) };
        let constants: Vec<Option<&Value>> =
            operator.inputs.iter().map(|v| v.and_then(slot).map(|s| &s.value)).collect();
        let prepacked = op.prepack(&constants).map_err(|e| operand_error(operator, e))?;
        self.execute_with(&*prepacked.unwrap_or(op), id, slot)
    }

    fn with_kernel(
        &self,
        op: &dyn Op,
        operands: &[Option<&Value>],
    ) -> Result<Option<Vec<Option<Value>>>, OperandError> {
        let Some(local) = op.local(operands)? else { return op.whole_in(operands, &self.buffers) };
        let sources: Vec<&Floats> =
            local.sources().iter().filter_map(|&s| operands[s]?.floats()).collect();
        let fused = op.elementwise().map_or_else(FusedOps::default, |e| FusedOps::of(&e.function));
        let buffer = self.buffers.take(affordable(local.shape())?);
        Ok(Some(vec![Some(run_whole(&*local, fused, &sources, self.threads(), buffer))]))
    }
}

/// The other operands of the fused functions in the order of the output; `None` where they do not fit.
pub(crate) fn externals<'s>(
    step: &Step,
    local: &dyn Local,
    slot: &impl Fn(ValueId) -> Option<&'s Slot>,
) -> Option<Vec<&'s Floats>> {
    let shape = local.shape();
    let order = local.order();
    let width = Grid::of(shape, order).width;
    let fits = step.fused.ops.iter().all(|op| match &op.function {
        // Factors per channel need the channels innermost.
        Function::Affine { factor, .. } => order == Order::ChannelsLast && factor.len() == width,
        _ => true,
    });
    if fits {
        step.externals
            .iter()
            .map(|&id| {
                let floats = slot(id)?.in_order(order).floats()?;
                let rank_fits = floats.order == order && floats.shape.len() <= shape.len();
                // The other operand may broadcast to the output, but must not make it larger.
                let same = ops::broadcast_shape(&[shape, &floats.shape])? == shape;
                (rank_fits && same).then_some(floats)
            })
            .collect()
    } else {
        None
    }
}

/// Elements above which a value is taken for a mistake or an attack.
const MAX_ELEMENTS: usize = 1 << 30;

/// How many elements a shape has, if that is a number that anyone would want.
fn affordable(shape: &[usize]) -> Result<usize, OperandError> {
    let elements = shape.iter().try_fold(1usize, |n, &length| n.checked_mul(length));
    elements.filter(|&n| n <= MAX_ELEMENTS).ok_or_else(|| {
        OperandError::new(format!(
            "its answer of shape {shape:?} would hold over a billion elements"
        ))
    })
}

fn present<'s>(slot: Option<&'s Slot>, operator: &Operator) -> Result<&'s Slot, EngineError> {
    slot.ok_or_else(|| operand_error(operator, OperandError::new("an operand was not computed")))
}

fn refuse_functions(proto: &ModelProto) -> Result<(), EngineError> {
    if proto.functions.is_empty() {
        return Ok(());
    }
    let why = "the file defines operators of its own (functions); inline them when exporting";
    Err(EngineError::Graph(why.into()))
}

pub(crate) fn operand_error(operator: &Operator, OperandError(why): OperandError) -> EngineError {
    EngineError::Operator {
        operator: operator.name.clone(),
        op_type: operator.op_type.clone(),
        why,
    }
}

fn unsupported(operator: &Operator, why: String) -> EngineError {
    let op_type = if operator.domain.is_empty() {
        operator.op_type.clone()
    } else {
        format!("{}.{}", operator.domain, operator.op_type)
    };
    EngineError::Unsupported { operator: operator.name.clone(), op_type, why }
}
