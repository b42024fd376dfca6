//! What a model's output means, written down.

use faultlens_core::{Ranking, Tensor, did_you_mean};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::tensors::{numbers, tensor_text};
use super::{DECODERS, Labels, Layout, Units, VisionError};
use faultlens_engine::Graph;

/// How a model's output tensors become an answer.
// `remote = "Self"` makes an inherent `deserialize`, which the implementation of the trait below
// calls before it checks: no second list of the keys is needed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", rename = "OutputDescription", deny_unknown_fields)]
#[schemars(transform = restrict_keys_to_kinds)]
pub struct OutputDescription {
    /// Which output; when left out, the model's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its numbers are.
    pub kind: OutputKind,
    /// Whether logits are turned into probabilities, so that scores can be compared across
    /// models; by default they are shown as they are.
    #[serde(default)]
    pub softmax: bool,
    /// Detections: how numbers become boxes, by the name of a decoder in
    /// [`DECODERS`](super::DECODERS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        description = "Detections: how numbers become boxes, by the name of a decoder.",
        schema_with = "decoder_schema"
    )]
    pub decoder: Option<String>,
    /// Detections: the least score of an object, by default the decoder's. Segments of one
    /// channel: what belongs to class 1, by default 0.5 or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f32>,
    /// Detections: boxes of one class that overlap by more than this are one object.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub overlap: Option<f32>,
    /// Detections: the output with scores, where the decoder needs two; by default `scores`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<String>,
    /// Detections: the output with boxes, where the decoder needs two; by default `boxes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boxes: Option<String>,
    /// Detections: the output with labels, where the decoder needs three; by default `labels`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<String>,
    /// Detections: what boxes are measured in, where the decoder leaves a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub units: Option<Units>,
    /// Segments and pictures: where the channels stand; by default `nchw`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Pictures: the numbers of black and white; by default 0 and 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f32; 2]>,
    /// Text: the class that stands for no letter. Where it is set, equal neighbours are one
    /// letter, as CTC has it; else every step is a letter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blank: Option<usize>,
    /// Text: along which axis the steps follow each other; by default 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = MAX_STEPS_AXIS))]
    pub steps_axis: Option<usize>,
}

/// What the numbers of an output are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// One score per class, of any size.
    Logits,
    /// One score per class, from 0 to 1.
    Probabilities,
    /// Measured quantities, such as an angle or an age; their order has no meaning.
    Values,
    /// Boxes with classes, as a decoder reads them.
    Detections,
    /// A score per class for every pixel, or the class itself.
    Segments,
    /// The values of an image's pixels.
    Picture,
    /// A score per class for every step of a sequence, or the class itself.
    Text,
}

impl OutputKind {
    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logits => "logits",
            Self::Probabilities => "probabilities",
            Self::Values => "values",
            Self::Detections => "detections",
            Self::Segments => "segments",
            Self::Picture => "picture",
            Self::Text => "text",
        }
    }

    /// Whether it is one score per class for the whole image.
    pub fn is_scores(self) -> bool {
        matches!(self, Self::Logits | Self::Probabilities)
    }
}

/// The last axis that the steps of a text can follow each other along: answers have three at most.
const MAX_STEPS_AXIS: usize = 2;

/// The kinds of output that a key is for; keys that are not listed are for every kind. The check
/// and the schema are both made from this.
const KINDS_OF_KEYS: &[(&str, &[OutputKind])] = &[
    ("decoder", &[OutputKind::Detections]),
    ("threshold", &[OutputKind::Detections, OutputKind::Segments]),
    ("overlap", &[OutputKind::Detections]),
    ("scores", &[OutputKind::Detections]),
    ("boxes", &[OutputKind::Detections]),
    ("labels", &[OutputKind::Detections]),
    ("units", &[OutputKind::Detections]),
    ("layout", &[OutputKind::Segments, OutputKind::Picture]),
    ("range", &[OutputKind::Picture]),
    ("blank", &[OutputKind::Text]),
    ("steps_axis", &[OutputKind::Text]),
];

/// Adds to the schema that a key which is for some kinds needs one of them.
fn restrict_keys_to_kinds(schema: &mut Schema) {
    let mut rules = serde_json::Map::new();
    for (key, kinds) in KINDS_OF_KEYS {
        let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        let rule = serde_json::json!({"properties": {"kind": {"enum": kinds}}});
        rules.insert((*key).to_owned(), rule);
    }
    schema.insert("dependentSchemas".to_owned(), rules.into());
}

