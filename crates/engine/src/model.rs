//! A loaded model: its graph, its prepared operators, and the plain forward pass.

use crate::budget::{Budget, Call, Growth, Meter, bytes_of};
use crate::buffers::Buffers;
use crate::control::{Body, Control};
use crate::error::{EngineError, OperandError};
use crate::fallback::Fallback;
use crate::graph::{Graph, Operator, OperatorId, ValueId, names_from_outside};
use crate::kernels::grid::{Floats, Grid, Order};
use crate::onnx::{self, GraphProto, ModelProto, OperatorSetIdProto, ValueInfoProto};
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

/// Bytes that a kernel without pixels takes for each element of its answer: the answer, and tables
/// of places.
const WHOLE_WIDTH: f64 = 24.0;
/// The same for rten: two copies of the answer, numbers of elements, and their places.
const FALLBACK_WIDTH: f64 = 24.0;

/// One operator, prepared.
pub(crate) struct Node {
    /// Our own kernel, where there is one.
    pub(crate) op: Option<Box<dyn Op>>,
    fallback: OnceLock<Result<Fallback, OperandError>>,
    /// What runs its branches or its body, where it has any.
    control: Option<Control>,
    /// How large its answers can become, where they can be larger than its operands.
    growth: Option<Growth>,
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
    budget: Budget,
    /// Bytes of the constants that the file holds.
    weight_bytes: u64,
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
        Self::from_graph(Graph::new(proto)?)
    }

    fn from_graph(graph: Graph) -> Result<Self, EngineError> {
        let budget = Budget::from_environment();
        let mut weight_bytes = 0;
        let mut constants: Vec<Option<Slot>> = (0..graph.value_count()).map(|_| None).collect();
        for (id, tensor) in graph.initializers() {
            let bytes = (tensor.len() * tensor.dtype().size()) as u64;
            weight_bytes += bytes;
            // Without elements, lengths are free to overflow when they are multiplied.
            budget.meter(0, bytes).shape(tensor.shape()).map_err(|OperandError(why)| {
                let name = graph.value_name(id);
                EngineError::Graph(format!("the constant {name} cannot be read: {why}"))
            })?;
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
            budget,
            weight_bytes,
        };
        let mut meter = budget.meter(0, weight_bytes);
        for id in model.graph.operator_ids() {
            let node = model.prepare(id)?;
            model.nodes.push(node);
            model.fold(id, &mut meter)?;
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

    /// Gives each inference another budget than the default.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// The meter of an inference with these inputs.
    pub(crate) fn meter(&self, values: &[Option<Slot>]) -> Meter {
        let fed = self.graph.inputs().iter().filter_map(|id| values[id.index()].as_ref());
        let fed: f64 = fed.map(|slot| bytes_of(&slot.value)).sum();
        self.budget.meter(fed as u64, self.weight_bytes)
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
        let control = Control::new(operator, |body| self.body(operator, body))?;
        let growth = Growth::of(&operator.op_type);
        let fallback = OnceLock::new();
        let node = Node { op, fallback, control, growth, folded: false };
        // rten is asked now, so that what nobody computes is said at loading and not in the
        // middle of a campaign.
        if node.op.is_none() && node.control.is_none() {
            self.fallback(&node, operator)?;
        }
        Ok(node)
    }

    /// A branch or a body as a model: what it captures are inputs to it.
    fn body(&self, operator: &Operator, body: &GraphProto) -> Result<Box<dyn Body>, EngineError> {
        let mut graph = body.clone();
        let own = graph.input.len();
        let outer: Vec<&str> =
            operator.captures.iter().map(|&v| self.graph.value_name(v)).collect();
        let captured = names_from_outside(body);
        for name in outer.iter().filter(|name| captured.contains(**name)) {
            graph.input.push(ValueInfoProto { name: (*name).to_owned(), ..Default::default() });
        }
        let opset_import = self.graph.opsets().map(|(domain, version)| OperatorSetIdProto {
            domain: domain.to_owned(),
            version,
            ..Default::default()
        });
        let proto = ModelProto {
            graph: Some(graph),
            opset_import: opset_import.collect(),
            ..Default::default()
        };
        let model = Self::from_graph(Graph::new(&proto)?)?;
        let captured =
            outer.iter().map(|name| model.graph.find(name).filter(|_| captured.contains(*name)));
        let captured = captured.collect();
        let inputs = body.input[..own].iter().map(|input| model.graph.find(&input.name));
        let inputs = inputs.collect();
        Ok(Box::new(BodyModel { model, inputs, captured }))
    }

    fn constant(&self, id: ValueId) -> Option<&Value> {
        self.constants[id.index()].as_ref().map(|slot| &slot.value)
    }

    /// Runs an operator whose operands are all constant.
    fn fold(&mut self, id: OperatorId, meter: &mut Meter) -> Result<(), EngineError> {
        let operator = self.graph.operator(id);
        // Constant folding: what follows from weights alone is computed once, at loading.
        if !operator.reads().all(|v| self.constants[v.index()].is_some()) {
            return Ok(());
        }
        let results = self.execute(id, meter, &|v| self.constants[v.index()].as_ref())?;
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
        let mut meter = self.meter(&values);
        self.run_steps(&mut Frame { values: &mut values, captured: &[] }, &mut meter)?;
        let outputs = self.graph.outputs().iter().map(|&id| self.output(id, &values));
        outputs.collect()
    }

    /// Runs all steps; a value is gone as soon as no later step reads it.
    fn run_steps(&self, frame: &mut Frame<'_>, meter: &mut Meter) -> Result<(), EngineError> {
        for (at, step) in self.steps.iter().enumerate() {
            self.run_step(step, frame, meter)?;
            for &value in &self.last_uses[at] {
                let slot = frame.values[value.index()].take();
                if let Some(slot) = &slot {
                    meter.release(&slot.value);
                }
                self.recycle(slot);
            }
        }
        Ok(())
    }

    /// Runs operator by operator and keeps every value.
    pub(crate) fn keep(&self, values: &mut [Option<Slot>]) -> Result<(), EngineError> {
        let mut meter = self.meter(values);
        let mut frame = Frame { values, captured: &[] };
        let mut runs = self.graph.operator_ids().filter(|id| !self.nodes[id.index()].folded);
        runs.try_for_each(|id| self.run_operator(id, &mut frame, &mut meter))
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
    fn run_step(
        &self,
        step: &Step,
        frame: &mut Frame<'_>,
        meter: &mut Meter,
    ) -> Result<(), EngineError> {
        if step.members.len() > 1
            && let Some(value) = self.run_fused(step, frame, meter)?
        {
            if let Some(output) = self.graph.operator(step.last()).makes().next() {
                frame.values[output.index()] = Some(Slot::new(value));
            }
            return Ok(());
        }
        for &member in &step.members {
            self.run_operator(member, frame, meter)?;
        }
        Ok(())
    }

    fn run_fused(
        &self,
        step: &Step,
        frame: &Frame<'_>,
        meter: &mut Meter,
    ) -> Result<Option<Value>, EngineError> {
        let slot = |v: ValueId| frame.slot(self, v);
        let operator = self.graph.operator(step.head());
        let Some(op) = &self.nodes[step.head().index()].op else { return Ok(None) };
        let operands = self.operands(&**op, operator, &slot)?;
        self.measure(step.head(), &operands, meter).map_err(|e| operand_error(operator, e))?;
        let Some(local) = op.local(&operands).map_err(|e| operand_error(operator, e))? else {
            return Ok(None);
        };
        let Some(externals) = externals(step, &*local, &slot) else { return Ok(None) };
        let own: Vec<&Floats> =
            local.sources().iter().filter_map(|&s| operands[s]?.floats()).collect();
        let fused = step.fused.behind(op.elementwise().map(|e| &e.function), own.len());
        let sources: Vec<&Floats> = own.into_iter().chain(externals).collect();
        let buffer = self.buffer(local.shape(), meter).map_err(|e| operand_error(operator, e))?;
        let value = run_whole(&*local, fused, &sources, self.threads(), buffer);
        meter.hold(&value).map_err(|e| operand_error(operator, e))?;
        Ok(Some(value))
    }

    /// A buffer for an answer of this shape, if there is room for it.
    fn buffer(&self, shape: &[usize], meter: &Meter) -> Result<Vec<f32>, OperandError> {
        let elements = meter.shape(shape)?;
        meter.admit(elements as f64, 4.0, 0.0)?;
        Ok(self.buffers.take(elements))
    }

    fn run_operator(
        &self,
        id: OperatorId,
        frame: &mut Frame<'_>,
        meter: &mut Meter,
    ) -> Result<(), EngineError> {
        let results = self.execute(id, meter, &|v: ValueId| frame.slot(self, v))?;
        for (output, value) in self.graph.operator(id).outputs.iter().zip(results) {
            if let (Some(output), Some(value)) = (output, value) {
                frame.values[output.index()] = Some(Slot::new(value));
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

    /// One operator on whole operands. What it makes counts as held by the meter.
    pub(crate) fn execute<'s>(
        &self,
        id: OperatorId,
        meter: &mut Meter,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        let node = &self.nodes[id.index()];
        match (&node.op, &node.control) {
            (Some(op), _) => self.execute_with(&**op, id, meter, slot),
            (None, Some(control)) => self.execute_control(control, id, meter, slot),
            (None, None) => self.execute_fallback(id, meter, slot),
        }
    }

    fn execute_with<'s>(
        &self,
        op: &dyn Op,
        id: OperatorId,
        meter: &mut Meter,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        let operator = self.graph.operator(id);
        let operands = self.operands(op, operator, slot)?;
        let explain = |e| operand_error(operator, e);
        self.measure(id, &operands, meter).map_err(explain)?;
        match self.with_kernel(op, id, &operands, meter).map_err(explain)? {
            Some(values) => held(values, meter).map_err(explain),
            None => self.execute_fallback(id, meter, slot),
        }
    }

    fn execute_control<'s>(
        &self,
        control: &Control,
        id: OperatorId,
        meter: &mut Meter,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        let operator = self.graph.operator(id);
        let operands = self.values(operator, slot)?;
        let captures = operator.captures.iter().map(|&v| present(slot(v), operator));
        let captures: Vec<&Slot> = captures.collect::<Result<_, _>>()?;
        let explain = |e| operand_error(operator, e);
        let before = meter.held;
        let answers = control.run(&operands, &captures, meter, explain)?;
        meter.held = before;
        held(answers, meter).map_err(explain)
    }

    fn execute_fallback<'s>(
        &self,
        id: OperatorId,
        meter: &mut Meter,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        let operator = self.graph.operator(id);
        let fallback = self.fallback(&self.nodes[id.index()], operator)?;
        let operands = self.values(operator, slot)?;
        let explain = |e| operand_error(operator, e);
        // rten gets copies of the operands; its answer is copied, and may be numbers of elements.
        let copies: f64 = operands.iter().flatten().map(|value| bytes_of(value)).sum();
        let elements = self.measured(id, &operands);
        meter.admit(elements, FALLBACK_WIDTH, copies).map_err(explain)?;
        held(fallback.run(&operands).map_err(explain)?, meter).map_err(explain)
    }

    /// The operands as they are.
    fn values<'s>(
        &self,
        operator: &Operator,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<&'s Value>>, EngineError> {
        let operands = operator.inputs.iter();
        operands
            .map(|v| v.map(|v| present(slot(v), operator).map(|s| &s.value)).transpose())
            .collect()
    }

    /// Elements that an operator makes at most.
    fn measured(&self, id: OperatorId, operands: &[Option<&Value>]) -> f64 {
        let operator = self.graph.operator(id);
        let call = Call { operator, opset: self.graph.opset_of(&operator.domain), operands };
        match &self.nodes[id.index()].growth {
            Some(growth) => growth.elements(&call),
            None => call.given(),
        }
    }

    /// Refuses an operator whose answer would be too large, before it prepares anything.
    fn measure(
        &self,
        id: OperatorId,
        operands: &[Option<&Value>],
        meter: &Meter,
    ) -> Result<(), OperandError> {
        // What cannot grow is measured by its operands, which are there.
        match self.nodes[id.index()].growth {
            Some(_) => meter.admit(self.measured(id, operands), 4.0, 0.0),
            None => Ok(()),
        }
    }

    /// One operator on operands of which some differ from golden; `repack` says that the
    /// prepared constants no longer hold.
    pub(crate) fn execute_changed<'s>(
        &self,
        id: OperatorId,
        repack: bool,
        meter: &mut Meter,
        slot: &impl Fn(ValueId) -> Option<&'s Slot>,
    ) -> Result<Vec<Option<Value>>, EngineError> {
        if !repack {
            return self.execute(id, meter, slot);
        }
        let operator = self.graph.operator(id);
        let opset = self.graph.opset_of(&operator.domain);
        // From the attributes again: what was prepacked holds the old weights.
        let op = ops::parse(operator, opset).map_err(|e| operand_error(operator, e))?;
        let Some(op) = op else { return self.execute(id, meter, slot) };
        let constants: Vec<Option<&Value>> =
            operator.inputs.iter().map(|v| v.and_then(slot).map(|s| &s.value)).collect();
        let prepacked = op.prepack(&constants).map_err(|e| operand_error(operator, e))?;
        self.execute_with(&*prepacked.unwrap_or(op), id, meter, slot)
    }

    fn with_kernel(
        &self,
        op: &dyn Op,
        id: OperatorId,
        operands: &[Option<&Value>],
        meter: &Meter,
    ) -> Result<Option<Vec<Option<Value>>>, OperandError> {
        let Some(local) = op.local(operands)? else {
            meter.admit(self.measured(id, operands), WHOLE_WIDTH, 0.0)?;
            return op.whole_in(operands, &self.buffers);
        };
        let sources: Vec<&Floats> =
            local.sources().iter().filter_map(|&s| operands[s]?.floats()).collect();
        let fused = op.elementwise().map_or_else(FusedOps::default, |e| FusedOps::of(&e.function));
        let buffer = self.buffer(local.shape(), meter)?;
        Ok(Some(vec![Some(run_whole(&*local, fused, &sources, self.threads(), buffer))]))
    }
}

