//! Exact re-execution of a golden run under changes: only what they can reach, only where they
//! still make a difference.
//!
//! Each trial keeps, per value, how it differs from golden. A step computes just the pixels that
//! the differences can reach, for all trials of a stack at once, and compares them with golden;
//! where nothing differs any more, the trial ends there.

#![expect(unsafe_code, reason = "trials write disjoint buffers; see kernels")]

use crate::change::{Change, Met};
use crate::delta::{Delta, bits_at, difference, materialised, patched, shrunk, source_of};
use crate::error::EngineError;
use crate::golden::Golden;
use crate::graph::{OperatorId, ValueId};
use crate::kernels::compare::same_float;
use crate::kernels::grid::{Floats, Grid, Patch, Region, Source};
use crate::model::{externals, operand_error};
use crate::op::{Edit, Function, Local};
use crate::ops::spread;
use crate::plan::Step;
use crate::step::{FusedOps, Job, compute};
use crate::value::{Slot, Value};
use faultlens_core::Tensor;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a disturbed run answered.
#[derive(Debug, Clone)]
pub struct Replay {
    outputs: Arc<[Tensor]>,
    reached_output: bool,
}

impl Replay {
    /// The model's outputs, in the graph's order.
    pub fn outputs(&self) -> &[Tensor] {
        &self.outputs
    }

    /// Whether any output differs from golden in any bit (NaN counting as equal to NaN).
    pub fn reached_output(&self) -> bool {
        self.reached_output
    }
}

/// A trial under way: its differences by value.
#[derive(Default)]
struct Trial {
    deltas: BTreeMap<ValueId, Delta>,
    /// Changes that wait for the value to be computed.
    changes: BTreeMap<ValueId, Vec<Change>>,
    /// By value, what its changes met, in their order; kept only where somebody asked.
    met: Option<BTreeMap<ValueId, Vec<Met>>>,
    /// Why the trial ended early.
    failed: Option<EngineError>,
}

impl Trial {
    /// Ends a trial whose operator or change failed.
    fn note<T>(&mut self, result: Result<T, EngineError>) -> Option<T> {
        result
            .map_err(|error| {
                self.deltas.clear();
                self.changes.clear();
                self.failed = Some(error);
            })
            .ok()
    }
}

impl Golden<'_> {
    /// The answer with these changes made, bit for bit that of a whole run with them.
    pub fn replay(&self, changes: &[Change]) -> Result<Replay, EngineError> {
        let mut replays = self.replay_stack(&[changes.to_vec()]);
        replays.pop().unwrap_or_else(|| Err(EngineError::Graph("no trial ran".into())))
    }

    /// What each of a trial's changes meets in the disturbed run, in the order of `changes`: where
    /// several places are hit, the later ones see what the earlier ones have made of the number.
    /// `None` for a change that the run never came to, because an operator failed before.
    pub fn met(&self, changes: &[Change]) -> Vec<Option<Met>> {
        let mut stack = Stack::watched(self, changes);
        stack.run_steps();
        let mut by_value = stack.trials.pop().and_then(|trial| trial.met).unwrap_or_default();
        // Popped from the end, so that each of a value's changes takes the next one.
        by_value.values_mut().for_each(|met| met.reverse());
        changes.iter().map(|change| by_value.get_mut(&change.value)?.pop()).collect()
    }

    /// Several trials together, each with its own changes. They share the streaming of weights,
    /// which makes a stack cheaper than its trials one by one; answers are the same. A trial that
    /// cannot run, because its change does not exist or makes an operator fail, is an error of
    /// its own.
    pub fn replay_stack(&self, trials: &[Vec<Change>]) -> Vec<Result<Replay, EngineError>> {
        Stack::new(self, trials).run()
    }

    /// Runs the value's readers again although nothing has changed, as a check of the engine on
    /// this machine: an answer that reached the output would be a defect.
    pub fn recompute(&self, value: ValueId) -> Result<Replay, EngineError> {
        let mut stack = Stack::new(self, &[Vec::new()]);
        let delta = match self.slot(value).map(|slot| &slot.value) {
            Some(Value::Floats(floats)) if self.is_constant(value) => {
                Delta::Elements(floats.data.iter().copied().enumerate().collect())
            }
            Some(Value::Floats(floats)) => {
                let all = floats.grid().all();
                Delta::Patch(Patch { stored: all, live: all, data: floats.data.clone() })
            }
            Some(other) => Delta::Whole(Slot::new(other.clone())),
            None => return Err(self.refuse(value, "the run has no such value".into())),
        };
        stack.record(0, value, Some(delta));
        // The value itself counts as changed only for its readers.
        let mut replays = stack.run_and_forget(value);
        replays.pop().unwrap_or_else(|| Err(EngineError::Graph("no trial ran".into())))
    }
}

