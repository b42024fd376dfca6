//! What a model's output means, written down.

use faultlens_core::{Ranking, Tensor, TensorData, did_you_mean};
use serde::{Deserialize, Serialize};

use super::{Labels, VisionError, shape_text};
use crate::graph::{Dim, Graph};

/// How a model's output tensor becomes an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written")]
pub struct OutputDescription {
    /// Which output; when left out, the model's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// What its numbers are.
    pub kind: OutputKind,
    /// Whether logits are turned into probabilities, so that scores can be compared across
    /// models; by default they are shown as they are.
    pub softmax: bool,
}

/// What the numbers of an output are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutputKind {
    /// One score per class, of any size.
    Logits,
    /// One score per class, from 0 to 1.
    Probabilities,
    /// Measured quantities, such as an angle or an age; their order has no meaning.
    Values,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    kind: OutputKind,
    #[serde(default)]
    softmax: bool,
}

impl TryFrom<Written> for OutputDescription {
    type Error = VisionError;

    fn try_from(Written { name, kind, softmax }: Written) -> Result<Self, VisionError> {
        if softmax && kind != OutputKind::Logits {
            return Err(VisionError::Softmax);
        }
        Ok(Self { name, kind, softmax })
    }
}

impl OutputDescription {
    /// Which of the model's outputs this describes, as a position in [`Graph::outputs`].
    pub fn position(&self, graph: &Graph) -> Result<usize, VisionError> {
        let names: Vec<&str> = graph.outputs().iter().map(|&v| graph.value_name(v)).collect();
        let Some(name) = &self.name else { return Ok(0) };
        names.iter().position(|n| n == name).ok_or_else(|| VisionError::UnknownOutput {
            name: name.clone(),
            known: names.join(", "),
            meant: did_you_mean(name, names.iter().copied()).map(str::to_owned),
        })
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
        let not_scores = || {
            let dims: Vec<Dim> = output.shape().iter().map(|&n| Dim::Fixed(n)).collect();
            VisionError::NotScores {
                name: self.name.clone().unwrap_or_else(|| "the first".to_owned()),
                shape: format!("{} {}", output.dtype().name(), shape_text(&dims)),
            }
        };
        let (batch, classes) = match output.shape() {
            [classes] => (1, *classes),
            [batch, classes, rest @ ..] if rest.iter().all(|&n| n == 1) => (*batch, *classes),
            _ => return Err(not_scores()),
        };
        if index >= batch || classes == 0 {
            return Err(not_scores());
        }
        numbers(output.data(), index * classes..(index + 1) * classes).ok_or_else(not_scores)
    }
}

/// A row of any type that can hold scores.
fn numbers(data: &TensorData, row: std::ops::Range<usize>) -> Option<Vec<f32>> {
    Some(match data {
        TensorData::F32(v) => v[row].to_vec(),
        TensorData::F16(v) => v[row].iter().map(|x| x.to_f32()).collect(),
        TensorData::BF16(v) => v[row].iter().map(|x| x.to_f32()).collect(),
        TensorData::F64(v) => v[row].iter().map(|&x| x as f32).collect(),
        TensorData::U8(v) => v[row].iter().map(|&x| f32::from(x)).collect(),
        TensorData::I8(v) => v[row].iter().map(|&x| f32::from(x)).collect(),
        _ => return None,
    })
}

/// Probabilities from logits, in 64 bits and shifted so that large ones do not overflow; what is
/// not a number stays so.
fn softmax(logits: &[f32]) -> Vec<f32> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let exps: Vec<f64> = logits.iter().map(|&x| (f64::from(x) - f64::from(top)).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.iter().map(|e| (e / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logits(softmax: bool) -> OutputDescription {
        OutputDescription { name: None, kind: OutputKind::Logits, softmax }
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
}
