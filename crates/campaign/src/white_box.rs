//! A model whose inside can be reached: faults land in its values.

use faultlens_core::{Image, Response, TargetError};
use faultlens_engine::{Golden, Graph, ValueId};
use faultlens_faults::Anatomy;
use faultlens_record::ModelValue;
use faultlens_targets::OnnxTarget;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model that faults can land in.
pub struct WhiteBox {
    /// The model, and how it is asked.
    pub target: OnnxTarget,
    /// Which layers it has.
    pub anatomy: Anatomy,
    /// By value, where a fault in it is recorded. Shared by all records of that value.
    places: BTreeMap<ValueId, Arc<ModelValue>>,
}

impl WhiteBox {
    pub(crate) fn new(target: OnnxTarget) -> Self {
        let graph = target.model().graph();
        let anatomy = Anatomy::of(graph);
        let mut places = BTreeMap::new();
        for id in graph.value_ids() {
            if let Some(place) = place(graph, &anatomy, id) {
                places.insert(id, Arc::new(place));
            }
        }
        Self { target, anatomy, places }
    }

    /// Where a fault in this value is recorded.
    pub fn place(&self, id: ValueId) -> Option<Arc<ModelValue>> {
        self.places.get(&id).cloned()
    }

    /// The undisturbed run on an image as it is shown, and the answer.
    pub fn golden(&self, shown: &Image) -> Result<(Golden<'_>, Response), TargetError> {
        let golden = self.target.golden(shown)?;
        let answer = self.target.response(golden.outputs(), shown)?;
        Ok((golden, answer))
    }
}

fn place(graph: &Graph, anatomy: &Anatomy, id: ValueId) -> Option<ModelValue> {
    let at = anatomy.owner(graph, id)?;
    let operator = graph.operator(at);
    Some(ModelValue {
        value: graph.value_name(id).to_owned(),
        operator: operator.name.clone(),
        kind: operator.op_type.clone(),
        position: at.index() as u32,
        layer: anatomy.layer(at),
        layer_name: anatomy.name(anatomy.layer(at)).to_owned(),
    })
}