/// Trials and how an output differs in them, if it does.
type Patches = Vec<(usize, Option<Patch>)>;

struct Stack<'g, 'm> {
    golden: &'g Golden<'m>,
    /// Folded operators first, each as a step of its own, then the model's steps.
    steps: &'g [Step],
    /// The step in which each operator runs.
    step_of: &'g [usize],
    trials: Vec<Trial>,
    /// Trials that differ in what a step reads.
    pending: BTreeMap<usize, BTreeSet<usize>>,
    /// Steps before this one are done.
    next: usize,
}

impl<'g, 'm> Stack<'g, 'm> {
    fn new(golden: &'g Golden<'m>, trials: &[Vec<Change>]) -> Self {
        let mut stack = Self::blank(golden, trials.len());
        for (trial, changes) in trials.iter().enumerate() {
            let started = stack.start(trial, changes);
            stack.trials[trial].note(started);
        }
        stack
    }

    /// One trial, which keeps what its changes meet.
    fn watched(golden: &'g Golden<'m>, changes: &[Change]) -> Self {
        let mut stack = Self::blank(golden, 1);
        stack.trials[0].met = Some(BTreeMap::new());
        let started = stack.start(0, changes);
        stack.trials[0].note(started);
        stack
    }

    /// Trials without changes.
    fn blank(golden: &'g Golden<'m>, trials: usize) -> Self {
        Self {
            golden,
            steps: &golden.model.replay_steps,
            step_of: &golden.model.step_of,
            trials: (0..trials).map(|_| Trial::default()).collect(),
            pending: BTreeMap::new(),
            next: 0,
        }
    }

    /// Notes the changes: those of inputs and constants at once, others when their step comes.
    fn start(&mut self, trial: usize, changes: &[Change]) -> Result<(), EngineError> {
        let mut by_value: BTreeMap<ValueId, Vec<Change>> = BTreeMap::new();
        for change in changes {
            // Several faults may hit one value; they are made together, in their order.
            by_value.entry(change.value).or_default().push(*change);
        }
        for (value, changes) in by_value {
            match self.golden.model.graph().producer(value) {
                None => {
                    let delta = self.changed(value, None, &changes)?;
                    self.watch(trial, value, None, &changes);
                    self.record(trial, value, delta);
                }
                Some(producer) => {
                    // Refuse what does not exist before anything runs.
                    self.changed(value, None, &changes)?;
                    self.trials[trial].changes.insert(value, changes);
                    self.pending.entry(self.step_of[producer.index()]).or_default().insert(trial);
                }
            }
        }
        Ok(())
    }

    /// Records a difference and wakes the steps that read the value.
    fn record(&mut self, trial: usize, value: ValueId, delta: Option<Delta>) {
        let Some(delta) = delta else { return };
        for reader in self.golden.model.graph().consumers(value) {
            // Readers inside the running step follow in its own loop; only later steps are woken.
            let step = self.step_of[reader.index()];
            if step >= self.next {
                self.pending.entry(step).or_default().insert(trial);
            }
        }
        self.trials[trial].deltas.insert(value, delta);
    }