/// The values of a run under way, and those that a body captures from around it.
struct Frame<'a> {
    values: &'a mut [Option<Slot>],
    captured: &'a [(ValueId, &'a Slot)],
}

impl Frame<'_> {
    fn slot<'s>(&'s self, model: &'s Model, id: ValueId) -> Option<&'s Slot> {
        let own = self.values[id.index()].as_ref().or(model.constants[id.index()].as_ref());
        own.or_else(|| Some(self.captured.iter().find(|(captured, _)| *captured == id)?.1))
    }
}

/// A branch or a body of control flow.
struct BodyModel {
    model: Model,
    inputs: Vec<Option<ValueId>>,
    /// What its operator captures, as far as this body reads it.
    captured: Vec<Option<ValueId>>,
}

impl Body for BodyModel {
    fn run(
        &self,
        inputs: Vec<Value>,
        captures: &[&Slot],
        meter: &mut Meter,
    ) -> Result<Vec<Value>, EngineError> {
        let model = &self.model;
        if inputs.len() != self.inputs.len() {
            let why = format!("a body of {} inputs is given {}", self.inputs.len(), inputs.len());
            return Err(EngineError::Graph(why));
        }
        let mut values = model.empty_values();
        let before = meter.held;
        for (&id, input) in self.inputs.iter().zip(inputs) {
            if let Some(id) = id {
                meter.held += bytes_of(&input);
                values[id.index()] = Some(Slot::new(input));
            }
        }
        let captured = self.captured.iter().zip(captures);
        let captured: Vec<(ValueId, &Slot)> =
            captured.filter_map(|(id, slot)| Some(((*id)?, *slot))).collect();
        let mut frame = Frame { values: &mut values, captured: &captured };
        model.run_steps(&mut frame, meter)?;
        meter.held = before;
        let outputs = model.graph.outputs().iter().map(|&id| {
            let slot = frame.slot(model, id).ok_or_else(|| {
                let name = model.graph.value_name(id);
                EngineError::Graph(format!("the output {name} was not computed"))
            })?;
            Ok(slot.value.clone())
        });
        outputs.collect()
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

/// The answers of an operator, counted as held.
fn held(values: Vec<Option<Value>>, meter: &mut Meter) -> Result<Vec<Option<Value>>, OperandError> {
    for value in values.iter().flatten() {
        meter.hold(value)?;
    }
    Ok(values)
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
