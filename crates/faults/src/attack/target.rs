//! A target as attacks see it.

use faultlens_core::TargetError;

/// A target as attacks see it: points in, answers out.
///
/// A point is an image as floats between 0 and 1, channel after channel, row after row.
pub trait AttackTarget {
    /// Channels, height and width of a point.
    fn shape(&self) -> [usize; 3];

    /// What it answers to each point. Where answers are drawn, the same point with another
    /// `draw` gets another one.
    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError>;

    /// What it answers, and how a weighted sum of its logits depends on each point; the weights
    /// follow from the logits: `slope(at, logits)` for question `at`.
    ///
    /// Attacks that ask for it are refused before where a target has none.
    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError>;
}

/// One query about a point.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The point.
    pub point: &'a [f32],
    /// What the sample's answer should become.
    pub goal: &'a Goal,
    /// Tells queries about the same point apart where answers are random.
    pub draw: u64,
}

/// What an attack wants of the answer to a sample.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Goal {
    /// The class of the undisturbed answer; `None` where answers have none.
    pub from: Option<usize>,
    /// The class that the answer should become; any other one where it is not set.
    pub towards: Option<usize>,
}

/// An answer, as far as attacks look at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reply {
    /// Whether the answer is what the goal wants.
    pub changed: bool,
    /// What is left to overcome, from 0 to 1: the confidence in the undisturbed class, or all but
    /// that in the wanted one. `None` where the target gives no scores.
    pub resistance: Option<f64>,
    /// How far the answer is from what the goal wants, in logits; below zero where it is there.
    /// `None` where the target gives no scores.
    pub margin: Option<f64>,
}

/// An answer, and where it leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// The answer.
    pub reply: Reply,
    /// The scores before they are made to sum to one.
    pub logits: Vec<f32>,
    /// How the weighted sum of the logits depends on each value of the point.
    pub slope: Vec<f32>,
}
