//! Where model faults land.

use faultlens_core::{
    DType, Parameter, ParameterKind, Setting, SettingError, Settings, Stream, Unset,
};
use faultlens_engine::{Golden, Graph, Operator, OperatorId, ValueId};
use std::borrow::Cow;

pub(super) const IN: Parameter = Parameter {
    name: "in",
    about: "what is hit: the outputs of operators, for one inference, or the weights they read",
    kind: ParameterKind::Choice(&["outputs", "weights"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("outputs"))),
};

pub(super) const OPERATORS: Parameter = Parameter {
    name: "operators",
    about: "only these operators, by kind (Conv) or by name (/layer1/conv1); by default all",
    kind: ParameterKind::Names,
    unset: Unset::Absent,
};

pub(super) const DRAW: Parameter = Parameter {
    name: "draw",
    about: "what is equally likely: every operator, and then every element of its values; or every \
            element of all operators together",
    kind: ParameterKind::Choice(&["operator", "element"]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("operator"))),
};

/// Where a fault may land, as the user says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Where {
    weights: bool,
    operators: Vec<String>,
    by_element: bool,
}

impl Where {
    pub(super) fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        Ok(Self {
            weights: settings.word(IN.name)? == "weights",
            operators: settings.names(OPERATORS.name).to_vec(),
            by_element: settings.word(DRAW.name)? == "element",
        })
    }

    /// The operators that the user asks for and the graph does not have, by kind or name.
    pub fn unknown_in(&self, graph: &Graph) -> Option<&str> {
        let known = |wanted: &String| graph.operators().iter().any(|op| is(op, wanted));
        self.operators.iter().find(|wanted| !known(wanted)).map(String::as_str)
    }

    fn selects(&self, operator: &Operator) -> bool {
        self.operators.is_empty() || self.operators.iter().any(|wanted| is(operator, wanted))
    }
}

fn is(operator: &Operator, wanted: &str) -> bool {
    operator.op_type == wanted || operator.name == wanted
}

/// The elements of a golden run that a fault may change: float values of whole operators.
pub struct Sites<'g> {
    golden: &'g Golden<'g>,
    by_element: bool,
    /// Values of one operator behind each other, each with the elements up to its end.
    values: Vec<(ValueId, usize)>,
    /// By operator, where its values end.
    operators: Vec<usize>,
}

impl<'g> Sites<'g> {
    /// The sites of a golden run on a batch of `images` copies of one image. Only the first one's
    /// answer is read, so that faults in outputs land in its share of each value.
    pub fn new(golden: &'g Golden<'g>, place: &Where, images: usize) -> Self {
        let graph = golden.model().graph();
        let found = if place.weights { weights(graph, place) } else { outputs(golden, place) };
        let mut sites = Self {
            golden,
            by_element: place.by_element,
            values: Vec::new(),
            operators: Vec::new(),
        };
        let mut last = None;
        for (operator, id) in found {
            let Some(elements) = elements(golden, id, if place.weights { 1 } else { images })
            else {
                continue;
            };
            if last.replace(operator) != Some(operator) {
                sites.operators.push(sites.values.len());
            }
            sites.values.push((id, sites.elements() + elements));
            if let Some(end) = sites.operators.last_mut() {
                *end = sites.values.len();
            }
        }
        sites
    }

    /// How many elements there are to choose from: the population of Leveugle's formula is this
    /// times the bits of an element.
    pub fn elements(&self) -> usize {
        self.before(self.values.len())
    }

    /// Elements of all values before this one.
    fn before(&self, value: usize) -> usize {
        value.checked_sub(1).map_or(0, |last| self.values[last].1)
    }

    /// One element at random; `None` where there is none.
    pub(super) fn draw(&self, stream: &mut Stream) -> Option<(ValueId, usize)> {
        let among = if self.by_element {
            0..self.values.len()
        } else {
            let operator = stream.below(self.operators.len());
            let start = operator.checked_sub(1).map_or(0, |last| self.operators[last]);
            start..*self.operators.get(operator)?
        };
        let (low, high) = (self.before(among.start), self.before(among.end));
        let at = low + stream.below(high - low);
        let value = self.values.partition_point(|(_, end)| *end <= at);
        let (id, _) = *self.values.get(value)?;
        Some((id, at - self.before(value)))
    }

    /// The bits of an element and how they are read.
    pub(super) fn bits(&self, id: ValueId, element: usize) -> Option<(u64, DType)> {
        self.golden.bits(id, element).zip(self.golden.dtype(id))
    }
}

/// How many elements of a value a fault may change; `None` where it is no float or has none.
fn elements(golden: &Golden<'_>, id: ValueId, images: usize) -> Option<usize> {
    let floats = [DType::F32, DType::F64, DType::F16, DType::BF16];
    let shape = golden.shape(id)?;
    let all: usize = shape.iter().product();
    let shared = images > 1 && shape.first() == Some(&images);
    let elements = if shared { all / images } else { all };
    (floats.contains(&golden.dtype(id)?) && elements > 0).then_some(elements)
}

/// What the selected operators make, in the order of execution; what follows from weights alone
/// belongs to no inference.
fn outputs(golden: &Golden<'_>, place: &Where) -> Vec<(OperatorId, ValueId)> {
    let graph = golden.model().graph();
    let selected = graph.operator_ids().filter(|&id| place.selects(graph.operator(id)));
    let made = selected.flat_map(|id| graph.operator(id).makes().map(move |value| (id, value)));
    made.filter(|&(_, value)| !golden.is_constant(value)).collect()
}

