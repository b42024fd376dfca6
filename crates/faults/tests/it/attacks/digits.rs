//! The network for digits, as attacks see it. The benchmark of attacks uses it, too.

use faultlens_core::{TargetError, Tensor, argmax};
use faultlens_engine::{EngineError, Golden, Model};
use faultlens_faults::attack::{AttackTarget, Goal, Gradient, Question, Reply};
use std::path::Path;

/// A classifier on the engine, asked in whole batches.
pub(crate) struct Digits {
    model: Model,
    shape: [usize; 3],
}

impl Digits {
    pub(crate) fn load(path: &Path) -> Result<Self, EngineError> {
        Ok(Self { model: Model::load(path)?, shape: [1, 16, 16] })
    }

    fn images(&self, points: &[&[f32]]) -> Result<Tensor, TargetError> {
        let [channels, height, width] = self.shape;
        let shape = vec![points.len(), channels, height, width];
        Tensor::new(shape, points.concat()).map_err(failed)
    }

    /// The gradients of one weighted sum of logits for each image of a run.
    fn walk_back(
        &self,
        golden: &Golden<'_>,
        weights: Vec<Vec<f32>>,
    ) -> Result<Tensor, TargetError> {
        let graph = self.model.graph();
        let classes = weights.first().map_or(0, Vec::len);
        let seeds = Tensor::new(vec![weights.len(), classes], weights.concat()).map_err(failed)?;
        let mut slopes = golden
            .gradients(&[(graph.outputs()[0], seeds)], &[graph.inputs()[0]])
            .map_err(failed)?;
        slopes.pop().ok_or_else(|| failed("no gradient"))
    }
}

impl AttackTarget for Digits {
    fn shape(&self) -> [usize; 3] {
        self.shape
    }

    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError> {
        let points: Vec<&[f32]> = questions.iter().map(|question| question.point).collect();
        let name = self.model.graph().value_name(self.model.graph().inputs()[0]);
        let answers = self.model.run(&[(name, self.images(&points)?)]).map_err(failed)?;
        let logits = rows(answers.first(), questions.len())?;
        Ok(questions.iter().zip(logits).map(|(q, logits)| reply(q.goal, logits)).collect())
    }

    /// Questions about the same point share its forward pass: one walk back for each that a point
    /// has at most.
    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError> {
        let mut points: Vec<&[f32]> = Vec::new();
        let mut own: Vec<Vec<usize>> = Vec::new();
        for (at, question) in questions.iter().enumerate() {
            if points.last().is_none_or(|last| !std::ptr::eq(*last, question.point)) {
                points.push(question.point);
                own.push(Vec::new());
            }
            own.last_mut().into_iter().for_each(|own| own.push(at));
        }
        let name = self.model.graph().value_name(self.model.graph().inputs()[0]);
        let golden = self.model.golden(&[(name, self.images(&points)?)]).map_err(failed)?;
        let outputs = golden.outputs();
        let logits = rows(outputs.first(), points.len())?;
        let mut answers: Vec<Option<Gradient>> = questions.iter().map(|_| None).collect();
        for round in 0..own.iter().map(Vec::len).max().unwrap_or(0) {
            let weights = own.iter().zip(&logits).map(|(own, logits)| match own.get(round) {
                Some(&at) => slope(at, logits),
                None => vec![0.0; logits.len()],
            });
            let slopes = self.walk_back(&golden, weights.collect())?;
            for ((own, logits), slope) in
                own.iter().zip(&logits).zip(rows(Some(&slopes), points.len())?)
            {
                if let Some(&at) = own.get(round) {
                    let reply = reply(questions[at].goal, logits);
                    answers[at] =
                        Some(Gradient { reply, logits: logits.to_vec(), slope: slope.to_vec() });
                }
            }
        }
        answers.into_iter().collect::<Option<_>>().ok_or_else(|| failed("a question is left"))
    }
}

/// An answer of logits, as the goal sees it.
pub(crate) fn reply(goal: &Goal, logits: &[f32]) -> Reply {
    let class = goal.towards.or(goal.from).unwrap_or(0);
    let others = || logits.iter().enumerate().filter(|(at, _)| *at != class).map(|(_, z)| *z);
    let own = logits.get(class).copied().unwrap_or(f32::NAN);
    let ahead = f64::from(own) - f64::from(others().fold(f32::NEG_INFINITY, f32::max));
    let confidence = 1.0 / (1.0 + others().map(|z| f64::from(z - own).exp()).sum::<f64>());
    let top = argmax(logits.iter().copied());
    let (changed, resistance, margin) = match goal.towards {
        Some(class) => (top == Some(class), 1.0 - confidence, -ahead),
        None => (top != goal.from, confidence, ahead),
    };
    Reply { changed, resistance: Some(resistance), margin: Some(margin) }
}

/// The rows of an array of `f32` in NumPy's format.
pub(crate) fn rows_of(path: &Path, row: usize) -> std::io::Result<Vec<Vec<f32>>> {
    let bytes = std::fs::read(path)?;
    // Ten bytes in front of a header that says its own length.
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let (words, _) = bytes[10 + header..].as_chunks::<4>();
    let values: Vec<f32> = words.iter().map(|word| f32::from_le_bytes(*word)).collect();
    Ok(values.chunks_exact(row).map(<[f32]>::to_vec).collect())
}

fn rows(tensor: Option<&Tensor>, count: usize) -> Result<Vec<&[f32]>, TargetError> {
    let values = tensor.and_then(Tensor::as_f32).ok_or_else(|| failed("no floats"))?;
    Ok(values.chunks_exact((values.len() / count.max(1)).max(1)).collect())
}

fn failed(error: impl std::fmt::Display) -> TargetError {
    TargetError::Failed(error.to_string())
}
