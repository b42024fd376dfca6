//! A model with clips in it, beside the one that it was made from.

use super::ProtectError;
use super::ranges::{Range, exceeds};
use faultlens_campaign::WhiteBox;
use faultlens_core::{DType, Image, Response, TargetError};
use faultlens_engine::onnx::{
    self, AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, attribute_type,
};
use faultlens_engine::{Change, EngineError, Golden, Graph, Model, Replay, ValueId};
use faultlens_spec::{Source, TargetSpec};
use faultlens_targets::{OnnxTarget, OpenError, PartialDescription, embedded_model};
use faultlens_world::PREFIX;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// From this version of ONNX's operators on, a clip reads its limits.
const CLIP_READS: i64 = 11;

/// A value with its type and limits.
pub(super) type Guarded = (ValueId, DType, Range);

/// A target whose values are clipped.
pub(super) struct Shield {
    /// The target's name in the campaign.
    name: String,
    target: OnnxTarget,
    /// By value of the unprotected model, the same one here: before it is clipped.
    same: BTreeMap<ValueId, ValueId>,
    limits: Vec<(ValueId, Range)>,
}

/// The model's file, read again.
pub(super) fn reread(spec: &TargetSpec) -> Result<ModelProto, ProtectError> {
    let failed = |source: OpenError| ProtectError::Target { name: spec.name.clone(), source };
    let broken = |error: onnx::OnnxError| failed(EngineError::from(error).into());
    let Source::Model { path, .. } = &spec.source else {
        return Err(ProtectError::NoModel(spec.name.clone()));
    };
    match path.to_str().and_then(|path| path.strip_prefix(PREFIX)) {
        Some(name) => {
            onnx::decode(embedded_model(name).map_err(failed)?.onnx.into()).map_err(broken)
        }
        None => onnx::read(path).map_err(broken),
    }
}

fn labels(spec: &TargetSpec) -> Option<PathBuf> {
    match &spec.source {
        Source::Model { written, .. } => written.labels.clone(),
        Source::Service(_) => None,
    }
}

impl Shield {
    /// Puts clips behind values; all that read them read the clipped ones.
    pub(super) fn new(
        proto: &ModelProto,
        spec: &TargetSpec,
        inside: &WhiteBox,
        guarded: &[Guarded],
    ) -> Result<Self, ProtectError> {
        let graph = inside.target.model().graph();
        let proto = with_clips(proto, graph, guarded);
        let model = Model::from_proto(&proto).map_err(|source: EngineError| {
            ProtectError::Protected { name: spec.name.clone(), source: source.into() }
        })?;
        let described = inside.target.description();
        let written = PartialDescription {
            input: Some(described.input.clone()),
            output: Some(described.output.clone()),
            labels: labels(spec),
        };
        let same = |id: ValueId| Some((id, model.graph().find(graph.value_name(id))?));
        let same: BTreeMap<_, _> = graph.value_ids().filter_map(same).collect();
        let limits = guarded
            .iter()
            .filter_map(|&(id, _, range): &Guarded| Some((*same.get(&id)?, range)))
            .collect();
        let target = OnnxTarget::new(model, written, inside.target.fingerprint().to_owned())
            .map_err(|source| ProtectError::Target { name: spec.name.clone(), source })?;
        Ok(Self { name: spec.name.clone(), target, same, limits })
    }

    /// The undisturbed run and its answer.
    pub(super) fn golden(&self, image: &Image) -> Result<(Golden<'_>, Response), ProtectError> {
        let golden = self.target.golden(image).map_err(|error| self.failed(error))?;
        let answer = self.target.response(golden.outputs(), image);
        Ok((golden, answer.map_err(|error| self.failed(error))?))
    }

    fn failed(&self, source: TargetError) -> ProtectError {
        ProtectError::Answer { name: self.name.clone(), source }
    }

    /// Whether anything was clipped in a run.
    pub(super) fn clips(&self, golden: &Golden<'_>) -> bool {
        exceeds(golden, &self.limits)
    }