/// The weights that selected operators read, in the order of execution; one that several read
/// belongs to the first.
fn weights(graph: &Graph, place: &Where) -> Vec<(OperatorId, ValueId)> {
    let reader = |id: ValueId| {
        let mut readers = graph.consumers(id).iter();
        readers.find(|&&reader| place.selects(graph.operator(reader))).map(|&reader| (reader, id))
    };
    let mut read: Vec<_> = graph.initializers().filter_map(|(id, _)| reader(id)).collect();
    read.sort_by_key(|(operator, id)| (operator.index(), *id));
    read
}

/// The operator that a value belongs to: its maker, or its first reader where it is a weight.
pub fn owner(graph: &Graph, id: ValueId) -> Option<OperatorId> {
    graph.producer(id).or_else(|| graph.consumers(id).first().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MODEL_FAULTS;
    use faultlens_core::{Plugin, Seed, Tensor};
    use faultlens_engine::Model;
    use faultlens_engine::onnx::ModelBuilder;
    use std::collections::BTreeMap;

    /// Two images of three numbers: an operator with two weights, one whose output is no float,
    /// one with a large output.
    fn model() -> Model {
        let mut model = ModelBuilder::new("small");
        model.input("x", DType::F32, &[2.into(), 3.into()]);
        model.initializer("w", Tensor::new(vec![3, 3], vec![1.0f32; 9]).unwrap());
        model.initializer("b", Tensor::vector(vec![1.0f32; 3]));
        model.initializer("shape", Tensor::vector(vec![2i64, 3]));
        model.node("Gemm", &["x", "w", "b"], &["dense"]);
        model.node("Shape", &["dense"], &["size"]);
        model.node("Reshape", &["dense", "shape"], &["flat"]);
        model.node("Concat", &["flat", "flat", "flat"], &["y"]).attr_i("axis", 1);
        model.output("y", DType::F32, &[2.into(), 9.into()]);
        Model::from_proto(&model.build()).unwrap()
    }

    fn place(weights: bool, by_element: bool, operators: &[&str]) -> Where {
        let operators = operators.iter().map(|&name| name.to_owned()).collect();
        Where { weights, operators, by_element }
    }

    /// How often each value is drawn, and the largest element.
    fn drawn(place: &Where) -> BTreeMap<String, (u32, usize)> {
        let model = model();
        let x = Tensor::new(vec![2, 3], vec![1.0f32; 6]).unwrap();
        let golden = model.golden(&[("x", x)]).unwrap();
        let sites = Sites::new(&golden, place, 2);
        let mut stream = Seed::new(1).stream();
        let mut drawn: BTreeMap<String, (u32, usize)> = BTreeMap::new();
        for _ in 0..6000 {
            let (id, element) = sites.draw(&mut stream).unwrap();
            let entry = drawn.entry(model.graph().value_name(id).to_owned()).or_default();
            *entry = (entry.0 + 1, entry.1.max(element));
        }
        drawn
    }

    #[test]
    fn operators_or_elements_are_equally_likely() {
        // Of each output, the share of the first of two images; integers are left alone.
        let near = |got: u32, wanted: u32| got.abs_diff(wanted) < 200;
        let by_operator = drawn(&place(false, false, &[]));
        assert_eq!(by_operator.keys().collect::<Vec<_>>(), ["dense", "flat", "y"]);
        assert!(by_operator.values().all(|(n, _)| near(*n, 2000)), "{by_operator:?}");
        let largest: Vec<usize> = by_operator.values().map(|(_, largest)| *largest).collect();
        assert_eq!(largest, [2, 2, 8]);
        let by_element = drawn(&place(false, true, &[]));
        assert!(near(by_element["y"].0, 3600) && near(by_element["flat"].0, 1200));
        // A weight and a bias of one operator share its draws by size.
        let weights = drawn(&place(true, false, &["Gemm"]));
        assert!(near(weights["w"].0, 4500) && near(weights["b"].0, 1500), "{weights:?}");
        assert_eq!((weights["w"].1, weights["b"].1), (8, 2));
    }

    #[test]
    fn an_operator_that_is_not_there_is_named() {
        let model = model();
        let unknown = place(false, false, &["Gemm", "Conv"]);
        assert_eq!(unknown.unknown_in(model.graph()), Some("Conv"));
        let known = place(false, false, &["Gemm"]);
        assert_eq!(known.unknown_in(model.graph()), None);
    }

    /// One test for every model fault: in order, the same numbers the same change, a change that
    /// the engine takes, other numbers another one.
    #[test]
    fn every_fault_keeps_the_contract() {
        assert!(MODEL_FAULTS.is_sorted_by_key(|plugin| plugin.name));
        let model = model();
        let x = Tensor::new(vec![2, 3], vec![1.5f32; 6]).unwrap();
        let golden = model.golden(&[("x", x)]).unwrap();
        for plugin in MODEL_FAULTS {
            let fault = (plugin.build)(&defaults(plugin)).unwrap();
            let sites = Sites::new(&golden, fault.place(), 1);
            let changes = |seed| fault.changes(&sites, &mut Seed::new(seed).stream());
            assert_eq!(changes(1), changes(1), "{}", plugin.name);
            assert!((2..40).any(|seed| changes(seed) != changes(1)), "{}", plugin.name);
            let reached = |seed| golden.replay(&changes(seed)).unwrap().reached_output();
            assert!((0..40).any(reached), "{}", plugin.name);
            let nowhere = Sites::new(&golden, &place(false, false, &["Conv"]), 1);
            assert!(fault.changes(&nowhere, &mut Seed::new(1).stream()).is_empty());
        }
    }

    fn defaults<T: ?Sized>(plugin: &Plugin<T>) -> Settings {
        let mut settings = Settings::default();
        for parameter in plugin.parameters {
            if let Unset::Is(setting) = &parameter.unset {
                settings.set(parameter.name, setting.clone());
            }
        }
        settings
    }
}