    /// Makes changes on top of how a value already differs.
    fn changed(
        &self,
        id: ValueId,
        delta: Option<Delta>,
        changes: &[Change],
    ) -> Result<Option<Delta>, EngineError> {
        let golden = self.golden;
        let Some(slot) = golden.slot(id) else {
            return Err(golden.refuse(id, "the run has no such value".into()));
        };
        let constant = golden.model.constants[id.index()].is_some();
        match (&slot.value, delta) {
            (Value::Floats(floats), None) if constant => {
                let mut places: BTreeMap<usize, f32> = BTreeMap::new();
                for (at, edit) in golden.float_changes(id, floats, changes)? {
                    let element = places.entry(at).or_insert(floats.data[at]);
                    *element = edit.of_float(*element, floats.dtype);
                }
                let differ = places.into_iter().filter(|&(at, x)| !same_float(floats.data[at], x));
                let differ: Vec<(usize, f32)> = differ.collect();
                Ok((!differ.is_empty()).then_some(Delta::Elements(differ)))
            }
            (Value::Floats(floats), delta) => {
                if let Some(Delta::Whole(slot)) = &delta
                    && slot.value.shape() != floats.shape
                {
                    let why = "another change of the trial has altered its shape";
                    return Err(golden.refuse(id, why.into()));
                }
                let places = golden.float_changes(id, floats, changes)?;
                Ok(patched(floats, delta, &places))
            }
            (Value::Other(tensor), delta) => {
                let base = match &delta {
                    Some(Delta::Whole(Slot { value: Value::Other(changed), .. })) => changed,
                    _ => tensor,
                };
                let changed = Value::Other(golden.changed_tensor(id, base, changes)?);
                let same = changed.same_bits(&slot.value);
                Ok((!same).then(|| Delta::Whole(Slot::new(changed))))
            }
            (Value::Sequence(_), _) => Err(golden.refuse(id, "it is a list of tensors".into())),
        }
    }

    /// Runs one step for the trials that need it.
    fn advance(&mut self, at: usize, trials: Vec<usize>) {
        self.next = at + 1;
        let steps = self.steps;
        let step = &steps[at];
        // Most trials take the step as one fused pass; those that look inside it take its
        // operators one by one.
        let (alone, together): (Vec<usize>, Vec<usize>) =
            trials.iter().partition(|&&trial| self.splits(step, trial));
        let rest = if step.members.len() > 1 { self.run_local(step, &together) } else { together };
        let graph = self.golden.model.graph();
        for &member in &step.members {
            let single = Step::single(member);
            let mut needing: Vec<usize> = alone.iter().chain(&rest).copied().collect();
            needing.retain(|&trial| {
                let trial = &self.trials[trial];
                graph.operator(member).reads().any(|v| trial.deltas.contains_key(&v))
                    || graph.operator(member).makes().any(|v| trial.changes.contains_key(&v))
            });
            self.run_single(&single, needing);
        }
        self.forget(at, step, &trials);
    }

    /// Whether a trial must run a step's members one by one: it changes an inner value, or
    /// something that a member has packed beforehand.
    fn splits(&self, step: &Step, trial: usize) -> bool {
        let graph = self.golden.model.graph();
        let trial = &self.trials[trial];
        // Fused values never reach memory, so that a change of one needs the operators apart.
        let inner = step.members[..step.members.len() - 1].iter();
        let changes_inner =
            inner.flat_map(|&m| graph.operator(m).makes()).any(|v| trial.changes.contains_key(&v));
        changes_inner
            || step.members.iter().any(|&m| {
                graph
                    .operator(m)
                    .reads()
                    .any(|v| matches!(trial.deltas.get(&v), Some(Delta::Elements(_))))
            })
            || (self.prepacked_reads(step)).any(|v| trial.deltas.contains_key(&v))
    }

    /// What the step's members read besides pixels.
    fn prepacked_reads<'a>(&'a self, step: &'a Step) -> impl Iterator<Item = ValueId> + 'a {
        let graph = self.golden.model.graph();
        step.members.iter().skip(1).flat_map(move |&member| {
            let inputs = &graph.operator(member).inputs;
            let function = self.golden.model.nodes[member.index()].op.as_ref();
            let pixels = match function.and_then(|op| op.elementwise()).map(|e| &e.function) {
                Some(Function::Binary(_)) => 2,
                _ => 1,
            };
            inputs.iter().skip(pixels).flatten().copied()
        })
    }

    /// Drops differences that no later step reads.
    fn forget(&mut self, at: usize, step: &Step, trials: &[usize]) {
        let graph = self.golden.model.graph();
        let read = step.members.iter().flat_map(|&m| graph.operator(m).reads());
        // What nobody reads any more is freed, so that memory follows the front of the change and
        // not its length.
        let done: BTreeSet<ValueId> = read
            .filter(|v| !graph.outputs().contains(v))
            .filter(|v| graph.consumers(*v).iter().all(|c| self.step_of[c.index()] <= at))
            .collect();
        for &trial in trials {
            self.trials[trial].deltas.retain(|v, _| !done.contains(v));
        }
    }

    /// One operator for trials that may differ in anything it reads or makes.
    fn run_single(&mut self, step: &Step, trials: Vec<usize>) {
        // From cheap to dear: some pixels, some output channels, the whole operator.
        for trial in self.run_local(step, &trials) {
            let done = match self.run_repacked(step.head(), trial) {
                Ok(false) => self.run_whole(step.head(), trial),
                other => other.map(|_| ()),
            };
            self.trials[trial].note(done);
        }
    }