/// The decoders by name, each with what it is for.
fn decoder_schema(_: &mut SchemaGenerator) -> Schema {
    let decoders: Vec<serde_json::Value> = DECODERS
        .iter()
        .map(|decoder| serde_json::json!({"const": decoder.name, "description": decoder.about}))
        .collect();
    json_schema!({"oneOf": decoders})
}

impl Serialize for OutputDescription {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for OutputDescription {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let description = Self::deserialize(deserializer)?;
        description.check().map_err(serde::de::Error::custom)?;
        Ok(description)
    }
}

impl OutputDescription {
    /// The description of the first output with every default.
    pub fn of(kind: OutputKind) -> Self {
        Self {
            name: None,
            kind,
            softmax: false,
            decoder: None,
            threshold: None,
            overlap: None,
            scores: None,
            boxes: None,
            labels: None,
            units: None,
            layout: None,
            range: None,
            blank: None,
            steps_axis: None,
        }
    }

    /// Says what is wrong before any model is asked.
    pub fn check(&self) -> Result<(), VisionError> {
        if self.softmax && self.kind != OutputKind::Logits {
            return Err(VisionError::Softmax);
        }
        // What is not set is not serialised, so that the keys are those that are set.
        let keys = serde_json::to_value(self).unwrap_or_default();
        for &(field, kinds) in KINDS_OF_KEYS {
            if keys.get(field).is_some() && !kinds.contains(&self.kind) {
                let kinds: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
                let kinds = kinds.join(" or ");
                return Err(VisionError::Field { field, kind: self.kind.name(), kinds });
            }
        }
        self.check_numbers()
    }

    fn check_numbers(&self) -> Result<(), VisionError> {
        let refuse = |field, value: f32, wanted| {
            Err(VisionError::OutputNumber { field, value: value.into(), wanted })
        };
        let share = 0.0..=1.0;
        match (self.threshold, self.overlap, self.range, self.steps_axis) {
            (Some(threshold), ..) if !threshold.is_finite() => {
                refuse("threshold", threshold, "a number")
            }
            (Some(threshold), ..)
                if self.kind == OutputKind::Detections && !share.contains(&threshold) =>
            {
                refuse("threshold", threshold, "a score from 0 to 1")
            }
            (_, Some(overlap), ..) if !share.contains(&overlap) => {
                refuse("overlap", overlap, "a part from 0 to 1")
            }
            (_, _, Some([black, white]), _) if !(white - black).is_finite() || black == white => {
                refuse("range", white, "a number for white that is not that of black")
            }
            (_, _, _, Some(axis)) if axis > MAX_STEPS_AXIS => {
                refuse("steps_axis", axis as f32, "0, 1 or 2")
            }
            _ => Ok(()),
        }
    }
}

impl OutputDescription {
    /// Which of the model's outputs this describes, as a position in [`Graph::outputs`].
    pub fn position(&self, graph: &Graph) -> Result<usize, VisionError> {
        self.position_among(&output_names(graph))
    }

    /// Which of the outputs of these names this describes.
    pub(super) fn position_among(&self, names: &[&str]) -> Result<usize, VisionError> {
        match &self.name {
            Some(name) => output_called(names, name),
            None => Ok(0),
        }
    }

    /// The classes for the image at `index` of the batch, best first.
    pub fn ranking(
        &self,
        output: &Tensor,
        index: usize,
        labels: &Labels,
    ) -> Result<Ranking, VisionError> {
        let scores = self.scores(output, index)?;
        Ok(Ranking::from_scores(&scores, |class| labels.name(class)))
    }

    /// The scores for the image at `index` of the batch, in the order of the model's output.
    pub fn scores(&self, output: &Tensor, index: usize) -> Result<Vec<f32>, VisionError> {
        let row = self.row(output, index)?;
        Ok(if self.softmax { softmax(&row) } else { row })
    }

    fn row(&self, output: &Tensor, index: usize) -> Result<Vec<f32>, VisionError> {
        let not_scores = || VisionError::NotScores {
            name: self.name.clone().unwrap_or_else(|| "the first".to_owned()),
            shape: tensor_text(output),
        };
        // A batch of scores, with or without axes of length one behind (global pooling leaves
        // them).
        let (batch, classes) = match output.shape() {
            [classes] => (1, *classes),
            [batch, classes, rest @ ..] if rest.iter().all(|&n| n == 1) => (*batch, *classes),
            _ => return Err(not_scores()),
        };
        if index >= batch || classes == 0 {
            return Err(not_scores());
        }
        let row = numbers(output.data(), index * classes..(index + 1) * classes);
        Ok(row.ok_or_else(not_scores)?.into_owned())
    }
}

/// The names of a model's outputs, in their order.
pub(super) fn output_names(graph: &Graph) -> Vec<&str> {
    graph.outputs().iter().map(|&value| graph.value_name(value)).collect()
}