    /// What the model answers to an image under each list of the unprotected model's changes, given
    /// its undisturbed run and answer.
    pub(super) fn answers(
        &self,
        image: &Image,
        (golden, answer): (&Golden<'_>, &Response),
        changes: &[Vec<Change>],
    ) -> Result<Vec<Result<Response, TargetError>>, ProtectError> {
        let here =
            |change: &Change| Some(Change { value: *self.same.get(&change.value)?, ..*change });
        let changes: Option<Vec<Vec<Change>>> =
            changes.iter().map(|all| all.iter().map(here).collect()).collect();
        // Clips take no value away, so that all have their place here.
        let changes = changes
            .ok_or_else(|| self.failed(TargetError::Failed("a value is missing".to_owned())))?;
        Ok(golden
            .replay_stack(&changes)
            .into_iter()
            .map(|replay: Result<Replay, EngineError>| match replay {
                Ok(replay) if !replay.reached_output() => Ok(answer.clone()),
                Ok(replay) => self.target.response(replay.outputs(), image),
                Err(error) => Err(TargetError::Failed(error.to_string())),
            })
            .collect())
    }
}

/// The model with a clip behind each of the values. Branches and loops that read a value from
/// outside go on reading it as it is.
fn with_clips(proto: &ModelProto, graph: &Graph, guarded: &[Guarded]) -> ModelProto {
    let mut proto = proto.clone();
    let Some(inner) = proto.graph.as_mut() else { return proto };
    let mut taken: BTreeSet<String> = graph.value_names().map(str::to_owned).collect();
    let mut fresh = |name: String| {
        let mut name = name;
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    };
    for &(id, dtype, (low, high)) in guarded {
        let value = graph.value_name(id);
        let clipped = fresh(format!("{value}/clipped"));
        read_instead(inner, value, &clipped);
        let mut clip = NodeProto {
            op_type: "Clip".to_owned(),
            name: clipped.clone(),
            input: vec![value.to_owned()],
            output: vec![clipped],
            ..NodeProto::default()
        };
        for (name, limit) in [("min", low), ("max", high)] {
            if graph.opset() < CLIP_READS {
                clip.attribute.push(setting(name, limit));
            } else {
                let name = fresh(format!("{value}/{name}"));
                inner.initializer.push(scalar(&name, dtype, limit));
                clip.input.push(name);
            }
        }
        let maker = inner
            .node
            .iter()
            .position(|node: &NodeProto| node.output.iter().any(|name| name == value));
        inner.node.insert(maker.map_or(inner.node.len(), |maker| maker + 1), clip);
    }
    proto
}

fn read_instead(graph: &mut GraphProto, value: &str, clipped: &str) {
    for input in graph.node.iter_mut().flat_map(|node| &mut node.input) {
        if input == value {
            clipped.clone_into(input);
        }
    }
}

fn setting(name: &str, value: f32) -> AttributeProto {
    AttributeProto {
        name: name.to_owned(),
        f: value,
        r#type: attribute_type::FLOAT,
        ..AttributeProto::default()
    }
}

fn scalar(name: &str, dtype: DType, value: f32) -> TensorProto {
    let bits = dtype.bits(f64::from(value)).to_le_bytes();
    TensorProto {
        name: name.to_owned(),
        data_type: onnx::data_type(dtype),
        raw_data: bits[..dtype.size()].to_vec().into(),
        ..TensorProto::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ranges::{clipped, seen, together};
    use super::*;
    use faultlens_campaign::OpenCampaign;
    use faultlens_core::Tensor;
    use faultlens_engine::onnx::ModelBuilder;
    use faultlens_spec::Campaign;
    use std::path::Path;

    #[test]
    fn without_margin_no_answer_changes_where_the_ranges_come_from() {
        let text = "
targets: [{model: world:signs-middle}]
cases: {data: 'world:signs:6'}
faults: [{fault: zero}]
";
        let setup =
            OpenCampaign::open(Campaign::parse(text, Path::new("c.yaml")).unwrap()).unwrap();
        let spec = &setup.campaign.targets[0];
        let inside = setup.targets[0].white_box().unwrap();
        let values = clipped(inside.target.model().graph());
        assert!(values.len() > 3);
        let images: Vec<Image> = (0..6).map(|at| setup.cases.set.case(at).unwrap().image).collect();
        let runs: Vec<_> =
            images.iter().map(|image| inside.target.golden(image).unwrap()).collect();
        let profiles: Vec<_> = runs.iter().map(|golden| seen(golden, &values)).collect();
        let shield = |profiles: &[Vec<Option<Range>>]| {
            let ranges = values.iter().zip(together(profiles.iter(), 0.0));
            let guarded: Vec<Guarded> =
                ranges.map(|(&id, range)| (id, DType::F32, range.unwrap())).collect();
            Shield::new(&reread(spec).unwrap(), spec, inside, &guarded).unwrap()
        };
        let all = shield(&profiles);
        for (image, plain) in images.iter().zip(&runs) {
            let (golden, answer) = all.golden(image).unwrap();
            assert_eq!(answer, inside.target.response(plain.outputs(), image).unwrap());
            assert!(!all.clips(&golden));
        }
        let one = shield(&profiles[..1]);
        let touched = images.iter().filter(|image| one.clips(&one.golden(image).unwrap().0));
        assert!(touched.count() > 0, "the range of one image does not hold five others");
    }

    /// Both ways in which clips have their limits, and an output that reads a clipped value.
    #[test]
    fn a_clip_repairs_a_flip_of_the_exponent() {
        for opset in [10, 17] {
            let mut builder = ModelBuilder::new("tiny").opset(opset);
            builder.input("x", DType::F32, &[1.into(), 2.into()]);
            let weights = Tensor::new(vec![2, 2], vec![1.0f32, 0.0, 0.0, 1.0]).unwrap();
            builder.initializer("w", weights);
            builder.node("Relu", &["x"], &["a"]);
            builder.node("Gemm", &["a", "w"], &["y"]);
            builder.output("y", DType::F32, &[1.into(), 2.into()]);
            let proto = builder.build();
            let x = Tensor::new(vec![1, 2], vec![3.0f32, 1.0]).unwrap();
            let plain = Model::from_proto(&proto).unwrap();
            let a = plain.graph().find("a").unwrap();
            let clips = with_clips(&proto, plain.graph(), &[(a, DType::F32, (0.0, 3.0))]);
            let clips = Model::from_proto(&clips).unwrap();
            let answers = |model: &Model, bit: u32| {
                let golden = model.golden(&[("x", x.clone())]).unwrap();
                let a = model.graph().find("a").unwrap();
                let flip = Change::flip(&golden, a, 1, bit).unwrap();
                let replay = golden.replay(&[flip]).unwrap();
                (golden.outputs()[0].clone(), replay.outputs()[0].as_f32().unwrap().to_vec())
            };
            // Bit 30 of 1.0 makes it infinite.
            let (golden, broken) = answers(&plain, 30);
            assert!(!broken[1].is_finite(), "{broken:?}");
            let (same, repaired) = answers(&clips, 30);
            assert_eq!(golden, same, "nothing is clipped undisturbed");
            assert_eq!(repaired, [3.0, 3.0], "opset {opset}");
            // A change within the range passes.
            assert_eq!(answers(&clips, 22).1, [3.0, 1.5]);
        }
    }
}