    /// Computes a step's reachable pixels for all trials at once. Returns the trials for which
    /// that does not do: differences in shape, in weights, or an operator without pixels.
    fn run_local(&mut self, step: &Step, trials: &[usize]) -> Vec<usize> {
        if trials.is_empty() {
            return Vec::new();
        }
        let Some((output, results, rest)) = self.local_patches(step, trials) else {
            return trials.to_vec();
        };
        for (trial, patch) in results {
            let concluded = self.conclude(trial, output, patch.map(Delta::Patch));
            self.trials[trial].note(concluded);
        }
        rest
    }

    /// The step's output, the patches of the trials that can do with pixels, and the others;
    /// `None` where the step has no pixels at all.
    fn local_patches(
        &self,
        step: &Step,
        trials: &[usize],
    ) -> Option<(ValueId, Patches, Vec<usize>)> {
        let golden = self.golden;
        let model = golden.model;
        let operator = model.graph().operator(step.head());
        let op = model.nodes[step.head().index()].op.as_ref()?;
        let slot = |v: ValueId| golden.slot(v);
        // Golden operands went through here before, so that an error cannot be new.
        let operands = model.operands(&**op, operator, &slot).ok()?;
        let local = op.local(&operands).ok()??;
        let externals = externals(step, &*local, &slot)?;
        // The head's own sources, then what the fused functions read beside it.
        let heads = local.sources().iter().map(|&s| (operator.inputs[s], operands[s]));
        let mut sources: Vec<(ValueId, &Floats)> =
            heads.filter_map(|(id, value)| Some((id?, value?.floats()?))).collect();
        let own = sources.len();
        sources.extend(step.externals.iter().copied().zip(externals));
        let fused = step.fused.behind(op.elementwise().map(|e| &e.function), own);
        let output = model.graph().operator(step.last()).makes().next()?;
        let answer = golden.slot(output)?.value.floats()?;
        // Fused functions may answer in another order than their last operator alone would.
        if (answer.order, answer.shape.as_slice()) != (local.order(), local.shape()) {
            return None;
        }
        let prepacked: Vec<ValueId> = (0..operator.inputs.len())
            .filter(|operand| !local.sources().contains(operand))
            .filter_map(|operand| operator.inputs[operand])
            .collect();
        // A trial that changed a weight cannot use the prepacked one.
        let (mut rest, able): (Vec<usize>, Vec<usize>) = trials.iter().partition(|&&trial| {
            prepacked.iter().any(|v| self.trials[trial].deltas.contains_key(v))
        });
        let pixels = Pixels { local: &*local, own, sources, fused: fused.rounded(answer.dtype) };
        let (results, unable) = self.compute_patches(&pixels, answer, &able);
        rest.extend(unable);
        Some((output, results, rest))
    }