/// The position of an output among these names.
pub(super) fn output_called(names: &[&str], name: &str) -> Result<usize, VisionError> {
    names.iter().position(|n| *n == name).ok_or_else(|| VisionError::UnknownOutput {
        name: name.to_owned(),
        known: names.join(", "),
        meant: did_you_mean(name, names.iter().copied()).map(str::to_owned),
    })
}

/// Probabilities from logits, in 64 bits and shifted so that large ones do not overflow; what is
/// not a number stays so.
fn softmax(logits: &[f32]) -> Vec<f32> {
    // Softmax is the same for logits less their largest, whose exponentials cannot overflow.
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f64> = logits.iter().map(|&x| (f64::from(x) - f64::from(top)).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|e| (e / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logits(softmax: bool) -> OutputDescription {
        OutputDescription { softmax, ..OutputDescription::of(OutputKind::Logits) }
    }

    #[test]
    fn rows_of_a_batch_are_ranked() {
        let output = Tensor::new(vec![2, 3, 1, 1], vec![0.0f32, 1.0, 2.0, 9.0, 8.0, 7.0]).unwrap();
        let top = |i| logits(false).ranking(&output, i, &Labels::default()).unwrap();
        assert_eq!(top(0).top().map(|r| (r.index, r.score)), Some((2, 2.0)));
        assert_eq!(top(1).top().map(|r| (r.index, r.label.clone())), Some((0, "0".into())));
        assert!(logits(false).scores(&output, 2).is_err());
    }

    #[test]
    fn softmax_is_pytorchs_and_keeps_nan() {
        // torch.softmax([1, 2, 3]) in 64 bits
        let wanted = [0.09003057317038046, 0.24472847105479764, 0.6652409557748219];
        for shift in [0.0, 1e4] {
            let got = softmax(&[1.0 + shift, 2.0 + shift, 3.0 + shift]);
            for (g, w) in got.iter().zip(wanted) {
                assert!((f64::from(*g) - w).abs() < 1e-7, "{got:?}");
            }
        }
        assert!(softmax(&[1.0, f32::NAN]).iter().all(|p| p.is_nan()));
    }

    #[test]
    fn boxes_and_odd_types_are_no_scores() {
        let boxes = Tensor::new(vec![1, 2, 4], vec![0.0f32; 8]).unwrap();
        let flags = Tensor::new(vec![1, 2], vec![true, false]).unwrap();
        for tensor in [boxes, flags] {
            assert!(matches!(logits(false).scores(&tensor, 0), Err(VisionError::NotScores { .. })));
        }
    }

    #[test]
    fn only_logits_take_a_softmax() {
        let read = |text| serde_json::from_str::<OutputDescription>(text);
        assert!(read(r#"{"kind": "logits", "softmax": true}"#).is_ok_and(|d| d.softmax));
        assert!(read(r#"{"kind": "values", "softmax": true}"#).is_err());
        assert!(read(r#"{"kind": "logit"}"#).is_err());
    }

    #[test]
    fn settings_belong_to_their_kind() {
        let read = |text: &str| serde_json::from_str::<OutputDescription>(text);
        for text in [
            r#"{"kind": "detections", "decoder": "yolox", "threshold": 0.5, "overlap": 0.4}"#,
            r#"{"kind": "detections", "decoder": "world", "scores": "s", "boxes": "b"}"#,
            r#"{"kind": "detections", "decoder": "ssd", "labels": "l", "units": "pixels"}"#,
            r#"{"kind": "segments", "layout": "nhwc", "threshold": -3}"#,
            r#"{"kind": "picture", "range": [-1, 1]}"#,
            r#"{"kind": "text", "blank": 0, "steps_axis": 0}"#,
        ] {
            let described = read(text).unwrap();
            let again = read(&serde_json::to_string(&described).unwrap()).unwrap();
            assert_eq!(again, described, "{text}");
        }
        for (text, wanted) in [
            (r#"{"kind": "logits", "blank": 0}"#, "blank is for text, not for logits"),
            (
                r#"{"kind": "text", "layout": "nhwc"}"#,
                "layout is for segments or picture, not for text",
            ),
            (r#"{"kind": "picture", "range": [1, 1]}"#, "range holds 1"),
            (r#"{"kind": "detections", "decoder": "world", "threshold": 30}"#, "from 0 to 1"),
            (r#"{"kind": "detections", "decoder": "world", "overlap": -1}"#, "overlap holds -1"),
            (r#"{"kind": "text", "steps_axis": 3}"#, "0, 1 or 2"),
            (r#"{"kind": "text", "step_axis": 1}"#, "unknown field `step_axis`"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
