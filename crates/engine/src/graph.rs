//! The model as a graph of operators and values, named as the file names them.

use crate::error::EngineError;
pub use crate::onnx::Dim;
use crate::onnx::{self, AttributeProto, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use faultlens_core::{DType, Tensor};
use std::collections::{BTreeSet, HashMap};

/// A value of a graph: an input, a weight or what an operator makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(u32);

/// An operator of a graph, counted in execution order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct OperatorId(u32);

impl ValueId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

impl OperatorId {
    /// The operator's place in execution order.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operator: what it computes, from which values, into which values.
#[derive(Debug, Clone)]
pub struct Operator {
    /// As the file has it, or `type#index` where the file gives none.
    pub name: String,
    /// For example `Conv`.
    pub op_type: String,
    /// Empty for ONNX's own operators.
    pub domain: String,
    /// Operands in the file's order; `None` where an optional one is left out.
    pub inputs: Vec<Option<ValueId>>,
    /// Results in the file's order; `None` where one is not wanted.
    pub outputs: Vec<Option<ValueId>>,
    /// Values of this graph that the operator's subgraphs (of `If`, `Loop`) read.
    pub captures: Vec<ValueId>,
    /// As the file has them.
    pub attributes: Vec<AttributeProto>,
}

impl Operator {
    /// Every value that the operator reads, in its subgraphs too.
    pub fn reads(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.inputs.iter().flatten().chain(&self.captures).copied()
    }

    /// Every value that the operator makes.
    pub fn makes(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.outputs.iter().flatten().copied()
    }
}

#[derive(Debug, Clone, Default)]
struct Value {
    name: String,
    producer: Option<OperatorId>,
    consumers: Vec<OperatorId>,
    dtype: Option<DType>,
    shape: Option<Vec<Dim>>,
    initializer: Option<Tensor>,
}

/// Operators and values of one model. Operators stand in an order in which they can run.
#[derive(Debug, Clone)]
pub struct Graph {
    name: String,
    opsets: HashMap<String, i64>,
    metadata: Vec<(String, String)>,
    values: Vec<Value>,
    by_name: HashMap<String, ValueId>,
    operators: Vec<Operator>,
    inputs: Vec<ValueId>,
    outputs: Vec<ValueId>,
}

impl Graph {
    /// Checks and connects what the file says.
    pub fn new(model: &ModelProto) -> Result<Self, EngineError> {
        let proto = model
            .graph
            .as_ref()
            .ok_or_else(|| EngineError::Graph("the file holds no graph".into()))?;
        let mut graph = Self {
            name: proto.name.clone(),
            opsets: model.opset_import.iter().map(|o| (o.domain.clone(), o.version)).collect(),
            metadata: model
                .metadata_props
                .iter()
                .map(|p| (p.key.clone(), p.value.clone()))
                .collect(),
            values: Vec::new(),
            by_name: HashMap::new(),
            operators: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        // The default domain has two names.
        if let Some(version) = graph.opsets.remove("ai.onnx") {
            graph.opsets.insert(String::new(), version);
        }
        if !proto.sparse_initializer.is_empty() {
            return Err(broken("it holds sparse weights; export them as dense ones".into()));
        }
        graph.add_edges(proto)?;
        graph.add_operators(&proto.node)?;
        graph.check_outputs()?;
        Ok(graph)
    }

    fn add_edges(&mut self, proto: &GraphProto) -> Result<(), EngineError> {
        // Shapes may be declared in several places; the input's own declaration comes last and
        // wins.
        for info in proto.value_info.iter().chain(&proto.output).chain(&proto.input) {
            let id = self.intern(&info.name);
            let value = &mut self.values[id.index()];
            value.dtype = declared_dtype(info);
            value.shape = declared_shape(info);
        }
        for tensor in &proto.initializer {
            let id = self.intern(&tensor.name);
            if self.values[id.index()].initializer.is_some() {
                return Err(broken(format!("two initializers are called {}", tensor.name)));
            }
            let tensor = onnx::tensor(tensor)?;
            self.values[id.index()].dtype = Some(tensor.dtype());
            self.values[id.index()].shape =
                Some(tensor.shape().iter().map(|&d| Dim::Fixed(d)).collect());
            self.values[id.index()].initializer = Some(tensor);
        }
        // Before IR version 4, weights stood among the inputs too; those need not be fed.
        for info in &proto.input {
            let id = self.by_name[&info.name];
            if self.values[id.index()].initializer.is_none() {
                self.inputs.push(id);
            }
        }
        self.outputs = proto.output.iter().map(|info| self.by_name[&info.name]).collect();
        if self.outputs.is_empty() {
            return Err(broken("it has no output".into()));
        }
        Ok(())
    }

    fn add_operators(&mut self, nodes: &[NodeProto]) -> Result<(), EngineError> {
        // Names first: nodes may stand in any order, and read what a later one makes.
        for made in nodes.iter().flat_map(|node| &node.output).filter(|name| !name.is_empty()) {
            self.intern(made);
        }
        let operators: Vec<Operator> =
            nodes.iter().enumerate().map(|(i, node)| self.operator_of(i, node)).collect();
        for at in execution_order(&operators, self)? {
            let id = OperatorId(self.operators.len() as u32);
            let operator = operators[at].clone();
            for made in operator.makes() {
                self.values[made.index()].producer = Some(id);
            }
            // A set, since an operator may read one value twice.
            let reads: BTreeSet<ValueId> = operator.reads().collect();
            for read in reads {
                self.values[read.index()].consumers.push(id);
            }
            self.operators.push(operator);
        }
        Ok(())
    }

    fn operator_of(&mut self, index: usize, node: &NodeProto) -> Operator {
        let mut optional =
            |name: &String| if name.is_empty() { None } else { Some(self.intern(name)) };
        let inputs = node.input.iter().map(&mut optional).collect();
        let outputs = node.output.iter().map(&mut optional).collect();
        let free = free_names(node);
        let captures = free.iter().filter_map(|name| self.by_name.get(name).copied()).collect();
        let name = if node.name.is_empty() {
            format!("{}#{index}", node.op_type)
        } else {
            node.name.clone()
        };
        let domain = if node.domain == "ai.onnx" { String::new() } else { node.domain.clone() };
        Operator {
            name,
            op_type: node.op_type.clone(),
            domain,
            inputs,
            outputs,
            captures,
            attributes: node.attribute.clone(),
        }
    }

    fn check_outputs(&self) -> Result<(), EngineError> {
        for &output in &self.outputs {
            let value = &self.values[output.index()];
            let made = value.producer.is_some()
                || value.initializer.is_some()
                || self.inputs.contains(&output);
            if !made {
                return Err(broken(format!("no operator makes the output {}", value.name)));
            }
        }
        Ok(())
    }

    fn intern(&mut self, name: &str) -> ValueId {
        if let Some(&id) = self.by_name.get(name) {
            return id;
        }
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { name: name.to_owned(), ..Value::default() });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// The graph's own name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version of ONNX's own operators that the file asks for.
    pub fn opset(&self) -> i64 {
        self.opset_of("")
    }

    /// The version of a domain's operators that the file asks for; 1 where it does not say.
    pub fn opset_of(&self, domain: &str) -> i64 {
        self.opsets.get(domain).copied().unwrap_or(1)
    }

    /// The versions of all domains that the file asks for, by name.
    pub(crate) fn opsets(&self) -> impl Iterator<Item = (&str, i64)> {
        let mut opsets: Vec<(&str, i64)> =
            self.opsets.iter().map(|(domain, &version)| (domain.as_str(), version)).collect();
        opsets.sort_unstable();
        opsets.into_iter()
    }

    /// What the file says of itself under a key of its metadata.
    pub fn metadata(&self, key: &str) -> Option<&str> {
        self.metadata.iter().find(|(own, _)| own == key).map(|(_, value)| value.as_str())
    }

    /// All operators, in execution order.
    pub fn operators(&self) -> &[Operator] {
        &self.operators
    }

    /// One operator.
    pub fn operator(&self, id: OperatorId) -> &Operator {
        &self.operators[id.index()]
    }

    /// All operators' ids, in execution order.
    pub fn operator_ids(&self) -> impl DoubleEndedIterator<Item = OperatorId> + use<> {
        (0..self.operators.len() as u32).map(OperatorId)
    }

    /// How many values there are; ids run below it.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// All values, in no telling order but always the same.
    pub fn value_ids(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.values.len() as u32).map(ValueId)
    }

    /// The value's name, as the file has it.
    pub fn value_name(&self, id: ValueId) -> &str {
        &self.values[id.index()].name
    }

    /// The value of that name.
    pub fn find(&self, name: &str) -> Option<ValueId> {
        self.by_name.get(name).copied()
    }

    /// Names of all values, for "did you mean".
    pub fn value_names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|v| v.name.as_str())
    }

    /// What the model must be fed; initializers are not among them.
    pub fn inputs(&self) -> &[ValueId] {
        &self.inputs
    }

    /// What the model answers.
    pub fn outputs(&self) -> &[ValueId] {
        &self.outputs
    }

    /// The weights and other constants that the file holds.
    pub fn initializers(&self) -> impl Iterator<Item = (ValueId, &Tensor)> {
        self.value_ids().zip(&self.values).filter_map(|(id, v)| Some((id, v.initializer.as_ref()?)))
    }

    /// The constant that the file holds for this value.
    pub fn initializer(&self, id: ValueId) -> Option<&Tensor> {
        self.values[id.index()].initializer.as_ref()
    }

    /// Who makes the value; `None` for inputs and initializers.
    pub fn producer(&self, id: ValueId) -> Option<OperatorId> {
        self.values[id.index()].producer
    }

    /// Who reads the value, in execution order.
    pub fn consumers(&self, id: ValueId) -> &[OperatorId] {
        &self.values[id.index()].consumers
    }

    /// The element type that the file declares.
    pub fn declared_dtype(&self, id: ValueId) -> Option<DType> {
        self.values[id.index()].dtype
    }

    /// The shape that the file declares.
    pub fn declared_shape(&self, id: ValueId) -> Option<&[Dim]> {
        self.values[id.index()].shape.as_deref()
    }

    /// Every operator that a change of this value can reach, in execution order.
    pub fn downstream(&self, id: ValueId) -> Vec<OperatorId> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<OperatorId> = self.consumers(id).to_vec();
        // Depth-first; the set keeps execution order.
        while let Some(operator) = open.pop() {
            if reached.insert(operator) {
                let made = self.operator(operator).makes();
                open.extend(made.flat_map(|value| self.consumers(value)));
            }
        }
        reached.into_iter().collect()
    }

    /// What the downstream operators read but do not make: all that must be fed, besides the
    /// value itself, to run them alone.
    pub fn frontier(&self, id: ValueId) -> Vec<ValueId> {
        let downstream: BTreeSet<OperatorId> = self.downstream(id).into_iter().collect();
        let read = downstream.iter().flat_map(|&operator| self.operator(operator).reads());
        let outside = read.filter(|&value| {
            value != id && self.producer(value).is_none_or(|p| !downstream.contains(&p))
        });
        outside.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

fn broken(why: String) -> EngineError {
    EngineError::Graph(why)
}

fn declared_dtype(info: &ValueInfoProto) -> Option<DType> {
    onnx::dtype(info.r#type.as_ref()?.tensor_type.as_ref()?.elem_type)
}

fn declared_shape(info: &ValueInfoProto) -> Option<Vec<Dim>> {
    let shape = info.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?;
    let dims = shape.dim.iter().map(|dim| {
        // Some exporters write 0 or -1 for an axis of any length.
        let length = dim.dim_value.and_then(|length| usize::try_from(length).ok());
        match length.filter(|&length| length > 0) {
            Some(length) => Dim::Fixed(length),
            None => Dim::Free(dim.dim_param.clone()),
        }
    });
    Some(dims.collect())
}

/// Names that a node's subgraphs read but do not make themselves.
fn free_names(node: &NodeProto) -> BTreeSet<String> {
    let graphs = node.attribute.iter().flat_map(|a| a.g.iter().map(|g| &**g).chain(&a.graphs));
    graphs.flat_map(names_from_outside).collect()
}

/// Names that a branch or a body reads but does not make itself.
pub(crate) fn names_from_outside(graph: &GraphProto) -> BTreeSet<String> {
    let mut bound: BTreeSet<&str> = graph.input.iter().map(|i| i.name.as_str()).collect();
    bound.extend(graph.initializer.iter().map(|t| t.name.as_str()));
    bound.extend(graph.node.iter().flat_map(|n| n.output.iter().map(String::as_str)));
    let outputs = graph.output.iter().map(|o| o.name.clone());
    let read = graph.node.iter().flat_map(|n| n.input.iter().cloned().chain(free_names(n)));
    read.chain(outputs).filter(|n| !n.is_empty() && !bound.contains(n.as_str())).collect()
}

/// An order in which every operator comes after those that make its operands; the file's order
/// where that is one.
fn execution_order(operators: &[Operator], graph: &Graph) -> Result<Vec<usize>, EngineError> {
    let mut maker: Vec<Option<usize>> = vec![None; graph.values.len()];
    for (at, operator) in operators.iter().enumerate() {
        for value in operator.makes() {
            let name = graph.value_name(value);
            if let Some(other) = maker[value.index()].replace(at) {
                let a = &operators[other].name;
                let b = &operator.name;
                return Err(broken(format!("both {a} and {b} make the value {name}")));
            }
            if graph.inputs.contains(&value) || graph.initializer(value).is_some() {
                let by = &operator.name;
                return Err(broken(format!("{by} makes {name}, which is already fed or stored")));
            }
        }
    }
    check_reads(operators, graph, &maker)?;
    sort(operators, graph, &maker)
}

fn check_reads(
    operators: &[Operator],
    graph: &Graph,
    maker: &[Option<usize>],
) -> Result<(), EngineError> {
    for operator in operators {
        for value in operator.reads() {
            let known = maker[value.index()].is_some()
                || graph.inputs.contains(&value)
                || graph.initializer(value).is_some();
            if !known {
                let by = &operator.name;
                let name = graph.value_name(value);
                return Err(broken(format!("{by} reads {name}, which nobody makes")));
            }
        }
    }
    Ok(())
}

fn sort(
    operators: &[Operator],
    graph: &Graph,
    maker: &[Option<usize>],
) -> Result<Vec<usize>, EngineError> {
    let mut waits: Vec<usize> = vec![0; operators.len()];
    let mut feeds: Vec<Vec<usize>> = vec![Vec::new(); operators.len()];
    for (at, operator) in operators.iter().enumerate() {
        let needs: BTreeSet<usize> = operator.reads().filter_map(|v| maker[v.index()]).collect();
        waits[at] = needs.len();
        for need in needs {
            feeds[need].push(at);
        }
    }
    let mut ready: BTreeSet<usize> = (0..operators.len()).filter(|&at| waits[at] == 0).collect();
    let mut order = Vec::with_capacity(operators.len());
    while let Some(at) = ready.pop_first() {
        order.push(at);
        for &fed in &feeds[at] {
            waits[fed] -= 1;
            if waits[fed] == 0 {
                ready.insert(fed);
            }
        }
    }
    if order.len() < operators.len() {
        let stuck: Vec<&str> = (0..operators.len())
            .filter(|&at| waits[at] > 0)
            .map(|at| operators[at].name.as_str())
            .take(5)
            .collect();
        let names = stuck.join(", ");
        return Err(broken(format!(
            "operators wait for each other in a cycle, in {}: {names}",
            graph.name
        )));
    }
    Ok(order)
}