    fn compute_patches(
        &self,
        pixels: &Pixels<'_>,
        answer: &Floats,
        trials: &[usize],
    ) -> (Patches, Vec<usize>) {
        let grid = answer.grid();
        let mut rest = Vec::new();
        let mut work: Vec<(usize, Vec<Source<'_>>, Patch)> = Vec::new();
        for &trial in trials {
            match pixels.sources_of(&self.trials[trial], self.golden) {
                Some((sources, region)) => {
                    let data = vec![0.0; region.pixels() * grid.width];
                    work.push((trial, sources, Patch { stored: region, live: region, data }));
                }
                None => rest.push(trial),
            }
        }
        // All trials in one call: their pixels share tiles, and weights stream through once for
        // all.
        let jobs: Vec<Job<'_>> = work
            .iter_mut()
            .map(|(_, sources, patch)| Job {
                sources: std::mem::take(sources),
                region: patch.stored,
                pixels: 0..patch.stored.pixels(),
                out: patch.data.as_mut_ptr(),
            })
            .collect();
        // SAFETY: every job writes to its own patch, which has room for its region.
        unsafe { compute(pixels.local, &pixels.fused, grid.width, &jobs, 0..grid.width) };
        drop(jobs);
        let results = work.into_iter().map(|(trial, _, patch)| (trial, shrunk(patch, answer)));
        (results.collect(), rest)
    }

    /// Makes the trial's own changes to a freshly computed value and records how it differs.
    fn conclude(
        &mut self,
        trial: usize,
        value: ValueId,
        delta: Option<Delta>,
    ) -> Result<(), EngineError> {
        let delta = match self.trials[trial].changes.remove(&value) {
            Some(changes) => {
                self.watch(trial, value, delta.as_ref(), &changes);
                self.changed(value, delta, &changes)?
            }
            None => delta,
        };
        self.record(trial, value, delta);
        Ok(())
    }

    /// Keeps what the changes of a value meet, where the trial is watched.
    fn watch(&mut self, trial: usize, value: ValueId, delta: Option<&Delta>, changes: &[Change]) {
        let golden = self.golden;
        let Some(all) = &mut self.trials[trial].met else { return };
        let (Some(slot), Some(dtype)) = (golden.slot(value), golden.dtype(value)) else { return };
        let mut now: BTreeMap<usize, u64> = BTreeMap::new();
        let met = all.entry(value).or_default();
        for change in changes {
            let element = change.element;
            let before = match now.get(&element) {
                Some(&bits) => Some(bits),
                None => match delta {
                    Some(delta) => bits_at(&slot.value, delta, element),
                    None => golden.bits(value, element),
                },
            };
            let Some(before) = before else { return };
            let after = change.edit.of(before, dtype);
            now.insert(element, after);
            met.push(Met { before, after });
        }
    }

    /// An operator with single weights replaced, computed only in the channels they touch.
    fn run_repacked(&mut self, id: OperatorId, trial: usize) -> Result<bool, EngineError> {
        let golden = self.golden;
        let model = golden.model;
        let operator = model.graph().operator(id);
        let Some(op) = &model.nodes[id.index()].op else { return Ok(false) };
        let deltas = &self.trials[trial].deltas;
        let mut edits = Vec::new();
        for (operand, input) in operator.inputs.iter().enumerate() {
            match input.and_then(|v| deltas.get(&v)) {
                Some(Delta::Elements(elements)) if operand > 0 => {
                    edits.push(Edit { operand, elements });
                }
                Some(_) => return Ok(false),
                None => {}
            }
        }
        let Some(repacked) = (!edits.is_empty()).then(|| op.repack(&edits)).flatten() else {
            return Ok(false);
        };
        let operands = model.operands(&*repacked.op, operator, &|v: ValueId| golden.slot(v))?;
        let local = repacked.op.local(&operands).map_err(|e| operand_error(operator, e))?;
        let (Some(local), Some(output)) = (local, operator.makes().next()) else {
            return Ok(false);
        };
        let Some(Value::Floats(answer)) = golden.slot(output).map(|s| &s.value) else {
            return Ok(false);
        };
        let grid = answer.grid();
        // Start from golden's answer: only the channels that the changed weights feed are
        // computed again.
        let mut patch = Patch { stored: grid.all(), live: grid.all(), data: answer.data.clone() };
        let floats = local.sources().iter().filter_map(|&s| operands[s]?.floats());
        let job = Job {
            sources: floats.map(|f| Source::new(f, None)).collect(),
            region: patch.stored,
            pixels: 0..grid.pixels(),
            out: patch.data.as_mut_ptr(),
        };
        let fused = FusedOps::default().rounded(answer.dtype);
        if !repacked.channels.is_empty() {
            // SAFETY: the patch has room for all pixels and channels.
            unsafe { compute(&*local, &fused, grid.width, &[job], repacked.channels) };
        }
        let patch = shrunk(patch, answer);
        self.conclude(trial, output, patch.map(Delta::Patch))?;
        Ok(true)
    }

    /// An operator on whole operands, for one trial.
    fn run_whole(&mut self, id: OperatorId, trial: usize) -> Result<(), EngineError> {
        let golden = self.golden;
        let model = golden.model;
        let operator = model.graph().operator(id);
        let deltas = &self.trials[trial].deltas;
        // Golden with the trial's differences laid over, for operators that need whole operands.
        let mut own: BTreeMap<ValueId, Slot> = BTreeMap::new();
        for value in operator.reads() {
            if let Some(delta) = deltas.get(&value)
                && !matches!(delta, Delta::Whole(_))
                && let Some(Value::Floats(floats)) = golden.slot(value).map(|s| &s.value)
            {
                own.insert(value, Slot::new(Value::Floats(materialised(floats, delta))));
            }
        }
        let slot = |v: ValueId| match deltas.get(&v) {
            Some(Delta::Whole(slot)) => Some(slot),
            _ => own.get(&v).or_else(|| golden.slot(v)),
        };
        let results = if operator.reads().any(|v| deltas.contains_key(&v)) {
            let prepacked = operator.inputs.iter().skip(1).flatten();
            let repack = prepacked.into_iter().any(|v| deltas.contains_key(v));
            let mut meter = model.meter(&golden.values);
            // Golden's values are shared; what counts is what the trial adds.
            meter.held = 0.0;
            model.execute_changed(id, repack, &mut meter, &slot)?
        } else {
            operator.outputs.iter().map(|v| golden.slot((*v)?).map(|s| s.value.clone())).collect()
        };
        for (output, value) in operator.outputs.iter().zip(results) {
            if let (Some(output), Some(value)) = (output, value) {
                let delta = golden.slot(*output).and_then(|slot| difference(value, &slot.value));
                self.conclude(trial, *output, delta)?;
            }
        }
        Ok(())
    }

    fn run(mut self) -> Vec<Result<Replay, EngineError>> {
        self.run_steps();
        self.finish()
    }

    fn run_and_forget(mut self, value: ValueId) -> Vec<Result<Replay, EngineError>> {
        self.run_steps();
        self.trials.iter_mut().for_each(|trial| drop(trial.deltas.remove(&value)));
        self.finish()
    }

    fn run_steps(&mut self) {
        // Steps in their order; a step that no difference reaches is never visited.
        while let Some((step, trials)) = self.pending.pop_first() {
            self.advance(step, trials.into_iter().collect());
        }
    }

    fn finish(mut self) -> Vec<Result<Replay, EngineError>> {
        let trials = std::mem::take(&mut self.trials);
        trials
            .into_iter()
            .map(|mut trial| match trial.failed.take() {
                Some(error) => Err(error),
                None => self.answer(&trial),
            })
            .collect()
    }

    fn answer(&self, trial: &Trial) -> Result<Replay, EngineError> {
        let graph = self.golden.model.graph();
        // No output differs: the answer is golden's, shared instead of copied.
        if !graph.outputs().iter().any(|v| trial.deltas.contains_key(v)) {
            return Ok(Replay { outputs: self.golden.shared_outputs(), reached_output: false });
        }
        let outputs = graph.outputs().iter().zip(self.golden.outputs()).map(|(&id, golden)| {
            let value = match (trial.deltas.get(&id), self.golden.slot(id).map(|s| &s.value)) {
                (Some(Delta::Whole(slot)), _) => slot.value.to_tensor(),
                (Some(delta), Some(Value::Floats(floats))) => {
                    Value::Floats(materialised(floats, delta)).to_tensor()
                }
                _ => return Ok(golden.clone()),
            };
            value.ok_or_else(|| self.golden.refuse(id, "the output is no tensor".into()))
        });
        Ok(Replay { outputs: outputs.collect::<Result<_, _>>()?, reached_output: true })
    }
}

/// A step bound to golden operands, ready for any trial's patches.
struct Pixels<'a> {
    local: &'a dyn Local,
    /// How many sources are the head's own.
    own: usize,
    sources: Vec<(ValueId, &'a Floats)>,
    fused: FusedOps,
}

impl Pixels<'_> {
    /// What a trial reads and the output pixels that can differ; `None` where pixels do not do.
    fn sources_of<'t>(
        &'t self,
        trial: &'t Trial,
        golden: &'t Golden<'_>,
    ) -> Option<(Vec<Source<'t>>, Region)> {
        let out = Grid::of(self.local.shape(), self.local.order());
        let mut region = Region::EMPTY;
        let mut sources = Vec::with_capacity(self.sources.len());
        for (at, &(id, floats)) in self.sources.iter().enumerate() {
            let (source, live) = match trial.deltas.get(&id) {
                None => (Source::new(floats, None), None),
                Some(delta) => {
                    let (source, live) = source_of(delta, floats, golden.slot(id)?)?;
                    (source, Some(live))
                }
            };
            if let Some(live) = live {
                // The head knows how far a change of its operand spreads; the fused functions
                // read the same place, or broadcast.
                let reached = if at < self.own {
                    self.local.reach(at, live)
                } else {
                    spread(live, &source.grid(), &out)
                };
                region = region.union(&reached);
            }
            sources.push(source);
        }
        Some((sources, region))
    }
}
